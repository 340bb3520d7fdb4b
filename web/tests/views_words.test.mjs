// What the views say: decisions as stories, edits and results of branches, filters. Without a browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { load } from './modules.mjs';

const {
  storiesOf, shareTexts, quantityWords, faultOf, editSentence, manifestKinds, parseDropped, whatIfCommand, progressOf, outcomeOf, judged, headline, faultOfGang, matching, preemptionsCsv, queueNames,
  countHosts, domainRows, litBy, useOf, wouldGet, depthOf,
  joinedPreemptions, conditionOf, labelsText, taintText, quotaText, quotaLines, usageLines, lastTry, besideWords, nodesWords,
} = await load('views/preemption_story.ts', 'views/whatif_words.ts', 'views/gang_words.ts', 'views/preemption_filter.ts', 'views/queue_names.ts', 'views/topology_domains.ts', 'views/object_words.ts', 'why/why_words.ts');
const { answers } = JSON.parse(readFileSync(new URL('fixtures/views.json', import.meta.url)));

test('a preemption tells who was taken, in the order they were looked at', () => {
  for (const item of answers.preemptions.items) {
    const stories = storiesOf(answers[`decisions/${item.position}`]);
    const story = stories.find((s) => s.workload === `${item.preemptor.namespace}/${item.preemptor.name}`);
    assert.ok(story, `story of ${item.position}`);
    const taken = story.searches.at(-1).candidates.filter((c) => c.fate === 'taken').map((c) => c.workload);
    assert.ok(taken.includes(`${item.victim.namespace}/${item.victim.name}`));
    assert.deepEqual([...story.victims.map((v) => v.workload)].sort(), [...taken].sort());
  }
});

test('shares before and after are told where Fair Sharing compared them', () => {
  const [story] = storiesOf(answers['decisions/fair']);
  const compared = story.searches.flatMap((s) => s.candidates).filter((c) => c.shares);
  assert.ok(compared.length > 0);
  const spared = compared.find((c) => c.fate === 'spared');
  assert.match(spared.sentence, /share/);
  assert.equal(spared.reason, spared.shares.strategy);
});

const step = (kind, workload, more = {}) => ({ step: kind, workload, clusterQueue: 'q', priority: 1, ...more });
const decision = (steps, more = {}) => ({ trees: [{ rounds: [{ entries: [{ workload: 'a/p', nominations: [{ attempts: [{ searches: [{ victims: 1, needed: [], asked: [], steps, passedOver: [], ...more }] }] }] }] }] }] });

test('who is put back keeps its place and was spared; who is looked at again comes last', () => {
  const [story] = storiesOf(decision([{ step: 'Begins', mayBorrow: true }, step('Taken', 'a/1'), step('Spared', 'a/2'), { step: 'Begins', mayBorrow: false }, step('Taken', 'a/3'), step('Taken', 'a/2', { victim: 'InClusterQueue' }), step('PutBack', 'a/1')]));
  const [search] = story.searches;
  assert.deepEqual(search.mayBorrow, [true, false]);
  assert.deepEqual(search.candidates.map((c) => [c.workload, c.fate]), [['a/1', 'spared'], ['a/3', 'taken'], ['a/2', 'taken']]);
  assert.match(search.candidates[0].sentence, /spared after all/);
});

test('an answer of another form is nothing, and no mistake', () => {
  for (const how of [{}, { trees: 3 }, { trees: [null, { rounds: {} }] }, { trees: [{ rounds: [{ entries: [{}] }] }] }]) assert.deepEqual(storiesOf(how), []);
  assert.equal(storiesOf(decision([{ step: 'Taken' }]))[0].searches[0].candidates[0].workload, '');
});

test('shares that look the same though they differ get their digits', () => {
  const shares = { strategy: 'LessThanOrEqualToFinalShare', preemptor: 'p', other: 'o', preemptorAfter: 10.2, otherBefore: 90, otherAfter: 10.1 };
  assert.deepEqual(shareTexts(shares), { preemptorAfter: '10.200', otherBefore: '90.000', otherAfter: '10.100' });
  assert.deepEqual(shareTexts({ ...shares, otherAfter: 'infinite' }), { preemptorAfter: '11', otherBefore: '90', otherAfter: '∞' });
  assert.equal(quantityWords([{ resource: 'cpu', amount: '4', flavor: 'f' }, { resource: 'memory', amount: '1Gi', flavor: 'f' }]), 'cpu 4 of flavor f, memory 1Gi of flavor f');
});

