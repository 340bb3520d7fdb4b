// Moving in time by steps, and playing.
import { signal } from '@preact/signals';
import { getPlain, Refusal } from '../api/client.js';
import type { Step } from '../api/types.js';
import { refText } from '../state/address.js';
import * as store from '../state/store.js';
import { placeMicros, recordAt, whole } from '../state/timeline.js';
import { rangeOf } from '../state/timescale.js';
import { formatCount, timeOf } from '../ui/format.js';

export type By = 'record' | 'decision' | 'event';

export const by = signal<By>('record');
/** What happened at the record that the last step came to; '' after another way of moving. */
export const stepText = signal('');
export const stepping = signal(false);

let queue: Promise<void> = Promise.resolve();
let waiting = 0;

/** One step; steps that are asked for meanwhile follow, but a key that is held down does not run on for long afterwards. */
export function step(direction: 'forward' | 'back', kind: By = by.peek()): Promise<void> {
  if (waiting >= 2) return queue;
  waiting += 1;
  queue = queue.then(() => stepNow(direction, kind)).finally(() => (waiting -= 1));
  return queue;
}

async function stepNow(direction: 'forward' | 'back', kind: By): Promise<void> {
  const object = store.selected.peek();
  if (kind === 'event' && !object) {
    stepText.value = 'Select an object first: steps by event go from one of its events to the next.';
    return;
  }
  const from = store.place.peek().position;
  stepping.value = true;
  try {
    const ask = (begin: number) =>
      getPlain<Step>('step', {
        from: begin,
        direction,
        by: kind,
        branch: store.branch.peek(),
        object: kind === 'event' && object ? refText(object) : undefined,
      });
    let next = await ask(from);
    // A long search is answered in pieces; who moves meanwhile wants it no more.
    while (next.scannedTo !== undefined && !next.found && store.place.peek().position === from) {
      stepText.value = `Searched up to record ${formatCount(next.scannedTo)}.`;
      next = await ask(next.scannedTo);
    }
    if (store.place.peek().position !== from) return;
    if (next.end && next.position === from) {
      stepText.value = direction === 'forward' ? 'There is no later one.' : 'There is no earlier one.';
      return;
    }
    store.moveTo(next.position, { time: next.time });
    stepText.value = next.text;
  } catch (error) {
    stepText.value = error instanceof Refusal ? error.message : String(error);
  } finally {
    stepping.value = false;
  }
}

export function toEdge(edge: 'first' | 'last'): void {
  const log = store.log.peek();
  if (edge === 'last') store.moveTo('now');
  else if (log) store.moveTo(log.first.position, { time: log.first.time });
}

// Playing -----------------------------------------------------------------------------------------------------------------------------------

export const speeds = [1, 10, 60, 600, 3600, 36_000];
export const speed = signal<number | undefined>(undefined); // undefined: chosen by the length of the history
export const playing = signal(false);

/** The speed that shows the whole history in at least twenty seconds. */
export function fittingSpeed(): number {
  const all = whole.value;
  if (!all) return 60;
  const { from, to } = rangeOf(all);
  const seconds = (to - from) / 1e6;
  return [...speeds].reverse().find((s) => seconds / s >= 20) ?? 1;
}

const frameMilliseconds = 200;
let player: ReturnType<typeof setInterval> | undefined;

export function togglePlay(): void {
  if (playing.peek()) return stopPlay();
  const all = whole.peek();
  if (!all) return;
  const { from, to } = rangeOf(all);
  let at = placeMicros.peek();
  if (store.at.peek() === 'now' || !(at < to)) at = from; // from the end one begins anew
  playing.value = true;
  stepText.value = '';
  let before = performance.now();
  let expected: store.Moment | undefined;
  player = setInterval(() => {
    // Whoever moves meanwhile is taken at their word.
    if (expected !== undefined && store.at.peek() !== expected) at = placeMicros.peek();
    const now = performance.now();
    at += (now - before) * 1000 * (speed.peek() ?? fittingSpeed());
    before = now;
    const position = recordAt(at);
    if (at >= to || position === undefined) {
      stopPlay();
      store.moveTo('now');
      return;
    }
    expected = position;
    store.moveTo(position, { time: timeOf(at), settled: false });
  }, frameMilliseconds);
}

export function stopPlay(): void {
  clearInterval(player);
  playing.value = false;
}
