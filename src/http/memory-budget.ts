/**
 * The memory of a request until its answer is sent, without its body: its objects and those of its
 * answer, with a browser's headers.
 */
const REQUEST_BYTES = 8 * 1024;

/** Limits the memory of all requests in flight, counted at what they really cost. */
export class MemoryBudget {
  readonly bytesMax: number;
  /** The bytes that are reserved now. */
  bytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Reserves `bytes` more. Returns false and reserves nothing if that exceeds the budget. */
  tryReserve(bytes: number): boolean {
    if (this.bytes + bytes > this.bytesMax) return false;
    this.bytes += bytes;
    return true;
  }
}

/** The memory of one request. */
export class Reservation {
  readonly #budget: MemoryBudget;
  #bytes = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
    if (budget.tryReserve(REQUEST_BYTES)) this.#bytes = REQUEST_BYTES;
  }

  /** True if the budget had no memory for this request. Then it has none for its body either. */
  get isRefused(): boolean {
    return this.#bytes === 0;
  }

  /** Reserves `bytes` more. Returns false if the budget is exhausted. */
  tryReserve(bytes: number): boolean {
    if (this.isRefused || !this.#budget.tryReserve(bytes)) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Releases `bytes` of its memory. */
  giveBack(bytes: number): void {
    this.#bytes -= bytes;
    this.#budget.bytes -= bytes;
  }

  /** Releases all its memory; a second call does nothing. */
  release(): void {
    this.giveBack(this.#bytes);
  }
}
