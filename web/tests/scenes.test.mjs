// What a log of examples cannot show: one that grows, a server that goes away, who is not signed in, 100,000 workloads, hostile names, and what
// every view says when there is nothing, when it breaks and when it is forbidden. These are played by dev-server.mjs.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { dist, goOn, launch, open, settled, start } from './browser.mjs';
import { weigh } from '../build.mjs';
import { hostileNames } from './fixtures/views_large.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

async function on(scene, work, options = {}) {
  const server = await start(scene, options.server);
  const tab = await open(browser, options);
  try {
    await work(tab.page, server, tab);
    assert.deepEqual(tab.errors, [], 'the console has errors');
  } finally {
    await tab.close();
    await server.close();
  }
}
const record = (page) => page.locator('.moment-record').innerText();

test('the page weighs no more than 250 KiB, and holds no inline code', async () => {
  const server = await start('story');
  await server.close();
  const files = weigh(dist);
  const whole = files.reduce((sum, file) => sum + file.gzip, 0);
  console.log(`# the page weighs ${(whole / 1024).toFixed(1)} KiB gzip`);
  assert.ok(whole <= 250 * 1024, String(whole));
  const { readFileSync } = await import('node:fs');
  const html = readFileSync(`${dist}/index.html`, 'utf8');
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son[a-z]+=/);
  for (const file of files.filter((f) => f.name.endsWith('.js')))
    assert.doesNotMatch(readFileSync(`${dist}/${file.name}`, 'utf8'), /\beval\(|new Function\(/, file.name);
});

test('who follows now sees the log grow; who stands in the past stays', async () => {
  await on('live', async (page, server) => {
    await page.goto(`${server.url}#/overview?at=now`);
    await settled(page);
    assert.equal(await record(page), 'record 200');
    server.source.grow(230);
    await page.waitForFunction(() => document.querySelector('.moment-record').textContent === 'record 230');
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => location.hash.includes('at=229'));
    server.source.grow(260);
    await page.waitForTimeout(1500);
    assert.equal(await record(page), 'record 229');
    await page.keyboard.press('n');
    await page.waitForFunction(() => document.querySelector('.moment-record').textContent === 'record 260');
  });
});

test('a server that goes away is told quietly, nothing is taken away, and it comes back by itself', async () => {
  const tab = await open(browser);
  let server = await start('live');
  const { port } = server;
  try {
    const { page } = tab;
    await page.goto(`${server.url}#/overview?at=now`);
    await settled(page);
    await server.close();
    await page.getByText('The server does not answer.').waitFor();
    assert.ok(await page.locator('.number').first().isVisible(), 'what was shown stays');
    server = await start('live', { port });
    await page.getByText('The server does not answer.').waitFor({ state: 'detached', timeout: 15_000 });
    server.source.grow(300);
    await page.waitForFunction(() => document.querySelector('.moment-record').textContent === 'record 300');
    await page.locator('.number').first().waitFor();
  } finally {
    await tab.close();
    await server.close();
  }
});

test('who is not signed in is asked for a token, and then sees what was linked', async () => {
  await on('token', async (page, server) => {
    await page.goto(`${server.url}#/workloads?at=250`);
    const token = page.getByLabel('Bearer token');
    await token.fill('bad');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The cluster does not know this token.').waitFor();
    await token.fill('good');
    await page.keyboard.press('Enter');
    await page.getByRole('grid', { name: 'Workloads' }).waitFor();
    assert.match(await page.evaluate(() => location.hash), /at=250/);
    assert.equal(await page.evaluate(() => document.cookie), '', 'scripts do not see the session');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Bearer token').waitFor();
    await page.reload();
    await page.getByLabel('Bearer token').waitFor();
  });
});

