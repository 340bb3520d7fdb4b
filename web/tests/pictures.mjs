// Takes a picture of every view, in both themes, at three widths: node tests/pictures.mjs [--out DIR] [--only WORD] [--names A,B] [--width N] [--theme T]
// --only takes names that begin so, --names whole ones. Status 1: something was wider than the window, or the console had errors.
// Whoever changes a view looks at all of its pictures.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { goOn, launch, open, realPage, settled, start, web } from './browser.mjs';

const at = 250;
/** Name, scene, address. */
export const pictures = [
  ['overview', 'story', '#/overview?at=250'],
  ['overview-now', 'story', '#/overview?at=now'],
  ['overview-large', 'large', '#/overview?at=now'],
  ['workloads', 'story', `#/workloads?at=${at}&sel=Workload/team-a/job-sweep-2-02f93`],
  ['workloads-large', 'large', '#/workloads?at=now&phase=Pending'],
  ['workload', 'story', `#/workload/team-a/job-sweep-2-02f93?at=${at}&sel=Workload/team-a/job-sweep-2-02f93`],
  ['workload-hostile', 'large', '#/workload/hostile/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E?at=now&sel=Workload/hostile/x'],
  ['records', 'story', `#/records?at=${at}`],
  ['record', 'story', `#/records/125?at=${at}&filter=kind:Decisions`],
  ['queues', 'story', `#/queues?at=${at}`],
  ['queues-map', 'story', `#/queues?at=${at}&as=map&of=standard/cpu`],
  ['queues-large', 'large', '#/queues?at=now'],
  ['queues-map-large', 'large', '#/queues?at=now&as=map'],
  ['queue', 'story', `#/queue/team-a?at=${at}&sel=ClusterQueue/team-a`],
  ['queue-large', 'large', '#/queue/vision-batch?at=now'],
  ['preemptions', 'story', '#/preemptions?at=now&open=71%20Workload/team-a/job-sweep-2-02f93'],
  ['preemptions-large', 'large', '#/preemptions?at=now'],
  ['topology', 'story', '#/topology?at=now'],
  ['topology-gang', 'story', '#/topology/fleet?at=now&workload=research/job-pairs-960f3&pods=4&requests=example.com/gpu=4'],
  ['topology-large', 'large', '#/topology/datacenter?at=now'],
  ['compare', 'story', '#/compare?a=100&at=250'],
  ['compare-branch', 'story', '#/compare?with=b1&at=250'],
  ['whatif', 'story', '#/whatif?at=250'],
  ['whatif-branch', 'story', '#/whatif/b1?at=250'],
  ['fleet', 'story', '#/fleet?at=now'],
  ['objects', 'story', `#/objects/clusterqueues?at=${at}`],
  ['object-localqueue', 'story', `#/object/localqueues/team-a/jobs?at=${at}`],
  ['object-flavor', 'large', '#/object/resourceflavors/a100?at=now'],
  ['empty', 'empty', '#/workloads?at=now'],
  ['sign-in', 'token', '#/overview'],
];

const word = (name, otherwise) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : otherwise);

async function main() {
  const out = word('--out', join(web, 'tests/shots'));
  const only = word('--only', '');
  const names = word('--names', '').split(',').filter(Boolean);
  let wrong = 0;
  mkdirSync(out, { recursive: true });
  const browser = await launch();
  const servers = new Map();
  for (const theme of word('--theme', 'light,dark').split(',')) {
    for (const width of word('--width', '1440,1024,400').split(',').map(Number)) {
      let tab;
      let shown;
      for (const [name, scene, address] of pictures) {
        if (names.length > 0 && !names.includes(name)) continue;
        if (only && !only.split(',').some((o) => name === o || name.startsWith(`${o}-`))) continue;
        if (!realPage && !servers.has(scene)) servers.set(scene, await start(scene));
        // One tab for the pictures of a scene: each is opened as by a link.
        const known = tab !== undefined && (realPage !== undefined || shown === scene);
        if (!known) {
          await tab?.close();
          tab = await open(browser, { width, height: width === 400 ? 800 : 900, theme });
          await tab.page.goto((realPage ?? servers.get(scene).url) + address);
          shown = scene;
        }
        // On a telephone the explanation is closed until one asks for it.
        if (scene === 'token') await tab.page.waitForSelector('.sign-in');
        else await (known ? goOn(tab.page, address) : settled(tab.page)).catch((error) => console.error(name, error.message));
        await tab.page.screenshot({ path: join(out, `${name}-${width}-${theme}.png`) });
        const wide = await tab.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (wide > 0) console.error(name, width, theme, `${wide} pixels wider than the window`);
        if (tab.errors.length) console.error(name, width, theme, tab.errors);
        if (wide > 0 || tab.errors.length) wrong = 1;
      }
      await tab?.close();
    }
  }
  await browser.close();
  for (const server of servers.values()) await server.close();
  process.exitCode = wrong;
}

if (process.argv[1]?.endsWith('pictures.mjs')) await main();
