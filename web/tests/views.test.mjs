// Queues, one queue, preemptions, topology, compare, what if and fleet in a real browser. HINDSIGHT_PAGE names a real `hindsight ui` over the
// log of examples/quickstart; without it the examples of dev-server.mjs are served. What needs other examples is tried only with those.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, afterEach, before, test } from 'node:test';
import { colours, goOn, launch, open, realPage, settled, start } from './browser.mjs';
import { hostileNames } from './fixtures/views_large.mjs';

const onlyExamples = { skip: realPage ? 'needs the examples' : false };
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
  if (story) story.failing = undefined;
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
const openFirst = (page, label) => page.getByRole('grid', { name: label }).getByRole('row').nth(1).click({ position: { x: 4, y: 4 } });

test('queues are a tree that keys move through', async () => {
  const page = await at('#/queues?at=141');
  const items = page.getByRole('treeitem');
  assert.equal(await items.count(), 3);
  assert.deepEqual(await items.evaluateAll((list) => list.map((i) => [i.getAttribute('aria-level'), i.getAttribute('aria-expanded')])), [['1', 'true'], ['2', null], ['2', null]]);
  await items.first().focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => document.activeElement.textContent.startsWith('team-a'));
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.activeElement.getAttribute('aria-level') === '1');
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => document.querySelectorAll('[role=treeitem]').length === 1);
  assert.match(await hash(page), /at=141/); // the arrows do not move in time here
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => document.querySelectorAll('[role=treeitem]').length === 3);
  await page.keyboard.press('End');
  await page.waitForFunction(() => document.activeElement.textContent.startsWith('team-b'));
  await page.keyboard.press('Enter');
  assert.match(await hash(page), /^#\/queue\/team-b\?/);
});

test('a bar is told in words, and each of its numbers says how it came about', async () => {
  const page = await at('#/queues?at=141&of=standard/cpu');
  const row = page.getByRole('treeitem').nth(1);
  assert.equal(await page.getByRole('treeitem', { name: /^team-a ClusterQueue \d+ waiting \d+ admitted standard\/cpu: 8 used of 8 nominal/ }).count(), 1);
  assert.match(await row.locator('.queue-bar').getAttribute('title'), /within its nominal quota 8 of 8/);
  assert.equal(await row.getByRole('img').count(), 1);
});

test('the map of users leads to each of them', async () => {
  const page = await at('#/queues?at=141&as=map&of=standard/cpu');
  const users = page.locator('.map-user');
  assert.equal(await users.count(), 4);
  const areas = await users.evaluateAll((list) => list.map((u) => u.offsetWidth * u.offsetHeight));
  assert.ok(Math.max(...areas) / Math.min(...areas) < 1.1, 'four equal ones have equal areas');
  await users.first().click();
  assert.match(await hash(page), /^#\/workload\/team-/);
});

test('a queue is told in its order, with what its head lacks', async () => {
  const page = await at('#/queue/team-a?at=141');
  const rows = page.getByRole('grid', { name: /that wait/ }).getByRole('row');
  // The last two are alike and may be one line.
  assert.ok((await rows.count()) >= 3);
  assert.deepEqual(await page.locator('[aria-label^="Workloads that wait"] .rows .row').evaluateAll((list) => list.slice(0, 2).map((r) => r.querySelector('.cell .figure').textContent)), ['1', '2']);
  assert.match(await page.locator('.queue-why .headline').innerText(), /^Its head team-a\/job-\S+ lacks 4 of standard\/cpu\.$/);
  assert.equal(await page.getByRole('grid', { name: /hold quota/ }).getByRole('row').count(), 3);
});

test('one answer reads so much of the log, and what follows comes by itself', async () => {
  tab = await open(browser);
  const { page } = tab;
  const asked = [];
  // As the server answers when there is more than it reads at once: the first two preemptions, and where to go on.
  await page.route(/\/api\/v1\/preemptions\?/, async (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('from'));
    const answer = await (await route.fetch()).json();
    const items = answer.items.filter((item) => item.position >= from);
    asked.push(from);
    const cut = items[1]?.position;
    const next = asked.length < 3 && items.length > 2 ? cut + 1 : undefined;
    await route.fulfill({ json: { ...answer, items: next ? items.filter((item) => item.position <= cut) : items, ...(next ? { next } : {}) } });
  });
  await page.goto(`${realPage ?? story.url}#/preemptions?at=now`);
  const grid = page.getByRole('grid', { name: 'Preemptions, the newest first' });
  await page.waitForFunction(() => document.querySelector('.preemption-line')?.textContent.startsWith('5 preemptions') || document.querySelectorAll('.arc').length >= 5);
  assert.equal(asked.length, 3, `asked from ${asked}`);
  assert.ok(asked[0] < asked[1] && asked[1] < asked[2], `each goes on where the one before ended: ${asked}`);
  assert.ok(Number(await grid.getAttribute('aria-rowcount')) >= 6);
  assert.equal(await page.getByText('what follows is on its way').count(), 0);
});

