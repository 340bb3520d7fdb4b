// The page over the log of examples/quickstart, in a real browser. HINDSIGHT_PAGE names a real `hindsight ui` over that log; without it the
// examples of dev-server.mjs are served.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, afterEach, before, test } from 'node:test';
import { colours, goOn, launch, open, realPage, settled, start } from './browser.mjs';

const sweep = 'Workload/team-a/job-sweep-2-02f93';
let browser;
let server;
let base;
let tab;

before(async () => {
  browser = await launch();
  if (!realPage) server = await start('story');
  base = realPage ?? server.url;
});
after(async () => {
  await browser?.close();
  await server?.close();
});
afterEach(async () => {
  if (!tab) return;
  const { errors } = tab;
  await tab.close();
  tab = undefined;
  assert.deepEqual(errors, [], 'the console has errors');
});

async function at(address, options) {
  tab = await open(browser, options);
  await tab.page.goto(base + address);
  await settled(tab.page);
  return tab.page;
}
const hash = (page) => page.evaluate(() => decodeURIComponent(location.hash));
const moment = async (page) => Number(/[?&]at=(\d+)/.exec(await hash(page))?.[1] ?? Number.NaN);
const view = async (page) => /^#\/([a-z]+)/.exec(await hash(page))?.[1];
const slider = (page) => page.getByRole('slider', { name: 'Moment' });

test('the first picture tells four numbers and what needs attention', async () => {
  const page = await at('#/overview?at=250');
  for (const name of ['Waiting', 'Oldest wait', 'Used of nominal', 'Evicted'])
    assert.ok(await page.getByRole('region', { name }).isVisible(), name);
  assert.equal(await page.locator('.number').first().locator('.number-value').innerText(), '3');
  assert.ok((await page.locator('.attention li').count()) >= 1);
  assert.match(await page.title(), /Overview · .* · Hindsight/);
});

test('nothing is fetched from elsewhere, and the policy forbids inline code', async () => {
  tab = await open(browser);
  const hosts = new Set();
  tab.page.on('request', (request) => hosts.add(new URL(request.url()).host));
  const response = await tab.page.goto(`${base}#/overview`);
  await settled(tab.page);
  assert.deepEqual([...hosts], [new URL(base).host]);
  assert.match(response.headers()['content-security-policy'], /default-src 'self'/);
  assert.doesNotMatch(response.headers()['content-security-policy'], /unsafe/);
});

test('moving in time changes only the moment; opening a view changes only the view', async () => {
  const page = await at(`#/workload/team-a/job-sweep-2-02f93?at=250&sel=${sweep}`);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => location.hash.includes('at=251'));
  assert.equal(await view(page), 'workload');
  assert.ok((await hash(page)).includes(`sel=${sweep}`), 'what is selected stays');
  await page.getByRole('link', { name: 'Workloads', exact: true }).click();
  await page.getByRole('grid', { name: 'Workloads' }).waitFor();
  assert.equal(await moment(page), 251);
  assert.equal(await view(page), 'workloads');
  await page.goBack();
  await page.waitForFunction(() => location.hash.startsWith('#/workload/'));
  await page.goBack();
  await page.waitForFunction(() => location.hash.includes('at=250'));
  await page.goForward();
  await page.waitForFunction(() => location.hash.includes('at=251'));
});

test('a link shows a colleague the same', async () => {
  const page = await at('#/workloads?at=250&phase=Pending&sort=priority&descending=true');
  const names = await page.locator('.rows .row .ref').allInnerTexts();
  const again = await at(await page.evaluate(() => location.hash));
  assert.deepEqual(await again.locator('.rows .row .ref').allInnerTexts(), names);
  assert.ok(names.length >= 3);
});

test('the slider says where one stands, steps, and can be dragged', async () => {
  const page = await at('#/overview?at=250');
  assert.match(await slider(page).getAttribute('aria-valuetext'), /2026-01-01 00:00:2\d\.\d+, record 250 of \d+/);
  await slider(page).focus();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => location.hash.includes('at=249'));
  await page.keyboard.press('Home');
  await page.waitForFunction(() => location.hash.includes('at=1&') || location.hash.endsWith('at=1'));
  await page.keyboard.press('PageUp');
  await page.waitForFunction(() => !/at=1(&|$)/.test(location.hash));
  assert.ok((await moment(page)) > 1);
  const handle = await slider(page).boundingBox();
  const strip = await page.locator('.strip-body').boundingBox();
  await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2);
  await page.mouse.down();
  const seen = new Set();
  for (let i = 1; i <= 8; i++) {
    await page.mouse.move(strip.x + (strip.width * i) / 10, handle.y + handle.height / 2);
    await page.waitForTimeout(40);
    seen.add(await page.locator('.moment-record').innerText());
  }
  await page.mouse.up();
  assert.ok(seen.size >= 5, `states come while it is dragged: ${[...seen]}`);
  const there = await moment(page);
  assert.ok(there > 200, `the handle followed the pointer: ${there}`);
  assert.equal(await view(page), 'overview');
});

