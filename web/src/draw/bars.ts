// At which scale quota bars are drawn that stand one below the other.

export interface QuotaNumbers {
  nominal: number;
  used: number;
  borrowed: number;
  limit?: number | undefined;
}

const mostFold = 3; // a bar shows at most so many times its nominal quota

/** How many times its nominal quota a track must show so that nothing of these bars is cut, between 1 and 3. */
export function commonFold(bars: readonly QuotaNumbers[]): number {
  let fold = 1;
  for (const b of bars) {
    if (b.nominal <= 0) continue;
    fold = Math.max(fold, b.used / b.nominal, (b.nominal + b.borrowed) / b.nominal, (b.limit ?? 0) / b.nominal);
  }
  return Math.min(mostFold, fold);
}

/** What a whole track stands for, with each bar at a scale of its own: its nominal quota so many times, or without any what it has at most. */
export function ownScale(bar: QuotaNumbers, fold: number): number {
  if (bar.nominal > 0) return bar.nominal * fold;
  return Math.max(bar.used, bar.borrowed, bar.limit ?? 0, 1);
}

/** One scale for all. */
export function oneScale(bars: readonly QuotaNumbers[]): number {
  return bars.reduce((max, b) => Math.max(max, b.nominal, b.used, b.nominal + b.borrowed, Math.min(b.limit ?? 0, mostFold * b.nominal)), 1);
}
