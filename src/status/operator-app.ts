import type { Metric } from '../base/description.ts';
import type { Client, FetchHandler } from '../http/status-adapter.ts';
import { askedPath } from './asked-path.ts';
import { exposition, METRICS_TYPE } from './exposition.ts';
import { createGuard, type GuardOptions } from './guard.ts';
import { type Health, isReady } from './health.ts';
import { json, plain, refusal, reply, unreadable } from './replies.ts';

/** What the operator's listener shows of a service, whichever it is. It reads, and changes nothing. */
export interface WatchedService {
  health(): Health;
  metrics(): readonly Metric[];
  /** What is there for people, by path; `/` among them. */
  readonly pages: Readonly<Record<string, Page>>;
  /** Ends what would otherwise keep its connections. */
  close(): void;
}

/**
 * @param isHead only the head of the answer will be sent.
 * @param client that asked.
 */
export type Page = (isHead: boolean, client: Client) => Response;

/** The operator's app: health, metrics and the service's pages, for whom the guard lets in. */
export function operatorApp(service: WatchedService, guarded: GuardOptions): FetchHandler {
  const guard = createGuard(guarded);
  const { pages } = service;
  return (client, request) => {
    const { method } = request;
    const path = askedPath(request);
    if (path === undefined) return unreadable();
    if (method !== 'GET' && method !== 'HEAD')
      return plain(405, 'Only GET.', { Allow: 'GET, HEAD' });
    const verdict = guard(request, path);
    if (typeof verdict === 'object') return refusal(verdict.refused, verdict.reason);
    switch (path) {
      case '/healthz':
        return json({ status: 'alive' });
      case '/readyz':
        return readiness(service.health(), verdict === 'trusted');
      case '/metrics':
        return reply(200, METRICS_TYPE, exposition(service.metrics()));
      default:
        if (!Object.hasOwn(pages, path)) return plain(404, 'There is nothing here.');
        return pages[path]!(method === 'HEAD', client);
    }
  };
}

/** @param mayKnowWhy whether the client may be told reasons. */
function readiness(health: Health, mayKnowWhy: boolean): Response {
  const { reasons, warnings } = health;
  const status = isReady(health) ? 'ready' : 'not ready';
  return json(mayKnowWhy ? { status, reasons, warnings } : { status }, isReady(health) ? 200 : 503);
}
