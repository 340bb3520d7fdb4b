// One preemption opened: who was looked at, in which order, who was taken or spared and why; shares before and after.
import { pathOf, useView } from '../api/client.js';
import type { How, Preemption } from '../api/types.js';
import { branch, hrefAt } from '../state/store.js';
import { Button } from '../ui/controls.js';
import { formatCount, plural, visible } from '../ui/format.js';
import { Name, Ref, workloadRef } from '../ui/name.js';
import { Empty, Seen } from '../ui/states.js';
import { When } from '../ui/when.js';
import { quantityWords, shareTexts, storiesOf, victimReason, type Candidate, type EntryStory, type Search, type Shares } from './preemption_story.js';

export function PreemptionDetail({ of, onClose }: { of: Preemption; onClose: () => void }) {
  const preemptor = `${of.preemptor.namespace ?? ''}/${of.preemptor.name}`;
  const seen = useView<How>(pathOf('decisions', String(of.position)), { workload: of.preemptor.hidden ? undefined : preemptor, branch: branch.value }, { atMoment: false });
  return (
    <section class="preemption-detail" aria-label="The opened preemption">
      <div class="preemption-detail-head">
        <h2>
          <Ref to={of.preemptor} /> made room by taking <Ref to={of.victim} />
        </h2>
        <Button quiet onClick={onClose} aria-label="Close the opened preemption">Close ✕</Button>
      </div>
      <p>
        Decision of <a href={hrefAt(of.position)}>record {formatCount(of.position)}</a>, <When time={of.time} />. {victimReason(of.reason)} <small>{of.reason}</small>
      </p>
      <Seen
        of={seen}
        words={{
          empty: '',
          absent: 'The record of this decision is not in the log any more.',
          forbidden: 'You may not see how this was decided. Ask who runs this log for the right to get Workloads in all its namespaces.',
          broken: 'The decision could not be made again.',
        }}
        skeleton={{ rows: 5 }}
      >
        {(how) => {
          const stories = storiesOf(how);
          const story = stories.find((s) => s.workload === preemptor) ?? stories[0];
          return story ? <Story story={story} /> : <Empty todo="The record itself says what was decided.">Nothing about candidates was noted in this decision.</Empty>;
        }}
      </Seen>
    </section>
  );
}

function Story({ story }: { story: EntryStory }) {
  const last = story.searches[story.searches.length - 1];
  const earlier = story.searches.slice(0, -1);
  return (
    <>
      {last && <SearchShown search={last} story={story} />}
      {earlier.length > 0 && (
        <details class="earlier">
          <summary>{plural(earlier.length, 'search', 'searches')} before this one, flavor by flavor</summary>
          {earlier.map((search, i) => (
            <SearchShown key={i} search={search} story={story} />
          ))}
        </details>
      )}
    </>
  );
}

function SearchShown({ search, story }: { search: Search; story: EntryStory }) {
  const shares = search.candidates.some((c) => c.shares);
  return (
    <div class="search-shown">
      <p>
        <Ref to={workloadRef(story.workload)} /> at priority {formatCount(story.priority)} had to find <bdi>{quantityWords(search.needed) || quantityWords(search.asked)}</bdi>
        {search.mayBorrow.length > 0 && `; it ${search.mayBorrow[search.mayBorrow.length - 1] ? 'could' : 'could not'} borrow`}. {plural(search.candidates.length + search.candidatesLeftOut, 'Workload was', 'Workloads were')} looked at, in this order:
      </p>
      {search.candidates.length === 0 ? (
        <p class="nothing">None could be taken.</p>
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Candidates in the order they were looked at">
          <table class="ledger candidates">
            <thead>
              <tr>
                <th scope="col" class="right">#</th>
                <th scope="col">Fate</th>
                <th scope="col">Workload</th>
                <th scope="col" class="right">Priority</th>
                <th scope="col">Why</th>
                {shares && <th scope="col" title="Weighted shares that were compared: that of the preemptor's side with it, and that of the candidate's side">Shares</th>}
              </tr>
            </thead>
            <tbody>
              {search.candidates.map((candidate, i) => (
                <CandidateRow key={candidate.workload} candidate={candidate} place={i + 1} shares={shares} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {search.candidatesLeftOut > 0 && <p class="nothing">{plural(search.candidatesLeftOut, 'step')} more are left out.</p>}
      {search.passedOver.length > 0 && (
        <>
          <p>Not looked at:</p>
          <ul class="passed">
            {search.passedOver.map((passed, i) => (
              <li key={i}>
                <Name text={passed.where} />
                {passed.workloads > 0 && <> ({plural(passed.workloads, 'Workload')}{passed.first && <>, first <Name text={passed.first} short={60} /></>})</>}: {passed.sentence} <small>{passed.reason}</small>
              </li>
            ))}
            {search.passedOverLeftOut > 0 && <li class="nothing">and {formatCount(search.passedOverLeftOut)} more</li>}
          </ul>
        </>
      )}
    </div>
  );
}

function CandidateRow({ candidate, place, shares }: { candidate: Candidate; place: number; shares: boolean }) {
  return (
    <tr class={candidate.fate}>
      <td class="right figure">{place}</td>
      <td class="fate">{candidate.fate === 'taken' ? '✕ taken' : '○ spared'}</td>
      <td>
        <Ref to={workloadRef(candidate.workload)} /> <small>of <Name text={candidate.clusterQueue} short={40} />{candidate.evictedAlready && ', evicted already'}</small>
      </td>
      <td class="right figure">{formatCount(candidate.priority)}</td>
      <td>
        {candidate.sentence} {candidate.reason && <small>{candidate.reason}</small>}
      </td>
      {shares && <td>{candidate.shares && <SharesShown shares={candidate.shares} />}</td>}
    </tr>
  );
}

/** "ClusterQueue q1" is "q1" where there is little room. */
const withoutKind = (node: string): string => node.replace(/^(ClusterQueue|Cohort) /, '');

/** Shares as bars of one scale, so that what was compared is seen. */
function SharesShown({ shares }: { shares: Shares }) {
  const texts = shareTexts(shares);
  const numbers = [shares.preemptorAfter, shares.otherBefore, shares.otherAfter].filter((s): s is number => typeof s === 'number');
  const whole = Math.max(1e-9, ...numbers);
  const width = (share: number | 'infinite'): string => `${share === 'infinite' ? 100 : Math.max(1, (100 * share) / whole)}%`;
  const line = (name: string, words: string, share: number | 'infinite', text: string, kind: string) => (
    <div class="share-line" title={`${visible(name)} ${words}`}>
      <span class="share-name"><Name text={withoutKind(name)} short={24} /> <small>{words}</small></span>
      <span class="share-track"><span class={`share-bar ${kind}`} style={{ width: width(share) }} /></span>
      <span class="figure">{text}</span>
    </div>
  );
  return (
    <div class="shares" title={`${shares.strategy}: the weighted share is how much of its Cohort a node borrows, divided by its weight`}>
      {line(shares.preemptor, 'with it', shares.preemptorAfter, texts.preemptorAfter, 'own')}
      {line(shares.other, 'before', shares.otherBefore, texts.otherBefore, 'other')}
      {shares.otherAfter !== undefined && line(shares.other, 'after', shares.otherAfter, texts.otherAfter ?? '', 'other')}
    </div>
  );
}
