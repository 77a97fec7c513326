/** Calls `expire` when it is due, unless it is cleared before. */
export interface Deadline {
  readonly dueMs: number;
  readonly expire: () => void;
}

/**
 * Many deadlines of one length, on one timer: a timer for each view would cost Deno 8% of its speed.
 */
export class Deadlines {
  readonly #ms: number;
  /** In the order in which they were set, which is the order in which they are due. */
  readonly #all = new Set<Deadline>();
  #isArmed = false;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Calls `expire` after the milliseconds given to the constructor. */
  set(expire: () => void): Deadline {
    const deadline = { dueMs: performance.now() + this.#ms, expire };
    this.#all.add(deadline);
    if (!this.#isArmed) this.#arm(this.#ms);
    return deadline;
  }

  /** A second call does nothing. */
  clear(deadline: Deadline): void {
    this.#all.delete(deadline);
  }

  #arm(ms: number): void {
    this.#isArmed = true;
    // The timer may outlive its deadlines, and must not keep the process running.
    setTimeout(() => this.#expireDue(), Math.max(1, ms)).unref();
  }

  #expireDue(): void {
    this.#isArmed = false;
    for (const deadline of this.#all) {
      const leftMs = deadline.dueMs - performance.now();
      if (leftMs > 0) return this.#arm(leftMs);
      this.#all.delete(deadline);
      deadline.expire();
    }
  }
}
