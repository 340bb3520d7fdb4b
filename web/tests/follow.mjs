// An open page of a real `hindsight ui`, for tests that make its log grow and end its server: node tests/follow.mjs URL. Says on a line each
// what it sees: "open RECORD", "at RECORD" whenever it has moved on and come to rest, "away", "back". Ends when its standard input does.
import { launch, open, settled } from './browser.mjs';

const url = process.argv[2];
const say = (line) => process.stdout.write(`${line}\n`);
const patience = { timeout: 60_000 };
const away = 'The server does not answer.';
const record = (page) => page.locator('.moment-record').innerText();
const number = (text) => /\d[\d,]*/.exec(text)?.[0].replaceAll(',', '') ?? '0';

const browser = await launch();
try {
  const { page, errors } = await open(browser);
  await page.goto(`${url}#/overview?at=now`);
  await settled(page);
  const first = number(await record(page).catch(() => ''));
  say(`open ${first}`);
  await page.waitForFunction((was) => (document.querySelector('.moment-record')?.textContent.replace(/\D/g, '') || '0') !== was, first, patience);
  let last;
  do {
    last = await record(page);
    await page.waitForTimeout(1500);
  } while ((await record(page)) !== last);
  await page.locator('.number').first().waitFor(patience);
  say(`at ${number(last)}`);
  await page.getByText(away).waitFor(patience);
  say('away');
  await page.getByText(away).waitFor({ state: 'detached', ...patience });
  say('back');
  for await (const _ of process.stdin);
  if (errors.length > 0) throw new Error(errors.join('\n'));
} finally {
  await browser.close();
}
