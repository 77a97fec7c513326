import { type Context, Hono } from 'hono';
import type { Answer, Exchange, Handler } from '../http/exchange.ts';
import { methodNotAllowed, notFound, type Refusal } from '../view/refusal.ts';
import { allowed, preflight } from './answers.ts';
import { type CollectorParts, refuse, refuseUnexpected, takeView } from './take-view.ts';

/** A request, and the place for its answer. */
interface Asked {
  readonly exchange: Exchange;
  answer: Answer | Promise<Answer> | undefined;
}

interface Env {
  Bindings: Asked;
}

const PATH = '/view';

/**
 * The routes return this to Hono, and put the answer into `Asked`: each runtime's server then sends
 * a plain answer in its fastest way. On Node, a `Response` would cost 40% of the speed.
 */
const ANSWERED = {} as Response;

/** The public listener: `POST /view` and CORS preflights, nothing else. Reads no address. */
export function createCollector(parts: CollectorParts): Handler {
  const give = (asked: Asked, answer: Answer | Promise<Answer>): Response => {
    asked.answer = answer;
    return ANSWERED;
  };
  const refused = (asked: Asked, refusal: Refusal): Response =>
    give(asked, refuse(refusal, asked.exchange.header('origin'), parts));
  const unknown = (asked: Asked): Response =>
    refused(asked, notFound(asked.exchange.path || 'this address'));

  // The path as it was sent. By default Hono would take it from a whole URL, and decode it. Its
  // router needs a leading slash.
  const app = new Hono<Env>({
    getPath: (_, options) => {
      const { path } = (options as { env: Asked }).env.exchange;
      return path.startsWith('/') ? path : '/';
    },
  });
  // One handler per route: Hono would compose several for each request.
  app.post(PATH, ({ env }) => give(env, takeView(env.exchange, parts)));
  app.options('*', ({ env }) => {
    const { exchange } = env;
    if (exchange.header('access-control-request-method') !== undefined) {
      return give(env, preflight(exchange));
    }
    return exchange.path === PATH ? give(env, allowed(exchange)) : unknown(env);
  });
  app.notFound(({ env }) =>
    env.exchange.path === PATH ? refused(env, methodNotAllowed(env.exchange.method)) : unknown(env),
  );
  app.onError((error, { env }: Context<Env>) =>
    give(env, refuseUnexpected(error, env.exchange.header('origin'), parts)),
  );
  return (exchange) => {
    const asked: Asked = { exchange, answer: undefined };
    void app.fetch(exchange as unknown as Request, asked);
    return asked.answer!;
  };
}
