// What the table of workloads can do without a browser: folding, files. Pure.
import type { WorkloadRow } from '../api/types.js';
import { toCsv } from '../ui/csv.js';

export interface FoldedRow {
  row: WorkloadRow;
  alike: number; // so many others are equal in all that counts
  key: string;
}

/** Equal in namespace, queues, phase, reason, priority and what is asked for. */
export function alikeKey(row: WorkloadRow): string {
  return JSON.stringify([
    row.namespace,
    row.queue,
    row.clusterQueue,
    row.phase,
    row.reason,
    row.priority,
    row.asks.map((a) => [a.resource, a.amount.text]),
  ]);
}

/** One row for those that are alike, where the first of them stands; those of `open` keys are all shown. */
export function foldAlike(rows: readonly WorkloadRow[], open: ReadonlySet<string>): FoldedRow[] {
  const first = new Map<string, FoldedRow>();
  const out: FoldedRow[] = [];
  for (const row of rows) {
    const key = alikeKey(row);
    const seen = first.get(key);
    if (seen && !open.has(key)) {
      seen.alike += 1;
      continue;
    }
    const folded = { row, alike: 0, key };
    if (!seen) first.set(key, folded);
    out.push(folded);
  }
  return out;
}

export function asksText(row: WorkloadRow): string {
  return row.asks.map((a) => `${a.amount.text} ${a.resource}`).join(', ');
}

export function workloadsCsv(rows: readonly WorkloadRow[]): string {
  const resources = [...new Set(rows.flatMap((r) => r.asks.map((a) => a.resource)))].sort();
  return toCsv(
    ['namespace', 'name', 'job', 'localQueue', 'clusterQueue', 'phase', 'reason', 'priority', 'created', 'since', ...resources],
    rows.map((r) => [
      r.namespace,
      r.name,
      r.job ? `${r.job.kind}/${r.job.name}` : '',
      r.queue,
      r.clusterQueue,
      r.phase,
      r.reason,
      r.priority,
      r.created,
      r.since ?? '',
      ...resources.map((name) => r.asks.find((a) => a.resource === name)?.amount.text ?? ''),
    ]),
  );
}
