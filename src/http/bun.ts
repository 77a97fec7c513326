import { LIMITS } from '../base/limits.ts';
import { sleep } from '../base/time.ts';
import type { Answer } from './exchange.ts';
import { fetchHandler, onServerError, responseOf } from './fetch-exchange.ts';
import { type Listener, type ListenOptions, TIMING, until, urlOf } from './listener.ts';

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
  const respond = fetchHandler(handler, budget, linger);
  const server = bun.serve({
    hostname: host,
    port,
    // By default a second process on Bun may listen on the same port, and get some of the views.
    reusePort: false,
    async fetch(request) {
      const response = await respond(request);
      // If it is answered at once, Bun reads the connection's next request before any other's.
      if (response.status !== 201) await sleep(0);
      return response;
    },
    error: onServerError,
    development: false,
    idleTimeout: TIMING.keepAliveMs / 1000,
    // The collector itself refuses bodies that are too large, and says why.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  return {
    url: urlOf(host, server.port),
    async stop(timeoutMs) {
      // Bun waits until idle connections end by themselves; their clients may keep them for hours.
      void server.stop();
      await until(() => server.pendingRequests === 0, timeoutMs);
      void server.stop(true);
    },
  };
}

/** Sends the text at once and ends the response later: only then does Bun close the connection. */
function linger(answer: Answer, _: Request, inPieces: boolean): Response {
  // Bun reads megabytes of one connection before it looks at another; in pieces of one byte this
  // takes seconds.
  if (inPieces) return responseOf(answer);
  const { status, headers, body } = answer;
  const stream = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(body ?? ''));
      await sleep(LIMITS.lingerMs);
      controller.close();
    },
  });
  return new Response(stream, { status, headers });
}