test('edits that nobody can play are told so', () => {
  const quota = (amount) => ({ kind: 'quota', clusterQueue: 'q', resource: 'cpu', amount });
  for (const good of ['8', '+40', '-2', ' 1.5 ', '500m', '+16Gi']) assert.equal(faultOf(quota(good)), undefined, good);
  for (const bad of ['', '+', 'many', '8 cores', '1e3', '--2', '8; rm']) assert.match(faultOf(quota(bad)), /quantity/, bad);
  assert.match(faultOf({ ...quota('1'), clusterQueue: '' }), /ClusterQueue/);
  assert.match(faultOf({ kind: 'nodes', count: Number('x'), like: 'n' }), /number from 1/);
  assert.match(faultOf({ kind: 'nodes', count: 2, like: '' }), /Node/);
  assert.match(faultOf({ kind: 'manifest', yaml: ' \n' }), /manifest/i);
  assert.match(faultOf({ kind: 'manifest', yaml: 'x'.repeat(300_000) }), /300000 characters/);
  assert.equal(faultOf({ kind: 'featureGates', text: 'A=true,B=false' }), undefined);
  assert.match(faultOf({ kind: 'featureGates', text: 'A=yes' }), /A=true/);
  assert.match(faultOf({ kind: 'drop', object: { kind: 'Workload', name: '' } }), /NAMESPACE\/NAME/);
});

test('edits are sentences', () => {
  const quota = { kind: 'quota', clusterQueue: 'q', resource: 'cpu', flavor: 'f' };
  assert.equal(editSentence({ ...quota, amount: '+4' }), 'has 4 cpu of flavor f more of nominal quota');
  assert.equal(editSentence({ ...quota, amount: '-4' }), 'has 4 cpu of flavor f less of nominal quota');
  assert.equal(editSentence({ ...quota, amount: '4' }), 'has 4 cpu of flavor f of nominal quota');
  assert.equal(editSentence({ kind: 'nodes', count: 1, like: 'n' }), '1 more Node like');
});

test('documents of a manifest are named', () => {
  assert.deepEqual(manifestKinds('kind: ClusterQueue\nmetadata: {name: team-c}\n---\napiVersion: v1\nkind: "Node"\nmetadata:\n  name: n1\n---\n# nothing\n'), ['ClusterQueue team-c', 'Node n1']);
  assert.deepEqual(manifestKinds('no manifest'), []);
});

test('who never came is named as in a shell', () => {
  assert.deepEqual(parseDropped('team-a/x'), { kind: 'Workload', namespace: 'team-a', name: 'x' });
  assert.deepEqual(parseDropped(' job/team-a/x '), { kind: 'Job', namespace: 'team-a', name: 'x' });
  assert.deepEqual(parseDropped('workload/team-a/x').kind, 'Workload');
  assert.equal(parseDropped('x'), undefined);
});

test('the command that plays the same can be pasted', () => {
  const edits = [
    { kind: 'quota', clusterQueue: "q';rm -rf", resource: 'cpu', flavor: 'f', amount: '+4' },
    { kind: 'nodes', count: 2, like: 'n1' },
    { kind: 'drop', object: { kind: 'Job', namespace: 'a', name: 'x' } },
    { kind: 'featureGates', text: 'A=true' },
    { kind: 'manifest', yaml: 'kind: X' },
  ];
  assert.equal(
    whatIfCommand({ name: 'n', from: 7, until: 9, edits }),
    `hindsight what-if --from 7 --until 9 --set 'clusterqueue/q'\\'';rm -rf:f/cpu=+4' --add-nodes 2xn1 --drop job/a/x --feature-gates A=true -f manifest-1.yaml`,
  );
});

test('progress is a part of what is played', () => {
  const branch = { state: 'running', from: { position: 100 }, progress: { position: 150, of: 200 } };
  assert.equal(progressOf(branch), 0.5);
  assert.equal(progressOf({ ...branch, progress: { position: 0, of: 0 } }), 0);
  assert.equal(progressOf({ ...branch, state: 'done', progress: { position: 0, of: 0 } }), 1);
});

