// One ClusterQueue in its order: who is next, why each waits, how far the quota reaches; and who holds the quota now.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { pathOf, useView } from '../api/client.js';
import type { Queue, QueueRow, Why } from '../api/types.js';
import { shortResource } from '../draw/quota_words.js';
import { sameRef } from '../state/address.js';
import { goTo, hrefOf, place, route, select, selected } from '../state/store.js';
import { CopyButton, Button } from '../ui/controls.js';
import { formatCount, formatDuration, microsOf, plural } from '../ui/format.js';
import { Kind, Name, Ref } from '../ui/name.js';
import { Section, ViewHead } from '../ui/page.js';
import { Empty, Seen } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { When } from '../ui/when.js';
import { QueueSettings } from './queue_settings.js';
import { QueueWhy } from './queue_why.js';

const firstRows = 200;
const mostRows = 1000;

export default function QueueView() {
  const name = route.value.parts[0] ?? '';
  const rows = useSignal(firstRows);
  useEffect(() => {
    rows.value = firstRows;
  }, [name]);
  const seen = useView<Queue>(pathOf('queues', name), { limit: rows.value }, { when: name !== '' });
  const why = useView<Why>(pathOf('clusterqueues', name, 'why'), {}, { when: name !== '' });

  return (
    <div class="queue-view">
      <ViewHead
        title={<><Name text={name} short={80} /> <Kind of="ClusterQueue" /></>}
        note={<a href={hrefOf({ view: 'queues', parts: [], query: {} })}>all queues</a>}
        actions={
          <CopyButton text={() => `hindsight why clusterqueue/${name} --at ${place.peek().position}`} title="Copies the command that tells the same in a shell">
            Copy as command
          </CopyButton>
        }
      />
      {name === '' ? (
        <Empty todo={<a href={hrefOf({ view: 'queues', parts: [], query: {} })}>Choose one from the tree of queues.</a>}>No ClusterQueue is named in the address.</Empty>
      ) : (
        <Seen
          of={seen}
          words={{
            empty: '',
            absent: 'There is no ClusterQueue of this name at this moment: it was not created yet, or is gone already.',
            forbidden: 'You may not see this ClusterQueue. Ask who runs the log for the right to get it.',
            broken: 'The order of this queue could not be told for this moment.',
          }}
          skeleton={{ rows: 12 }}
        >
          {(queue) => (
            <>
              <Seen
                of={why}
                words={{ empty: '', broken: 'What this queue lacks could not be worked out.', forbidden: 'You may not see what this queue lacks.' }}
                skeleton={{ height: 120 }}
              >
                {(told) => <QueueWhy why={told} queue={name} />}
              </Seen>
              <Waiting queue={queue} more={() => (rows.value = Math.min(mostRows, rows.value + 400))} canMore={rows.value < mostRows} name={name} />
              <Users queue={queue} />
              <QueueSettings of={queue.object} name={name} />
            </>
          )}
        </Seen>
      )}
    </div>
  );
}

function Waiting({ queue, more, canMore, name }: { queue: Queue; more: () => void; canMore: boolean; name: string }) {
  const { rows } = queue;
  const shown = rows.reduce((sum, row) => sum + 1 + (row.alike ?? 0), 0);
  const behind = Math.max(0, queue.waiting - shown);
  const all = hrefOf({ view: 'workloads', parts: [], query: { queue: name, phase: 'Pending' } });
  const ends = quotaEnd(queue);
  return (
    <Section
      title={<>Waiting <a class="figure" href={all} title="Workloads that wait for quota in this ClusterQueue, parked ones too">{formatCount(queue.waiting)}</a></>}
      note={ends.sentence}
    >
      {rows.length === 0 ? (
        <Empty todo="Move in time to see when somebody did.">Nobody waits in this queue at this moment.</Empty>
      ) : (
        <Table<QueueRow>
          label="Workloads that wait, in the order of the queue"
          columns={waitingColumns(rows[ends.row - 1])}
          total={rows.length}
          row={(i) => rows[i]}
          rowKey={keyOf}
          height={640}
          onOpen={(row) => goTo(row.workload)}
          onPick={(row) => select(row.workload)}
          isSelected={(row) => sameRef(row.workload, selected.value)}
          rowClass={(row, i) => `${row.parked ? 'parked' : ''}${i === ends.row && i > 0 ? ' quota-ends' : ''}${i < ends.row ? ' would-fit' : ''}`}
        />
      )}
      {behind > 0 && (
        <p class="queue-more">
          {plural(behind, 'Workload')} more {queue.hidden > 0 ? 'in this queue' : 'behind these'}{queue.hidden > 0 && `, ${formatCount(queue.hidden)} of them so far in namespaces you may not see`}. {canMore && <Button onClick={more}>Show more</Button>} <a href={all}>All of them as a table</a>
        </p>
      )}
    </Section>
  );
}

/** At which of the rows the quota ends, and the sentence about it. */
function quotaEnd(queue: Queue): { row: number; sentence: string } {
  const index = queue.quotaEndsAfter;
  if (queue.rows.length === 0) return { row: -1, sentence: '' };
  if (index === undefined) return { row: -1, sentence: 'in the order in which they are tried' };
  // The index counts Workloads; rows may stand for several.
  const found = queue.rows.findIndex((row) => row.place >= index);
  if (found < 0) return { row: -1, sentence: 'all of these would fit into the free quota, one after the other' };
  if (found === 0) return { row: 0, sentence: 'not even the first one fits into the free quota' };
  return { row: found, sentence: `the first ${formatCount(index)} would fit into the free quota, one after the other` };
}

