// The page as somebody sees it who may see one namespace only: node tests/restricted.mjs URL TOKEN, with what he must not see on standard
// input, {"names": [...], "moments": [...], "mine": "NAMESPACE/NAME", "other": "NAMESPACE/NAME"}. He signs in as people do, and opens every
// view at every moment. No answer and no text of the page may have one of the names, and views that leave something out say so. Prints what
// was looked at, as JSON; fails with what was told.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { launch, open } from './browser.mjs';

const [url, token] = process.argv.slice(2);
const { names, moments, mine, other } = JSON.parse(readFileSync(0, 'utf8'));
assert.ok(names.length > 3, 'there are names that must not be told');
// As whole names: "train" is also a part of words.
const whole = new Map(names.map((name) => [name, new RegExp(`(?<![\\w.-])${name.replace(/[^\w-]/g, '\\$&')}(?![\\w-])`)]));
const toldIn = (text) => names.find((name) => text.includes(name) && whole.get(name).test(text));

const browser = await launch();
const tab = await open(browser, { anyCertificate: true });
const { page } = tab;
const told = [];
page.on('response', async (response) => {
  if (!new URL(response.url()).pathname.startsWith('/api/') || response.url().endsWith('/live')) return;
  try {
    told.push({ of: response.url().slice(url.length), status: response.status(), text: await response.text() });
  } catch {
    // it was given up
  }
});
const quiet = async () => {
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]') && !!document.querySelector('#view'), undefined, { timeout: 60_000 });
  await page.waitForTimeout(250);
};
const seen = [];
/** Opens an address; `says`: what must stand there. */
async function look(address, says) {
  await page.goto(`${url}#/${address}`);
  await quiet();
  if (says) await page.locator('#view').filter({ hasText: says }).waitFor({ timeout: 30_000 });
  const text = await page.evaluate(() => document.body.innerText);
  const name = toldIn(text);
  assert.ok(name === undefined, `${address} shows ${name}: ${name && text.slice(Math.max(0, text.search(whole.get(name)) - 80), text.search(whole.get(name)) + 80)}`);
  seen.push(address);
}

try {
  await page.goto(url);
  await page.getByLabel('Bearer token').fill('somebody-else');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').filter({ hasText: /./ }).first().waitFor();
  await page.getByLabel('Bearer token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.strip-handle').waitFor({ timeout: 60_000 });
  assert.equal(await page.evaluate(() => document.cookie), '', 'scripts do not see the session');

  const not = /you may not see/i;
  for (const moment of moments) {
    const at = `at=${moment}`;
    await look(`overview?${at}`);
    await look(`queues?${at}`);
    await look(`queues?${at}&as=map`);
    await look(`queue/team-a?${at}`);
    await look(`queue/team-b?${at}`, moment === moments[0] ? not : undefined);
    await look(`workloads?${at}`, moment === moments[0] ? not : undefined);
    await look(`workload/${mine}?${at}`);
    await look(`workload/${other}?${at}`, not);
    await look(`preemptions?${at}`);
    await look(`compare?${at}&a=40`);
    if (moment !== moments[0]) continue; // the others tell the same of every moment
    await look(`topology?${at}`);
    await look(`whatif?${at}`);
    await look(`records?${at}`, /may/i);
    await look(`records/250?${at}`, /may/i);
    await look(`fleet?${at}`);
    await look(`objects/localqueues?${at}`, not);
    await look(`object/localqueues/team-a/jobs?${at}`);
    await look(`object/localqueues/team-b/jobs?${at}`, not);
    for (const kind of ['clusterqueues', 'cohorts', 'resourceflavors', 'workloadpriorityclasses']) await look(`objects/${kind}?${at}`);
    await look(`object/resourceflavors/standard?${at}`);
  }
  // The search, the steps and the explanation ask, too.
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: /Search objects/ }).fill('job');
  await page.waitForTimeout(800);
  await page.keyboard.press('Escape');
  await look(`workload/${mine}?at=${moments[0]}&sel=Workload/${mine}`);
  for (const key of ['ArrowLeft', 'ArrowRight', 'Alt+ArrowRight', 'Shift+ArrowLeft']) {
    await page.keyboard.press(key);
    await quiet();
  }
  for (const answer of told) {
    const name = toldIn(answer.text);
    assert.ok(name === undefined, `${answer.of} (${answer.status}) tells ${name}: ${name && answer.text.slice(Math.max(0, answer.text.search(whole.get(name)) - 200), answer.text.search(whole.get(name)) + 100)}`);
  }
  const answered = told.filter((answer) => answer.status === 200).length;
  assert.ok(answered > 20, `only ${answered} questions were answered`);
  console.log(JSON.stringify({ views: seen.length, answers: told.length, errors: tab.errors }));
} finally {
  await tab.close();
  await browser.close();
}
