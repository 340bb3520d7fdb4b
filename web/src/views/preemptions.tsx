// Who made room for whom: arcs over time from the preemptor's ClusterQueue to the victim's, the same as a table, and one of them opened.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, Refusal, useView } from '../api/client.js';
import type { ObjectRef, Preemption, Preemptions } from '../api/types.js';
import { refText } from '../state/address.js';
import { branchInfo, filter, goTo, log, place, route } from '../state/store.js';
import { Download, Field, Segments, Select } from '../ui/controls.js';
import { formatCount, formatDuration, plural } from '../ui/format.js';
import { Name, Ref } from '../ui/name.js';
import { ViewHead } from '../ui/page.js';
import { Empty, Seen } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { When } from '../ui/when.js';
import { PreemptionArcs } from './preemption_arcs.js';
import { PreemptionDetail } from './preemption_detail.js';
import { joinedPreemptions, matching, preemptionsCsv } from './preemption_filter.js';

const atMost = 400;
const readAtOnce = 500_000; // records; older ones are asked for one stretch at a time

export default function PreemptionsView() {
  const { query } = route.value;
  const whole = query['span'] === 'all';
  // Up to the moment one is at: what has not happened yet is shown only on request.
  const end = whole ? (branchInfo.value?.latest ?? log.value?.latest)?.position : place.value.position;
  const earlier = /^\d{1,15}$/.test(query['upto'] ?? '') ? Number(query['upto']) : undefined;
  const to = earlier !== undefined && end ? Math.min(earlier, end) : end;
  const first = log.value?.first.position ?? 1;
  const from = Math.max(first, (to ?? 0) - readAtOnce + 1);
  const seen = useView<Preemptions>('preemptions', { from, to, limit: atMost }, { when: !!to && to >= first });
  return (
    <div class="preemptions">
      <ViewHead
        title="Preemptions"
        note={earlier !== undefined ? 'earlier ones' : whole ? 'up to the end of the log' : 'up to this moment'}
        actions={
          <>
            <Segments
              label="Which"
              options={[{ value: 'until', text: 'Up to here' }, { value: 'all', text: 'Up to the end' }]}
              value={whole ? 'all' : 'until'}
              onChange={(span) => filter({ span: span === 'all' ? 'all' : undefined, upto: undefined })}
            />
            <Field label="Filter by Workload or ClusterQueue" placeholder="Workload or ClusterQueue" value={query['text'] ?? ''} delay={150} width={216} onInput={(text) => filter({ text })} />
          </>
        }
      />
      <Seen
        of={seen}
        words={{
          empty: from > first ? `Nobody was preempted from record ${formatCount(from)} to ${formatCount(to ?? 0)}.` : whole ? 'Nobody was preempted in this log.' : 'Nobody was preempted up to this moment.',
          emptyTodo: <Earlier from={from} first={first} otherwise={whole ? 'Evictions for other reasons are among the records.' : 'Look up to the end of the log, or move on in time.'} />,
          forbidden: 'You may not see who was preempted. Ask who runs this log for the right to get Workloads.',
          broken: 'The preemptions could not be listed.',
        }}
        isEmpty={(data) => data.items.length === 0 && data.next === undefined}
        skeleton={{ height: 320 }}
      >
        {(data) => <Whole data={data} first={first} to={to ?? 0} />}
      </Seen>
    </div>
  );
}

/** One answer reads so much of the log; what lies behind it is asked for, and joined to it as it comes. */
function Whole({ data, first, to }: { data: Preemptions; first: number; to: number }) {
  const rest = useSignal<{ of: Preemptions; whole: Preemptions; fault: string } | undefined>(undefined);
  const turn = useSignal(0);
  useEffect(() => {
    let left = false;
    const read = async (): Promise<void> => {
      const known = rest.peek();
      let whole = known?.of === data ? known.whole : data;
      while (!left && whole.next !== undefined && whole.next <= to) {
        const from = whole.next;
        try {
          whole = joinedPreemptions(whole, await get<Preemptions>('preemptions', { from, to, limit: atMost }), atMost);
        } catch (error) {
          if (!left) rest.value = { of: data, whole, fault: error instanceof Refusal ? error.message : String(error) };
          return;
        }
        if (left) return;
        const { next, ...told } = whole;
        if (next !== undefined && next <= from) whole = told; // it came no further
        rest.value = { of: data, whole, fault: '' };
      }
    };
    void read();
    return () => {
      left = true;
    };
  }, [data, to, turn.value]);
  const now = rest.value?.of === data ? rest.value : undefined;
  const whole = now?.whole ?? data;
  return (
    <>
      {whole.next !== undefined && whole.next <= to && (
        <p class="nothing" role="status">
          {now?.fault ? (
            <>
              What follows record {formatCount(whole.next - 1)} could not be read: {now.fault}{' '}
              <button class="link" onClick={() => (turn.value += 1)}>Ask again</button>
            </>
          ) : (
            <>Read up to record {formatCount(whole.next - 1)} of {formatCount(to)}; what follows is on its way.</>
          )}
        </p>
      )}
      {whole.items.length === 0 ? (
        <Empty todo={whole.next === undefined ? 'Evictions for other reasons are among the records.' : 'What follows is on its way.'}>
          {whole.next === undefined ? 'Nobody was preempted in this stretch of the log.' : 'Nobody was preempted in what was read so far.'}
        </Empty>
      ) : <Shown data={whole} first={first} />}
    </>
  );
}

