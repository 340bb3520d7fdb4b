// One LocalQueue, ResourceFlavor, AdmissionCheck or WorkloadPriorityClass: its settings, who uses it, and what there is of it.
import { pathOf, useView } from '../api/client.js';
import type { ConfigNode, OneConfigObject, WorkloadRow, Workloads } from '../api/types.js';
import { sameRef } from '../state/address.js';
import { goTo, hrefOf, place, route, select, selected } from '../state/store.js';
import { CopyButton } from '../ui/controls.js';
import { formatCount, visible } from '../ui/format.js';
import { Kind, Name, Ref } from '../ui/name.js';
import { Section, ViewHead } from '../ui/page.js';
import { Phase } from '../ui/phase.js';
import { Absent, Empty, Seen } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { When } from '../ui/when.js';
import { listOf, objectOf, textOf } from './loose.js';
import { conditionOf, labelsText, taintText, usageLines } from './object_words.js';
import { AllFields, Facts, UsageTable, UsedBy } from './queue_settings.js';

const kindNames: Record<string, string> = {
  localqueues: 'LocalQueue',
  clusterqueues: 'ClusterQueue',
  cohorts: 'Cohort',
  resourceflavors: 'ResourceFlavor',
  topologies: 'Topology',
  admissionchecks: 'AdmissionCheck',
  workloadpriorityclasses: 'WorkloadPriorityClass',
};

export default function ObjectView() {
  const { parts } = route.value;
  const path = parts[0] ?? '';
  const kind = kindNames[path];
  const names = parts.slice(1);
  const whole = kind !== undefined && names.length === (kind === 'LocalQueue' ? 2 : 1) && names.every(Boolean);
  const full = names.join('/');
  const seen = useView<OneConfigObject>(pathOf('objects', path, ...names), {}, { when: whole });
  const all = hrefOf({ view: 'objects', parts: kind ? [path] : [], query: {} });
  return (
    <div class="object">
      <ViewHead
        title={<><Name text={full || 'Object'} short={80} /> {kind && <Kind of={kind} />}</>}
        note={<a href={all}>all of its kind</a>}
        actions={
          whole && (
            <>
              <CopyButton text={() => `hindsight get ${path} ${names[names.length - 1]}${kind === 'LocalQueue' ? ` -n ${names[0]}` : ''} --at ${place.peek().position} -o yaml`} title="Copies the command that tells the same in a shell">
                Copy as command
              </CopyButton>
              <CopyButton text={() => JSON.stringify(seen.data?.object ?? null, null, 2)} title="Copies the object as it was at this moment">
                Copy as JSON
              </CopyButton>
            </>
          )
        }
      />
      {!whole ? (
        <Absent todo={<a href={all}>Choose one from the lists of objects.</a>}>The address names no object.</Absent>
      ) : (
        <Seen
          of={seen}
          words={{
            empty: '',
            absent: `There is no ${kind} of this name at this moment: it was not created yet, or is gone already.`,
            forbidden: kind === 'LocalQueue' ? `You may not see objects of namespace ${visible(names[0] ?? '')}.` : `You may not see this ${kind}.`,
            broken: `This ${kind} could not be told for this moment.`,
          }}
          skeleton={{ rows: 10 }}
        >
          {(data) => <Shown data={data} kind={kind} full={full} />}
        </Seen>
      )}
    </div>
  );
}

function Shown({ data, kind, full }: { data: OneConfigObject; kind: string; full: string }) {
  const spec = objectOf(objectOf(data.object)['spec']);
  switch (kind) {
    case 'LocalQueue':
      return <LocalQueue data={data} full={full} />;
    case 'ResourceFlavor':
      return <Flavor data={data} />;
    case 'AdmissionCheck':
      return (
        <>
          <Facts label="Settings" facts={[['Controller', <Name key="c" text={textOf(spec['controllerName'])} />], ['Active', conditionOf(data.object, 'Active').status === 'True' ? 'yes' : 'no: Workloads that need it hold quota and wait']]} />
          <UsedBy of={data} title="ClusterQueues that ask for it" nobody="No ClusterQueue asks for it: it holds up nobody." />
          <AllFields of={data.object} />
        </>
      );
    case 'WorkloadPriorityClass':
      return (
        <>
          <Facts
            label="Settings"
            facts={[
              ['Value', <span key="v" class="figure">{formatCount(Number(objectOf(data.object)['value'] ?? 0))}</span>],
              ['Workloads that have it', <span key="w" class="figure">{formatCount(data.workloads ?? 0)}</span>],
            ]}
          />
          <p class="view-note">The Workload with the higher value goes first, and may preempt one with a lower value where its ClusterQueue allows it.</p>
          <AllFields of={data.object} />
        </>
      );
    default:
      return (
        <>
          <p><Ref to={data.ref} kind /> has a view of its own.</p>
          <AllFields of={data.object} />
        </>
      );
  }
}