test('a preemption opens with its candidates, and a link shows the same', async () => {
  const page = await at('#/preemptions?at=now');
  assert.ok((await page.locator('.arc').count()) >= 5);
  await openFirst(page, 'Preemptions, the newest first');
  const detail = page.getByRole('region', { name: 'The opened preemption' });
  await detail.locator('.candidates tr.taken').first().waitFor();
  assert.match(await detail.innerText(), /made room by taking/);
  const before = await detail.innerText();
  await page.reload();
  await settled(page);
  await detail.locator('.candidates tr.taken').first().waitFor();
  assert.equal(await detail.innerText(), before);
  await detail.getByRole('button', { name: /Close/ }).click();
  assert.equal(await detail.count(), 0);
});

test('an arc opens by a click, and a filter that fits nothing says so', async () => {
  const page = await at('#/preemptions?at=now');
  const box = await page.locator('.arc .arc-from').first().boundingBox();
  await page.mouse.click(box.x + 3, box.y + 3);
  await page.getByRole('region', { name: 'The opened preemption' }).waitFor();
  await page.getByRole('textbox', { name: /^Filter by/ }).fill('nobody-of-this-name');
  await page.getByText('No preemption fits what is filtered.').waitFor();
  assert.match(await hash(page), /text=nobody-of-this-name/);
});

test('shares before and after are shown where they decided', onlyExamples, async () => {
  story.failing = undefined;
  const page = await at('#/preemptions?at=now', { server: large });
  await page.route('**/api/v1/decisions/*', (route) => route.fulfill({ json: JSON.parse(readFileSync(new URL('fixtures/views.json', import.meta.url))).answers['decisions/fair'] }));
  await openFirst(page, 'Preemptions, the newest first');
  await page.locator('.shares').first().waitFor();
  assert.match(await page.locator('.shares').first().innerText(), /with it[\s\S]*before[\s\S]*after/);
});

test('the map of a topology tells what is under the pointer, and lights a gang', onlyExamples, async () => {
  const page = await at('#/topology/fleet?at=now&workload=research/job-pairs-960f3');
  await page.getByText('20 pods of').waitFor();
  const canvas = await page.locator('.topology-canvas canvas').boundingBox();
  await page.mouse.move(canvas.x + 40, canvas.y + 60);
  assert.match(await page.locator('.pointed').innerText(), /^b0 › r0 › b0-r0-n\d+: example.com\/gpu \d+ % in use/);
  await page.mouse.click(canvas.x + 40, canvas.y + 60);
  assert.match(await hash(page), /sel=Node\/b0-r0-n\d/);
});

test('"would it fit" is asked, answered, kept in the address, and says what is wrong with a question', onlyExamples, async () => {
  const page = await at('#/topology/datacenter?at=now', { server: large });
  await page.getByRole('textbox', { name: 'Pods' }).fill('400');
  await page.getByRole('textbox', { name: 'Each asks for' }).fill('nvidia.com/gpu');
  await page.getByText('is not RESOURCE=QUANTITY').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Ask', exact: true }).isDisabled());
  await page.getByRole('textbox', { name: 'Each asks for' }).fill('nvidia.com/gpu=1');
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.getByText('✕ It does not fit.').waitFor();
  await page.getByRole('textbox', { name: 'Pods' }).fill('16');
  await page.keyboard.press('Enter');
  await page.getByText('✓ It fits.').waitFor();
  assert.match(await hash(page), /pods=16/);
});

