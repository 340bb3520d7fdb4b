// The records themselves: the newest before the slider's moment first, or those that came after it; filtered by words; one of them decoded.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { addressOf, fetchJson, Refusal, useView } from '../api/client.js';
import type { RecordLine, Records as RecordsData, RecordView } from '../api/types.js';
import * as store from '../state/store.js';
import { CopyButton, Field, Segments } from '../ui/controls.js';
import { formatCount, plural, visible } from '../ui/format.js';
import { Kind, Name, Ref } from '../ui/name.js';
import { ViewHead } from '../ui/page.js';
import { Broken, Empty, Forbidden, Loading, Seen } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { Tree } from '../ui/tree.js';
import { When } from '../ui/when.js';
import { quoted } from '../why/why_workload.js';

const pageRows = 200;

const columns: Column<RecordLine>[] = [
  {
    id: 'position',
    title: 'Record',
    width: 84,
    align: 'right',
    narrow: true,
    cell: (r) => <span class="figure">{formatCount(r.position)}</span>,
  },
  { id: 'time', title: 'Time', width: 188, cell: (r) => <When time={r.time} exact position={r.position} /> },
  {
    id: 'source',
    title: 'By',
    hint: 'Observed in the cluster, decided, or written by the log',
    width: 20,
    narrow: true,
    cell: (r) => <Source of={r.source} />,
  },
  {
    id: 'text',
    title: 'What',
    grow: 5,
    width: 280,
    narrow: true,
    cell: (r) => (
      <span title={visible(r.text)}>
        {r.setAside && <span class="set-aside">set aside </span>}
        <Name text={r.text || r.kind} />
      </span>
    ),
  },
  {
    id: 'object',
    title: 'Object',
    grow: 3,
    width: 200,
    cell: (r) => (r.object ? <Ref to={r.object} kind /> : <span class="reason">none</span>),
  },
  { id: 'kind', title: 'Kind', grow: 2, width: 150, wide: true, cell: (r) => <span class="reason">{visible(r.kind)}</span> },
  {
    id: 'base',
    title: 'From',
    width: 72,
    align: 'right',
    wide: true,
    hint: 'The record that a decision follows from',
    cell: (r) => (r.base === undefined ? '' : <a href={hrefOfRecord(r.base)}>{formatCount(r.base)}</a>),
  },
  { id: 'bytes', title: 'Bytes', width: 72, align: 'right', wide: true, cell: (r) => formatCount(r.bytes) },
];

const signs: Record<RecordLine['source'], { sign: string; word: string }> = {
  observed: { sign: '◇', word: 'observed' },
  decided: { sign: '◆', word: 'decided' },
  noted: { sign: '◈', word: 'noted, not decided' },
  log: { sign: '○', word: 'written by the log' },
};

function Source({ of }: { of: RecordLine['source'] }) {
  const { sign, word } = signs[of] ?? signs.log;
  return (
    <span class={`story-source ${of}`} title={word}>
      <span aria-hidden="true">{sign}</span>
      <span class="unseen">{word}</span>
    </span>
  );
}

function hrefOfRecord(position: number): string {
  return store.hrefOf({ view: 'records', parts: [String(position)], query: store.route.value.query });
}

const examples = [
  'kind:Decisions',
  'event:WorkloadPreempted',
  'event:QuotaReserved',
  'event:WorkloadFinished',
  'source:observed',
  'kind:ClusterQueueObserved',
  'kind:EpochStarted',
];

