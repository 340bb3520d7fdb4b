// Nested squares for a topology: every host is a square of one size, racks and blocks are laid around theirs. Finding what lies under the
// pointer takes a few binary searches, with 20,000 hosts too.

import type { Box } from './box.js';
import { contains } from './box.js';

export interface Tree {
  readonly children?: readonly Tree[];
}

export interface Laid<T extends Tree> {
  box: Box;
  node: T;
  depth: number;
  children: Laid<T>[];
  /** Rows of children, from the top: the y where each begins and the index of its first child. */
  rows: { y: number; height: number; from: number; to: number }[];
}

export interface Layout<T extends Tree> {
  width: number;
  height: number;
  host: number; // edge of a leaf, pixels
  top: Laid<T>; // its node is a stand-in for the whole
}

interface Spacing {
  gap: number;
  padding: number;
  head: number;
}

/** Space around a node: leaves stand close, what contains more gets more. Names are written only where squares are large enough. */
function spacing(heightOfNode: number, host: number): Spacing {
  if (heightOfNode <= 0) return { gap: 0, padding: 0, head: 0 };
  const roomy = host >= 8;
  if (heightOfNode === 1) return { gap: roomy ? 2 : 0, padding: roomy ? 3 : 1, head: roomy ? 16 : 0 };
  return { gap: roomy ? 4 : 2, padding: roomy ? 5 : 3, head: roomy ? 16 : 14 };
}

const heightOf = (node: Tree): number => (node.children?.length ? 1 + Math.max(...node.children.slice(0, 64).map(heightOf)) : 0);

/** The size of a node of this edge of hosts, its children laid in rows that make it about as wide as high. */
function lay<T extends Tree>(node: T, depth: number, host: number, width?: number): Laid<T> {
  const children = (node.children ?? []) as readonly T[];
  const laid: Laid<T> = { box: { x: 0, y: 0, width: host, height: host }, node, depth, children: [], rows: [] };
  if (children.length === 0) return laid;

  const { gap, padding, head } = width === undefined ? spacing(heightOf(node), host) : { gap: host >= 8 ? 8 : 4, padding: 0, head: 0 };
  laid.children = children.map((child) => lay(child, depth + 1, host));
  const area = laid.children.reduce((sum, c) => sum + (c.box.width + gap) * (c.box.height + gap), 0);
  const widest = laid.children.reduce((max, c) => Math.max(max, c.box.width), 0);
  const first = laid.children[0]!.box;
  const inRow = columnsOf(laid.children.length, (first.height + gap) / (first.width + gap));
  const room = width ?? (laid.children.every((c) => c.box.width === first.width) ? inRow * (first.width + gap) - gap : Math.max(widest, Math.sqrt(area * 1.5))) + 0.5;

  let x = 0;
  let y = padding + head;
  let rowHeight = 0;
  let rowFrom = 0;
  let right = 0;
  laid.children.forEach((child, i) => {
    if (x > 0 && x + child.box.width > room) {
      laid.rows.push({ y, height: rowHeight, from: rowFrom, to: i });
      y += rowHeight + gap;
      x = 0;
      rowHeight = 0;
      rowFrom = i;
    }
    child.box = { ...child.box, x: padding + x, y };
    right = Math.max(right, x + child.box.width);
    x += child.box.width + gap;
    rowHeight = Math.max(rowHeight, child.box.height);
  });
  laid.rows.push({ y, height: rowHeight, from: rowFrom, to: laid.children.length });
  laid.box = { x: 0, y: 0, width: right + 2 * padding, height: y + rowHeight + padding };
  return laid;
}

/** How many of a row, so that the whole is a little wider than high and the last row as full as can be. `upright` is height by width of one. */
export function columnsOf(count: number, upright: number): number {
  const ideal = Math.sqrt(count * upright * 1.5);
  let best = Math.max(1, Math.round(ideal));
  let least = Infinity;
  for (let columns = Math.max(1, Math.floor(ideal * 0.7)); columns <= Math.min(count, Math.ceil(ideal * 1.6)); ++columns) {
    const missing = Math.ceil(count / columns) * columns - count;
    const cost = missing / count + 0.5 * Math.abs(Math.log(columns / ideal));
    if (cost < least - 1e-9) {
      least = cost;
      best = columns;
    }
  }
  return best;
}

/** Makes the boxes of a subtree absolute. */
function place<T extends Tree>(laid: Laid<T>, x: number, y: number): void {
  laid.box = { ...laid.box, x: laid.box.x + x, y: laid.box.y + y };
  for (const row of laid.rows) row.y += laid.box.y;
  for (const child of laid.children) place(child, laid.box.x, laid.box.y);
}

export const hostSizes = [64, 52, 44, 36, 32, 28, 24, 20, 16, 14, 12, 10, 8, 7, 6, 5, 4] as const;

/** The largest hosts with which all fits into width and height; the smallest ones, and more height than wanted, if none does. */
export function layOut<T extends Tree>(roots: readonly T[], width: number, height: number): Layout<T> {
  const whole = { children: roots } as unknown as T;
  const tried = (host: number): Laid<T> => lay(whole, -1, host, Math.max(width, 1));
  const fits = (laid: Laid<T>): boolean => laid.box.width <= width && laid.box.height <= height;
  // Sizes are ordered, so bisect: each try walks the whole tree.
  let low = 0;
  let high = hostSizes.length - 1;
  let best = tried(hostSizes[high]!);
  let bestHost: number = hostSizes[high]!;
  while (low < high) {
    const middle = (low + high) >> 1;
    const laid = tried(hostSizes[middle]!);
    if (fits(laid)) {
      best = laid;
      bestHost = hostSizes[middle]!;
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  place(best, 0, 0);
  return { width: best.box.width, height: best.box.height, host: bestHost, top: best };
}

/** The path of nodes under a point, outermost first; empty beside all. */
export function hit<T extends Tree>(layout: Layout<T>, x: number, y: number): Laid<T>[] {
  const path: Laid<T>[] = [];
  for (let at = layout.top; ; ) {
    const next = childAt(at, x, y);
    if (!next) return path;
    path.push(next);
    at = next;
  }
}

function childAt<T extends Tree>(laid: Laid<T>, x: number, y: number): Laid<T> | undefined {
  const row = lastNotBehind(laid.rows, (r) => r.y, y, 0, laid.rows.length);
  if (row < 0) return undefined;
  const { from, to } = laid.rows[row]!;
  const i = lastNotBehind(laid.children, (c) => c.box.x, x, from, to);
  const child = laid.children[i];
  return i >= from && child && contains(child.box, x, y) ? child : undefined;
}

/** Index of the last one in [from, to) whose key is not behind the value; from - 1 if there is none. */
function lastNotBehind<E>(list: readonly E[], key: (e: E) => number, value: number, from: number, to: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(list[middle]!) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** All that is laid, parents before children. */
export function* walk<T extends Tree>(laid: Laid<T>): Generator<Laid<T>> {
  for (const child of laid.children) {
    yield child;
    yield* walk(child);
  }
}