test('20,000 hosts are one canvas, and a table for who does not see it', onlyExamples, async () => {
  const page = await at('#/topology/datacenter?at=now', { server: large });
  assert.match(await page.locator('.topology-canvas canvas').getAttribute('aria-label'), /20,000/);
  const painted = await page.locator('.topology-canvas canvas').evaluate((c) => {
    const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
    const colours = new Set();
    for (let i = 0; i < data.length; i += 4 * 97) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return colours.size;
  });
  assert.ok(painted > 5, `${painted} colours`);
  await page.getByText('All domains as a table').click();
  assert.equal(await page.getByRole('grid', { name: 'Domains of the Topology' }).getAttribute('aria-rowcount'), '20521');
});

test('20,000 hosts: opening the map, pointing, scrolling the table and going down never block the page for long', onlyExamples, async () => {
  tab = await open(browser);
  const { page } = tab;
  await page.addInitScript(() => {
    window.longTasks = [];
    new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((e) => Math.round(e.duration)))).observe({ type: 'longtask', buffered: true });
  });
  await page.goto(`${large.url}#/topology?at=now`);
  await settled(page);
  // How long this machine needs for work that takes 100 ms where nothing else runs: what others do here is not the page's.
  const slowness = await page.evaluate(() => {
    const measure = () => { const from = performance.now(); let x = 0; for (let i = 0; i < 3e7; ++i) x = (x * 31 + i) | 0; return performance.now() - from + (x & 0); };
    return Math.max(1, Math.min(measure(), measure(), measure()) / 40);
  });
  await page.evaluate(() => { window.longTasks.length = 0; });
  await page.evaluate(() => { location.hash = location.hash.replace('#/topology', '#/topology/datacenter'); });
  await page.locator('.topology-canvas canvas').waitFor();
  await settled(page);
  const box = await page.locator('.topology-canvas canvas').boundingBox();
  for (let i = 1; i < 12; ++i) await page.mouse.move(box.x + (box.width * i) / 12, box.y + Math.min(box.height, 500) * (i / 13));
  const grid = page.locator('.topology-table [role=grid]').first();
  await grid.evaluate(async (element) => {
    for (let i = 0; i < 30; i++) {
      element.scrollTop = (element.scrollHeight / 30) * i;
      await new Promise((done) => requestAnimationFrame(done));
    }
  });
  assert.ok((await grid.locator('.row').count()) < 80, 'few rows are drawn');
  await page.waitForTimeout(300);
  const tasks = await page.evaluate(() => window.longTasks);
  console.log(`# 20,000 hosts: longest task ${Math.max(0, ...tasks)} ms on a machine that is ${slowness.toFixed(1)} times slower than quiet`);
  assert.ok(Math.max(0, ...tasks) <= 200 * slowness, `tasks of ${tasks} ms, allowed ${Math.round(200 * slowness)}`);
});

test('compare begins with a choice, and lists what differs, biggest effect first', async () => {
  const page = await at('#/compare?at=141');
  await page.getByRole('button', { name: 'Compare with the beginning of the log' }).click();
  await page.locator('.difference').first().waitFor();
  const widths = await page.locator('.effect-bar').evaluateAll((list) => list.map((e) => e.offsetWidth));
  assert.deepEqual(widths, [...widths].sort((a, b) => b - a));
  const first = page.locator('.difference').filter({ has: page.getByRole('button', { name: /field/ }) }).first();
  const toggle = first.getByRole('button');
  assert.equal(await toggle.getAttribute('aria-expanded'), 'false');
  await toggle.click();
  assert.ok((await first.locator('.changes tbody tr').count()) > 0);
  assert.match(await hash(page), /a=1(&|$)/);
});

test('the key c compares from here', async () => {
  const page = await at('#/queues?at=141');
  await page.keyboard.press('c');
  await page.getByText('Both moments are the same.').waitFor();
});

