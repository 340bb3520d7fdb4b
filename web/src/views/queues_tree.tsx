// The bars: one row a node, moved through with the arrow keys as any tree.
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { QuotaBar, TreeNode } from '../api/types.js';
import { commonFold, oneScale, ownScale, type QuotaNumbers } from '../draw/bars.js';
import { barExplanation, pairText, shortResource, type Pair } from '../draw/quota_words.js';
import { treeKey, treeRows, type TreeRow } from '../draw/tree_rows.js';
import { refText, sameRef } from '../state/address.js';
import { goTo, hrefOf, select, selected } from '../state/store.js';
import { AmountOf } from '../ui/amount.js';
import { QuotaBarView } from '../ui/bar.js';
import { formatCount } from '../ui/format.js';
import { Kind, Name } from '../ui/name.js';

const refOf = (node: TreeNode) => ({ kind: node.kind, name: node.name });
const keyOf = (node: TreeNode): string => refText(refOf(node));

export function QueueTree(props: { roots: TreeNode[]; pair: Pair | undefined; oneScale: boolean; openLevels: number }) {
  const { roots, pair, openLevels } = props;
  // Only what somebody opened or closed is kept: a node that comes later is as its level says.
  const toggled = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const current = useSignal('');
  const list = useRef<HTMLDivElement>(null);
  const focusWanted = useRef(false);

  const rows = treeRows(roots, keyOf, (key, level) => toggled.value.get(key) ?? level <= openLevels);
  const barsOf = (node: TreeNode): QuotaBar[] => (pair ? node.quota.filter((b) => b.flavor === pair.flavor && b.resource === pair.resource) : node.quota);
  const scales = scalesOf(rows.flatMap((row) => barsOf(row.node)), props.oneScale);
  const shares = rows.some((row) => row.node.share !== undefined);
  const at = Math.max(0, rows.findIndex((row) => row.key === current.value));

  useLayoutEffect(() => {
    if (!focusWanted.current) return;
    focusWanted.current = false;
    list.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus();
  });

  const setOpen = (key: string, open: boolean): void => {
    toggled.value = new Map(toggled.value).set(key, open);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const row = rows[at];
    if (row && event.key === 'Enter') goTo(refOf(row.node));
    else if (row && event.key === ' ') select(refOf(row.node));
    else {
      const move = treeKey(rows, at, event.key);
      if (!move) return;
      if ('to' in move) current.value = rows[move.to]?.key ?? '';
      else if ('open' in move) setOpen(move.open, true);
      else setOpen(move.close, false);
      focusWanted.current = true;
    }
    event.preventDefault();
    event.stopPropagation(); // the arrows do not move in time here
  };

  return (
    <div class={`queue-tree${shares ? ' with-share' : ''}`}>
      <div class="queue-row queue-head" aria-hidden="true">
        <span>Cohort or ClusterQueue</span>
        <span class="figure" title="Workloads that wait for quota in it and below it">Waiting</span>
        <span class="figure" title="Workloads that hold quota and are admitted in it and below it">Admitted</span>
        {shares && <span class="figure" title="Weighted share of Fair Sharing: how far it is above its part of the Cohort">Share</span>}
        <span>{pair ? pairText(pair) : 'Quota by flavor and resource'}</span>
      </div>
      <div role="tree" aria-label="Cohorts and ClusterQueues" ref={list} onKeyDown={onKeyDown}>
        {rows.map((row, i) => (
          <Row key={row.key} row={row} bars={barsOf(row.node)} one={pair !== undefined} scales={scales} shares={shares} current={i === at} setOpen={setOpen} onCurrent={() => (current.value = row.key)} />
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  row: TreeRow<TreeNode>;
  bars: QuotaBar[];
  one: boolean;
  scales: (bar: QuotaBar) => number;
  shares: boolean;
  current: boolean;
  setOpen: (key: string, open: boolean) => void;
  onCurrent: () => void;
}

function Row({ row, bars, one, scales, shares, current, setOpen, onCurrent }: RowProps) {
  const { node } = row;
  const ref = refOf(node);
  const waits = hrefOf(ref);
  return (
    <div
      class="queue-row"
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.place}
      aria-setsize={row.siblings}
      aria-expanded={row.open}
      aria-selected={sameRef(selected.value, ref)}
      tabIndex={current ? 0 : -1}
      onFocus={onCurrent}
      onClick={(event) => {
        if (!(event.target as Element).closest('a, button')) select(ref);
      }}
    >
      <span class="queue-name" style={{ paddingInlineStart: `${(Math.min(row.level, 12) - 1) * 20}px` }}>
        {row.open === undefined ? (
          <span class="queue-twist" />
        ) : (
          <button class="queue-twist" tabIndex={-1} aria-hidden="true" onClick={() => setOpen(row.key, !row.open)}>
            {row.open ? '▾' : '▸'}
          </button>
        )}
        <a href={hrefOf(ref)} tabIndex={-1}>
          <Name text={node.name} />
        </a>
        {node.kind === 'Cohort' ? <Kind of="Cohort" /> : <span class="unseen">ClusterQueue</span>}
        {!node.active && <span class="queue-stopped" title="It admits nothing: its Active condition is False. The reason is in its explanation.">⏻ not active</span>}
      </span>
      <a class={`figure${node.waiting === 0 ? ' nothing' : ''}`} href={waits} tabIndex={-1} title="Workloads that wait for quota in it and below it">
        {formatCount(node.waiting)}
        <span class="queue-unit"> waiting</span>
      </a>
      <span class={`figure${node.admitted === 0 ? ' nothing' : ''}`} title="Workloads that are admitted in it and below it">
        {formatCount(node.admitted)}
        <span class="queue-unit"> admitted</span>
      </span>
      {shares && (
        <span class="figure queue-share" title="Weighted share of Fair Sharing">
          {node.share ?? ''}
          <span class="queue-unit"> share</span>
        </span>
      )}
      <div class="queue-bars">
        {bars.map((bar) => (
          <div class="queue-bar" key={pairText(bar)} title={barExplanation(bar)}>
            {!one && <span class="queue-pair"><bdi>{`${bar.flavor}/${shortResource(bar.resource)}`}</bdi></span>}
            <QuotaBarView bar={bar} scale={scales(bar)} />
            <AmountOf of={bar.used} nominal={bar.nominal} />
          </div>
        ))}
        {bars.length === 0 && <span class="nothing">{one ? 'has no quota of it' : 'has no quota of its own'}</span>}
      </div>
    </div>
  );
}

const numbersOf = (bar: QuotaBar): QuotaNumbers => ({
  nominal: bar.nominal.value,
  used: bar.used.value,
  borrowed: bar.borrowed.value,
  limit: bar.limit?.value,
});

/** What the width of a bar stands for. With a scale of its own each, frames are equally long, and what is beyond them can be compared. */
function scalesOf(bars: QuotaBar[], one: boolean): (bar: QuotaBar) => number {
  if (!one) {
    const fold = commonFold(bars.map(numbersOf));
    return (bar) => ownScale(numbersOf(bar), fold);
  }
  const byPair = new Map<string, QuotaNumbers[]>();
  for (const bar of bars) {
    const key = pairText(bar);
    const known = byPair.get(key);
    if (known) known.push(numbersOf(bar));
    else byPair.set(key, [numbersOf(bar)]);
  }
  const whole = new Map([...byPair].map(([key, list]) => [key, oneScale(list)]));
  return (bar) => whole.get(pairText(bar)) ?? 1;
}
