import { type Context, Hono } from 'hono';
import type { Answer, Exchange, Handler } from '../http/exchange.ts';
import { methodNotAllowed, notFound, type Refusal } from '../view/refusal.ts';
import { allowed, preflight } from './answers.ts';
import { type CollectorParts, refuse, refuseUnexpected, takeView } from './take-view.ts';

/** The exchange of the runtime's server, which is all that the routes look at. */
interface Env {
  Bindings: Exchange;
}

const PATH = '/view';

/** The public listener: `POST /view` and CORS preflights, nothing else. Reads no address. */
export function createCollector(parts: CollectorParts): Handler {
  // The path as it was sent. By default Hono would take it from a whole URL, and decode it. Its
  // router needs a leading slash.
  const app = new Hono<Env>({
    getPath: (_, options) => {
      const { path } = (options as { env: Exchange }).env;
      return path.startsWith('/') ? path : '/';
    },
  });
  const refused = (request: Exchange, refusal: Refusal): Answer =>
    refuse(refusal, request.header('origin'), parts);
  const unknown = (request: Exchange): Answer =>
    refused(request, notFound(request.path || 'this address'));
  const others = (request: Exchange): Answer =>
    request.path === PATH ? refused(request, methodNotAllowed(request.method)) : unknown(request);

  // One handler per route: for several, Hono would compose them again for each request.
  app.post(PATH, ({ env }) => given(takeView(env, parts)));
  app.options('*', ({ env }) => {
    if (env.header('access-control-request-method') !== undefined) return given(preflight(env));
    return given(env.path === PATH ? allowed(env) : unknown(env));
  });
  app.notFound(({ env }) => given(others(env)));
  app.onError((error, { env }: Context<Env>) =>
    given(refuseUnexpected(error, env.header('origin'), parts)),
  );
  return (exchange) => {
    // Hono would make a Response of what it takes for the answer to a GET.
    if (exchange.method === 'HEAD') return others(exchange);
    return app.fetch(exchange as unknown as Request, exchange) as unknown as Answer;
  };
}

/**
 * Hono hands on what a handler returns without looking at it. So it can be a plain answer, which
 * each runtime's server sends in its fastest way: on Node, a `Response` would cost 40% of the speed.
 */
const given = (answer: Answer | Promise<Answer>): Response => answer as unknown as Response;
