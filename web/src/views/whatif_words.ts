// Edits as people type them, and the result of a branch as rows to show. Pure.
import type { Branch, BranchRequest, Edit, ObjectRef } from '../api/types.js';
import { listOf as list, numberOf as number, objectOf as object, textOf as text, type Loose } from './loose.js';

const amountPattern = /^[+-]?\d+(\.\d+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?$/;
const gatesPattern = /^[A-Za-z][A-Za-z0-9]*=(true|false)(,[A-Za-z][A-Za-z0-9]*=(true|false))*$/;

export const longestYaml = 256 * 1024;
export const mostNodes = 10_000;

/** A sentence about what is wrong with an edit, or undefined. */
export function faultOf(edit: Edit): string | undefined {
  switch (edit.kind) {
    case 'quota':
      if (!edit.clusterQueue) return 'Choose a ClusterQueue.';
      if (!edit.resource) return 'Name the resource, for example cpu.';
      if (!amountPattern.test(edit.amount.trim())) return 'The amount is a quantity: 8, +40, -2, +16Gi.';
      return undefined;
    case 'manifest':
      if (!edit.yaml.trim()) return 'Paste a manifest.';
      if (edit.yaml.length > longestYaml) return `The manifest has ${edit.yaml.length} characters; ${longestYaml} are allowed.`;
      return undefined;
    case 'drop':
      return edit.object.name ? undefined : 'Name the Workload or job that never came, as NAMESPACE/NAME.';
    case 'nodes':
      if (!Number.isInteger(edit.count) || edit.count < 1 || edit.count > mostNodes) return `The count is a number from 1 to ${mostNodes}.`;
      return edit.like ? undefined : 'Name the Node that they are like.';
    case 'featureGates':
      return gatesPattern.test(edit.text.trim()) ? undefined : 'Feature gates are written as A=true,B=false.';
  }
}

/** What an edit does, in one sentence without names (these are shown apart). */
export function editSentence(edit: Edit): string {
  switch (edit.kind) {
    case 'quota': {
      const amount = edit.amount.trim();
      const what = edit.flavor ? `${edit.resource} of flavor ${edit.flavor}` : edit.resource;
      if (amount.startsWith('+')) return `has ${amount.slice(1)} ${what} more of nominal quota`;
      if (amount.startsWith('-')) return `has ${amount.slice(1)} ${what} less of nominal quota`;
      return `has ${amount} ${what} of nominal quota`;
    }
    case 'manifest':
      return `${manifestKinds(edit.yaml).join(', ') || 'objects'} there instead or beside`;
    case 'drop':
      return 'never came';
    case 'nodes':
      return `${edit.count} more ${edit.count === 1 ? 'Node' : 'Nodes'} like`;
    case 'featureGates':
      return edit.text.trim();
  }
}

/** "ClusterQueue team-a" for each document of a manifest, as far as plain lines tell; at most eight. */
export function manifestKinds(yaml: string): string[] {
  const kinds: string[] = [];
  for (const document of yaml.slice(0, longestYaml).split(/^---\s*$/m)) {
    const kind = /^kind:\s*["']?([A-Za-z]+)/m.exec(document)?.[1];
    const name = /^(?:metadata:\s*\{[^}\n]*\bname:\s*|[ \t]+name:\s*)["']?([^\s"',}]+)/m.exec(document)?.[1];
    if (kind) kinds.push(name ? `${kind} ${name}` : kind);
    if (kinds.length === 8) break;
  }
  return kinds;
}

/** "job/team-a/train", "team-a/train", "Workload/team-a/train": whom a card drops. */
export function parseDropped(words: string): ObjectRef | undefined {
  const parts = words.trim().split('/').filter(Boolean);
  if (parts.length === 2) return { kind: 'Workload', namespace: parts[0]!, name: parts[1]! };
  if (parts.length === 3) return { kind: parts[0]!.toLowerCase() === 'workload' ? 'Workload' : 'Job', namespace: parts[1]!, name: parts[2]! };
  return undefined;
}

/** "clusterqueue/team-a:standard/cpu=+40" in the words of the command line, to copy. */
export function whatIfCommand(request: BranchRequest): string {
  const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
  const words = ['hindsight', 'what-if', '--from', String(request.from)];
  if (request.until !== undefined) words.push('--until', String(request.until));
  let manifests = 0;
  for (const edit of request.edits) {
    if (edit.kind === 'quota') words.push('--set', `clusterqueue/${edit.clusterQueue}:${edit.flavor ? `${edit.flavor}/` : ''}${edit.resource}=${edit.amount.trim()}`);
    if (edit.kind === 'nodes') words.push('--add-nodes', `${edit.count}x${edit.like}`);
    if (edit.kind === 'drop') {
      const name = `${edit.object.namespace ?? 'default'}/${edit.object.name}`;
      words.push('--drop', edit.object.kind === 'Workload' ? name : `job/${name}`);
    }
    if (edit.kind === 'featureGates') words.push('--feature-gates', edit.text.trim());
    if (edit.kind === 'manifest') words.push('-f', `manifest-${++manifests}.yaml`);
  }
  return words.map(quoted).join(' ');
}

export const progressOf = (branch: Branch): number => {
  const { position, of } = branch.progress;
  if (branch.state === 'done') return 1;
  const all = of - branch.from.position;
  return all > 0 ? Math.min(1, Math.max(0, (position - branch.from.position) / all)) : 0;
};

export interface QueueOutcome {
  name: string;
  all: boolean;
  measures: Measure[];
}

/** One number, as it was and as it would be. */
export interface Measure {
  id: 'workloads' | 'started' | 'ended' | 'waitMean' | 'waitP50' | 'waitP95' | 'preemptions' | 'evictions' | 'lost';
  unit: 'count' | 'seconds';
  was: number;
  wouldBe: number;
  /** Whether less of it is what one wants; undefined: neither. */
  lessIsBetter?: boolean;
}

export interface WorkloadOutcome {
  workload: ObjectRef;
  clusterQueue: string;
  startWas?: string | undefined;
  startWouldBe?: string | undefined;
  endWas?: string | undefined;
  endWouldBe?: string | undefined;
  /** Seconds; negative: it would start earlier. */
  shift?: number | undefined;
  evictionsWas: number;
  evictionsWouldBe: number;
  lostWas: number;
  lostWouldBe: number;
}

export interface UseOutcome {
  clusterQueue: string;
  flavor: string;
  resource: string;
  /** Mean in milli-units over the span. */
  was: number;
  wouldBe: number;
}

export interface Outcome {
  queues: QueueOutcome[];
  workloads: WorkloadOutcome[];
  use: UseOutcome[];
  modelled: number;
  contested: number;
  decisions: number;
  records: number;
}

const measures: { id: Measure['id']; key: string; unit: Measure['unit']; lessIsBetter?: boolean }[] = [
  { id: 'workloads', key: 'workloads', unit: 'count' },
  { id: 'started', key: 'started', unit: 'count', lessIsBetter: false },
  { id: 'ended', key: 'ended', unit: 'count', lessIsBetter: false },
  { id: 'waitMean', key: 'waitMeanSeconds', unit: 'seconds', lessIsBetter: true },
  { id: 'waitP50', key: 'waitP50Seconds', unit: 'seconds', lessIsBetter: true },
  { id: 'waitP95', key: 'waitP95Seconds', unit: 'seconds', lessIsBetter: true },
  { id: 'preemptions', key: 'preemptions', unit: 'count', lessIsBetter: true },
  { id: 'evictions', key: 'evictions', unit: 'count', lessIsBetter: true },
  { id: 'lost', key: 'lostSeconds', unit: 'seconds', lessIsBetter: true },
];

/** The result of `hindsight what-if -o json`; whatever is missing counts as nothing. */
export function outcomeOf(result: unknown): Outcome {
  const whole = object(result);
  const was = object(whole['was']);
  const wouldBe = object(whole['wouldBe']);
  const queuesWas = object(was['clusterQueues']);
  const queuesWouldBe = object(wouldBe['clusterQueues']);
  const names = [...new Set([...Object.keys(queuesWas), ...Object.keys(queuesWouldBe)])].filter((name) => name !== allQueues).sort();
  if (allQueues in queuesWas || allQueues in queuesWouldBe) names.unshift(allQueues);
  const decisions = object(whole['decisions']);
  return {
    queues: names.map((name) => queueOutcome(name, object(queuesWas[name]), object(queuesWouldBe[name]))),
    workloads: list(whole['differences']).map(workloadOutcome),
    use: useOutcomes(was, wouldBe),
    modelled: number(whole['modelled']),
    contested: Array.isArray(whole['contested']) ? whole['contested'].length : 0,
    decisions: number(decisions['made']),
    records: number(whole['records']),
  };
}

const allQueues = '(all)';

function queueOutcome(name: string, was: Loose, wouldBe: Loose): QueueOutcome {
  return {
    name: name === allQueues ? 'all' : name,
    all: name === allQueues,
    measures: measures.map((m) => ({
      id: m.id,
      unit: m.unit,
      was: number(was[m.key]),
      wouldBe: number(wouldBe[m.key]),
      ...(m.lessIsBetter === undefined ? {} : { lessIsBetter: m.lessIsBetter }),
    })),
  };
}

function workloadOutcome(difference: Loose): WorkloadOutcome {
  const was = object(difference['was']);
  const wouldBe = object(difference['wouldBe']);
  const [namespace = '', ...name] = text(difference['workload']).split('/');
  const moment = (value: unknown): string | undefined => text(value) || undefined;
  return {
    workload: { kind: 'Workload', namespace, name: name.join('/') },
    clusterQueue: text(was['clusterQueue']) || text(wouldBe['clusterQueue']),
    startWas: moment(was['started']),
    startWouldBe: moment(wouldBe['started']),
    endWas: moment(was['ended']),
    endWouldBe: moment(wouldBe['ended']),
    shift: typeof difference['shiftSeconds'] === 'number' ? difference['shiftSeconds'] : undefined,
    evictionsWas: number(was['evictions']),
    evictionsWouldBe: number(wouldBe['evictions']),
    lostWas: number(was['lostSeconds']),
    lostWouldBe: number(wouldBe['lostSeconds']),
  };
}

function useOutcomes(was: Loose, wouldBe: Loose): UseOutcome[] {
  const seconds = (side: Loose): number => (Date.parse(text(side['end'])) - Date.parse(text(side['begin']))) / 1000;
  const rows = new Map<string, UseOutcome>();
  for (const [which, side] of [['was', was], ['wouldBe', wouldBe]] as const) {
    const span = seconds(side);
    for (const use of list(side['usage'])) {
      const row = { clusterQueue: text(use['clusterQueue']), flavor: text(use['flavor']), resource: text(use['resource']), was: 0, wouldBe: 0 };
      const key = JSON.stringify([row.clusterQueue, row.flavor, row.resource]);
      const known = rows.get(key) ?? row;
      known[which] = span > 0 ? milliMean(number(use['amountSeconds']), span, row.resource) : 0;
      rows.set(key, known);
    }
  }
  return [...rows.values()];
}

/** cpu is counted in milli-units, everything else in whole ones. */
const milliMean = (amountSeconds: number, span: number, resource: string): number =>
  (resource === 'cpu' ? 1 : 1000) * (amountSeconds / span);

/** How a change reads: "better" or "worse" where one of the two is meant, "same", else "other". */
export function judged(measure: Measure): 'better' | 'worse' | 'same' | 'other' {
  if (measure.was === measure.wouldBe) return 'same';
  if (measure.lessIsBetter === undefined) return 'other';
  return measure.wouldBe < measure.was === measure.lessIsBetter ? 'better' : 'worse';
}

/** One sentence on the whole: how many fare otherwise, and what matters most. */
export function headline(outcome: Outcome): string {
  const many = outcome.workloads.length;
  if (many === 0) return 'Nobody would have fared otherwise.';
  const all = outcome.queues.find((q) => q.all);
  const measure = (id: Measure['id']): Measure | undefined => all?.measures.find((m) => m.id === id);
  const parts = [`${many} ${many === 1 ? 'Workload' : 'Workloads'} would have fared otherwise`];
  const evictions = measure('evictions');
  if (evictions && evictions.was !== evictions.wouldBe)
    parts.push(`${evictions.wouldBe} ${evictions.wouldBe === 1 ? 'eviction' : 'evictions'} instead of ${evictions.was}`);
  const earlier = outcome.workloads.filter((w) => (w.shift ?? 0) < 0).length;
  const later = outcome.workloads.filter((w) => (w.shift ?? 0) > 0).length;
  if (earlier || later) parts.push([earlier ? `${earlier} would start earlier` : '', later ? `${later} later` : ''].filter(Boolean).join(', '));
  return `${parts.join('; ')}.`;
}
