// The objects that configure admission, in a real browser: every page that Kueue's own dashboard has is found here (docs/page.md). Over the
// log of examples/quickstart of a real `hindsight ui` (HINDSIGHT_PAGE), else over the examples of dev-server.mjs.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, afterEach, before, test } from 'node:test';
import { goOn, launch, open, realPage, settled, start } from './browser.mjs';
import { hostileNames } from './fixtures/views_large.mjs';

const onlyExamples = { skip: realPage ? 'needs the examples' : false };
// Whoever has run these over a real log need not run them over the examples, too.
const once = { skip: !realPage && process.env.HINDSIGHT_PAGE_SHORT ? 'ran over a real log' : false };
let browser;
let story;
let large;
let empty;
let tab;

before(async () => {
  browser = await launch();
  if (realPage) return;
  story = await start('story');
  large = await start('large');
  empty = await start('empty');
});
after(async () => {
  await browser?.close();
  for (const server of [story, large, empty]) await server?.close();
});
afterEach(async () => {
  if (!tab) return;
  const { errors } = tab;
  await tab.close();
  tab = undefined;
  assert.deepEqual(errors, [], 'the console has errors');
});

async function at(address, { server = story, ...options } = {}) {
  tab = await open(browser, options);
  await tab.page.goto((realPage ?? server.url) + address);
  await settled(tab.page);
  return tab.page;
}
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const facts = (page) => page.locator('.object-facts > div').evaluateAll((list) => Object.fromEntries(list.map((d) => [d.querySelector('dt').textContent, d.querySelector('dd').textContent])));

// The dashboard's "Local Queues" and "Local Queue Detail": ClusterQueue, counts, conditions, usage by flavor, its Workloads.
test('LocalQueues are listed, and one tells its ClusterQueue, its counts, what it uses and its Workloads', once, async () => {
  const page = await at('#/objects?at=250');
  await page.getByRole('grid', { name: 'LocalQueues' }).getByRole('link', { name: 'team-a/jobs' }).click();
  await page.waitForFunction(() => location.hash.startsWith('#/object/localqueues/team-a/jobs'));
  await page.getByRole('grid', { name: 'Workloads of this LocalQueue' }).waitFor();
  assert.match(await hash(page), /at=250/, 'the moment stays');
  const told = await facts(page);
  assert.equal(told['ClusterQueue'], 'team-a');
  assert.match(told['Active'], /^yes/);
  const rows = await page.getByRole('grid', { name: 'Workloads of this LocalQueue' }).getByRole('row').count();
  assert.ok(rows >= 2, `${rows} rows`);
  assert.equal(await page.locator('.object-parts table caption').first().innerText(), 'Reserved and in use');
  await page.locator('.object-facts').getByRole('link', { name: told['Admitted'] }).last().click();
  await page.getByRole('grid', { name: 'Workloads', exact: true }).waitFor();
  assert.match(await hash(page), /queue=team-a\/jobs/);
});

// "Cluster Queues" and "Cluster Queue Detail": cohort, flavor fungibility, preemption, quota with limits, usage, LocalQueues.
test('a ClusterQueue tells how it is set up', once, async () => {
  const page = await at('#/objects/clusterqueues?at=250');
  await page.getByRole('grid', { name: 'ClusterQueues' }).getByRole('link', { name: 'team-b', exact: true }).click();
  await page.getByRole('heading', { name: 'How it is set up' }).waitFor();
  await page.getByRole('heading', { name: /^LocalQueues/ }).waitFor();
  const told = await facts(page);
  assert.equal(told['Cohort'], 'research');
  assert.equal(told['Preemption within the ClusterQueue'], 'LowerPriority');
  assert.equal(told['When it can preempt'], 'TryNextFlavor');
  assert.ok(told['Reclaim within the Cohort'] && told['When it can borrow'] && told['Queueing strategy']);
  const quota = page.locator('table', { has: page.getByText('Quota, in the order in which flavors are tried') });
  assert.deepEqual(await quota.locator('tbody tr').first().locator('td').allInnerTexts(), ['standard', 'cpu', '8', '4', 'none']);
  await page.locator('.object-users').getByRole('link', { name: /team-b\/jobs/ }).click();
  await page.waitForFunction(() => location.hash.startsWith('#/object/localqueues/team-b/jobs'));
});

