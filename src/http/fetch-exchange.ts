import { LIMITS } from '../base/limits.ts';
import { every } from '../base/time.ts';
import { Body } from './body.ts';
import { type Answer, type BodyFault, type Exchange, type Handler, pathOf } from './exchange.ts';
import type { HeaderName } from './few-headers.ts';
import { type MemoryBudget, Reservation } from './memory-budget.ts';

/**
 * For each body that is still arriving, a function that gives up reading, and when to call it. A
 * timer for each body would cost Deno 8% of its speed.
 */
type Reads = Map<() => void, number>;

/** Reads a body by the piece. A piece is valid until the next read. */
export type PieceReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'releaseLock'>;

/** The differences between runtimes with the Fetch API. */
export interface FetchRuntime {
  /** The memory that the runtime itself needs while it reads a body. */
  readonly readBytes: number;
  readonly readerOf: (body: ReadableStream<Uint8Array<ArrayBuffer>>) => PieceReader;
  /** Reads some of a refused body, so that its sender sees the answer. */
  readonly discardBody: (exchange: FetchExchange) => Promise<void>;
  /** Makes the response, which ends the connection if the body wasn't read to its end. */
  readonly respond: (answer: Answer, exchange: FetchExchange) => Response | Promise<Response>;
}

/**
 * Makes the handler of a server that speaks the Fetch API.
 * @returns the handler and the bodies that it is reading.
 */
export function fetchHandler(handler: Handler, budget: MemoryBudget, runtime: FetchRuntime) {
  const reads: Reads = new Map();
  every(LIMITS.sweepMs, () => {
    for (const [giveUp, dueMs] of reads) if (dueMs <= performance.now()) giveUp();
  });
  const answer = async (request: Request): Promise<Response> => {
    const reservation = new Reservation(budget);
    const exchange = new FetchExchange(request, reads, reservation, runtime);
    try {
      const ready = await handler(exchange);
      exchange.isRead ||= !hasBody(request);
      if (!exchange.isRead) await runtime.discardBody(exchange);
      return runtime.respond(ready, exchange);
    } finally {
      // If the body wasn't read, its connection stays open for a while.
      if (exchange.isRead) reservation.release();
      else setTimeout(() => reservation.release(), LIMITS.lingerMs);
    }
  };
  return { answer, reads };
}

/**
 * Checks the headers too, because on Deno even a preflight has a stream, and reading that stream
 * would cost memory.
 */
const hasBody = ({ headers, body }: Request): boolean =>
  body !== null && (headers.has('content-length') || headers.has('transfer-encoding'));

/** @param text the answer's body or a stream of it. */
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

type Reading = Pick<FetchRuntime, 'readBytes' | 'readerOf'>;

export class FetchExchange implements Exchange {
  readonly request: Request;
  readonly #reads: Reads;
  readonly #reservation: Reservation;
  readonly #runtime: Reading;
  /** True if the body was read to its end, or there is none. */
  isRead = false;
  /** Set only if a body is incomplete: a field of each request costs each view CPU time on Bun. */
  declare bytesRead?: number;
  /** Why the body wasn't read to its end, if its pieces or the budget were the reason. */
  fault: BodyFault | undefined;

  constructor(request: Request, reads: Reads, reservation: Reservation, runtime: Reading) {
    this.request = request;
    this.#reads = reads;
    this.#reservation = reservation;
    this.#runtime = runtime;
  }

  get method(): string {
    return this.request.method;
  }

  get path(): string {
    try {
      return pathOf(this.request.url);
    } catch {
      return ''; // the target and the Host header don't form a URL
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
    if (!this.tryReserve(bytes + this.#runtime.readBytes)) return Promise.resolve('over-budget');
    return this.#readWhole();
  }

  /** Reads a body that isn't needed, within limits. */
  async discardBody(): Promise<void> {
    if (this.request.bodyUsed || this.fault === 'over-budget') return;
    await this.#readPieces(LIMITS.drainBytesMax, LIMITS.drainMs);
  }

  /** Reserves memory until the answer is sent. Returns false if the budget is exhausted. */
  tryReserve(bytes: number): boolean {
    const isReserved = this.#reservation.tryReserve(bytes);
    if (!isReserved) this.fault = 'over-budget';
    return isReserved;
  }

  /** Reads a body in the runtime's fastest way. The server enforces the declared length. */
  #readWhole(): Promise<Uint8Array | BodyFault> {
    return new Promise((resolve) => {
      const finish = (body?: ArrayBuffer): void => {
        if (!this.#reads.delete(finish)) return;
        if (body === undefined) return resolve('incomplete');
        this.#reservation.giveBack(this.#runtime.readBytes);
        this.isRead = true;
        resolve(new Uint8Array(body));
      };
      this.#reads.set(finish, performance.now() + LIMITS.bodyTimeoutMs);
      this.request.arrayBuffer().then(finish, () => finish());
    });
  }

  async #readPieces(bytesMax: number, timeoutMs: number): Promise<Uint8Array | BodyFault> {
    if (!this.tryReserve(this.#runtime.readBytes)) return 'over-budget';
    const body = new Body(bytesMax, this.#reservation);
    const stream = this.request.body;
    const reader = stream === null ? undefined : this.#runtime.readerOf(stream);
    // Makes a pending read reject.
    const giveUp = (): void => reader?.releaseLock();
    this.#reads.set(giveUp, performance.now() + timeoutMs);
    try {
      for (;;) {
        const next = await reader?.read();
        if (next === undefined || next.done) {
          this.isRead = true;
          this.#reservation.giveBack(this.#runtime.readBytes);
          return body.whole;
        }
        this.fault = body.add(next.value);
        if (this.fault !== undefined) return this.fault;
      }
    } catch {
      this.bytesRead = body.bytes;
      return 'incomplete'; // time is up, or the client has gone
    } finally {
      this.#reads.delete(giveUp);
      giveUp();
    }
  }
}