test('what if: cards say what is wrong, a branch is played, looked at, compared and thrown away', async () => {
  const page = await at('#/whatif?at=141');
  await page.getByRole('button', { name: '+ Quota' }).click();
  await page.getByRole('button', { name: '▷ Play' }).click();
  await page.getByText('Choose a ClusterQueue.').waitFor();
  await page.getByRole('combobox', { name: 'ClusterQueue' }).selectOption('team-a');
  await page.getByRole('combobox', { name: 'Resource' }).fill('cpu');
  await page.getByRole('textbox', { name: 'Amount' }).fill('+4');
  await page.getByRole('textbox', { name: 'Name of the branch' }).fill('four <b>more</b>');
  await page.getByRole('button', { name: '▷ Play' }).click();
  await page.getByRole('button', { name: 'Open the branch' }).waitFor({ timeout: 60_000 });
  assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'four <b>more</b>');
  assert.match(await page.locator('.edits').innerText(), /team-a has 4 cpu more of nominal quota/);
  assert.match(await page.locator('.headline').innerText(), /fared otherwise/);
  assert.ok((await page.getByRole('region', { name: 'By ClusterQueue' }).getByRole('row').count()) >= 3);
  await page.getByRole('button', { name: 'Open the branch' }).click();
  assert.match(await hash(page), /branch=/);
  await page.locator('.view').getByRole('button', { name: 'Back to what was' }).click();
  assert.doesNotMatch(await hash(page), /branch=/);
  await page.getByRole('button', { name: 'Throw away' }).click();
  await page.getByRole('button', { name: 'Yes, throw away' }).click();
  await page.getByRole('heading', { name: 'Branches' }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'four <b>more</b>' }).count(), 0);
});

test('cards outlive a look elsewhere', async () => {
  const page = await at('#/whatif?at=141');
  await page.getByRole('button', { name: '+ Never came' }).click();
  await page.getByRole('textbox', { name: 'Workload or job' }).fill('job/team-a/sweep-1');
  await page.getByRole('navigation').getByRole('link', { name: 'Fleet' }).click();
  await page.getByRole('heading', { name: 'Fleet' }).waitFor();
  await page.goBack();
  assert.equal(await page.getByRole('textbox', { name: 'Workload or job' }).inputValue(), 'job/team-a/sweep-1');
});

test('a branch that is played shows how far, and can be cancelled', onlyExamples, async () => {
  const page = await at('#/whatif/b2?at=141');
  assert.match(await page.locator('.whatif-progress').innerText(), /Played up to record 210/);
  assert.ok(Number(await page.getByRole('progressbar').getAttribute('value')) > 0.3);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('There is no branch of this name any more').waitFor();
});

test('the fleet tells who decides', async () => {
  const page = await at('#/fleet?at=141');
  assert.match(await page.locator('.fleet').innerText(), /decides, in epoch 1/);
  assert.equal(await page.getByRole('grid', { name: /Epochs/ }).getByRole('row').count(), 2);
});

const addresses = ['queues', 'queue/team-a', 'preemptions', 'topology', 'topology/fleet', 'compare?a=40', 'whatif', 'fleet'];
const withMoment = (address, at = '141') => `#/${address}${address.includes('?') ? '&' : '?'}at=${at}`;

test('each view says in its own words that nothing is there, that it is broken, and that it is forbidden', onlyExamples, async () => {
  const sentences = new Map();
  const collect = async (state, server) => {
    const page = await at('#/overview?at=140', { server });
    for (const address of addresses) {
      await goOn(page, withMoment(address));
      const said = await page.locator(`.view .says-${state} p:first-child`).first().innerText({ timeout: 5000 });
      const key = `${state}: ${said}`;
      assert.ok(!sentences.has(key), `${address} and ${sentences.get(key)} say the same: ${said}`);
      sentences.set(key, address);
    }
    await tab.close();
    tab = undefined;
  };
  await collect('empty', empty);
  story.failing = { error: { status: 500, message: 'A page of the log fails its checksum.', remedy: 'Run hindsight log check.' } };
  await collect('broken', story);
  story.failing = { error: { status: 403, message: 'Not for you.' } };
  await collect('forbidden', story);
});

