// The connection: the log's description at first, then its stream of events. A server that goes away is waited for, and nothing on the screen
// is taken away meanwhile.
import { effect } from '@preact/signals';
import { addressOf, fetchJson, forgetAnswers, Refusal } from '../api/client.js';
import type { Branch, LogInfo, Place } from '../api/types.js';
import * as store from './store.js';

const newestEvery = 1000; // ms: views that follow "now" ask again no more often

let stream: EventSource | undefined;
let retry: ReturnType<typeof setTimeout> | undefined;
let pause = 1000;
let newest: Place | undefined;
let trouble = '';
let newestTimer: ReturnType<typeof setTimeout> | undefined;

/** Begins, and goes on until the page is closed. Called once. */
export function followLog(): void {
  void connect();
  effect(() => {
    if (store.missed.value > 0 && store.connection.peek() === 'open') lost();
  });
  effect(() => {
    const domain = store.domain.value;
    if (store.log.peek() && domain !== store.log.peek()?.domain) void connect();
  });
  effect(() => {
    const id = store.branch.value;
    if (!id) {
      store.branchInfo.value = undefined;
      return;
    }
    if (store.branchInfo.peek()?.id === id) return;
    fetchJson<Branch>(addressOf(`branches/${encodeURIComponent(id)}`, {})).then(
      (branch) => (store.branchInfo.value = branch),
      (error) => (store.notice.value = `The branch ${id} cannot be shown: ${error instanceof Error ? error.message : String(error)}`),
    );
  });
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) showNewest();
  });
}

async function connect(): Promise<void> {
  clearTimeout(retry);
  stream?.close();
  try {
    store.log.value = await fetchJson<LogInfo>(addressOf('log', { domain: store.domain.peek() }));
  } catch (error) {
    if (error instanceof Refusal && error.status === 401) {
      store.connection.value = 'signedOut';
      return;
    }
    if (error instanceof Refusal && error.status >= 400 && error.status !== 502 && error.status !== 503) store.notice.value = error.message;
    lost();
    return;
  }
  store.notice.value = '';
  open();
}

function open(): void {
  const source = new EventSource(addressOf('live', { domain: store.domain.peek() }));
  stream = source;
  source.onopen = () => {
    pause = 1000;
    store.connection.value = 'open';
  };
  source.addEventListener('latest', (event) => {
    newest = read<Place>(event);
    if (store.notice.peek() === trouble) store.notice.value = '';
    if (!newestTimer) showNewest();
  });
  source.addEventListener('trouble', (event) => {
    trouble = `The end of the log cannot be read: ${read<{ message: string }>(event)?.message ?? ''}`;
    store.notice.value = trouble;
  });
  source.addEventListener('index', (event) => {
    const told = read<{ scannedTo: number; of: number }>(event);
    store.indexed.value = told;
  });
  source.addEventListener('branch', (event) => {
    const branch = read<Branch>(event);
    store.branchNews.value = branch;
    if (branch && branch.id === store.branch.peek()) store.branchInfo.value = branch;
  });
  source.onerror = () => {
    if (source === stream) lost();
  };
}

function lost(): void {
  stream?.close();
  stream = undefined;
  if (store.connection.peek() !== 'signedOut') store.connection.value = 'gone';
  clearTimeout(retry);
  retry = setTimeout(() => void connect(), pause);
  pause = Math.min(pause * 1.6, 8000);
}

/** Asks now instead of when the pause is over. */
export function connectNow(): void {
  pause = 1000;
  void connect();
}

/** At most once a second, and not while nobody looks. */
function showNewest(): void {
  newestTimer = undefined;
  const log = store.log.peek();
  if (!newest || !log || document.hidden) return;
  if (newest.position === log.latest.position) return;
  store.log.value = { ...log, latest: newest };
  newestTimer = setTimeout(showNewest, newestEvery);
}

function read<T>(event: Event): T | undefined {
  try {
    return JSON.parse((event as MessageEvent<string>).data) as T;
  } catch {
    return undefined;
  }
}

/** Signs in with a token; the server keeps it in a cookie that scripts cannot read. Errors: Refusal. */
export async function signIn(token: string): Promise<void> {
  await fetchJson<unknown>(addressOf('session', {}), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Hindsight-Page': '1' },
    body: JSON.stringify({ token }),
  });
  forgetAnswers();
  store.signedIn.value = true;
  store.keep('signedIn', 'yes');
  store.connection.value = 'connecting';
  store.signIns.value += 1;
  await connect();
}

/** Ends the session. What was shown goes with it. */
export async function signOut(): Promise<void> {
  stream?.close();
  clearTimeout(retry);
  await fetchJson<unknown>(addressOf('session', {}), { method: 'DELETE', headers: { 'X-Hindsight-Page': '1' } }).catch(() => undefined);
  store.keep('signedIn', '');
  location.reload();
}