// "Cohorts" and "Cohort Detail".
test('a Cohort tells its members and how it is set up', once, async () => {
  const page = await at('#/objects/cohorts?at=250');
  await page.getByRole('grid', { name: 'Cohorts' }).getByRole('link', { name: 'research' }).click();
  await page.getByRole('treeitem').first().waitFor();
  assert.match(await hash(page), /^#\/queues\/research/);
  assert.equal(await page.getByRole('treeitem').count(), 3);
  await page.getByRole('heading', { name: 'How it is set up' }).waitFor();
  assert.match((await facts(page))['Quota of its own'], /none/);
});

// "Resource Flavors" and "Resource Flavor Detail": node labels, taints, tolerations, queues with quota of it, nodes.
test('a ResourceFlavor tells who has quota of it, and its nodes', once, async () => {
  const page = await at('#/objects/resourceflavors?at=250');
  await page.getByRole('grid', { name: 'ResourceFlavors' }).getByRole('link', { name: 'standard' }).click();
  await page.getByRole('heading', { name: /^Its nodes/ }).waitFor();
  const told = await facts(page);
  assert.ok(told['Node labels'] && told['Node taints'] && told['Tolerations']);
  const quota = page.locator('table', { has: page.getByText('Who has quota of it') });
  assert.deepEqual((await quota.locator('tbody tr').first().locator('td').allInnerTexts()).slice(0, 3), ['team-a', 'cpu', '8']);
  assert.match(await page.locator('#view').innerText(), /Nodes are not on record/);
});

test('the nodes of a large flavor are a table, and what is not listed is counted', onlyExamples, async () => {
  const page = await at(`#/object/resourceflavors/a100?at=now`, { server: large });
  const nodes = page.getByRole('grid', { name: 'Nodes of this flavor' });
  assert.equal(await nodes.getAttribute('aria-rowcount'), '501');
  assert.match(await page.locator('#view').innerText(), /19,500 more are not listed/);
  assert.ok((await page.locator('.rows .row').count()) < 80);
});

// "Topologies": levels and the flavors that name it; its map is a view of its own (views.test.mjs).
test('AdmissionChecks, priority classes and Topologies are listed, each with who uses it', once, async () => {
  const page = await at('#/objects/workloadpriorityclasses?at=250');
  const grid = page.getByRole('grid', { name: 'Priority classes' });
  assert.deepEqual(await grid.locator('.rows .row').evaluateAll((rows) => rows.map((r) => [...r.querySelectorAll('.cell')].slice(0, 2).map((c) => c.textContent))), [['low', '10'], ['normal', '100'], ['urgent', '1,000']]);
  await grid.getByRole('link', { name: 'urgent' }).click();
  await page.waitForFunction(() => location.hash.startsWith('#/object/workloadpriorityclasses/urgent'));
  await page.locator('.object-facts').waitFor();
  assert.equal((await facts(page))['Value'], '1,000');
  for (const [kind, sentence] of [['AdmissionChecks', /There was no AdmissionCheck at this moment/], ['Topologies', /There was no Topology at this moment/]]) {
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await page.getByRole('navigation', { name: 'Kinds of objects' }).getByRole('link', { name: kind }).click();
    await page.locator('#view .says-empty').filter({ hasText: sentence }).waitFor();
  }
});

test('what there is not yet, what is hidden, and what nobody finds, is said', once, async () => {
  const page = await at('#/object/localqueues/team-a/jobs?at=2');
  await page.locator('#view .says-absent').filter({ hasText: /not created yet, or is gone already/ }).waitFor();
  await page.goto(`${(realPage ?? story.url)}#/object/localqueues?at=250`);
  await page.locator('#view .says-absent').filter({ hasText: /names no object/ }).waitFor();
  await page.goto(`${(realPage ?? story.url)}#/objects/localqueues?at=250&text=nobody`);
  await page.locator('#view .says-empty').filter({ hasText: /called like/ }).waitFor();
});

test('hostile names in lists of objects are names, 2,000 of them draw few rows, and hidden ones are counted', onlyExamples, async () => {
  const page = await at('#/objects/localqueues?at=now', { server: large });
  page.on('dialog', (dialog) => assert.fail(`a dialog: ${dialog.message()}`));
  const kinds = { localqueues: 'LocalQueues', clusterqueues: 'ClusterQueues', cohorts: 'Cohorts', resourceflavors: 'ResourceFlavors', topologies: 'Topologies', admissionchecks: 'AdmissionChecks', workloadpriorityclasses: 'Priority classes' };
  for (const [kind, title] of Object.entries(kinds)) {
    await goOn(page, `#/objects/${kind}?at=now`);
    await page.getByRole('grid', { name: title, exact: true }).locator('.rows .row .ref').first().waitFor();
    await page.getByText(/17 are in namespaces you may not see/).first().waitFor();
    assert.ok((await page.locator('.rows .row').count()) < 80, kind);
    assert.equal(await page.locator('img, script:not([src]), iframe').count(), 0, kind);
    const text = await page.evaluate(() => document.body.innerText);
    assert.match(text, /17 are in namespaces you may not see/, kind);
    assert.doesNotMatch(text, /[\u202a-\u202e\u0007\u200b]/, kind);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1440, kind);
  }
  for (const name of [hostileNames[0], hostileNames[3], hostileNames[6]]) {
    await goOn(page, `#/object/resourceflavors/${encodeURIComponent(name)}?at=now`);
    await page.locator('.object-facts').waitFor();
    assert.equal(await page.locator('img, script:not([src]), iframe').count(), 0);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1440);
  }
});

test('no violation of accessibility, in both themes and on a telephone', onlyExamples, async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const all = ['objects', 'objects/workloadpriorityclasses', 'object/localqueues/team-a/jobs', 'object/resourceflavors/standard', 'queue/team-a', 'queues/research'];
  for (const [theme, width, addresses] of [['light', 1440, all], ['dark', 1440, all.slice(0, 2)], ['light', 400, all.slice(2, 4)]]) {
    const page = await at('#/overview?at=249', { theme, width });
    await page.evaluate(axe);
    for (const address of addresses) {
      await goOn(page, `#/${address}?at=250`);
      await page.locator('.object-facts, .rows .row').first().waitFor();
      const found = await page.evaluate(() => // the frame around it is looked at in page.test.mjs
        window.axe.run(document.querySelector('main'), { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'], resultTypes: ['violations'] }));
      assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`), [], `${address} ${theme} ${width}`);
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `${address} is wider than ${width}`);
    }
    await tab.close();
    tab = undefined;
  }
});
