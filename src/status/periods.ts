import { MINUTE_MS } from '../base/time.ts';

/** A clock that steps back further is followed; what was counted until then is forgotten. */
const STEP_BACK_MS = 5 * MINUTE_MS;

/** Counts by periods of one length, the last so many. Adding one costs a few nanoseconds. */
export class Periods {
  readonly #counts: Uint32Array;
  readonly #stepMs: number;
  /** The running one, counted from the epoch. */
  #last = 0;

  constructor(stepMs: number, length: number) {
    this.#stepMs = stepMs;
    this.#counts = new Uint32Array(length);
  }

  add(nowMs: number): void {
    const period = Math.floor(nowMs / this.#stepMs);
    if (period !== this.#last) this.#turnTo(period);
    this.#counts[this.#last % this.#counts.length]! += 1;
  }

  /** Counts one of before now; none that is older than all periods, or later than now. */
  addEarlier(atMs: number, nowMs: number): void {
    this.#turnTo(Math.floor(nowMs / this.#stepMs));
    const period = Math.floor(atMs / this.#stepMs);
    if (period > this.#last || period <= this.#last - this.#counts.length) return;
    this.#counts[period % this.#counts.length]! += 1;
  }

  /** One count a period, oldest first; the last is of the one that still runs. */
  list(nowMs: number, length = this.#counts.length): number[] {
    this.#turnTo(Math.floor(nowMs / this.#stepMs));
    const first = this.#last - length + 1 + this.#counts.length;
    return Array.from({ length }, (_, i) => this.#counts[(first + i) % this.#counts.length]!);
  }

  /** Of the periods that begin from the one time on and before the other. */
  between(fromMs: number, toMs: number, nowMs: number): number {
    const [first, end] = this.#rangeOf(fromMs, toMs, nowMs);
    let sum = 0;
    for (let period = first; period < end; period++) {
      sum += this.#counts[period % this.#counts.length]!;
    }
    return sum;
  }

  /** The most of so many periods in a row that begin in that time. */
  most(length: number, fromMs: number, toMs: number, nowMs: number): number {
    const [first, end] = this.#rangeOf(fromMs, toMs, nowMs);
    let [sum, most] = [0, 0];
    for (let period = first; period < end; period++) {
      sum += this.#counts[period % this.#counts.length]!;
      if (period - length >= first) sum -= this.#counts[(period - length) % this.#counts.length]!;
      most = Math.max(most, sum);
    }
    return most;
  }

  #rangeOf(fromMs: number, toMs: number, nowMs: number): [first: number, end: number] {
    this.#turnTo(Math.floor(nowMs / this.#stepMs));
    const oldest = this.#last - this.#counts.length + 1;
    const first = Math.max(oldest, Math.ceil(fromMs / this.#stepMs));
    return [first, Math.min(this.#last + 1, Math.ceil(toMs / this.#stepMs))];
  }

  #turnTo(period: number): void {
    const steps = period - this.#last;
    if (steps <= 0 && steps * this.#stepMs >= -Math.max(STEP_BACK_MS, this.#stepMs)) return;
    const { length } = this.#counts;
    if (steps < 0 || steps >= length) this.#counts.fill(0);
    else for (let i = 1; i <= steps; i++) this.#counts[(this.#last + i) % length] = 0;
    this.#last = period;
  }
}
