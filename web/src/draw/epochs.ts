// Epochs of a log as lanes: a lane a node, a span a time it decided; and when nobody did.
import type { Fleet, Lane } from '../api/types.js';
import { microsOf } from '../ui/format.js';

export type Epoch = Fleet['epochs'][number];

/** A lane for each owner in the order they first appear, at most so many; the others' epochs are not drawn. */
export function epochLanes(epochs: readonly Epoch[], end: number, most: number): { lanes: Lane[]; leftOut: number } {
  const byOwner = new Map<string, Lane>();
  let leftOut = 0;
  for (const epoch of [...epochs].sort((a, b) => a.epoch - b.epoch)) {
    let lane = byOwner.get(epoch.owner);
    if (!lane) {
      if (byOwner.size === most) {
        ++leftOut;
        continue;
      }
      lane = { name: epoch.owner || 'not kept', spans: [] };
      byOwner.set(epoch.owner, lane);
    }
    const from = microsOf(epoch.from.time);
    lane.spans.push({
      kind: 'running',
      from,
      to: epoch.to ? microsOf(epoch.to.time) : Math.max(from, end),
      position: epoch.from.position,
      text: `epoch ${epoch.epoch}`,
      ...(epoch.to ? {} : { open: true }),
    });
  }
  return { lanes: [...byOwner.values()], leftOut };
}

/** How long nobody decided before each epoch, in microseconds; undefined for the first one. */
export function pausesBefore(epochs: readonly Epoch[]): Map<number, number> {
  const ordered = [...epochs].sort((a, b) => a.epoch - b.epoch);
  const pauses = new Map<number, number>();
  for (let i = 1; i < ordered.length; ++i) {
    const before = ordered[i - 1]!;
    const end = before.to ?? ordered[i]!.from;
    pauses.set(ordered[i]!.epoch, Math.max(0, microsOf(ordered[i]!.from.time) - microsOf(end.time)));
  }
  return pauses;
}
