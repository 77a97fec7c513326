import type { Handler } from '../http/listener.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { healthOf } from './health.ts';
import { METRICS_TYPE, metricsOf } from './metrics.ts';
import { PAGE } from './page-files.ts';
import { snapshots } from './snapshot.ts';
import type { StatusSource } from './source.ts';
import { createStreams } from './live-streams.ts';

const STREAMS_MAX = 16;
const INTERVAL_MS = 1_000;

export interface StatusApp {
  readonly handler: Handler;
  /** Ends the live streams, which would otherwise keep their connections. */
  close(): void;
}

/** The operator's app: health, metrics and the status page. It reads, and changes nothing. */
export function createStatusApp(source: StatusSource, guarded: GuardOptions): StatusApp {
  const snapshot = snapshots(source);
  const streams = createStreams({
    streamsMax: STREAMS_MAX,
    intervalMs: INTERVAL_MS,
    snapshot: () => JSON.stringify(snapshot()),
  });
  const routes: Routes = {
    '/healthz': () => json({ status: 'alive' }),
    '/readyz': (mayKnowWhy) => readiness(source, mayKnowWhy),
    '/metrics': () => reply(200, METRICS_TYPE, metricsOf(source)),
    '/': () => reply(200, 'text/html; charset=utf-8', PAGE.html),
    '/page.css': () => reply(200, 'text/css; charset=utf-8', PAGE.css),
    '/page.js': () => reply(200, 'text/javascript; charset=utf-8', PAGE.js),
    '/snapshot': () => json(snapshot()),
    '/live': () => {
      const stream = streams.open();
      return stream === undefined ? tooMany() : reply(200, 'text/event-stream', stream);
    },
  };
  return { handler: operatorApp(routes, guarded), close: () => streams.close() };
}

/** @param mayKnowWhy whether who asks may be told reasons. */
type Routes = Readonly<Record<string, (mayKnowWhy: boolean) => Response>>;

/** Answers at these paths, those whom the operator's listener answers at all. */
export function operatorApp(routes: Routes, guarded: GuardOptions): Handler {
  const guard = createGuard(guarded);
  return (request) => {
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD')
      return plain(405, 'Only GET.', { Allow: 'GET, HEAD' });
    const verdict = guard(request);
    if (typeof verdict === 'object') return refusal(verdict.refused, verdict.reason);
    const { pathname } = new URL(request.url);
    if (!Object.hasOwn(routes, pathname)) return plain(404, 'There is nothing here.');
    // A stream that nobody would read is not opened.
    if (method === 'HEAD' && pathname === '/live') return reply(200, 'text/event-stream', null);
    return routes[pathname]!(verdict === 'trusted');
  };
}

function readiness(source: StatusSource, mayKnowWhy: boolean): Response {
  const { ready, reasons, warnings } = healthOf(source);
  const status = ready ? 'ready' : 'not ready';
  return json(mayKnowWhy ? { status, reasons, warnings } : { status }, ready ? 200 : 503);
}

const tooMany = (): Response =>
  plain(503, `There are ${STREAMS_MAX} live streams already.`, { 'Retry-After': '5' });

const refusal = (status: 401 | 403, reason: string): Response =>
  plain(status, reason, {
    ...(status === 401 && { 'WWW-Authenticate': 'Basic realm="viewlog", charset="UTF-8"' }),
  });

export const json = (value: unknown, status = 200): Response =>
  reply(status, 'application/json', JSON.stringify(value));

const plain = (status: number, text: string, headers: Record<string, string> = {}): Response =>
  reply(status, 'text/plain; charset=utf-8', `${text}\n`, headers);

/** Trusted types keep the page from ever making markup of text, also by mistake. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export function reply(
  status: number,
  type: string,
  body: string | ReadableStream | null,
  headers: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      'Content-Type': type,
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      ...headers,
    },
  });
}

/** The answer to a request whose target the server cannot read. */
export const unreadable = (): Response => plain(400, 'This address cannot be read.');
