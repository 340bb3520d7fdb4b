// The objects that say how the cluster admits: LocalQueues, ClusterQueues, Cohorts, ResourceFlavors, Topologies, AdmissionChecks and
// WorkloadPriorityClasses; one kind at a time, each with who uses it.
import { pathOf, useView } from '../api/client.js';
import type { ConfigObject, ConfigObjects } from '../api/types.js';
import { filter, goTo, hrefOf, route, select, selected } from '../state/store.js';
import { sameRef } from '../state/address.js';
import { Download, Field } from '../ui/controls.js';
import { toCsv } from '../ui/csv.js';
import { formatCount, visible } from '../ui/format.js';
import { Name, Ref } from '../ui/name.js';
import { ViewHead } from '../ui/page.js';
import { Empty, Seen } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { listOf, numberOf, objectOf, textOf } from './loose.js';
import { conditionOf, labelsText, quotaText, wordsOfUsers } from './object_words.js';

const mostRows = 5000;

interface KindEntry {
  path: string;
  kind: string;
  title: string;
  empty: string;
  columns: Column<ConfigObject>[];
}

export default function ObjectsView() {
  const { parts, query } = route.value;
  const entry = kinds.find((k) => k.path === (parts[0] ?? 'localqueues')) ?? kinds[0]!;
  const seen = useView<ConfigObjects>(pathOf('objects', entry.path), { limit: mostRows, text: query['text'] });
  return (
    <div class="objects">
      <ViewHead
        title="Objects"
        note="that say how this cluster admits, as they were at this moment"
        actions={
          <Field label={`Filter ${entry.title} by name`} placeholder="Name" value={query['text'] ?? ''} delay={150} width={168} onInput={(text) => filter({ text })} />
        }
      />
      <nav class="tabs" aria-label="Kinds of objects">
        {kinds.map((k) => (
          <a key={k.path} href={hrefOf({ view: 'objects', parts: [k.path], query: {} })} aria-current={k === entry ? 'page' : undefined}>
            {k.title}
          </a>
        ))}
      </nav>
      <Seen
        of={seen}
        words={{
          empty: '',
          forbidden: `You may not see the ${entry.title} of this log.`,
          broken: `The ${entry.title} of this moment could not be listed.`,
        }}
        skeleton={{ rows: 8 }}
      >
        {(data) => <Shown key={entry.path} data={data} entry={entry} text={query['text'] ?? ''} />}
      </Seen>
    </div>
  );
}

function Shown({ data, entry, text }: { data: ConfigObjects; entry: KindEntry; text: string }) {
  const hidden = data.hidden > 0 && <p class="nothing">{formatCount(data.hidden)} are in namespaces you may not see.</p>;
  if (data.items.length === 0)
    return (
      <>
        <Empty todo={text ? 'Take away the filter, or move in time.' : 'Move in time to see when there was one.'}>{text ? `No object of this kind is called like “${visible(text)}” at this moment.` : entry.empty}</Empty>
        {hidden}
      </>
    );
  return (
    <>
      <div class="preemption-line">
        <p>
          {formatCount(data.total)} {entry.title}
          {data.items.length < data.total && `, of which the first ${formatCount(data.items.length)} are listed`}
        </p>
        <Download name={`${entry.path}.csv`} type="text/csv" make={() => toCsv(['namespace', 'name', 'used by'], data.items.map((item) => [item.ref.namespace ?? '', item.ref.name, wordsOfUsers(item)]))}>CSV</Download>
        <Download name={`${entry.path}.json`} type="application/json" make={() => JSON.stringify({ apiVersion: 'v1', kind: 'List', items: data.items.map((item) => item.object) }, null, 2)}>JSON</Download>
      </div>
      {hidden}
      <Table<ConfigObject>
        label={entry.title}
        columns={entry.columns}
        total={data.items.length}
        row={(i) => data.items[i]}
        rowKey={(item) => `${item.ref.namespace ?? ''}/${item.ref.name}`}
        onOpen={(item) => goTo(item.ref)}
        onPick={(item) => select(item.ref)}
        isSelected={(item) => sameRef(item.ref, selected.value)}
      />
    </>
  );
}

const name: Column<ConfigObject> = { id: 'name', title: 'Name', grow: 3, width: 144, narrow: true, cell: (item) => <Ref to={item.ref} /> };
const usedBy = (title: string): Column<ConfigObject> => ({
  id: 'used',
  title,
  grow: 3,
  width: 144,
  narrow: true,
  cell: (item) => (item.usedBy.length === 0 ? <span class="nothing">nobody</span> : <span title={visible(wordsOfUsers(item))}>{item.usedBy.slice(0, 3).map((ref, i) => <span key={i}>{i > 0 && ', '}<Ref to={ref} /></span>)}{item.usedBy.length + item.usedByLeftOut > 3 && ` and ${formatCount(item.usedBy.length + item.usedByLeftOut - 3)} more`}</span>),
});
const spec = (item: ConfigObject) => objectOf(objectOf(item.object)['spec']);
const status = (item: ConfigObject) => objectOf(objectOf(item.object)['status']);
const count = (id: string, title: string, hint: string, of: string): Column<ConfigObject> => ({ id, title, width: 80, align: 'right', hint, cell: (item) => <span class="figure">{formatCount(numberOf(status(item)[of]))}</span> });
const counts: Column<ConfigObject>[] = [
  { ...count('waiting', 'Waiting', 'Workloads that wait for quota', 'pendingWorkloads'), narrow: true },
  count('reserving', 'Reserving', 'Workloads that hold quota', 'reservingWorkloads'),
  count('admitted', 'Admitted', 'Workloads that are admitted', 'admittedWorkloads'),
];
const active: Column<ConfigObject> = {
  id: 'active',
  title: 'Active',
  width: 136,
  cell: (item) => {
    const told = conditionOf(item.object, 'Active');
    return told.status === 'True' ? <span>● active</span> : <span class="missing" title={visible(told.message)}>○ <Name text={told.reason || 'not active'} /></span>;
  },
};

