import { LIMITS } from '../base/limits.ts';
import { sleep } from '../base/time.ts';
import type { Answer } from './exchange.ts';
import { fetchHandler, onServerError, responseOf } from './fetch-exchange.ts';
import { type Listener, type ListenOptions, until, urlOf } from './listener.ts';

interface Server {
  readonly addr: { port: number };
  /** Rejects with the error that ended it. */
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
}

type Respond = (request: Request) => Response | Promise<Response>;

export interface Deno {
  serve(
    options: { hostname: string; port: number; onListen: () => void; onError: () => Response },
    handler: Respond,
  ): Server;
}

/** For answers that are still being sent. */
const SHUTDOWN_MS = 1_000;
/** Between attempts to listen again. */
const RETRY_MS = 100;

/** Deno's server has no time-outs, neither for a request's head nor for idle connections. */
export function listenOnDeno(deno: Deno, { host, port, handler, budget }: ListenOptions): Listener {
  const respond = fetchHandler(handler, budget, linger);
  const beforeStop = { requests: 0 };
  let counted = beforeStop;
  const server = new LastingServer(deno, host, port, async (request) => {
    const at = counted;
    at.requests += 1;
    try {
      return await respond(request);
    } finally {
      at.requests -= 1;
    }
  });
  return {
    url: urlOf(host, server.port),
    async stop(timeoutMs) {
      counted = { requests: 0 };
      // A shutdown breaks off bodies that are still arriving, so these come first.
      await until(() => beforeStop.requests === 0, timeoutMs - SHUTDOWN_MS);
      await server.stop();
    },
  };
}

/**
 * Deno's server ends when `accept` fails, for example without file descriptors. This server
 * restarts it.
 */
export class LastingServer {
  readonly port: number;
  readonly #stopping = new AbortController();
  readonly #serve: (port: number) => Server;
  #server: Server;

  constructor(deno: Deno, hostname: string, port: number, respond: Respond) {
    const common = { hostname, onListen: () => {}, onError: onServerError };
    this.#serve = (at) => {
      const server = deno.serve({ ...common, port: at }, respond);
      void server.finished.catch(() => this.#serveAgain());
      return server;
    };
    this.#server = this.#serve(port);
    this.port = this.#server.addr.port;
  }

  async #serveAgain(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await sleep(RETRY_MS, this.#stopping.signal);
      try {
        this.#server = this.#serve(this.port);
        return;
      } catch {
        // There are still no descriptors.
      }
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.race([this.#server.shutdown(), sleep(SHUTDOWN_MS)]);
  }
}

/** Deno reads the request to its end; newer versions stop when its body is cancelled. */
function linger(answer: Answer, { body }: Request): Response {
  setTimeout(() => void body?.cancel().catch(() => {}), LIMITS.lingerMs);
  return responseOf(answer);
}
