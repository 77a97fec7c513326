import { Hono } from 'hono';
import type { Context } from 'hono';
import { admit, type AdmissionRules } from './admit.ts';
import { decodeBody, drainBody, readBody } from './body.ts';
import { lingering } from './linger.ts';
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

/**
 * The public app: `POST /view` and CORS preflights, nothing else. It reads no address and no
 * User-Agent. Whatever a client sends gets an answer; nothing here throws.
 */
export function createCollector(parts: CollectorParts): Hono {
  const app = new Hono();
  app.post('/view', (c) => takeView(c.req.raw, parts));
  app.options('*', (c, next) => (isPreflight(c) ? preflight(c.req.raw.headers) : next()));
  app.options('/view', (c) => optionsOf(c.req.raw.headers));
  app.all('/view', (c) => refuseUnread(c.req.raw, methodNotAllowed(c.req.method), parts.stats));
  app.notFound((c) => refuseUnread(c.req.raw, notFound(c.req.path), parts.stats));
  app.onError((error, c) => {
    parts.log.error(`Unexpected: ${error.stack ?? error.message}`);
    return refuse(UNEXPECTED, originOf(c.req.raw), parts.stats);
  });
  return app;
}

async function takeView(request: Request, parts: CollectorParts): Promise<Response> {
  const unread = checkMediaType(request.headers);
  if (unread) return refuseUnread(request, unread, parts.stats);
  let held = 0;
  const enter = (bytes: number): boolean => {
    if (!parts.queue.enter(bytes)) return false;
    held += bytes;
    return true;
  };
  try {
    const body = await readBody(request, {
      bytesMax: parts.viewBytesMax,
      timeoutMs: LIMITS.bodyTimeoutMs,
      enter,
    });
    if ('refusal' in body) return await refuseUnread(request, body.refusal, parts.stats);
    return await store(body.bytes, originOf(request), parts);
  } finally {
    parts.queue.leave(held);
  }
}

async function store(
  bytes: Uint8Array,
  origin: string | undefined,
  parts: CollectorParts,
): Promise<Response> {
  const { stats } = parts;
  const text = decodeBody(bytes);
  if (typeof text !== 'string') return refuse(text, origin, stats);
  const admitted = admit(text, origin, parts);
  if (isRefusal(admitted)) {
    keepRefused(text, origin, admitted, parts.refused);
    return refuse(admitted, origin, stats, { text });
  }
  const { project, fields } = admitted;
  const appended = await parts.store.append(fields);
  if ('unavailable' in appended) {
    return refuse({ ...unavailable(appended.unavailable), project }, origin, stats, { text });
  }
  stats.accepted(project, fields);
  return answer(201, `{"id":"${appended.id}"}`, 'application/json', origin);
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
async function refuseUnread(request: Request, refusal: Refusal, stats: Stats): Promise<Response> {
  const origin = originOf(request);
  if (await drainBody(request.body)) return refuse(refusal, origin, stats);
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
  return answer(status, body, 'application/problem+json', origin, {
    ...(status === 405 && { Allow: 'POST, OPTIONS' }),
    ...(status === 415 && { 'Accept-Post': 'application/json' }),
    ...(refusal.retryAfterSeconds && { 'Retry-After': String(refusal.retryAfterSeconds) }),
    ...(linger && { Connection: 'close' }),
  });
}

const isPreflight = (c: Context): boolean => c.req.raw.headers.has('access-control-request-method');

/**
 * Every preflight is granted, on any path, so that the request itself gets through to its 404, 405
 * or 415 and the page's developer sees that instead of "CORS error".
 */
function preflight(headers: Headers): Response {
  const wanted = headers.get('access-control-request-headers');
  return answer(204, null, undefined, headers.get('origin') ?? undefined, {
    'Access-Control-Allow-Methods': headers.get('access-control-request-method') ?? 'POST',
    ...(wanted !== null && { 'Access-Control-Allow-Headers': wanted }),
    'Access-Control-Max-Age': '86400',
  });
}

const optionsOf = (headers: Headers): Response =>
  answer(204, null, undefined, headers.get('origin') ?? undefined, { Allow: 'POST, OPTIONS' });

/** Every answer, with what lets a page of any origin read it. */
function answer(
  status: number,
  body: string | ReadableStream | null,
  type: string | undefined,
  origin: string | undefined,
  extra?: Record<string, string>,
): Response {
  const headers: Record<string, string> = {
    ...(type !== undefined && { 'Content-Type': type }),
    ...(origin !== undefined && { 'Access-Control-Allow-Origin': origin }),
    // navigator.sendBeacon always sends in credentials mode; there are no cookies to protect.
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Expose-Headers': 'Retry-After',
    Vary: 'Origin',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
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
