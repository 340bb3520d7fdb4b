// Between time, record and the width of the strip. Pure.
import type { Timeline } from '../api/types.js';
import { microsOf } from '../ui/format.js';

export interface Range {
  from: number; // microseconds
  to: number;
}

export type Columns = Pick<Timeline, 'time' | 'position' | 'from' | 'to'>;

/** The span of a timeline; never empty. */
export function rangeOf(columns: Columns): Range {
  const from = microsOf(columns.from.time);
  const to = microsOf(columns.to.time);
  return { from, to: Math.max(to, from + 1) };
}

/** The record that was the last at a time; between columns it is taken as even. */
export function positionAt(columns: Columns, micros: number): number {
  const { from, to } = rangeOf(columns);
  if (!(micros > from)) return columns.from.position;
  if (micros >= to) return columns.to.position;
  const column = indexBefore(columns.time, micros);
  const begin = Math.max(columns.time[column] ?? from, from);
  const end = columns.time[column + 1] ?? to;
  const first = column > 0 ? (columns.position[column - 1] ?? columns.from.position) : columns.from.position;
  const last = columns.position[column] ?? columns.to.position;
  const share = end > begin ? Math.min(1, (micros - begin) / (end - begin)) : 1;
  return clamp(Math.round(first + (last - first) * share), columns.from.position, columns.to.position);
}

/** When a record was written, about: exact to a column. */
export function microsAt(columns: Columns, position: number): number {
  const { from, to } = rangeOf(columns);
  if (position <= columns.from.position) return from;
  if (position >= columns.to.position) return to;
  const column = columnOf(columns, position);
  const begin = columns.time[column] ?? from;
  const end = columns.time[column + 1] ?? to;
  const first = column > 0 ? (columns.position[column - 1] as number) : columns.from.position;
  const last = columns.position[column] ?? columns.to.position;
  return last > first ? begin + ((end - begin) * (position - first)) / (last - first) : end;
}

/** The column that a record falls into; the last one if it is behind all. */
export function columnOf(columns: Columns, position: number): number {
  let low = 0;
  let high = Math.max(0, columns.position.length - 1);
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((columns.position[middle] as number) >= position) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** What was, about: as the column has it in which a record falls. */
export interface Coarse {
  waiting: number | undefined;
  usedPerMille: number | undefined;
}

/** Undefined where the columns do not reach, because the log is still read or goes on behind them. */
export function coarseAt(timeline: Columns & Pick<Timeline, 'waiting' | 'used' | 'scannedTo'>, position: number): Coarse | undefined {
  if (position < timeline.from.position || position > Math.min(timeline.to.position, timeline.scannedTo)) return undefined;
  const column = columnOf(timeline, position);
  return { waiting: timeline.waiting[column] ?? undefined, usedPerMille: timeline.used[column] ?? undefined };
}

/** The column a time falls into; 0 if it is before all. */
export function indexBefore(times: number[], micros: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) <= micros) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** A range zoomed about a time by a factor (below 1: nearer), kept within the whole and at least so long. */
export function zoomed(range: Range, whole: Range, about: number, factor: number, least: number): Range {
  const full = whole.to - whole.from;
  const length = clamp((range.to - range.from) * factor, Math.min(least, full), full);
  const share = clamp((about - range.from) / (range.to - range.from), 0, 1);
  return shifted({ from: about - length * share, to: about + length * (1 - share) }, whole, 0);
}

/** A range moved by so many microseconds, as far as the whole goes. */
export function shifted(range: Range, whole: Range, by: number): Range {
  const length = Math.min(range.to - range.from, whole.to - whole.from);
  const from = clamp(range.from + by, whole.from, whole.to - length);
  return { from, to: from + length };
}

export function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}
