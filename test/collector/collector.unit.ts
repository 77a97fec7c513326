import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCollector } from '../../src/collector/routes.ts';
import type { Answer, BodyFault } from '../../src/http/exchange.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import type { RefusedView, ViewStore } from '../../src/store/store.ts';
import { type Refusal, REFUSALS } from '../../src/view/refusal.ts';
import { FULL_VIEW, MINIMAL_VIEW, viewOfSize } from '../support/views.ts';
import { PROJECTS } from '../support/viewlog.ts';

const VIEW = JSON.stringify(MINIMAL_VIEW);
const VIEW_MAX = 16 * 1024;
const JSON_TYPE: Readonly<Record<string, string>> = { 'content-type': 'application/json' };
const PAGE = 'https://page.example';

const viewOf = (change: object): string => JSON.stringify({ ...MINIMAL_VIEW, ...change });

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The result of reading the body. */
  readonly body?: string | Buffer | { readonly fault: BodyFault };
}

/** Creates a collector on a store of its own. */
function newCollector(append?: ViewStore['append']) {
  const stored: string[] = [];
  const kept: RefusedView[] = [];
  const refusals: Refusal[] = [];
  const refusedAgain: Refusal[] = [];
  const store = async (fields: Uint8Array) => ({
    id: `id-${stored.push(Buffer.from(fields).toString())}`,
  });
  const collector = createCollector({
    projects: new ProjectList(PROJECTS),
    store: { append: append ?? store },
    refused: { keep: (view) => void kept.push(view) },
    counts: {
      accepted: () => {},
      refused: (refusal) => (refusals.push(refusal), () => {}),
      refusedAgain: (refusal) => void refusedAgain.push(refusal),
    },
    viewBytesMax: VIEW_MAX,
    now: () => 0,
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  const send = async (sent: Sent = {}): Promise<Answer> => {
    const { method = 'POST', path = '/view', headers = JSON_TYPE, body = VIEW } = sent;
    const read = async (bytesMax: number) => {
      if (typeof body === 'object' && 'fault' in body) return body.fault;
      const bytes = Buffer.from(body);
      return bytes.length > bytesMax ? 'too-large' : bytes;
    };
    return collector({ method, path, header: (name) => headers[name], read, bytesRead: 7 });
  };
  const problem = async (sent: Sent) => {
    const { status, headers, body } = await send(sent);
    const { code, ...details } = JSON.parse(body!) as Record<string, unknown> & Refusal;
    expect(headers['Content-Type']).toBe('application/problem+json');
    const { title } = REFUSALS[code];
    expect(details).toMatchObject({ type: `urn:viewlog:problem:${code}`, title, status });
    return { status, code, detail: details.detail, headers };
  };
  return { send, problem, stored, kept, refusals, refusedAgain };
}

describe('a refusal', () => {
  const { send, problem, refusals } = newCollector();
  const text = { 'content-type': 'text/plain' };
  const declared = { ...JSON_TYPE, 'content-length': '20000' };
  const large = viewOfSize(VIEW_MAX + 1);
  // The line is 77 bytes longer than the body: it adds `ts`, `id` and a newline.
  const longLine = viewOfSize(VIEW_MAX - 76);
  const smaller = 'Send a smaller view or ask the operator to raise --max-view.';

  it('comes from the first check that fails and says what to do', async () => {
    // Each request also has an error that a later check would refuse.
    const sent: Sent[] = [
      { method: 'PUT', path: '/nowhere', headers: text, body: large },
      { method: 'HEAD', path: '' },
      { method: 'PUT', headers: text, body: large },
      { headers: text, body: large },
      { headers: declared, body: `{${large}` },
      { body: large },
      { body: Buffer.from('{"pn":"æ"', 'latin1') },
      { body: '' },
      { body: viewOf({ p: '9', mb: '12' }) },
      { body: viewOf({ p: '9' }) },
      { body: longLine.replace('1000001', '1000003'), headers: { ...JSON_TYPE, origin: PAGE } },
      { body: longLine.replace('1000001', '1000003'), headers: { ...JSON_TYPE, origin: 'null' } },
      {
        body: viewOf({ p: '1000003' }),
        headers: { ...JSON_TYPE, origin: 'https://www.example.com/' },
      },
      {
        body: viewOf({ p: '1000003' }),
        headers: { ...JSON_TYPE, origin: 'https://page.example/blog' },
      },
      {
        body: viewOf({ p: '1000003' }),
        headers: { ...JSON_TYPE, origin: 'capacitor://localhost' },
      },
      {
        body: viewOf({ p: '1000003' }),
        headers: { ...JSON_TYPE, origin: 'https://*.example.org' },
      },
      { body: viewOf({ p: '1000003' }) },
      { body: longLine },
      { body: { fault: 'incomplete' } },
      { body: { fault: 'over-budget' } },
      { body: { fault: 'too-many-pieces' } },
    ];
    const problems = await Promise.all(sent.map(problem));
    expect(problems.map(({ code, detail }) => `${code}: ${detail}`)).toEqual([
      'not-found: There is nothing at /nowhere; send views to /view.',
      'not-found: There is nothing at this address; send views to /view.',
      "method-not-allowed: PUT isn't allowed on /view; send views with POST.",
      'unsupported-media-type: The body was sent as "text/plain". Send it as plain application/json in UTF-8; with navigator.sendBeacon, as a Blob of that type.',
      `view-too-large: The body is 20,000 bytes; the limit is 16,384. ${smaller}`,
      `view-too-large: The body is larger than the limit of 16,384 bytes. ${smaller}`,
      "malformed-json: The body isn't UTF-8; encode it as UTF-8.",
      'malformed-json: The body is empty; send one JSON object.',
      'invalid-view: "mb" must be an integer; received the string "12".',
      "project-not-activated: Project 9 isn't activated. If the id is right, ask views@example.com to activate it.",
      `origin-not-allowed: Project 1000003 doesn't accept views from "${PAGE}". If it is one of the project's sites, ask views@example.com to allow this origin.`,
      "origin-not-allowed: Project 1000003 doesn't accept views from \"null\". This is the origin of sandboxed frames and local files, and it can't be listed. Send the view from one of the project's pages.",
      'origin-not-allowed: Project 1000003 doesn\'t accept views from "https://www.example.com/". An origin must be http://host or https://host, with or without a port; send "https://www.example.com".',
      'origin-not-allowed: Project 1000003 doesn\'t accept views from "https://page.example/blog". An origin must be http://host or https://host, with or without a port. Did you mean "https://page.example"? If it is one of the project\'s sites, ask views@example.com to allow it.',
      'origin-not-allowed: Project 1000003 doesn\'t accept views from "capacitor://localhost". This origin can\'t be listed: an origin must be http://host or https://host, with or without a port. Send another origin, or use the id of a project without origins.',
      'origin-not-allowed: Project 1000003 doesn\'t accept views from "https://*.example.org". An origin has no "*"; send the origin of a page, such as "https://www.example.org".',
      "origin-not-allowed: Project 1000003 requires an Origin header, but the request has none. Send the view from one of the project's pages. A program must send one of the project's origins in this header.",
      `view-too-large: The stored line would be 16,385 bytes; the limit is 16,384. The largest field, "pn", takes 16,229 bytes. ${smaller}`,
      "request-timeout: The body didn't arrive whole; viewlog waits at most 10 s for it. Send it again.",
      'overloaded: Too many requests are in flight; send the view again in 1 s.',
      'view-too-large: The body arrived in more than 96 pieces. Send it in one.',
    ]);
  });

  it('records the size of the body, of the line or of the part that arrived, which its remedy needs', async () => {
    for (const [sent, bytes] of [
      [{ headers: declared, body: large }, 20_000],
      [{ body: longLine }, VIEW_MAX + 1],
      [{ body: large }, undefined],
      // The body that arrived is smaller than the declared one.
      [{ headers: declared, body: { fault: 'incomplete' } }, 7],
    ] as const) {
      await send(sent);
      expect(refusals.at(-1)!.bytes).toBe(bytes);
    }
  });

  it("isn't sent for a view of the largest accepted size or with a byte order mark", async () => {
    for (const body of [viewOfSize(VIEW_MAX - 77), `\ufeff${VIEW}`])
      expect((await send({ body })).status).toBe(201);
  });

  it('is the same for an inactive project and an unlisted one', async () => {
    const bodyOf = async (p: string) => (await send({ body: viewOf({ p }) })).body!;
    expect((await bodyOf('1000002')).replace('1000002', '9')).toBe(await bodyOf('9'));
  });

  it('names the accepted methods and types and the time of the next attempt', async () => {
    const get = await send({ method: 'GET' });
    expect([get.status, get.headers['Allow']]).toStrictEqual([405, 'POST, OPTIONS']);
    expect((await send({ headers: text })).headers['Accept-Post']).toBe('application/json');
    expect((await send({ body: { fault: 'over-budget' } })).headers['Retry-After']).toBe('1');
  });
});

it.each([
  [415, 'of type text/plain', 'text/plain;charset=UTF-8'],
  [415, 'of JSON in latin1', 'application/json; charset=latin1'],
  [
    415,
    'of JSON whose charset, after another parameter, is UTF-16',
    'application/json;a=b;charset=utf-16',
  ],
  [415, "of a type that begins like JSON's", 'application/jsonp'],
  [415, 'with an empty type', ''],
  [415, 'without a type', undefined],
  [201, 'of JSON in UTF-8', 'application/json; charset=utf-8'],
  [
    201,
    'of JSON whose type has capitals, and quotes around UTF-8',
    'Application/JSON;Charset="UTF-8"',
  ],
])('a collector answers %i to a body %s', async (status, _, type) => {
  const { send } = newCollector();
  const headers = type === undefined ? {} : { 'content-type': type };
  expect((await send({ headers })).status).toBe(status);
  const compressed = { ...headers, 'content-encoding': 'gzip' };
  expect((await send({ headers: compressed })).status).toBe(415);
});

it('the limit of views per minute counts only acceptable views, and its refusal says when to try again', async () => {
  const { send, problem } = newCollector();
  const limited = (change: object) => ({ body: viewOf({ p: '1000004', ...change }) });
  const long = 'x'.repeat(VIEW_MAX - 150);
  for (const [change, status] of [
    [{ url: 'x' }, 422],
    [{ pn: long }, 413],
    [{}, 201],
    [{}, 201],
    [{}, 429],
    [{ pn: long }, 429],
  ] as const) {
    expect((await send(limited(change))).status).toBe(status);
  }
  const { detail, headers } = await problem(limited({}));
  expect(detail).toBe(
    `Project 1000004 is over its limit of 2 views per minute. Send the view again in ${headers['Retry-After']} s.`,
  );
  expect(Number(headers['Retry-After'])).toBeGreaterThan(0);
  expect((await send()).status).toBe(201);
});

it('a collector answers any body with 201 or a refusal and stores only the views that it accepts', async () => {
  const { send, stored } = newCollector();
  const anything = fc.oneof(
    fc.json({ stringUnit: 'binary' }),
    fc.jsonValue().map((cf) => JSON.stringify({ ...FULL_VIEW, cf: [cf] })),
    fc.string({ unit: 'binary' }).map((pn) => JSON.stringify({ ...FULL_VIEW, pn })),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(anything, async (body) => {
      const before = stored.length;
      const { status } = await send({ body });
      expect([201, 400, 413, 422]).toContain(status);
      expect(stored.length - before).toBe(status === 201 ? 1 : 0);
    }),
  );
  expect(stored.length).toBeGreaterThan(0);
});

it('a collector stores views that it refuses with 403 or 422, if they are objects', async () => {
  const { send, kept } = newCollector();
  const unlisted = JSON.stringify({ ...MINIMAL_VIEW, p: '9' }, null, 2);
  await send({ body: unlisted, headers: { ...JSON_TYPE, origin: PAGE } });
  await send({ body: '{"url":"x"}' });
  for (const body of ['[1]', '{', 'x', viewOfSize(VIEW_MAX + 1)]) await send({ body });
  await send({ headers: { 'content-type': 'text/plain' } });
  const issues = expect.anything() as unknown;
  expect(kept).toMatchObject([
    { code: 'project-not-activated', text: unlisted, origin: PAGE, project: '9' },
    { code: 'invalid-view', text: '{"url":"x"}', issues },
  ]);
  expect(kept).toHaveLength(2);
});

it("a collector counts a refused replay separately and doesn't store it again", async () => {
  const { send, stored, kept, refusals, refusedAgain } = newCollector();
  const headers = { ...JSON_TYPE, 'viewlog-replay': '1' };
  for (const body of [viewOf({ p: '9' }), '{"url":"x"}', '{']) await send({ body, headers });
  expect(refusedAgain.map(({ code }) => code)).toStrictEqual([
    'project-not-activated',
    'invalid-view',
    'malformed-json',
  ]);
  expect([kept, refusals]).toStrictEqual([[], []]);
  expect((await send({ headers })).status).toBe(201);
  expect(stored).toHaveLength(1);
});

it("a view that storage refuses doesn't count towards its project's limit", async () => {
  let isFull = true;
  const append: ViewStore['append'] = async () => (isFull ? { unavailable: 'x' } : { id: 'a' });
  const { send } = newCollector(append);
  const body = viewOf({ p: '1000004' });
  for (let n = 0; n < 5; n++) expect((await send({ body })).status).toBe(503);
  isFull = false;
  const statuses = [await send({ body }), await send({ body }), await send({ body })];
  expect(statuses.map(({ status }) => status)).toStrictEqual([201, 201, 429]);
});

it.each<[why: string, ViewStore['append']]>([
  ['the disk is full', async () => ({ unavailable: 'the disk is full' })],
  [
    "viewlog had an unexpected error, which is in the operator's log",
    () => Promise.reject(new Error('x')),
  ],
])('a 503 with the reason "%s" never claims that the view wasn\'t stored', async (why, append) => {
  const { status, code, detail, headers } = await newCollector(append).problem({});
  expect([status, code, headers['Retry-After']]).toEqual([503, 'storage-unavailable', '5']);
  expect(detail).toBe(
    `The view may not have been stored: ${why}. If you send it again, it may be stored twice.`,
  );
});
