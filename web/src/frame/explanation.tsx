// The panel at the right: why what is selected stands as it does at this moment; with nothing selected, the record one stands at.
import { useState } from 'preact/hooks';
import { pathOf, useView } from '../api/client.js';
import type { ObjectRef, RecordView } from '../api/types.js';
import { refText } from '../state/address.js';
import * as store from '../state/store.js';
import { formatCount, visible } from '../ui/format.js';
import { Kind, Name, Ref } from '../ui/name.js';
import { Absent, Loading, Seen } from '../ui/states.js';
import { Tree } from '../ui/tree.js';
import { When } from '../ui/when.js';
import { WhyOfQueue } from '../why/why_queue.js';
import type { WhyQueue, WhyWorkload } from '../why/why_types.js';
import { Commands, WhyOfWorkload } from '../why/why_workload.js';
import { Icon } from './header.js';
import { by, step } from './step.js';

export function Explanation() {
  const chosen = store.selected.value;
  if (!store.panelOpen.value) {
    return (
      <aside class="panel closed" id="explanation" aria-label="Explanation">
        <button class="panel-open" onClick={() => store.showPanel(true)} title="Explain (w)">
          <span>
            Explain
            {chosen ? (
              <>
                {' '}
                <Name text={chosen.name} short={28} />
              </>
            ) : (
              ''
            )}
          </span>
        </button>
      </aside>
    );
  }
  return (
    <aside class="panel" id="explanation" aria-label="Explanation">
      <div class="panel-head">
        {chosen ? (
          <h2>
            <Kind of={chosen.kind} />
            <Ref to={chosen} />
          </h2>
        ) : (
          <h2>This record</h2>
        )}
        {chosen && (
          <button
            class="button quiet icon"
            aria-label="Select nothing"
            title="Select nothing (Esc)"
            onClick={() => store.select(undefined)}
          >
            <Icon path="M4 4l8 8M12 4l-8 8" />
          </button>
        )}
        <button class="button quiet icon" aria-label="Close the explanation" title="Close (w)" onClick={() => store.showPanel(false)}>
          <Icon path="M6 3.5L10.5 8 6 12.5M13 3v10" />
        </button>
      </div>
      <div
        class="panel-body"
        key={chosen ? refText(chosen) : 'record'}
        tabIndex={0}
        role="region"
        aria-label={chosen ? `Explanation of ${chosen.kind} ${visible(chosen.name)}` : 'This record'}
      >
        {chosen ? <OfObject of={chosen} /> : <OfRecord />}
      </div>
    </aside>
  );
}

function OfObject({ of }: { of: ObjectRef }) {
  return (
    <>
      {of.kind === 'Workload' ? <OfWorkload of={of} /> : of.kind === 'ClusterQueue' ? <OfQueue of={of} /> : <OfOther of={of} />}
      <div class="panel-foot">
        <button class="button quiet" onClick={() => void step('back', 'event')} title="The record before that changed it (Alt ←)">
          Event before
        </button>
        <button class="button quiet" onClick={() => void step('forward', 'event')} title="The next record that changed it (Alt →)">
          Next event
        </button>
        <a
          class="button quiet"
          href={store.hrefOf({
            view: 'records',
            parts: [],
            query: { filter: `object:${of.namespace ? `${of.namespace}/` : ''}${of.name}` },
          })}
        >
          Raw records
        </a>
        <Commands of={of} />
      </div>
    </>
  );
}

function OfWorkload({ of }: { of: ObjectRef }) {
  const why = useView<WhyWorkload>(`workloads/${pathOf(of.namespace ?? '', of.name)}/why`);
  return (
    <Seen
      of={why}
      skeleton={{ rows: 12 }}
      words={{
        empty: 'Nothing is known of it.',
        loading: 'The explanation is being made.',
        absent: `${visible(of.name)} did not exist at this moment, or does no more.`,
        forbidden: 'You may not see objects of this namespace.',
        broken: 'The explanation could not be made.',
      }}
    >
      {(data) => <WhyOfWorkload why={data} of={of} />}
    </Seen>
  );
}

