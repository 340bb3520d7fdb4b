// The result of a branch: queues, Workloads and use, each as it was and as it would be.
import { useSignal } from '@preact/signals';
import { hrefOf, place, zone } from '../state/store.js';
import { Button } from '../ui/controls.js';
import { formatCount, formatDuration, formatExact, formatQuantity, formatTime, plural } from '../ui/format.js';
import { Name, Ref } from '../ui/name.js';
import { Section } from '../ui/page.js';
import { Empty } from '../ui/states.js';
import { headline, judged, outcomeOf, type Measure, type Outcome, type WorkloadOutcome } from './whatif_words.js';

const queuesAtFirst = 12;
const workloadsAtFirst = 50;

export function OutcomeShown({ result }: { result: unknown }) {
  const outcome = outcomeOf(result);
  return (
    <>
      <p class="headline">{headline(outcome)}</p>
      <p class="nothing">
        {formatCount(outcome.records)} records and {plural(outcome.decisions, 'decision')} were played
        {outcome.modelled > 0 && `; the world was modelled for ${plural(outcome.modelled, 'job or Workload', 'jobs and Workloads')}, for all others it is as on record`}
        {outcome.contested > 0 && `; ${plural(outcome.contested, 'change')} on record met another state`}.
      </p>
      <Queues outcome={outcome} />
      <Workloads rows={outcome.workloads} />
      <Use outcome={outcome} />
    </>
  );
}

const measureTitles: Record<Measure['id'], { title: string; hint: string }> = {
  workloads: { title: 'Workloads', hint: 'Workloads that came in the span, or were there' },
  started: { title: 'Started', hint: 'Those that were admitted' },
  ended: { title: 'Ended', hint: 'Those that finished' },
  waitMean: { title: 'Mean wait', hint: 'Mean time from coming to the first admission; whoever still waits counts until the end' },
  waitP50: { title: 'p50', hint: 'Half of them waited no longer' },
  waitP95: { title: 'p95', hint: '95 of 100 waited no longer' },
  preemptions: { title: 'Preempted', hint: 'How often one was evicted for another' },
  evictions: { title: 'Evicted', hint: 'Evictions for any reason, preemptions among them' },
  lost: { title: 'Work lost', hint: 'How long the evicted had run, added up' },
};

const figure = (measure: Measure, value: number): string => (measure.unit === 'seconds' ? formatDuration(value * 1000) : formatCount(value));

