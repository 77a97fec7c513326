import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCollector } from '../../src/collector/routes.ts';
import type { CollectorParts } from '../../src/collector/take-view.ts';
import type { Answer, BodyFault, Exchange } from '../../src/http/exchange.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import type { RefusedView, ViewStore } from '../../src/store/store.ts';
import { FULL_VIEW, MINIMAL_VIEW } from '../support/views.ts';
import { PROJECTS } from '../support/viewlog.ts';

const VIEW = JSON.stringify(MINIMAL_VIEW);
const VIEW_MAX = 16 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const PAGE = 'https://page.example';

/** A view whose JSON text has so many bytes. */
function viewOf(bytes: number): string {
  const empty = JSON.stringify({ ...MINIMAL_VIEW, pn: '' });
  return JSON.stringify({ ...MINIMAL_VIEW, pn: 'x'.repeat(bytes - empty.length) });
}

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What reading the body gives. */
  readonly body?: string | Buffer | { readonly fault: BodyFault };
}

function requestOf({ method = 'POST', path = '/view', headers = JSON_TYPE, body = VIEW }: Sent) {
  const exchange: Exchange = {
    method,
    path,
    header: (name) => headers[name],
    read: async (bytesMax) => {
      if (typeof body === 'object' && 'fault' in body) return body.fault;
      const bytes = Buffer.from(body);
      return bytes.length > bytesMax ? 'too-large' : bytes;
    },
  };
  return exchange;
}

/** A collector on a store of its own. */
function newCollector(parts: Partial<CollectorParts> = {}, append?: ViewStore['append']) {
  const stored: string[] = [];
  const kept: RefusedView[] = [];
  const collector = createCollector({
    projects: new ProjectList(PROJECTS),
    store: {
      append:
        append ?? (async (fields) => ({ id: `id-${stored.push(Buffer.from(fields).toString())}` })),
    },
    refused: { keep: (view) => void kept.push(view) },
    counts: { accepted: () => {}, refused: () => {} },
    viewBytesMax: VIEW_MAX,
    now: () => 0,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    ...parts,
  });
  const send = async (sent: Sent): Promise<Answer> => collector(requestOf(sent));
  const problem = async (sent: Sent): Promise<Record<string, unknown>> => {
    const { status, headers, body } = await send(sent);
    expect(headers['Content-Type']).toBe('application/problem+json');
    const details = JSON.parse(body!) as Record<string, unknown>;
    expect(details['status']).toBe(status);
    return details;
  };
  return { send, problem, stored, kept };
}

describe('a refusal', () => {
  const { send, problem } = newCollector();

  it('comes from the first check that fails, in one order', async () => {
    const listed = { ...MINIMAL_VIEW, p: '1000003' };
    const large = 'x'.repeat(VIEW_MAX + 1);
    const text = { 'content-type': 'text/plain' };
    const cases: [Sent, string][] = [
      [{ method: 'PUT', path: '/nowhere', headers: text, body: large }, 'not-found'],
      [{ method: 'PUT', headers: text, body: large }, 'method-not-allowed'],
      [{ headers: text, body: large }, 'unsupported-media-type'],
      [{ body: large }, 'view-too-large'],
      [{ body: '{' }, 'malformed-json'],
      [{ body: JSON.stringify({ ...listed, p: '9', url: '' }) }, 'invalid-view'],
      [{ body: JSON.stringify({ ...listed, p: '9' }) }, 'project-not-activated'],
      [{ body: JSON.stringify(listed) }, 'origin-not-allowed'],
      [{ body: { fault: 'incomplete' } }, 'request-timeout'],
      [{ body: { fault: 'over-budget' } }, 'overloaded'],
      [{ body: { fault: 'too-many-pieces' } }, 'view-too-large'],
    ];
    for (const [sent, code] of cases) expect(await problem(sent)).toMatchObject({ code });
    expect((await send({ body: { fault: 'over-budget' } })).headers['Retry-After']).toBe('1');
  });

  it('is the same for an inactive project and an unlisted one', async () => {
    const unlisted = await problem({ body: JSON.stringify({ ...MINIMAL_VIEW, p: '9' }) });
    expect(unlisted).toMatchObject({
      type: 'urn:viewlog:problem:project-not-activated',
      status: 403,
      detail: expect.stringContaining('views@example.com'),
    });
    const inactive = await problem({ body: JSON.stringify({ ...MINIMAL_VIEW, p: '1000002' }) });
    expect(JSON.stringify(inactive).replace('1000002', '9')).toBe(JSON.stringify(unlisted));
  });

  it.each(['/', '', '/view/', '/views', '/VIEW', '//view'])('is 404 at "%s"', async (path) => {
    expect((await send({ path })).status).toBe(404);
  });

  it('names the methods that are allowed', async () => {
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
      expect(await send({ method })).toMatchObject({
        status: 405,
        headers: { Allow: 'POST, OPTIONS' },
      });
    }
  });

  it.each([
    ['text/plain;charset=UTF-8', 415],
    ['application/json; charset=latin1', 415],
    ['application/jsonp', 415],
    ['application/ld+json', 415],
    ['application/json; charset=utf-8', 201],
    ['Application/JSON;Charset="UTF-8"', 201],
  ])('depends on the media type: %s is %i', async (type, status) => {
    const { headers, ...answer } = await send({ headers: { 'content-type': type } });
    expect(answer.status).toBe(status);
    if (status === 415) expect(headers['Accept-Post']).toBe('application/json');
  });

  it('is 415 without a media type, and if the body is compressed', async () => {
    expect((await send({ headers: {} })).status).toBe(415);
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    expect((await send({ headers })).status).toBe(415);
  });

  it('says that a body is not UTF-8, or empty; a byte order mark is ignored', async () => {
    const text = JSON.stringify({ ...MINIMAL_VIEW, pn: 'æ' });
    const latin1 = await problem({ body: Buffer.from(text, 'latin1') });
    expect(latin1).toMatchObject({ code: 'malformed-json', detail: 'The body is not UTF-8.' });
    expect(await problem({ body: '' })).toMatchObject({ code: 'malformed-json' });
    expect((await send({ body: `\ufeff${text}` })).status).toBe(201);
  });

  it('gives both sizes, of the body or of the line that it would become', async () => {
    const details = async (body: string) => (await problem({ body }))['detail'];
    expect(await details(viewOf(VIEW_MAX + 1))).toMatch(/body.*more than 16384.*16384/);
    // The line has 77 bytes more than the body: its ts, its id and its newline.
    expect(await details(viewOf(VIEW_MAX - 76))).toMatch(/line.*16385.*16384/);
    expect((await send({ body: viewOf(VIEW_MAX - 77) })).status).toBe(201);
  });
});

