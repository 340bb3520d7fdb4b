// A squarified treemap (Bruls, Huizing, van Wijk 2000): areas are to scale, and rectangles as near to squares as a greedy walk gets them.

import type { Box } from './box.js';
import { inset } from './box.js';

/** Boxes for the values, in their order. Values that are not positive, and all if the box is empty, get an empty box at its corner. */
export function squarify(values: readonly number[], box: Box): Box[] {
  const boxes: Box[] = values.map(() => ({ x: box.x, y: box.y, width: 0, height: 0 }));
  const order = values.map((_, i) => i).filter((i) => values[i]! > 0 && Number.isFinite(values[i]!));
  order.sort((a, b) => values[b]! - values[a]!);
  const total = order.reduce((sum, i) => sum + values[i]!, 0);
  if (total <= 0 || box.width <= 0 || box.height <= 0) return boxes;

  const areaOfOne = (box.width * box.height) / total;
  let rest = { ...box };
  for (let begin = 0; begin < order.length; ) {
    const side = Math.min(rest.width, rest.height);
    let end = begin;
    let sum = 0;
    let worst = Infinity;
    while (end < order.length) {
      const grown = sum + values[order[end]!]! * areaOfOne;
      const ratio = worstRatio(values[order[begin]!]! * areaOfOne, values[order[end]!]! * areaOfOne, grown, side);
      if (ratio > worst) break;
      worst = ratio;
      sum = grown;
      ++end;
    }
    rest = layStrip(order.slice(begin, end), values, areaOfOne, sum, rest, boxes);
    begin = end;
  }
  return boxes;
}

/** The longest shape in a strip of this sum along a side, given the largest and smallest area in it. */
function worstRatio(largest: number, smallest: number, sum: number, side: number): number {
  const squared = sum * sum;
  return Math.max((side * side * largest) / squared, squared / (side * side * smallest));
}

/** Lays one strip along the shorter side; what is left of the box comes back. */
function layStrip(members: number[], values: readonly number[], areaOfOne: number, sum: number, box: Box, boxes: Box[]): Box {
  const upright = box.width >= box.height;
  const side = upright ? box.height : box.width;
  const depth = Math.min(sum / side, upright ? box.width : box.height);
  let along = 0;
  for (const i of members) {
    const length = depth > 0 ? (values[i]! * areaOfOne) / depth : 0;
    boxes[i] = upright
      ? { x: box.x, y: box.y + along, width: depth, height: length }
      : { x: box.x + along, y: box.y, width: length, height: depth };
    along += length;
  }
  return upright
    ? { x: box.x + depth, y: box.y, width: box.width - depth, height: box.height }
    : { x: box.x, y: box.y + depth, width: box.width, height: box.height - depth };
}

export interface TreemapGroup<T> {
  box: Box;
  /** Whether there is room for its name above its members. */
  headed: boolean;
  group: number;
  cells: { box: Box; item: T }[];
}

/** Two levels: groups, with a head each where there is room, and their items in them. */
export function groupedTreemap<T>(
  groups: readonly (readonly T[])[],
  value: (item: T) => number,
  box: Box,
  { margin = 2, head = 20, minHeaded = 56 } = {},
): TreemapGroup<T>[] {
  const sums = groups.map((items) => items.reduce((sum, item) => sum + Math.max(0, value(item)), 0));
  const outer = squarify(sums, box);
  return groups.flatMap((items, group) => {
    const whole = outer[group]!;
    if (whole.width <= 0 || whole.height <= 0) return [];
    const headed = whole.width >= minHeaded && whole.height >= head * 2;
    const inner = squarify(items.map(value), inset(whole, margin, headed ? head : 0));
    const cells = items.map((item, i) => ({ box: inner[i]!, item })).filter((cell) => cell.box.width > 0 && cell.box.height > 0);
    return [{ box: whole, headed, group, cells }];
  });
}
