import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';

/** If the clock steps back further than this, the counts start again. */
const STEP_BACK_MS = 5 * MINUTE_MS;

/** The newest period, then for each period with views how many periods ago it was, and its count. */
type SavedPeriods = number[];

/** Counts for the last `length` periods of one duration. Adding one costs a few nanoseconds. */
class Periods {
  readonly #counts: Uint32Array;
  readonly #stepMs: number;
  /** The newest period, counted from the epoch. */
  #last = 0;

  constructor(stepMs: number, length: number) {
    this.#stepMs = stepMs;
    this.#counts = new Uint32Array(length);
  }

  add(nowMs: number): void {
    this.#moveTo(Math.floor(nowMs / this.#stepMs));
    this.#counts[this.#last % this.#counts.length]! += 1;
  }

  /** Sums the periods that begin at or after `fromMs` and before `toMs`. */
  between(fromMs: number, toMs: number, nowMs: number): number {
    this.#moveTo(Math.floor(nowMs / this.#stepMs));
    const first = Math.max(this.#last - this.#counts.length + 1, Math.ceil(fromMs / this.#stepMs));
    const end = Math.min(this.#last + 1, Math.ceil(toMs / this.#stepMs));
    let sum = 0;
    for (let period = first; period < end; period++) {
      sum += this.#counts[period % this.#counts.length]!;
    }
    return sum;
  }

  /** Returns one count per period, oldest first; the newest period is still running. */
  list(nowMs: number): number[] {
    this.#moveTo(Math.floor(nowMs / this.#stepMs));
    const { length } = this.#counts;
    return Array.from({ length }, (_, i) => this.#counts[(this.#last + 1 + i) % length]!);
  }

  save(): SavedPeriods {
    const { length } = this.#counts;
    const saved = [this.#last];
    for (let ago = 0; ago < length && ago <= this.#last; ago++) {
      const count = this.#counts[(this.#last - ago) % length]!;
      if (count > 0) saved.push(ago, count);
    }
    return saved;
  }

  restore([last = 0, ...pairs]: SavedPeriods): void {
    this.#last = last;
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      const ago = pairs[i]!;
      if (ago < this.#counts.length)
        this.#counts[(last - ago) % this.#counts.length] = pairs[i + 1]!;
    }
  }

  #moveTo(period: number): void {
    const steps = period - this.#last;
    if (steps === 0) return;
    if (steps < 0 && steps * this.#stepMs >= -Math.max(STEP_BACK_MS, this.#stepMs)) return;
    const { length } = this.#counts;
    if (steps < 0 || steps >= length) this.#counts.fill(0);
    else for (let i = 1; i <= steps; i++) this.#counts[(this.#last + i) % length] = 0;
    this.#last = period;
  }
}

/** In every time zone, days begin with a quarter of an hour. */
export const QUARTER_MS = 15 * MINUTE_MS;
const MINUTES = 60;
/** Today and yesterday: 49 hours when a clock is put back, and the running quarter. */
const QUARTERS = (49 * HOUR_MS) / QUARTER_MS + 1;

export interface SavedTimeline {
  readonly minutes: SavedPeriods;
  readonly quarters: SavedPeriods;
}

/** When views came: the last hour by the minute, today and yesterday by quarters of an hour. */
export class Timeline {
  readonly #minutes = new Periods(MINUTE_MS, MINUTES);
  readonly #quarters = new Periods(QUARTER_MS, QUARTERS);

  add(nowMs: number): void {
    this.#minutes.add(nowMs);
    this.#quarters.add(nowMs);
  }

  lastHour(nowMs: number): number {
    return this.#minutes.between(nowMs - HOUR_MS, nowMs + 1, nowMs);
  }

  /** Returns the last sixty minutes, a count for each, oldest first. */
  minutes(nowMs: number): number[] {
    return this.#minutes.list(nowMs);
  }

  /** Sums the quarters of an hour that begin at or after `fromMs` and before `toMs`. */
  between(fromMs: number, toMs: number, nowMs: number): number {
    return this.#quarters.between(fromMs, toMs, nowMs);
  }

  lastDay(nowMs: number): number {
    return this.between(nowMs - DAY_MS, nowMs + 1, nowMs);
  }

  /** Returns the last 24 hours, a count for each, oldest first; the newest hour is still running. */
  hours(nowMs: number): number[] {
    const endMs = (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS;
    return Array.from({ length: 24 }, (_, i) => {
      const fromMs = endMs - (24 - i) * HOUR_MS;
      return this.between(fromMs, fromMs + HOUR_MS, nowMs);
    });
  }

  toJSON(): SavedTimeline {
    return { minutes: this.#minutes.save(), quarters: this.#quarters.save() };
  }

  static restored({ minutes, quarters }: SavedTimeline): Timeline {
    const timeline = new Timeline();
    timeline.#minutes.restore(minutes);
    timeline.#quarters.restore(quarters);
    return timeline;
  }
}
