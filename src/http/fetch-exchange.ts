import { LIMITS } from '../base/limits.ts';
import { Body } from './body.ts';
import { Deadlines } from './deadlines.ts';
import {
  type Answer,
  type BodyFault,
  type Exchange,
  type Handler,
  type HeaderName,
  pathOf,
} from './exchange.ts';
import type { MemoryBudget, Reservation } from './memory-budget.ts';

/**
 * Returns the response to a request that is still sending its body.
 * @param inPieces whether the body is not read on because it comes in too many pieces.
 */
type Linger = (answer: Answer, request: Request, inPieces: boolean) => Response;

/** Answers requests on a server that speaks the Fetch API. */
export function fetchHandler(
  handler: Handler,
  budget: MemoryBudget,
  linger: Linger,
): (request: Request) => Promise<Response> {
  const deadlines = new Deadlines(LIMITS.bodyTimeoutMs);
  return async (request) => {
    const reservation = budget.reserve();
    try {
      const exchange = new FetchExchange(request, deadlines, reservation);
      const answer = await handler(exchange);
      if (exchange.isRead || (await exchange.drain())) return responseOf(answer);
      const headers = { ...answer.headers, Connection: 'close' };
      return linger({ ...answer, headers }, request, exchange.inPieces);
    } finally {
      reservation.release();
    }
  };
}

export const responseOf = ({ status, headers, body }: Answer): Response =>
  new Response(body, { status, headers });

/** The answer if a response fails. Deno would log a stack trace, Bun would show source code. */
export const onServerError = (): Response => new Response(null, { status: 500 });

class FetchExchange implements Exchange {
  readonly #request: Request;
  readonly #deadlines: Deadlines;
  readonly #reservation: Reservation;
  isRead = false;
  /** True if the body comes in too many pieces. */
  inPieces = false;

  constructor(request: Request, deadlines: Deadlines, reservation: Reservation) {
    this.#request = request;
    this.#deadlines = deadlines;
    this.#reservation = reservation;
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    try {
      return pathOf(this.#request.url);
    } catch {
      return ''; // the target and the Host header are not a URL together
    }
  }

  header(name: HeaderName): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  read(bytesMax: number): Promise<Uint8Array | BodyFault> {
    const declared = this.header('content-length');
    if (declared === undefined) return this.#readPieces(bytesMax);
    // The server itself holds the sender to the declared length.
    return Number(declared) > bytesMax ? Promise.resolve('too-large') : this.#readWhole();
  }

  async #readWhole(): Promise<Uint8Array | BodyFault> {
    const body = await inTime(this.#request.arrayBuffer(), this.#deadlines);
    if (body === undefined) return 'incomplete';
    this.isRead = true;
    return this.#reservation.tryReserve(body.byteLength) ? new Uint8Array(body) : 'over-budget';
  }

  async #readPieces(bytesMax: number): Promise<Uint8Array | BodyFault> {
    const body = new Body(bytesMax, this.#reservation);
    let fault: BodyFault | undefined;
    this.isRead = await readOn(this.#request.body, this.#deadlines, (piece) => {
      fault = body.add(piece);
      return fault === undefined;
    });
    this.inPieces = fault === 'too-many-pieces';
    return this.isRead ? body.whole : (fault ?? 'incomplete');
  }

  /** Reads on and discards. Resolves to whether the body ended within the limits. */
  async drain(): Promise<boolean> {
    const stream = this.#request.body;
    if (this.inPieces || stream?.locked) return false;
    let bytes = 0;
    let pieces = 0;
    return await readOn(stream, DRAIN_DEADLINES, (piece) => {
      bytes += piece.length;
      return bytes <= LIMITS.drainBytesMax && ++pieces <= LIMITS.drainPiecesMax;
    });
  }
}

const DRAIN_DEADLINES = new Deadlines(LIMITS.drainMs);

/** Resolves to `undefined` if the deadline passes first, or if the client has gone. */
function inTime<T>(promise: Promise<T>, deadlines: Deadlines): Promise<T | undefined> {
  return new Promise((resolve) => {
    const finish = (value?: T): void => {
      deadlines.clear(deadline);
      resolve(value);
    };
    const deadline = deadlines.set(finish);
    promise.then(finish, () => finish());
  });
}

/** Reads pieces until `take` returns false. Resolves to whether all were read in time. */
async function readOn(
  stream: Request['body'],
  deadlines: Deadlines,
  take: (piece: Uint8Array) => boolean,
): Promise<boolean> {
  if (stream === null) return true;
  const reader = stream.getReader();
  // A pending read then rejects.
  const deadline = deadlines.set(() => reader.releaseLock());
  try {
    for (;;) {
      const next = await reader.read();
      if (next.done) return true;
      if (!take(next.value)) return false;
    }
  } catch {
    return false; // time is up, or the client has gone
  } finally {
    deadlines.clear(deadline);
    reader.releaseLock();
  }
}
