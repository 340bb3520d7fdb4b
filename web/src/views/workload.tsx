// One workload: its life as lanes with the slider's line through them, the same as sentences, its quota, its pods, and the object itself.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { pathOf, useView } from '../api/client.js';
import type { ObjectRef, StoryLine, WorkloadRow, WorkloadView } from '../api/types.js';
import { sameRef } from '../state/address.js';
import * as store from '../state/store.js';
import { placeMicros } from '../state/timeline.js';
import { Toggle } from '../ui/controls.js';
import { formatCount, plural, visible } from '../ui/format.js';
import { Lanes } from '../ui/lanes.js';
import { Kind, Name, Ref } from '../ui/name.js';
import { Section, ViewHead } from '../ui/page.js';
import { Phase } from '../ui/phase.js';
import { Absent, Seen } from '../ui/states.js';
import { Tree } from '../ui/tree.js';
import { When } from '../ui/when.js';
import { spaced } from '../ui/words.js';
import { QuotaTable } from '../why/why_workload.js';
import type { WhyWorkload } from '../why/why_types.js';

interface Described {
  metadata?: { creationTimestamp?: string };
  spec?: { queueName?: string; podSets?: { name: string; count: number }[]; active?: boolean };
  status?: {
    hindsight?: {
      phase?: WorkloadRow['phase'];
      reason?: string;
      clusterQueue?: string;
      effectivePriority?: number;
      job?: { kind: string; name: string };
    };
  };
}

export default function Workload() {
  const [namespace = '', name = ''] = store.route.value.parts;
  const ref: ObjectRef = { kind: 'Workload', namespace, name };
  const path = `workloads/${pathOf(namespace, name)}`;
  const here = useView<WorkloadView>(path);
  const whole = useWholeLife(path, here.data);
  useEffect(() => {
    if (!store.selected.peek()) store.select(ref);
  }, [namespace, name]);
  const described = here.data?.object as Described | undefined;
  const known = described?.status?.hindsight;
  return (
    <>
      <ViewHead
        title={
          <>
            <Kind of="Workload" />
            <span class="ref-ns">
              <Name text={namespace} />/
            </span>
            <Name text={name} />
          </>
        }
        note={
          known && (
            <span class="workload-note">
              {known.phase && <Phase of={known.phase} />}
              {known.reason && known.reason !== known.phase && <span title={visible(known.reason)}>{visible(spaced(known.reason))}</span>}
              {known.job && (
                <span>
                  <Kind of={known.job.kind} />
                  <Name text={known.job.name} short={48} />
                </span>
              )}
              {known.clusterQueue && (
                <span>
                  <Kind of="ClusterQueue" />
                  <Ref to={{ kind: 'ClusterQueue', name: known.clusterQueue }} />
                </span>
              )}
              {described?.spec?.queueName && (
                <span>
                  <Kind of="LocalQueue" />
                  <Ref to={{ kind: 'LocalQueue', namespace, name: described.spec.queueName }} namespaced={false} />
                </span>
              )}
              {known.effectivePriority !== undefined && <span>priority {formatCount(known.effectivePriority)}</span>}
            </span>
          )
        }
        actions={
          !sameRef(store.selected.value, ref) ? (
            <button
              class="button"
              onClick={() => {
                store.select(ref);
                store.showPanel(true);
              }}
            >
              Explain
            </button>
          ) : undefined
        }
      />
      <Seen
        of={here}
        skeleton={{ rows: 14 }}
        words={{
          loading: 'The life of the workload is being read.',
          empty: 'Nothing is on record of it.',
          absent: `There is no workload ${visible(name)} in namespace ${visible(namespace)} near this moment.`,
          forbidden: `You may not see objects of namespace ${visible(namespace)}.`,
          broken: 'The life of the workload could not be read.',
        }}
      >
        {(data) => <Life of={data} whole={whole ?? data} ref_={ref} />}
      </Seen>
    </>
  );
}

/** The life until the newest record, for the lanes: the slider's line goes through it, and moving in time does not change it. */
function useWholeLife(path: string, here: WorkloadView | undefined): WorkloadView | undefined {
  const latest = store.branch.value ? store.branchInfo.value?.latest?.position : store.log.value?.latest.position;
  // While one looks back, what grows at the end of the log is asked for once, not every second.
  const asked = useRef<{ path: string; position: number } | undefined>(undefined);
  const atEnd = here !== undefined && here.position === latest;
  if (latest !== undefined && !atEnd && (asked.current?.path !== path || asked.current.position > latest))
    asked.current = { path, position: latest };
  const position = asked.current?.path === path ? asked.current.position : undefined;
  const whole = useView<WorkloadView>(
    path,
    { at: position, branch: store.branch.value },
    { atMoment: false, when: position !== undefined && !atEnd },
  );
  return atEnd ? here : whole.data;
}

