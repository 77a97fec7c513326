import { type Context, Hono } from 'hono';
import { printable } from '../base/text.ts';
import type { Answer, Exchange, Handler } from '../http/exchange.ts';
import { refusal } from '../view/refusal.ts';
import { allowed, preflight } from './answers.ts';
import { type CollectorParts, refuse, refuseUnexpected, receiveView } from './receive-view.ts';

/** A request, and its answer once there is one. */
interface Asked {
  readonly exchange: Exchange;
  answer: Answer | Promise<Answer> | undefined;
}

interface Env {
  Bindings: Asked;
}

const PATH = '/view';

/** The public listener: `POST /view` and CORS preflights, nothing else. Reads no address. */
export function createCollector(parts: CollectorParts): Handler {
  // Returns the path as it was sent. By default Hono would read it from a whole URL and decode it.
  // Its router needs a leading slash.
  const app = new Hono<Env>({
    getPath: (_, options) => {
      const { path } = (options as { env: Asked }).env.exchange;
      return path.startsWith('/') ? path : '/';
    },
  });
  // One handler per route: Hono would compose several for each request.
  app.post(PATH, ({ env }) => give(env, receiveView(env.exchange, parts)));
  app.options('*', ({ env }) => {
    const { exchange } = env;
    if (exchange.header('access-control-request-method') !== undefined) {
      return give(env, preflight(exchange));
    }
    return give(env, exchange.path === PATH ? allowed(exchange) : unknown(exchange, parts));
  });
  app.notFound(({ env }) => give(env, unknown(env.exchange, parts)));
  app.onError((error, { env }: Context<Env>) =>
    give(env, refuseUnexpected(error, env.exchange, parts)),
  );
  return (exchange) => {
    const asked: Asked = { exchange, answer: undefined };
    void app.fetch(exchange as unknown as Request, asked);
    return asked.answer!;
  };
}

/**
 * Puts the answer into `Asked`: each runtime's server then sends a plain answer in its fastest way.
 * On Node, a `Response` would cost 40% of the speed.
 */
function give(asked: Asked, answer: Answer | Promise<Answer>): Response {
  asked.answer = answer;
  return ANSWERED;
}

const ANSWERED = {} as Response;

/** Answers a method that `/view` does not have, or any other path. */
function unknown(exchange: Exchange, parts: CollectorParts): Answer {
  const { method, path } = exchange;
  const detail = `${printable(method, 32)} is not allowed on ${PATH}; send views with POST.`;
  const nothing = `There is nothing at ${printable(path) || 'this address'}; send views to ${PATH}.`;
  const fault =
    path === PATH ? refusal('method-not-allowed', detail) : refusal('not-found', nothing);
  return refuse(fault, exchange, parts);
}
