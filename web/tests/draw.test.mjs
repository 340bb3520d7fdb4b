// What is computed of the drawings, without a browser.
import assert from 'node:assert/strict';
import test from 'node:test';
import { load } from './modules.mjs';

const {
  squarify, groupedTreemap, layOut, hit, walk, columnsOf, levels, drawArcs, busiestLanes, commonFold, ownScale, oneScale, treeRows, treeKey, countNodes, findNode, joined, epochLanes, pausesBefore,
  pairsOf, parsePair, barExplanation, shortResource, perCent,
} = await load('draw/treemap.ts', 'draw/squares.ts', 'draw/arcs.ts', 'draw/bars.ts', 'draw/tree_rows.ts', 'draw/curves.ts', 'draw/epochs.ts', 'draw/quota_words.ts');

const area = (box) => box.width * box.height;
const overlap = (a, b) => Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) * Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

test('areas of a treemap are to scale, fill the box and do not overlap', () => {
  const values = [6, 6, 4, 3, 2, 2, 1];
  const box = { x: 10, y: 20, width: 600, height: 400 };
  const boxes = squarify(values, box);
  values.forEach((value, i) => assert.ok(Math.abs(area(boxes[i]) - (value / 24) * area(box)) < 1e-6 * area(box), `area of ${value}`));
  for (const one of boxes) assert.ok(one.x >= 10 - 1e-9 && one.y >= 20 - 1e-9 && one.x + one.width <= 610 + 1e-6 && one.y + one.height <= 420 + 1e-6);
  for (let i = 0; i < boxes.length; ++i) for (let j = 0; j < i; ++j) assert.ok(overlap(boxes[i], boxes[j]) < 1e-6);
});

test('rectangles of a treemap stay near to squares', () => {
  const boxes = squarify(Array.from({ length: 100 }, (_, i) => 1 + (i % 7)), { x: 0, y: 0, width: 900, height: 500 });
  const worst = Math.max(...boxes.map((b) => Math.max(b.width / b.height, b.height / b.width)));
  assert.ok(worst < 4, `worst ratio ${worst}`);
});

test('a treemap leaves out what has no area, and draws nothing into an empty box', () => {
  const boxes = squarify([0, -3, NaN, Infinity, 5], { x: 0, y: 0, width: 10, height: 10 });
  assert.deepEqual(boxes.map((b) => area(b) > 0), [false, false, false, false, true]);
  assert.ok(squarify([1, 2], { x: 0, y: 0, width: 0, height: 10 }).every((b) => area(b) === 0));
  assert.deepEqual(squarify([], { x: 0, y: 0, width: 5, height: 5 }), []);
});

test('users lie inside their queue, below its head', () => {
  const drawn = groupedTreemap([[4, 2, 1], [], [3]], (v) => v, { x: 0, y: 0, width: 400, height: 300 });
  assert.deepEqual(drawn.map((g) => g.group), [0, 2]);
  for (const { box, cells, headed } of drawn)
    for (const cell of cells) {
      assert.ok(cell.box.x >= box.x && cell.box.y >= box.y + (headed ? 20 : 0));
      assert.ok(cell.box.x + cell.box.width <= box.x + box.width + 1e-6 && cell.box.y + cell.box.height <= box.y + box.height + 1e-6);
    }
});

const datacenter = (blocks, racks, hosts) =>
  Array.from({ length: blocks }, (_, b) => ({ name: `b${b}`, children: Array.from({ length: racks }, (_, r) => ({ name: `b${b}r${r}`, children: Array.from({ length: hosts }, (_, h) => ({ name: `b${b}r${r}h${h}` })) })) }));

test('20,000 hosts are laid without overlap, and each is found under its middle', () => {
  const layout = layOut(datacenter(20, 25, 40), 1200, 560);
  let hosts = 0;
  for (const laid of walk(layout.top)) {
    const { x, y, width, height } = laid.box;
    assert.ok(x >= 0 && y >= 0 && x + width <= 1200.001 && y + height <= layout.height + 0.001);
    if (laid.children.length > 0) continue;
    ++hosts;
    const path = hit(layout, x + width / 2, y + height / 2);
    assert.deepEqual(path.map((l) => l.depth), [0, 1, 2]);
    assert.equal(path[2], laid);
  }
  assert.equal(hosts, 20_000);
});

