// All workloads of the moment: 100,000 rows, filtered and sorted by the server, loaded where they are seen. Filters are in the address.
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { useView } from '../api/client.js';
import type { Cohorts, TreeNode, WorkloadRow, Workloads as WorkloadsData } from '../api/types.js';
import { allRows, useWindows } from '../api/windows.js';
import { sameRef } from '../state/address.js';
import * as store from '../state/store.js';
import { Download, Field, Toggle } from '../ui/controls.js';
import { formatCount, plural, visible } from '../ui/format.js';
import { Name, Ref } from '../ui/name.js';
import { ViewHead } from '../ui/page.js';
import { Phase } from '../ui/phase.js';
import { Broken, Empty, Forbidden, Loading } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { When } from '../ui/when.js';
import { spaced } from '../ui/words.js';
import { foldAlike, workloadsCsv, type FoldedRow } from './workload_table.js';

const phases: WorkloadRow['phase'][] = ['Pending', 'QuotaReserved', 'Admitted', 'Evicted', 'Finished', 'Inactive'];
const mostFolded = 5000;
const mostExported = 100_000;

const columns: Column<FoldedRow>[] = [
  {
    id: 'name',
    title: 'Name',
    grow: 3,
    width: 176,
    sortable: true,
    narrow: true,
    cell: ({ row }) => <Ref to={refOf(row)} />,
  },
  {
    id: 'job',
    title: 'Job',
    grow: 2,
    width: 140,
    cell: ({ row }) =>
      row.job ? (
        <>
          <span class="kind">{visible(row.job.kind)}</span>
          <Name text={row.job.name} />
        </>
      ) : (
        <span class="reason">none</span>
      ),
  },
  { id: 'phase', title: 'Phase', width: 124, sortable: true, narrow: true, cell: ({ row }) => <Phase of={row.phase} /> },
  {
    id: 'reason',
    title: 'Reason',
    grow: 2,
    width: 112,
    sortable: true,
    hint: 'The reason of the condition that tells its phase',
    cell: ({ row }) => <span title={visible(row.reason)}>{visible(spaced(row.reason))}</span>,
  },
  {
    id: 'queue',
    title: 'ClusterQueue',
    grow: 1,
    width: 108,
    sortable: true,
    cell: ({ row }) =>
      row.clusterQueue ? <Ref to={{ kind: 'ClusterQueue', name: row.clusterQueue }} /> : <span class="reason">none</span>,
  },
  { id: 'localQueue', title: 'LocalQueue', width: 128, cell: ({ row }) => (row.queue ? <Ref to={{ kind: 'LocalQueue', namespace: row.namespace, name: row.queue }} namespaced={false} /> : <span class="nothing">–</span>) },
  { id: 'priority', title: 'Priority', width: 64, align: 'right', sortable: true, cell: ({ row }) => row.priority },
  {
    id: 'asks',
    title: 'Asks for',
    grow: 2,
    width: 104,
    wide: true,
    hint: 'Of all its pods together',
    cell: ({ row }) => <Asks of={row} />,
  },
  {
    id: 'since',
    title: 'Since',
    width: 112,
    align: 'right',
    sortable: true,
    hint: 'Since when it stands in this phase',
    cell: ({ row }) => (row.since ? <When time={row.since} /> : '–'),
  },
  { id: 'created', title: 'Created', width: 112, align: 'right', sortable: true, cell: ({ row }) => <When time={row.created} /> },
];
const shownAtFirst = ['name', 'phase', 'reason', 'queue', 'priority', 'asks', 'since'];

function refOf(row: WorkloadRow) {
  return { kind: 'Workload', namespace: row.namespace, name: row.name };
}

function Asks({ of }: { of: WorkloadRow }) {
  return (
    <span class="row-asks">
      {of.asks.map((a, i) => (
        <span key={a.resource}>
          {i > 0 && ', '}
          <span class="figure">{a.amount.text}</span> <span class="ref-ns">{visible(a.resource)}</span>
        </span>
      ))}
    </span>
  );
}

