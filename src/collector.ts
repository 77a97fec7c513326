import type { IncomingMessage } from 'node:http';
import { Hono } from 'hono';
import type { Context } from 'hono';
import { admit, type AdmissionRules } from './admit.ts';
import { decodeBody, type RequestBody } from './body/body.ts';
import { incomingBody } from './body/incoming.ts';
import { lingering } from './body/linger.ts';
import { webBody } from './body/web.ts';
import type { Log } from './log.ts';
import type { Queue } from './queue.ts';
import { problemDetails, type Refusal, REFUSALS, isRefusal } from './refusal.ts';
import { LIMITS } from './settings.ts';
import type { Stats } from './stats.ts';
import type { RefusedStore, ViewStore } from './store/store.ts';
import { printable } from './text.ts';

export interface CollectorParts extends AdmissionRules {
  readonly store: ViewStore;
  readonly refused: RefusedStore;
  readonly queue: Queue;
  readonly stats: Stats;
  readonly log: Log;
}

/** What the runtime's server hands over with a request: Node its own message. */
interface Env {
  Bindings: { readonly incoming?: IncomingMessage };
}

/**
 * The public app: `POST /view` and CORS preflights, nothing else. It reads no address and no
 * User-Agent. Whatever a client sends gets an answer; nothing here throws.
 */
export function createCollector(parts: CollectorParts): Hono<Env> {
  const app = new Hono<Env>();
  const { stats, log } = parts;
  // One handler a route, or Hono composes them anew for every request.
  app.post('/view', (c) => takeView(c.req.raw, bodyOf(c), parts));
  app.options('*', (c) => {
    const { headers } = c.req.raw;
    if (headers.has('access-control-request-method')) return preflight(headers);
    return c.req.path === '/view' ? optionsOf(headers) : c.notFound();
  });
  app.notFound((c) => {
    const { path, method } = c.req;
    const refusal = path === '/view' ? methodNotAllowed(method) : notFound(path);
    return refuseUnread(refusal, c.req.raw, bodyOf(c), stats);
  });
  app.onError((error, c) => {
    log.error(`Unexpected: ${error.stack ?? error.message}`);
    return refuse(UNEXPECTED, originOf(c.req.raw), stats);
  });
  return app;
}

const bodyOf = (c: Context<Env>): RequestBody =>
  c.env?.incoming === undefined ? webBody(c.req.raw) : incomingBody(c.env.incoming);

async function takeView(
  request: Request,
  body: RequestBody,
  parts: CollectorParts,
): Promise<Response> {
  const { viewBytesMax, queue, store, refused, stats } = parts;
  const unread = checkMediaType(request.headers);
  if (unread) return refuseUnread(unread, request, body, stats);
  const place = queue.place();
  try {
    const bytes = await body.read(viewBytesMax, LIMITS.bodyTimeoutMs, place);
    if (isRefusal(bytes)) return await refuseUnread(bytes, request, body, stats);
    const origin = originOf(request);
    const text = decodeBody(bytes);
    if (typeof text !== 'string') return refuse(text, origin, stats);
    const admitted = admit(text, origin, parts);
    if (isRefusal(admitted)) {
      keepRefused(text, origin, admitted, refused);
      return refuse(admitted, origin, stats, { text });
    }
    const { project, fields } = admitted;
    const appended = await store.append(fields);
    if ('unavailable' in appended) {
      return refuse({ ...unavailable(appended.unavailable), project }, origin, stats, { text });
    }
    stats.accepted(project, fields);
    return created(appended.id, origin);
  } finally {
    place.leave();
  }
}

/** A view that its operator can still make good is kept: see the file `refused-….ndjson`. */
function keepRefused(
  text: string,
  origin: string | undefined,
  { code, issues, project }: Refusal,
  refused: RefusedStore,
): void {
  const { status } = REFUSALS[code];
  if (status !== 403 && status !== 422) return;
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  refused.keep({
    code,
    text,
    ...(issues && { issues }),
    ...(origin !== undefined && { origin }),
    ...(project !== undefined && { project }),
  });
}

/** `application/json`, in UTF-8 and not compressed. */
function checkMediaType(headers: Headers): Refusal | undefined {
  const type = headers.get('content-type');
  if (headers.has('content-encoding')) return unsupported('The body is compressed.');
  if (type === 'application/json') return undefined;
  if (type === null) return unsupported('There is no Content-Type.');
  const [essence, ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  if (essence !== 'application/json') return unsupported(`It was sent as "${printable(type)}".`);
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset === undefined || /^charset="?utf-?8"?$/.test(charset)) return undefined;
  return unsupported(`Its ${printable(charset)} is not taken, only UTF-8.`);
}