function Queues({ outcome }: { outcome: Outcome }) {
  const all = useSignal(false);
  const rows = all.value ? outcome.queues : outcome.queues.slice(0, queuesAtFirst);
  const columns = columnsOf(outcome);
  if (columns.length === 0) return null;
  return (
    <Section title="By ClusterQueue" note="as it was → as it would be; bold where it differs">
      <div class="scroll" tabIndex={0} role="region" aria-label="By ClusterQueue">
        <table class="ledger outcome">
          <thead>
            <tr>
              <th scope="col">ClusterQueue</th>
              {columns.map((id) => (
                <th key={id} scope="col" class="right" title={measureTitles[id].hint}>{measureTitles[id].title}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((queue) => (
              <tr key={queue.name} class={queue.all ? 'total' : ''}>
                <th scope="row">{queue.all ? 'all together' : <Ref to={{ kind: 'ClusterQueue', name: queue.name }} />}</th>
                {queue.measures.filter((m) => columns.includes(m.id)).map((m) => (
                  <MeasureCell key={m.id} of={m} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length < outcome.queues.length && <Button onClick={() => (all.value = true)}>Show all {formatCount(outcome.queues.length)}</Button>}
    </Section>
  );
}

/** How many started and ended is shown only where it differs: it rarely does. */
function columnsOf(outcome: Outcome): Measure['id'][] {
  const rare = new Set<Measure['id']>(['started', 'ended']);
  const differs = (id: Measure['id']): boolean => outcome.queues.some((q) => q.measures.some((m) => m.id === id && m.was !== m.wouldBe));
  return (outcome.queues[0]?.measures ?? []).map((m) => m.id).filter((id) => !rare.has(id) || differs(id));
}

function MeasureCell({ of: m }: { of: Measure }) {
  const verdict = judged(m);
  const word = verdict === 'better' || verdict === 'worse' ? `, ${verdict}` : '';
  if (verdict === 'same' || figure(m, m.was) === figure(m, m.wouldBe)) return <td class="right figure nothing">{figure(m, m.was)}</td>;
  return (
    <td class={`right figure ${verdict}`} title={`was ${figure(m, m.was)}, would be ${figure(m, m.wouldBe)}${word}`}>
      <span class="was">{figure(m, m.was)} →</span> <strong>{figure(m, m.wouldBe)}</strong>
      {word && <span aria-hidden="true"> {m.wouldBe < m.was ? '▾' : '▴'}</span>}
      {word && <span class="unseen">{word}</span>}
    </td>
  );
}

function Workloads({ rows }: { rows: WorkloadOutcome[] }) {
  const shown = useSignal(workloadsAtFirst);
  return (
    <Section title={<>Who fares otherwise <span class="figure">{formatCount(rows.length)}</span></>} note="the biggest shift of the start first">
      {rows.length === 0 ? (
        <Empty todo="Other edits, or an earlier moment, may change more.">Every Workload starts, ends and is evicted as it was.</Empty>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Who fares otherwise">
          <table class="ledger outcome">
            <thead>
              <tr>
                <th scope="col">Workload</th>
                <th scope="col">ClusterQueue</th>
                <th scope="col" class="right" title="When it was first admitted from this moment on">Start</th>
                <th scope="col" class="right" title="Would be − was; earlier is less">Shift</th>
                <th scope="col" class="right" title="When it finished">End</th>
                <th scope="col" class="right">Evicted</th>
                <th scope="col" class="right">Work lost</th>
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, shown.value).map((row) => (
                <tr key={`${row.workload.namespace}/${row.workload.name}`}>
                  <th scope="row"><Ref to={row.workload} /></th>
                  <td><a href={hrefOf({ kind: 'ClusterQueue', name: row.clusterQueue })}><Name text={row.clusterQueue} short={40} /></a></td>
                  <Moments was={row.startWas} wouldBe={row.startWouldBe} />
                  <td class="right figure"><Shift seconds={row.shift} /></td>
                  <Moments was={row.endWas} wouldBe={row.endWouldBe} />
                  <Pair was={row.evictionsWas} wouldBe={row.evictionsWouldBe} format={formatCount} />
                  <Pair was={row.lostWas} wouldBe={row.lostWouldBe} format={(s) => formatDuration(s * 1000)} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > shown.value && <Button onClick={() => (shown.value += 200)}>Show more of {formatCount(rows.length)}</Button>}
    </Section>
  );
}

/** Two times of day, or one where they are the same. The day is told only if it is not the slider's. */
function Moments({ was, wouldBe }: { was: string | undefined; wouldBe: string | undefined }) {
  if (was === wouldBe) return <td class="right figure nothing"><Clock time={was} /></td>;
  return (
    <td class="right figure">
      <span class="was"><Clock time={was} /> →</span> <strong><Clock time={wouldBe} /></strong>
    </td>
  );
}

function Clock({ time }: { time: string | undefined }) {
  if (!time) return <>never</>;
  const words = formatTime(time, zone.value).split(' ');
  const today = formatTime(place.value.time, zone.value).split(' ');
  const clock = (words[2] ?? '').replace(/\.000$/, '');
  return <time dateTime={time} title={formatExact(time, zone.value)}>{words[1] === today[1] ? clock : `${words[1]} ${clock}`}</time>;
}

function Shift({ seconds }: { seconds: number | undefined }) {
  if (!seconds) return <span class="nothing">{seconds === undefined ? '–' : '0 s'}</span>;
  const earlier = seconds < 0;
  return (
    <span class={earlier ? 'better' : 'worse'}>
      {earlier ? '−' : '+'}
      {formatDuration(Math.abs(seconds) * 1000)} <small>{earlier ? 'earlier' : 'later'}</small>
    </span>
  );
}

function Pair({ was, wouldBe, format }: { was: number; wouldBe: number; format: (value: number) => string }) {
  if (format(was) === format(wouldBe)) return <td class="right figure nothing">{format(was)}</td>;
  const better = wouldBe < was;
  return (
    <td class={`right figure ${better ? 'better' : 'worse'}`}>
      <span class="was">{format(was)} →</span> <strong>{format(wouldBe)}</strong> <span aria-hidden="true">{better ? '▾' : '▴'}</span>
      <span class="unseen">{better ? ', better' : ', worse'}</span>
    </td>
  );
}

function Use({ outcome }: { outcome: Outcome }) {
  const rows = outcome.use;
  if (rows.length === 0) return null;
  return (
    <Section title="Mean use" note="over the whole span">
      <div class="scroll" tabIndex={0} role="region" aria-label="Mean use">
        <table class="ledger outcome">
          <thead>
            <tr>
              <th scope="col">ClusterQueue</th>
              <th scope="col">Flavor and resource</th>
              <th scope="col" class="right">Was</th>
              <th scope="col" class="right">Would be</th>
              <th scope="col" class="right" title="Would be − was">Difference</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, 200).map((row) => {
              const difference = row.wouldBe - row.was;
              const text = formatQuantity(Math.abs(Math.round(difference)), row.resource);
              return (
                <tr key={`${row.clusterQueue}/${row.flavor}/${row.resource}`}>
                  <th scope="row"><Ref to={{ kind: 'ClusterQueue', name: row.clusterQueue }} /></th>
                  <td><bdi>{row.flavor}/{row.resource}</bdi></td>
                  <td class="right figure">{formatQuantity(Math.round(row.was), row.resource)}</td>
                  <td class="right figure">{formatQuantity(Math.round(row.wouldBe), row.resource)}</td>
                  <td class={`right figure${text === '0' ? ' nothing' : ''}`}>{text === '0' ? '0' : `${difference < 0 ? '−' : '+'}${text}`}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