export default function Workloads() {
  const { query } = store.route.value;
  const sort = query['sort'] ?? 'name';
  const descending = query['descending'] === 'true';
  const fold = query['fold'] === 'true';
  const asked = useMemo(() => {
    const { phase, queue, namespace, text } = query;
    return { phase, queue, namespace, text, sort, descending: descending || undefined };
  }, [query, sort, descending]);
  const windows = useWindows<WorkloadRow, WorkloadsData>('workloads', asked, !fold);
  const folded = useFolded(asked, fold);
  const [shown, setShown] = useState<string[]>(() => chosenColumns());
  const filtered = !!(query['phase'] || query['queue'] || query['namespace'] || query['text']);

  const byWindow = useCallback(
    (index: number): FoldedRow | undefined => {
      const row = windows.row(index);
      return row && { row, alike: 0, key: '' };
    },
    [windows.row],
  );
  const byFold = useCallback((index: number) => folded.rows[index], [folded.rows]);
  const visibleColumns = useMemo(() => {
    const chosen = columns.filter((c) => shown.includes(c.id));
    if (!fold) return chosen;
    const alike: Column<FoldedRow> = {
      id: 'alike',
      title: 'Alike',
      width: 112,
      narrow: true,
      hint: 'So many others are equal in namespace, queue, phase, reason, priority and requests',
      cell: ({ alike: n, key }) =>
        n > 0 ? (
          <button class="link" onClick={() => folded.unfold(key)} title="Show all of them">
            and {formatCount(n)} alike
          </button>
        ) : null,
    };
    return [...chosen.slice(0, 1), alike, ...chosen.slice(1)];
  }, [shown, fold, folded.unfold]);
  const total = fold ? folded.rows.length : windows.total;
  const state = fold ? folded.state : windows.state;
  const answer = fold ? undefined : windows.latest;
  const matches = fold ? folded.total : windows.total;
  const onSort = (id: string) =>
    store.filter(
      sort === id ? { descending: descending ? undefined : 'true' } : { sort: id === 'name' ? undefined : id, descending: undefined },
    );

  return (
    <>
      <ViewHead
        title="Workloads"
        note={
          state === 'ready' && (
            <>
              {filtered && answer ? `${formatCount(matches)} of ${plural(answer.all, 'workload')}` : plural(matches, 'workload')}
              {fold && folded.total > mostFolded && `; the first ${formatCount(mostFolded)} of them are folded`}
              {answer && answer.hidden > 0 && `; ${formatCount(answer.hidden)} more in namespaces you may not see`}
            </>
          )
        }
        actions={
          <>
            <Download
              name="workloads.csv"
              type="text/csv"
              make={async () => workloadsCsv((await allRows<WorkloadRow>('workloads', asked, mostExported)).items)}
            >
              CSV
            </Download>
            <Download
              name="workloads.json"
              type="application/json"
              make={async () => JSON.stringify((await allRows<WorkloadRow>('workloads', asked, mostExported)).items, null, 2)}
            >
              JSON
            </Download>
            <ColumnChooser
              shown={shown}
              onChange={(next) => {
                setShown(next);
                store.keep('columns.workloads', next.join(','));
              }}
            />
          </>
        }
      />
      <Filters fold={fold} filtered={filtered} />
      {state === 'loading' && total === 0 ? (
        <Loading rows={16}>Workloads are being listed.</Loading>
      ) : state === 'forbidden' ? (
        <Forbidden todo={windows.remedy ?? 'Ask whoever runs the cluster for "get" on workloads in your namespaces.'}>
          You may not see workloads of any namespace.
        </Forbidden>
      ) : state === 'broken' ? (
        <Broken
          todo={
            <>
              {windows.remedy}{' '}
              <button class="link" onClick={windows.again}>
                Ask again
              </button>
            </>
          }
        >
          Workloads could not be listed. {fold ? folded.message : windows.message}
        </Broken>
      ) : total === 0 ? (
        filtered ? (
          <Empty
            todo={
              <button
                class="link"
                onClick={() => store.filter({ phase: undefined, queue: undefined, namespace: undefined, text: undefined })}
              >
                Take the filters away
              </button>
            }
          >
            No workload of this moment matches the filters.
          </Empty>
        ) : (
          <Empty todo="Move the slider to a later moment, or submit a job to a LocalQueue.">There is no workload at this moment.</Empty>
        )
      ) : (
        <Table<FoldedRow>
          label="Workloads"
          columns={visibleColumns}
          total={total}
          row={fold ? byFold : byWindow}
          rowKey={({ row }) => `${row.namespace}/${row.name}`}
          {...(fold ? {} : { onRange: windows.onRange })}
          onOpen={({ row }) => store.goTo(refOf(row))}
          onPick={({ row }) => store.select(refOf(row))}
          isSelected={({ row }) => sameRef(store.selected.value, refOf(row))}
          sort={sort}
          descending={descending}
          onSort={onSort}
        />
      )}
    </>
  );
}

