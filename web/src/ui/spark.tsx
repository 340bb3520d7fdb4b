import type { Curve } from '../api/types.js';
import { formatCount } from './format.js';

interface SparkProps {
  curve: Curve;
  label: string; // for screen readers: what it shows; first, last and greatest are added
  height?: number;
  kind?: 'line' | 'steps';
  format?: (value: number) => string;
}

/** A small curve without axes. Gaps in it are moments of which nothing is known. */
export function Spark({ curve, label, height = 32, kind = 'steps', format = formatCount }: SparkProps) {
  const known = curve.value.filter((v): v is number => v !== null);
  if (known.length < 2) return <svg class="spark" height={height} role="img" aria-label={`${label}: no curve yet`} />;
  const first = curve.time[0] ?? 0;
  const span = Math.max(1, (curve.time.at(-1) ?? 0) - first);
  const top = Math.max(...known, 1e-9);
  const x = (i: number) => ((((curve.time[i] ?? 0) - first) / span) * 100).toFixed(2);
  const y = (v: number) => (height - 2 - (v / top) * (height - 5)).toFixed(2);
  let line = '';
  let area = '';
  let start = -1;
  curve.value.forEach((value, i) => {
    const before = curve.value[i - 1];
    if (value === null) {
      if (start >= 0) area += `L${x(i - 1)},${height}L${x(start)},${height}Z`;
      start = -1;
      return;
    }
    const opening = start < 0;
    if (opening) start = i;
    const bend = !opening && kind === 'steps' && typeof before === 'number' ? `L${x(i)},${y(before)}` : '';
    const piece = `${opening ? 'M' : bend + 'L'}${x(i)},${y(value)}`;
    line += piece;
    area += piece;
  });
  if (start >= 0) area += `L${x(curve.value.length - 1)},${height}L${x(start)},${height}Z`;
  const told = `${label}: from ${format(known[0] as number)} to ${format(known.at(-1) as number)}, at most ${format(top)}`;
  return (
    <svg class="spark" viewBox={`0 0 100 ${height}`} height={height} preserveAspectRatio="none" role="img" aria-label={told}>
      <path class="spark-area" d={area} />
      <path class="spark-line" d={line} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
