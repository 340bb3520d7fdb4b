// The four numbers that matter now, and what needs attention.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useView } from '../api/client.js';
import type { Attention, Curve, Overview as OverviewData } from '../api/types.js';
import { hrefOf, log, place } from '../state/store.js';
import { coarse } from '../state/timeline.js';
import type { Coarse } from '../state/timescale.js';
import { formatCount, formatDuration, formatDurationShort, formatPerMille, plural, visible } from '../ui/format.js';
import { Ref } from '../ui/name.js';
import { Section, ViewHead } from '../ui/page.js';
import { Spark } from '../ui/spark.js';
import { Empty, Seen } from '../ui/states.js';
import { When } from '../ui/when.js';
import { Linked } from '../why/linked.js';

export default function Overview() {
  const overview = useView<OverviewData>('overview');
  const waits = useLasting(overview.stale || overview.state === 'loading', coarseAfterMilliseconds);
  const about = waits && overview.data?.position !== place.value.position ? coarse.value : undefined;
  return (
    <>
      <ViewHead
        title="Overview"
        note={
          place.value.time && log.value ? (
            <>
              as of <When time={place.value.time} exact />
            </>
          ) : undefined
        }
      />
      {about && overview.data === undefined && <CoarseNumbers of={about} />}
      <Seen
        of={overview}
        skeleton={{ rows: 12 }}
        isEmpty={(o) => o.queues === 0 && o.workloads.total === 0}
        words={{
          loading: 'The overview is being made.',
          empty: 'At this moment there is neither a queue nor a workload.',
          emptyTodo: (
            <>
              Move the slider on, or make a ClusterQueue: <code>hindsight create clusterqueue --help</code>
            </>
          ),
          forbidden: 'The overview is for those who may see objects of some namespace.',
          broken: 'The overview could not be made.',
        }}
      >
        {(data) => <Shown of={data} about={about} />}
      </Seen>
    </>
  );
}

/** Below this an answer comes without anybody having waited for it. */
const coarseAfterMilliseconds = 30;

/** Whether something has been so for so many milliseconds. */
function useLasting(is: boolean, milliseconds: number): boolean {
  const [lasts, setLasts] = useState(false);
  useEffect(() => {
    if (!is) {
      setLasts(false);
      return;
    }
    const timer = setTimeout(() => setLasts(true), milliseconds);
    return () => clearTimeout(timer);
  }, [is]);
  return is && lasts;
}

const aboutNote = 'about, until the state is read';
const aboutText = (value: number | undefined, format: (value: number) => string) => (value === undefined ? '…' : `≈ ${format(value)}`);

/** The numbers as the strip has them, before the first state is there. */
function CoarseNumbers({ of }: { of: Coarse }) {
  return (
    <div class="seen stale" aria-busy>
      <div class="numbers">
        {[
          { title: 'Waiting', value: aboutText(of.waiting, formatCount) },
          { title: 'Oldest wait', value: '…' },
          { title: 'Used of nominal', value: aboutText(of.usedPerMille, formatPerMille) },
          { title: 'Evicted', value: '…' },
        ].map(({ title, value }) => (
          <section class="number" aria-label={title} key={title}>
            <h2>{title}</h2>
            <p class="number-value">{value}</p>
            <p class="number-note">{value === '…' ? 'the state is being read' : aboutNote}</p>
            <div style={{ height: '40px' }} />
          </section>
        ))}
      </div>
    </div>
  );
}

/** `about`: the answer is of another moment, and what the strip tells of this one. */
function Shown({ of, about }: { of: OverviewData; about: Coarse | undefined }) {
  const oldest = of.oldestWait;
  const evicted = of.evicted.lastHour;
  return (
    <>
      <div class="numbers">
        <NumberTile
          title="Waiting"
          value={about ? aboutText(about.waiting, formatCount) : formatCount(of.waiting.count)}
          note={about ? aboutNote : of.waiting.count === 1 ? 'workload without quota' : 'workloads without quota'}
          how="Workloads in phase Pending at this moment; the curve is the hour before it"
          href={hrefOf({ view: 'workloads', parts: [], query: { phase: 'Pending', sort: 'since' } })}
          curve={of.waiting.curve}
        />
        <NumberTile
          title="Oldest wait"
          value={about ? '…' : of.waiting.count === 0 ? '–' : formatDurationShort(oldest.milliseconds)}
          note={about ? 'the state is being read' : oldest.workload ? <Ref to={oldest.workload} /> : of.waiting.count === 0 ? 'nobody waits' : 'in a namespace you may not see'}
          how={`The workload that has waited longest for quota has waited ${formatDuration(oldest.milliseconds)}`}
          {...(oldest.workload ? { href: hrefOf(oldest.workload) } : {})}
          curve={oldest.curve}
          format={formatDuration}
        />
        <NumberTile
          title="Used of nominal"
          value={about ? aboutText(about.usedPerMille, formatPerMille) : of.used.resource ? formatPerMille(of.used.perMille) : '–'}
          note={about ? aboutNote : of.used.resource ? `${visible(of.used.resource)} of flavor ${visible(of.used.flavor)}` : 'no quota is set'}
          how="Of the flavor and resource that is used most, over all ClusterQueues"
          href={hrefOf({ view: 'queues', parts: [], query: {} })}
          curve={of.used.curve}
          format={formatPerMille}
        />
        <NumberTile
          title="Evicted"
          value={about ? '…' : evicted === null ? '–' : formatCount(evicted)}
          note={about ? 'the state is being read' : evicted === null ? 'not counted yet: the log is being read' : 'in the last hour'}
          how="Evictions by preemption and for all other reasons in the hour before the moment"
          href={hrefOf({ view: 'preemptions', parts: [], query: {} })}
          curve={of.evicted.curve}
        />
      </div>
      <Phases of={of} />
      <Section title="Needs attention" note={about ? 'of the moment before' : of.attention.length > 0 ? 'what matters most first' : undefined}>
        {of.attention.length === 0 ? (
          <Empty todo="Jobs that wait longer than is usual in their queue, queues that cannot admit, pairs that preempt each other, checks that hang and quota that nobody uses are listed here.">
            {about ? 'The state is being read.' : 'Nothing needs attention at this moment.'}
          </Empty>
        ) : (
          <ul class="attention">
            {of.attention.map((item, i) => (
              <AttentionLine key={i} of={item} />
            ))}
          </ul>
        )}
        {of.attentionLeftOut > 0 && <p class="view-note">and {plural(of.attentionLeftOut, 'more line')}</p>}
      </Section>
    </>
  );
}

