// What needs no browser: addresses, times, figures, folding, files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './modules.mjs';

const m = await load(
  'state/address.ts',
  'state/timescale.ts',
  'ui/format.ts',
  'ui/csv.ts',
  'ui/words.ts',
  'why/linked.tsx',
  'why/why_workload.tsx',
  'views/workload_table.ts',
  'frame/search.tsx',
  'api/client.ts',
);

test('an address holds view, moment, filters and what is selected, and comes back the same', () => {
  const address = {
    at: 250,
    selected: { kind: 'Workload', namespace: 'team-a', name: 'job/with slash?&#%' },
    branch: 'b1',
    domain: 'prod',
    route: { view: 'workload', parts: ['team-a', '<img src=x>/"'], query: { phase: 'Pending', text: 'a&b=c' } },
  };
  const text = m.formatAddress(address);
  assert.deepEqual(m.parseAddress(text), address);
  assert.match(text, /^#\/workload\/team-a\//);
});

test('an address that nobody understands is the overview, now', () => {
  for (const text of ['', '#', '#/', '#/?at=-4', '#/?at=NaN&sel=%', '#//?at=1e9&sel=Workload/only-one', '#/?at=99999999999999999999']) {
    assert.deepEqual(m.parseAddress(text), { at: 'now', route: { view: 'overview', parts: [], query: {} } }, text);
  }
  assert.deepEqual(m.parseAddress('#/queue/%E0%A4%A').route.parts, ['%E0%A4%A']);
});

test('each kind of object has a view', () => {
  assert.deepEqual(m.routeOf({ kind: 'Workload', namespace: 'a', name: 'b' }), { view: 'workload', parts: ['a', 'b'], query: {} });
  assert.deepEqual(m.routeOf({ kind: 'ClusterQueue', name: 'q' }).view, 'queue');
  assert.deepEqual(m.routeOf({ kind: 'LocalQueue', namespace: 'a', name: 'jobs' }), { view: 'object', parts: ['localqueues', 'a', 'jobs'], query: {} });
  assert.deepEqual(m.routeOf({ kind: 'ResourceFlavor', name: 'spot' }).parts, ['resourceflavors', 'spot']);
  assert.deepEqual(m.routeOf({ kind: 'Node', name: 'n1' }).query, { filter: 'object:n1' });
});

test('names are compared with their namespace', () => {
  assert.ok(m.sameRef({ kind: 'Workload', namespace: 'a', name: 'x' }, { kind: 'Workload', namespace: 'a', name: 'x' }));
  assert.ok(!m.sameRef({ kind: 'Workload', namespace: 'a', name: 'x' }, { kind: 'Workload', namespace: 'b', name: 'x' }));
  assert.ok(!m.sameRef(undefined, { kind: 'ClusterQueue', name: 'x' }));
});

const columns = {
  from: { position: 1, time: '2026-01-01T00:00:00Z' },
  to: { position: 1000, time: '2026-01-01T00:01:40Z' },
  time: Array.from({ length: 10 }, (_, i) => Date.parse('2026-01-01T00:00:00Z') * 1000 + i * 10e6),
  position: [10, 10, 400, 500, 500, 600, 700, 800, 900, 1000],
};

test('time and record lead to each other, and neither leaves the log', () => {
  const { from, to } = m.rangeOf(columns);
  assert.equal(m.positionAt(columns, from - 1), 1);
  assert.equal(m.positionAt(columns, to + 1e9), 1000);
  assert.equal(m.positionAt(columns, from + 20e6), 10);
  assert.equal(m.positionAt(columns, from + 25e6), 205);
  let last = 0;
  for (let t = from; t <= to; t += 1e5) {
    const p = m.positionAt(columns, t);
    assert.ok(p >= last && p >= 1 && p <= 1000, `record ${p} at ${t}`);
    last = p;
  }
  for (const p of [1, 10, 11, 250, 400, 777, 1000])
    assert.ok(Math.abs(m.positionAt(columns, m.microsAt(columns, p)) - p) <= 1, `record ${p}`);
});

test('what was is told about by the column that a record falls into, and not where no column reaches', () => {
  const timeline = {
    time: [0, 10e6, 20e6],
    position: [10, 400, 1000],
    from: { position: 1, time: '2026-01-01T00:00:00Z' },
    to: { position: 1000, time: '2026-01-01T00:00:30Z' },
    scannedTo: 700,
    waiting: [3, null, 12],
    used: [500, 750, null],
  };
  assert.deepEqual(m.coarseAt(timeline, 1), { waiting: 3, usedPerMille: 500 });
  assert.deepEqual(m.coarseAt(timeline, 10), { waiting: 3, usedPerMille: 500 });
  assert.deepEqual(m.coarseAt(timeline, 11), { waiting: undefined, usedPerMille: 750 });
  assert.deepEqual(m.coarseAt(timeline, 700), { waiting: 12, usedPerMille: undefined });
  assert.equal(m.coarseAt(timeline, 701), undefined, 'the log is read only so far');
  assert.equal(m.coarseAt(timeline, 0), undefined);
  assert.equal(m.coarseAt({ ...timeline, scannedTo: 5000 }, 1001), undefined, 'the log has grown since');
});

test('a zoom keeps the time under the pointer and stays within the whole', () => {
  const whole = { from: 0, to: 1000 };
  const near = m.zoomed(whole, whole, 250, 0.5, 10);
  assert.deepEqual(near, { from: 125, to: 625 });
  assert.deepEqual(m.zoomed(near, whole, 250, 100, 10), whole);
  assert.equal(m.zoomed(near, whole, 250, 1e-9, 10).to - m.zoomed(near, whole, 250, 1e-9, 10).from, 10);
  assert.deepEqual(m.shifted(near, whole, 1e9), { from: 500, to: 1000 });
});

test('the column of a time is found at both ends', () => {
  assert.equal(m.indexBefore([10, 20, 30], 5), 0);
  assert.equal(m.indexBefore([10, 20, 30], 20), 1);
  assert.equal(m.indexBefore([10, 20, 30], 99), 2);
  assert.equal(m.indexBefore([], 99), 0);
});

test('durations have two units at most', () => {
  const told = [
    [0, '0 s'],
    [40, '0.04 s'],
    [400, '0.4 s'],
    [24_000, '24 s'],
    [252_000, '4 min 12 s'],
    [7_200_000, '2 h'],
    [273_600_000, '3 d 4 h'],
    [Number.NaN, '–'],
  ];
  for (const [ms, text] of told) assert.equal(m.formatDuration(ms), text);
});

test('where there is little room durations have one unit', () => {
  for (const [ms, text] of [
    [24_000, '24 s'],
    [252_000, '4.2 min'],
    [41_400_000, '11.5 h'],
    [86_400_000 * 412, '412 d'],
    [Number.NaN, '–'],
  ])
    assert.equal(m.formatDurationShort(ms), text);
});

test('times keep their microseconds, in every zone', () => {
  assert.equal(m.microsOf('2026-01-06T14:03:07.412345Z') % 1_000_000, 412_345);
  assert.equal(m.timeOf(m.microsOf('2026-01-06T14:03:07.412345Z')), '2026-01-06T14:03:07.412345Z');
  assert.equal(m.formatExact('2026-01-06T14:03:07.412345Z', 'UTC'), '2026-01-06 14:03:07.412345 UTC');
  assert.match(m.formatExact('2026-01-06T14:03:07.412345Z', 'Europe/Berlin'), /^2026-01-06 15:03:07\.412345 /);
  assert.match(m.formatExact('2026-01-06T14:03:07Z', 'No/Such'), / UTC$/);
  assert.equal(m.formatExact('not a time', 'UTC'), '–');
  assert.equal(m.formatRelative('2026-01-06T14:03:07Z', '2026-01-06T14:03:19Z'), '12 s ago');
  assert.equal(m.formatRelative('2026-01-06T14:03:19Z', '2026-01-06T14:03:07Z'), 'in 12 s');
});

test('a zone is told by its distance from UTC at that time', () => {
  assert.equal(m.zoneOffset('UTC', '2026-01-06T14:03:07Z'), 'UTC');
  assert.equal(m.zoneOffset('Europe/Berlin', '2026-01-06T14:03:07Z'), '+01:00');
  assert.equal(m.zoneOffset('Europe/Berlin', '2026-07-06T14:03:07Z'), '+02:00');
  assert.equal(m.zoneOffset('America/St_Johns', '2026-01-06T14:03:07Z'), '-03:30');
  assert.equal(m.zoneOffset('UTC', 'nothing'), 'UTC');
});

test('an axis has round times, and never too many', () => {
  for (const span of [1e3, 1e6, 53e6, 3.6e9, 86_400e6, 400 * 86_400e6, 4e15]) {
    const { at, step } = m.ticksOf(1.7e15, 1.7e15 + span, 8);
    assert.ok(at.length <= 9, `${at.length} ticks for ${span}`);
    assert.ok(at.every((t) => t % step === 0));
  }
  assert.deepEqual(m.ticksOf(5, 5, 8).at, []);
});

test('control, direction and invisible characters are seen', () => {
  assert.equal(m.visible('a\tb\u202Ec\u200Bd\u0007'), 'a⟨TAB⟩b⟨U+202E⟩c⟨U+200B⟩d⟨BEL⟩');
  assert.equal(m.visible('plain-name.1'), 'plain-name.1');
  assert.equal(m.visible('日本語'), '日本語');
});

test('long names keep both ends', () => {
  const short = m.shortened(`head${'z'.repeat(253)}tail`, 21);
  assert.equal(short.length, 21);
  assert.match(short, /^head.*…z*tail$/);
});

test('quantities have the units of their resource', () => {
  assert.equal(m.formatQuantity(7500, 'cpu'), '7.5');
  assert.equal(m.formatQuantity(2 ** 31 * 1000, 'memory'), '2Gi');
  assert.equal(m.formatPerMille(875), '87.5 %');
});

test('reasons are words', () => {
  assert.equal(m.spaced('WaitingForQuota'), 'Waiting for quota');
  assert.equal(m.spaced('ExceedsMaxQuota'), 'Exceeds max quota');
  assert.equal(m.spaced('some-thing else'), 'some-thing else');
  assert.equal(m.spaced(''), '');
});

test('a file for spreadsheets holds no formula and is quoted', () => {
  assert.equal(
    m.toCsv(
      ['a', 'b'],
      [
        ['=1+1', 'x,"y"\n'],
        [undefined, 3],
      ],
    ),
    'a,b\r\n\'=1+1,"x,""y""\n"\r\n,3\r\n',
  );
});

const row = (name, more = {}) => ({
  namespace: 'team-a',
  name,
  queue: 'jobs',
  clusterQueue: 'team-a',
  phase: 'Pending',
  reason: 'WaitingForQuota',
  priority: 10,
  created: '2026-01-01T00:00:00Z',
  asks: [{ resource: 'cpu', amount: { text: '4', value: 4000 } }],
  ...more,
});

test('those that are equal in all that counts are one row, and can be unfolded', () => {
  const rows = [
    row('a'),
    row('b'),
    row('c', { priority: 20 }),
    row('d'),
    row('e', { asks: [{ resource: 'cpu', amount: { text: '8', value: 8000 } }] }),
  ];
  const folded = m.foldAlike(rows, new Set());
  assert.deepEqual(
    folded.map((f) => [f.row.name, f.alike]),
    [
      ['a', 2],
      ['c', 0],
      ['e', 0],
    ],
  );
  assert.equal(m.foldAlike(rows, new Set([folded[0].key])).length, 5);
  const many = Array.from({ length: 5000 }, (_, i) => row(`job-${i}`));
  assert.deepEqual(
    m.foldAlike(many, new Set()).map((f) => f.alike),
    [4999],
  );
});

test('an export has a column for each resource', () => {
  const csv = m.workloadsCsv([
    row('a'),
    row('b', { asks: [{ resource: 'memory', amount: { text: '8Gi', value: 1 } }], since: '2026-01-01T00:00:05Z' }),
  ]);
  assert.match(csv, /^namespace,name,.*,cpu,memory\r\n/);
  assert.match(csv, /\r\nteam-a,b,.*,,8Gi\r\n$/);
});

test('an explanation links the objects it names, and nothing else', () => {
  const known = new Set(['team-a/job-x', 'hostile/<img src=x>']);
  const refs = (text) =>
    m
      .piecesOf(text, known)
      .filter((p) => p.ref)
      .map((p) => p.text);
  assert.deepEqual(refs('team-a/job-x waits in ClusterQueue team-a, standard/cpu is short'), ['team-a/job-x', 'team-a']);
  assert.deepEqual(refs('workloads in its own ClusterQueue that hold it'), []);
  assert.deepEqual(refs('not team-a/job-xy nor team-a/job-x-1'), []);
  assert.deepEqual(refs('preempted by hostile/<img src=x>.'), ['hostile/<img src=x>']);
  const text = 'ClusterQueue a-b. Cohort c';
  assert.equal(
    m
      .piecesOf(text, known)
      .map((p) => p.text)
      .join(''),
    text,
  );
  assert.deepEqual([...m.workloadsIn({ users: [{ own: [{ workload: 'a/b' }] }], played: { evicted: ['c/d'] } })], ['a/b', 'c/d']);
});

test('a copied command does what it says, whatever the name is', () => {
  assert.equal(m.quoted('team-a/job-1'), 'team-a/job-1');
  assert.equal(m.quoted("x'; rm -rf / #"), "'x'\\''; rm -rf / #'");
  assert.equal(m.quoted('a\nb'), "'ab'");
});

test('what looks like a moment is one', () => {
  for (const text of ['now', '250', '-5m', '-1d12h', '14:03', '14:03:07.5', '2026-01-06 14:03']) assert.ok(m.looksLikeMoment(text), text);
  for (const text of ['job-1', 'team-a', '-x', '14:3']) assert.ok(!m.looksLikeMoment(text), text);
});

test('an address of the API holds every name as one part', () => {
  assert.equal(m.pathOf('a/b', '?x', '%2F'), 'a%2Fb/%3Fx/%252F');
  assert.equal(m.addressOf('workloads', { phase: 'Pending', text: undefined, queue: '' }), '/api/v1/workloads?phase=Pending');
});
