// Topologies: the list of them, and one as nested squares, filled by use.
import { pathOf, useView } from '../api/client.js';
import type { Fit, Topologies, TopologyMap } from '../api/types.js';
import { go, goTo, hrefOf, route, selected } from '../state/store.js';
import { Select } from '../ui/controls.js';
import { formatCount, formatPerMille, plural } from '../ui/format.js';
import { Kind, Name } from '../ui/name.js';
import { Section, ViewHead } from '../ui/page.js';
import { Seen } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { countHosts, depthOf, domainRows, litBy, type DomainRow } from './topology_domains.js';
import { GangChooser, FitForm, FitShown } from './topology_fit.js';
import { TopologyPicture } from './topology_picture.js';

export default function TopologyView() {
  const name = route.value.parts[0];
  return <div class="topology">{name === undefined ? <List /> : <One key={name} name={name} />}</div>;
}

type TopologyItem = Topologies['items'][number];

function List() {
  const seen = useView<Topologies>('topologies');
  return (
    <>
      <ViewHead title="Topologies" note="blocks, racks and hosts that Topology Aware Scheduling places pods on" />
      <Seen
        of={seen}
        words={{
          empty: 'There is no Topology at this moment.',
          emptyTodo: 'Workloads are placed by topology once a ResourceFlavor names one in topologyName.',
          forbidden: 'You may not see Topologies and Nodes. Ask who runs this log for the right to get Nodes.',
          broken: 'The Topologies could not be listed for this moment.',
        }}
        isEmpty={(data) => data.items.length === 0}
        skeleton={{ rows: 4 }}
      >
        {(data) => (
          <Table<TopologyItem>
            label="Topologies"
            columns={listColumns}
            total={data.items.length}
            row={(i) => data.items[i]}
            rowKey={(item) => item.name}
            height={640}
            onOpen={(item) => goTo({ kind: 'Topology', name: item.name })}
          />
        )}
      </Seen>
    </>
  );
}

const shareOf = (used: TopologyItem['used'][number]): number => (used.capacity.value > 0 ? (1000 * used.used.value) / used.capacity.value : 0);

const listColumns: Column<TopologyItem>[] = [
  { id: 'name', title: 'Topology', grow: 2, narrow: true, cell: (item) => <a href={hrefOf({ kind: 'Topology', name: item.name })}><Name text={item.name} /></a> },
  { id: 'levels', title: 'Levels', grow: 3, cell: (item) => <bdi title={item.levels.join(' › ')}>{item.levels.map(shortLevel).join(' › ')}</bdi> },
  { id: 'nodes', title: 'Nodes', width: 72, align: 'right', narrow: true, hint: 'Nodes of its ResourceFlavors', cell: (item) => <span class="figure">{formatCount(item.nodes)}</span> },
  {
    id: 'ready',
    title: 'Ready',
    width: 72,
    align: 'right',
    hint: 'Nodes that are ready and schedulable',
    cell: (item) => <span class={`figure${item.ready < item.nodes ? ' missing' : ''}`}>{formatCount(item.ready)}</span>,
  },
  {
    id: 'used',
    title: 'In use',
    grow: 3,
    width: 160,
    narrow: true,
    hint: 'What placed Workloads and other pods hold, of what the Nodes have to give',
    cell: (item) => (
      <span title={item.used.map((u) => `${u.resource}: ${u.used.text} of ${u.capacity.text}`).join('\n')}>
        {item.used.map((u) => (
          <span key={u.resource} class="topology-use"><bdi>{u.resource}</bdi> <span class="figure">{formatPerMille(shareOf(u))}</span> </span>
        ))}
      </span>
    ),
  },
];

/** "kubernetes.io/hostname" is "hostname" where there is little room. */
const shortLevel = (level: string): string => level.slice(level.lastIndexOf('/') + 1);

/** What the lowest domains are called. */
const lowestName = (levels: readonly string[]): string => {
  const name = shortLevel(levels[levels.length - 1] ?? 'domain');
  return name === 'hostname' ? 'host' : name;
};

