// Debian's Chromium through playwright-core, and the page it looks at: that of HINDSIGHT_PAGE, or the examples of dev-server.mjs.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../build.mjs';
import { serve } from '../dev-server.mjs';

export const web = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Each process of the tests builds its own, or takes what HINDSIGHT_PAGE_DIST names. */
export const dist = process.env.HINDSIGHT_PAGE_DIST ?? mkdtempSync(join(tmpdir(), 'hindsight-dist-'));
/** The address of a real `hindsight ui`, over the log that `hindsight simulate examples/quickstart --log` wrote; it ends with a slash. */
export const realPage = process.env.HINDSIGHT_PAGE;

if (!process.env.HINDSIGHT_PAGE_DIST) process.on('exit', () => rmSync(dist, { recursive: true, force: true }));

const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function launch() {
  const { chromium } = await import('playwright-core');
  const executablePath = places.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error(`no Chromium at ${places.filter(Boolean).join(', ')}; name one by CHROMIUM`);
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb', '--font-render-hinting=none'],
  });
}

let built;
/** The page of examples, built once. */
export async function start(scene, more = {}) {
  built ??= process.env.HINDSIGHT_PAGE_DIST ? Promise.resolve() : build(dist);
  await built;
  return serve({ scene, dist, ...more });
}

/** A tab without any error in its console; `errors` collects what there is. */
export async function open(browser, { width = 1440, height = 900, theme = 'light', touch = false, anyCertificate = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    hasTouch: touch,
    ignoreHTTPSErrors: anyCertificate,
    permissions: [],
  });
  const page = await context.newPage();
  const errors = [];
  page.on(
    'console',
    (message) =>
      message.type() === 'error' &&
      !/Failed to load resource|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/.test(message.text()) &&
      errors.push(message.text()),
  );
  page.on('pageerror', (error) => errors.push(String(error)));
  return { page, context, errors, close: () => context.close() };
}

/** Waits until nothing is being loaded. */
export async function settled(page) {
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]') && !!document.querySelector('.strip-handle'), undefined, {
    timeout: 15_000,
  });
  await page.waitForTimeout(150);
}

/** Another address in the same tab, as a link opens it: the page is not loaded anew. */
export async function goOn(page, address) {
  await page.evaluate((hash) => {
    location.hash = hash;
    return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  }, address);
  await settled(page);
}

/** What axe looks for where another theme was looked at already: the elements are the same, and only colours differ. */
export const colours = { resultTypes: ['violations'], runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };
