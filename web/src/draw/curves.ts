// Two curves on one axis: what was, and what is set beside it.

export interface Sampled {
  time: readonly number[]; // ascending
  values: readonly (number | null)[];
}

/** Both on the union of their times. A curve holds its value until its next sample, and is null before its first and behind its end. */
export function joined(curves: readonly Sampled[]): { time: number[]; values: (number | null)[][] } {
  const time = [...new Set(curves.flatMap((c) => [...c.time]))].sort((a, b) => a - b);
  return { time, values: curves.map((curve) => held(curve, time)) };
}

function held(curve: Sampled, time: readonly number[]): (number | null)[] {
  const last = curve.time[curve.time.length - 1];
  let next = 0;
  let value: number | null = null;
  return time.map((t) => {
    while (next < curve.time.length && curve.time[next]! <= t) value = curve.values[next++] ?? null;
    return last === undefined || t > last ? null : value;
  });
}
