import { MINUTE_MS } from '../base/time.ts';

/**
 * A token bucket of one minute's views, refilled evenly. It counts spent tokens in integer units (a
 * sixty-thousandth each) to avoid rounding. Changing the limit doesn't refund them.
 */
export class TokenBucket {
  #spent = 0;
  #updatedMs: number | undefined;

  /**
   * @param perMinute the limit now.
   * @param spend false: only checks.
   * @returns 0 if there is a token, otherwise the whole seconds until there is one.
   */
  take(perMinute: number, nowMs: number, spend = true): number {
    // If the clock is set back, nothing is refilled, and the refill continues from there.
    const elapsedMs = Math.max(0, nowMs - (this.#updatedMs ?? nowMs));
    this.#updatedMs = nowMs;
    const full = perMinute * MINUTE_MS;
    this.#spent = Math.min(full, Math.max(0, this.#spent - elapsedMs * perMinute));
    const missing = this.#spent + MINUTE_MS - full;
    if (missing > 0) return Math.max(1, Math.ceil(missing / perMinute / 1000));
    if (spend) this.#spent += MINUTE_MS;
    return 0;
  }

  /** Refunds the token of a view that wasn't stored. */
  giveBack(): void {
    this.#spent = Math.max(0, this.#spent - MINUTE_MS);
  }
}
