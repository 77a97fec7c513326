/**
 * What a request costs in memory while it is under way, beside its body: its objects and those of
 * its answer, with a browser's headers.
 */
const REQUEST_BYTES = 8 * 1024;
/** What a piece of a body costs beside its bytes. */
const PIECE_BYTES = 256;

/** What is under way, counted as what it costs in memory: from a request's head to its answer. */
export class Queue {
  readonly #bytesMax: number;
  bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The room of one request, not open where there is none for it. */
  open(): Room {
    return new Room(this);
  }

  /** Whether there is room for `bytes` more; if so they are taken. */
  take(bytes: number): boolean {
    if (this.bytes + bytes > this.#bytesMax) return false;
    this.bytes += bytes;
    return true;
  }
}

/** What one request has taken of the queue. */
export class Room {
  readonly #queue: Queue;
  readonly isOpen: boolean;
  /** Whether its request is answered; the answer may be unread. */
  isAnswered = false;
  #taken = 0;

  constructor(queue: Queue) {
    this.#queue = queue;
    this.isOpen = queue.take(REQUEST_BYTES);
    if (this.isOpen) this.#taken = REQUEST_BYTES;
  }

  /** Whether there is room for one more piece of the request's body; if so it is taken. */
  take(pieceBytes: number): boolean {
    const bytes = pieceBytes + PIECE_BYTES;
    if (!this.isOpen || !this.#queue.take(bytes)) return false;
    this.#taken += bytes;
    return true;
  }

  /** Gives back all that was taken; once more does nothing. */
  close(): void {
    this.#queue.bytes -= this.#taken;
    this.#taken = 0;
  }
}