function chosenColumns(): string[] {
  const kept = store
    .stored('columns.workloads', '')
    .split(',')
    .filter((id) => columns.some((c) => c.id === id));
  return kept.length > 0 ? kept : shownAtFirst;
}

function ColumnChooser({ shown, onChange }: { shown: string[]; onChange: (shown: string[]) => void }) {
  return (
    <details
      class="menu"
      onKeyDown={(event) => {
        if (event.key === 'Escape') event.currentTarget.open = false;
      }}
    >
      <summary class="button quiet">Columns</summary>
      <div class="menu-body" role="group" aria-label="Columns">
        {columns.map((column) => (
          <label key={column.id}>
            <input
              type="checkbox"
              checked={shown.includes(column.id)}
              disabled={column.id === 'name'}
              onChange={(event) => {
                const on = event.currentTarget.checked;
                onChange(columns.map((c) => c.id).filter((id) => (id === column.id ? on : shown.includes(id))));
              }}
            />
            {column.title}
          </label>
        ))}
      </div>
    </details>
  );
}

function Filters({ fold, filtered }: { fold: boolean; filtered: boolean }) {
  const { query } = store.route.value;
  const cohorts = useView<Cohorts>('cohorts');
  const queues = useMemo(() => queueNames(cohorts.data?.roots ?? []), [cohorts.data]);
  const chosen = (query['phase'] ?? '').split(',').filter(Boolean);
  const toggle = (phase: string) =>
    store.filter({ phase: phases.filter((p) => (p === phase ? !chosen.includes(p) : chosen.includes(p))).join(',') });
  return (
    <div class="filters" role="group" aria-label="Filters">
      <Field
        label="Filter by name"
        placeholder="Name or job"
        value={query['text'] ?? ''}
        delay={200}
        onInput={(text) => store.filter({ text })}
      />
      <Field
        label="Filter by queue"
        placeholder="ClusterQueue or NS/LocalQueue"
        value={query['queue'] ?? ''}
        delay={300}
        list={queues}
        onInput={(queue) => store.filter({ queue })}
      />
      <Field
        label="Filter by namespace"
        placeholder="Namespace"
        value={query['namespace'] ?? ''}
        delay={300}
        onInput={(namespace) => store.filter({ namespace })}
      />
      <div class="segments" role="group" aria-label="Phases">
        {phases.map((phase) => (
          <button type="button" key={phase} aria-pressed={chosen.includes(phase)} onClick={() => toggle(phase)}>
            <Phase of={phase} />
          </button>
        ))}
      </div>
      <Toggle
        on={fold}
        onChange={(on) => store.filter({ fold: on ? 'true' : undefined })}
        title="One row for those that are equal in all that counts"
      >
        Fold alike
      </Toggle>
      {filtered && (
        <button class="link" onClick={() => store.filter({ phase: undefined, queue: undefined, namespace: undefined, text: undefined })}>
          Clear
        </button>
      )}
    </div>
  );
}

function queueNames(nodes: TreeNode[], out: string[] = []): string[] {
  for (const node of nodes) {
    if (out.length >= 500) break;
    if (node.kind === 'ClusterQueue') out.push(node.name);
    queueNames(node.children, out);
  }
  return out;
}

/** All that match, as far as they can be folded; rows of the moment before stay until those of the new one are there. */
function useFolded(asked: Record<string, string | boolean | undefined>, when: boolean) {
  const [rows, setRows] = useState<{ items: WorkloadRow[]; total: number } | undefined>();
  const [message, setMessage] = useState('');
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const position = store.place.value.position;
  const branch = store.branch.value;
  const key = JSON.stringify(asked);
  useEffect(() => {
    if (!when) return;
    let gone = false;
    const timer = setTimeout(
      () => {
        allRows<WorkloadRow>('workloads', asked, mostFolded).then(
          (all) => {
            if (gone) return;
            setRows(all);
            setMessage('');
          },
          (error) => !gone && setMessage(error instanceof Error ? error.message : String(error)),
        );
      },
      rows ? 150 : 0,
    );
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [when, key, position, branch]);
  useEffect(() => setOpen(new Set()), [key]);
  const folded = useMemo(() => foldAlike(rows?.items ?? [], open), [rows, open]);
  const unfold = useCallback((group: string) => setOpen((before) => new Set([...before, group])), []);
  const state: 'loading' | 'ready' | 'broken' = message ? 'broken' : rows ? 'ready' : 'loading';
  return { rows: folded, total: rows?.total ?? 0, state, message, unfold };
}
