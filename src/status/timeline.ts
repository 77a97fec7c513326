import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import { Periods } from './periods.ts';

/** Days begin with one in every time zone that there is. */
export const QUARTER_MS = 15 * MINUTE_MS;
/** What a chart of 24 hours shows. */
export const QUARTERS = DAY_MS / QUARTER_MS;
const MINUTES = 60;
/** Today and yesterday: 49 hours where a clock is put back, and the running quarter. */
const QUARTERS_KEPT = (49 * HOUR_MS) / QUARTER_MS + 1;

/** When a quarter of an hour of the last 24 hours began; 0: the oldest. */
export const startOf = (nowMs: number, quarter: number): number =>
  (Math.floor(nowMs / QUARTER_MS) - (QUARTERS - 1 - quarter)) * QUARTER_MS;

/** When views came: the last hour by the minute, today and yesterday by quarters of an hour. */
export class Timeline {
  readonly #minutes = new Periods(MINUTE_MS, MINUTES);
  readonly #quarters = new Periods(QUARTER_MS, QUARTERS_KEPT);

  add(nowMs: number): void {
    this.#minutes.add(nowMs);
    this.#quarters.add(nowMs);
  }

  /** One that came before now, in any order. */
  addEarlier(atMs: number, nowMs: number): void {
    this.#minutes.addEarlier(atMs, nowMs);
    this.#quarters.addEarlier(atMs, nowMs);
  }

  /** Of the last sixty minutes, the running one included. */
  lastHour(nowMs: number): number {
    return this.#minutes.between(nowMs - HOUR_MS, nowMs + 1, nowMs);
  }

  /** When the first minute of the last hour began that had one. */
  firstMinute(nowMs: number): number | undefined {
    const minute = this.#minutes.list(nowMs).findIndex((count) => count > 0);
    const ago = MINUTES - 1 - minute;
    return minute < 0 ? undefined : (Math.floor(nowMs / MINUTE_MS) - ago) * MINUTE_MS;
  }

  /** Of the last ten minutes, the running one included. */
  lastTenMinutes(nowMs: number): number {
    return this.#minutes.between(nowMs - 10 * MINUTE_MS, nowMs + 1, nowMs);
  }

  /** Of so many whole minutes before the running one, 59 at most. */
  lastMinutes(minutes: number, nowMs: number): number {
    const endMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
    return this.#minutes.between(endMs - minutes * MINUTE_MS, endMs, nowMs);
  }

  /** Of the quarters of an hour that begin in that time. */
  between(fromMs: number, toMs: number, nowMs: number): number {
    return this.#quarters.between(fromMs, toMs, nowMs);
  }

  /** The most in so long, by quarters of an hour that begin in that time. */
  mostIn(lengthMs: number, fromMs: number, toMs: number, nowMs: number): number {
    return this.#quarters.most(lengthMs / QUARTER_MS, fromMs, toMs, nowMs);
  }

  /** The last 24 hours, a count for each quarter, the one that still runs last. */
  day(nowMs: number): number[] {
    return this.#quarters.list(nowMs, QUARTERS);
  }
}