function One({ name }: { name: string }) {
  const { query } = route.value;
  const gang = query['workload'] ?? (selected.value?.kind === 'Workload' ? `${selected.value.namespace ?? ''}/${selected.value.name}` : undefined);
  const seen = useView<TopologyMap>(pathOf('topologies', name), { workload: gang, requests: query['requests'], under: query['under'] });
  const asked = query['pods'] !== undefined;
  const fit = useView<Fit>(
    `${pathOf('topologies', name)}/fit`,
    { pods: query['pods'], requests: query['requests'], level: query['level'], mode: query['mode'] ?? 'required' },
    { when: asked },
  );
  return (
    <>
      <ViewHead
        title={<><Name text={name} short={60} /> <Kind of="Topology" /></>}
        note={<a href={hrefOf({ view: 'topology', parts: [], query: {} })}>all Topologies</a>}
      />
      <Seen
        of={seen}
        words={{
          empty: 'No Node belonged to this Topology at this moment.',
          emptyTodo: 'Nodes belong to it when they carry the labels of its levels and fit a ResourceFlavor that names it.',
          absent: 'There is no Topology of this name at this moment.',
          forbidden: 'You may not see the Nodes of this Topology. Ask who runs this log for the right to get Nodes.',
          broken: 'The map could not be made for this moment.',
        }}
        isEmpty={(data) => data.domains.length === 0}
        skeleton={{ height: 480 }}
      >
        {(data) => <Shown data={data} fit={asked ? fit : undefined} gang={gang} />}
      </Seen>
    </>
  );
}

function Shown({ data, fit, gang }: { data: TopologyMap; fit: ReturnType<typeof useView<Fit>> | undefined; gang: string | undefined }) {
  const { query, parts } = route.value;
  const resource = data.resources.indexOf(query['of'] ?? '');
  const hosts = countHosts(data.domains);
  const lit = litBy(data.domains);
  const under = (query['under'] ?? '').split('/').filter(Boolean);
  const lowest = lowestName(data.levels.slice(0, under.length + depthOf(data.domains)));
  const change = (changes: Record<string, string | undefined>): void => {
    const next: Record<string, string> = {};
    for (const [key, value] of Object.entries({ ...query, ...changes })) if (value) next[key] = value;
    go('topology', [...parts], next);
  };
  return (
    <>
      <div class="topology-choices">
        <Select
          label="Filled by"
          showLabel
          value={resource < 0 ? '' : data.resources[resource]!}
          options={[{ value: '', text: 'the resource used most' }, ...data.resources.map((r) => ({ value: r, text: r }))]}
          onChange={(of) => change({ of: of || undefined })}
        />
        <GangChooser gang={gang} pods={lit.pods} domains={lit.domains} lowest={lowest} onChange={(workload) => change({ workload: workload || undefined })} />
        <span class="nothing topology-count">
          {plural(hosts, lowest)}
          {data.leftOut > 0 && `; ${plural(data.leftOut, 'domain')} below are not drawn: choose a square to see them`}
        </span>
      </div>
      <Under under={under} levels={data.levels} change={change} />
      <TopologyPicture map={data} under={under} resource={resource} fit={fit?.data} lit={lit.pods > 0} onUnder={(path) => change({ under: path.join('/') })} />
      <div class="topology-below">
        <Section title="Would it fit?" note="at this moment, without preempting anybody">
          <FitForm levels={data.levels} resources={data.resources} query={query} onAsk={change} />
          {fit && (
            <Seen of={fit} words={{ empty: '', broken: 'Whether it fits could not be worked out.', forbidden: 'You may not ask about these Nodes.' }} skeleton={{ rows: 2 }}>
              {(answer) => <FitShown fit={answer} />}
            </Seen>
          )}
        </Section>
        <Section title="Free domains by size" note={<>for a pod of <bdi>{data.pod}</bdi></>}>
          <FreeBySize map={data} />
        </Section>
      </div>
      <details class="topology-table">
        <summary>All domains as a table</summary>
        <Domains map={data} under={under} />
      </details>
    </>
  );
}