function LocalQueue({ data, full }: { data: OneConfigObject; full: string }) {
  const spec = objectOf(objectOf(data.object)['spec']);
  const status = objectOf(objectOf(data.object)['status']);
  const workloads = useView<Workloads>('workloads', { queue: full, limit: 500, sort: 'phase' });
  const active = conditionOf(data.object, 'Active');
  const table = (phase: string) => hrefOf({ view: 'workloads', parts: [], query: { queue: full, ...(phase ? { phase } : {}) } });
  const figure = (value: unknown, phase: string, how: string) => (
    <a class="figure" href={table(phase)} title={how}>
      {formatCount(Number(value ?? 0))}
    </a>
  );
  return (
    <>
      <div class="object-parts">
        <Facts
          label="Settings and counts"
          facts={[
            ['ClusterQueue', <Ref key="q" to={{ kind: 'ClusterQueue', name: textOf(spec['clusterQueue']) }} />],
            ['Active', active.status && `${active.status === 'True' ? 'yes' : 'no'}${active.reason ? `: ${visible(active.reason)}` : ''}`],
            ['Because', active.status === 'True' ? '' : <Name key="b" text={active.message} />],
            ['Stop policy', visible(textOf(spec['stopPolicy']))],
            ['Waiting', figure(status['pendingWorkloads'], 'Pending', 'Workloads that wait for quota')],
            ['Reserving', figure(status['reservingWorkloads'], '', 'Workloads that hold quota')],
            ['Admitted', figure(status['admittedWorkloads'], 'Admitted', 'Workloads that are admitted')],
          ]}
        />
        <UsageTable lines={usageLines(data.object)} />
      </div>
      <Section title="Its Workloads" note={<a href={table('')}>as a table with filters</a>}>
        <Seen
          of={workloads}
          words={{
            empty: 'No Workload is in this LocalQueue at this moment.',
            emptyTodo: 'Move in time to see when there was one.',
            forbidden: 'You may not see the Workloads of this namespace.',
            broken: 'The Workloads of this LocalQueue could not be listed.',
          }}
          isEmpty={(rows) => rows.items.length === 0}
          skeleton={{ rows: 6 }}
        >
          {(rows) => (
            <>
              <Table<WorkloadRow>
                label="Workloads of this LocalQueue"
                columns={workloadColumns}
                total={rows.items.length}
                row={(i) => rows.items[i]}
                rowKey={(row) => row.name}
                height={480}
                onOpen={(row) => goTo(refOfRow(row))}
                onPick={(row) => select(refOfRow(row))}
                isSelected={(row) => sameRef(refOfRow(row), selected.value)}
              />
              {rows.total > rows.items.length && <p class="nothing">The first {formatCount(rows.items.length)} of {formatCount(rows.total)}.</p>}
            </>
          )}
        </Seen>
      </Section>
      <AllFields of={data.object} />
    </>
  );
}

const refOfRow = (row: WorkloadRow) => ({ kind: 'Workload', namespace: row.namespace, name: row.name });

const workloadColumns: Column<WorkloadRow>[] = [
  { id: 'name', title: 'Workload', grow: 3, width: 152, narrow: true, cell: (row) => <Ref to={refOfRow(row)} namespaced={false} /> },
  { id: 'phase', title: 'Phase', width: 120, narrow: true, cell: (row) => <Phase of={row.phase} /> },
  { id: 'reason', title: 'Reason', grow: 2, width: 120, cell: (row) => <Name text={row.reason} /> },
  { id: 'priority', title: 'Priority', width: 72, align: 'right', cell: (row) => <span class="figure">{formatCount(row.priority)}</span> },
  { id: 'asks', title: 'Asks for', grow: 3, width: 168, hint: 'All its pods together', cell: (row) => <Name text={row.asks.map((a) => `${a.resource} ${a.amount.text}`).join(', ')} /> },
  { id: 'created', title: 'Created', width: 112, cell: (row) => <When time={row.created} /> },
];