test('a click on the strip goes there, its end is now', async () => {
  const page = await at('#/overview?at=10');
  const strip = await page.locator('.strip-body').boundingBox();
  await page.mouse.click(strip.x + strip.width / 2, strip.y + 20);
  await page.waitForFunction(() => !location.hash.includes('at=10'));
  const middle = await moment(page);
  assert.ok(middle > 100 && middle < 356, String(middle));
  await page.mouse.click(strip.x + strip.width - 0.5, strip.y + 60);
  await page.waitForFunction(() => location.hash.includes('at=now'));
});

test('the strip zooms by wheel and by a stretch, and has its own scale then', async () => {
  const page = await at('#/overview?at=250');
  const strip = await page.locator('.strip-body').boundingBox();
  await page.mouse.move(strip.x + strip.width / 2, strip.y + 20);
  await page.mouse.wheel(0, -400);
  await page.locator('.strip-whole').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.locator('.strip-whole').waitFor({ state: 'detached' });
  const before = await moment(page);
  const again = await page.locator('.strip-body').boundingBox();
  await page.mouse.move(again.x + 200, again.y + 20);
  await page.mouse.down();
  await page.mouse.move(again.x + 300, again.y + 20, { steps: 4 });
  await page.mouse.up();
  await page.locator('.strip-whole').waitFor();
  assert.equal(await moment(page), before, 'a zoom moves nobody');
});

test('keys: views, now, panel, compare, all keys, moments', async () => {
  const page = await at('#/overview?at=250');
  await page.keyboard.press('g');
  await page.keyboard.press('w');
  await page.waitForFunction(() => location.hash.startsWith('#/workloads'));
  await page.keyboard.press('w');
  await page.locator('.frame:not(.with-panel)').waitFor();
  await page.keyboard.press('w');
  await page.locator('.frame.with-panel').waitFor();
  await page.keyboard.press('c');
  await page.waitForFunction(() => location.hash.startsWith('#/compare') && location.hash.includes('a=250'));
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'All keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog', { name: 'All keys' }).waitFor({ state: 'hidden' });
  await page.keyboard.press('m');
  await page.getByRole('textbox', { name: 'Go to moment' }).fill('125');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('at=125'));
  await page.keyboard.press('n');
  await page.waitForFunction(() => location.hash.includes('at=now'));
});

test('steps by decision and by event of what is selected', async () => {
  const page = await at(`#/overview?at=250&sel=${sweep}`);
  await page.keyboard.press('Shift+ArrowLeft');
  await page.waitForFunction(() => !location.hash.includes('at=250'));
  const decision = await moment(page);
  assert.ok(decision < 250);
  await page.keyboard.press('Alt+ArrowLeft');
  await page.waitForFunction((p) => !location.hash.includes(`at=${p}`), decision);
  assert.ok((await moment(page)) < decision);
  assert.ok((await page.locator('.moment-text').innerText()).length > 5, 'it says what happened there');
});

test('playing moves on and stops', async () => {
  const page = await at('#/overview?at=100');
  await page.getByRole('combobox', { name: 'Speed' }).selectOption('10');
  await page.getByRole('button', { name: 'Play' }).click();
  await page.waitForFunction(
    () => Number(/record ([\d,]+)/.exec(document.querySelector('.moment-record').textContent)[1].replace(',', '')) > 140,
  );
  await page.getByRole('button', { name: 'Stop' }).click();
  const stood = await page.locator('.moment-record').innerText();
  await page.waitForTimeout(500);
  assert.equal(await page.locator('.moment-record').innerText(), stood);
});

