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
  const app = new Hono<Env>({
    // The path as it was sent: Hono would look for it in a whole URL, and decode it. Its router
    // takes none without a slash.
    getPath(_, options) {
      const { path } = options!.env as Exchange;
      return path.startsWith('/') ? path : '/';
    },
  });
  // One handler a route, or Hono composes them anew for every request.
  app.post(PATH, ({ env }) => env.respond(takeView(env, parts)));
  app.options('*', ({ env }) => {
    if (env.header('access-control-request-method') !== undefined) {
      return env.respond(preflight(env));
    }
    return env.path === PATH ? env.respond(allowed(env)) : nothingHere(env);
  });
  app.notFound(({ env }) =>
    env.path === PATH
      ? env.respond(refuse(methodNotAllowed(env.method), env.header('origin'), parts))
      : nothingHere(env),
  );
  app.onError((error, { env }: Context<Env>) =>
    env.respond(refuseUnexpected(error, env.header('origin'), parts)),
  );
  const nothingHere = (request: Exchange, path = request.path || 'this address') =>
    request.respond(refuse(notFound(path), request.header('origin'), parts));
  return {
    // Hono asks a request for its method, and by `getPath` for its path.
    handler: (exchange) => app.fetch(exchange as unknown as Request, exchange),
    unreadable: (request) => nothingHere(request, 'this address'),
  };
}