export default function Records() {
  const { parts, query } = store.route.value;
  const filter = query['filter'] ?? '';
  const direction: 'forward' | 'back' = query['direction'] === 'forward' ? 'forward' : 'back';
  const opened = /^\d{1,15}$/.test(parts[0] ?? '') ? Number(parts[0]) : undefined;
  const list = useRecordList(filter, direction);
  const chosen = store.selected.value;
  const open = useCallback((r: RecordLine) => {
    const { query: now } = store.route.peek();
    store.go('records', [String(r.position)], now);
  }, []);
  const total = list.items.length + (list.next === undefined ? 0 : 12);
  return (
    <>
      <ViewHead
        title="Records"
        note={
          list.scanned > 0 && (
            <>
              {direction === 'back' ? 'up to this moment, newest first' : 'from this moment on'}
              {filter &&
                `; ${plural(list.items.length, 'match', 'matches')} in ${plural(list.scanned, 'record')} that were read${list.next === undefined ? '' : ' so far'}`}
            </>
          )
        }
      />
      <div class="filters" role="group" aria-label="Filters">
        <div class="filter-words">
          <Field
            label="Filter"
            placeholder="kind:Decisions object:team-a/train event:WorkloadPreempted"
            value={filter}
            delay={400}
            list={examples}
            onInput={(text) => store.filter({ filter: text.trim() })}
          />
        </div>
        <Segments<'back' | 'forward'>
          label="Direction"
          value={direction}
          onChange={(value) => store.filter({ direction: value === 'forward' ? 'forward' : undefined })}
          options={[
            { value: 'back', text: 'before' },
            { value: 'forward', text: 'after' },
          ]}
        />
        {chosen && (
          <button
            class="button quiet"
            onClick={() => store.filter({ filter: `object:${chosen.namespace ? `${chosen.namespace}/` : ''}${chosen.name}` })}
          >
            Only of <Name text={chosen.name} short={28} />
          </button>
        )}
        {filter && (
          <button class="link" onClick={() => store.filter({ filter: undefined })}>
            Clear
          </button>
        )}
      </div>
      <div class={`records${opened === undefined ? '' : ' with-record'}`}>
        <div class="records-list">
          {list.failure ? (
            list.failure.status === 403 || list.failure.status === 401 ? (
              <Forbidden todo="Open a workload: its story is told to all who may see its namespace.">
                Raw records are for those who may see all namespaces.
              </Forbidden>
            ) : (
              <Broken
                todo={
                  <>
                    {list.failure.remedy}{' '}
                    <button class="link" onClick={list.again}>
                      Ask again
                    </button>
                  </>
                }
              >
                The records could not be read. {list.failure.message}
              </Broken>
            )
          ) : list.items.length === 0 && list.loading ? (
            <Loading rows={16}>Records are being read.</Loading>
          ) : list.items.length === 0 && list.next === undefined ? (
            filter ? (
              <Empty todo="Words are kind:, object:, event:, source: and text:, with a value behind each.">
                No record {direction === 'back' ? 'up to' : 'after'} this moment matches.
              </Empty>
            ) : (
              <Empty
                todo={
                  direction === 'back'
                    ? 'As soon as something is recorded, it is listed here.'
                    : 'Nothing was recorded after this moment: it is the newest.'
                }
              >
                There is no record.
              </Empty>
            )
          ) : (
            <Table<RecordLine>
              label="Records"
              columns={columns}
              total={total}
              row={list.row}
              rowKey={(r) => String(r.position)}
              onRange={list.onRange}
              onOpen={open}
              onPick={open}
              isSelected={(r) => r.position === opened}
              rowClass={(r) => (r.position === store.place.value.position ? 'here' : undefined)}
            />
          )}
        </div>
        {opened !== undefined && <Detail position={opened} />}
      </div>
    </>
  );
}

interface RecordList {
  items: RecordLine[];
  next: number | undefined;
  scanned: number;
  loading: boolean;
  failure: Refusal | undefined;
}
const nothing: RecordList = { items: [], next: undefined, scanned: 0, loading: true, failure: undefined };

