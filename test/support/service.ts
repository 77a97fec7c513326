import { execFile } from 'node:child_process';
import { copyFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { chunk, CHUNKED, post, speak } from './raw.ts';
import { BUN, BUNDLE, DENO, isPresent, DENO_2_5, type Runtime } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { FULL_VIEW, MINIMAL_VIEW } from './views.ts';
import { dataDirectory, PROJECTS, run, startViewlog, until } from './viewlog.ts';

// Tests the behaviour of the service that depends on the runtime. Unit tests cover the rest.

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const PAGE = 'https://page.example';
const VIEW = JSON.stringify(MINIMAL_VIEW);
const LARGE = 'x'.repeat(17_000);

const CORS = {
  'access-control-allow-origin': PAGE,
  'access-control-allow-credentials': 'true',
  vary: expect.stringMatching(/(^|, )Origin$/), // some versions of Deno add Accept-Encoding
};

/** Removes Deno's note about a missing permission. */
const withoutNotice = (stderr: string): string =>
  stderr.replace(/^warning: .*--min-free is off.*\n/m, '');

/**
 * Defines the tests of one runtime. Each runtime has a test file, so that they run side by side.
 */
export function theServiceOn(runtime: Runtime): void {
  describe.skipIf(!isPresent(runtime))(`viewlog on ${runtime.name}`, () => {
    service(runtime);
  });
}

function service(runtime: Runtime): void {
  const start = () => startViewlog({ runtime });

  it('stores a view as a line, prints where it listens and exits with code 0', async () => {
    const viewlog = await start();
    const answer = await viewlog.post(FULL_VIEW);
    expect(answer.status).toBe(201);
    const { id } = (await answer.json()) as { id: string };
    expect(id).toMatch(ID);
    const [line] = viewlog.lines();
    const { ts } = JSON.parse(line!) as { ts: string };
    expect(new Date(ts).toISOString()).toBe(ts);
    expect(line).toBe(`{"ts":"${ts}","id":"${id}",${JSON.stringify(FULL_VIEW).slice(1)}`);
    const file = readdirSync(viewlog.data).find((name) => name.startsWith('views-'));
    expect(file).toBe(`views-${ts.slice(0, 10)}.ndjson`);
    expect(statSync(join(viewlog.data, file!)).mode & 0o777).toBe(0o640);
    const { code, stdout, stderr } = await viewlog.signal('SIGTERM');
    expect(stdout.split('\n')[0]).toBe(`viewlog listening on ${viewlog.url}`);
    expect([code, withoutNotice(stderr)]).toStrictEqual([0, '']);
  });

  it('runs from one file, in an empty directory', async () => {
    const dir = tempDir();
    const [program, ...args] = runtime.command(dir, join(dir, 'viewlog.mjs'));
    if (program !== args.at(-1)) copyFileSync(BUNDLE, join(dir, 'viewlog.mjs'));
    const { stdout } = await promisify(execFile)(program, [...args, '--help'], { cwd: dir });
    expect(stdout).toContain('collects page views');
  });

  it('answers each request with the status of the first check that fails', async () => {
    const viewlog = await start();
    const json = 'application/json';
    const deep = '['.repeat(7000) + ']'.repeat(7000);
    const cases: [string, string, string, string, number][] = [
      ['PUT', '/nowhere', 'text/plain', LARGE, 404],
      ['POST', '/view/', json, VIEW, 404],
      ['POST', '//view', json, VIEW, 404],
      ['PUT', '/view', 'text/plain', LARGE, 405],
      ['POST', '/view', json, LARGE, 413],
      ['POST', '/view', json, '', 400],
      ['POST', '/view', json, '['.repeat(16_000), 400],
      ['POST', '/view', json, deep, 422],
      ['POST', '/view', json, VIEW.replace('{', `{"cf":${deep},`), 422],
      ['POST', '/view?a=b&c', json, VIEW, 201],
    ];
    for (const [method, path, type, body, status] of cases) {
      const headers = { 'content-type': type };
      const answer = await fetch(viewlog.url + path, { method, headers, body });
      const sent = `${method} ${path} ${body.slice(0, 9)}`;
      expect(`${sent} ${answer.status}`).toBe(`${sent} ${status}`);
      await answer.arrayBuffer();
    }
    for (const target of ['/view', 'http://[']) {
      const pieces = [`HEAD ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`];
      const { received } = await speak(viewlog.port, { pieces });
      expect(received).toMatch(/^HTTP\/1\.1 4/);
      expect(received.slice(received.indexOf('\r\n\r\n'))).toBe('\r\n\r\n');
    }
  });

  it('lets a page of any origin read every answer and sends few headers with a 201', async () => {
    const viewlog = await start();
    const ofServer = new Set(['connection', 'content-length', 'date', 'keep-alive']);
    const names = ({ headers }: Response) =>
      [...headers.keys()].filter((one) => !ofServer.has(one));
    const accepted = await viewlog.post(MINIMAL_VIEW, { origin: PAGE });
    expect(Object.fromEntries(accepted.headers)).toMatchObject(CORS);
    expect(names(accepted)).toStrictEqual([
      'access-control-allow-credentials',
      'access-control-allow-origin',
      'content-type',
      'vary',
    ]);
    expect(names(await viewlog.post(MINIMAL_VIEW))).toStrictEqual(['content-type', 'vary']);
    const asked = { method: 'PUT', headers: { origin: PAGE } };
    for (const refused of [
      await viewlog.post('{', { origin: PAGE }),
      await fetch(`${viewlog.url}/view`, asked),
      await fetch(`${viewlog.url}/nowhere`, asked),
    ]) {
      expect(Object.fromEntries(refused.headers)).toMatchObject({
        ...CORS,
        'access-control-expose-headers': 'Retry-After',
        'cache-control': 'no-store',
        'content-type': 'application/problem+json',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  it('grants every preflight, on any path', async () => {
    const viewlog = await start();
    const headers = {
      origin: PAGE,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type, x-other',
    };
    for (const path of ['/view', '/nowhere']) {
      const preflight = await fetch(viewlog.url + path, { method: 'OPTIONS', headers });
      expect(preflight.status).toBe(204);
      expect(Object.fromEntries(preflight.headers)).toMatchObject({
        ...CORS,
        'access-control-allow-methods': 'PUT',
        'access-control-allow-headers': 'content-type, x-other',
        'access-control-max-age': '86400',
        vary: expect.stringContaining('Origin'),
      });
    }
    const plain = await fetch(`${viewlog.url}/view`, { method: 'OPTIONS' });
    expect([plain.status, plain.headers.get('allow')]).toStrictEqual([204, 'POST, OPTIONS']);
  });

  it('answers 413 as soon as a body is over the limit and closes the connection', async () => {
    const viewlog = await start();
    const declared = await speak(viewlog.port, {
      pieces: [post('{', { 'Content-Length': '1000000000' })],
    });
    expect(declared.answers).toMatchObject([{ status: 413, headers: { connection: 'close' } }]);
    // Deno before 2.9 closes such connections, often before the answer.
    if (runtime === DENO_2_5) return;
    const endlessly = Array<string>(16_384).fill(chunk('x'.repeat(4096)));
    const sendOn = () => speak(viewlog.port, { pieces: [post('', CHUNKED), ...endlessly] });
    let endless = await sendOn();
    // On a busy machine, a client that reads slowly sees a reset instead of the answer.
    for (let i = 0; i < 3 && endless.answers.length === 0; i++) endless = await sendOn();
    expect(endless.answers).toMatchObject([{ status: 413 }]);
    if (ownsConnections(runtime)) {
      expect(endless.closed).toBe(true);
      // Bun reads on while it lingers.
      expect(endless.sentBytes).toBeLessThan(32 * 1024 * 1024);
    }
    const bytes = await speak(viewlog.port, {
      pieces: [post('', CHUNKED), chunk('{').repeat(20_000)],
    });
    expect(bytes.answers).toMatchObject([{ status: 413, body: expect.stringContaining('pieces') }]);
    // If viewlog delayed the end of the answer, Bun would read on, and serve no other client.
    if (runtime === BUN) expect(bytes.answers[0]!.headers['transfer-encoding']).toBeUndefined();
  });

  it('keeps a connection open through chunks, refusals and pipelined requests', async () => {
    const viewlog = await start();
    const statusesOf = async (pieces: readonly (string | number)[], inTurn = false) => {
      const { answers, closed } = await speak(viewlog.port, { pieces, inTurn });
      return [answers.map(({ status }) => status), closed];
    };
    const pieces = [post('', CHUNKED), chunk(VIEW.slice(0, 10)), 20, chunk(VIEW.slice(10))];
    const [chunked] = await statusesOf([...pieces, '0\r\n\r\n']);
    expect(chunked).toStrictEqual([201]);
    // Bun closes a connection if a request arrives before the previous one is answered.
    if (runtime !== BUN) {
      const ahead = [VIEW, '{', VIEW].map((body) => post(body)).join('');
      expect((await statusesOf([ahead]))[0]).toStrictEqual([201, 400, 201]);
    }
    if (!ownsConnections(runtime)) return;
    const requests = [
      'OPTIONS /view HTTP/1.1\r\nHost: v\r\nAccess-Control-Request-Method: POST\r\n\r\n',
      'GET /other HTTP/1.1\r\nHost: v\r\n\r\n',
      post('bare', { 'Content-Type': 'text/plain' }),
      post('{}'),
      post('x'.repeat(60_000)), // read to its end after the refusal
      post(VIEW),
    ];
    expect(await statusesOf(requests, true)).toStrictEqual([[204, 404, 415, 422, 413, 201], false]);
    const beyond = post('x'.repeat(200_000), { 'Content-Type': 'text/plain' });
    expect(await statusesOf([beyond])).toStrictEqual([[415], true]);
  });

  it('survives invalid requests, aborted uploads and false lengths without logging anything', async () => {
    const viewlog = await start();
    const sent = RUBBISH.map(async (piece) => {
      const { answers } = await speak(viewlog.port, { pieces: [piece] }, 150);
      for (const { status } of answers) expect([piece, status < 500]).toStrictEqual([piece, true]);
    });
    const aborted = Array.from({ length: 60 }, (_, i) => {
      const text = i % 2 === 0 ? post(VIEW) : `${post('', CHUNKED)}${chunk(VIEW)}`;
      return speak(viewlog.port, { pieces: [text.slice(0, -1 - i)], abortMs: i });
    });
    await Promise.all([...sent, ...aborted]);
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    expect(viewlog.lines()).toHaveLength(1);
    const { code, stderr } = await viewlog.signal('SIGTERM');
    expect([code, withoutNotice(stderr)]).toStrictEqual([0, '']);
  });

  it('stores refused views and applies an edit of the projects file', async () => {
    const viewlog = await start();
    const view = { ...MINIMAL_VIEW, p: '1000002' };
    expect((await viewlog.post(view, { origin: PAGE })).status).toBe(403);
    const refused = await until(() => viewlog.refusedLines()[0]);
    expect(JSON.parse(refused)).toMatchObject({
      code: 'project-not-activated',
      origin: PAGE,
      view,
    });
    const projects = [{ id: '1000002' }];
    writeFileSync(join(viewlog.data, 'projects.json'), JSON.stringify({ ...PROJECTS, projects }));
    await until(async () => (await viewlog.post(view)).status === 201);
    writeFileSync(join(viewlog.data, 'projects.json'), '{');
    viewlog.child.kill('SIGHUP');
    await viewlog.says(/projects\.json:1:2/);
    expect((await viewlog.post(view)).status).toBe(201);
  });

  it("prints in one line why it can't start", async () => {
    const viewlog = await start();
    const cases: [string[], number, RegExp][] = [
      [
        ['serve', '--port', 'x'],
        64,
        /--port must be a whole number from 0 to 65535; found "x"\. For example: --port 8080/,
      ],
      // Other commands have an option --from.
      [['serve', '--frob'], 64, /serve has no option --frob\. To list its options: .* help serve/],
      [['chekc'], 64, /Unknown command "chekc"\. Did you mean check\?/],
      [
        ['serve', '--status=off', '--port', String(viewlog.port)],
        69,
        /Can't listen .*: another program is using this address/,
      ],
      [
        ['serve', '--projects', 'nowhere.json'],
        78,
        /; check --projects, or create the file \(replace ID .*\): \/.* activate ID --projects /,
      ],
    ];
    for (const [args, exit, message] of cases) {
      const { code, stderr } = await run(args, { runtime, data: dataDirectory() });
      expect([args, code]).toStrictEqual([args, exit]);
      expect(stderr).toMatch(message);
      expect(withoutNotice(stderr).trimEnd().split('\n')).toHaveLength(1);
    }
  });
}

/**
 * Returns whether viewlog decides when a connection is closed. Deno's server decides that itself:
 * some versions close connections that could stay open, and some read a refused body to its end.
 */
const ownsConnections = (runtime: Runtime): boolean => runtime !== DENO && runtime !== DENO_2_5;

const RUBBISH: (string | Buffer)[] = [
  'rubbish\r\n\r\n',
  'GET\r\n\r\n',
  'POST /view HTTP/1.1\r\n\r\n',
  'GET /%00%ff%zz\\..\\x HTTP/1.1\r\nHost: x\r\n\r\n',
  ...['HEAD', 'GET', 'POST', 'OPTIONS'].flatMap((method) =>
    ['*', 'x', '?', '//', '/%', 'x://', 'http://['].map(
      (target) => `${method} ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
    ),
  ),
  'TRACE /view HTTP/1.1\r\nHost: x\r\n\r\n',
  'CONNECT /view HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /view HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  post('{}', { Host: 'a b<>"' }),
  post('{}', { Origin: 'https://\u00e9\u00ff' }),
  post('{}', { 'Content-Length': '-1' }),
  post('{}', { 'Content-Length': '2, 3' }),
  post('{}', { 'Transfer-Encoding': 'chunked' }),
  post(VIEW, { 'Content-Length': '10' }),
  Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]),
  `GET /view HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
];