function Flavor({ data }: { data: OneConfigObject }) {
  const spec = objectOf(objectOf(data.object)['spec']);
  const quota = listOf(objectOf(objectOf(objectOf(data.object)['status'])['hindsight'])['quota']);
  const nodes = data.nodes ?? [];
  const labels = labelsText(spec['nodeLabels']);
  return (
    <>
      <div class="object-parts">
        <Facts
          label="Settings"
          facts={[
            ['Node labels', labels ? <Name key="l" text={labels} /> : 'none: any node'],
            ['Node taints', listOf(spec['nodeTaints']).length > 0 ? <Name key="t" text={listOf(spec['nodeTaints']).map(taintText).join(', ')} /> : 'none'],
            ['Tolerations', listOf(spec['tolerations']).length > 0 ? <Name key="o" text={listOf(spec['tolerations']).map(taintText).join(', ')} /> : 'none'],
            ['Topology', textOf(spec['topologyName']) && <Ref key="y" to={{ kind: 'Topology', name: textOf(spec['topologyName']) }} />],
          ]}
        />
        {quota.length > 0 && (
          <table class="ledger">
            <caption>Who has quota of it</caption>
            <thead>
              <tr>
                <th scope="col">Queue or Cohort</th>
                <th scope="col">Resource</th>
                <th scope="col" class="right">Nominal quota</th>
                <th scope="col" class="right">In use</th>
              </tr>
            </thead>
            <tbody>
              {quota.map((line, i) => (
                <tr key={i}>
                  <td>{textOf(line['cohort']) ? <Ref to={{ kind: 'Cohort', name: textOf(line['cohort']) }} kind /> : <Ref to={{ kind: 'ClusterQueue', name: textOf(line['clusterQueue']) }} />}</td>
                  <td><Name text={textOf(line['resource'])} /></td>
                  <td class="right figure">{textOf(line['nominal']) || 'unlimited'}</td>
                  <td class="right figure">{textOf(line['used']) || <span class="nothing">–</span>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      {quota.length === 0 && <UsedBy of={data} title="Who has quota of it" nobody="No ClusterQueue and no Cohort has quota of it: nobody can be admitted with it." />}
      <Section title={<>Its nodes <span class="figure">{formatCount(nodes.length + (data.nodesLeftOut ?? 0))}</span></>} note={labels ? 'those that have its labels' : undefined}>
        {nodes.length === 0 ? (
          data.nodesWatched ? (
            <Empty todo="A node appears here when it has the labels above.">No node has these labels at this moment.</Empty>
          ) : (
            <Empty todo="Nodes are recorded as soon as there is a Topology.">Nodes are not on record: nothing in this log is placed by topology.</Empty>
          )
        ) : (
          <>
            <Table<ConfigNode> label="Nodes of this flavor" columns={nodeColumns} total={nodes.length} row={(i) => nodes[i]} rowKey={(node) => node.name} height={480} />
            {(data.nodesLeftOut ?? 0) > 0 && <p class="nothing">{formatCount(data.nodesLeftOut ?? 0)} more are not listed.</p>}
          </>
        )}
      </Section>
      <AllFields of={data.object} />
    </>
  );
}

const nodeColumns: Column<ConfigNode>[] = [
  { id: 'name', title: 'Node', grow: 2, width: 128, narrow: true, cell: (node) => <Name text={node.name} /> },
  { id: 'state', title: 'State', width: 128, narrow: true, cell: (node) => (node.ready && !node.unschedulable ? <span>● ready</span> : <span class="missing">{node.ready ? '○ unschedulable' : '× not ready'}</span>) },
  { id: 'allocatable', title: 'Allocatable', grow: 2, width: 144, cell: (node) => <Name text={node.allocatable.map((a) => `${a.resource} ${a.amount.text}`).join(', ')} /> },
  { id: 'labels', title: 'Labels', grow: 3, width: 144, cell: (node) => <span title={visible(labelsText(node.labels))}><Name text={labelsText(node.labels)} /></span> },
  { id: 'taints', title: 'Taints', grow: 1, width: 96, cell: (node) => (node.taints.length > 0 ? <Name text={node.taints.map(taintText).join(', ')} /> : <span class="nothing">none</span>) },
];
