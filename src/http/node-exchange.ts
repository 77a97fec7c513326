import type { IncomingMessage } from 'node:http';
import { LIMITS } from '../base/limits.ts';
import { Body } from './body.ts';
import { type Answer, type BodyFault, type Exchange, type Handler, pathOf } from './exchange.ts';
import type { HeaderName } from './few-headers.ts';
import { type MemoryBudget, Reservation } from './memory-budget.ts';
import type { OneWriteResponse } from './one-write-response.ts';

/** A request on Node's HTTP server. The Fetch API's objects would cost 40% of the speed. */
export class NodeExchange implements Exchange {
  readonly reservation: Reservation;
  /** True once the answer is written, but perhaps not yet sent. */
  isAnswered = false;
  readonly #incoming: IncomingMessage;
  /** Its `owner` is set. */
  readonly #outgoing: OneWriteResponse;
  readonly #handler: Handler;
  /** Set by the first `read` that waits for the body. */
  #finish: ((result: Uint8Array | BodyFault) => void) | undefined;

  constructor(
    incoming: IncomingMessage,
    outgoing: OneWriteResponse,
    handler: Handler,
    budget: MemoryBudget,
  ) {
    this.#incoming = incoming;
    this.#outgoing = outgoing;
    this.#handler = handler;
    this.reservation = new Reservation(budget);
  }

  get method(): string {
    return this.#incoming.method!;
  }

  get path(): string {
    return pathOf(this.#incoming.url!);
  }

  header(name: HeaderName): string | undefined {
    return this.#incoming.headers[name] as string | undefined; // `FewHeaders` has no lists
  }

  start(): void {
    const answer = this.#handler(this);
    if (answer instanceof Promise) void answer.then((ready) => this.#answer(ready));
    else this.#answer(answer);
  }

  read(bytesMax: number): Promise<Uint8Array | BodyFault> {
    const incoming = this.#incoming;
    const length = Number(incoming.headers['content-length']);
    if (length > bytesMax) return Promise.resolve('too-large');
    return new Promise((resolve) => {
      this.#finish = resolve;
      const { reservation } = this;
      const body = new Body(bytesMax, reservation);
      let whole: Buffer | undefined;
      incoming.on('data', (piece: Buffer) => {
        // Most views arrive in one piece, which Node has already copied out of what it read.
        if (piece.length === length && reservation.tryReserve(length)) {
          whole = piece;
          return;
        }
        const fault = body.add(piece);
        if (fault !== undefined) resolve(fault);
      });
      incoming.on('end', () => resolve(whole ?? body.whole));
    });
  }

  /** Stops waiting for the rest of the body. */
  giveUp(): void {
    this.#finish?.('incomplete');
  }

  #answer(answer: Answer): void {
    const incoming = this.#incoming;
    if (incoming.complete || !hasBody(incoming)) this.#write(answer, true);
    else void this.#drain().then((isWhole) => this.#write(answer, isWhole));
  }

  /** Reads a body that is not needed. Resolves to whether it ended within the limits. */
  async #drain(): Promise<boolean> {
    const timer = setTimeout(() => this.giveUp(), LIMITS.drainMs);
    if (this.#finish === undefined) await this.read(LIMITS.drainBytesMax);
    // The rest may have come with the piece that was refused.
    else await new Promise((next) => setImmediate(next));
    clearTimeout(timer);
    const { complete } = this.#incoming;
    if (!complete) stopReading(this.#incoming);
    return complete;
  }

  /** @param isWhole whether the request was read to its end. */
  #write({ status, headers, body }: Answer, isWhole: boolean): void {
    const outgoing = this.#outgoing;
    outgoing.writeHead(status, fieldsOf(headers, body, isWhole));
    if (isWhole) {
      outgoing.end(body ?? '');
    } else {
      outgoing.write(body ?? '');
      setTimeout(() => outgoing.end(), LIMITS.lingerMs);
    }
    outgoing.owner!.answered(this);
  }
}

/** An answer's headers as a flat list: adding to an object costs Node a tenth of its speed. */
function fieldsOf(headers: Answer['headers'], body: string | null, isWhole: boolean): string[] {
  const fields: string[] = [];
  for (const name in headers) fields.push(name, headers[name]!);
  if (body !== null) fields.push('Content-Length', String(Buffer.byteLength(body)));
  if (!isWhole) fields.push('Connection', 'close');
  return fields;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/**
 * Pauses the socket, not the request: the rest of the current read still goes to the listeners,
 * which drop it. A paused request would keep it; in chunks of one byte that is 11,000 objects.
 */
function stopReading(incoming: IncomingMessage): void {
  // oxlint-disable-next-line no-underscore-dangle -- the documented hook of a stream; Node's own would start the socket again
  incoming._read = () => {};
  incoming.socket.pause();
}
