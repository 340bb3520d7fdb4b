// A decision, as `hindsight how -o json` tells it, as what a person asks of it: who needed what, who was looked at in which order, who was
// taken or spared, and why. Pure.
import type { How } from '../api/types.js';
import { listOf as list, numberOf as number, textOf as text, type Loose } from './loose.js';

export interface Quantity {
  flavor: string;
  resource: string;
  amount: string;
}

export interface Shares {
  strategy: string;
  preemptor: string; // the node of the cohort tree whose share is compared
  preemptorAfter: number | 'infinite';
  other: string;
  otherBefore: number | 'infinite';
  otherAfter?: number | 'infinite' | undefined;
}

export interface Candidate {
  workload: string; // NAMESPACE/NAME
  clusterQueue: string;
  priority: number;
  fate: 'taken' | 'spared';
  /** A sentence; what the API calls it is in `reason`. */
  sentence: string;
  reason?: string | undefined;
  shares?: Shares | undefined;
  evictedAlready: boolean;
}

export interface PassedOver {
  where: string;
  sentence: string;
  reason: string;
  workloads: number;
  first?: string | undefined;
}

export interface Search {
  needed: Quantity[];
  asked: Quantity[];
  victims: number;
  mayBorrow: boolean[]; // of each round through the candidates
  candidates: Candidate[];
  candidatesLeftOut: number;
  passedOver: PassedOver[];
  passedOverLeftOut: number;
}

export interface EntryStory {
  workload: string;
  clusterQueue: string;
  priority: number;
  outcome: string;
  reason?: string | undefined;
  message?: string | undefined;
  victims: { workload: string; reason: string }[];
  /** In the order they were made; the last one is what was decided by. */
  searches: Search[];
}

const optional = (value: unknown): string | undefined => text(value) || undefined;

/** All who were looked at in this decision and needed room; those that took victims first. */
export function storiesOf(how: How): EntryStory[] {
  const entries = list(how['trees']).flatMap((tree) => list(tree['rounds']).flatMap((round) => list(round['entries'])));
  const stories = entries.map(storyOf).filter((story) => story.searches.length > 0 || story.victims.length > 0);
  return stories.sort((a, b) => Number(b.victims.length > 0) - Number(a.victims.length > 0));
}

function storyOf(entry: Loose): EntryStory {
  const attempts = list(entry['nominations']).flatMap((n) => list(n['attempts']));
  return {
    workload: text(entry['workload']),
    clusterQueue: text(entry['clusterQueue']),
    priority: number(entry['priority']),
    outcome: text(entry['outcome']),
    reason: optional(entry['reason']),
    message: optional(entry['message']),
    victims: list(entry['victims']).map((v) => ({ workload: text(v['workload']), reason: text(v['reason']) })),
    searches: attempts.flatMap((a) => list(a['searches'])).map(searchOf),
  };
}

function searchOf(search: Loose): Search {
  const steps = list(search['steps']);
  return {
    needed: list(search['needed']).map(quantityOf),
    asked: list(search['asked']).map(quantityOf),
    victims: number(search['victims']),
    mayBorrow: steps.filter((s) => s['step'] === 'Begins').map((s) => s['mayBorrow'] === true),
    candidates: candidatesOf(steps),
    candidatesLeftOut: number(search['stepsLeftOut']),
    passedOver: list(search['passedOver']).map(passedOf),
    passedOverLeftOut: number(search['passedOverLeftOut']),
  };
}

const quantityOf = (q: Loose): Quantity => ({ flavor: text(q['flavor']), resource: text(q['resource']), amount: text(q['amount']) });

/** One line for whoever was looked at, in the order of the last look; a second look at the same one replaces what the first one said. */
function candidatesOf(steps: Loose[]): Candidate[] {
  const found = new Map<string, Candidate>();
  for (const step of steps) {
    const kind = text(step['step']);
    if (kind === 'Begins') continue;
    const workload = text(step['workload']);
    const before = found.get(workload);
    const candidate = candidateOf(step, kind, before);
    // Being put back is about one that was taken before: it keeps its place.
    if (kind !== 'PutBack') found.delete(workload);
    found.set(workload, candidate);
  }
  return [...found.values()];
}

function candidateOf(step: Loose, kind: string, before: Candidate | undefined): Candidate {
  const shares = sharesOf(step['shares']) ?? before?.shares;
  const victim = optional(step['victim']);
  const base = {
    workload: text(step['workload']),
    clusterQueue: text(step['clusterQueue']),
    priority: number(step['priority']),
    evictedAlready: step['evictedAlready'] === true,
    shares,
  };
  if (kind === 'Taken')
    return { ...base, fate: 'taken', reason: victim, sentence: victim ? (victimWords[victim] ?? 'It was taken.') : 'It was taken on trial.' };
  if (kind === 'PutBack') return { ...base, fate: 'spared', reason: 'PutBack', sentence: 'It was spared after all: there is room without it.' };
  if (kind === 'Exhausted') {
    const because = text(step['because']);
    const sentence =
      because === 'BorrowWithinCohort'
        ? 'It was spared: borrowWithinCohort does not allow it while the preemptor borrows.'
        : 'It was spared: its ClusterQueue or a Cohort above holds no more than its nominal quota by then.';
    return { ...base, fate: 'spared', reason: because || undefined, sentence };
  }
  return { ...base, fate: 'spared', reason: shares?.strategy, sentence: shares ? shareSentence(shares) : 'It was spared.' };
}

