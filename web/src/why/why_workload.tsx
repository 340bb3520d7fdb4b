// Why a workload stands as it does: the answer in one sentence first, then what blocks it, what would change it, and how it came to this.
import { useEffect, useState } from 'preact/hooks';
import { useView, pathOf } from '../api/client.js';
import type { ObjectRef } from '../api/types.js';
import * as store from '../state/store.js';
import { Button, CopyButton } from '../ui/controls.js';
import { formatCount, formatDuration, plural, visible } from '../ui/format.js';
import { Name, Ref, workloadRef } from '../ui/name.js';
import { Broken } from '../ui/states.js';
import { When } from '../ui/when.js';
import { Linked, workloadsIn } from './linked.js';
import { besideWords, lastTry, nodesWords } from './why_words.js';
import type { WhyHolder, WhyLife, WhyRemedy, WhyTrial, WhyUse, WhyWorkload } from './why_types.js';

export function WhyOfWorkload({ why, of, wide }: { why: WhyWorkload; of: ObjectRef; wide?: boolean }) {
  const known = workloadsIn(why);
  const queue = why.queue;
  const blocked = (why.quota ?? []).filter((t) => t.verdict && !fits(t));
  const tried = blocked.length > 0 ? lastTry(why) : undefined;
  return (
    <div class={`why${wide ? ' wide' : ''}`}>
      <p class="why-headline">
        <Linked text={why.headline ?? why.phase ?? ''} known={known} />
      </p>
      {why.message && why.message !== 'The workload is admitted' && (
        <p class="why-message">
          <bdi>{visible(why.message)}</bdi>
        </p>
      )}
      {tried && (
        <p class="why-since">
          said of its last try, <When time={tried.time} position={tried.offset} exact />
        </p>
      )}
      {why.since && (
        <p class="why-since">
          since <When time={why.since} exact /> (<When time={why.since} />)
        </p>
      )}
      <List lines={why.facts} known={known} />

      {blocked.length > 0 && (
        <Part title="What it lacks now">
          <ul class="why-list">
            {blocked.map((t, i) => (
              <li key={i}>
                <Lack trial={t} known={known} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {queue && (
        <Part title="Its place">
          <p>
            {queue.position === 0
              ? 'Nobody is ahead of it'
              : queue.position === 1
                ? '1 other is ahead of it'
                : `${formatCount(queue.position)} others are ahead of it`}
            ; {formatCount(queue.waiting)} {queue.waiting === 1 ? 'waits' : 'wait'} in{' '}
            <Ref kind to={{ kind: 'ClusterQueue', name: queue.clusterQueue }} />.
          </p>
          {queue.ahead && queue.ahead.length > 0 && (
            <ul class="why-list">
              {queue.ahead.slice(0, 5).map((a) => (
                <li key={a.workload}>
                  <Ref to={workloadRef(a.workload)} />{' '}
                  <small class="reason">
                    priority {a.priority}
                    {a.parked ? ', parked' : ''}
                  </small>
                </li>
              ))}
              {queue.position > Math.min(5, queue.ahead.length) && (
                <li class="more">and {formatCount(queue.position - Math.min(5, queue.ahead.length))} more</li>
              )}
            </ul>
          )}
        </Part>
      )}
      {why.places && why.places.length > 0 && (
        <Part title="Room in the topology">
          <ul class="why-list">
            {why.places.map((p, i) => (
              <li key={i}>
                <Linked text={besideWords(p.beside) + (p.message ?? '')} known={known} />
                {p.nearest && (
                  <>
                    {' '}
                    Nearest: <bdi>{visible(p.nearest.domain)}</bdi>, room for {plural(p.nearest.fit, 'pod')}.
                  </>
                )}
                {nodesWords(p).map((line) => (
                  <div key={line} class="reason">
                    <bdi>{visible(line)}</bdi>
                  </div>
                ))}
              </li>
            ))}
          </ul>
        </Part>
      )}
      {why.users && why.users.length > 0 && (
        <Part title="Who uses it">
          {why.users.map((use) => (
            <Users key={`${use.flavor}/${use.resource}`} use={use} />
          ))}
        </Part>
      )}
      {why.preemption?.text && why.preemption.text.length > 0 && (
        <Part title="Preemption">
          <ul class="why-list">
            {why.preemption.text.map((line, i) => (
              <li key={i} class={line.startsWith('  ') ? 'deeper' : undefined}>
                <Linked text={sentence(line.trim())} known={known} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {why.phase !== 'Finished' && <Remedies of={of} phase={why.phase ?? ''} />}
      {!wide && why.quota && why.quota.length > 0 && (
        <Part title="Quota">
          <QuotaTable trials={why.quota} narrow />
        </Part>
      )}
      {why.decisions && why.decisions.length > 0 && (
        <Part title="Decisions">
          <ul class="why-list">
            {why.decisions.map((d) => (
              <li key={`${d.offset}${d.text}`}>
                <When time={d.time} position={d.offset} /> <Linked text={d.text} known={known} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {why.life && (
        <Part title="Its life so far">
          <Life life={why.life} />
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: preact.ComponentChildren }) {
  return (
    <section class="why-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}

export function List({ lines, known }: { lines: string[] | undefined; known: ReadonlySet<string> }) {
  if (!lines || lines.length === 0) return null;
  return (
    <ul class="why-list why-facts">
      {lines.map((line, i) => (
        <li key={i}>
          <Linked text={sentence(line)} known={known} />
        </li>
      ))}
    </ul>
  );
}

function Lack({ trial: t, known }: { trial: WhyTrial; known: ReadonlySet<string> }) {
  const what = `${t.resource} of flavor ${t.flavor}`;
  const asked = t.requested ? `asks for ${t.requested} ${what}` : what;
  if (t.mismatch)
    return (
      <>
        {`Flavor ${visible(t.flavor)} does not suit it: `}
        <Linked text={t.mismatch} known={known} />.
      </>
    );
  return (
    <>
      It {visible(asked)}; {t.available ?? '0'} {t.available === '1' ? 'is' : 'are'} to be had
      {t.missing && (
        <>
          ,{' '}
          <b>
            {t.missing} {t.missing === '1' ? 'is' : 'are'} missing
          </b>
        </>
      )}
      .
      {t.blockedBy && (
        <>
          {' '}
          The bound is the <Linked text={t.blockedBy} known={known} />.
        </>
      )}
      {t.verdict === 'exceedsMaximum' ? ` More than ${t.maximum} can never be had.` : ''}
    </>
  );
}

function Users({ use }: { use: WhyUse }) {
  const [all, setAll] = useState(false);
  const holders: (WhyHolder & { other?: boolean })[] = [...(use.own ?? []), ...(use.others ?? []).map((h) => ({ ...h, other: true }))];
  const shown = all ? holders : holders.slice(0, 6);
  const leftOut = (use.ownLeftOut ?? 0) + (use.othersLeftOut ?? 0);
  return (
    <div class="why-users">
      <p class="reason">
        {visible(use.flavor)}/{visible(use.resource)}: {use.inQueue} in its queue
        {use.inCohort ? `, ${use.inCohort} in the whole cohort` : ''}
      </p>
      <table class="plain">
        <tbody>
          {shown.map((h) => (
            <tr key={h.workload}>
              <td>
                <Ref to={workloadRef(h.workload)} />
                {h.other && h.clusterQueue && (
                  <small class="reason">
                    {' '}
                    in <bdi>{visible(h.clusterQueue)}</bdi>
                  </small>
                )}
                {h.evicted && <small class="reason"> evicted</small>}
              </td>
              <td class="right reason" title="priority">
                {h.priority}
              </td>
              <td class="right figure">{h.amount}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!all && holders.length > shown.length && (
        <button class="link" onClick={() => setAll(true)}>
          {holders.length - shown.length} more
        </button>
      )}
      {leftOut > 0 && <p class="reason">and {plural(leftOut, 'workload')} that are not listed</p>}
    </div>
  );
}

const playedSaid = 'Each was played on a copy of the state, with everybody who waits.';

/** What would let it in: asked for by a click, since each remedy is played. */
function Remedies({ of, phase }: { of: ObjectRef; phase: string }) {
  const [asked, setAsked] = useState(false);
  const name = `${of.namespace}/${of.name}`;
  useEffect(() => setAsked(false), [name]);
  const position = store.place.value.position;
  const why = useView<WhyWorkload>(`workloads/${pathOf(of.namespace ?? '', of.name)}/why`, { plays: true }, { when: asked });
  if (phase !== 'Pending' && phase !== 'QuotaReserved' && phase !== 'Evicted') return null;
  if (!asked) {
    return (
      <Part title="What would change it">
        <Button onClick={() => setAsked(true)}>Show what would change it</Button>
      </Part>
    );
  }
  const remedies = why.data?.remedies;
  const known = workloadsIn(why.data);
  return (
    <Part title="What would change it">
      {why.state === 'broken' || why.state === 'forbidden' ? (
        <Broken todo={why.remedy}>{why.message}</Broken>
      ) : !why.data ? (
        <p class="reason" role="status">
          Remedies are being played on a copy of the state.
        </p>
      ) : remedies && remedies.length > 0 ? (
        <>
          <p class="reason">It would be given quota …</p>
          <ol class="why-remedies">
            {remedies.map((r, i) => (
              <li key={i}>
                <RemedyLine remedy={r} known={known} position={position} />
              </li>
            ))}
          </ol>
          <p class="reason">{playedSaid}</p>
        </>
      ) : (
        <p>
          Nothing small was found that would let it in at this moment.{' '}
          <a href={store.hrefOf({ view: 'whatif', parts: [], query: {} })}>Try a bigger change</a>.
        </p>
      )}
    </Part>
  );
}

function RemedyLine({ remedy, known }: { remedy: WhyRemedy; known: ReadonlySet<string>; position: number }) {
  const names = new Set([...known, ...(remedy.played?.evicted ?? [])]);
  return <Linked text={remedy.text} known={names} />;
}

function Life({ life }: { life: WhyLife }) {
  const total = Math.max(1, life.totalMicros ?? 0);
  const parts = [
    { kind: 'waiting', text: 'waited', micros: life.waitedMicros ?? 0 },
    { kind: 'running', text: 'ran', micros: (life.ranMicros ?? 0) - (life.lostMicros ?? 0) },
    { kind: 'evicted', text: 'lost', micros: life.lostMicros ?? 0 },
    { kind: 'stopped', text: 'stopped', micros: life.stoppedMicros ?? 0 },
    { kind: 'other', text: 'unknown', micros: life.unknownMicros ?? 0 },
  ].filter((p) => p.micros > 0);
  return (
    <>
      <div class="life-bar" aria-hidden="true">
        {parts.map((p) => (
          <span key={p.kind} class={`span-${p.kind}`} style={{ width: `${(p.micros / total) * 100}%` }} />
        ))}
      </div>
      <p>
        It{' '}
        {parts.length === 0
          ? `is ${formatDuration((life.totalMicros ?? 0) / 1000)} old`
          : parts.map((p) => `${p.text} ${formatDuration(p.micros / 1000)}`).join(', ')}
        {life.end ? `; ${visible(life.end)}` : ''}.
      </p>
      {life.losses && life.losses.length > 0 && (
        <ul class="why-list">
          {life.losses.slice(0, 5).map((l) => (
            <li key={l.offset}>
              <When time={l.time} position={l.offset} /> {formatDuration(l.lostMicros / 1000)} lost
              {l.by && (
                <>
                  {' '}
                  to <Ref to={workloadRef(l.by.workload)} />
                </>
              )}{' '}
              <small class="reason">{visible(l.reason)}</small>
            </li>
          ))}
          {life.losses.length > 5 && <li class="more">and {life.losses.length - 5} more times</li>}
        </ul>
      )}
    </>
  );
}

const verdicts: Record<string, string> = {
  fits: 'fits',
  fitsBorrowing: 'fits, borrowing',
  short: 'short',
  exceedsMaximum: 'never',
  noMatch: 'does not suit',
};

function fits(trial: WhyTrial): boolean {
  return trial.verdict === 'fits' || trial.verdict === 'fitsBorrowing';
}

/** The quota that was tried, in the order in which flavors are. */
export function QuotaTable({ trials, narrow }: { trials: WhyTrial[]; narrow?: boolean }) {
  const podSets = new Set(trials.map((t) => t.podSet)).size > 1;
  const figure = (text: string | undefined, name: string) => (
    <td class="right figure" title={name}>
      {text ?? '–'}
    </td>
  );
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label={narrow ? 'Quota in short' : 'Quota, all figures'}>
      <table class="plain quota-table">
        <thead>
          <tr>
            {podSets && <th>Pod set</th>}
            <th>Flavor</th>
            <th>Resource</th>
            <th class="right">Asks</th>
            {!narrow && <th class="right">Nominal</th>}
            <th class="right">Used</th>
            {!narrow && <th class="right">Borrowed</th>}
            <th class="right" title="What it could be given now, with what may be borrowed">
              Free
            </th>
            {!narrow && (
              <th class="right" title="What it could ever be given">
                Maximum
              </th>
            )}
            <th>Verdict</th>
          </tr>
        </thead>
        <tbody>
          {trials.map((t, i) => (
            <tr key={i}>
              {podSets && (
                <td>
                  <bdi>{visible(t.podSet ?? '')}</bdi>
                </td>
              )}
              <td>
                <Name text={t.flavor} short={28} />
              </td>
              <td>
                <Name text={t.resource} short={28} />
              </td>
              {figure(t.requested, 'asked')}
              {!narrow && figure(t.nominal, 'nominal quota')}
              {figure(t.used, 'used')}
              {!narrow && figure(t.borrowed, 'borrowed')}
              {figure(t.available, 'available')}
              {!narrow && figure(t.maximum, 'maximum')}
              <td class={`verdict ${fits(t) ? 'good' : 'bad'}`}>
                <span aria-hidden="true">{fits(t) ? '✓' : '✗'}</span>{' '}
                {t.missing ? `${t.missing} short` : (verdicts[t.verdict ?? ''] ?? visible(t.verdict ?? ''))}
                {!narrow && t.blockedBy && (
                  <small class="reason">
                    {' '}
                    <bdi>{visible(t.blockedBy)}</bdi>
                  </small>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The commands that tell the same elsewhere. */
export function Commands({ of }: { of: ObjectRef }) {
  const position = store.place.value.position;
  const name =
    of.kind === 'Workload' ? `${of.namespace}/${of.name}` : `${of.kind.toLowerCase()}/${of.namespace ? `${of.namespace}/` : ''}${of.name}`;
  const log = store.log.value;
  const domain = log && log.domains.length > 1 && log.domain ? ` --domain ${quoted(log.domain)}` : '';
  const hindsight = `hindsight ${of.kind === 'Workload' || of.kind === 'ClusterQueue' || of.kind === 'Cohort' || of.kind === 'LocalQueue' ? 'why' : 'describe'} ${quoted(name)} --at ${position}${domain}${log ? ` --log ${quoted(log.name)}` : ''}`;
  const kubectl = `kubectl get ${kubectlKind(of.kind)} ${quoted(of.name)}${of.namespace ? ` -n ${quoted(of.namespace)}` : ''} -o yaml`;
  return (
    <div class="commands">
      <CopyButton text={hindsight}>Copy as hindsight</CopyButton>
      <CopyButton text={kubectl} title={`${kubectl}\nThe object as it is now in the cluster.`}>
        Copy as kubectl
      </CopyButton>
    </div>
  );
}

const kubectlKinds: Record<string, string> = {
  Workload: 'workloads.kueue.x-k8s.io',
  ClusterQueue: 'clusterqueues.kueue.x-k8s.io',
  LocalQueue: 'localqueues.kueue.x-k8s.io',
  Cohort: 'cohorts.kueue.x-k8s.io',
  ResourceFlavor: 'resourceflavors.kueue.x-k8s.io',
  Topology: 'topologies.kueue.x-k8s.io',
  AdmissionCheck: 'admissionchecks.kueue.x-k8s.io',
};
function kubectlKind(kind: string): string {
  return kubectlKinds[kind] ?? quoted(kind.toLowerCase());
}

/** A word for a shell: names come from outside, and a copied command shall do only what it says. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(word) ? word : `'${word.replace(/[\u0000-\u001f\u007f]/g, '').replaceAll("'", `'\\''`)}'`;
}

/** With a capital, unless it begins with a name: "standard/cpu: …", "withinClusterQueue is …". */
function sentence(text: string): string {
  return /^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}