const mostOf = (sizes: readonly { domains: number }[]): number => sizes.reduce((max, size) => Math.max(max, size.domains), 1);

/** Where one is, if only a part is drawn, and the way back. */
function Under({ under, levels, change }: { under: string[]; levels: string[]; change: (changes: Record<string, string | undefined>) => void }) {
  if (under.length === 0) return null;
  return (
    <nav class="under" aria-label="The part that is drawn">
      <button class="link" onClick={() => change({ under: undefined })}>all</button>
      {under.map((name, i) => (
        <span key={i}>
          {' › '}
          <span class="nothing">{shortLevel(levels[i] ?? '')}</span>{' '}
          {i + 1 < under.length ? (
            <button class="link" onClick={() => change({ under: under.slice(0, i + 1).join('/') })}><bdi>{name}</bdi></button>
          ) : (
            <bdi>{name}</bdi>
          )}
        </span>
      ))}
    </nav>
  );
}

function FreeBySize({ map }: { map: TopologyMap }) {
  const levels = map.freeBySize.filter((level) => level.sizes.length > 0);
  if (levels.length === 0) return <p class="nothing">No domain has room for such a pod.</p>;
  return (
    <div class="free-by-size">
      {levels.map((level) => (
        <table class="ledger" key={level.level}>
          <caption>
            <bdi title={level.level}>{shortLevel(level.level)}</bdi>
          </caption>
          <thead>
            <tr>
              <th scope="col" class="right" title="How many such pods one domain takes now">Room for pods</th>
              <th scope="col" class="right" title="How many domains of this level have room for so many, or more">Domains</th>
              <th scope="col"><span class="unseen">as a bar</span></th>
            </tr>
          </thead>
          <tbody>
            {[...level.sizes].sort((a, b) => b.pods - a.pods).slice(0, 24).map((size) => (
              <tr key={size.pods} class={size.pods === 0 ? 'nothing' : ''}>
                <td class="right figure">{formatCount(size.pods)}</td>
                <td class="right figure">{formatCount(size.domains)}</td>
                <td class="size-cell"><span class="size-bar" style={{ width: `${(100 * size.domains) / mostOf(level.sizes)}%` }} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}

function Domains({ map, under }: { map: TopologyMap; under: string[] }) {
  const rows = domainRows(map.domains);
  const columns: Column<DomainRow>[] = [
    { id: 'domain', title: 'Domain', grow: 3, narrow: true, cell: (row) => <bdi title={row.path.join(' › ')}>{'\u2003'.repeat(row.path.length - 1)}{row.path[row.path.length - 1]}</bdi> },
    { id: 'level', title: 'Level', grow: 1, cell: (row) => <span class="nothing">{shortLevel(map.levels[under.length + row.path.length - 1] ?? '')}</span> },
    { id: 'ready', title: 'State', width: 104, cell: (row) => (row.node.ready ? <span class="nothing">ready</span> : <span class="missing">╳ not ready</span>) },
    ...map.resources.map((resource, i): Column<DomainRow> => ({
      id: resource,
      title: resource,
      width: 112,
      align: 'right',
      narrow: i === 0,
      hint: `${resource} in use, of what it has to give`,
      cell: (row) => <span class="figure">{formatPerMille(row.node.used[i] ?? 0)}</span>,
    })),
    { id: 'gang', title: 'Gang', width: 72, align: 'right', narrow: true, hint: 'Pods of the Workload that is lit', cell: (row) => <span class="figure">{row.node.gang ? formatCount(row.node.gang) : ''}</span> },
  ];
  return <Table<DomainRow> label="Domains of the Topology" columns={columns} total={rows.length} row={(i) => rows[i]} rowKey={(row) => row.path.join('\n')} height={480} />;
}
