// Which preemptions somebody means, and these as a file. Pure.
import type { ObjectRef, Preemption, Preemptions } from '../api/types.js';
import { toCsv } from '../ui/csv.js';

/** Those in whose names every word of the text occurs, and of this reason. */
export function matching(items: readonly Preemption[], text: string | undefined, reason: string | undefined): Preemption[] {
  const words = (text ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    if (reason && item.reason !== reason) return false;
    if (words.length === 0) return true;
    const names = [item.preemptor, item.victim].map((ref) => `${ref.namespace ?? ''}/${ref.name}`);
    const all = [...names, item.preemptorQueue, item.victimQueue].join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** An answer and the one about the stretch behind it, as one; of more than `most` the oldest are left out. */
export function joinedPreemptions(before: Preemptions, behind: Preemptions, most: number): Preemptions {
  const all = [...before.items, ...behind.items];
  const { next: _, ...rest } = before;
  return {
    ...rest,
    to: behind.to,
    items: all.slice(Math.max(0, all.length - most)),
    leftOut: before.leftOut + behind.leftOut + Math.max(0, all.length - most),
    hidden: before.hidden + behind.hidden,
    ...(behind.next === undefined ? {} : { next: behind.next }),
  };
}

const fullName = (ref: ObjectRef): string => (ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name);

export const preemptionsCsv = (items: readonly Preemption[]): string =>
  toCsv(
    ['position', 'time', 'preemptor', 'preemptorClusterQueue', 'victim', 'victimClusterQueue', 'reason', 'lostSeconds'],
    items.map((i) => [i.position, i.time, fullName(i.preemptor), i.preemptorQueue, fullName(i.victim), i.victimQueue, i.reason, i.lostMicros === undefined ? undefined : i.lostMicros / 1e6]),
  );
