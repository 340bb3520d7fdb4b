// What a queue lacks: short, for the panel; the view of the queue tells more.
import { formatDuration, plural, visible } from '../ui/format.js';
import { Ref, workloadRef } from '../ui/name.js';
import { Linked, workloadsIn } from './linked.js';
import { List, QuotaTable } from './why_workload.js';
import type { WhyQueue } from './why_types.js';

export function WhyOfQueue({ why }: { why: WhyQueue }) {
  const known = workloadsIn(why);
  const reasons = why.waiting?.reasons ?? [];
  return (
    <div class="why">
      <p class="why-headline">
        <Linked text={why.headline ?? (why.active === false ? 'It is not active' : '')} known={known} />
      </p>
      <List lines={why.facts} known={known} />
      {why.head && (
        <section class="why-part">
          <h3>Its head</h3>
          <p>
            <Ref to={workloadRef(why.head.workload)} /> <small class="reason">{visible(why.head.reason ?? '')}</small>
            {why.head.waitMilliseconds !== undefined && <>, waits {formatDuration(why.head.waitMilliseconds)}</>}
          </p>
          <List lines={why.head.preemption} known={known} />
        </section>
      )}
      {reasons.length > 0 && (
        <section class="why-part">
          <h3>Who waits, and what for</h3>
          <ul class="why-list">
            {reasons.slice(0, 8).map((r) => (
              <li key={`${r.reason}${r.detail}`}>
                {plural(r.workloads, 'workload')}: {visible(r.reason)}
                {r.detail ? ` (${visible(r.detail)})` : ''}
                {r.longestWaitMilliseconds !== undefined && `, the longest ${formatDuration(r.longestWaitMilliseconds)}`}
                {r.example && (
                  <>
                    , as <Ref to={workloadRef(r.example)} />
                  </>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {why.quota && why.quota.length > 0 && (
        <section class="why-part">
          <h3>Quota</h3>
          <QueueQuota quota={why.quota} />
        </section>
      )}
    </div>
  );
}

function QueueQuota({ quota }: { quota: NonNullable<WhyQueue['quota']> }) {
  if (quota.some((q) => q.requested)) return <QuotaTable trials={quota} narrow />;
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Quota table">
      <table class="plain">
        <thead>
          <tr>
            <th>Flavor</th>
            <th>Resource</th>
            <th class="right">Used</th>
            <th class="right">Nominal</th>
            <th class="right">Free</th>
          </tr>
        </thead>
        <tbody>
          {quota.map((q) => (
            <tr key={`${q.flavor}/${q.resource}`}>
              <td>
                <bdi>{visible(q.flavor)}</bdi>
              </td>
              <td>
                <bdi>{visible(q.resource)}</bdi>
              </td>
              <td class="right figure">{q.used}</td>
              <td class="right figure">{q.nominal}</td>
              <td class="right figure">{q.available}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