const keyOf = (row: QueueRow): string => `${row.workload.namespace ?? ''}/${row.workload.name}`;

const asksText = (row: QueueRow): string => row.asks.map((a) => `${a.resource} ${a.amount.text}`).join(', ');

function Asks({ row }: { row: QueueRow }) {
  return (
    <span class="asks" title={`${asksText(row)}\nall its pods together`}>
      {row.asks.map((a) => (
        <span key={a.resource}>
          <span class="ask-resource">{shortResource(a.resource)}</span> <span class="figure">{a.amount.text}</span>{' '}
        </span>
      ))}
    </span>
  );
}

function Since({ row, what }: { row: QueueRow; what: string }) {
  const now = place.value.time;
  const milliseconds = (microsOf(now) - microsOf(row.since)) / 1000;
  return <span class="figure" title={`${what} since ${row.since}`}>{Number.isFinite(milliseconds) ? formatDuration(milliseconds) : <When time={row.since} />}</span>;
}

/** `last`: behind which the free quota ends. */
const waitingColumns = (last: QueueRow | undefined): Column<QueueRow>[] => [
  { id: 'place', title: 'Place', width: 48, align: 'right', narrow: true, hint: 'How many are before it, and one; the order is by priority, then by how long they wait', cell: (row) => <span class="figure">{formatCount(row.place + 1)}</span> },
  {
    id: 'workload',
    title: 'Workload',
    grow: 4,
    width: 168,
    narrow: true,
    cell: (row) => (
      <span class="queue-who">
        <Ref to={row.workload} />
        {row.alike !== undefined && row.alike > 0 && (
          <span class="alike" title="They ask for the same, at the same priority, for the same reason, and stand right behind it">
            and {formatCount(row.alike)} alike
          </span>
        )}
      </span>
    ),
  },
  { id: 'priority', title: 'Priority', width: 56, align: 'right', cell: (row) => <span class="figure">{formatCount(row.priority)}</span> },
  { id: 'wait', title: 'Waits', width: 84, align: 'right', hint: 'Since it last came into this queue', cell: (row) => <Since row={row} what="waits" /> },
  { id: 'asks', title: 'Asks for', width: 136, hint: 'All its pods together', cell: (row) => <Asks row={row} /> },
  {
    id: 'reason',
    title: 'Why it waits',
    grow: 5,
    width: 176,
    narrow: true,
    cell: (row) => (
      <span class="because" title={`${row.sentence}\n${row.reason}${row.parked ? '\nparked: it is tried again when something changes in its cohort tree' : ''}`}>
        {row === last && <span class="fits-tag">fits up to here</span>}
        {row.parked && <span class="parked-sign">❚❚ parked</span>}
        <bdi>{row.sentence}</bdi> <small>{row.reason}</small>
      </span>
    ),
  },
];

function Users({ queue }: { queue: Queue }) {
  const { users } = queue;
  return (
    <Section title={<>Hold quota <span class="figure" title="Workloads with quota reserved in this ClusterQueue">{formatCount(users.length + queue.usersLeftOut + queue.usersHidden)}</span></>} note={[queue.usersLeftOut > 0 ? `${formatCount(queue.usersLeftOut)} are left out here` : '', queue.usersHidden > 0 ? `${formatCount(queue.usersHidden)} are in namespaces you may not see` : ''].filter(Boolean).join('; ')}>
      {users.length === 0 ? (
        <Empty todo="All of its nominal quota is free, or lent to others of its Cohort.">Nobody holds quota of this queue at this moment.</Empty>
      ) : (
        <Table<QueueRow>
          label="Workloads that hold quota"
          columns={userColumns}
          total={users.length}
          row={(i) => users[i]}
          rowKey={keyOf}
          height={480}
          onOpen={(row) => goTo(row.workload)}
          onPick={(row) => select(row.workload)}
          isSelected={(row) => sameRef(row.workload, selected.value)}
        />
      )}
    </Section>
  );
}

const userColumns: Column<QueueRow>[] = [
  { id: 'workload', title: 'Workload', grow: 3, width: 152, narrow: true, cell: (row) => <Ref to={row.workload} /> },
  { id: 'job', title: 'Job', grow: 2, width: 96, cell: (row) => (row.job ? <Ref to={row.job} namespaced={false} kind /> : <span class="nothing">–</span>) },
  { id: 'localQueue', title: 'LocalQueue', grow: 1, width: 80, cell: (row) => (row.localQueue ? <Ref to={{ kind: 'LocalQueue', namespace: row.workload.namespace ?? '', name: row.localQueue }} namespaced={false} /> : <span class="nothing">–</span>) },
  { id: 'priority', title: 'Priority', width: 60, align: 'right', cell: (row) => <span class="figure">{formatCount(row.priority)}</span> },
  { id: 'holds', title: 'Holds', grow: 2, width: 128, narrow: true, hint: 'All its pods together', cell: (row) => <Asks row={row} /> },
  { id: 'since', title: 'Since', width: 104, align: 'right', hint: 'Since it has reserved quota', cell: (row) => <Since row={row} what="holds quota" /> },
];
