// What a queue lacks: the answer of `hindsight why clusterqueue/NAME` in its own words, with the numbers behind them.
import type { Why } from '../api/types.js';
import { hrefOf } from '../state/store.js';
import { formatCount, formatDuration, plural } from '../ui/format.js';
import { Name, Ref, workloadRef } from '../ui/name.js';
import { listOf, numberOf, objectOf, textOf } from './loose.js';

export function QueueWhy({ why, queue }: { why: Why; queue: string }) {
  const head = objectOf(why['head']);
  const asks = listOf(head['asks']);
  const lacks = asks.filter((ask) => textOf(ask['missing']) !== '' && textOf(ask['missing']) !== '0');
  const waiting = objectOf(why['waiting']);
  const reasons = listOf(waiting['reasons']);
  const facts = (Array.isArray(why['facts']) ? why['facts'] : []).map(textOf).filter(Boolean);
  return (
    <section class="queue-why" aria-label="What this queue lacks">
      <p class="headline">
        <bdi>{textOf(why['headline'])}.</bdi>
      </p>
      {facts.length > 0 && (
        <ul class="facts">
          {facts.map((fact, i) => (
            <li key={i}><bdi>{fact}</bdi></li>
          ))}
        </ul>
      )}
      <div class="queue-why-parts">
        {lacks.length > 0 && (
          <table class="ledger">
            <caption>
              Its head <Ref to={workloadRef(textOf(head['workload']))} /> lacks
            </caption>
            <thead>
              <tr>
                <th scope="col">Flavor and resource</th>
                <th scope="col" class="right">Asks</th>
                <th scope="col" class="right" title="What could be had now, borrowed quota included">Available</th>
                <th scope="col" class="right" title="Asked − available">Missing</th>
                <th scope="col">Blocked by</th>
              </tr>
            </thead>
            <tbody>
              {lacks.map((ask, i) => (
                <tr key={i}>
                  <td><bdi>{textOf(ask['flavor'])}/{textOf(ask['resource'])}</bdi></td>
                  <td class="right figure">{textOf(ask['requested'])}</td>
                  <td class="right figure">{textOf(ask['available'])}</td>
                  <td class="right figure missing">{textOf(ask['missing'])}</td>
                  <td><bdi>{textOf(ask['blockedBy']) || '–'}</bdi></td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        {reasons.length > 0 && (
          <table class="ledger">
            <caption>They wait because</caption>
            <thead>
              <tr>
                <th scope="col">Reason</th>
                <th scope="col" class="right">Workloads</th>
                <th scope="col" class="right">Longest wait</th>
                <th scope="col">For example</th>
              </tr>
            </thead>
            <tbody>
              {reasons.map((reason, i) => (
                <tr key={i}>
                  <td title={textOf(reason['detail'])}>
                    <bdi>{textOf(reason['reason'])}</bdi> <small><bdi>{textOf(reason['detail'])}</bdi></small>
                  </td>
                  <td class="right">
                    <a class="figure" href={hrefOf({ view: 'workloads', parts: [], query: { queue, phase: 'Pending' } })} title="How many wait for this reason; the link shows all who wait in the queue">
                      {formatCount(numberOf(reason['workloads']))}
                    </a>
                  </td>
                  <td class="right figure">{formatDuration(numberOf(reason['longestWaitMilliseconds']))}</td>
                  <td>{textOf(reason['example']) ? <Ref to={workloadRef(textOf(reason['example']))} /> : '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      <Quota why={why} />
    </section>
  );
}

/** The quota the queue lives on: its own, or that of its Cohort. */
function Quota({ why }: { why: Why }) {
  const quota = listOf(why['quota']);
  if (quota.length === 0) return null;
  return (
    <details class="queue-quota">
      <summary>
        Quota of <Name text={textOf(why['quotaOf'])} />, {plural(quota.length, 'resource')}
      </summary>
      <table class="ledger">
      <thead>
        <tr>
          <th scope="col">Flavor and resource</th>
          <th scope="col" class="right">Used</th>
          <th scope="col" class="right">Nominal</th>
          <th scope="col" class="right" title="Used − nominal">Borrowed</th>
          <th scope="col" class="right" title="What could be had now without preemption, borrowed quota included">Available</th>
          <th scope="col" class="right" title="What it could ever have: nominal and all it may borrow">Maximum</th>
        </tr>
      </thead>
      <tbody>
        {quota.map((q, i) => (
          <tr key={i}>
            <td><bdi>{textOf(q['flavor'])}/{textOf(q['resource'])}</bdi></td>
            {['used', 'nominal', 'borrowed', 'available', 'maximum'].map((field) => (
              <td key={field} class={`right figure${textOf(q[field]) === '0' ? ' nothing' : ''}`}>{textOf(q[field]) || '–'}</td>
            ))}
          </tr>
        ))}
      </tbody>
      </table>
    </details>
  );
}
