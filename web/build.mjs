// Builds the page: node build.mjs --out DIR   type check only: node build.mjs --check
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const mostKiB = 250; // what the page may weigh in all, gzip

/** All sheets as one: tokens first, then the base, the components, the frame, and each view's own. */
function sheets() {
  const style = join(here, 'src/style');
  const first = ['tokens.css', 'base.css', 'ui.css', 'frame.css', 'views.css'].map((name) => join(style, name));
  return [
    join(here, 'node_modules/uplot/dist/uPlot.min.css'),
    ...first,
    ...under(join(here, 'src/views'))
      .filter((path) => path.endsWith('.css'))
      .sort(),
  ];
}

function under(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? under(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}

export async function build(out, { minify = true } = {}) {
  const esbuild = await import('esbuild');
  rmSync(join(out, 'assets'), { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const result = await esbuild.build({
    absWorkingDir: here,
    stdin: {
      contents: sheets()
        .map((path) => `@import ${JSON.stringify(path)};`)
        .join('\n'),
      loader: 'css',
      resolveDir: here,
      sourcefile: 'page.css',
    },
    bundle: true,
    minify,
    write: false,
    outdir: 'x',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    logLevel: 'warning',
  });
  const css = Buffer.from(result.outputFiles[0].contents);
  const code = await esbuild.build({
    absWorkingDir: here,
    entryPoints: { page: 'src/main.tsx' },
    bundle: true,
    splitting: true,
    format: 'esm',
    minify,
    outdir: join(out, 'assets'),
    write: true,
    metafile: true,
    legalComments: 'none',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
    define: { 'process.env.NODE_ENV': minify ? '"production"' : '"development"' },
  });
  const { createHash } = await import('node:crypto');
  const sheet = `page-${createHash('sha256').update(css).digest('hex').slice(0, 8).toUpperCase()}.css`;
  writeFileSync(join(out, 'assets', sheet), css);
  const entry = Object.entries(code.metafile.outputs).find(([, o]) => o.entryPoint === 'src/main.tsx');
  const script = basename(entry[0]);
  const preloads = entry[1].imports
    .filter((i) => i.kind === 'import-statement')
    .map((i) => `    <link rel="modulepreload" href="assets/${basename(i.path)}">\n`)
    .join('');
  writeFileSync(join(out, 'assets', 'icon.svg'), readFileSync(join(here, 'src/icon.svg')));
  const page = readFileSync(join(here, 'src/index.html'), 'utf8')
    .replace('%SHEET%', `assets/${sheet}`)
    .replace('%SCRIPT%', `assets/${script}`)
    .replace(/^.*%PRELOADS%.*\n/m, preloads);
  writeFileSync(join(out, 'index.html'), page);
  writeFileSync(join(out, 'licenses.txt'), licenses());
  return weigh(out);
}

/** What is owed to those whose code the page holds. */
function licenses() {
  const own = ['preact', '@preact/signals', '@preact/signals-core', 'uplot'];
  return own
    .map((name) => {
      const folder = join(here, 'node_modules', name);
      const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** Bytes of every file, as they are and as gzip. */
export function weigh(out) {
  const files = ['index.html', 'licenses.txt', ...readdirSync(join(out, 'assets')).map((name) => `assets/${name}`)];
  return files.map((name) => {
    const bytes = readFileSync(join(out, name));
    return { name, bytes: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
  });
}

function report(files) {
  for (const file of files)
    console.log(`${(file.gzip / 1024).toFixed(1).padStart(8)} KiB gzip ${(file.bytes / 1024).toFixed(1).padStart(8)} KiB  ${file.name}`);
  const whole = files.reduce((sum, file) => sum + file.gzip, 0) / 1024;
  console.log(`${whole.toFixed(1).padStart(8)} KiB gzip in all, of ${mostKiB}`);
  return whole <= mostKiB;
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const word = (name) => process.argv[process.argv.indexOf(name) + 1];
  if (process.argv.includes('--check')) {
    process.exit(
      spawnSync(process.execPath, [join(here, 'node_modules/typescript/bin/tsc'), '-p', here], { stdio: 'inherit' }).status ?? 1,
    );
  } else if (process.argv.includes('--out')) {
    const out = resolve(word('--out'));
    if (!report(await build(out))) {
      console.error('The page is heavier than it may be.');
      process.exit(1);
    }
  } else {
    console.error('node build.mjs --out DIR | --check');
    process.exit(2);
  }
}
