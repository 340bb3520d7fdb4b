// A tree as the rows that are seen, and what the arrow keys do in it (the tree pattern of the ARIA Authoring Practices).

export interface Branching<T> {
  readonly children: readonly T[];
}

export interface TreeRow<T> {
  node: T;
  key: string;
  level: number; // from 1
  parent: number; // index of its row; -1: a root
  place: number; // among its siblings, from 1
  siblings: number;
  open: boolean | undefined; // undefined: it has no children
}

/** Rows of all nodes whose ancestors are open, from the top. */
export function treeRows<T extends Branching<T>>(roots: readonly T[], keyOf: (node: T) => string, isOpen: (key: string, level: number) => boolean): TreeRow<T>[] {
  const rows: TreeRow<T>[] = [];
  const add = (nodes: readonly T[], level: number, parent: number): void => {
    nodes.forEach((node, i) => {
      const key = keyOf(node);
      const open = node.children.length > 0 ? isOpen(key, level) : undefined;
      const row = rows.push({ node, key, level, parent, place: i + 1, siblings: nodes.length, open }) - 1;
      if (open) add(node.children, level + 1, row);
    });
  };
  add(roots, 1, -1);
  return rows;
}

export type TreeMove = { to: number } | { open: string } | { close: string } | undefined;

/** What a key does on the row of this index. */
export function treeKey<T>(rows: readonly TreeRow<T>[], index: number, key: string): TreeMove {
  const row = rows[index];
  if (!row) return rows.length > 0 ? { to: 0 } : undefined;
  switch (key) {
    case 'ArrowDown':
      return { to: Math.min(rows.length - 1, index + 1) };
    case 'ArrowUp':
      return { to: Math.max(0, index - 1) };
    case 'Home':
      return { to: 0 };
    case 'End':
      return { to: rows.length - 1 };
    case 'ArrowRight':
      return row.open === undefined ? undefined : row.open ? { to: index + 1 } : { open: row.key };
    case 'ArrowLeft':
      return row.open ? { close: row.key } : row.parent >= 0 ? { to: row.parent } : undefined;
    default:
      return undefined;
  }
}

export function countNodes<T extends Branching<T>>(roots: readonly T[]): number {
  return roots.reduce((sum, node) => sum + 1 + countNodes(node.children), 0);
}

/** The first node that is meant, with all below it. */
export function findNode<T extends Branching<T>>(roots: readonly T[], isIt: (node: T) => boolean): T | undefined {
  for (const node of roots) {
    const found = isIt(node) ? node : findNode(node.children, isIt);
    if (found) return found;
  }
  return undefined;
}