test('children of a domain do not overlap each other', () => {
  const layout = layOut(datacenter(3, 5, 7), 700, 500);
  for (const laid of [layout.top, ...walk(layout.top)])
    laid.children.forEach((a, i) => laid.children.slice(0, i).forEach((b) => assert.ok(overlap(a.box, b.box) < 1e-6)));
});

test('few hosts are drawn large, many small, and none gets lost where there is no room', () => {
  const few = layOut(datacenter(1, 2, 4), 900, 560);
  const many = layOut(datacenter(8, 16, 32), 900, 560);
  assert.ok(few.host > many.host);
  const crowded = layOut(datacenter(4, 10, 40), 200, 100);
  assert.equal([...walk(crowded.top)].filter((l) => l.children.length === 0).length, 1600);
  assert.ok(crowded.height > 100);
});

test('between squares, and beside all of them, nothing is hit', () => {
  const layout = layOut(datacenter(2, 2, 2), 600, 400);
  assert.deepEqual(hit(layout, -5, 5), []);
  assert.deepEqual(hit(layout, 5, layout.height + 50), []);
  const block = layout.top.children[0];
  assert.equal(hit(layout, block.box.x + 1, block.box.y + 1).length, 1);
  assert.deepEqual(hit(layOut([], 300, 300), 5, 5), []);
});

test('hosts without racks are one grid', () => {
  const layout = layOut(Array.from({ length: 500 }, (_, i) => ({ name: `n${i}` })), 800, 400);
  for (const laid of layout.top.children) assert.equal(hit(layout, laid.box.x + 1, laid.box.y + 1)[0], laid);
});

test('rows are filled as far as they can be', () => {
  assert.equal(columnsOf(1, 1), 1);
  assert.equal(columnsOf(3, 1), 3);
  assert.equal(4 % columnsOf(4, 1), 0);
  assert.equal(40 % columnsOf(40, 1), 0);
});

test('intervals of one level do not overlap, and the lowest free level is taken', () => {
  const intervals = [{ from: 0, to: 10 }, { from: 5, to: 8 }, { from: 8, to: 12 }, { from: 10, to: 20 }, { from: 11, to: 13 }];
  assert.deepEqual(levels(intervals, 10), [0, 1, 1, 0, 2]);
});

test('beyond the last level intervals share it', () => {
  const found = levels(Array.from({ length: 20 }, () => ({ from: 0, to: 5 })), 3);
  assert.equal(Math.max(...found), 2);
  assert.equal(found.filter((l) => l === 2).length, 18);
});

test('an arc goes from the lane of the preemptor to that of the victim, and its tail is the lost work', () => {
  const picture = drawArcs([{ time: 100, from: 'b', to: 'a', lost: 40 }, { time: 100, from: 'b', to: 'gone', lost: 0 }], ['a', 'b'], (t) => t);
  assert.equal(picture.arcs.length, 1);
  const [arc] = picture.arcs;
  const [a, b] = picture.lanes;
  assert.ok(arc.fromY > b.y && arc.fromY < b.y + b.height && arc.toY > a.y && arc.toY < a.y + a.height);
  assert.deepEqual([arc.lostFrom, arc.x], [60, 100]);
});

test('victims of one decision fan out', () => {
  const picture = drawArcs([1, 2, 3].map(() => ({ time: 50, from: 'a', to: 'a', lost: 0 })), ['a'], (t) => t);
  assert.equal(new Set(picture.arcs.map((arc) => arc.bow)).size, 3);
  assert.equal(new Set(picture.arcs.map((arc) => arc.toY)).size, 3);
});

test('the busiest lanes are drawn, and the others counted', () => {
  const items = [['a', 'b'], ['a', 'b'], ['c', 'c'], ['a', 'd']].map(([from, to]) => ({ time: 0, from, to, lost: 0 }));
  assert.deepEqual(busiestLanes(items, 2), { lanes: ['a', 'b'], leftOut: 2 });
});

test('bars of a scale of their own have frames of one length', () => {
  const bars = [{ nominal: 10, used: 15, borrowed: 5 }, { nominal: 100, used: 20, borrowed: 0, limit: 180 }, { nominal: 0, used: 4, borrowed: 4 }];
  const fold = commonFold(bars);
  assert.equal(fold, 1.8);
  assert.equal(10 / ownScale(bars[0], fold), 100 / ownScale(bars[1], fold));
  assert.equal(ownScale(bars[2], fold), 4);
  assert.equal(commonFold([{ nominal: 1, used: 900, borrowed: 899 }]), 3);
  assert.equal(oneScale(bars), 180);
  assert.equal(oneScale([]), 1);
});

