/** What keeps samples, and can do without. */
export interface SampleHolder {
  /** Of the budget; the budget's own to set. */
  heldBytes: number;
  /** Lets go of all that it was given bytes for. */
  forget(): void;
}

/**
 * The memory for samples, all together. Where it is full, those go that were brought up to date
 * longest ago: a sample shows what is wrong now, and strangers decide how many there are.
 */
export class SampleBudget {
  readonly #bytesMax: number;
  #bytes = 0;
  /** The longest untouched first. */
  readonly #holders = new Set<SampleHolder>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The holder keeps `bytes` from now on, in place of what it kept before. */
  hold(holder: SampleHolder, bytes: number): void {
    this.#release(holder);
    holder.heldBytes = bytes;
    this.#bytes += bytes;
    this.#holders.add(holder);
    for (const oldest of this.#holders) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#release(oldest);
      oldest.forget();
    }
  }

  #release(holder: SampleHolder): void {
    if (!this.#holders.delete(holder)) return;
    this.#bytes -= holder.heldBytes;
    holder.heldBytes = 0;
  }
}
