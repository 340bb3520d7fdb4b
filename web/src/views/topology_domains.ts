// What is counted and listed of the domains of a topology. Pure.
import type { DomainNode } from '../api/types.js';

export interface DomainRow {
  path: string[];
  node: DomainNode;
}

/** All domains, parents first. */
export function domainRows(domains: readonly DomainNode[]): DomainRow[] {
  const rows: DomainRow[] = [];
  const add = (nodes: readonly DomainNode[], above: string[]): void => {
    for (const node of nodes) {
      const path = [...above, node.name];
      rows.push({ path, node });
      if (node.children) add(node.children, path);
    }
  };
  add(domains, []);
  return rows;
}

export function countHosts(domains: readonly DomainNode[]): number {
  return domains.reduce((sum, d) => sum + (d.children?.length ? countHosts(d.children) : 1), 0);
}

/** How many levels are there, at the first domain. */
export const depthOf = (domains: readonly DomainNode[]): number => (domains[0] ? 1 + depthOf(domains[0].children ?? []) : 0);

/** How many pods of the gang there are, on how many of the lowest domains. */
export function litBy(domains: readonly DomainNode[]): { pods: number; domains: number } {
  const sum = { pods: 0, domains: 0 };
  const add = (nodes: readonly DomainNode[]): void => {
    for (const node of nodes) {
      if (node.children?.length) add(node.children);
      else if (node.gang) {
        sum.pods += node.gang;
        sum.domains += 1;
      }
    }
  };
  add(domains);
  return sum;
}

/** Per mille of the resource of this index; with -1 of the one that is used most. */
export const useOf = (node: DomainNode, resource: number): number =>
  resource >= 0 ? (node.used[resource] ?? 0) : node.used.reduce((max, used) => Math.max(max, used), 0);

/** What is said of a domain when one points at it. */
export function domainSentence(node: DomainNode, resources: readonly string[], wouldGet: number): string {
  const parts = resources.map((resource, i) => `${resource} ${Math.round((node.used[i] ?? 0) / 10)} % in use`);
  if (!node.ready) parts.unshift('not ready');
  if (node.gang) parts.push(`${node.gang} ${node.gang === 1 ? 'pod' : 'pods'} of the gang`);
  if (wouldGet > 0) parts.push(`would get ${wouldGet} ${wouldGet === 1 ? 'pod' : 'pods'}`);
  return parts.join(', ');
}

/** Pods that each path would get, and each domain above it. The key is the path, its names joined by newlines. */
export function wouldGet(domains: readonly { path: string[]; pods: number }[]): Map<string, number> {
  const pods = new Map<string, number>();
  for (const domain of domains) {
    for (let length = 1; length <= domain.path.length; ++length) {
      const key = domain.path.slice(0, length).join('\n');
      pods.set(key, (pods.get(key) ?? 0) + domain.pods);
    }
  }
  return pods;
}
