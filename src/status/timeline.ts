import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';

/** In every time zone, days begin with a quarter of an hour. */
export const QUARTER_MS = 15 * MINUTE_MS;
const MINUTES = 60;
/** Today and yesterday: 49 hours when a clock is put back, and the running quarter. */
const QUARTERS = (49 * HOUR_MS) / QUARTER_MS + 1;

/** The latest period; then, for each with a count, how many periods it is before that, and its count. */
type SavedRing = readonly number[];

/**
 * Counts of the latest periods; a period is its number since the epoch. The array has a fixed
 * length, because 40,000 projects have two of these each, and each view adds to some.
 */
class Ring {
  readonly #counts: Uint32Array;
  #latest = 0;

  constructor(length: number, saved: SavedRing = []) {
    this.#counts = new Uint32Array(length);
    this.#latest = saved[0] ?? 0;
    for (let i = 1; i + 1 < saved.length; i += 2) this.add(this.#latest - saved[i]!, saved[i + 1]);
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

  /** Sums the periods from `first` on that come before `end`. */
  sum(first: number, end: number): number {
    const { length } = this.#counts;
    const from = Math.max(first, this.#latest + 1 - length, 0);
    const to = Math.min(end, this.#latest + 1);
    let sum = 0;
    for (let period = from; period < to; period++) sum += this.#counts[period % length]!;
    return sum;
  }

  /** Returns the counts of `count` periods. */
  list(first: number, count: number): number[] {
    return Array.from({ length: count }, (_, i) => this.sum(first + i, first + i + 1));
  }

  toJSON(): SavedRing {
    const { length } = this.#counts;
    const saved = [this.#latest];
    for (let ago = 0; ago < length; ago++) {
      const count = this.#counts[(this.#latest - ago) % length];
      if (count) saved.push(ago, count);
    }
    return saved;
  }
}

export interface SavedTimeline {
  readonly minutes: SavedRing;
  readonly quarters: SavedRing;
}

/**
 * Counts views by time: the last hour by the minute, today and yesterday by quarters of an hour.
 */
export class Timeline {
  readonly #minutes: Ring;
  readonly #quarters: Ring;

  constructor(saved?: SavedTimeline) {
    this.#minutes = new Ring(MINUTES, saved?.minutes);
    this.#quarters = new Ring(QUARTERS, saved?.quarters);
  }

  add(nowMs: number): void {
    this.#minutes.add(Math.floor(nowMs / MINUTE_MS));
    this.#quarters.add(Math.floor(nowMs / QUARTER_MS));
  }

  /** Returns the last sixty minutes, a count for each, oldest first. */
  minutes(nowMs: number): number[] {
    return this.#minutes.list(Math.floor(nowMs / MINUTE_MS) + 1 - MINUTES, MINUTES);
  }

  lastHour(nowMs: number): number {
    const minute = Math.floor(nowMs / MINUTE_MS);
    return this.#minutes.sum(minute + 1 - MINUTES, minute + 1);
  }

  /** Sums the quarters of an hour that begin at or after `fromMs` and before `toMs`. */
  between(fromMs: number, toMs: number): number {
    return this.#quarters.sum(Math.ceil(fromMs / QUARTER_MS), Math.ceil(toMs / QUARTER_MS));
  }

  lastDay(nowMs: number): number {
    return this.between(nowMs - DAY_MS, nowMs + 1);
  }

  /** Returns the last 24 hours, a count for each, oldest first; the newest hour is still running. */
  hours(nowMs: number): number[] {
    const firstMs = (Math.floor(nowMs / HOUR_MS) - 23) * HOUR_MS;
    return Array.from({ length: 24 }, (_, i) =>
      this.between(firstMs + i * HOUR_MS, firstMs + (i + 1) * HOUR_MS),
    );
  }

  toJSON(): SavedTimeline {
    return { minutes: this.#minutes.toJSON(), quarters: this.#quarters.toJSON() };
  }
}
