import type { BodyFault } from './exchange.ts';
import type { Reservation } from './memory-budget.ts';

/**
 * Returns in how many pieces a body may arrive. Browsers send a view in one piece; a client that
 * sends single bytes makes each byte a piece.
 */
export const piecesMaxOf = (bytesMax: number): number => 64 + Math.floor(bytesMax / 512);

export const EMPTY = new Uint8Array();

/**
 * A body that arrives in pieces. The pieces are copied into one buffer: a piece may be part of a
 * much larger buffer of the runtime's, which would otherwise stay in memory.
 */
export class Body {
  readonly #bytesMax: number;
  readonly #reservation: Reservation;
  #buffer: Uint8Array = EMPTY;
  #bytes = 0;
  #pieces = 0;

  constructor(bytesMax: number, reservation: Reservation) {
    this.#bytesMax = bytesMax;
    this.#reservation = reservation;
  }

  /** Copies one more piece. Returns why the body can't be read, if so. */
  add(piece: Uint8Array): BodyFault | undefined {
    const bytes = this.#bytes + piece.length;
    if (bytes > this.#bytesMax) return 'too-large';
    if (++this.#pieces > piecesMaxOf(this.#bytesMax)) return 'too-many-pieces';
    if (bytes > this.#buffer.length && !this.#grow(bytes)) return 'over-budget';
    this.#buffer.set(piece, this.#bytes);
    this.#bytes = bytes;
    return undefined;
  }

  /** The bytes that have arrived. */
  get bytes(): number {
    return this.#bytes;
  }

  get whole(): Uint8Array {
    return this.#buffer.subarray(0, this.#bytes);
  }

  /** Makes the buffer large enough for `bytes` and charges the budget for all of it. */
  #grow(bytes: number): boolean {
    const capacity = Math.min(this.#bytesMax, Math.max(bytes, 2 * this.#buffer.length));
    if (!this.#reservation.tryReserve(capacity - this.#buffer.length)) return false;
    const buffer = Buffer.allocUnsafe(capacity);
    buffer.set(this.whole);
    this.#buffer = buffer;
    return true;
  }
}