it('a limit of views a minute counts only good views, and says when to come back', async () => {
  const { send, problem } = newCollector();
  const body = VIEW.replace('1000001', '1000004');
  expect((await send({ body: body.replace('"/', '"x') })).status).toBe(422);
  expect((await send({ body: viewOf(VIEW_MAX - 10).replace('1000001', '1000004') })).status).toBe(
    413,
  );
  for (const status of [201, 201, 429]) expect((await send({ body })).status).toBe(status);
  expect(await problem({ body })).toMatchObject({ code: 'rate-limited' });
  expect(Number((await send({ body })).headers['Retry-After'])).toBeGreaterThan(0);
  expect((await send({})).status).toBe(201);
});

describe('a page of any origin', () => {
  const { send } = newCollector();
  const cors = { 'Access-Control-Allow-Origin': PAGE, 'Access-Control-Allow-Credentials': 'true' };

  it('can read every answer, and a 201 has no header that it could do without', async () => {
    const headers = { ...JSON_TYPE, origin: PAGE };
    const created = { 'Content-Type': 'application/json', Vary: 'Origin' };
    expect((await send({ headers })).headers).toStrictEqual({ ...created, ...cors });
    expect((await send({})).headers).toStrictEqual(created);
    for (const sent of [{ body: '{' }, { method: 'GET' }, { path: '/nowhere' }]) {
      expect((await send({ ...sent, headers })).headers).toMatchObject({
        ...cors,
        Vary: 'Origin',
        'Access-Control-Expose-Headers': 'Retry-After',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
      });
    }
  });

  it('gets every preflight granted, on any path', async () => {
    const headers = {
      origin: PAGE,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'content-type, x-other',
    };
    for (const path of ['/view', '/nowhere', '']) {
      const answer = await send({ method: 'OPTIONS', path, headers });
      expect([answer.status, answer.headers]).toMatchObject([
        204,
        {
          ...cors,
          'Access-Control-Allow-Methods': 'PUT',
          'Access-Control-Allow-Headers': 'content-type, x-other',
          'Access-Control-Max-Age': '86400',
          Vary: 'Origin',
        },
      ]);
    }
    const plain = await send({ method: 'OPTIONS', headers: {} });
    expect([plain.status, plain.headers['Allow']]).toStrictEqual([204, 'POST, OPTIONS']);
  });
});

it('answers anything with 201 or its own refusal, and stores what it accepted', async () => {
  const { send, stored } = newCollector();
  const anything = fc.oneof(
    fc.json({ stringUnit: 'binary' }),
    fc.jsonValue().map((cf) => JSON.stringify({ ...FULL_VIEW, cf: [cf] })),
    fc.string({ unit: 'binary' }).map((pn) => JSON.stringify({ ...FULL_VIEW, pn })),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(anything, async (text) => {
      const before = stored.length;
      const { status } = await send({ body: text });
      expect([201, 400, 413, 422]).toContain(status);
      expect(stored.length - before).toBe(status === 201 ? 1 : 0);
    }),
  );
  expect(stored.length).toBeGreaterThan(0);
});

it('keeps views refused with 403 or 422, if they are objects', async () => {
  const { send, kept } = newCollector();
  const unlisted = JSON.stringify({ ...MINIMAL_VIEW, p: '9' }, null, 2);
  await send({ body: unlisted, headers: { ...JSON_TYPE, origin: PAGE } });
  await send({ body: '{"url":"x"}' });
  for (const body of ['[1]', '{', 'x']) await send({ body });
  await send({ headers: { 'content-type': 'text/plain' } });
  expect(kept).toMatchObject([
    { code: 'project-not-activated', text: unlisted, origin: PAGE, project: '9' },
    { code: 'invalid-view', text: '{"url":"x"}', issues: expect.anything() as unknown },
  ]);
  expect(kept).toHaveLength(2);
});

it.each<[string, ViewStore['append']]>([
  ['cannot store', async () => ({ unavailable: 'the disk is full' })],
  ['has a fault', () => Promise.reject(new Error('a fault'))],
])('a store that %s makes it 503, with when to come back', async (_, append) => {
  const answer = await newCollector({}, append).send({});
  expect(answer.status).toBe(503);
  expect(Number(answer.headers['Retry-After'])).toBeGreaterThan(0);
  expect(answer.body).toContain('"code":"storage-unavailable"');
});
