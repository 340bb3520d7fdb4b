// Preemptions over time: a lane a ClusterQueue, an arc from the lane of the preemptor to that of the victim at the time of the decision,
// and behind the victim a bar as long as the work that was lost.

export interface Interval {
  from: number;
  to: number;
}

/** Levels for intervals so that no two of one level overlap: each gets the lowest that is free. Beyond `most` levels they share the last.
 * O(n log n + n * most). */
export function levels(intervals: readonly Interval[], most: number, gap = 0): number[] {
  const order = intervals.map((_, i) => i).sort((a, b) => intervals[a]!.from - intervals[b]!.from || a - b);
  const ends: number[] = [];
  const out = new Array<number>(intervals.length).fill(0);
  for (const i of order) {
    const { from, to } = intervals[i]!;
    let level = ends.findIndex((end) => end + gap <= from);
    if (level < 0) level = ends.length < most ? ends.length : most - 1;
    ends[level] = Math.max(ends[level] ?? -Infinity, to);
    out[i] = level;
  }
  return out;
}

export interface ArcInput {
  time: number; // microseconds
  from: string; // lane of the preemptor
  to: string; // lane of the victim
  lost: number; // microseconds of work
}

export interface DrawnArc {
  index: number;
  x: number;
  fromY: number;
  toY: number;
  path: string;
  bow: number; // how far its handles stand out to the right
  lostFrom: number; // x where the lost work began, at most x
  lostY: number;
}

export interface ArcPicture {
  lanes: { name: string; y: number; height: number }[];
  arcs: DrawnArc[];
  height: number;
}

const row = 7; // pixels a level of lost work
const laneHead = 30;
const mostLevels = 5;

/** `nameRoom`: pixels kept free at the top of each lane. Lanes in the order given; arcs of lanes that are not among them are left out. `xOf` maps microseconds to pixels. */
export function drawArcs(items: readonly ArcInput[], lanes: readonly string[], xOf: (time: number) => number, nameRoom = 0): ArcPicture {
  const laneOf = new Map(lanes.map((name, i) => [name, i]));
  const level = new Array<number>(items.length).fill(0);
  const depth = lanes.map(() => 1);
  const ofLane: number[][] = lanes.map(() => []);
  items.forEach((item, i) => {
    const lane = laneOf.get(item.to);
    if (lane !== undefined && laneOf.has(item.from)) ofLane[lane]!.push(i);
  });
  ofLane.forEach((members, lane) => {
    const found = levels(members.map((i) => ({ from: xOf(items[i]!.time - items[i]!.lost), to: xOf(items[i]!.time) + 3 })), mostLevels);
    members.forEach((i, k) => {
      level[i] = found[k]!;
      depth[lane] = Math.max(depth[lane]!, found[k]! + 1);
    });
  });

  let y = 0;
  const drawnLanes = lanes.map((name, i) => {
    const height = nameRoom + laneHead + depth[i]! * row;
    const lane = { name, y, height };
    y += height;
    return lane;
  });

  const together = new Map<string, number>(); // arcs that leave the same place fan out
  const arcs = items.flatMap((item, index): DrawnArc[] => {
    const fromLane = laneOf.get(item.from);
    const toLane = laneOf.get(item.to);
    if (fromLane === undefined || toLane === undefined) return [];
    const x = xOf(item.time);
    const key = `${Math.round(x / 4)} ${fromLane}`;
    const nth = together.get(key) ?? 0;
    together.set(key, nth + 1);
    const fromY = drawnLanes[fromLane]!.y + nameRoom + 14;
    const toY = drawnLanes[toLane]!.y + nameRoom + laneHead - 4 + level[index]! * row;
    const bow = 14 + Math.min(nth, 12) * 5 + Math.abs(toY - fromY) * 0.12;
    const round = (n: number): string => n.toFixed(1);
    const path = `M${round(x)} ${round(fromY)}C${round(x + bow)} ${round(fromY)} ${round(x + bow)} ${round(toY)} ${round(x)} ${round(toY)}`;
    return [{ index, x, fromY, toY, path, bow, lostFrom: Math.min(x, xOf(item.time - item.lost)), lostY: toY }];
  });
  return { lanes: drawnLanes, arcs, height: y };
}

/** Lanes that occur, those with most arcs first, at most so many. */
export function busiestLanes(items: readonly ArcInput[], most: number): { lanes: string[]; leftOut: number } {
  const counts = new Map<string, number>();
  for (const item of items) {
    counts.set(item.from, (counts.get(item.from) ?? 0) + 1);
    if (item.to !== item.from) counts.set(item.to, (counts.get(item.to) ?? 0) + 1);
  }
  const names = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)! || (a < b ? -1 : 1));
  return { lanes: names.slice(0, most), leftOut: Math.max(0, names.length - most) };
}
