/** How long such work may go on before everybody else has a turn. */
const TURN_MS = 2;

/**
 * Work that clients can ask for as much of as they like. It is done at once as long as it has not
 * taken 2 ms since the event loop last looked at its sockets, and else waits in a queue, a turn of
 * the loop for each 2 ms of it: whatever is asked for, what comes in besides is read and answered.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  readonly #now: () => number;
  #spentMs = 0;
  #isRenewed = false;

  /** @param now milliseconds that pass evenly. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Resolves to what `work` returns; rejects with what it throws. */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      if (this.#mayWork()) this.#spend(settle);
      else this.#waiting.push(settle);
    });
  }

  #mayWork(): boolean {
    return this.#spentMs < TURN_MS;
  }

  #spend(settle: () => void): void {
    const fromMs = this.#now();
    settle();
    this.#spentMs += this.#now() - fromMs;
    if (this.#isRenewed) return;
    this.#isRenewed = true;
    setImmediate(() => this.#renew());
  }

  #renew(): void {
    this.#isRenewed = false;
    this.#spentMs = 0;
    while (this.#waiting.length > 0 && this.#mayWork()) this.#spend(this.#waiting.shift()!);
  }
}
