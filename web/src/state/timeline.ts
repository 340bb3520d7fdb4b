// The strip's picture of the whole history and, when it is zoomed, of the part in view; and from it, which record was the last at a time.
import { computed, effect, signal } from '@preact/signals';
import { addressOf, fetchJson } from '../api/client.js';
import type { Timeline } from '../api/types.js';
import { microsOf } from '../ui/format.js';
import * as store from './store.js';
import { coarseAt, microsAt, positionAt, rangeOf, type Range } from './timescale.js';

const columnsAsked = 480;

export const whole = signal<Timeline | undefined>(undefined);
/** The part in view, in microseconds; undefined: all of it. */
export const range = signal<Range | undefined>(undefined);
/** What is known of the part in view. */
export const part = signal<Timeline | undefined>(undefined);
/** What was, while one looks at a branch. */
export const original = signal<Timeline | undefined>(undefined);
export const timelineMessage = signal('');

/** Where the slider stands, in microseconds; NaN until it is known. */
export const placeMicros = computed(() => {
  const { position, time } = store.place.value;
  if (time) return microsOf(time);
  const known = best(position);
  return known ? microsAt(known, position) : Number.NaN;
});

/** What the columns tell of the moment of the slider: it is there at once, while the state itself is on its way. */
export const coarse = computed(() => {
  const { position } = store.place.value;
  const known = best(position);
  return known && coarseAt(known, position);
});

function best(position: number): Timeline | undefined {
  const near = part.value;
  return near && position >= near.from.position && position <= near.to.position ? near : whole.value;
}

/** The last record at a time, as exactly as the columns tell. */
export function recordAt(micros: number): number | undefined {
  const near = part.peek();
  if (near) {
    const span = rangeOf(near);
    if (micros >= span.from && micros <= span.to) return positionAt(near, micros);
  }
  const all = whole.peek();
  return all && positionAt(all, micros);
}

let wholeAborter: AbortController | undefined;
let wholeAsked = 0;
let wholeLater: ReturnType<typeof setTimeout> | undefined;

async function load(query: Record<string, string | number | undefined>, aborter: AbortController): Promise<Timeline | undefined> {
  try {
    const timeline = await fetchJson<Timeline>(addressOf('timeline', { buckets: columnsAsked, domain: store.domain.peek(), ...query }), {
      signal: aborter.signal,
    });
    timelineMessage.value = '';
    return timeline;
  } catch (error) {
    if (!aborter.signal.aborted) timelineMessage.value = error instanceof Error ? error.message : String(error);
    return undefined;
  }
}

async function loadWhole(): Promise<void> {
  wholeAborter?.abort();
  const aborter = (wholeAborter = new AbortController());
  wholeAsked = performance.now();
  const branch = store.branch.peek();
  const timeline = await load({ branch }, aborter);
  if (aborter.signal.aborted || !timeline) return;
  whole.value = timeline;
  if (branch) {
    const before = await load({}, aborter);
    if (!aborter.signal.aborted) original.value = before;
  } else {
    original.value = undefined;
  }
}

/** Asks again, but not more often than every so many milliseconds. */
function loadWholeSoon(pause: number): void {
  clearTimeout(wholeLater);
  wholeLater = setTimeout(() => void loadWhole(), Math.max(0, wholeAsked + pause - performance.now()));
}

let partAborter: AbortController | undefined;
let partLater: ReturnType<typeof setTimeout> | undefined;

/** Keeps the timelines up to date. Called once. */
export function followTimeline(): void {
  effect(() => {
    // A new log, domain, branch or audience: everything anew.
    void [store.signIns.value, store.domain.value, store.branch.value];
    if (!store.log.value) return;
    if (whole.peek() === undefined || lastKey !== key()) {
      lastKey = key();
      whole.value = part.value = range.value = undefined;
      void loadWhole();
    }
  });
  effect(() => {
    // The log grows.
    const latest = store.log.value?.latest.position;
    const known = whole.peek()?.to.position;
    if (latest !== undefined && known !== undefined && latest > known && !store.branch.peek()) loadWholeSoon(4000);
  });
  effect(() => {
    if (store.indexed.value) loadWholeSoon(700);
  });
  effect(() => {
    const wanted = range.value;
    clearTimeout(partLater);
    partAborter?.abort();
    if (!wanted) {
      part.value = undefined;
      return;
    }
    partLater = setTimeout(() => {
      const all = whole.peek();
      if (!all) return;
      const aborter = (partAborter = new AbortController());
      const query = {
        from: positionAt(all, wanted.from),
        to: Math.max(positionAt(all, wanted.to), positionAt(all, wanted.from) + 1),
        branch: store.branch.peek(),
      };
      void load(query, aborter).then((timeline) => {
        if (!aborter.signal.aborted && timeline) part.value = timeline;
      });
    }, 120);
  });
}

let lastKey = '';
function key(): string {
  return [store.signIns.peek(), store.domain.peek(), store.branch.peek()].join(' ');
}
