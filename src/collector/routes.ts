import { RegExpRouter } from 'hono/router/reg-exp-router';
import { printable } from '../base/text.ts';
import type { Answer, Exchange, Handler } from '../http/exchange.ts';
import { refusal } from '../view/refusal.ts';
import { allowed, preflight } from './answers.ts';
import { type CollectorParts, refuse, refuseUnexpected, receiveView } from './receive-view.ts';

const PATH = '/view';

/** The public listener: `POST /view` and CORS preflights, nothing else. Reads no address. */
export function createCollector(parts: CollectorParts): Handler {
  // Only Hono's router: its `Request` and `Response` would cost 40% of the speed on Node.
  const routes = new RegExpRouter<Handler>();
  routes.add('POST', PATH, (request) => receiveView(request, parts));
  routes.add('OPTIONS', '*', (request) => {
    if (request.header('access-control-request-method') !== undefined) return preflight(request);
    return request.path === PATH ? allowed(request) : unknown(request, parts);
  });
  return (request) => {
    try {
      // The router needs a path.
      const [[route]] = routes.match(request.method, request.path || '/');
      return route === undefined ? unknown(request, parts) : route[0](request);
    } catch (error) {
      return refuseUnexpected(error, request.header('origin'), parts);
    }
  };
}

/** Answers a method that `/view` does not have, or any other path. */
function unknown(request: Exchange, parts: CollectorParts): Answer {
  const { method, path } = request;
  const detail = `${printable(method, 32)} is not allowed on ${PATH}; send views with POST.`;
  const nothing = `There is nothing at ${printable(path) || 'this address'}; send views to ${PATH}.`;
  const fault =
    path === PATH ? refusal('method-not-allowed', detail) : refusal('not-found', nothing);
  return refuse(fault, request.header('origin'), parts);
}
