// Sentences of an explanation that are made of several of its fields.
import { plural } from '../ui/format.js';
import type { WhyNodes, WhyWorkload } from './why_types.js';

type Places = NonNullable<WhyWorkload['places']>[number];

/** The decision that a Workload's message is of: what it lacks now may be another amount, since the same decision may have given quota to others. */
export function lastTry(why: WhyWorkload): { offset: number; time: string } | undefined {
  if (!why.message) return undefined;
  return (why.decisions ?? []).filter((decision) => decision.text.startsWith('tried: ')).at(-1);
}

export function besideWords(beside: string[] | undefined): string {
  return beside?.length ? `There is room for it by itself, but not beside ${beside.join(', ')}: ` : '';
}

/** One line for each reason why nodes have no room, with some of their names. */
export function nodesWords(places: Places): string[] {
  const lines = (groups: WhyNodes[] | undefined, one: string, several: string) =>
    (groups ?? []).map((group) => `${plural(group.nodes, 'node')} ${group.nodes === 1 ? one : several}: ${group.reason}${examples(group)}`);
  return [
    ...lines(places.excluded, 'has no room for a pod', 'have no room for a pod'),
    ...lines(places.excludedForLeader, "has no room for the leader's pod", "have no room for the leader's pod"),
    ...lines(places.leftOut, 'gives no places', 'give no places'),
  ];
}

function examples(group: WhyNodes): string {
  if (!group.examples?.length) return '';
  return ` (${group.examples.join(', ')}${group.examplesLeftOut ? ` and ${group.examplesLeftOut} more` : ''})`;
}