const keyOf = (item: Preemption): string => `${item.position} ${refText(item.victim)}`;

/** A way to what lies before the stretch that was read. */
function Earlier({ from, first, otherwise = '' }: { from: number; first: number; otherwise?: string }) {
  return from > first ? <button class="link" onClick={() => filter({ upto: String(from - 1), open: undefined })}>Look before record {formatCount(from)}</button> : <>{otherwise}</>;
}

function Shown({ data, first }: { data: Preemptions; first: number }) {
  const { query } = route.value;
  const reasons = [...new Set(data.items.map((item) => item.reason))].sort();
  const items = matching(data.items, query['text'], query['reason']);
  const opened = data.items.find((item) => keyOf(item) === query['open']);
  const open = (item: Preemption | undefined): void => filter({ open: item && keyOf(item) });
  // Several of one decision may be hidden, and then have the same name.
  const keys = new Map(items.map((item, i) => [item, `${keyOf(item)} ${i}`]));
  const lost = items.reduce((sum, item) => sum + (item.lostMicros ?? 0), 0);

  return (
    <>
      <div class="preemption-line">
        <p>
          <span title="Each victim of each decision is one">{plural(items.length, 'preemption')}</span>
          {items.length < data.items.length && ` of ${formatCount(data.items.length)}`}
          {lost > 0 && (
            <>
              , <span title="How long the victims had run since they were last admitted, added up">{formatDuration(lost / 1000)} of work lost</span>
            </>
          )}
          {data.leftOut > 0 && <> · {formatCount(data.leftOut)} earlier ones are left out</>}
          {data.hidden > 0 && <> · {formatCount(data.hidden)} are in namespaces you may not see</>}
          {data.leftOut > 0 && data.items[0] ? <> · <Earlier from={data.items[0].position} first={first} /></> : data.from.position > first ? <> · <Earlier from={data.from.position} first={first} /></> : null}
        </p>
        <Download name="preemptions.csv" type="text/csv" make={() => preemptionsCsv(items)}>CSV</Download>
        {reasons.length > 1 && (
          <Select
            label="Reason"
            value={query['reason'] ?? ''}
            options={[{ value: '', text: 'all reasons' }, ...reasons.map((r) => ({ value: r, text: r }))]}
            onChange={(reason) => filter({ reason: reason || undefined })}
          />
        )}
      </div>
      {items.length === 0 ? (
        <Empty todo="Take away a filter.">No preemption fits what is filtered.</Empty>
      ) : (
        <>
          <PreemptionArcs items={items} opened={opened} onOpen={open} />
          {opened && <PreemptionDetail key={keyOf(opened)} of={opened} onClose={() => open(undefined)} />}
          <Table<Preemption>
            label="Preemptions, the newest first"
            columns={columns}
            total={items.length}
            row={(i) => items[items.length - 1 - i]}
            rowKey={(item) => keys.get(item) ?? keyOf(item)}
            height={480}
            onPick={open}
            onOpen={(item) => !item.victim.hidden && goTo(item.victim)}
            isSelected={(item) => item === opened}
          />
        </>
      )}
    </>
  );
}

function Both({ of, queue }: { of: ObjectRef; queue: string }) {
  return (
    <span class="preempted">
      <Ref to={of} /> <small>of <Name text={queue} short={40} /></small>
    </span>
  );
}

const columns: Column<Preemption>[] = [
  { id: 'when', title: 'When', width: 120, narrow: true, cell: (item) => <When time={item.time} position={item.position} /> },
  { id: 'preemptor', title: 'Preemptor', grow: 3, narrow: true, cell: (item) => <Both of={item.preemptor} queue={item.preemptorQueue} /> },
  { id: 'victim', title: 'Victim', grow: 3, narrow: true, cell: (item) => <Both of={item.victim} queue={item.victimQueue} /> },
  { id: 'reason', title: 'Reason', width: 168, cell: (item) => <bdi>{item.reason}</bdi> },
  {
    id: 'lost',
    title: 'Work lost',
    width: 88,
    align: 'right',
    hint: 'How long the victim had run since it was last admitted',
    cell: (item) => <span class={`figure${item.lostMicros ? '' : ' nothing'}`}>{item.lostMicros === undefined ? '–' : formatDuration(item.lostMicros / 1000)}</span>,
  },
];