const kinds: KindEntry[] = [
  {
    path: 'localqueues', kind: 'LocalQueue', title: 'LocalQueues', empty: 'There was no LocalQueue at this moment. Jobs come into ClusterQueues through them.',
    columns: [name, { id: 'to', title: 'ClusterQueue', grow: 2, width: 120, narrow: true, cell: (item) => <Ref to={{ kind: 'ClusterQueue', name: textOf(spec(item)['clusterQueue']) }} /> }, active, ...counts],
  },
  {
    path: 'clusterqueues', kind: 'ClusterQueue', title: 'ClusterQueues', empty: 'There was no ClusterQueue at this moment.',
    columns: [name, { id: 'cohort', title: 'Cohort', grow: 2, width: 104, cell: (item) => (textOf(spec(item)['cohortName']) ? <Ref to={{ kind: 'Cohort', name: textOf(spec(item)['cohortName']) }} /> : <span class="nothing">–</span>) }, { ...usedBy('LocalQueues'), narrow: false }, active, ...counts],
  },
  {
    path: 'cohorts', kind: 'Cohort', title: 'Cohorts', empty: 'There was no Cohort at this moment: no ClusterQueue borrows from another.',
    columns: [name, { id: 'parent', title: 'Parent', grow: 2, width: 104, cell: (item) => (textOf(spec(item)['parentName']) ? <Ref to={{ kind: 'Cohort', name: textOf(spec(item)['parentName']) }} /> : <span class="nothing">–</span>) },
      { id: 'members', title: 'ClusterQueues', width: 120, align: 'right', narrow: true, hint: 'Directly below it', cell: (item) => <span class="figure">{formatCount(listOrEmpty(objectOf(status(item)['hindsight'])['clusterQueues']).length)}</span> },
      { id: 'quota', title: 'Quota of all below', grow: 4, width: 160, cell: (item) => <Name text={quotaText(objectOf(status(item)['hindsight'])['quota'])} /> }],
  },
  {
    path: 'resourceflavors', kind: 'ResourceFlavor', title: 'ResourceFlavors', empty: 'There was no ResourceFlavor at this moment. Quota is always of one.',
    columns: [name, { id: 'labels', title: 'Node labels', grow: 4, width: 160, cell: (item) => <span title={visible(labelsText(spec(item)['nodeLabels']))}><Name text={labelsText(spec(item)['nodeLabels']) || '–'} /></span> }, { id: 'topology', title: 'Topology', grow: 1, width: 96, cell: (item) => (textOf(spec(item)['topologyName']) ? <Ref to={{ kind: 'Topology', name: textOf(spec(item)['topologyName']) }} /> : <span class="nothing">–</span>) }, usedBy('Quota of it have')],
  },
  {
    path: 'topologies', kind: 'Topology', title: 'Topologies', empty: 'There was no Topology at this moment. Workloads are placed by one once a ResourceFlavor names it.',
    columns: [name, { id: 'levels', title: 'Levels', grow: 4, width: 160, narrow: true, cell: (item) => <Name text={listOf(spec(item)['levels']).map((level) => textOf(level['nodeLabel'])).join(' › ')} /> }, { ...usedBy('ResourceFlavors'), narrow: false }],
  },
  {
    path: 'admissionchecks', kind: 'AdmissionCheck', title: 'AdmissionChecks', empty: 'There was no AdmissionCheck at this moment: quota alone decides who is admitted.',
    columns: [name, { id: 'controller', title: 'Controller', grow: 3, width: 160, cell: (item) => <Name text={textOf(spec(item)['controllerName'])} /> }, active, usedBy('ClusterQueues')],
  },
  {
    path: 'workloadpriorityclasses', kind: 'WorkloadPriorityClass', title: 'Priority classes', empty: 'There was no WorkloadPriorityClass at this moment: priorities come from those of pods, or are 0.',
    columns: [name, { id: 'value', title: 'Value', width: 96, align: 'right', narrow: true, hint: 'A higher one goes first, and may preempt a lower one', cell: (item) => <span class="figure">{formatCount(numberOf(objectOf(item.object)['value']))}</span> }, { id: 'workloads', title: 'Workloads', width: 96, align: 'right', narrow: true, hint: 'That have it', cell: (item) => <span class="figure">{formatCount(item.workloads ?? 0)}</span> }],
  },
];

function listOrEmpty(of: unknown): unknown[] {
  return Array.isArray(of) ? of : [];
}
