import { execFile } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { chunk, post, speak } from './raw.ts';
import { BUN, BUNDLE, DENO, isPresent, OLDEST_DENO, type Runtime } from './runtimes.ts';
import { tempDir, untilEnd } from './temp-dir.ts';
import { ACCEPTED, FULL_VIEW, INVALID, MINIMAL_VIEW } from './views.ts';
import { dataDirectory, PROJECTS, run, startViewlog, until, type Viewlog } from './viewlog.ts';

// The whole service, from outside, the same on every runtime.

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const VIEW_MAX = 16 * 1024;
const PAGE = 'https://page.example';

interface Problem {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  issues?: { field: string; message: string; expected: string; received: string }[];
}

const problem = async (response: Response): Promise<Problem> => (await response.json()) as Problem;

/** A view whose JSON text is `bytes` long. */
function viewOf(bytes: number): string {
  const empty = JSON.stringify({ ...MINIMAL_VIEW, pn: '' });
  return JSON.stringify({ ...MINIMAL_VIEW, pn: 'x'.repeat(bytes - empty.length) });
}

/** The suite of one runtime. Each has a test file of its own, so that they run side by side. */
export function theServiceOn(runtime: Runtime): void {
  describe.skipIf(!isPresent(runtime))(`viewlog on ${runtime.name}`, () => {
    service(runtime);
  });
}

