import { DAY_MS, dayOf } from '../base/time.ts';

/** Local days, both included. */
export interface Span {
  readonly fromDay: string;
  readonly toDay: string;
}

/** Without a first day, or a last. */
export interface OpenSpan {
  readonly fromDay: string | undefined;
  readonly toDay: string | undefined;
}

/** What was asked for: days, `today`, `yesterday`, a number of days. */
export interface SpanOptions {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly last: number | undefined;
}

export const shifted = (day: string, days: number): string =>
  dayOf(Date.parse(day) + days * DAY_MS);

/** How many days, both ends included. */
export const lengthOf = ({ fromDay, toDay }: Span): number =>
  (Date.parse(toDay) - Date.parse(fromDay)) / DAY_MS + 1;

/** The days asked for; an end is `undefined` where it is open. */
export function spanOf({ from, to, last }: SpanOptions, today: string): OpenSpan {
  const fromDay = named(from, today);
  const toDay = named(to, today);
  if (last === undefined) return { fromDay, toDay };
  return { fromDay: shifted(toDay ?? today, 1 - last), toDay: toDay ?? today };
}

function named(day: string | undefined, today: string): string | undefined {
  if (day === 'today') return today;
  return day === 'yesterday' ? shifted(today, -1) : day;
}

/** As many days, those before; `undefined` where the span has no beginning, or has not begun. */
export function spanBefore({ fromDay, toDay }: OpenSpan, today: string): Span | undefined {
  if (fromDay === undefined) return undefined;
  const days = lengthOf({ fromDay, toDay: toDay !== undefined && toDay < today ? toDay : today });
  const start = Date.parse(fromDay) - days * DAY_MS;
  // Days before the year 1 have no name that compares.
  if (days < 1 || start < Date.parse('0001-01-01')) return undefined;
  return { fromDay: dayOf(start), toDay: shifted(fromDay, -1) };
}

/** Every day of a span. */
export const daysOf = (span: Span): string[] =>
  Array.from({ length: lengthOf(span) }, (_, i) => shifted(span.fromDay, i));

/** Days, in ascending order, as spans of days that follow each other. */
export function spansOf(days: readonly string[]): Span[] {
  const spans: { fromDay: string; toDay: string }[] = [];
  for (const day of days) {
    const last = spans.at(-1);
    if (last !== undefined && shifted(last.toDay, 1) === day) last.toDay = day;
    else spans.push({ fromDay: day, toDay: day });
  }
  return spans;
}
