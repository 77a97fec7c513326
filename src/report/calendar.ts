import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import type { Asked, OpenSpan, Span } from './span.ts';
import { askedSpan, lengthOf, previousSpan, shifted } from './span.ts';

/** The days and the project that a report is about. */
export interface Selection extends OpenSpan {
  readonly timeZone: string;
  readonly project: string | undefined;
}

/** A local hour and the part of the report that its views belong to. */
interface Hour {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly hour: number;
  readonly isSelected: boolean;
  /** True if the hour is in the previous period. */
  readonly isBefore: boolean;
}

const QUARTER_MS = 15 * MINUTE_MS;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** The length of `2026-01-31T23:`. */
const HOUR_LENGTH = 14;
/** Later than any `ts`. */
const NEVER = '~';

/** Finds the part of the report that a view belongs to. */
export class Calendar {
  readonly selection: Selection;
  readonly now: Date;
  readonly today: string;
  readonly yesterday: string;
  readonly hasToday: boolean;
  /** Views of yesterday with this `ts` or a later one came after the present time of day. */
  readonly yesterdayEndTs: string;
  /**
   * The previous period: as many days, just before the report's days. `undefined` if nothing is
   * compared. If today is in the report, the last of these days ends at the present time of day.
   */
  readonly before: Span | undefined;
  /** Views with this `ts` or a later one don't count for the previous period. */
  readonly beforeEndTs: string;
  readonly #format: Intl.DateTimeFormat;
  #last: { readonly start: string; readonly quarter: number; readonly hour: Hour } | undefined;

  constructor(asked: Asked & Omit<Selection, keyof OpenSpan>, now: Date) {
    const { timeZone, project } = asked;
    this.now = now;
    this.#format = clockFormat(timeZone);
    this.today = localTime(this.#format, now).day;
    const selection = { timeZone, project, ...askedSpan(asked, this.today) };
    this.selection = selection;
    this.yesterday = shifted(this.today, -1);
    this.yesterdayEndTs = this.#sameTime(1);
    this.hasToday = isWithin(selection, this.today);
    this.before = previousSpan(selection, this.today);
    this.beforeEndTs = this.before && this.hasToday ? this.#sameTime(lengthOf(this.before)) : NEVER;
  }

  /**
   * Returns the `ts` at which the clocks, this many local days ago, first showed the present time
   * of day; if a clock change skipped that time, the first later one.
   */
  #sameTime(daysAgo: number): string {
    const shownAt = (ms: number): number => clockMs(this.#format, new Date(ms));
    const nowMs = this.now.getTime();
    const shownMs = shownAt(nowMs) - daysAgo * DAY_MS;
    // Clocks change only at the end of a quarter-hour, and are put back by at most 3 hours.
    const earliestMs = nowMs - daysAgo * DAY_MS - 4 * HOUR_MS;
    let startMs = Math.floor(earliestMs / QUARTER_MS) * QUARTER_MS;
    while (shownAt(startMs + QUARTER_MS - 1) < shownMs) startMs += QUARTER_MS;
    return new Date(startMs + Math.max(0, shownMs - shownAt(startMs))).toISOString();
  }

  /** Returns all days with views to count: if today is one of them, yesterday too. */
  get spans(): readonly OpenSpan[] {
    return this.before === undefined ? [this.selection] : [this.before, this.selection];
  }

  /**
   * Returns the local hour of a stored `ts`; `undefined` if the text isn't one. Views come in the
   * order of time, and zones differ from UTC by multiples of 15 minutes. So the time zone is
   * consulted once per 15 minutes of views, not once per view.
   */
  hourOf(ts: string): Hour | undefined {
    const quarter = Math.floor(Number(ts.slice(HOUR_LENGTH, HOUR_LENGTH + 2)) / 15);
    const last = this.#last;
    if (last?.quarter === quarter && ts.length === 24 && ts.startsWith(last.start)) {
      return last.hour;
    }
    const date = new Date(TIMESTAMP.test(ts) ? ts : Number.NaN);
    if (Number.isNaN(date.getTime())) return undefined;
    const { day, hour: localHour } = localTime(this.#format, date);
    const isSelected = isWithin(this.selection, day);
    const isBefore = this.before !== undefined && isWithin(this.before, day);
    const hour = { day, hour: localHour, isSelected, isBefore };
    this.#last = { start: ts.slice(0, HOUR_LENGTH), quarter, hour };
    return hour;
  }
}

/** English, because Alpine's data for Node has no other language. */
const clockFormat = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });

function localTime(format: Intl.DateTimeFormat, date: Date) {
  const parts = Object.fromEntries(format.formatToParts(date).map((p) => [p.type, p.value]));
  const { year = '', month, day, hour, minute } = parts;
  return {
    day: `${year.padStart(4, '0')}-${month}-${day}`,
    hour: Number(hour),
    minute: Number(minute),
  };
}

/** Returns what the local clocks show, in milliseconds as if they were UTC's. */
function clockMs(format: Intl.DateTimeFormat, date: Date): number {
  const { day, hour, minute } = localTime(format, date);
  return Date.parse(day) + hour * HOUR_MS + minute * MINUTE_MS + (date.getTime() % MINUTE_MS);
}

const isWithin = ({ fromDay, toDay }: OpenSpan, day: string): boolean =>
  (fromDay === undefined || day >= fromDay) && (toDay === undefined || day <= toDay);
