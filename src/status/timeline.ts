import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';

/** Offsets are multiples of 15 minutes, so local midnight starts a quarter-hour. */
export const QUARTER_MS = 15 * MINUTE_MS;
const MINUTES = 60;
/** Today and yesterday: 49 hours when a clock is put back, and the running quarter. */
const QUARTERS = (49 * HOUR_MS) / QUARTER_MS + 1;

/**
 * Counts of the latest periods; a period is its number since the epoch. The array has a fixed
 * length, because 40,000 projects have two of these each, and each view adds to some.
 */
class Ring {
  readonly #periodMs: number;
  readonly #counts: Uint32Array;
  #latest = 0;

  /** @param saved what `toJSON` returned, the latest period first. */
  constructor(periodMs: number, length: number, [latest = 0, ...saved]: readonly number[]) {
    this.#periodMs = periodMs;
    this.#counts = new Uint32Array(length);
    for (let i = 0; i < saved.length; i += 2) this.add(latest - saved[i]!, saved[i + 1]);
  }

  add(period: number, count = 1): void {
    const { length } = this.#counts;
    // The clock was set, or no view came for a long time.
    if (Math.abs(period - this.#latest) >= length) {
      this.#counts.fill(0);
      this.#latest = period;
    }
    while (this.#latest < period) this.#counts[++this.#latest % length] = 0;
    this.#counts[period % length]! += count;
  }

  /** Sums the periods that begin at or after `fromMs` and before `toMs`. */
  between(fromMs: number, toMs: number): number {
    const { length } = this.#counts;
    const from = Math.max(Math.ceil(fromMs / this.#periodMs), this.#latest + 1 - length, 0);
    const to = Math.min(Math.ceil(toMs / this.#periodMs), this.#latest + 1);
    let sum = 0;
    for (let period = from; period < to; period++) sum += this.#counts[period % length]!;
    return sum;
  }

  /**
   * Returns the latest period, then two numbers for each period with a count: how many periods
   * before the latest it is, and its count.
   */
  toJSON(): number[] {
    const { length } = this.#counts;
    const saved = [this.#latest];
    for (let ago = 0; ago < length; ago++) {
      const count = this.#counts[(this.#latest - ago) % length];
      if (count) saved.push(ago, count);
    }
    return saved;
  }
}

/**
 * Counts views by time: the last hour in minutes, today and yesterday in quarter-hours. The
 * constructor accepts its JSON.
 */
export class Timeline {
  readonly minutes: Ring;
  readonly quarters: Ring;

  constructor(saved = { minutes: [] as readonly number[], quarters: [] as readonly number[] }) {
    this.minutes = new Ring(MINUTE_MS, MINUTES, saved.minutes);
    this.quarters = new Ring(QUARTER_MS, QUARTERS, saved.quarters);
  }

  /** Returns a copy that doesn't change with this one. */
  copy(): Timeline {
    const { minutes, quarters } = this;
    return new Timeline({ minutes: minutes.toJSON(), quarters: quarters.toJSON() });
  }

  add(nowMs: number): void {
    // Divides by constants, which is faster, because this runs for every view.
    this.minutes.add(Math.floor(nowMs / MINUTE_MS));
    this.quarters.add(Math.floor(nowMs / QUARTER_MS));
  }

  /** Returns the last sixty minutes, a count for each, oldest first. */
  byMinute(nowMs: number): number[] {
    return Array.from({ length: MINUTES }, (_, i) => {
      const fromMs = nowMs - (MINUTES - i) * MINUTE_MS + 1;
      return this.minutes.between(fromMs, fromMs + MINUTE_MS);
    });
  }

  lastHour(nowMs: number): number {
    return this.minutes.between(nowMs - HOUR_MS + 1, nowMs + 1);
  }

  /** Sums the quarters of an hour that begin at or after `fromMs` and before `toMs`. */
  between(fromMs: number, toMs: number): number {
    return this.quarters.between(fromMs, toMs);
  }

  lastDay(nowMs: number): number {
    return this.between(nowMs - DAY_MS, nowMs + 1);
  }

  /**
   * Returns how many views of the last day this timeline and the others can share: for each quarter
   * of an hour, the smaller of this count and the others' sum.
   */
  sharedWith(others: readonly Timeline[], nowMs: number): number {
    if (others.length === 0) return 0;
    let sum = 0;
    for (let ms = nowMs - DAY_MS; ms <= nowMs; ms += QUARTER_MS) {
      const [own, ...theirs] = [this, ...others].map((one) => one.between(ms, ms + QUARTER_MS));
      sum += Math.min(
        own!,
        theirs.reduce((total, count) => total + count, 0),
      );
    }
    return sum;
  }

  /**
   * Returns the last 24 hours, a count for each, oldest first; the newest hour is still running.
   */
  hours(nowMs: number): number[] {
    const firstMs = (Math.floor(nowMs / HOUR_MS) - 23) * HOUR_MS;
    return Array.from({ length: 24 }, (_, i) =>
      this.between(firstMs + i * HOUR_MS, firstMs + (i + 1) * HOUR_MS),
    );
  }
}
