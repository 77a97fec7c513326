import { DAY_MS } from '../base/time.ts';
import type { Asked, OpenSpan, Span } from './span.ts';
import { askedSpan, lengthOf, previousSpan, shifted } from './span.ts';

/** The days and the project that a report is about. */
export interface Selection extends OpenSpan {
  readonly timeZone: string;
  readonly project: string | undefined;
}

/** A local hour, and the part of the report that its views belong to. */
interface Hour {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly hour: number;
  readonly isSelected: boolean;
  /** True if the hour is in the previous period. */
  readonly isBefore: boolean;
}

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
  /** A later `ts` of yesterday is past this time of day. */
  readonly yesterdayEndTs: string;
  /**
   * The same number of days just before; `undefined` if nothing is compared. If today is in the
   * report, the last of these days ends at this time of day.
   */
  readonly before: Span | undefined;
  /** Views with a later `ts` do not count for the previous period. */
  readonly beforeEndTs: string;
  readonly #format: Intl.DateTimeFormat;
  #last: { readonly start: string; readonly quarter: number; readonly hour: Hour } | undefined;

  constructor(asked: Asked & Omit<Selection, keyof OpenSpan>, now: Date) {
    const tsDaysAgo = (days: number): string =>
      new Date(now.getTime() - days * DAY_MS).toISOString();
    const { timeZone, project } = asked;
    this.now = now;
    this.#format = hourFormat(timeZone);
    this.today = localHour(this.#format, now).day;
    const selection = { timeZone, project, ...askedSpan(asked, this.today) };
    this.selection = selection;
    this.yesterday = shifted(this.today, -1);
    this.yesterdayEndTs = tsDaysAgo(1);
    this.hasToday = isWithin(selection, this.today);
    this.before = previousSpan(selection, this.today);
    this.beforeEndTs = this.before && this.hasToday ? tsDaysAgo(lengthOf(this.before)) : NEVER;
  }

  /** Returns all days with views to count: if today is one of them, yesterday too. */
  get spans(): readonly OpenSpan[] {
    return this.before === undefined ? [this.selection] : [this.before, this.selection];
  }

  /**
   * Returns `undefined` if the text is not a stored `ts`. Views come in the order of time, and zones
   * differ from UTC by multiples of 15 minutes, so the time zone is consulted once per 15 minutes
   * of views instead of once per view.
   */
  hourOf(ts: string): Hour | undefined {
    const quarter = Math.floor(Number(ts.slice(HOUR_LENGTH, HOUR_LENGTH + 2)) / 15);
    const last = this.#last;
    if (last?.quarter === quarter && ts.length === 24 && ts.startsWith(last.start)) {
      return last.hour;
    }
    const date = new Date(TIMESTAMP.test(ts) ? ts : Number.NaN);
    if (Number.isNaN(date.getTime())) return undefined;
    const local = localHour(this.#format, date);
    const isSelected = isWithin(this.selection, local.day);
    const isBefore = this.before !== undefined && isWithin(this.before, local.day);
    const hour = { ...local, isSelected, isBefore };
    this.#last = { start: ts.slice(0, HOUR_LENGTH), quarter, hour };
    return hour;
  }
}

/** English, because Alpine's data for Node has no other language. */
const hourFormat = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
  });

function localHour(format: Intl.DateTimeFormat, date: Date): { day: string; hour: number } {
  const parts = Object.fromEntries(format.formatToParts(date).map((p) => [p.type, p.value]));
  const { year = '', month, day, hour } = parts;
  return { day: `${year.padStart(4, '0')}-${month}-${day}`, hour: Number(hour) };
}

const isWithin = ({ fromDay, toDay }: OpenSpan, day: string): boolean =>
  (fromDay === undefined || day >= fromDay) && (toDay === undefined || day <= toDay);
