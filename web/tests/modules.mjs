// Modules of src/ as node can import them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { web } from './browser.mjs';

export async function load(...paths) {
  const folder = mkdtempSync(join(tmpdir(), 'hindsight-page-'));
  await build({
    absWorkingDir: web,
    entryPoints: paths.map((path) => `src/${path}`),
    outdir: folder,
    outbase: 'src',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    outExtension: { '.js': '.mjs' },
    logLevel: 'error',
  });
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const modules = await Promise.all(paths.map((path) => import(pathToFileURL(join(folder, path.replace(/\.tsx?$/, '.mjs'))))));
  return Object.assign({}, ...modules);
}
