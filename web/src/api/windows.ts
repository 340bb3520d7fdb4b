// A long list that is asked for in windows: only what is seen is loaded, at the store's moment.
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useCallback, useEffect, useMemo } from 'preact/hooks';
import * as store from '../state/store.js';
import { fetchJson, momentAddress, Refusal, type Query } from './client.js';

interface Answer<R> {
  items: R[];
  total: number;
}

export interface Windows<R, A extends Answer<R>> {
  total: number;
  row: (index: number) => R | undefined;
  onRange: (from: number, to: number) => void;
  state: 'loading' | 'ready' | 'broken' | 'forbidden';
  message: string;
  remedy?: string | undefined;
  latest: A | undefined; // the answer that came last, for what it says beside the rows
  again: () => void;
}

const windowRows = 200;
const keepWindows = 40;
const patienceMilliseconds = 400;

/** `path` answers { items, total } to limit and offset. Rows of the moment before stay until those of the new one are there. */
export function useWindows<R, A extends Answer<R>>(path: string, query: Query, when = true): Windows<R, A> {
  const asked = useSignal(JSON.stringify(query));
  const active = useSignal(when);
  const range = useSignal({ from: 0, to: 1 });
  const version = useSignal(0); // counts up when something came
  const turn = useSignal(0);
  const model = useMemo(() => new Model<R, A>(() => (version.value += 1)), []);
  const text = JSON.stringify(query);
  useEffect(() => {
    asked.value = text;
    active.value = when;
  }, [text, when]);
  const key = useComputed(() =>
    active.value && store.signIns.value >= 0 ? momentAddress(path, JSON.parse(asked.value) as Query) : undefined,
  );
  useSignalEffect(() => {
    const address = key.value;
    void turn.value;
    if (address) model.want(address, asked.value, range.value.from, range.value.to);
  });
  useEffect(() => () => model.stop(), []);
  void version.value; // subscribes
  const row = useCallback((index: number) => model.row(index), [version.value]);
  const onRange = useCallback((from: number, to: number) => {
    if (range.peek().from !== from || range.peek().to !== to) range.value = { from, to };
  }, []);
  return {
    total: model.total,
    row,
    onRange,
    state: model.state,
    message: model.message,
    remedy: model.remedy,
    latest: model.latest,
    again: () => {
      model.forget();
      turn.value += 1;
    },
  };
}

class Model<R, A extends Answer<R>> {
  total = 0;
  state: Windows<R, A>['state'] = 'loading';
  message = '';
  remedy: string | undefined;
  latest: A | undefined;
  private key = '';
  private list = ''; // which list it is, without the moment
  private windows = new Map<number, { key: string; items: R[] }>();
  private underWay = new Map<number, { key: string; aborter: AbortController; since: number }>();
  private wanted: [string, string, number, number] | undefined;

  constructor(private readonly changed: () => void) {}

  row(index: number): R | undefined {
    return this.windows.get(Math.floor(index / windowRows))?.items[index % windowRows];
  }

  want(key: string, list: string, from: number, to: number): void {
    this.wanted = [key, list, from, to];
    if (list !== this.list) {
      // Other filters: the rows shown are not those any more.
      this.list = list;
      this.abort();
      this.windows.clear();
    }
    if (key !== this.key) {
      const young = [...this.underWay.values()].some((u) => performance.now() - u.since < patienceMilliseconds);
      if (young) return; // what is under way comes first; then this is wanted still
      this.abort();
      this.key = key;
    }
    const first = Math.floor(Math.max(0, from) / windowRows);
    const last = Math.max(first, Math.floor(Math.max(0, to - 1) / windowRows));
    for (let w = first; w <= last; w++) {
      if (this.windows.get(w)?.key === key || this.underWay.get(w)?.key === key) continue;
      void this.load(w, key);
    }
    for (const [w, u] of this.underWay) if (w < first - 1 || w > last + 1) u.aborter.abort();
  }

  stop(): void {
    this.wanted = undefined;
    this.abort();
  }

  forget(): void {
    this.abort();
    this.windows.clear();
    this.state = 'loading';
  }

  private abort(): void {
    for (const u of this.underWay.values()) u.aborter.abort();
    this.underWay.clear();
  }

  private async load(w: number, key: string): Promise<void> {
    const aborter = new AbortController();
    const mine = { key, aborter, since: performance.now() };
    this.underWay.set(w, mine);
    try {
      const answer = await fetchJson<A>(`${key}${key.includes('?') ? '&' : '?'}limit=${windowRows}&offset=${w * windowRows}`, {
        signal: aborter.signal,
      });
      if (aborter.signal.aborted) return;
      this.windows.delete(w);
      this.windows.set(w, { key, items: answer.items });
      for (const old of this.windows.keys()) {
        if (this.windows.size <= keepWindows) break;
        this.windows.delete(old);
      }
      this.total = answer.total;
      this.latest = answer;
      this.state = 'ready';
      this.message = '';
    } catch (error) {
      if (aborter.signal.aborted) return;
      const refusal = error instanceof Refusal ? error : new Refusal(0, String(error));
      if (refusal.status === 0) store.missed.value += 1;
      if (refusal.status !== 0 || this.windows.size === 0) {
        this.state = refusal.status === 401 || refusal.status === 403 ? 'forbidden' : 'broken';
        this.message = refusal.message;
        this.remedy = refusal.remedy;
      }
    } finally {
      if (this.underWay.get(w) === mine) this.underWay.delete(w);
    }
    this.changed();
    if (this.wanted && this.underWay.size === 0 && this.state === 'ready') this.want(...this.wanted);
  }
}

/** All rows that match, in answers of a thousand, at most so many. Errors: Refusal. */
export async function allRows<R>(
  path: string,
  query: Query,
  most: number,
  told: (loaded: number, total: number) => void = () => {},
): Promise<{ items: R[]; total: number }> {
  const items: R[] = [];
  const address = momentAddress(path, query);
  if (!address) return { items, total: 0 };
  for (;;) {
    const answer = await fetchJson<Answer<R>>(`${address}${address.includes('?') ? '&' : '?'}limit=1000&offset=${items.length}`);
    items.push(...answer.items);
    told(items.length, answer.total);
    if (answer.items.length === 0 || items.length >= Math.min(answer.total, most))
      return { items: items.slice(0, most), total: answer.total };
  }
}
