// Hono routes the requests, so that anyone who knows Hono can read these routes and add one. A
// runtime's `Request` and `Response` would cost 40% of throughput on Node, so Hono gets the
// exchange in place of a request and reads the exchange's path with `getPath`. A route's handler
// sets the answer in `env`; the value that the handler returns to Hono has no meaning.
import { type Context, Hono } from 'hono';
import { printable } from '../base/text.ts';
import type { Answer, Exchange, Handler } from '../http/exchange.ts';
import { refusal } from '../view/refusal.ts';
import { allowed, preflight } from './answers.ts';
import { type CollectorParts, refuse, refuseUnexpected, receiveView } from './receive-view.ts';

/** A request, and its answer as soon as a route has set it. */
interface PendingAnswer {
  readonly exchange: Exchange;
  answer: Answer | Promise<Answer> | undefined;
}

interface Env {
  Bindings: PendingAnswer;
}

const PATH = '/view';

/** The public listener: `POST /view` and CORS preflights, nothing else. Reads no IP address. */
export function createCollector(parts: CollectorParts): Handler {
  // Returns the path as sent. By default, Hono would read the path from a whole URL and decode it.
  // Hono's router needs a leading slash.
  const app = new Hono<Env>({
    getPath: (_, options) => {
      const { path } = (options as { env: PendingAnswer }).env.exchange;
      return path.startsWith('/') ? path : '/';
    },
  });
  // One handler per route: Hono would compose several for each request.
  app.post(PATH, ({ env }) => setAnswer(env, receiveView(env.exchange, parts)));
  app.options('*', ({ env }) => {
    const { exchange } = env;
    if (exchange.header('access-control-request-method') !== undefined) {
      return setAnswer(env, preflight(exchange));
    }
    return setAnswer(env, exchange.path === PATH ? allowed(exchange) : notFound(exchange, parts));
  });
  app.notFound(({ env }) => setAnswer(env, notFound(env.exchange, parts)));
  app.onError((error, { env }: Context<Env>) =>
    setAnswer(env, refuseUnexpected(error, env.exchange, parts)),
  );
  return (exchange) => {
    const pending: PendingAnswer = { exchange, answer: undefined };
    void app.fetch(exchange as unknown as Request, pending);
    return pending.answer!;
  };
}

function setAnswer(pending: PendingAnswer, answer: Answer | Promise<Answer>): Response {
  pending.answer = answer;
  return NO_RESPONSE;
}

const NO_RESPONSE = {} as Response;

/** Returns the detail of a 404 at this path. */
export const nothingAt = (path: string): string =>
  `There is nothing at ${printable(path) || 'this address'}; send views to ${PATH}.`;

/** Answers a method that `/view` doesn't have, or any other path. */
function notFound(exchange: Exchange, parts: CollectorParts): Answer {
  const { method, path } = exchange;
  const detail = `${printable(method, 32)} isn't allowed on ${PATH}; send views with POST.`;
  const fault =
    path === PATH ? refusal('method-not-allowed', detail) : refusal('not-found', nothingAt(path));
  return refuse(fault, exchange, parts);
}
