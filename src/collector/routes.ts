import { type Context, Hono } from 'hono';
import type { Exchange } from '../http/exchange.ts';
import type { Handler } from '../http/listener.ts';
import { methodNotAllowed, notFound } from '../view/refusal.ts';
import { allowed, preflight } from './answers.ts';
import { type CollectorParts, refuse, refuseUnexpected, takeView } from './take-view.ts';

/** What the runtime's server hands over with a request. */
interface Env {
  Bindings: Exchange;
}

/** The public listener's answers: `POST /view` and CORS preflights, nothing else. */
export interface Collector {
  /** Answers whatever a client sends; nothing in it throws. */
  readonly handler: Handler;
  /** Answers a request whose address the runtime cannot read. */
  readonly unreadable: (request: Exchange) => Response | Promise<Response>;
}

const PATH = '/view';

/** It reads no address and no User-Agent. */
export function createCollector(parts: CollectorParts): Collector {
  // The path as it was sent: Hono would look for it in a whole URL, and decode it.
  const app = new Hono<Env>({ getPath: (_, options) => (options!.env as Exchange).path });
  // One handler a route, or Hono composes them anew for every request.
  app.post(PATH, ({ env }) => env.respond(takeView(env, parts)));
  app.options('*', ({ env }) => {
    if (env.header('access-control-request-method') !== undefined) {
      return env.respond(preflight(env));
    }
    return env.path === PATH ? env.respond(allowed(env)) : nothingHere(env);
  });
  app.notFound(({ env, req }) =>
    env.path === PATH
      ? env.respond(refuse(methodNotAllowed(req.method), env.header('origin'), parts))
      : nothingHere(env),
  );
  app.onError((error, { env }: Context<Env>) =>
    env.respond(refuseUnexpected(error, env.header('origin'), parts)),
  );
  const nothingHere = (request: Exchange, path = request.path) =>
    request.respond(refuse(notFound(path), request.header('origin'), parts));
  return {
    handler: (request, exchange) => app.fetch(request, exchange),
    unreadable: (request) => nothingHere(request, 'this address'),
  };
}
