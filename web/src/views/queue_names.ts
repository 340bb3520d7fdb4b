// Pure.
import type { TreeNode } from '../api/types.js';

/** The ClusterQueues of the trees, by name. */
export function queueNames(roots: readonly TreeNode[]): string[] {
  const names: string[] = [];
  const add = (nodes: readonly TreeNode[]): void => {
    for (const node of nodes) {
      if (node.kind === 'ClusterQueue') names.push(node.name);
      add(node.children);
    }
  };
  add(roots);
  return names.sort();
}
