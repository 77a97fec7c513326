import { LIMITS } from '../base/limits.ts';
import { sleep } from '../base/time.ts';
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

/** Between attempts to listen again. */
const RETRY_MS = 100;

/** Deno's server has no time-outs, neither for a request's head nor for idle connections. */
export function listenOnDeno(deno: Deno, { host, port, handler, budget }: ListenOptions): Listener {
  const { reads, answer } = fetchHandler(handler, budget, (ready, exchange) => {
    if (!exchange.isRead) cancelLater(exchange.request.body);
    return responseOf(ready, exchange);
  });
  const server = new RestartingServer(deno, host, port, answer);
  const address = { host, port: server.port };
  return {
    address,
    url: urlOf(address),
    async stop(timeoutMs) {
      // A shutdown breaks off bodies that are still arriving, so these come first.
      const arriving = [...reads.keys()];
      await until(() => !arriving.some((read) => reads.has(read)), timeoutMs / 2);
      // Deno 2.5 would wait for connections that have sent nothing.
      const answered = until(() => budget.bytes === 0, timeoutMs / 2);
      await Promise.race([
        server.stop(timeoutMs / 2),
        answered.then(() => sleep(LIMITS.stopIdleMs)),
      ]);
    },
  };
}

/** Deno reads the request to its end; newer versions stop when its body is cancelled. */
function cancelLater(body: Request['body']): void {
  setTimeout(() => void body?.cancel().catch(() => {}), LIMITS.lingerMs);
}

/**
 * Deno's server ends when `accept` fails, for example without file descriptors. This server
 * restarts it.
 */
export class RestartingServer {
  readonly port: number;
  readonly #listen: (port: number) => Server;
  #server: Server;
  #isStopping = false;

  constructor(deno: Deno, hostname: string, port: number, respond: Respond) {
    const common = { hostname, onListen: () => {}, onError: onServerError };
    this.#listen = (at) => {
      const server = deno.serve({ ...common, port: at }, respond);
      void server.finished.catch(() => this.#listenAgain());
      return server;
    };
    this.#server = this.#listen(port);
    this.port = this.#server.addr.port;
  }

  async #listenAgain(): Promise<void> {
    await sleep(RETRY_MS);
    if (this.#isStopping) return;
    try {
      this.#server = this.#listen(this.port);
    } catch {
      return this.#listenAgain(); // there are still no descriptors
    }
  }

  /** Waits up to `timeoutMs` for answers that are still being sent. */
  async stop(timeoutMs: number = LIMITS.stopIdleMs): Promise<void> {
    this.#isStopping = true;
    await Promise.race([this.#server.shutdown(), sleep(timeoutMs)]);
  }
}
