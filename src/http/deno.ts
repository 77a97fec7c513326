import { KiB } from '../base/format.ts';
import { LIMITS } from '../base/limits.ts';
import { sleep } from '../base/time.ts';
import type { Answer } from './exchange.ts';
import {
  type FetchExchange,
  fetchHandler,
  onServerError,
  type PieceReader,
  responseOf,
} from './fetch-exchange.ts';
import type { MemoryBudget } from './memory-budget.ts';
import { type Listener, type ListenOptions, until, urlOf } from './listener.ts';

interface Server {
  readonly addr: { port: number };
  /** Rejects with the error that ended the server. */
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

/** Deno's buffer for each body that it is reading; a lone view still fits into a small budget. */
const readBytesOf = ({ bytesMax }: MemoryBudget): number => Math.min(64 * KiB, bytesMax / 8);

/** The wait between attempts to listen again. */
const RETRY_MS = 100;

/** Deno's server has no timeouts, neither for a request's head nor for idle connections. */
export function listenOnDeno(deno: Deno, { host, port, handler, budget }: ListenOptions): Listener {
  const readBytes = readBytesOf(budget);
  const { reads, answer } = fetchHandler(handler, budget, {
    readBytes,
    readerOf: (body) => readerOf(body, readBytes),
    discardBody,
    respond,
  });
  const server = new RestartingServer(deno, host, port, answer);
  const address = { host, port: server.port };
  return {
    address,
    url: urlOf(address),
    async stop(timeoutMs) {
      // A shutdown would cut off a body that is still arriving, so this waits until none has been
      // arriving for a while: on the same connection, another may follow.
      let arrivingMs = performance.now();
      await until(() => {
        const nowMs = performance.now();
        if (reads.size > 0) arrivingMs = nowMs;
        return nowMs - arrivingMs >= LIMITS.stopIdleMs;
      }, timeoutMs / 2);
      // Deno 2.5 would wait for connections that have sent nothing.
      const answered = until(() => budget.bytes === 0, timeoutMs / 2);
      await Promise.race([
        server.stop(timeoutMs / 2),
        answered.then(() => sleep(LIMITS.stopIdleMs)),
      ]);
    },
  };
}

/**
 * Reads each piece into the same buffer. Deno's own reader allocates 64 KiB for each piece, and
 * pieces of one byte would use hundreds of megabytes. Newer versions have no byte stream for a body
 * that had already arrived.
 */
function readerOf(body: ReadableStream<Uint8Array<ArrayBuffer>>, bufferBytes: number): PieceReader {
  let reader: ReadableStreamBYOBReader;
  try {
    reader = body.getReader({ mode: 'byob' });
  } catch {
    return body.getReader();
  }
  let buffer = new ArrayBuffer(bufferBytes);
  return {
    async read() {
      const next = await reader.read(new Uint8Array(buffer));
      if (next.value !== undefined) buffer = next.value.buffer;
      return next;
    },
    releaseLock: () => reader.releaseLock(),
  };
}

/**
 * Reads the body once. Deno can close the connection of a refused request only if no read of its
 * body is pending. Newer versions can close it only once reading has begun.
 */
async function discardBody(exchange: FetchExchange): Promise<void> {
  const { body, bodyUsed } = exchange.request;
  if (bodyUsed || !exchange.tryReserve(LIMITS.drainBytesMax)) return;
  const reader = body!.getReader();
  const piece = await Promise.race([reader.read().catch(() => {}), sleep(LIMITS.drainMs)]);
  const bytes = piece?.value?.length ?? 0;
  const isWhole = String(bytes) === exchange.header('content-length');
  // The body has ended, so this read doesn't wait.
  exchange.isRead = piece?.done === true || (isWhole && (await reader.read()).done);
  reader.releaseLock();
}

function respond(answer: Answer, exchange: FetchExchange): Response {
  if (!exchange.isRead) cancelLater(exchange);
  return responseOf(answer, exchange);
}

/**
 * On newer versions, closes the connection after a while. Call it only for a body that wasn't read:
 * asking a request for its `body` makes a stream, which would cost each view 5% of its CPU.
 */
function cancelLater({ request: { body } }: FetchExchange): void {
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
