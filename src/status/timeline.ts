import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';

/** Counts by period; a period is its number since the epoch. */
type Counted = Map<number, number>;

/** In every time zone, days begin with a quarter of an hour. */
export const QUARTER_MS = 15 * MINUTE_MS;
const MINUTES = 60;
/** Today and yesterday: 49 hours when a clock is put back, and the running quarter. */
const QUARTERS = (49 * HOUR_MS) / QUARTER_MS + 1;

/** A period, its count, the next period, and so on. */
export interface SavedTimeline {
  readonly minutes: readonly number[];
  readonly quarters: readonly number[];
}

/** When views came: the last hour by the minute, today and yesterday by quarters of an hour. */
export class Timeline {
  #minutes: Counted = new Map();
  #quarters: Counted = new Map();

  add(nowMs: number): void {
    count(this.#minutes, Math.floor(nowMs / MINUTE_MS), MINUTES);
    count(this.#quarters, Math.floor(nowMs / QUARTER_MS), QUARTERS);
  }

  /** Returns the last sixty minutes, a count for each, oldest first. */
  minutes(nowMs: number): number[] {
    const first = Math.floor(nowMs / MINUTE_MS) + 1 - MINUTES;
    return Array.from({ length: MINUTES }, (_, i) => this.#minutes.get(first + i) ?? 0);
  }

  lastHour(nowMs: number): number {
    const last = Math.floor(nowMs / MINUTE_MS);
    let sum = 0;
    for (const [minute, count] of this.#minutes) {
      if (minute > last - MINUTES && minute <= last) sum += count;
    }
    return sum;
  }

  /** Sums the quarters of an hour that begin at or after `fromMs` and before `toMs`. */
  between(fromMs: number, toMs: number): number {
    let sum = 0;
    for (let quarter = Math.ceil(fromMs / QUARTER_MS); quarter * QUARTER_MS < toMs; quarter++) {
      sum += this.#quarters.get(quarter) ?? 0;
    }
    return sum;
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
    return { minutes: [...this.#minutes].flat(), quarters: [...this.#quarters].flat() };
  }

  static restored({ minutes, quarters }: SavedTimeline): Timeline {
    const timeline = new Timeline();
    timeline.#minutes = counted(minutes);
    timeline.#quarters = counted(quarters);
    return timeline;
  }
}

/** Adds one, and forgets periods that are too far from this one, also if the clock was wrong. */
function count(counts: Counted, period: number, kept: number): void {
  const before = counts.get(period);
  if (before === undefined) {
    for (const other of counts.keys()) if (Math.abs(period - other) >= kept) counts.delete(other);
  }
  counts.set(period, (before ?? 0) + 1);
}

function counted(saved: readonly number[]): Counted {
  const counts: Counted = new Map();
  for (let i = 0; i + 1 < saved.length; i += 2) counts.set(saved[i]!, saved[i + 1]!);
  return counts;
}
