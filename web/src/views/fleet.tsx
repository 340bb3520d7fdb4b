// The fleet: who decided when. Each epoch is one node's time as the only writer of the log.
import { useView } from '../api/client.js';
import type { Fleet } from '../api/types.js';
import { epochLanes, pausesBefore, type Epoch } from '../draw/epochs.js';
import { hrefOf, moveTo, place } from '../state/store.js';
import { formatCount, formatDuration, microsOf } from '../ui/format.js';
import { Lanes } from '../ui/lanes.js';
import { Name } from '../ui/name.js';
import { ViewHead } from '../ui/page.js';
import { Seen } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { When } from '../ui/when.js';

const mostLanes = 12;

export default function FleetView() {
  const seen = useView<Fleet>('fleet');
  return (
    <div class="fleet">
      <ViewHead title="Fleet" note="which node decided, since when; an epoch ends when another node takes over" />
      <Seen
        of={seen}
        words={{
          empty: 'No node had decided anything yet at this moment.',
          emptyTodo: 'The first record of an epoch names the node that decides.',
          forbidden: 'You may not see who decides. Ask who runs this log.',
          broken: 'The epochs could not be listed for this moment.',
        }}
        isEmpty={(data) => data.epochs.length === 0}
        skeleton={{ rows: 6 }}
      >
        {(data) => <Shown data={data} />}
      </Seen>
    </div>
  );
}

function Shown({ data }: { data: Fleet }) {
  const now = microsOf(data.time);
  const { lanes, leftOut } = epochLanes(data.epochs, now, mostLanes);
  const epochs = [...data.epochs].sort((a, b) => b.epoch - a.epoch);
  const pauses = pausesBefore(epochs);
  const current = epochs.find((epoch) => !epoch.to);
  const columns: Column<Epoch>[] = [
    {
      id: 'epoch',
      title: 'Epoch',
      width: 56,
      align: 'right',
      narrow: true,
      cell: (epoch) => (
        <a class="figure" href={hrefOf({ view: 'records', parts: [], query: { filter: 'kind:EpochStarted' } })} title="The records with which epochs began">
          {formatCount(epoch.epoch)}
        </a>
      ),
    },
    { id: 'owner', title: 'Node', grow: 3, width: 104, narrow: true, cell: (epoch) => (epoch.owner ? <Name text={epoch.owner} /> : <span class="nothing">not kept</span>) },
    { id: 'release', title: 'Release', width: 72, hint: 'Of the program that decided', cell: (epoch) => <Name text={epoch.release ?? '–'} /> },
    { id: 'from', title: 'Since', width: 116, narrow: true, cell: (epoch) => <When time={epoch.from.time} position={epoch.from.position} /> },
    { id: 'to', title: 'Until', width: 116, cell: (epoch) => (epoch.to ? <When time={epoch.to.time} position={epoch.to.position} /> : <span class="deciding">● decides</span>) },
    {
      id: 'lasted',
      title: 'Lasted',
      width: 88,
      align: 'right',
      hint: 'From its first record to its last one, or to the moment one is at',
      cell: (epoch) => <span class="figure">{formatDuration(((epoch.to ? microsOf(epoch.to.time) : now) - microsOf(epoch.from.time)) / 1000)}</span>,
    },
    {
      id: 'pause',
      title: 'Pause before',
      width: 100,
      align: 'right',
      hint: 'From the last record of the epoch before to the first one of this: in between nobody decided',
      cell: (epoch) => {
        const pause = pauses.get(epoch.epoch);
        return <span class={`figure${pause ? '' : ' nothing'}`}>{pause === undefined ? '–' : formatDuration(pause / 1000)}</span>;
      },
    },
    { id: 'records', title: 'Records', width: 80, align: 'right', hint: 'From its first record to its last one', cell: (epoch) => <span class="figure">{formatCount((epoch.to?.position ?? data.position) - epoch.from.position + 1)}</span> },
  ];
  return (
    <>
      <p>
        {current ? (
          <>
            <strong><Name text={current.owner || 'Somebody whose name was not kept'} /></strong> decides, in epoch {formatCount(current.epoch)}, since <When time={current.from.time} position={current.from.position} />.
          </>
        ) : (
          'Nobody decides at this moment.'
        )}
      </p>
      <div class="fleet-lanes"><Lanes lanes={lanes} now={microsOf(place.value.time || data.time)} onMove={(position) => moveTo(position)} label="Which node decided when" /></div>
      {(leftOut > 0 || data.leftOut > 0) && (
        <p class="nothing">{[leftOut > 0 ? `${formatCount(leftOut)} epochs of further nodes are not drawn` : '', data.leftOut > 0 ? `${formatCount(data.leftOut)} earlier epochs are left out` : ''].filter(Boolean).join('; ')}.</p>
      )}
      <Table<Epoch> label="Epochs, the newest first" columns={columns} total={epochs.length} row={(i) => epochs[i]} rowKey={(epoch) => String(epoch.epoch)} height={640} />
    </>
  );
}