function service(runtime: Runtime): void {
  // Deno's server gives no say in when a connection is closed, and versions differ: some close one
  // that could be kept, some read a refused body to its end, however long.
  const ownsConnections = runtime !== DENO && runtime !== OLDEST_DENO;
  const start = (args: readonly string[] = [], data?: string) =>
    startViewlog({ runtime, args, ...(data && { data }) });
  /** For what looks at answers only. */
  let shared!: Viewlog;
  beforeAll(() => {
    const { made, end } = untilEnd(() => start());
    return made.then((viewlog) => {
      shared = viewlog;
      return end;
    });
  });

  it('a view goes in, a line comes out', async () => {
    const viewlog = await start();
    const answer = await viewlog.post(FULL_VIEW);
    const [line] = viewlog.lines();
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const { id } = (await answer.json()) as { id: string };
    expect(id).toMatch(ID);
    const { ts } = JSON.parse(line!) as { ts: string };
    expect(new Date(ts).toISOString()).toBe(ts);
    expect(line).toBe(`{"ts":"${ts}","id":"${id}",${JSON.stringify(FULL_VIEW).slice(1)}`);
    const file = readdirSync(viewlog.data).find((name) => name.startsWith('views-'));
    expect(file).toBe(`views-${ts.slice(0, 10)}.ndjson`);
    expect(statSync(join(viewlog.data, file!)).mode & 0o777).toBe(0o640);
  });

  it('says where it listens first, writes nothing else on stdout, and stops with 0', async () => {
    const viewlog = await start();
    await viewlog.post(MINIMAL_VIEW);
    const { code, stdout, stderr } = await viewlog.signal('SIGTERM');
    expect(stdout.split('\n')[0]).toBe(`viewlog listening on ${viewlog.url}`);
    expect(viewlog.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(code).toBe(0);
    // What a runtime does not allow is said once; nothing else is.
    expect(stderr.replace(/^warning: .*--min-free is off.*\n/m, '')).toBe('');
  });

  it('accepts and refuses as the tables say, naming the field', async () => {
    const viewlog = await start();
    for (const [name, change] of ACCEPTED) {
      const answer = await viewlog.post({ ...FULL_VIEW, p: '1000001', ...change });
      // Other ids than the listed ones get past the view's own checks and no further.
      expect([name, answer.status]).toStrictEqual([name, 'p' in change ? 403 : 201]);
    }
    for (const [name, change, field, expected] of INVALID) {
      const answer = await viewlog.post({ ...FULL_VIEW, ...change });
      expect([name, answer.status]).toStrictEqual([name, 422]);
      const { code, issues } = await problem(answer);
      expect(code).toBe('invalid-view');
      expect(issues).toMatchObject([{ field, expected }]);
    }
    const accepted = ACCEPTED.filter(([, change]) => !('p' in change));
    expect(viewlog.lines().map((line) => ({ ...JSON.parse(line), ts: 0, id: 0 }))).toStrictEqual(
      accepted.map(([, change]) => ({ ...FULL_VIEW, ...change, ts: 0, id: 0 })),
    );
  });

  it('answers anything with a 201 or a refusal of its own, and stores what it took', async () => {
    const viewlog = await start();
    const anything = fc.oneof(
      fc.json({ stringUnit: 'binary' }),
      fc.record({ view: fc.jsonValue() }).map(({ view }) => JSON.stringify(view)),
      fc.jsonValue().map((cf) => JSON.stringify({ ...FULL_VIEW, cf: [cf] })),
      fc.jsonValue().map((pn) => JSON.stringify({ ...FULL_VIEW, pn })),
      fc.string({ unit: 'binary' }).map((pn) => JSON.stringify({ ...FULL_VIEW, pn })),
      fc.string(),
    );
    const stored: object[] = [];
    await fc.assert(
      fc.asyncProperty(anything, async (text) => {
        const answer = await viewlog.post(text);
        if (answer.status !== 201) {
          expect([400, 413, 422]).toContain(answer.status);
          expect(answer.headers.get('content-type')).toBe('application/problem+json');
          await answer.arrayBuffer();
          return;
        }
        const { id } = (await answer.json()) as { id: string };
        const sent: unknown = JSON.parse(text, (__, value: unknown) =>
          typeof value === 'string' ? value.toWellFormed() : value,
        );
        stored.push({ id, ...JSON.parse(JSON.stringify(sent)) });
      }),
      { numRuns: 150 },
    );
    expect(stored.length).toBeGreaterThan(0);
    const views = viewlog.lines().map((line) => {
      const { ts: _, ...view } = JSON.parse(line) as { ts: string };
      return view;
    });
    expect(views).toStrictEqual(stored);
  });

  it('gives ids that ascend, also within a millisecond and after a restart', async () => {
    const first = await start();
    const send = (): Promise<Response> => first.post(MINIMAL_VIEW);
    await Promise.all(Array.from({ length: 200 }, send));
    await first.signal('SIGTERM');
    const second = await start([], first.data);
    await second.post(MINIMAL_VIEW);
    const ids = second.lines().map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).toHaveLength(201);
    expect(ids).toStrictEqual([...new Set(ids)].toSorted());
  });

  it('is one file: it runs in an empty directory, with nothing beside it', async () => {
    const dir = tempDir();
    const [program, ...args] = runtime.command(dir, join(dir, 'viewlog.mjs'));
    if (program !== args.at(-1)) copyFileSync(BUNDLE, join(dir, 'viewlog.mjs'));
    const { stdout } = await promisify(execFile)(program, [...args, '--help'], { cwd: dir });
    expect(stdout).toContain('a page-view collector');
  });

  describe('a refusal', () => {
    it('comes of the first check that fails, in one order', async () => {
      const viewlog = shared;
      const json = 'application/json';
      const large = 'x'.repeat(VIEW_MAX + 1);
      const listed = { ...MINIMAL_VIEW, p: '1000003' };
      const requests: [string, string, string, string][] = [
        ['PUT', '/nowhere', 'text/plain', large],
        ['PUT', '/view', 'text/plain', large],
        ['POST', '/view', 'text/plain', large],
        ['POST', '/view', json, large],
        ['POST', '/view', json, '{'],
        ['POST', '/view', json, JSON.stringify({ ...listed, p: '9', url: '' })],
        ['POST', '/view', json, JSON.stringify({ ...listed, p: '9' })],
        ['POST', '/view', json, JSON.stringify(listed)],
      ];
      const codes = [];
      for (const [method, path, type, body] of requests) {
        const headers = { 'content-type': type };
        codes.push(
          (await problem(await fetch(viewlog.url + path, { method, headers, body }))).code,
        );
      }
      expect(codes).toStrictEqual([
        'not-found',
        'method-not-allowed',
        'unsupported-media-type',
        'view-too-large',
        'malformed-json',
        'invalid-view',
        'project-not-activated',
        'origin-not-allowed',
      ]);
    });

    it('is problem details with a stable code, and says why', async () => {
      const viewlog = shared;
      const answer = await viewlog.post({ ...MINIMAL_VIEW, p: '9' });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(await answer.json()).toStrictEqual({
        type: 'urn:viewlog:problem:project-not-activated',
        title: 'The project is not activated',
        status: 403,
        code: 'project-not-activated',
        detail: 'Project 9 is not activated. Ask views@example.com to activate it.',
      });
    });

    it('of a known and inactive project is the same as of an unknown one', async () => {
      const viewlog = shared;
      const unknown = await problem(await viewlog.post({ ...MINIMAL_VIEW, p: '9' }));
      const inactive = await problem(await viewlog.post({ ...MINIMAL_VIEW, p: '1000002' }));
      expect({ ...inactive, detail: inactive.detail.replace('1000002', '9') }).toStrictEqual(
        unknown,
      );
    });

    it('of a wrong method names the right ones', async () => {
      const viewlog = shared;
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
        const answer = await fetch(`${viewlog.url}/view`, { method });
        expect([method, answer.status]).toStrictEqual([method, 405]);
        expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
        if (method !== 'HEAD') expect((await problem(answer)).code).toBe('method-not-allowed');
      }
    });

    it('of another path is 404, and a query string changes nothing', async () => {
      const viewlog = shared;
      for (const path of ['/', '/view/', '/views', '/VIEW', '/view/1', '//view']) {
        const answer = await fetch(viewlog.url + path, { method: 'POST', body: '{}' });
        expect([path, answer.status]).toStrictEqual([path, 404]);
        expect((await problem(answer)).code).toBe('not-found');
      }
      const answer = await fetch(`${viewlog.url}/view?a=b&c`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(MINIMAL_VIEW),
      });
      expect(answer.status).toBe(201);
    });

    it.each([
      ['text/plain;charset=UTF-8', 415],
      ['application/x-www-form-urlencoded', 415],
      ['application/json; charset=latin1', 415],
      ['application/jsonp', 415],
      ['application/ld+json', 415],
      ['application/json', 201],
      ['application/json; charset=utf-8', 201],
      ['Application/JSON;Charset="UTF-8"', 201],
    ])('of the media type %s: %i', async (type, status) => {
      const viewlog = shared;
      const answer = await viewlog.post(MINIMAL_VIEW, { 'content-type': type });
      expect(answer.status).toBe(status);
      if (status === 415) expect(answer.headers.get('accept-post')).toBe('application/json');
    });

    it('of no media type, and of a compressed body, is 415', async () => {
      const viewlog = shared;
      const body = JSON.stringify(MINIMAL_VIEW);
      const none = await speak(viewlog.port, { pieces: [post(body, { 'Content-Type': '' })] });
      expect(none.answers[0]!.status).toBe(415);
      const gzip = await viewlog.post(body, { 'content-encoding': 'gzip' });
      expect(gzip.status).toBe(415);
      expect(gzip.headers.get('accept-post')).toBe('application/json');
    });

    it('of what is not JSON says where it goes wrong, in the same words everywhere', async () => {
      const viewlog = shared;
      const answer = await problem(await viewlog.post('{"p":"1",\n "pid" "x"}'));
      expect(answer).toMatchObject({
        code: 'malformed-json',
        detail: 'Line 2, column 8: expected ":"; found "x".',
      });
      expect(await problem(await viewlog.post(''))).toMatchObject({
        code: 'malformed-json',
        detail: 'The body is empty; send one JSON object.',
      });
    });

    it('of what is not UTF-8 is 400; a byte order mark is ignored', async () => {
      const viewlog = shared;
      const text = JSON.stringify({ ...MINIMAL_VIEW, pn: 'æ' });
      const send = (body: Buffer): Promise<Response> =>
        fetch(`${viewlog.url}/view`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: new Uint8Array(body),
        });
      const latin1 = await send(Buffer.from(text, 'latin1'));
      expect(await problem(latin1)).toMatchObject({
        code: 'malformed-json',
        detail: 'The body is not UTF-8.',
      });
      expect((await send(Buffer.from(`\ufeff${text}`))).status).toBe(201);
      expect(viewlog.lines().at(-1)).toContain('"pn":"æ"');
    });

    it.each([
      ['https://www.example.com', 201],
      ['https://a.example.org', 201],
      ['https://a.b.example.org', 201],
      ['https://example.org', 403],
      ['https://evilexample.org', 403],
      ['http://www.example.com', 403],
      ['https://www.example.com:8443', 403],
      ['null', 403],
      [undefined, 403],
    ])('of the origin %s where origins are listed: %i', async (origin, status) => {
      const viewlog = shared;
      const answer = await viewlog.post(
        { ...MINIMAL_VIEW, p: '1000003' },
        origin ? { origin } : {},
      );
      expect(answer.status).toBe(status);
      if (status === 403) expect((await problem(answer)).code).toBe('origin-not-allowed');
    });

    it('of too many views says when to come back, and only good views count', async () => {
      const viewlog = shared;
      const view = { ...MINIMAL_VIEW, p: '1000004' };
      expect((await viewlog.post({ ...view, url: 'x' })).status).toBe(422);
      expect((await viewlog.post(viewOf(VIEW_MAX - 10).replace('1000001', '1000004'))).status).toBe(
        413,
      );
      expect((await viewlog.post(view)).status).toBe(201);
      expect((await viewlog.post(view)).status).toBe(201);
      const answer = await viewlog.post(view);
      expect(answer.status).toBe(429);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(30);
      expect((await problem(answer)).code).toBe('rate-limited');
      expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    });

    it('of a large view gives both sizes, for the body and for the line', async () => {
      const viewlog = shared;
      const body = await viewlog.post(viewOf(VIEW_MAX + 1));
      expect(await problem(body)).toMatchObject({
        status: 413,
        code: 'view-too-large',
        detail: `The body is ${VIEW_MAX + 1} bytes; at most ${VIEW_MAX} bytes are accepted.`,
      });
      // The line has 77 bytes more than the body: its ts, its id and its newline.
      const line = await viewlog.post(viewOf(VIEW_MAX - 76));
      expect(await problem(line)).toMatchObject({
        status: 413,
        code: 'view-too-large',
        detail: `The line it would become is ${VIEW_MAX + 1} bytes; at most ${VIEW_MAX} bytes are accepted.`,
      });
      expect((await viewlog.post(viewOf(VIEW_MAX - 77))).status).toBe(201);
      expect(viewlog.lines().at(-1)!.length + 1).toBe(VIEW_MAX);
    });

    it('of --max-view and --max-queue follows the flags', async () => {
      const viewlog = await start(['--max-view=1KiB', '--max-queue', '64KiB']);
      expect((await viewlog.post(viewOf(1025))).status).toBe(413);
      expect((await viewlog.post(viewOf(900))).status).toBe(201);
    });
  });

  describe('for pages of any origin', () => {
    it('every answer can be read', async () => {
      const viewlog = shared;
      const requests: [
        string,
        Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
      ][] = [
        ['/view', { method: 'POST', body: JSON.stringify(MINIMAL_VIEW) }],
        ['/view', { method: 'POST', body: '{' }],
        ['/view', { method: 'POST', body: '{}' }],
        ['/view', { method: 'POST', body: viewOf(VIEW_MAX + 1) }],
        ['/view', { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }],
        ['/view', { method: 'GET' }],
        ['/nowhere', { method: 'GET' }],
      ];
      for (const [path, init] of requests) {
        const given = init.headers ?? {};
        const headers = { 'content-type': 'application/json', ...given, origin: PAGE };
        const answer = await fetch(viewlog.url + path, { ...init, headers });
        const got = Object.fromEntries(answer.headers);
        expect(got).toMatchObject({
          'access-control-allow-origin': PAGE,
          'access-control-allow-credentials': 'true',
          vary: expect.stringMatching(/(^|, )Origin$/), // some Denos add Accept-Encoding
        });
        expect(got).not.toHaveProperty('set-cookie');
        const others = {
          'access-control-expose-headers': 'Retry-After',
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
        };
        if (answer.status !== 201) expect(got).toMatchObject(others);
      }
    });

    it('a 201 has no header that a page could do without', async () => {
      const viewlog = shared;
      const servers = new Set(['connection', 'content-length', 'date', 'keep-alive']);
      const read = ['content-type', 'vary'];
      const headersOf = async (headers: Record<string, string>): Promise<string[]> => {
        const answer = await viewlog.post(MINIMAL_VIEW, headers);
        expect(answer.status).toBe(201);
        return [...answer.headers.keys()].filter((name) => !servers.has(name));
      };
      const cors = ['access-control-allow-credentials', 'access-control-allow-origin'];
      expect(await headersOf({})).toStrictEqual(read);
      expect(await headersOf({ origin: PAGE })).toStrictEqual([...cors, ...read]);
    });

    it('every preflight is granted, on any path', async () => {
      const viewlog = shared;
      for (const path of ['/view', '/nowhere', '/view/']) {
        const answer = await fetch(viewlog.url + path, {
          method: 'OPTIONS',
          headers: {
            origin: PAGE,
            'access-control-request-method': 'PUT',
            'access-control-request-headers': 'content-type, x-other',
          },
        });
        expect([path, answer.status]).toStrictEqual([path, 204]);
        expect(Object.fromEntries(answer.headers)).toMatchObject({
          'access-control-allow-origin': PAGE,
          'access-control-allow-credentials': 'true',
          'access-control-allow-methods': 'PUT',
          'access-control-allow-headers': 'content-type, x-other',
          'access-control-max-age': '86400',
          vary: expect.stringMatching(/(^|, )Origin$/), // some Denos add Accept-Encoding
        });
      }
    });
  });

  describe('a client that means harm, or has a bad line', () => {
    it('gets 413 as soon as its body is over the limit, however it is sent', async () => {
      const viewlog = shared;
      const length = await speak(viewlog.port, {
        pieces: [post('{', { 'Content-Length': '1000000000' })],
      });
      expect(length.answers.map(({ status }) => status)).toStrictEqual([413]);
      expect(length.answers[0]!.headers['connection']).toBe('close');
      expect(JSON.parse(length.answers[0]!.body)).toMatchObject({ code: 'view-too-large' });
      // It breaks such a connection off, and the answer with it.
      if (runtime === OLDEST_DENO) return;
      const sendOn = () =>
        speak(viewlog.port, {
          pieces: [post('', { 'Content-Length': '', 'Transfer-Encoding': 'chunked' })],
          endless: { piece: chunk('x'.repeat(4096)), bytesMax: 64 * 1024 * 1024 },
        });
      let endless = await sendOn();
      // A client that is slow to read sees a reset in the place of the answer: a busy machine's.
      for (let i = 0; i < 3 && endless.answers.length === 0; i++) endless = await sendOn();
      expect(endless.answers.map(({ status }) => status)).toStrictEqual([413]);
      if (!ownsConnections) return;
      expect(endless.closed).toBe(true);
      expect(endless.sentBytes).toBeLessThan(16 * 1024 * 1024);
    });

    it('gets 413 where its body comes by the byte, in chunks', async () => {
      // It breaks such a connection off, and the answer with it.
      if (runtime === OLDEST_DENO) return;
      const viewlog = shared;
      const { answers } = await speak(viewlog.port, {
        pieces: [
          post('', { 'Content-Length': '', 'Transfer-Encoding': 'chunked' }),
          chunk('{').repeat(20_000),
        ],
      });
      expect(answers.map(({ status }) => status)).toStrictEqual([413]);
      expect(answers[0]!.body).toContain('pieces');
      // While its end is held back, Bun reads on, and nobody else has a turn.
      if (runtime === BUN) expect(answers[0]!.headers['transfer-encoding']).toBeUndefined();
    });

    it('sends a view in chunks, and it is taken', async () => {
      const viewlog = shared;
      const text = JSON.stringify(MINIMAL_VIEW);
      const { answers, closed } = await speak(viewlog.port, {
        pieces: [
          post('', { 'Content-Length': '', 'Transfer-Encoding': 'chunked' }),
          chunk(text.slice(0, 10)),
          20,
          chunk(text.slice(10)),
          '0\r\n\r\n',
        ],
      });
      expect(answers.map(({ status }) => status)).toStrictEqual([201]);
      if (ownsConnections) expect(closed).toBe(false);
    });

    it.each([
      ['a view', '/view'],
      ['no address', 'http://['],
    ])('asks for the head of %s, and gets no body', async (_, target) => {
      const viewlog = shared;
      const pieces = [`HEAD ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`];
      const { received } = await speak(viewlog.port, { pieces });
      expect(received).toMatch(/^HTTP\/1\.1 4/);
      expect(received.slice(received.indexOf('\r\n\r\n'))).toBe('\r\n\r\n');
    });

    const pipelined = async (): Promise<void> => {
      const viewlog = await start();
      const texts = [JSON.stringify(MINIMAL_VIEW), '{', JSON.stringify(FULL_VIEW)];
      const { answers } = await speak(viewlog.port, {
        pieces: [texts.map((text) => post(text)).join('')],
      });
      const ids = answers.map(({ body }) => (JSON.parse(body) as { id?: string }).id);
      expect(answers.map(({ status }) => status)).toStrictEqual([201, 400, 201]);
      const stored = viewlog.lines().map((line) => (JSON.parse(line) as { id: string }).id);
      expect(ids.filter((id) => id !== undefined).toSorted()).toStrictEqual(stored);
    };
    // Bun ends a connection on which a request comes before the last one's answer.
    if (runtime !== BUN) it('sends views without waiting, and is answered in turn', pipelined);

    const onOneConnection = async (): Promise<void> => {
      const viewlog = shared;
      const { answers, closed } = await speak(viewlog.port, {
        pieces: [
          // Answered without a wait, as the next is; the others after one.
          'OPTIONS /view HTTP/1.1\r\nHost: v\r\nAccess-Control-Request-Method: POST\r\n\r\n',
          50,
          'GET /other HTTP/1.1\r\nHost: v\r\n\r\n',
          50,
          post('bare', { 'Content-Type': 'text/plain' }),
          50,
          post('{}'),
          50,
          post(viewOf(VIEW_MAX + 1000)),
          150,
          post(JSON.stringify(MINIMAL_VIEW)),
        ],
      });
      expect(answers.map(({ status }) => status)).toStrictEqual([204, 404, 415, 422, 413, 201]);
      expect(closed).toBe(false);
    };
    if (ownsConnections) it('gets its refusals on one connection', onOneConnection);

    const drained = async (): Promise<void> => {
      const viewlog = shared;
      const bare = (bytes: number) =>
        speak(viewlog.port, {
          pieces: [post('x'.repeat(bytes), { 'Content-Type': 'text/plain' })],
        });
      const small = await bare(60_000);
      expect(small.answers.map(({ status }) => status)).toStrictEqual([415]);
      expect(small.closed).toBe(false);
      const large = await bare(200_000);
      expect(large.answers.map(({ status }) => status)).toStrictEqual([415]);
      expect(large.closed).toBe(true);
    };
    if (ownsConnections) it('is read for 64 KiB after a refusal, then closed', drained);

    it('stops in the middle of its body, and gets 408', async () => {
      const viewlog = shared;
      const { answers } = await speak(viewlog.port, {
        pieces: [post('{"p":', { 'Content-Length': '500' })],
      });
      expect(answers.map(({ status }) => status)).toStrictEqual([408]);
      expect(JSON.parse(answers[0]!.body)).toMatchObject({ code: 'request-timeout' });
      expect(answers[0]!.headers['connection']).toBe('close');
    });

    it('cannot take others with it: rubbish, aborts and lies leave no trace', async () => {
      const viewlog = await start();
      const lie = post(JSON.stringify(MINIMAL_VIEW), { 'Content-Length': '10' });
      const rubbish: (string | Buffer)[] = [
        'rubbish\r\n\r\n',
        'GET\r\n\r\n',
        'POST /view HTTP/1.1\r\n\r\n',
        'POST * HTTP/1.1\r\nHost: x\r\n\r\n',
        'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
        'POST http://[ HTTP/1.1\r\nHost: x\r\n\r\n',
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
        lie,
        Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc]),
        `GET /view HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
      ];
      const sent = rubbish.map(async (piece) => {
        const { answers } = await speak(viewlog.port, { pieces: [piece] }, 150);
        for (const { status } of answers)
          expect([piece, status, status < 500]).toStrictEqual([piece, status, true]);
      });
      await Promise.all(sent);
      const body = JSON.stringify(FULL_VIEW);
      for (let sent = 0; sent < body.length; sent += 16) {
        const socket = speak(viewlog.port, { pieces: [post(body).slice(0, -sent - 1)] }, 10);
        void socket;
      }
      await abortUploads(viewlog.port, 50);
      expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
      expect(viewlog.lines()).toHaveLength(1);
      const { code, stderr } = await viewlog.signal('SIGTERM');
      expect(stderr.replace(/^warning: .*--min-free is off.*\n/m, '')).toBe('');
      expect(code).toBe(0);
    });

    const noUrl = async (): Promise<void> => {
      const viewlog = shared;
      const { answers } = await speak(viewlog.port, {
        pieces: ['POST http://[ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n'],
      });
      expect(answers.map(({ status }) => status)).toStrictEqual([404]);
      expect(JSON.parse(answers[0]!.body)).toMatchObject({ code: 'not-found' });
    };
    // Deno and Bun answer this by themselves.
    if (ownsConnections && runtime !== BUN) it('asks for what is no URL, and gets 404', noUrl);

    it('nests as deep as it likes, anywhere', async () => {
      const viewlog = shared;
      const deep = '['.repeat(7000) + ']'.repeat(7000);
      const whole = await problem(await viewlog.post(deep));
      expect(whole).toMatchObject({ code: 'invalid-view', issues: [{ field: '' }] });
      const cf = JSON.stringify({ ...FULL_VIEW, cf: 0 }).replace('"cf":0', `"cf":${deep}`);
      expect(await problem(await viewlog.post(cf))).toMatchObject({
        code: 'invalid-view',
        issues: [{ field: 'cf', expected: 'array nested at most 32 levels deep' }],
      });
      const open = await problem(await viewlog.post('['.repeat(16_000)));
      expect(open.code).toBe('malformed-json');
    });
  });

  it('keeps refused views, with why, as they were sent', async () => {
    const viewlog = await start();
    const sent = JSON.stringify({ ...MINIMAL_VIEW, p: '9' }, null, 2);
    await viewlog.post(sent, { origin: PAGE });
    await viewlog.post({ ...MINIMAL_VIEW, url: 'x' });
    await viewlog.post('[1]');
    await viewlog.post('{');
    await viewlog.post('x', { 'content-type': 'text/plain' });
    const lines = await until(() => {
      const kept = viewlog.refusedLines();
      return kept.length >= 2 ? kept : undefined;
    });
    const kept = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(kept).toMatchObject([
      { code: 'project-not-activated', origin: PAGE, view: { ...MINIMAL_VIEW, p: '9' } },
      { code: 'invalid-view', issues: [{ field: 'url' }], view: { ...MINIMAL_VIEW, url: 'x' } },
    ]);
    expect(kept[0]!['id']).toMatch(ID);
    expect(viewlog.lines()).toStrictEqual([]);
    await viewlog.signal('SIGTERM');
    expect(viewlog.refusedLines()).toHaveLength(2);
  });

  it('takes up an edit of the projects file, at once on SIGHUP', async () => {
    const viewlog = await start();
    const view = { ...MINIMAL_VIEW, p: '1000002' };
    expect((await viewlog.post(view)).status).toBe(403);
    const projects = [{ id: '1000002' }];
    writeFileSync(join(viewlog.data, 'projects.json'), JSON.stringify({ ...PROJECTS, projects }));
    await until(async () => (await viewlog.post(view)).status === 201);
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(403);
    writeFileSync(join(viewlog.data, 'projects.json'), '{');
    viewlog.child.kill('SIGHUP');
    await until(() => viewlog.stderr().includes('projects.json:1:2'));
    expect((await viewlog.post(view)).status).toBe(201);
  });

  it('answers what is under way when it is told to stop, and ends with 0', async () => {
    const viewlog = await start();
    const body = JSON.stringify(FULL_VIEW);
    // Neither client closes its connection by itself.
    const pieces = [post(body).slice(0, -5), 1000, body.slice(-5)];
    const slow = speak(viewlog.port, { pieces }, 20_000);
    const idle = speak(viewlog.port, { pieces: [post(body)] }, 20_000);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const askedMs = performance.now();
    const { code } = await viewlog.signal('SIGTERM');
    // As soon as the last answer is out, that is after a second; connections that idle are cut
    // off only after seven.
    expect(performance.now() - askedMs).toBeLessThan(6_000);
    expect((await slow).answers.map(({ status }) => status)).toStrictEqual([201]);
    expect((await idle).closed).toBe(true);
    expect(code).toBe(0);
    expect(viewlog.lines()).toHaveLength(2);
  });

  it('stores every view it acknowledged while it was told to stop under load', async () => {
    const viewlog = await start();
    const acknowledged: string[] = [];
    const load = Array.from({ length: 16 }, async () => {
      for (;;) {
        const answer = await viewlog.post(FULL_VIEW).catch(() => undefined);
        if (answer?.status !== 201) return;
        acknowledged.push(((await answer.json()) as { id: string }).id);
      }
    });
    await until(() => acknowledged.length > 300);
    const { code } = await viewlog.signal('SIGTERM');
    await Promise.all(load);
    const stored = new Set(viewlog.lines().map((line) => (JSON.parse(line) as { id: string }).id));
    expect(acknowledged.filter((id) => !stored.has(id))).toStrictEqual([]);
    expect(code).toBe(0);
  });

  it('says in one line why it cannot start, and ends with the code for it', async () => {
    const viewlog = await start();
    const cases: [string[], number, RegExp][] = [
      [['serve', '--port', 'x'], 64, /--port must be a whole number from 0 to 65535, not "x"/],
      [['serve', '--prot=1'], 64, /Unknown option --prot; did you mean --port\?/],
      [['chekc'], 64, /Unknown command "chekc"; did you mean check\?/],
      [
        ['serve', '--status=off', '--port', String(viewlog.port)],
        69,
        /Cannot listen on 127\.0\.0\.1:\d+: it is in use/,
      ],
      [['serve', '--projects', 'nowhere.json'], 78, /viewlog activate ID/],
    ];
    const refusals = cases.map(async ([args, exit, message]) => {
      const { code, stderr } = await run(args, { runtime, data: dataDirectory() });
      expect([args, code]).toStrictEqual([args, exit]);
      expect(stderr).toMatch(message);
      expect(
        stderr
          .trimEnd()
          .split('\n')
          .filter((line) => !line.includes('--min-free is off')),
      ).toHaveLength(1);
    });
    await Promise.all(refusals);
  });

  it('prints its help and its version', async () => {
    const { version } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as { version: string };
    expect((await run(['--version'], { runtime })).stdout).toBe(`viewlog ${version}\n`);
    const { code, stdout } = await run(['--help'], { runtime });
    expect(code).toBe(0);
    for (const command of ['serve', 'check', 'explain', 'activate', 'deactivate', 'projects']) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
    const help = await run(['projects', '--help'], { runtime });
    expect(help.stdout).toContain('viewlog projects');
    expect(help.stdout).toContain('--data DIR');
  });
}

/** Opens uploads and breaks each in the middle of its body. */
async function abortUploads(port: number, count: number): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const abort = new AbortController();
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(Buffer.from('{"pn":"')),
      });
      const sent = fetch(`http://127.0.0.1:${port}/view`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        duplex: 'half',
        signal: abort.signal,
      } as RequestInit);
      setTimeout(() => abort.abort(), i);
      await sent.catch(() => {});
    }),
  );
}
