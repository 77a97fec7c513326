import { LIMITS } from '../base/limits.ts';
import { every } from '../base/time.ts';
import { Body } from './body.ts';
import { type Answer, type BodyFault, type Exchange, type Handler, pathOf } from './exchange.ts';
import type { HeaderName } from './few-headers.ts';
import { type MemoryBudget, Reservation } from './memory-budget.ts';

/**
 * The bodies that are still arriving: a function that gives up reading, and when it is due. A timer
 * for each of them would cost Deno 8% of its speed.
 */
type Reads = Map<() => void, number>;

/** Makes the runtime's response, which ends the connection if the body was not read to its end. */
type Respond = (answer: Answer, exchange: FetchExchange) => Response | Promise<Response>;

/**
 * Makes the handler of a server that speaks the Fetch API.
 * @returns the handler, and the bodies that it is reading.
 */
export function fetchHandler(handler: Handler, budget: MemoryBudget, respond: Respond) {
  const reads: Reads = new Map();
  every(LIMITS.sweepMs, () => {
    for (const [giveUp, dueMs] of reads) if (dueMs <= performance.now()) giveUp();
  });
  const answer = async (request: Request): Promise<Response> => {
    const reservation = new Reservation(budget);
    try {
      const exchange = new FetchExchange(request, reads, reservation);
      const ready = await handler(exchange);
      if (!exchange.isRead) await exchange.drain();
      return respond(ready, exchange);
    } finally {
      reservation.release();
    }
  };
  return { answer, reads };
}

/** @param text the answer's body, or a stream of it. */
export function responseOf(
  { status, headers, body }: Answer,
  { isRead }: FetchExchange,
  text: string | ReadableStream | null = body,
): Response {
  const init = { status, headers: isRead ? headers : { ...headers, Connection: 'close' } };
  return new Response(text, init);
}

/** The answer if a response fails. Deno would log a stack trace, Bun would show source code. */
export const onServerError = (): Response => new Response(null, { status: 500 });

export class FetchExchange implements Exchange {
  readonly request: Request;
  readonly #reads: Reads;
  readonly #reservation: Reservation;
  /** True if the body was read to its end. */
  isRead = false;
  /** Why the body was not read to its end, if its pieces were the reason. */
  fault: BodyFault | undefined;

  constructor(request: Request, reads: Reads, reservation: Reservation) {
    this.request = request;
    this.#reads = reads;
    this.#reservation = reservation;
  }

  get method(): string {
    return this.request.method;
  }

  get path(): string {
    try {
      return pathOf(this.request.url);
    } catch {
      return ''; // the target and the Host header are not a URL together
    }
  }

  header(name: HeaderName): string | undefined {
    return this.request.headers.get(name) ?? undefined;
  }

  read(bytesMax: number): Promise<Uint8Array | BodyFault> {
    const declared = this.header('content-length');
    if (declared === undefined) return this.#readPieces(bytesMax, LIMITS.bodyTimeoutMs);
    const bytes = Number(declared);
    if (bytes > bytesMax) return Promise.resolve('too-large');
    if (bytes > LIMITS.reservedBytesMax) return this.#readPieces(bytesMax, LIMITS.bodyTimeoutMs);
    if (!this.#reservation.tryReserve(bytes)) return Promise.resolve('over-budget');
    return this.#readWhole();
  }

  /** Reads a body that is not needed, within limits. */
  async drain(): Promise<void> {
    if (!this.request.bodyUsed) await this.#readPieces(LIMITS.drainBytesMax, LIMITS.drainMs);
  }

  /** Reads a body in the runtime's fastest way; the server holds its sender to the declared length. */
  #readWhole(): Promise<Uint8Array | BodyFault> {
    return new Promise((resolve) => {
      const finish = (body?: ArrayBuffer): void => {
        this.#reads.delete(finish);
        if (body === undefined) return resolve('incomplete');
        this.isRead = true;
        resolve(new Uint8Array(body));
      };
      this.#reads.set(finish, performance.now() + LIMITS.bodyTimeoutMs);
      this.request.arrayBuffer().then(finish, () => finish());
    });
  }

  async #readPieces(bytesMax: number, timeoutMs: number): Promise<Uint8Array | BodyFault> {
    const body = new Body(bytesMax, this.#reservation);
    const reader = this.request.body?.getReader();
    // A pending read then rejects.
    const giveUp = (): void => reader?.releaseLock();
    this.#reads.set(giveUp, performance.now() + timeoutMs);
    try {
      for (;;) {
        const next = await reader?.read();
        this.isRead = next?.done ?? true;
        if (next?.value === undefined) return body.whole;
        this.fault = body.add(next.value);
        if (this.fault !== undefined) return this.fault;
      }
    } catch {
      return 'incomplete'; // time is up, or the client has gone
    } finally {
      this.#reads.delete(giveUp);
      giveUp();
    }
  }
}