test('search finds objects, views and moments', async () => {
  const page = await at('#/overview?at=250');
  await page.keyboard.press('/');
  const box = page.getByRole('combobox', { name: /Search objects/ });
  await box.fill('sweep-2');
  await page.getByRole('option', { name: /job-sweep-2-02f93/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.startsWith('#/workload/team-a/job-sweep-2-02f93'));
  assert.equal(await moment(page), 250);
  await page.keyboard.press('Control+k');
  await box.fill('125');
  await page.getByRole('option', { name: /Moment/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('at=125'));
  assert.equal(await view(page), 'workload');
  await page.keyboard.press('/');
  await box.fill('topol');
  await page.getByRole('option', { name: /View Topology/ }).click();
  await page.waitForFunction(() => location.hash.startsWith('#/topology'));
});

test('the explanation says why, links what blocks, and what would change it', async () => {
  const page = await at(`#/overview?at=250&sel=${sweep}`);
  const panel = page.getByRole('complementary', { name: 'Explanation' });
  assert.match(await panel.locator('.why-headline').innerText(), /It waits/);
  assert.ok(
    await panel
      .getByRole('link', { name: /job-moonshot/ })
      .first()
      .isVisible(),
  );
  await panel.getByRole('button', { name: 'Show what would change it' }).click();
  await panel.locator('.why-remedies li').first().waitFor();
  assert.match(await panel.locator('.why-remedies').innerText(), /nominalQuota of cpu/);
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await panel.getByRole('button', { name: 'Copy as hindsight' }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^hindsight why team-a\/job-sweep-2-02f93 --at 250 --log \S+/);
});

test('what is selected stays through time, and says so when it does not exist', async () => {
  const page = await at(`#/overview?at=250&sel=${sweep}`);
  await slider(page).focus();
  await page.keyboard.press('Home');
  await page
    .getByRole('complementary', { name: 'Explanation' })
    .getByText(/did not exist at this moment/)
    .waitFor();
  assert.ok((await hash(page)).includes(`sel=${sweep}`));
});

test('a workload has its life as lanes and as a story, before it existed too', async () => {
  const page = await at('#/workload/team-a/job-sweep-2-02f93?at=250');
  const life = page.getByRole('group', { name: 'Its life in time' });
  for (const lane of ['wait', 'quota', 'running'])
    assert.ok((await life.getByRole('button', { name: new RegExp(`^${lane}:`) }).count()) >= 1, lane);
  assert.ok((await page.locator('.story li.current').count()) === 1);
  assert.ok((await page.locator('.story li.later').count()) >= 1, 'what came later is there, and dimmed');
  const widths = await page.locator('.lanes .span').count();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => location.hash.includes('at=249'));
  await settled(page);
  assert.equal(await page.locator('.lanes .span').count(), widths, 'moving in time leaves the lanes where they are');
  await life
    .getByRole('button', { name: /^running:/ })
    .last()
    .click();
  await page.waitForFunction(() => !location.hash.includes('at=249'));
  const early = await at('#/workload/team-a/job-sweep-2-02f93?at=20');
  await early.getByText('It did not exist yet at this moment.').waitFor();
  await early.getByRole('link', { name: 'go there' }).click();
  await early.locator('.lanes').waitFor();
});

test('workloads: filters and sort are in the address, columns are kept, and alike ones fold', async () => {
  const page = await at('#/workloads?at=250');
  const grid = page.getByRole('grid', { name: 'Workloads' });
  const all = Number(await grid.getAttribute('aria-rowcount')) - 1;
  await page.getByRole('group', { name: 'Phases' }).getByRole('button', { name: 'Pending' }).click();
  await page.waitForFunction(() => location.hash.includes('phase=Pending'));
  await page.waitForFunction((n) => Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount')) - 1 < n, all);
  await page.getByRole('textbox', { name: 'Filter by name', exact: true }).fill('sweep');
  await page.waitForFunction(() => location.hash.includes('text=sweep'));
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.waitForFunction(() => !location.hash.includes('text=') && !location.hash.includes('phase='));
  await page.getByRole('columnheader', { name: 'Priority' }).getByRole('button').click();
  await page.waitForFunction(() => location.hash.includes('sort=priority'));
  await page.getByText('Columns', { exact: true }).click();
  await page.getByRole('checkbox', { name: 'Job' }).check();
  await page.getByRole('columnheader', { name: 'Job' }).waitFor();
  await page.reload();
  await settled(page);
  assert.ok(await page.getByRole('columnheader', { name: 'Job' }).isVisible(), 'columns are kept');
  await page.getByRole('button', { name: 'Fold alike' }).click();
  await page.getByRole('columnheader', { name: 'Alike' }).waitFor();
});

test('workloads are exported as CSV and JSON', async () => {
  const page = await at('#/workloads?at=250&phase=Pending');
  for (const [name, check] of [
    ['CSV', (text) => assert.match(text, /^namespace,name,job/)],
    ['JSON', (text) => assert.ok(JSON.parse(text).every((row) => row.phase === 'Pending'))],
  ]) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
    check(readFileSync(await download.path(), 'utf8'));
  }
});

test('a table is used by keys: arrows select, Enter opens', async () => {
  const page = await at('#/workloads?at=250');
  await page.getByRole('grid', { name: 'Workloads' }).focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction(() => location.hash.includes('sel='));
  assert.equal(await moment(page), 250, 'arrow keys up and down in a table do not move in time');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.startsWith('#/workload/'));
});