function Life({ of, whole, ref_ }: { of: WorkloadView; whole: WorkloadView; ref_: ObjectRef }) {
  const lanes = whole.lanes.length >= of.lanes.length ? whole.lanes : of.lanes;
  const story = whole.story.length >= of.story.length ? whole.story : of.story;
  return (
    <>
      {of.exists === 'notYet' && (
        <Absent
          todo={
            of.appears ? (
              <>
                It appears <When time={of.appears.time} position={of.appears.position} />:{' '}
                <a href={store.hrefAt(of.appears.position)}>go there</a>.
              </>
            ) : (
              'Move the slider on.'
            )
          }
        >
          It did not exist yet at this moment.
        </Absent>
      )}
      {of.exists === 'gone' && (
        <Absent
          todo={
            of.ended ? (
              <>
                It was there until <a href={store.hrefAt(Math.max(1, of.ended.position - 1))}>record {formatCount(of.ended.position)}</a>,{' '}
                <When time={of.ended.time} />.
              </>
            ) : (
              'Move the slider back.'
            )
          }
        >
          It exists no more at this moment.
        </Absent>
      )}
      {lanes.length > 0 && (
        <Section title="Life">
          <Lanes
            lanes={lanes}
            label="Its life in time"
            now={placeMicros.value}
            {...(whole.place.time.length > 1 ? { curve: whole.place } : {})}
            curveName="place in queue"
            onMove={(position) => store.moveTo(position)}
          />
          <LaneLegend />
        </Section>
      )}
      {of.exists === 'yes' && <Quota of={ref_} />}
      {story.length > 0 && (
        <Story
          lines={story}
          position={store.place.value.position}
          leftOut={whole.storyLeftOut ?? 0}
          decisionsOnly={whole.storyIsWhole === false}
        />
      )}
      {of.exists === 'yes' && <Pods of={of} />}
      {of.object !== null && of.object !== undefined && <RawObject of={of.object} name={`${ref_.namespace}/${ref_.name}`} />}
    </>
  );
}

function LaneLegend() {
  const items: [string, string][] = [
    ['waiting', 'waits'],
    ['reserved', 'holds quota'],
    ['checks', 'checks'],
    ['running', 'runs'],
    ['evicted', 'is evicted'],
    ['stopped', 'held back'],
  ];
  return (
    <ul class="legend lane-legend">
      {items.map(([look, text]) => (
        <li key={look}>
          <span class={`legend-sign span-${look}`} aria-hidden="true" />
          {text}
        </li>
      ))}
    </ul>
  );
}

function Quota({ of }: { of: ObjectRef }) {
  const why = useView<WhyWorkload>(`workloads/${pathOf(of.namespace ?? '', of.name)}/why`);
  if (!why.data?.quota || why.data.quota.length === 0) return null;
  return (
    <Section title="Quota" note="in the order in which flavors are tried">
      <QuotaTable trials={why.data.quota} />
    </Section>
  );
}

function Story({
  lines,
  position,
  leftOut,
  decisionsOnly,
}: {
  lines: StoryLine[];
  position: number;
  leftOut: number;
  decisionsOnly: boolean;
}) {
  const [decidedOnly, setDecidedOnly] = useState(false);
  const shown = useMemo(() => (decidedOnly ? lines.filter((l) => l.source === 'decided') : lines), [lines, decidedOnly]);
  // The line one stands at, or stood at last.
  const current = shown.reduce((best, line, i) => (line.position <= position ? i : best), -1);
  return (
    <Section
      title="Story"
      note={
        <>
          {plural(lines.length, 'line')}
          {leftOut > 0 && `, ${formatCount(leftOut)} earlier ones left out`}
          {decisionsOnly && ', decisions only, since to read all would take too long'}{' '}
          <Toggle on={decidedOnly} onChange={setDecidedOnly}>
            Decisions only
          </Toggle>
        </>
      }
    >
      <ol class="story">
        {shown.map((line, i) => (
          <li
            key={`${line.position}${line.kind}${i}`}
            class={`${line.position > position ? 'later' : ''}${i === current ? ' current' : ''}`}
            aria-current={i === current ? 'step' : undefined}
          >
            <span class="story-when">
              <When time={line.time} position={line.position} exact />
            </span>
            <span class={`story-source ${line.source}`} title={line.source === 'decided' ? 'Decided' : line.source === 'noted' ? 'Noted, not decided' : 'Observed'}>
              <span aria-hidden="true">{line.source === 'decided' ? '◆' : line.source === 'noted' ? '◈' : '◇'}</span>
              <span class="unseen">{line.source}</span>
            </span>
            <span class="story-text">
              <bdi>{visible(line.text)}</bdi>
              {line.times > 1 && <small class="reason"> {formatCount(line.times)} times</small>}
              {line.base !== undefined && line.base > 0 && (
                <small class="reason">
                  {' '}
                  from <a href={store.hrefAt(line.base)}>record {formatCount(line.base)}</a>
                </small>
              )}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Pods({ of }: { of: WorkloadView }) {
  if (of.pods.length === 0) {
    const sets = (of.object as Described | null)?.spec?.podSets ?? [];
    if (sets.length === 0) return null;
    return (
      <Section title="Pods">
        <p class="view-note">
          {sets.map((s) => `${visible(s.name)}: ${plural(s.count, 'pod')}`).join(', ')}. No pod of its own is on record at this moment; pods
          are observed where topologies or plain pods need them.
        </p>
      </Section>
    );
  }
  return (
    <Section title="Pods" note={of.podsLeftOut > 0 ? `${formatCount(of.podsLeftOut)} more are not listed` : undefined}>
      <div class="scroll-x" tabIndex={0} role="region" aria-label="Pods">
        <table class="plain">
          <thead>
            <tr>
              <th>Name</th>
              <th>Pod set</th>
              <th>Phase</th>
              <th>Node</th>
            </tr>
          </thead>
          <tbody>
            {of.pods.map((pod) => (
              <tr key={pod.name}>
                <td>
                  <Name text={pod.name} />
                </td>
                <td>
                  <Name text={pod.podSet} />
                </td>
                <td>{visible(pod.phase)}</td>
                <td>{pod.node ? <Name text={pod.node} /> : <span class="reason">none</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function RawObject({ of, name }: { of: unknown; name: string }) {
  const [open, setOpen] = useState(false);
  return (
    <Section
      title={
        <button class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? '▾' : '▸'} Object
        </button>
      }
      note={<a href={store.hrefOf({ view: 'records', parts: [], query: { filter: `object:${name}` } })}>its raw records</a>}
    >
      {open && <Tree of={of} open={3} label="The object" />}
    </Section>
  );
}