test('the result of a branch is told as it was and as it would be', () => {
  const { result } = answers['branches/b1'];
  const outcome = outcomeOf(result);
  assert.equal(outcome.queues[0].all, true);
  assert.deepEqual(outcome.queues.slice(1).map((q) => q.name), ['team-a', 'team-b']);
  const evictions = outcome.queues[0].measures.find((m) => m.id === 'evictions');
  assert.equal(evictions.was, result.was.clusterQueues['(all)'].evictions);
  assert.equal(evictions.wouldBe, result.wouldBe.clusterQueues['(all)'].evictions);
  assert.equal(outcome.workloads.length, result.differences.length);
  const cpu = outcome.use.find((u) => u.clusterQueue === 'team-a' && u.resource === 'cpu');
  const seconds = (Date.parse(result.was.end) - Date.parse(result.was.begin)) / 1000;
  const used = result.was.usage.find((u) => u.clusterQueue === 'team-a' && u.resource === 'cpu');
  assert.ok(Math.abs(cpu.was - used.amountSeconds / seconds) < 1e-6);
  assert.match(headline(outcome), new RegExp(`^${result.differences.length} Workloads would have fared otherwise`));
});

test('less waiting is better, fewer that ended is worse, and a result of another form is empty', () => {
  assert.equal(judged({ id: 'waitMean', unit: 'seconds', was: 5, wouldBe: 3, lessIsBetter: true }), 'better');
  assert.equal(judged({ id: 'ended', unit: 'count', was: 5, wouldBe: 3, lessIsBetter: false }), 'worse');
  assert.equal(judged({ id: 'workloads', unit: 'count', was: 5, wouldBe: 3 }), 'other');
  assert.equal(judged({ id: 'workloads', unit: 'count', was: 5, wouldBe: 5 }), 'same');
  for (const result of [undefined, null, 'x', [], { was: [], differences: {} }]) assert.equal(headline(outcomeOf(result)), 'Nobody would have fared otherwise.');
});

test('a gang that cannot be asked for is told so', () => {
  assert.equal(faultOfGang('16', 'cpu=1,memory=2Gi'), undefined);
  assert.equal(faultOfGang('1', 'nvidia.com/gpu=8'), undefined);
  for (const pods of ['', '0', '-1', '1.5', '100001', 'x']) assert.match(faultOfGang(pods, 'cpu=1'), /from 1 to 100,000/, pods);
  for (const requests of ['', 'cpu', 'cpu=', '=1', 'cpu=1,', 'cpu=1 memory=2', 'cpu=-1']) assert.ok(faultOfGang('1', requests), requests);
});

test('preemptions are filtered by all words and the reason', () => {
  const { items } = answers.preemptions;
  assert.equal(matching(items, undefined, undefined).length, items.length);
  assert.ok(matching(items, 'HOTFIX', undefined).every((i) => i.preemptor.name.includes('hotfix')));
  assert.equal(matching(items, 'hotfix nobody', undefined).length, 0);
  assert.equal(preemptionsCsv(items).trim().split('\r\n').length, items.length + 1);
  assert.ok(matching(items, '', 'InClusterQueue').every((i) => i.reason === 'InClusterQueue'));
});

test('domains are counted', () => {
  const { domains } = answers['topologies/fleet'];
  const rows = domainRows(domains);
  const leaves = rows.filter((r) => !r.node.children?.length);
  assert.equal(countHosts(domains), leaves.length);
  assert.equal(depthOf(domains), 3);
  assert.equal(litBy(domains).pods, leaves.reduce((sum, r) => sum + (r.node.gang ?? 0), 0));
  assert.equal(useOf({ used: [200, 700] }, -1), 700);
  assert.equal(useOf({ used: [200, 700] }, 0), 200);
  assert.deepEqual([...wouldGet([{ path: ['a', 'b'], pods: 2 }, { path: ['a', 'c'], pods: 1 }])], [['a', 3], ['a\nb', 2], ['a\nc', 1]]);
  assert.deepEqual(queueNames(answers.cohorts.roots), ['team-a', 'team-b']);
});

