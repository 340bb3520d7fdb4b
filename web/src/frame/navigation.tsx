// The views at the left; under "Queues" the tree of cohorts, folded as one left it.
import { signal } from '@preact/signals';
import { useView } from '../api/client.js';
import type { Cohorts, TreeNode } from '../api/types.js';
import * as store from '../state/store.js';
import { formatCount, visible } from '../ui/format.js';
import { views } from '../views/registry.js';

const mostLines = 200;
const unfoldedUpTo = 40; // nodes in all, at first
const folded = signal<Record<string, boolean>>({});
const treeShown = signal(true);

export function Navigation() {
  const { view } = store.route.value;
  return (
    <nav class="navigation" aria-label="Views">
      <ul class="nav-list" onClick={() => (store.navOpen.value = false)}>
        {Object.entries(views)
          .filter(([, entry]) => entry.inNavigation)
          .map(([name, entry]) => (
            <li key={name}>
              <div class="nav-line">
                <a
                  href={store.hrefOf({ view: name, parts: [], query: {} })}
                  aria-current={view === name ? 'page' : undefined}
                  class={views[view]?.under === name ? 'under' : undefined}
                  title={entry.letter ? `${entry.title} (g ${entry.letter})` : entry.title}
                >
                  {entry.title}
                </a>
                {name === 'queues' && (
                  <button
                    class="nav-fold"
                    aria-expanded={treeShown.value}
                    aria-label="Tree of queues"
                    onClick={(event) => {
                      event.stopPropagation();
                      treeShown.value = !treeShown.value;
                    }}
                  >
                    {treeShown.value ? '▾' : '▸'}
                  </button>
                )}
              </div>
              {name === 'queues' && treeShown.value && <QueueTree />}
            </li>
          ))}
      </ul>
    </nav>
  );
}

interface Line {
  node: TreeNode;
  depth: number;
  key: string;
  open: boolean;
}

function QueueTree() {
  const cohorts = useView<Cohorts>('cohorts');
  if (!cohorts.data) return null;
  const roots = cohorts.data.roots;
  const unfolded = countOf(roots, unfoldedUpTo) <= unfoldedUpTo;
  const lines: Line[] = [];
  let more = 0;
  const add = (nodes: TreeNode[], depth: number, path: string) => {
    for (const node of nodes) {
      const key = `${path}/${node.kind}:${node.name}`;
      const open = !(folded.value[key] ?? !unfolded);
      if (lines.length >= mostLines) more += 1;
      else lines.push({ node, depth, key, open });
      if (open) add(node.children, depth + 1, key);
    }
  };
  add(roots, 0, '');
  return (
    <ul class="nav-tree" aria-label="Cohorts and queues">
      {lines.map(({ key, ...line }) => (
        <TreeLine key={key} path={key} {...line} />
      ))}
      {more > 0 && (
        <li class="nav-more">
          <a href={store.hrefOf({ view: 'queues', parts: [], query: {} })}>{more} more</a>
        </li>
      )}
    </ul>
  );
}

function TreeLine({ node, depth, path, open }: Omit<Line, 'key'> & { path: string }) {
  const { view, parts } = store.route.value;
  const isCohort = node.kind === 'Cohort';
  const name = isCohort ? 'queues' : 'queue';
  const current = view === name && parts[0] === node.name;
  const main = mostUsed(node);
  const told = main
    ? `${main.used.text} of ${main.nominal.text} ${main.resource} (${main.flavor}) used, ${node.waiting} waiting`
    : `${node.waiting} waiting`;
  return (
    <li>
      <div class="nav-line" style={{ paddingInlineStart: `${Math.min(depth, 6) * 12}px` }}>
        {node.children.length > 0 ? (
          <button
            class="nav-fold"
            aria-expanded={open}
            aria-label={`${node.kind} ${visible(node.name)}`}
            onClick={(event) => {
              event.stopPropagation();
              folded.value = { ...folded.value, [path]: open };
            }}
          >
            {open ? '▾' : '▸'}
          </button>
        ) : (
          <span class="nav-fold" />
        )}
        <a
          href={store.hrefOf({ kind: node.kind, name: node.name })}
          aria-current={current ? 'page' : undefined}
          title={`${node.kind} ${visible(node.name)}: ${told}${node.active ? '' : ', not active'}`}
          class={node.active ? undefined : 'inactive'}
        >
          <bdi>{visible(node.name)}</bdi>
        </a>
        <span class="nav-figure" aria-hidden="true" title={told}>
          {node.waiting > 0 && <span class="nav-waiting">{formatCount(node.waiting)}</span>}
          {main && `${main.used.text}/${main.nominal.text}`}
        </span>
      </div>
    </li>
  );
}

/** The quota of which the greatest part is used: the one that decides. */
function mostUsed(node: TreeNode) {
  let most: TreeNode['quota'][number] | undefined;
  const share = (bar: TreeNode['quota'][number]) => (bar.nominal.value > 0 ? bar.used.value / bar.nominal.value : 0);
  for (const bar of node.quota) if (!most || share(bar) > share(most)) most = bar;
  return most;
}

function countOf(nodes: TreeNode[], enough: number): number {
  let sum = 0;
  for (const node of nodes) {
    sum += 1 + countOf(node.children, enough);
    if (sum > enough) break;
  }
  return sum;
}
