// Where one is: the moment, the view, what is selected, and how it is shown. Views read the signals and call go(), moveTo() and select();
// nobody else writes them. Moving in time never changes the view, and changing the view never moves in time.
import { batch, computed, signal } from '@preact/signals';
import type { Branch, LogInfo, ObjectRef, Place } from '../api/types.js';
export type { Moment } from './address.js';
import { formatAddress, parseAddress, routeOf, sameRef, type Address, type Moment, type Route } from './address.js';

export type Theme = 'auto' | 'light' | 'dark';
export type Connection = 'connecting' | 'open' | 'gone' | 'signedOut';

const address = signal<Address>(parseAddress(typeof location === 'undefined' ? '' : location.hash));

/** The log that is looked at; undefined until the first answer. */
export const log = signal<LogInfo | undefined>(undefined);
/** How the stream of events is doing. */
export const connection = signal<Connection>('connecting');
/** Whether somebody signed in here; the session itself is a cookie that scripts do not see. */
export const signedIn = signal<boolean>(stored<string>('signedIn', '') === 'yes');
/** Counts up when somebody signed in: all views ask again. */
export const signIns = signal(0);
/** Counts up when a question got no answer at all: the watch over the connection looks at once. */
export const missed = signal(0);
/** A sentence at the bottom of the page; '' for none. */
export const notice = signal('');
/** The branch that was last told to have changed (GET live), and the one that is looked at. */
export const branchNews = signal<Branch | undefined>(undefined);
export const branchInfo = signal<Branch | undefined>(undefined);
/** How far the timeline of the whole history is read; undefined: all of it. */
export const indexed = signal<{ scannedTo: number; of: number } | undefined>(undefined);

/** The position one asked for, or 'now' to follow the newest record. */
export const at = computed<Moment>(() => address.value.at);
/** The view, its parts and its filters. */
export const route = computed<Route>(() => address.value.route);
export const branch = computed(() => address.value.branch);
export const domain = computed(() => address.value.domain);
/** What the panel at the right explains. It stays through time, also where the object does not exist. */
export const selected = computed<ObjectRef | undefined>((): ObjectRef | undefined => {
  const next = address.value.selected;
  return sameRef(next, lastSelected) ? lastSelected : (lastSelected = next);
});
let lastSelected: ObjectRef | undefined;

/** Times of positions that some answer told; the address holds only the position. */
const knownTime = signal<Place>({ position: 0, time: '' });
/** Where one is, as the answers see it. `time` is empty until it is known. */
export const place = computed<Place>(() => {
  const wanted = at.value;
  const latest = branch.value ? branchInfo.value?.latest : log.value?.latest;
  if (wanted === 'now') return latest ?? { position: 0, time: '' };
  if (knownTime.value.position === wanted) return knownTime.value;
  return { position: wanted, time: wanted === latest?.position ? latest.time : '' };
});
/** An answer tells when the record at the present position was written. */
export function learnTime(told: Place): void {
  if (told.time && told.position === at.peek() && knownTime.peek().time !== told.time)
    knownTime.value = { position: told.position, time: told.time };
}

export const theme = signal<Theme>(stored<Theme>('theme', 'auto', ['auto', 'light', 'dark']));
/** 'UTC', 'local', or an IANA name. */
const prefersDark = signal(typeof matchMedia !== 'undefined' && matchMedia('(prefers-color-scheme: dark)').matches);
/** Whether the page is dark just now. */
export const darkNow = computed(() => theme.value === 'dark' || (theme.value === 'auto' && prefersDark.value));
export const zone = signal<string>(stored('zone', 'UTC'));
/** Below this width the explanation floats over the view, and is closed until one asks for it. */
export const wideFrom = 1200;
const isWide = () => typeof innerWidth === 'undefined' || innerWidth >= wideFrom;
export const panelOpen = signal<boolean>(isWide() && stored('panel', 'open') === 'open');
/** Opens or closes the explanation; a choice on a wide screen is kept. */
export function showPanel(open: boolean): void {
  panelOpen.value = open;
  if (isWide()) keep('panel', open ? 'open' : 'closed');
}
export const navOpen = signal<boolean>(false); // on narrow screens only
export const keysOpen = signal<boolean>(false);