test('100,000 workloads: few rows are drawn, few are asked for, and the last is reached at once', async () => {
  await on('large', async (page, server) => {
    await page.goto(`${server.url}#/workloads?at=now`);
    await settled(page);
    const grid = page.getByRole('grid', { name: 'Workloads' });
    assert.equal(await grid.getAttribute('aria-rowcount'), '100001');
    assert.ok((await page.locator('.rows .row').count()) < 80);
    await grid.focus();
    await page.keyboard.press('End');
    await page.locator('.rows .row[aria-rowindex="100001"] .ref').first().waitFor();
    await grid.evaluate(async (element) => {
      for (let i = 0; i < 60; i++) {
        element.scrollTop = (element.scrollHeight / 60) * i;
        await new Promise((done) => requestAnimationFrame(done));
      }
    });
    await page.waitForTimeout(400);
    assert.ok((await page.locator('.rows .row').count()) < 80);
    const asked = server.asked.filter((a) => a.startsWith('/api/v1/workloads?')).length;
    assert.ok(asked < 140, `${asked} questions`);
    assert.ok((await page.locator('.rows .row .ref').count()) > 5, 'rows come after a fast scroll');
  });
});

test('a drag over a slow server asks little, and ends at the right state', async () => {
  await on('story', async (page, server) => {
    await page.goto(`${server.url}#/overview?at=10`);
    await settled(page);
    server.delay = 150;
    server.asked.length = 0;
    const handle = await page.getByRole('slider', { name: 'Moment' }).boundingBox();
    const strip = await page.locator('.strip-body').boundingBox();
    await page.mouse.move(handle.x + 12, handle.y + 12);
    await page.mouse.down();
    for (let i = 0; i <= 60; i++) {
      await page.mouse.move(strip.x + 40 + i * 12, handle.y + 12);
      await page.waitForTimeout(16);
    }
    await page.mouse.up();
    const asked = server.asked.filter((a) => a.startsWith('/api/v1/overview')).length;
    assert.ok(asked >= 2 && asked <= 25, `${asked} questions in 61 movements`);
    await settled(page);
    await page.waitForTimeout(500);
    const there = Number(/at=(\d+)/.exec(await page.evaluate(() => location.hash))[1]);
    const expected = server.source.answer('overview', { at: there });
    assert.equal(await page.locator('.number-value').first().innerText(), String(expected.waiting.count));
    assert.ok(server.asked.some((a) => a.includes(`overview?at=${there}`)));
  });
});

const hostileViews = [
  'overview',
  'workloads',
  `workload/hostile/${encodeURIComponent(hostileNames[0])}`,
  'records',
  'records/18204113',
  'queues',
  'preemptions',
  'topology',
  'compare',
  'fleet',
];

test('hostile names are names: nothing runs, nothing is marked up, all characters are seen', async () => {
  await on('large', async (page, server) => {
    page.on('dialog', (dialog) => assert.fail(`a dialog: ${dialog.message()}`));
    let shown = 0;
    await page.goto(`${server.url}#/overview?at=now`);
    await settled(page);
    for (const name of hostileViews) {
      for (const hostile of [hostileNames[0], hostileNames[3]]) {
        await goOn(page, `#/${name}?at=now&sel=Workload/hostile/${encodeURIComponent(hostile)}`);
        assert.equal(await page.locator('img, script:not([src]), iframe').count(), 0, name);
        const text = await page.evaluate(() => document.body.innerText);
        assert.doesNotMatch(text, /[\u202a-\u202e\u0007\u200b]/, `${name} shows a character that nobody sees`);
        if (text.includes('<img src=x')) shown += 1;
        assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1440, `${name} is wider than the window`);
      }
    }
    assert.ok(shown >= 8, `hostile names were on ${shown} pages`);
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: /Search objects/ }).fill('x');
    await page
      .getByRole('option', { name: /script/ })
      .first()
      .waitFor();
    assert.equal(await page.locator('img, iframe').count(), 0);
  });
});

const views = {
  overview: /neither a queue nor a workload/,
  workloads: /There is no workload at this moment/,
  records: /There is no record/,
};

