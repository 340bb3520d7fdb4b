// Asks the API (types.ts). Every answer is of one moment: the store's place, branch and domain are added to each question of a view.
import { useSignal, useSignalEffect, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import * as store from '../state/store.js';
import type { ApiError, Place } from './types.js';

export const apiRoot = '/api/v1/';

/** What went wrong, in sentences for people. */
export class Refusal extends Error {
  constructor(
    readonly status: number, // 0: no answer came
    message: string,
    readonly remedy?: string,
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | boolean | undefined>;

/** What a view knows of its question. `data` stays, and `stale` is true, while a newer answer is on its way. */
export interface Seen<T> {
  data: T | undefined;
  state: 'loading' | 'ready' | 'broken' | 'forbidden' | 'absent'; // absent: no such object at this moment (404)
  stale: boolean;
  message: string; // of broken, forbidden and absent
  remedy?: string | undefined;
  again: () => void; // asks once more
}

export interface ViewOptions {
  /** False: the path and query alone say what is asked; the moment of the store is not added (timeline, compare, records). */
  atMoment?: boolean;
  /** False: do not ask (yet). */
  when?: boolean;
  /** Ask again when this changes, although the address is the same (a live index, a branch that runs). */
  version?: unknown;
}

/**
 * The answer to GET /api/v1/PATH at the moment of the store, asked again whenever one of them changes.
 * An answer of an exact moment never changes, so it is remembered (the last 200) and shown at once when one comes back to it.
 * While the slider is dragged at most one question is under way: states come as fast as they are answered, none is asked for in vain.
 */
export function useView<T>(path: string, query: Query = {}, options: ViewOptions = {}): Seen<T> {
  const { atMoment = true, when = true, version } = options;
  const wanted = JSON.stringify([path, query, atMoment, when]);
  const question = useSignal(wanted);
  const seen: Signal<Omit<Seen<T>, 'again'>> = useSignal({ data: undefined, state: 'loading', stale: false, message: '' });
  const round = useSignal(0);
  const courier = useMemo(() => new Courier<T>(seen), []);
  const first = useRef(true);
  // Before the next picture: what another object looked like is never drawn as this one's.
  useLayoutEffect(() => {
    if (question.peek() !== wanted) question.value = wanted;
  }, [wanted]);
  useEffect(() => {
    if (first.current) first.current = false;
    else round.value += 1;
  }, [version]);
  useSignalEffect(() => {
    const [askedPath, askedQuery, askedMoment, askedWhen] = JSON.parse(question.value) as [string, Query, boolean, boolean];
    const turn = round.value;
    if (store.signIns.value < 0 || !askedWhen) return;
    const address = askedMoment
      ? momentAddress(askedPath, askedQuery)
      : addressOf(askedPath, { ...askedQuery, domain: store.domain.value });
    if (address) courier.ask(address, askedPath, turn, askedMoment);
  });
  useEffect(() => () => courier.stop(), []);
  return { ...seen.value, again: () => (round.value += 1) };
}

/** One question of a view, under way or answered. */
class Courier<T> {
  private aborter: AbortController | undefined;
  private underWay: { address: string; path: string; since: number } | undefined;
  private next: { address: string; path: string; keep: boolean } | undefined;
  private last = '';
  private lastPath = '';
  private lastTurn = 0;
  private lastSignIn = 0;

  constructor(private readonly seen: Signal<Omit<Seen<T>, 'again'>>) {}

  ask(address: string, path: string, turn: number, keep: boolean): void {
    const fresh = turn !== this.lastTurn || this.lastSignIn !== store.signIns.peek();
    if (address === this.last && !fresh) return;
    this.last = address;
    this.lastTurn = turn;
    this.lastSignIn = store.signIns.peek();
    this.next = undefined;
    const known = keep && !fresh ? remembered.get(address) : undefined;
    if (known !== undefined) {
      this.drop();
      this.lastPath = path;
      this.show(known as T);
      return;
    }
    // The same question of another moment waits for the answer that is under way, if it has a chance to come soon.
    if (this.underWay && this.underWay.path === path && !fresh && performance.now() - this.underWay.since < patienceMilliseconds) {
      this.next = { address, path, keep };
      return;
    }
    void this.send(address, path, keep);
  }

  stop(): void {
    this.drop();
    this.next = undefined;
    this.last = '';
  }

  private drop(): void {
    this.aborter?.abort();
    this.aborter = undefined;
    this.underWay = undefined;
  }

  private async send(address: string, path: string, keep: boolean): Promise<void> {
    this.drop();
    const aborter = new AbortController();
    this.aborter = aborter;
    this.underWay = { address, path, since: performance.now() };
    const before = this.seen.peek();
    // What another object looked like is not shown as this one's.
    if (this.lastPath !== path) this.seen.value = { data: undefined, state: 'loading', stale: false, message: '' };
    else if (before.data !== undefined) this.seen.value = { ...before, stale: true };
    this.lastPath = path;
    try {
      const data = await shared<T>(address, aborter.signal);
      if (aborter.signal.aborted) return;
      if (keep) remember(address, data);
      this.underWay = undefined;
      this.show(data);
    } catch (error) {
      if (aborter.signal.aborted) return;
      this.underWay = undefined;
      this.fail(error);
    }
    const next = this.next;
    this.next = undefined;
    if (next) void this.send(next.address, next.path, next.keep);
  }

  private show(data: T): void {
    const told = data as Partial<Place> | null;
    if (told && typeof told.position === 'number' && typeof told.time === 'string')
      store.learnTime({ position: told.position, time: told.time });
    this.seen.value = { data, state: 'ready', stale: false, message: '' };
  }

  private fail(error: unknown): void {
    const refusal = error instanceof Refusal ? error : new Refusal(0, String(error));
    const state = refusal.status === 404 ? 'absent' : refusal.status === 401 || refusal.status === 403 ? 'forbidden' : 'broken';
    const before = this.seen.peek();
    // A server that is away for a moment takes nothing from the screen; the line at the bottom tells.
    if (refusal.status === 0 && before.data !== undefined) this.seen.value = { ...before, stale: true };
    else this.seen.value = { data: undefined, state, stale: false, message: refusal.message, remedy: refusal.remedy };
    this.last = '';
    if (refusal.status === 0) store.missed.value += 1;
  }
}

const patienceMilliseconds = 400;

interface Shared {
  answer: Promise<unknown>;
  askers: number;
  aborter: AbortController;
}
const sharedNow = new Map<string, Shared>();

/** Two parts of the page that ask the same at the same time share one answer; it is given up when nobody waits for it any more. */
function shared<T>(address: string, signal: AbortSignal): Promise<T> {
  let one = sharedNow.get(address);
  if (!one) {
    const aborter = new AbortController();
    const made: Shared = { aborter, askers: 0, answer: fetchJson<T>(address, { signal: aborter.signal }) };
    const forget = () => sharedNow.get(address) === made && sharedNow.delete(address);
    made.answer.then(forget, forget);
    sharedNow.set(address, (one = made));
  }
  const mine = one;
  mine.askers += 1;
  signal.addEventListener(
    'abort',
    () => {
      mine.askers -= 1;
      if (mine.askers > 0) return;
      mine.aborter.abort();
      if (sharedNow.get(address) === mine) sharedNow.delete(address);
    },
    { once: true },
  );
  return mine.answer as Promise<T>;
}

/** Asks once. Errors: Refusal. */
export async function fetchJson<T>(address: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(address, { credentials: 'same-origin', ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refusal(0, 'The server does not answer.', 'The page asks again by itself as soon as it does.');
  }
  if (response.status === 204) return undefined as T;
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    if (response.ok)
      throw new Refusal(
        502,
        'The answer is not JSON.',
        'Something between this page and hindsight answers in its place: look at the proxy.',
      );
  }
  if (response.ok) return body as T;
  const told = (body as ApiError | undefined)?.error;
  if (response.status === 401) store.connection.value = 'signedOut';
  throw new Refusal(response.status, told?.message || `The server answered ${response.status}.`, told?.remedy);
}

/** GET PATH at the present moment, once, for what is asked by a click. Errors: Refusal. */
export function get<T>(path: string, query: Query = {}): Promise<T> {
  return fetchJson<T>(momentAddress(path, query) ?? addressOf(path, query));
}

/** GET PATH with exactly this query (and the domain). Errors: Refusal. */
export function getPlain<T>(path: string, query: Query = {}): Promise<T> {
  return fetchJson<T>(addressOf(path, { ...query, domain: store.domain.peek() }));
}

/** POST or DELETE. Errors: Refusal. */
export function send<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> {
  return fetchJson<T>(addressOf(path, { domain: store.domain.peek() }), {
    method,
    headers: { 'X-Hindsight-Page': '1', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** /api/v1/PATH?query at the moment, branch and domain of the store; undefined: it is not known yet what "now" is. */
export function momentAddress(path: string, query: Query): string | undefined {
  const branch = store.branch.value;
  if (!store.log.value || (branch && store.at.value === 'now' && !store.branchInfo.value?.latest)) return undefined;
  const position = store.place.value.position || 'latest'; // of an empty log there is only "latest"
  return addressOf(path, { ...query, at: position, branch, domain: store.domain.value });
}

/** A path of names: each is percent-encoded. `pathOf('workloads', namespace, name)` */
export function pathOf(...names: string[]): string {
  return names.map(encodeURIComponent).join('/');
}

export function addressOf(path: string, query: Query): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') words.set(name, String(value));
  const text = words.toString();
  return apiRoot + path + (text ? `?${text}` : '');
}

const remembered = new Map<string, unknown>();
const rememberAtMost = 200;

function remember(address: string, data: unknown): void {
  remembered.delete(address);
  remembered.set(address, data);
  if (remembered.size > rememberAtMost) remembered.delete(remembered.keys().next().value as string);
}

/** After signing in as somebody else nothing that was told before may be shown. */
export function forgetAnswers(): void {
  remembered.clear();
}