test('answers about one stretch after the other are one, and of too many the oldest are left out', () => {
  const item = (position) => ({ ...answers.preemptions.items[0], position });
  const place = (position) => ({ position, time: '2026-01-01T00:00:00Z' });
  const first = { from: place(1), to: place(10), items: [item(2), item(5)], leftOut: 1, hidden: 2, next: 11 };
  const both = joinedPreemptions(first, { from: place(11), to: place(20), items: [item(12), item(15)], leftOut: 0, hidden: 1 }, 3);
  assert.deepEqual(both.items.map((i) => i.position), [5, 12, 15]);
  assert.deepEqual([both.leftOut, both.hidden, both.to.position, both.from.position, both.next], [2, 3, 20, 1, undefined]);
  assert.equal(joinedPreemptions(first, { ...first, next: 21 }, 100).next, 21);
});

test('objects of any form are told in words', () => {
  const queue = {
    spec: { resourceGroups: [{ flavors: [{ name: 'spot', resources: [{ name: 'cpu', nominalQuota: '8', borrowingLimit: '4' }] }] }] },
    status: {
      conditions: [{ type: 'Active', status: 'False', reason: 'Stopped', message: 'is stopped' }],
      flavorsReservation: [{ name: 'spot', resources: [{ name: 'cpu', total: '6', borrowed: '1' }] }],
      flavorsUsage: [{ name: 'spot', resources: [{ name: 'cpu', total: '5' }] }],
    },
  };
  assert.deepEqual(conditionOf(queue, 'Active'), { status: 'False', reason: 'Stopped', message: 'is stopped' });
  assert.deepEqual(quotaLines(queue), [{ flavor: 'spot', resource: 'cpu', nominal: '8', borrowing: '4', lending: '' }]);
  assert.deepEqual(usageLines(queue), [{ flavor: 'spot', resource: 'cpu', reserved: '6', used: '5', borrowed: '1' }]);
  assert.equal(labelsText({ pool: 'a', empty: '' }), 'pool=a, empty');
  assert.equal(taintText({ key: 'gpu', value: 'yes', effect: 'NoSchedule' }), 'gpu=yes:NoSchedule');
  assert.equal(taintText({ operator: 'Exists' }), 'every key');
  assert.equal(quotaText([{ flavor: 'a', resource: 'cpu', used: '1' }]), 'a/cpu 1 of unlimited');
  for (const nothing of [undefined, null, 'x', 7, [], { spec: { resourceGroups: 'x' }, status: [] }]) {
    assert.deepEqual(quotaLines(nothing), []);
    assert.deepEqual(usageLines(nothing), []);
    assert.equal(conditionOf(nothing, 'Active').status, '');
    assert.equal(labelsText(nothing), typeof nothing === 'object' && nothing && !Array.isArray(nothing) ? labelsText(nothing) : '');
  }
});

// Issue 20: an explanation of a topology has all that `hindsight why` prints.
test('nodes without room are told by their reasons, those for the leader and those that give no places too', () => {
  const lines = nodesWords({
    excluded: [{ reason: 'cpu', nodes: 1, examples: ['n1'], examplesLeftOut: 0 }],
    excludedForLeader: [{ reason: 'memory', nodes: 5, examples: ['n2', 'n3', 'n4'], examplesLeftOut: 2 }],
    leftOut: [{ reason: 'it is not ready', nodes: 2, examples: ['n7', 'n8'] }],
  });
  assert.deepEqual(lines, [
    '1 node has no room for a pod: cpu (n1)',
    "5 nodes have no room for the leader's pod: memory (n2, n3, n4 and 2 more)",
    '2 nodes give no places: it is not ready (n7, n8)',
  ]);
  assert.deepEqual(nodesWords({}), []);
  assert.equal(besideWords(['launcher', 'worker']), 'There is room for it by itself, but not beside launcher, worker: ');
  assert.equal(besideWords(undefined), '');
});

// Issue 20: "1 more needed" stood beside "2 are missing", since another Workload got quota in the same decision.
test('a message is that of the last try, which is told', () => {
  const decisions = [{ offset: 71, time: 'a', text: 'preempted by b' }, { offset: 238, time: 'b', text: 'tried: WaitingForQuota' }, { offset: 240, time: 'c', text: 'its quota was given back' }];
  assert.equal(lastTry({ message: 'cpu, 1 more needed', decisions })?.offset, 238);
  assert.equal(lastTry({ decisions }), undefined);
  assert.equal(lastTry({ message: 'cpu, 1 more needed' }), undefined);
});