test('a view without data says why', async () => {
  await on('empty', async (page, server) => {
    for (const [name, sentence] of Object.entries(views)) {
      await page.goto(`${server.url}#/${name}?at=250`);
      await page.locator('#view .says-empty').filter({ hasText: sentence }).waitFor();
    }
  });
});

test('a view that breaks says so and what to do, one that is forbidden too, and both come back', async () => {
  for (const [status, message] of [
    [500, 'The page 812 of the log fails its checksum.'],
    [403, 'You may not get workloads in any namespace.'],
  ]) {
    await on('story', async (page, server) => {
      server.failing = { error: { status, message, remedy: 'Run hindsight log check.' } };
      for (const name of [...Object.keys(views), 'workload/team-a/job-sweep-2-02f93']) {
        await page.goto(`${server.url}#/${name}?at=250`);
        const says = page.locator(`#view .says-${status === 500 ? 'broken' : 'forbidden'}`).first();
        await says.waitFor();
        if (status === 500) assert.match(await says.innerText(), /checksum[\s\S]*Run hindsight log check/, name);
        assert.ok((await says.locator('.todo').count()) === 1, `${name} says what to do`);
      }
      if (status !== 500) return;
      await page.goto(`${server.url}#/overview?at=251`);
      await page.locator('#view .says-broken').waitFor();
      server.failing = undefined;
      await page.locator('#view').getByRole('button', { name: 'Ask again' }).click();
      await page.locator('.number').first().waitFor();
    });
  }
});

test('while a state is read the strip tells about what was, at once', async () => {
  await on('story', async (page, server) => {
    await page.goto(`${server.url}#/overview?at=10`);
    await settled(page);
    const value = () => page.locator('.number-value').first().innerText();
    assert.doesNotMatch(await value(), /≈/);
    server.delay = 1500;
    await page.evaluate(() => (location.hash = '#/overview?at=250'));
    await page.waitForFunction(() => /^≈ \d+$/.test(document.querySelector('.number-value').textContent), undefined, { timeout: 1000 });
    assert.ok(await page.locator('.number-note', { hasText: 'about, until the state is read' }).first().isVisible());
    const columns = server.source.answer('timeline', { buckets: 480 });
    const column = columns.position.findIndex((p) => p >= 250);
    assert.equal(await value(), `≈ ${columns.waiting[column]}`);
    await page.waitForFunction(() => !document.querySelector('.number-value').textContent.includes('≈'));
    const exact = server.source.answer('overview', { at: 250 });
    assert.equal(await value(), String(exact.waiting.count));
    assert.equal(await page.locator('.number-note', { hasText: 'about' }).count(), 0);
  });
});

test('before the first state is there the strip tells what it knows', async () => {
  await on('story', async (page, server) => {
    await page.goto(`${server.url}#/workloads?at=10`);
    await settled(page);
    server.delay = 1500;
    await page.evaluate(() => (location.hash = '#/overview?at=250'));
    await page.waitForFunction(() => /^≈ \d+$/.test(document.querySelector('.number-value')?.textContent), undefined, { timeout: 1000 });
    assert.ok(await page.locator('#view .loading').isVisible());
    const tops = await page.locator('.number').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    assert.equal(new Set(tops).size, 1, `the tiles stand where they will stand: ${tops}`);
    await settled(page);
    assert.equal(await page.locator('.number').count(), 4);
    assert.doesNotMatch(await page.locator('.number-value').first().innerText(), /≈/);
  });
});

test('while an answer is on its way its place is kept', async () => {
  await on('story', async (page, server) => {
    server.delay = 700;
    await page.goto(`${server.url}#/overview?at=250`);
    await page.locator('#view .loading').waitFor();
    await page.locator('.number').first().waitFor();
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => location.hash.includes('at=251'));
    assert.ok(await page.locator('.number').first().isVisible(), 'the state before stays until the new one is there');
  });
});
