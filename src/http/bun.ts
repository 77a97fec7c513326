import { LIMITS } from '../base/limits.ts';
import { sleep } from '../base/time.ts';
import { Deadlines } from './deadlines.ts';
import { FetchExchange, type Linger, responseOf } from './fetch-exchange.ts';
import {
  brokenOff,
  type Listener,
  type ListenOptions,
  QUEUE_BYTES,
  TIMING,
  until,
  urlOf,
} from './listener.ts';
import { Queue } from './room.ts';

export interface Bun {
  serve(options: {
    hostname: string;
    port: number;
    reusePort: boolean;
    fetch: (request: Request) => Response | Promise<Response>;
    error: () => Response;
    development: boolean;
    idleTimeout: number;
    maxRequestBodySize: number;
  }): { port: number; pendingRequests: number; stop(closeConnections?: boolean): Promise<void> };
}

export function listenOnBun(bun: Bun, options: ListenOptions): Listener {
  const { host, port, queue = new Queue(QUEUE_BYTES), handler, unreadable } = options;
  const deadlines = new Deadlines(LIMITS.bodyTimeoutMs);
  const server = bun.serve({
    hostname: host,
    port,
    // Or else a second process on Bun listens there too, and takes some of the views.
    reusePort: false,
    async fetch(request) {
      const room = queue.open();
      const exchange = new FetchExchange(request, deadlines, room, linger);
      try {
        const response = await handler(exchange, request);
        // Bun reads on for as long as it is answered at once, and nobody else has a turn.
        if (response.status !== 201) await sleep(0);
        return response;
      } catch {
        return await unreadable(exchange);
      } finally {
        room.close();
      }
    },
    error: brokenOff,
    development: false,
    idleTimeout: TIMING.keepAliveMs / 1000,
    // The app refuses what is too large, and says why.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  return {
    url: urlOf(host, server.port),
    async stop(timeoutMs) {
      // Bun waits for idle connections to end by themselves; their clients may keep them for hours.
      void server.stop();
      await until(() => server.pendingRequests === 0, timeoutMs);
      void server.stop(true);
    },
  };
}

/** The text at once, its end a moment later: a server that then closes does so no sooner. */
const linger: Linger = (answer, _, isInPieces) => {
  // Bun reads megabytes of a connection before it looks at another: of one-byte pieces for seconds.
  if (isInPieces) return responseOf(answer);
  const { status, headers, body } = answer;
  const stream = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(body ?? ''));
      await sleep(LIMITS.lingerMs);
      controller.close();
    },
  });
  return new Response(stream, { status, headers });
};