test('hostile names are text in every view', onlyExamples, async () => {
  const views = ['queues', 'queues?as=map', 'queue/vision-batch', 'preemptions', 'topology', 'topology/datacenter', 'compare?a=40', 'whatif', 'fleet', `queue/${encodeURIComponent(hostileNames[0])}`];
  const page = await at('#/overview?at=now', { server: large });
  page.on('dialog', (dialog) => assert.fail(`what a name says was run: ${dialog.message()}`));
  for (const address of views) {
    await goOn(page, withMoment(address, 'now'));
    if (address === 'preemptions') await openFirst(page, 'Preemptions, the newest first');
    if (address === 'whatif') await page.getByRole('button', { name: '+ Quota' }).click();
    await page.waitForTimeout(200);
    assert.equal(await page.locator('main img, main script').count(), 0, address);
    // Direction and control characters do not get out of a name.
    const loose = await page.evaluate(() => {
      const found = [];
      const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) if (/[\u202a-\u202e\u200b\u0000-\u0008]/.test(node.data) && !node.parentElement.closest('bdi, option, title')) found.push(node.data.slice(0, 60));
      return found;
    });
    assert.deepEqual(loose, [], address);
  }
});

test('no view is wider than its screen', onlyExamples, async () => {
  const wide = [];
  for (const width of [400, 1024, 1440]) {
    const page = await at('#/overview?at=now', { server: large, width });
    for (const address of ['queues', 'queues?as=map', 'queue/vision-batch', 'preemptions', 'topology', 'topology/datacenter?pods=16&requests=cpu=1', 'compare?a=40', 'whatif', 'fleet']) {
      await goOn(page, withMoment(address, 'now'));
      const over = await page.evaluate(() => {
        const main = document.querySelector('main');
        return Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - innerWidth);
      });
      if (over > 1) wide.push(`${address} at ${width}: ${over} px`);
    }
    await tab.close();
    const branch = await at('#/whatif/b1?at=141', { width });
    if ((await branch.evaluate(() => document.querySelector('main').scrollWidth - document.querySelector('main').clientWidth)) > 1) wide.push(`branch at ${width}`);
    await tab.close();
  }
  tab = undefined;
  assert.deepEqual(wide, []);
});

test('axe finds nothing where the views are opened further', onlyExamples, async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const found = [];
  const places = [
    [story, 'queues?as=map&at=141'], [story, 'queues?at=141&of=standard/cpu&scale=one'], [story, 'queue/team-a?at=141'], [story, 'topology/fleet?at=now&workload=research/job-pairs-960f3&pods=4&requests=cpu=1'],
    [story, 'compare?at=141&a=40'], [story, 'compare?at=141'], [story, 'whatif/b1?at=141'], [story, 'whatif?at=141'], [large, 'queues?at=now'], [large, 'preemptions?at=now'], [large, 'fleet?at=now'],
  ];
  for (const theme of ['light', 'dark']) {
    const looked = theme === 'light' ? { resultTypes: ['violations'] } : colours;
    let page;
    for (const [i, [server, address]] of places.entries()) {
      if (server === places[i - 1]?.[0]) {
        await goOn(page, `#/${address}`);
      } else {
        await tab?.close();
        page = await at(`#/${address}`, { server, theme });
        await page.evaluate(axe);
      }
      if (address.startsWith('preemptions')) {
        await openFirst(page, 'Preemptions, the newest first');
        await page.waitForTimeout(300);
      }
      if (address.startsWith('whatif?')) for (const kind of ['Quota', 'Never came', 'Nodes', 'Manifest', 'Feature gates']) await page.getByRole('button', { name: `+ ${kind}` }).click();
      // From the last on: each that is open is no more among them.
      for (const toggle of (await page.locator('main details:not([open]) > summary').all()).reverse()) await toggle.click();
      const { violations } = await page.evaluate((options) => globalThis.axe.run(document.querySelector('main'), options), looked);
      for (const v of violations) found.push(`${address} ${theme}: ${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.failureSummary?.split('\n')[1]?.trim() ?? ''}`).join(' | ')}`);
    }
    await tab.close();
    tab = undefined;
  }
  assert.deepEqual(found, []);
});
