// Serves the page with an API of examples, for work on the page and for its tests:
//   node dev-server.mjs --fixtures [--scene story|large|live|empty|token] [--port 8900] [--dist DIR] [--no-build]
// A real one: node dev-server.mjs --api http://127.0.0.1:8080 hands questions on to a `hindsight ui`.
import { createReadStream, existsSync, statSync } from 'node:fs';
import http from 'node:http';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};
export const policy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

/** Starts a server; `scene` says which examples. `port` 0: any. */
export async function serve({ scene = 'story', port = 0, dist = join(here, 'dist'), api } = {}) {
  const { makeStory, NoAnswer } = await import('./tests/fixtures/story_api.mjs');
  const { makeLarge } = await import('./tests/fixtures/large_api.mjs');
  const source = scene === 'large' ? makeLarge() : makeStory(scene === 'live' ? { latest: 200 } : {});
  const control = { source, failing: undefined, delay: 0, asked: [] };
  const streams = new Set();

  const tell = (response, status, body, more = {}) => {
    response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...more });
    response.end(body === undefined ? '' : JSON.stringify(body));
  };

  async function answer(request, response, url) {
    const path = url.pathname.slice('/api/v1/'.length);
    const query = Object.fromEntries(url.searchParams);
    control.asked.push(request.url);
    if (control.delay) await new Promise((done) => setTimeout(done, control.delay));
    if (scene === 'token' && path !== 'session' && !/session=good/.test(request.headers.cookie ?? ''))
      return tell(response, 401, { error: { status: 401, message: 'Nobody is signed in.', remedy: 'Sign in with a token.' } });
    let body = '';
    for await (const chunk of request) body += chunk;
    if (path === 'session') {
      if (request.method === 'DELETE') return tell(response, 204, undefined, { 'Set-Cookie': 'session=; Max-Age=0; Path=/' });
      if (JSON.parse(body || '{}').token !== 'good')
        return tell(response, 401, { error: { status: 401, message: 'The cluster does not know this token.', remedy: 'Make a new one.' } });
      return tell(response, 200, { user: 'somebody' }, { 'Set-Cookie': 'session=good; HttpOnly; SameSite=Strict; Path=/' });
    }
    if (control.failing && path !== 'log' && path !== 'live' && path !== 'timeline')
      return tell(response, control.failing.error.status, control.failing);
    if (path === 'live') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      response.write(`event: latest\ndata: ${JSON.stringify(source.place(source.latest))}\n\n`);
      const listener = (name, data) => response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
      source.listeners.add(listener);
      streams.add(response);
      response.on('close', () => {
        source.listeners.delete(listener);
        streams.delete(response);
      });
      return undefined;
    }
    try {
      const told = source.answer(path, query, request.method, body ? JSON.parse(body) : undefined);
      return tell(response, told === undefined ? 204 : 200, scene === 'empty' ? emptied(path, told) : told);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      return tell(response, error.status, { error: { status: error.status, message: error.message, remedy: error.remedy } });
    }
  }

  function handOn(request, response) {
    const target = new URL(request.url, api);
    const onward = http.request(target, { method: request.method, headers: { ...request.headers, host: target.host } }, (got) => {
      response.writeHead(got.statusCode, got.headers);
      got.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  }

  const server = http.createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    if (url.pathname.startsWith('/api/')) {
      if (api) return handOn(request, response);
      return void answer(request, response, url).catch((error) => {
        if (request.destroyed || error.code === 'ECONNRESET') return; // whoever asked is gone
        console.error(error);
        if (!response.headersSent) tell(response, 500, { error: { status: 500, message: `The fixture failed: ${error.message}` } });
      });
    }
    const path = resolve(dist, `.${url.pathname === '/' ? '/index.html' : url.pathname}`);
    if (!path.startsWith(resolve(dist)) || !existsSync(path) || !statSync(path).isFile())
      return tell(response, 404, { error: { status: 404, message: 'There is no such file.' } });
    response.writeHead(200, {
      'Content-Type': types[extname(path)] ?? 'application/octet-stream',
      'Cache-Control': url.pathname.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    });
    return void createReadStream(path).pipe(response);
  });
  await new Promise((done, failed) => server.once('error', failed).listen(port, '127.0.0.1', done));
  control.port = server.address().port;
  control.url = `http://127.0.0.1:${control.port}/`;
  control.close = () =>
    new Promise((done) => {
      for (const stream of streams) stream.destroy();
      server.close(done);
      server.closeAllConnections?.();
    });
  return control;
}

/** As the API answers of a log without queues and workloads. */
function emptied(path, told) {
  if (!told || typeof told !== 'object' || path === 'log' || path === 'timeline' || path === 'step' || /^records\//.test(path)) return told;
  if (Array.isArray(told)) return [];
  const out = { ...told };
  for (const [name, value] of Object.entries(out)) if (Array.isArray(value)) out[name] = [];
  if (path === 'overview') Object.assign(out, { queues: 0, workloads: { total: 0, pending: 0, reserved: 0, admitted: 0, finished: 0 } });
  if (path === 'workloads') Object.assign(out, { total: 0, all: 0 });
  if (path === 'records') delete out.next;
  return out;
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const word = (name, otherwise) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : otherwise);
  const api = word('--api');
  if (!api && !process.argv.includes('--fixtures')) {
    console.error(
      'node dev-server.mjs --fixtures [--scene story|large|live|empty|token] | --api URL   [--port PORT] [--dist DIR] [--no-build]',
    );
    process.exit(2);
  }
  const dist = resolve(word('--dist', join(here, 'dist')));
  if (!process.argv.includes('--no-build')) await (await import('./build.mjs')).build(dist, { minify: false });
  const server = await serve({ scene: word('--scene', 'story'), port: Number(word('--port', 8900)), dist, api });
  console.log(server.url);
}