const victimWords: Record<string, string> = {
  InClusterQueue: 'It was taken: its priority is lower, in the same ClusterQueue.',
  InCohortReclamation: 'It was taken: it runs on quota that its ClusterQueue borrowed and the owner takes back.',
  InCohortFairSharing: 'It was taken: its ClusterQueue holds more than its fair share of the Cohort.',
  InCohortReclaimWhileBorrowing: 'It was taken: its priority is low enough for a preemptor that borrows itself.',
};

export const victimReason = (reason: string): string => victimWords[reason] ?? 'It was preempted.';

function shareSentence(shares: Shares): string {
  const against = shares.strategy === 'LessThanInitialShare' || shares.otherAfter === undefined ? 'has now' : 'would have after it';
  return `It was spared: with the preemptor the share of ${shares.preemptor} is not low enough against what ${shares.other} ${against}.`;
}

function sharesOf(value: unknown): Shares | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const shares = value as Loose;
  const share = (v: unknown): number | 'infinite' => (typeof v === 'number' ? v : 'infinite');
  return {
    strategy: text(shares['strategy']),
    preemptor: text(shares['preemptor']),
    preemptorAfter: share(shares['preemptorAfter']),
    other: text(shares['other']),
    otherBefore: share(shares['otherBefore']),
    ...(shares['otherAfter'] === undefined ? {} : { otherAfter: share(shares['otherAfter']) }),
  };
}

/** Shares in whole numbers, as Kueue shows them; with three digits where two of them would else look the same though they differ. */
export function shareTexts(shares: Shares): { preemptorAfter: string; otherBefore: string; otherAfter?: string } {
  const against = shares.strategy === 'LessThanInitialShare' || shares.otherAfter === undefined ? shares.otherBefore : shares.otherAfter;
  const exact = shares.preemptorAfter !== against && roundedShare(shares.preemptorAfter) === roundedShare(against);
  const words = (share: number | 'infinite'): string => (share === 'infinite' ? '∞' : exact ? share.toFixed(3) : roundedShare(share));
  return {
    preemptorAfter: words(shares.preemptorAfter),
    otherBefore: words(shares.otherBefore),
    ...(shares.otherAfter === undefined ? {} : { otherAfter: words(shares.otherAfter) }),
  };
}

const roundedShare = (share: number | 'infinite'): string => (share === 'infinite' ? '∞' : String(Math.ceil(share)));

function passedOf(passed: Loose): PassedOver {
  const many = number(passed['workloads']);
  const reason = text(passed['because']);
  return {
    where: text(passed['where']),
    reason,
    workloads: many,
    first: optional(passed['first']),
    sentence: passedWords(reason, many <= 1),
  };
}

function passedWords(reason: string, one: boolean): string {
  const it = one ? 'it' : 'they';
  switch (reason) {
    case 'ReclaimWithinCohortNever':
      return 'reclaimWithinCohort of the preemptor’s ClusterQueue is Never';
    case 'WithinClusterQueueNever':
      return 'withinClusterQueue is Never';
    case 'ClusterQueueInactive':
      return 'it is not active';
    case 'WithinNominalQuota':
      return 'it holds no more than its nominal quota of what is needed';
    case 'NotBorrowing':
      return 'it borrows nothing at this point';
    case 'Priority':
      return `the policy does not allow it at ${one ? 'its' : 'their'} priority`;
    case 'NotNewer':
      return 'the priority is the same, and the preemptor is not older';
    case 'OtherResources':
      return `${it} ${one ? 'holds' : 'hold'} nothing of what is needed`;
    case 'GoesAlready':
      return `${it} ${one ? 'goes' : 'go'} already for another Workload of this cycle`;
    case 'ReplacedSlice':
      return 'it is the slice that the preemptor replaces';
    case 'OwnFamily':
      return 'it belongs to the same family as the preemptor';
    case 'RepeatedPreemptions':
      return `${one ? 'it was' : 'they were'} preempted again and again and ${one ? 'is' : 'are'} left alone`;
    default:
      return reason;
  }
}

/** "cpu 4 of flavor standard, memory 8Gi of flavor standard" */
export const quantityWords = (quantities: readonly Quantity[]): string =>
  quantities.map((q) => `${q.resource} ${q.amount} of flavor ${q.flavor}`).join(', ');