function OfQueue({ of }: { of: ObjectRef }) {
  const why = useView<WhyQueue>(`clusterqueues/${pathOf(of.name)}/why`);
  return (
    <Seen
      of={why}
      skeleton={{ rows: 12 }}
      words={{
        empty: 'Nothing is known of it.',
        loading: 'The explanation is being made.',
        absent: `ClusterQueue ${visible(of.name)} did not exist at this moment, or does no more.`,
        broken: 'The explanation could not be made.',
      }}
    >
      {(data) => <WhyOfQueue why={data} />}
    </Seen>
  );
}

function OfOther({ of }: { of: ObjectRef }) {
  const name = of.namespace ? `${of.namespace}/${of.name}` : of.name;
  return (
    <div class="why">
      <p>Reasons are told of Workloads and ClusterQueues. What happened to this {visible(of.kind)} is on record:</p>
      <p>
        <a href={store.hrefOf({ view: 'records', parts: [], query: { filter: `object:${name}` } })}>all records that name it</a>
      </p>
    </div>
  );
}

/** The record at the slider. */
function OfRecord() {
  const position = store.place.value.position;
  const allowed = store.log.value?.seesAll !== false;
  const record = useView<RecordView>(
    `records/${position}`,
    { branch: store.branch.value },
    { atMoment: false, when: position > 0 && allowed },
  );
  if (!store.log.value) return <Loading rows={8} />;
  if (!allowed)
    return (
      <div class="why">
        <p>Select a workload or a queue to read why it stands as it does. Raw records are for those who may see all namespaces.</p>
      </div>
    );
  if (position === 0) return <Absent todo="As soon as something is recorded, it is shown here.">The log has no record yet.</Absent>;
  return (
    <Seen
      of={record}
      skeleton={{ rows: 12 }}
      words={{
        empty: 'The record is empty.',
        loading: 'The record is being read.',
        absent: `There is no record ${position}.`,
        forbidden: 'Raw records are for those who may see all namespaces. Select a workload or a queue to read why it stands as it does.',
        broken: 'The record could not be read.',
      }}
    >
      {(data) => <RecordCard record={data} />}
    </Seen>
  );
}

const sourceWords: Record<RecordView['source'], string> = {
  observed: 'Observed',
  decided: 'Decided',
  noted: 'Noted as what would be decided',
  log: 'Written by the log',
};

function RecordCard({ record }: { record: RecordView }) {
  const [raw, setRaw] = useState(true);
  return (
    <div class="why">
      <p class="why-headline">
        <bdi>{visible(record.kind)}</bdi>
      </p>
      <p class="why-message">
        <bdi>{visible(record.text)}</bdi>
      </p>
      <p class="why-since">
        {sourceWords[record.source] ?? sourceWords.log}{' '}
        <When time={record.time} exact />
        {record.object && (
          <>
            , of <Ref to={record.object} kind />
          </>
        )}
      </p>
      {record.base !== undefined && (
        <p>
          It follows from <a href={store.hrefAt(record.base)}>record {formatCount(record.base)}</a>.
        </p>
      )}
      {record.followedBy.length > 0 && (
        <section class="why-part">
          <h3>What followed from it</h3>
          <ul class="why-list">
            {record.followedBy.map((next) => (
              <li key={next.position}>
                <a href={store.hrefAt(next.position)}>{formatCount(next.position)}</a> <bdi>{visible(next.text)}</bdi>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="why-part">
        <h3>
          <button class="fold" aria-expanded={raw} onClick={() => setRaw(!raw)}>
            {raw ? '▾' : '▸'} Raw record
          </button>
        </h3>
        {raw && (record.fields === undefined ? <p>It cannot be read, and was set aside.</p> : <Tree of={record.fields} open={3} />)}
      </section>
      <p class="reason">
        Step by{' '}
        <button class="link" onClick={() => (by.value = 'decision')}>
          decision
        </button>{' '}
        to see what was decided, or select a workload or a queue to read why it stands as it does.
      </p>
    </div>
  );
}
