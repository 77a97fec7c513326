import { MINUTE_MS } from '../base/time.ts';

/**
 * A token bucket of one minute's views, refilled evenly. It counts in whole sixty-thousandths of a
 * view, so that after the returned wait there is a whole token, not 0.9999 of one.
 */
export class TokenBucket {
  #perMinute: number;
  #credit: number;
  #updatedMs: number | undefined;

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
    this.#credit = perMinute * MINUTE_MS;
  }

  /** Sets another limit; spent tokens stay spent. */
  resize(perMinute: number): void {
    const spent = this.#perMinute * MINUTE_MS - this.#credit;
    this.#perMinute = perMinute;
    this.#credit = Math.max(0, perMinute * MINUTE_MS - spent);
  }

  /**
   * @param spend false only looks.
   * @returns 0 if there is a token, otherwise the whole seconds until there is one.
   */
  take(nowMs: number, spend = true): number {
    // If the clock is set back, nothing is refilled, and the refill continues from there.
    const elapsedMs = Math.max(0, nowMs - (this.#updatedMs ?? nowMs));
    this.#updatedMs = nowMs;
    const full = this.#perMinute * MINUTE_MS;
    this.#credit = Math.min(full, this.#credit + elapsedMs * this.#perMinute);
    if (this.#credit >= MINUTE_MS) {
      if (spend) this.#credit -= MINUTE_MS;
      return 0;
    }
    const waitMs = (MINUTE_MS - this.#credit) / this.#perMinute;
    return Math.max(1, Math.ceil(waitMs / 1000));
  }
}
