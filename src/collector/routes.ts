import type { Answer, Exchange, Handler } from '../http/exchange.ts';
import { methodNotAllowed, notFound } from '../view/refusal.ts';
import { allowed, preflight } from './answers.ts';
import { type CollectorParts, refuse, refuseUnexpected, takeView } from './take-view.ts';

const PATH = '/view';

/** The public listener: `POST /view` and CORS preflights, nothing else. Reads no address. */
export const createCollector =
  (parts: CollectorParts): Handler =>
  (request) => {
    try {
      return route(request, parts);
    } catch (error) {
      return refuseUnexpected(error, request.header('origin'), parts);
    }
  };

// A router costs more than all of this: 8 µs a view on Deno.
function route(request: Exchange, parts: CollectorParts): Answer | Promise<Answer> {
  const { method, path } = request;
  const isView = path === PATH;
  if (isView && method === 'POST') return takeView(request, parts);
  if (method === 'OPTIONS') {
    if (request.header('access-control-request-method') !== undefined) return preflight(request);
    if (isView) return allowed(request);
  }
  const refusal = isView ? methodNotAllowed(method) : notFound(path || 'this address');
  return refuse(refusal, request.header('origin'), parts);
}
