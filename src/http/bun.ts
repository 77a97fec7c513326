import { LIMITS } from '../base/limits.ts';
import { sleep } from '../base/time.ts';
import type { Answer } from './exchange.ts';
import { type FetchExchange, fetchHandler, onServerError, responseOf } from './fetch-exchange.ts';
import { type Listener, type ListenOptions, until, urlOf } from './listener.ts';

export interface Bun {
  serve(options: {
    hostname: string;
    port: number;
    reusePort: boolean;
    fetch: (request: Request) => Response | Promise<Response>;
    error: () => Response;
    development: boolean;
    idleTimeout: number;
    maxRequestBodySize?: number;
  }): { port: number; pendingRequests: number; stop(closeConnections?: boolean): Promise<void> };
}

export function listenOnBun(bun: Bun, { host, port, handler, budget }: ListenOptions): Listener {
  const { answer } = fetchHandler(handler, budget, {
    readBytes: 0,
    readerOf: (body) => body.getReader(),
    discardBody: (exchange) => exchange.discardBody(),
    respond,
  });
  const server = bun.serve({
    hostname: host,
    port,
    // By default a second process on Bun may listen on the same port and get some of the views.
    reusePort: false,
    fetch: answer,
    error: onServerError,
    development: false,
    idleTimeout: LIMITS.idleTimeoutMs / 1000,
    // The collector itself refuses bodies that are too large and says why.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  const address = { host, port: server.port };
  return {
    address,
    url: urlOf(address),
    async stop(timeoutMs) {
      // `stop()` waits until clients end their idle connections, which can take hours.
      void server.stop();
      await until(() => server.pendingRequests === 0, timeoutMs);
      void server.stop(true);
    },
  };
}

/**
 * The last 201's headers and Bun's form of them: converting them again costs 2% of a view's CPU.
 */
let last = { headers: {} as Answer['headers'], made: new Headers() };

function respond(answer: Answer, exchange: FetchExchange): Response | Promise<Response> {
  const { status, headers, body } = answer;
  if (status !== 201) return refuse(answer, exchange);
  if (last.headers !== headers) last = { headers, made: new Headers(headers) };
  return new Response(body, { status, headers: last.made });
}

async function refuse(answer: Answer, exchange: FetchExchange): Promise<Response> {
  // Otherwise Bun buffers the rest of the body, beyond the memory budget.
  if (exchange.fault === 'over-budget') void exchange.request.body?.cancel().catch(() => {});
  // Without this wait, Bun reads this connection's next request before any other connection's.
  await sleep(0);
  // If the response lingered, Bun would read megabytes of this connection before it looks at
  // another, which takes seconds if each piece is one byte.
  if (exchange.isRead || exchange.fault === 'too-many-pieces') {
    return responseOf(answer, exchange);
  }
  // Bun closes the connection only when the response ends.
  const stream = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(answer.body ?? ''));
      await sleep(LIMITS.lingerMs);
      controller.close();
    },
  });
  return responseOf(answer, exchange, stream);
}