const node = (name, ...children) => ({ name, kind: children.length ? 'Cohort' : 'ClusterQueue', children, quota: [] });
const tree = [node('root', node('left', node('l1'), node('l2')), node('right')), node('alone')];

test('rows of a tree know their place', () => {
  const rows = treeRows(tree, (n) => n.name, (key) => key !== 'left');
  assert.deepEqual(rows.map((r) => [r.key, r.level, r.place, r.siblings, r.open]), [['root', 1, 1, 2, true], ['left', 2, 1, 2, false], ['right', 2, 2, 2, undefined], ['alone', 1, 2, 2, undefined]]);
  assert.equal(countNodes(tree), 6);
  assert.equal(findNode(tree, (n) => n.name === 'l2').name, 'l2');
  assert.equal(findNode(tree, () => false), undefined);
});

test('arrow keys move in a tree as its pattern says', () => {
  const rows = treeRows(tree, (n) => n.name, (key) => key !== 'left');
  assert.deepEqual(treeKey(rows, 0, 'ArrowRight'), { to: 1 });
  assert.deepEqual(treeKey(rows, 1, 'ArrowRight'), { open: 'left' });
  assert.deepEqual(treeKey(rows, 1, 'ArrowLeft'), { to: 0 });
  assert.deepEqual(treeKey(rows, 0, 'ArrowLeft'), { close: 'root' });
  assert.deepEqual(treeKey(rows, 3, 'ArrowDown'), { to: 3 });
  assert.deepEqual(treeKey(rows, 3, 'Home'), { to: 0 });
  assert.deepEqual(treeKey(rows, 0, 'End'), { to: 3 });
  assert.equal(treeKey(rows, 2, 'ArrowRight'), undefined);
  assert.equal(treeKey(rows, 0, 'x'), undefined);
  assert.equal(treeKey([], 0, 'ArrowDown'), undefined);
});

test('two curves come on one axis, each as far as it goes', () => {
  assert.deepEqual(joined([{ time: [1, 3], values: [10, 30] }, { time: [2, 5], values: [null, 7] }]), { time: [1, 2, 3, 5], values: [[10, 10, 30, null], [null, null, null, 7]] });
  assert.deepEqual(joined([{ time: [], values: [] }]), { time: [], values: [[]] });
});

test('epochs are lanes of their nodes, with the pauses between them', () => {
  const at = (position, second) => ({ position, time: `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z` });
  const epochs = [{ epoch: 3, owner: 'a', from: at(20, 30) }, { epoch: 2, owner: 'b', from: at(10, 12), to: at(19, 25) }, { epoch: 1, owner: 'a', from: at(1, 0), to: at(9, 10) }];
  const end = Date.UTC(2026, 0, 1, 0, 0, 40) * 1000;
  const { lanes, leftOut } = epochLanes(epochs, end, 1);
  assert.equal(leftOut, 1);
  assert.deepEqual(lanes.map((l) => [l.name, l.spans.map((s) => (s.to - s.from) / 1e6), l.spans.at(-1).open]), [['a', [10, 10], true]]);
  assert.deepEqual([...pausesBefore(epochs)], [[2, 2e6], [3, 5e6]]);
});

test('bars are told in words', () => {
  const amount = (value) => ({ text: String(value), value });
  const bar = { flavor: 'f', resource: 'nvidia.com/gpu', nominal: amount(8), used: amount(10), own: amount(8), borrowed: amount(2), lent: amount(0), limit: amount(12) };
  assert.match(barExplanation(bar), /within its nominal quota 8 of 8\nborrowed 2: used − nominal quota\nlent 0: .*\nlimit 12: .*\nnothing of its nominal quota is free/);
  assert.deepEqual(pairsOf([{ ...node('q'), quota: [bar] }]), [{ flavor: 'f', resource: 'nvidia.com/gpu' }]);
  assert.deepEqual(parsePair('f/nvidia.com/gpu'), { flavor: 'f', resource: 'nvidia.com/gpu' });
  assert.equal(parsePair('nothing'), undefined);
  assert.equal(shortResource('nvidia.com/gpu'), 'gpu');
  assert.equal(perCent(1, 0), '–');
});
