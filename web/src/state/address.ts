// The page's address: `#/view/parts?at=POSITION|now&sel=KIND/NS/NAME&filters`. It alone holds the moment, the view and what is filtered, so a
// link shows a colleague the same. Pure: no browser is needed to test it.
import type { ObjectRef } from '../api/types.js';

export type Moment = number | 'now';

export interface Route {
  view: string;
  parts: string[];
  query: Record<string, string>; // filters of the view; without the words of `held`
}

/** What stays when the view changes: where one is in time (and in which log and branch), and what is selected. */
export interface Held {
  at: Moment;
  branch?: string;
  domain?: string;
  selected?: ObjectRef;
}

export interface Address extends Held {
  route: Route;
}

const heldWords = new Set(['at', 'branch', 'domain', 'sel']);
const namespaced = new Set(['Workload', 'LocalQueue', 'Pod', 'Job']);

/** KIND/NAME or KIND/NS/NAME, each part percent-encoded. */
export function refText(ref: ObjectRef): string {
  return [ref.kind, ...(ref.namespace ? [ref.namespace] : []), ref.name].map(encodeURIComponent).join('/');
}

export function parseRef(text: string): ObjectRef | undefined {
  const words = text.split('/').map(decoded);
  const [kind, second, third] = words;
  if (!kind || !second || words.length > 3) return undefined;
  if (third !== undefined) return third ? { kind, namespace: second, name: third } : undefined;
  return namespaced.has(kind) ? undefined : { kind, name: second };
}

export function sameRef(a: ObjectRef | undefined, b: ObjectRef | undefined): boolean {
  return a === b || (!!a && !!b && a.kind === b.kind && (a.namespace ?? '') === (b.namespace ?? '') && a.name === b.name);
}

/** Anything that is not understood is left out: an address comes from outside and never breaks the page. */
export function parseAddress(hash: string): Address {
  const text = hash.startsWith('#') ? hash.slice(1) : hash;
  const question = text.indexOf('?');
  const path = question < 0 ? text : text.slice(0, question);
  const words = new URLSearchParams(question < 0 ? '' : text.slice(question + 1));
  const [view = '', ...parts] = path.split('/').filter(Boolean).map(decoded);
  const query: Record<string, string> = {};
  for (const [name, value] of words) if (!heldWords.has(name) && value !== '') query[name] = value;
  const selected = parseRef(words.get('sel') ?? '');
  return {
    route: { view: view || 'overview', parts, query },
    at: parseMoment(words.get('at')),
    ...(words.get('branch') ? { branch: words.get('branch') as string } : {}),
    ...(words.get('domain') ? { domain: words.get('domain') as string } : {}),
    ...(selected ? { selected } : {}),
  };
}

export function formatAddress(address: Address): string {
  const words = new URLSearchParams();
  words.set('at', String(address.at));
  if (address.branch) words.set('branch', address.branch);
  if (address.domain) words.set('domain', address.domain);
  if (address.selected) words.set('sel', refText(address.selected));
  for (const name of Object.keys(address.route.query).sort()) {
    const value = address.route.query[name];
    if (value && !heldWords.has(name)) words.set(name, value);
  }
  // Slashes and colons are allowed in a fragment and are easier to read as they are.
  const query = words.toString().replaceAll('%2F', '/').replaceAll('%3A', ':');
  return `#/${[address.route.view, ...address.route.parts].map(encodeURIComponent).join('/')}?${query}`;
}

/** The view and parts that show an object; what has no view of its own is shown among the records. */
export function routeOf(ref: ObjectRef): Route {
  const filterName = ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
  switch (ref.kind) {
    case 'Workload':
      return { view: 'workload', parts: [ref.namespace ?? '', ref.name], query: {} };
    case 'ClusterQueue':
      return { view: 'queue', parts: [ref.name], query: {} };
    case 'Cohort':
      return { view: 'queues', parts: [ref.name], query: {} };
    case 'LocalQueue':
      return { view: 'object', parts: ['localqueues', ref.namespace ?? '', ref.name], query: {} };
    case 'ResourceFlavor':
      return { view: 'object', parts: ['resourceflavors', ref.name], query: {} };
    case 'AdmissionCheck':
      return { view: 'object', parts: ['admissionchecks', ref.name], query: {} };
    case 'WorkloadPriorityClass':
      return { view: 'object', parts: ['workloadpriorityclasses', ref.name], query: {} };
    case 'Topology':
      return { view: 'topology', parts: [ref.name], query: {} };
    default:
      return { view: 'records', parts: [], query: { filter: `object:${filterName}` } };
  }
}

function parseMoment(text: string | null): Moment {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 'now';
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
