import { LIMITS } from '../base/limits.ts';
import { sleep } from '../base/time.ts';
import type { Deadline, Deadlines } from './deadlines.ts';
import { type Answer, type BodyFault, type Exchange, pathOf, piecesMaxOf } from './exchange.ts';
import type { Room } from './room.ts';

/** A request as the Fetch API has it, on runtimes whose own server speaks it. */
export class FetchExchange implements Exchange {
  readonly #request: Request;
  readonly #deadlines: Deadlines;
  readonly #room: Room;
  readonly #linger: Linger;
  #isRead = false;
  /** Whether the body comes in so many pieces that none more is read. */
  #isInPieces = false;

  /** @param linger makes the response to a request that is still being sent. */
  constructor(request: Request, deadlines: Deadlines, room: Room, linger: Linger) {
    this.#request = request;
    this.#deadlines = deadlines;
    this.#room = room;
    this.#linger = linger;
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return pathOf(this.#request.url);
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  async read(bytesMax: number): Promise<Uint8Array | BodyFault> {
    const request = this.#request;
    const declared = request.headers.get('content-length');
    try {
      if (declared === null) return await this.#readPieces(bytesMax);
      if (Number(declared) > bytesMax) return 'too-large';
      // The server itself holds the sender to a declared length.
      const body = await this.#inTime(request.arrayBuffer());
      if (body === undefined) return 'incomplete';
      this.#isRead = true;
      return this.#room.take(body.byteLength) ? new Uint8Array(body) : 'no-room';
    } catch {
      return 'incomplete'; // the client has gone
    }
  }

  async respond(answer: Answer | Promise<Answer>): Promise<Response> {
    const given = await answer;
    const isWhole = this.#isRead || (!this.#isInPieces && (await drain(this.#request.body)));
    if (isWhole) return responseOf(given);
    const headers = { ...given.headers, Connection: 'close' };
    return this.#linger({ ...given, headers }, this.#request, this.#isInPieces);
  }

  /** `undefined` once the body's time is over; what the promise does later is then nobody's. */
  #inTime<T>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const deadline = this.#deadlines.set(() => resolve(undefined));
      void promise.then(resolve, reject).then(() => this.#deadlines.clear(deadline));
    });
  }

  async #readPieces(bytesMax: number): Promise<Uint8Array | BodyFault> {
    const stream = this.#request.body;
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    let fault: BodyFault | undefined;
    let deadline!: Deadline;
    const over = new Promise<undefined>((resolve) => {
      deadline = this.#deadlines.set(() => resolve(undefined));
    });
    const isWhole = await readOn(stream, over, (piece) => {
      bytes += piece.byteLength;
      if (bytes > bytesMax) fault = 'too-large';
      else if (pieces.length === piecesMaxOf(bytesMax)) fault = 'too-many-pieces';
      else if (!this.#room.take(piece.byteLength)) fault = 'no-room';
      // Deno's piece is a view of a buffer of 64 KiB, which a copy lets go.
      else pieces.push(piece.slice());
      return fault === undefined;
    }).finally(() => this.#deadlines.clear(deadline));
    this.#isInPieces = fault === 'too-many-pieces';
    if (!isWhole) return fault ?? 'incomplete';
    this.#isRead = true;
    return Buffer.concat(pieces);
  }
}

/**
 * Makes the response that goes out while its request is still being sent, with this answer.
 * @param isInPieces whether the body is not read on because of its many pieces.
 */
export type Linger = (answer: Answer, request: Request, isInPieces: boolean) => Response;

export const responseOf = ({ status, headers, body }: Answer): Response =>
  new Response(body, { status, headers });

/** Reads pieces until `take` wants no more or time is `over`; resolves to whether all were read. */
async function readOn(
  stream: Request['body'],
  over: Promise<undefined>,
  take: (piece: Uint8Array) => boolean,
): Promise<boolean> {
  if (stream === null) return true;
  const reader = stream.getReader();
  try {
    for (;;) {
      const next = await Promise.race([over, reader.read()]);
      if (next === undefined) return false;
      if (next.done) return true;
      if (!take(next.value)) return false;
    }
  } finally {
    reader.releaseLock();
  }
}

/** Reads on and forgets; resolves to whether the body came to its end within the limits. */
async function drain(stream: Request['body']): Promise<boolean> {
  if (stream?.locked) return false;
  let bytes = 0;
  let pieces = 0;
  const over = sleep(LIMITS.drainMs) as Promise<undefined>;
  try {
    return await readOn(stream, over, (piece) => {
      bytes += piece.byteLength;
      return bytes <= LIMITS.drainBytesMax && ++pieces <= LIMITS.drainPiecesMax;
    });
  } catch {
    return false; // the client has gone
  }
}