interface TileProps {
  title: string;
  value: string;
  note: ComponentChildren;
  how: string;
  href?: string;
  curve: Curve;
  format?: (value: number) => string;
}

function NumberTile({ title, value, note, how, href, curve, format }: TileProps) {
  return (
    <section class="number" aria-label={title}>
      <h2>{title}</h2>
      <p class="number-value" title={how}>
        {href ? <a href={href}>{value}</a> : value}
      </p>
      <p class="number-note">{note}</p>
      <Spark curve={curve} label={`${title}, the hour before`} height={40} {...(format ? { format } : {})} />
    </section>
  );
}

function Phases({ of }: { of: OverviewData }) {
  const w = of.workloads;
  const parts = [
    { phase: 'Pending', text: 'pending', count: w.pending },
    { phase: 'QuotaReserved', text: 'with quota, not admitted', count: w.reserved },
    { phase: 'Admitted', text: 'admitted', count: w.admitted },
    { phase: 'Finished', text: 'finished', count: w.finished },
    { phase: 'Inactive', text: 'inactive', count: w.inactive },
  ].filter((p) => p.count > 0);
  return (
    <p class="phases">
      <a href={hrefOf({ view: 'workloads', parts: [], query: {} })}>{plural(w.total, 'workload')}</a>
      {parts.length > 0 && ': '}
      {parts.map((p, i) => (
        <span key={p.phase}>
          {i > 0 && ', '}
          <a href={hrefOf({ view: 'workloads', parts: [], query: { phase: p.phase } })}>
            {formatCount(p.count)} {p.text}
          </a>
        </span>
      ))}
      {'; '}
      <a href={hrefOf({ view: 'queues', parts: [], query: {} })}>{plural(of.queues, 'ClusterQueue')}</a>.
    </p>
  );
}

const kinds: Record<Attention['kind'], { word: string; sign: string; tone: 'bad' | 'warn' | 'note' }> = {
  queueCannotAdmit: { word: 'Queue cannot admit', sign: '✗', tone: 'bad' },
  longWait: { word: 'Long wait', sign: '○', tone: 'warn' },
  mutualPreemption: { word: 'Preempt each other', sign: '⇄', tone: 'bad' },
  checkHangs: { word: 'Check hangs', sign: '◌', tone: 'warn' },
  neverFits: { word: 'Never fits', sign: '⊘', tone: 'warn' },
  unusedQuota: { word: 'Unused quota', sign: '▭', tone: 'note' },
  quarantined: { word: 'Set aside', sign: '!', tone: 'bad' },
  setAside: { word: 'Set aside', sign: '!', tone: 'bad' },
};

function AttentionLine({ of }: { of: Attention }) {
  const kind = kinds[of.kind] ?? { word: of.kind, sign: '·', tone: 'note' as const };
  const known = new Set(of.objects.filter((o) => o.kind === 'Workload' && !o.hidden).map((o) => `${o.namespace}/${o.name}`));
  // What the sentence does not name is named behind it.
  const unnamed = of.objects.filter((o) => !o.hidden && !of.sentence.includes(o.name));
  return (
    <li>
      <span class={`attention-kind tone-${kind.tone}`}>
        <span aria-hidden="true">{kind.sign}</span> {kind.word}
      </span>
      <span class="attention-text">
        <Linked text={of.sentence} known={known} />
        {unnamed.map((o) => (
          <span key={`${o.kind}${o.namespace}${o.name}`}>
            {' '}
            <Ref to={o} kind />
          </span>
        ))}
      </span>
      <span class="attention-since">{of.since && <When time={of.since} />}</span>
    </li>
  );
}
