// The status server's app: health, metrics and the service's pages, for those whom the guard lets
// in. It reads and changes nothing, and a fault in it ends only the request.
import { Hono } from 'hono';
import type { Metric } from '../base/description.ts';
import { reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import type { Address } from '../http/listener.ts';
import { exposition, METRICS_TYPE } from './exposition.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { serveStatus, type StatusServer } from './server.ts';
import { type Health, isReady } from './health.ts';
import { json, plain, refusal, reply } from './replies.ts';

/** What the status server shows of a service: of a collector or of an archive. */
export interface Service {
  health(): Health;
  metrics(): readonly Metric[];
  /** The pages for people, by path; `/` is one of them. */
  readonly pages: Readonly<Record<string, Page>>;
}

/** @param query the parameters in the address. */
export type Page = (query: URLSearchParams) => Response | Promise<Response>;

export function statusApp(
  service: Service,
  guarded: GuardOptions,
  log: Pick<Log, 'error'>,
): (request: Request) => Response | Promise<Response> {
  const guard = createGuard(guarded);
  const trusted = new WeakSet<Request>();
  const app = new Hono();
  app.use(async ({ req }, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      return plain(405, 'Only GET.', { Allow: 'GET, HEAD' });
    }
    const verdict = guard(req.raw, req.path);
    if (typeof verdict === 'object') return refusal(verdict.refused, verdict.reason);
    if (verdict === 'trusted') trusted.add(req.raw);
    return next();
  });
  app.get('/healthz', () => json({ status: 'alive' }));
  app.get('/readyz', ({ req }) => readiness(service.health(), trusted.has(req.raw)));
  app.get('/metrics', () => reply(200, METRICS_TYPE, exposition(service.metrics())));
  for (const [path, page] of Object.entries(service.pages)) {
    app.get(path, ({ req }) => page(new URL(req.url).searchParams));
  }
  app.notFound(() => plain(404, 'There is nothing here.'));
  let logged = '';
  app.onError((error) => {
    const reason = reasonOf(error);
    // A page that is open asks every two seconds.
    if (reason !== logged) log.error(`The status server failed: ${error.stack ?? reason}`);
    logged = reason;
    return plain(500, 'This failed, and the log says why. Views are accepted as before.');
  });
  return (request) => app.fetch(request);
}

/**
 * Opens the status server of a service.
 * @throws {Fatal} exit 69 if the address cannot be listened on.
 */
export async function openStatus(
  address: Address | 'off',
  token: string | undefined,
  service: Service,
  log: Pick<Log, 'error'>,
): Promise<StatusServer | undefined> {
  if (address === 'off') return undefined;
  return serveStatus(address, statusApp(service, { host: address.host, token }, log));
}

/** @param mayKnowWhy whether the client has shown the token, where there is one. */
function readiness(health: Health, mayKnowWhy: boolean): Response {
  const { reasons, warnings } = health;
  const status = isReady(health) ? 'ready' : 'not ready';
  return json(mayKnowWhy ? { status, reasons, warnings } : { status }, isReady(health) ? 200 : 503);
}