test('records: filter words, the decoded record, and what it follows from', async () => {
  const page = await at('#/records?at=250');
  await page
    .getByRole('textbox', { name: 'Filter' })
    .or(page.getByRole('combobox', { name: 'Filter' }))
    .fill('event:WorkloadPreempted');
  await page.waitForFunction(() => location.hash.includes('filter='));
  await page
    .waitForFunction(() => document.querySelectorAll('.rows .row').length === 4, undefined, { timeout: 8000 })
    .catch(async () => assert.fail(`${await page.locator('.rows .row').count()} rows of 4`));
  await page.locator('.rows .row').first().locator('.cell').first().click();
  await page.locator('.record .json').waitFor();
  assert.equal(await moment(page), 250, 'to look at a record moves nobody');
  assert.match(await page.locator('.record').innerText(), /WorkloadPreempted/);
  await page
    .locator('.record')
    .getByRole('link', { name: /^record \d+/ })
    .first()
    .click();
  await page.locator('.record').getByText('What followed from it').waitFor();
  await page.locator('.record').getByRole('link', { name: 'Go to this moment' }).click();
  await page.waitForFunction(() => !location.hash.includes('at=250'));
});

test('a filter that is none says what is allowed', async () => {
  const page = await at('#/records?at=250&filter=kind:');
  await page
    .getByText(/allowed/)
    .first()
    .waitFor();
});

test('copies hold exact times', async () => {
  const page = await at('#/overview?at=250');
  const text = await page.evaluate(() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector('.attention'));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    const event = new ClipboardEvent('copy', { clipboardData: new DataTransfer(), bubbles: true, cancelable: true });
    document.querySelector('.attention').dispatchEvent(event);
    return event.clipboardData.getData('text/plain');
  });
  assert.match(text, /2026-01-01 00:00:\d\d\.\d{6} UTC/);
  assert.doesNotMatch(text, / ago/);
});

test('themes and zones are kept', async () => {
  const page = await at('#/overview?at=250');
  await page.getByRole('button', { name: /^Colours/ }).click();
  await page.getByRole('button', { name: /^Colours: light/ }).click();
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Europe/Berlin');
  await page.locator('.moment-time', { hasText: '01:00:24' }).waitFor();
  await page.reload();
  await settled(page);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
  await page.locator('.moment-time', { hasText: '01:00:24' }).waitFor();
});

test('the tutorial in five clicks: who took the quota of sweep-2, and what would have changed it', async () => {
  const page = await at('#/overview?at=now');
  const panel = page.getByRole('complementary', { name: 'Explanation' });
  await page.getByRole('link', { name: 'Workloads', exact: true }).click(); // 1
  await page
    .getByRole('grid')
    .getByRole('link', { name: /job-sweep-2/ })
    .click(); // 2
  await panel
    .getByRole('link', { name: /job-serve/ })
    .first()
    .waitFor(); // "3 s lost to team-b/job-serve: InCohortReclamation"
  assert.match(await panel.innerText(), /InCohortReclamation/);
  await page
    .locator('.story')
    .getByText(/^preempted by team-b\/job-serve/)
    .locator('xpath=ancestor::li')
    .locator('.story-when a')
    .click(); // 3
  await page.waitForFunction(() => /at=\d+/.test(location.hash));
  await panel
    .getByText(/preempted by/)
    .first()
    .waitFor();
  await page
    .locator('.lanes')
    .getByRole('button', { name: /^wait:/ })
    .first()
    .click(); // 4: it waits again
  await page.getByText('It waits', { exact: false }).first().waitFor();
  await panel.getByRole('button', { name: 'Show what would change it' }).click(); // 5
  await panel.locator('.why-remedies li').first().waitFor();
  assert.match(await panel.locator('.why-remedies').innerText(), /got free|nominalQuota|priority/);
});