/** An answer to a request whose body is not, or not yet, read to its end. */
async function refuseUnread(
  refusal: Refusal,
  request: Request,
  body: RequestBody,
  stats: Stats,
): Promise<Response> {
  const origin = originOf(request);
  if (await body.drain()) return refuse(refusal, origin, stats);
  return refuse(refusal, origin, stats, { linger: (answer) => lingering(answer, request) });
}

interface RefusedRequest {
  /** Its body, where it was read. */
  readonly text?: string;
  readonly linger?: (answer: string) => string | ReadableStream;
}

function refuse(
  refusal: Refusal,
  origin: string | undefined,
  stats: Stats,
  { text, linger }: RefusedRequest = {},
): Response {
  stats.refused(refusal, origin, text);
  const { status } = REFUSALS[refusal.code];
  const problem = JSON.stringify(problemDetails(refusal));
  const body = linger === undefined ? problem : linger(problem);
  return answer(status, body, origin, {
    'Content-Type': 'application/problem+json',
    ...(status === 405 && { Allow: 'POST, OPTIONS' }),
    ...(status === 415 && { 'Accept-Post': 'application/json' }),
    ...(refusal.retryAfterSeconds && { 'Retry-After': String(refusal.retryAfterSeconds) }),
    ...(linger && { Connection: 'close' }),
  });
}

/**
 * Every preflight is granted, on any path, so that the request itself gets through to its 404, 405
 * or 415 and the page's developer sees that instead of "CORS error".
 */
function preflight(headers: Headers): Response {
  const wanted = headers.get('access-control-request-headers');
  return answer(204, null, headers.get('origin') ?? undefined, {
    'Access-Control-Allow-Methods': headers.get('access-control-request-method') ?? 'POST',
    ...(wanted !== null && { 'Access-Control-Allow-Headers': wanted }),
    'Access-Control-Max-Age': '86400',
  });
}

const optionsOf = (headers: Headers): Response =>
  answer(204, null, headers.get('origin') ?? undefined, { Allow: 'POST, OPTIONS' });

/** On every answer: what lets a page of any origin read it. */
const COMMON_HEADERS = {
  // navigator.sendBeacon always sends in credentials mode; there are no cookies to protect.
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Expose-Headers': 'Retry-After',
  Vary: 'Origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

const CREATED_HEADERS = { 'Content-Type': 'application/json', ...COMMON_HEADERS };

/** Made for every view, so with as little as can be. */
function created(id: string, origin: string | undefined): Response {
  const headers =
    origin === undefined
      ? CREATED_HEADERS
      : { ...CREATED_HEADERS, 'Access-Control-Allow-Origin': origin };
  return new Response(`{"id":"${id}"}`, { status: 201, headers });
}

function answer(
  status: number,
  body: string | ReadableStream | null,
  origin: string | undefined,
  extra: Record<string, string>,
): Response {
  const headers = {
    ...COMMON_HEADERS,
    ...(origin !== undefined && { 'Access-Control-Allow-Origin': origin }),
    ...extra,
  };
  return new Response(body, { status, headers });
}

const originOf = (request: Request): string | undefined =>
  request.headers.get('origin') ?? undefined;

const unsupported = (found: string): Refusal => ({
  code: 'unsupported-media-type',
  detail:
    `${found} Send the view with Content-Type: application/json; with navigator.sendBeacon, ` +
    'as a Blob of that type.',
});

const notFound = (path: string): Refusal => ({
  code: 'not-found',
  detail: `There is nothing at ${printable(path)}; views are sent to /view.`,
});

const methodNotAllowed = (method: string): Refusal => ({
  code: 'method-not-allowed',
  detail: `${printable(method, 32)} is not allowed on /view; views are sent with POST.`,
});

const unavailable = (reason: string): Refusal => ({
  code: 'storage-unavailable',
  detail: `The view is not stored: ${reason}. Send it again later.`,
  retryAfterSeconds: LIMITS.retryAfterSeconds,
});

const UNEXPECTED = unavailable('an unexpected error, which the log tells');

/** The answer to a request that has no path the server can read. */
export const refuseUnreadable = (stats: Stats): Response =>
  refuse(notFound('this address'), undefined, stats);