/** Pages that are read on as one scrolls. A filter that matches little reads on by itself until there is something to see. */
function useRecordList(filter: string, direction: 'forward' | 'back') {
  const [list, setList] = useState<RecordList>(nothing);
  const state = useRef({ list, key: '', aborter: new AbortController(), busy: false });
  state.current.list = list;
  const position = store.place.value.position;
  const branch = store.branch.value;
  const domain = store.domain.value;
  const ready = !!store.log.value;
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify([filter, direction, position, branch, domain, turn, store.signIns.value]);

  const load = useCallback(
    async (from: number, first: boolean) => {
      const mine = state.current;
      if (mine.busy && !first) return;
      if (first) {
        mine.aborter.abort();
        mine.aborter = new AbortController();
      }
      const { aborter } = mine;
      mine.busy = true;
      try {
        const answer = await fetchJson<RecordsData>(addressOf('records', { from, direction, limit: pageRows, filter, branch, domain }), {
          signal: aborter.signal,
        });
        if (aborter.signal.aborted) return;
        setList((before) => {
          const old = first ? [] : before.items;
          return {
            items: [...old, ...answer.items],
            next: answer.next,
            scanned: (first ? 0 : before.scanned) + answer.scanned,
            loading: false,
            failure: undefined,
          };
        });
      } catch (error) {
        if (aborter.signal.aborted) return;
        const failure = error instanceof Refusal ? error : new Refusal(0, String(error));
        if (failure.status === 0) store.missed.value += 1;
        setList((before) =>
          failure.status === 0 && before.items.length > 0 ? { ...before, loading: false } : { ...nothing, loading: false, failure },
        );
      } finally {
        if (!aborter.signal.aborted) mine.busy = false;
      }
    },
    [filter, direction, branch, domain],
  );

  useEffect(() => {
    if (!ready) return;
    const timer = setTimeout(
      () => {
        state.current.busy = false;
        void load(position, true);
      },
      state.current.key ? 120 : 0,
    );
    // Other filters show other rows; another moment shows those of before until its own are there.
    const sameList = state.current.key.slice(0, key.indexOf(',', 1)) === key.slice(0, key.indexOf(',', 1));
    if (!sameList) setList(nothing);
    state.current.key = key;
    return () => clearTimeout(timer);
  }, [key, ready]);
  useEffect(() => () => state.current.aborter.abort(), []);
  useEffect(() => {
    // Too little to fill a screen, and there is more to read: go on, a bit later each time nothing matches.
    if (list.next !== undefined && list.items.length < 40 && !list.loading) {
      const timer = setTimeout(() => list.next !== undefined && void load(list.next, false), 30);
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [list, load]);
  const row = useCallback((index: number) => list.items[index], [list]);
  const onRange = useCallback(
    (_from: number, to: number) => {
      const { list: now } = state.current;
      if (now.next !== undefined && to > now.items.length - 60) void load(now.next, false);
    },
    [load],
  );
  return useMemo(() => ({ ...list, row, onRange, again: () => setTurn((n) => n + 1) }), [list, row, onRange]);
}

function Detail({ position }: { position: number }) {
  const record = useView<RecordView>(`records/${position}`, { branch: store.branch.value }, { atMoment: false });
  const log = store.log.value;
  return (
    <section class="record" aria-label={`Record ${position}`} tabIndex={0}>
      <Seen
        of={record}
        skeleton={{ rows: 12 }}
        words={{
          loading: 'The record is being read.',
          empty: 'The record is empty.',
          absent: `There is no record ${formatCount(position)}.`,
          forbidden: 'Raw records are for those who may see all namespaces.',
          broken: 'The record could not be read.',
        }}
      >
        {(r) => (
          <>
            <div class="record-head">
              <h2>Record {formatCount(r.position)}</h2>
              <a class="button quiet" href={store.hrefAt(r.position)}>
                Go to this moment
              </a>
              <CopyButton
                text={`hindsight log cat --from ${r.position} --to ${r.position} -o json${log ? ` --log ${quoted(log.name)}` : ''}`}
              >
                Copy as hindsight
              </CopyButton>
              <a class="button quiet" href={store.hrefOf({ view: 'records', parts: [], query: store.route.value.query })}>
                Close
              </a>
            </div>
            <p class="why-message">
              <bdi>{visible(r.text || r.kind)}</bdi>
            </p>
            <p class="why-since">
              <Source of={r.source} /> <Kind of={r.kind} /> <When time={r.time} exact />, {formatCount(r.bytes)} bytes
            </p>
            {r.setAside && <p class="set-aside">It was set aside: no reader obeys it.</p>}
            {r.object && (
              <p>
                <Ref to={r.object} kind />
              </p>
            )}
            {r.base !== undefined && (
              <p>
                It follows from <a href={hrefOfRecord(r.base)}>record {formatCount(r.base)}</a>.
              </p>
            )}
            {r.followedBy.length > 0 && (
              <section class="why-part">
                <h3>What followed from it</h3>
                <ul class="why-list">
                  {r.followedBy.map((next) => (
                    <li key={next.position}>
                      <a href={hrefOfRecord(next.position)}>{formatCount(next.position)}</a> <Source of={next.source} />{' '}
                      <bdi>{visible(next.text || next.kind)}</bdi>
                    </li>
                  ))}
                </ul>
              </section>
            )}
            <section class="why-part">
              <h3>Decoded fields</h3>
              {r.fields === undefined ? <p>It cannot be read, and was set aside: no reader obeys it.</p> : <Tree of={r.fields} open={4} />}
            </section>
          </>
        )}
      </Seen>
    </section>
  );
}