test('space plays and stops, and buttons keep their own use of it', async () => {
  const page = await at('#/overview?at=100');
  await page.locator('#view').focus();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Stop' }).waitFor();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Play' }).waitFor();
  await page.getByRole('button', { name: 'event', exact: true }).focus();
  await page.keyboard.press('Space');
  assert.equal(await page.getByRole('button', { name: 'event', exact: true }).getAttribute('aria-pressed'), 'true');
  assert.ok(await page.getByRole('button', { name: 'Play' }).isVisible());
});

test('two fingers zoom the strip', async () => {
  const page = await at('#/overview?at=250', { width: 400, height: 800, touch: true });
  const strip = await page.locator('.strip-body').boundingBox();
  const client = await tab.context.newCDPSession(page);
  const touch = (type, xs) =>
    client.send('Input.dispatchTouchEvent', { type, touchPoints: xs.map((x, id) => ({ x: strip.x + x, y: strip.y + 30, id })) });
  await touch('touchStart', [150, 200]);
  for (let d = 0; d <= 100; d += 20) await touch('touchMove', [150 - d, 200 + d]);
  await touch('touchEnd', []);
  await page.locator('.strip-whole').waitFor();
});

const mine = ['overview', 'workloads', 'workload/team-a/job-sweep-2-02f93', 'records', 'records/125', 'nosuchview'];
const others = ['queues', 'queue/team-a', 'preemptions', 'topology', 'compare', 'whatif', 'fleet'];

test('at the width of a telephone nothing is cut off', async () => {
  const page = await at('#/overview?at=249', { width: 400, height: 800 });
  for (const name of [...mine, ...others]) {
    await goOn(page, `#/${name}?at=250`);
    const wide = await page.evaluate(() => ({
      body: document.documentElement.scrollWidth,
      view: document.getElementById('view').scrollWidth,
      client: document.getElementById('view').clientWidth,
    }));
    assert.ok(wide.body <= 400 && wide.view <= wide.client + 1, `${name}: ${JSON.stringify(wide)}`);
  }
});

test('a telephone reaches every view and the explanation', async () => {
  const page = await at(`#/overview?at=250&sel=${sweep}`, { width: 400, height: 800, touch: true });
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Workloads', exact: true }).click();
  await page.waitForFunction(() => location.hash.startsWith('#/workloads'));
  await page.getByRole('navigation', { name: 'Views' }).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: /^Explain job-sweep/ }).click();
  await page.locator('.why-headline').waitFor();
});

test('axe finds nothing in any view, in both themes', async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const found = [];
  for (const theme of ['light', 'dark']) {
    const page = await at(`#/overview?at=249&sel=${sweep}`, { theme });
    // A script that is put in by the browser's own debugger is not held by the page's policy.
    await page.evaluate(axe);
    const looked = theme === 'light' ? { resultTypes: ['violations'] } : colours;
    for (const name of [...mine, ...others]) {
      await goOn(page, `#/${name}?at=250&sel=${sweep}`);
      const { violations } = await page.evaluate((options) => globalThis.axe.run(document, options), looked);
      for (const v of violations)
        found.push(
          `${name} ${theme}: ${v.id}: ${v.nodes
            .slice(0, 3)
            .map((n) => `${n.target} ${n.failureSummary?.split('\n')[1]?.trim() ?? ''}`)
            .join(' | ')}`,
        );
    }
    await goOn(page, '#/overview?at=250');
    for (const key of ['/', '?']) {
      await page.keyboard.press(key);
      await page.locator('dialog[open]').waitFor();
      const { violations } = await page.evaluate(() =>
        globalThis.axe.run(document.querySelector('dialog[open]'), { resultTypes: ['violations'] }),
      );
      for (const v of violations) found.push(`dialog ${key} ${theme}: ${v.id}: ${v.nodes[0].target}`);
      await page.keyboard.press('Escape');
      await page.locator('dialog[open]').waitFor({ state: 'hidden' }); // it would have the next key
    }
    found.push(...tab.errors.map((error) => `console, ${theme}: ${error}`));
    await tab.close();
  }
  tab = undefined;
  assert.deepEqual(found, []);
});