/** Opens a view; the moment, the branch and the selection stay. `query` replaces the filters. */
export function go(view: string, parts: string[] = [], query: Record<string, string> = {}): void {
  set({ ...address.peek(), route: { view, parts, query } }, 'push');
}

/** Opens the view of an object and selects it. */
export function goTo(ref: ObjectRef): void {
  set({ ...address.peek(), route: routeOf(ref), selected: ref }, 'push');
}

/** Opens an address of the page (`#/queue/team-a?at=17`); without `at` the moment stays. */
export function goToAddress(hash: string): void {
  const next = parseAddress(hash);
  const held = address.peek();
  set({ ...held, ...next, at: /[?&]at=/.test(hash) ? next.at : held.at }, 'push');
}

/** Changes filters of the present view; undefined or '' takes one away. */
export function filter(changes: Record<string, string | undefined>): void {
  const now = address.peek();
  const query: Record<string, string> = { ...now.route.query };
  for (const [name, value] of Object.entries(changes)) {
    if (value) query[name] = value;
    else delete query[name];
  }
  set({ ...now, route: { ...now.route, query } }, 'replace');
}

export function select(ref: ObjectRef | undefined): void {
  const { selected: _, ...rest } = address.peek();
  set(ref ? { ...rest, selected: ref } : rest, 'replace');
}

/** Moves in time. While the slider is dragged (`settled` false) the browser's history is left alone. */
export function moveTo(moment: Moment, options: { time?: string; settled?: boolean } = {}): void {
  batch(() => {
    if (options.time && moment !== 'now') knownTime.value = { position: moment, time: options.time };
    set({ ...address.peek(), at: moment }, options.settled === false ? 'quiet' : 'push');
  });
}

/** Looks at a branch (what would have been) or, with undefined, at what was. */
export function lookAtBranch(id: string | undefined): void {
  const { branch: _, ...rest } = address.peek();
  set(id ? { ...rest, branch: id } : rest, 'push');
}

export function lookAtDomain(name: string): void {
  set({ ...address.peek(), domain: name }, 'push');
}

/** The address of something, for links (`href`); the moment, branch and selection are those of now. Reads signals: links follow. */
export function hrefOf(target: Route | ObjectRef): string {
  const now = address.value;
  if ('view' in target) return formatAddress({ ...now, route: target });
  return formatAddress({ ...now, route: routeOf(target), selected: target });
}

/** The same view at another moment, for links to a record's moment. */
export function hrefAt(moment: Moment): string {
  return formatAddress({ ...address.value, at: moment });
}

/** The whole address, with the exact position instead of "now": what a colleague shall see. */
export function shareAddress(): string {
  const now = address.peek();
  return location.href.split('#')[0] + formatAddress({ ...now, at: place.peek().position || now.at });
}

export function keep(name: 'theme' | 'zone' | 'panel' | 'signedIn' | `columns.${string}`, value: string): void {
  try {
    localStorage.setItem(`hindsight.${name}`, value);
  } catch {
    // Without storage a choice lasts as long as the page.
  }
}

export function stored<T extends string>(name: string, otherwise: T, allowed?: readonly T[]): T {
  try {
    const value = localStorage.getItem(`hindsight.${name}`) as T | null;
    return value !== null && (!allowed || allowed.includes(value)) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

/** Follows the browser's back and forward buttons, and links. Called once. */
export function followAddress(): void {
  addEventListener('hashchange', () => {
    const next = parseAddress(location.hash);
    if (formatAddress(next) !== formatAddress(address.peek())) address.value = next;
  });
  history.replaceState(null, '', formatAddress(address.peek()));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', (event) => (prefersDark.value = event.matches));
}

let writeLater: ReturnType<typeof setTimeout> | undefined;

function set(next: Address, how: 'push' | 'replace' | 'quiet'): void {
  const before = formatAddress(address.peek());
  const after = formatAddress(next);
  clearTimeout(writeLater);
  if (before !== after) address.value = next;
  if (how === 'quiet') {
    // Browsers refuse hundreds of writes a minute; the last one of a drag counts.
    writeLater = setTimeout(() => history.replaceState(null, '', after), 300);
  } else if (how === 'push' && location.hash !== after) {
    history.pushState(null, '', after);
  } else {
    history.replaceState(null, '', after);
  }
}
