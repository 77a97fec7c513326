import { LIMITS } from '../base/limits.ts';
import { sleep } from '../base/time.ts';
import { Deadlines } from './deadlines.ts';
import { FetchExchange, type Linger, responseOf } from './fetch-exchange.ts';
import {
  brokenOff,
  type Listener,
  type ListenOptions,
  QUEUE_BYTES,
  until,
  urlOf,
} from './listener.ts';
import { Queue } from './room.ts';

interface Server {
  readonly addr: { port: number };
  /** Rejects with the error that ended it. */
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

export interface Deno {
  serve(
    options: { hostname: string; port: number; onListen: () => void; onError: () => Response },
    handler: (request: Request) => Promise<Response>,
  ): Server;
}

/** For answers that are still on their way. */
const SHUTDOWN_MS = 1_000;
/** Between attempts to take connections again. */
const RETRY_MS = 100;

/** Deno's server has time-outs neither for a request's head nor for idle connections. */
export function listenOnDeno(deno: Deno, options: ListenOptions): Listener {
  const { host, port, queue = new Queue(QUEUE_BYTES), handler, unreadable } = options;
  const deadlines = new Deadlines(LIMITS.bodyTimeoutMs);
  const underWay = { requests: 0 };
  let counted = underWay;
  const counting = async (request: Request): Promise<Response> => {
    const at = counted;
    at.requests += 1;
    const room = queue.open();
    const exchange = new FetchExchange(request, deadlines, room, linger);
    try {
      return await handler(exchange, request);
    } catch {
      return await unreadable(exchange);
    } finally {
      room.close();
      at.requests -= 1;
    }
  };
  const serve = (at: number): Server => {
    const server = deno.serve(
      { hostname: host, port: at, onListen: () => {}, onError: brokenOff },
      counting,
    );
    void server.finished.catch(() => serveAgain(server.addr.port));
    return server;
  };
  const stopping = new AbortController();
  let server = serve(port);
  // Deno's server ends at an error of `accept`, such as running out of file descriptors.
  async function serveAgain(at: number): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(RETRY_MS, stopping.signal);
      try {
        server = serve(at);
        return;
      } catch {
        // There are no more descriptors yet.
      }
    }
  }
  return {
    url: urlOf(host, server.addr.port),
    async stop(timeoutMs) {
      stopping.abort();
      // Its shutdown breaks off bodies that are still arriving, so those under way come first.
      counted = { requests: 0 };
      await until(() => underWay.requests === 0, timeoutMs - SHUTDOWN_MS);
      // Below 2.4 it may wait for ever for connections that are merely kept.
      await Promise.race([server.shutdown(), sleep(SHUTDOWN_MS)]);
    },
  };
}

/** Deno would read the request on to its end; versions that heed it stop while this holds it. */
const linger: Linger = (answer, { body }) => {
  setTimeout(() => void body?.cancel().catch(() => {}), LIMITS.lingerMs);
  return responseOf(answer);
};
