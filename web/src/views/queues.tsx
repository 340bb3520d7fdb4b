// The tree of Cohorts and ClusterQueues: what each uses of its quota, lends and borrows; as bars, or as a map of who uses it.
import type { Cohorts, TreeNode } from '../api/types.js';
import { useView } from '../api/client.js';
import { findNode, countNodes } from '../draw/tree_rows.js';
import { pairsOf, pairText, parsePair } from '../draw/quota_words.js';
import { filter, hrefOf, route } from '../state/store.js';
import { Legend } from '../ui/bar.js';
import { Segments, Select } from '../ui/controls.js';
import { Name } from '../ui/name.js';
import { ViewHead } from '../ui/page.js';
import { Absent, Seen } from '../ui/states.js';
import { CohortSettings } from './queue_settings.js';
import { QueueMap } from './queues_map.js';
import { QueueTree } from './queues_tree.js';

export default function Queues() {
  const seen = useView<Cohorts>('cohorts');
  const root = route.value.parts[0];
  return (
    <div class="queues">
      <Seen
        of={seen}
        words={{
          empty: 'There was no ClusterQueue and no Cohort at this moment. They appear with the first record that observes one.',
          forbidden: 'You may not see the queues of this log. Ask who runs it for the right to get ClusterQueues.',
          broken: 'The tree of queues could not be made for this moment.',
        }}
        isEmpty={(data) => data.roots.length === 0}
        skeleton={{ rows: 10 }}
      >
        {(data) => <Shown roots={data.roots} root={root} />}
      </Seen>
    </div>
  );
}

function Shown({ roots, root }: { roots: TreeNode[]; root: string | undefined }) {
  const { query } = route.value;
  const pairs = pairsOf(roots);
  const wanted = parsePair(query['of']);
  const chosen = pairs.find((p) => wanted && p.flavor === wanted.flavor && p.resource === wanted.resource);
  const asMap = query['as'] === 'map';
  const below = root === undefined ? undefined : findNode(roots, (n) => n.name === root && n.kind === 'Cohort') ?? findNode(roots, (n) => n.name === root);
  const shown = root === undefined ? roots : below ? [below] : [];
  const nodes = countNodes(shown);

  return (
    <>
      <ViewHead
        title={root === undefined ? 'Queues' : <>Queues of <Name text={root} /></>}
        note={root === undefined ? undefined : <a href={hrefOf({ view: 'queues', parts: [], query })}>all Cohorts and ClusterQueues</a>}
        actions={
          <>
            <Segments
              label="Drawn as"
              options={[{ value: 'bars', text: 'Bars' }, { value: 'map', text: 'Map of users' }]}
              value={asMap ? 'map' : 'bars'}
              onChange={(as) => filter({ as: as === 'map' ? 'map' : undefined })}
            />
            <Select
              label="Flavor and resource"
              value={chosen ? pairText(chosen) : asMap && pairs[0] ? pairText(pairs[0]) : ''}
              options={[...(asMap ? [] : [{ value: '', text: 'all flavors and resources' }]), ...pairs.map((p) => ({ value: pairText(p), text: pairText(p) }))]}
              onChange={(of) => filter({ of: of || undefined })}
            />
            {!asMap && (
              <Segments
                label="Scale"
                options={[{ value: 'own', text: 'Each its own' }, { value: 'one', text: 'One scale' }]}
                value={query['scale'] === 'one' ? 'one' : 'own'}
                onChange={(scale) => filter({ scale: scale === 'one' ? 'one' : undefined })}
              />
            )}
          </>
        }
      />
      {shown.length === 0 ? (
        <Absent todo="Move in time, or look at all of them.">There is no Cohort or ClusterQueue of this name at this moment.</Absent>
      ) : asMap ? (
        <QueueMap pair={chosen ?? pairs[0]} roots={shown} whole={root === undefined} />
      ) : (
        <>
          <Legend
            items={[
              { pattern: 'own', text: 'own use' },
              { pattern: 'borrowed', text: 'borrowed' },
              { pattern: 'lent', text: 'lent to others' },
              { pattern: 'free', text: 'nominal quota, free' },
              { pattern: 'limit', text: 'limit' },
            ]}
          />
          <QueueTree roots={shown} pair={chosen} oneScale={query['scale'] === 'one'} openLevels={nodes > 400 ? 1 : 99} />
          {below?.kind === 'Cohort' && <CohortSettings name={below.name} />}
        </>
      )}
    </>
  );
}
