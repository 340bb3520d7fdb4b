// The map: a rectangle a ClusterQueue, in it one for each Workload that holds quota, areas to scale.
import { useView } from '../api/client.js';
import type { ObjectRef, QueueUsers, TreeNode } from '../api/types.js';
import { groupedTreemap } from '../draw/treemap.js';
import { pairText, perCent, type Pair } from '../draw/quota_words.js';
import { hrefOf, selected } from '../state/store.js';
import { sameRef } from '../state/address.js';
import { formatCount, visible } from '../ui/format.js';
import { Name } from '../ui/name.js';
import { Seen } from '../ui/states.js';
import { useWidth } from './use_width.js';

interface User {
  workload?: ObjectRef;
  value: number;
  text: string;
}

/** `roots` says of which queues; `whole`: of all. */
export function QueueMap({ pair, roots, whole }: { pair: Pair | undefined; roots: TreeNode[]; whole: boolean }) {
  const seen = useView<QueueUsers>('cohorts/users', { flavor: pair?.flavor, resource: pair?.resource }, { when: pair !== undefined });
  const named = pair ? pairText(pair) : 'any resource';
  return (
    <Seen
      of={seen}
      words={{
        empty: `Nobody held quota of ${named} at this moment. Choose another resource, or move to a time when Workloads were admitted.`,
        forbidden: 'You may not see who holds quota. Ask who runs this log for the right to get Workloads.',
        broken: 'The map of users could not be made for this moment.',
      }}
      isEmpty={(data) => data.queues.every((q) => q.users.length === 0)}
      skeleton={{ height: 480 }}
    >
      {(data) => <Map users={data} only={whole ? undefined : queuesBelow(roots)} bars={roots} />}
    </Seen>
  );
}

function queuesBelow(nodes: TreeNode[], into = new Set<string>()): Set<string> {
  for (const node of nodes) {
    if (node.kind === 'ClusterQueue') into.add(node.name);
    queuesBelow(node.children, into);
  }
  return into;
}

function Map({ users, only, bars }: { users: QueueUsers; only: Set<string> | undefined; bars: TreeNode[] }) {
  const { ref, width } = useWidth<HTMLDivElement>();
  const height = Math.max(320, Math.min(640, Math.round(width.value * 0.56)));
  const queues = users.queues.filter((q) => q.users.length > 0 && (!only || only.has(q.name)));
  const groups = queues.map((q): User[] => q.users.map((u) => ({ workload: u.workload, value: u.used.value, text: u.used.text })));
  const drawn = groupedTreemap(groups, (user) => user.value, { x: 0, y: 0, width: width.value, height });
  const total = groups.reduce((sum, g) => sum + g.reduce((s, u) => s + u.value, 0), 0);
  const nominal = bars.reduce((sum, root) => sum + (root.quota.find((b) => b.flavor === users.flavor && b.resource === users.resource)?.nominal.value ?? 0), 0);
  const leftOut = queues.reduce((sum, q) => sum + q.leftOut, 0);

  return (
    <figure class="queue-map">
      <figcaption>
        An area stands for the {users.resource} of flavor <Name text={users.flavor} /> that a Workload holds; all together are {perCent(total, nominal)} of the nominal quota.
        {leftOut > 0 && ` ${formatCount(leftOut)} smaller ones are left out.`}
      </figcaption>
      <div class="queue-map-area" ref={ref} style={{ height: `${height}px` }} role="list" aria-label={`Who holds ${users.resource} of flavor ${users.flavor}`}>
        {drawn.map((group) => {
          const queue = queues[group.group]!;
          const sum = groups[group.group]!.reduce((s, u) => s + u.value, 0);
          return (
            <div key={queue.name} class="map-queue" role="listitem" style={boxStyle(group.box)}>
              {group.headed && (
                <a class="map-queue-name" href={hrefOf({ kind: 'ClusterQueue', name: queue.name })}>
                  <Name text={queue.name} /> <span class="nothing">{perCent(sum, total)}</span>
                </a>
              )}
              {group.cells.map(({ box, item }, i) =>
                item.workload && box.width >= 3 && box.height >= 3 ? (
                  <a
                    key={i}
                    class={`map-user${sameRef(selected.value, item.workload) ? ' selected' : ''}`}
                    href={item.workload.hidden ? undefined : hrefOf(item.workload)}
                    title={`${visible(`${item.workload.namespace ?? ''}/${item.workload.name}`)}\nholds ${item.text} ${users.resource} of flavor ${users.flavor}, ${perCent(item.value, sum)} of what ${queue.name} uses`}
                    aria-label={box.width >= 48 && box.height >= 18 ? undefined : `${visible(item.workload.name)}, ${item.text}`}
                    style={boxStyle({ ...box, x: box.x - group.box.x, y: box.y - group.box.y })}
                  >
                    {box.width >= 48 && box.height >= 18 && (
                      <span class="map-user-name">
                        <Name text={item.workload.name} />
                      </span>
                    )}
                    {box.width >= 48 && box.height >= 36 && <span class="map-user-amount">{item.text}</span>}
                  </a>
                ) : null,
              )}
            </div>
          );
        })}
      </div>
    </figure>
  );
}

const boxStyle = (box: { x: number; y: number; width: number; height: number }) => ({
  left: `${box.x.toFixed(1)}px`,
  top: `${box.y.toFixed(1)}px`,
  width: `${Math.max(1, box.width - 1).toFixed(1)}px`,
  height: `${Math.max(1, box.height - 1).toFixed(1)}px`,
});
