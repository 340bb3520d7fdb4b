// What is said about quota bars: which flavors and resources there are, and how a bar came about.
import type { QuotaBar, TreeNode } from '../api/types.js';

export interface Pair {
  flavor: string;
  resource: string;
}

/** "nvidia.com/gpu" is "gpu" where there is little room. */
export const shortResource = (resource: string): string => resource.slice(resource.lastIndexOf('/') + 1) || resource;

export const pairText = (pair: Pair): string => `${pair.flavor}/${pair.resource}`;

/** Each flavor and resource that occurs, in the order of the API; the ones of roots first. */
export function pairsOf(roots: readonly TreeNode[]): Pair[] {
  const found = new Map<string, Pair>();
  const add = (nodes: readonly TreeNode[]): void => {
    for (const node of nodes) for (const { flavor, resource } of node.quota) found.set(pairText({ flavor, resource }), { flavor, resource });
    for (const node of nodes) add(node.children);
  };
  add(roots);
  return [...found.values()];
}

/** The pair of a text as the address holds it. A resource may contain slashes, a flavor's name does not. */
export function parsePair(text: string | undefined): Pair | undefined {
  const slash = (text ?? '').indexOf('/');
  return slash > 0 ? { flavor: text!.slice(0, slash), resource: text!.slice(slash + 1) } : undefined;
}

/** How a bar came about, for who asks by hovering. */
export function barExplanation(bar: QuotaBar): string {
  const free = Math.max(0, bar.nominal.value - bar.own.value - bar.lent.value);
  return [
    `${bar.resource} of flavor ${bar.flavor}`,
    `used ${bar.used.text}: what all below it have reserved`,
    `within its nominal quota ${bar.own.text} of ${bar.nominal.text}`,
    `borrowed ${bar.borrowed.text}: used − nominal quota`,
    `lent ${bar.lent.text}: nominal quota that others of the Cohort use`,
    bar.limit ? `limit ${bar.limit.text}: nominal quota + borrowingLimit` : 'no borrowingLimit',
    free > 0 ? 'the empty part of the frame is free' : 'nothing of its nominal quota is free',
  ].join('\n');
}

export const perCent = (part: number, whole: number): string => (whole > 0 ? `${Math.round((100 * part) / whole)} %` : '–');
