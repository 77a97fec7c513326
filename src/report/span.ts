import { DAY_MS, dayOf } from '../base/time.ts';

// Days and spans of days. A day is local, `YYYY-MM-DD`; both ends of a span are included.

export interface Span {
  readonly fromDay: string;
  readonly toDay: string;
}

/** A span that may have no first or no last day. */
export interface OpenSpan {
  readonly fromDay: string | undefined;
  readonly toDay: string | undefined;
}

export const shifted = (day: string, days: number): string =>
  dayOf(Date.parse(day) + days * DAY_MS);

/** Returns the number of days. */
export const lengthOf = ({ fromDay, toDay }: Span): number =>
  (Date.parse(toDay) - Date.parse(fromDay)) / DAY_MS + 1;

/** Returns every day of a span. */
export const daysOf = (span: Span): string[] =>
  Array.from({ length: Math.max(0, lengthOf(span)) }, (_, i) => shifted(span.fromDay, i));

/** Returns ascending days as spans of consecutive days. */
export function spansOf(days: readonly string[]): Span[] {
  const spans: { fromDay: string; toDay: string }[] = [];
  for (const day of days) {
    const last = spans.at(-1);
    if (last !== undefined && shifted(last.toDay, 1) === day) last.toDay = day;
    else spans.push({ fromDay: day, toDay: day });
  }
  return spans;
}

/** The days as the command line names them: both ends may be `today` or `yesterday`. */
export interface Asked extends Partial<OpenSpan> {
  /** A number of days, up to `toDay` or today. */
  readonly last?: number | undefined;
}

/** Returns the days that the command line asks for. */
export function askedSpan(asked: Asked, today: string): OpenSpan {
  const toDay = dayNamed(asked.toDay, today);
  if (asked.last === undefined) return { fromDay: dayNamed(asked.fromDay, today), toDay };
  return { fromDay: shifted(toDay ?? today, 1 - asked.last), toDay: toDay ?? today };
}

function dayNamed(name: string | undefined, today: string): string | undefined {
  if (name === 'today') return today;
  return name === 'yesterday' ? shifted(today, -1) : name;
}

/**
 * Returns the same number of days just before the span, not counting days after today. Returns
 * `undefined` if the span has no first day or starts after today.
 */
export function previousSpan({ fromDay, toDay }: OpenSpan, today: string): Span | undefined {
  if (fromDay === undefined) return undefined;
  const days = lengthOf({ fromDay, toDay: toDay !== undefined && toDay < today ? toDay : today });
  const startMs = Date.parse(fromDay) - days * DAY_MS;
  // Days before the year 1 are written in a form that doesn't sort as text.
  if (days < 1 || startMs < Date.parse('0001-01-01')) return undefined;
  return { fromDay: dayOf(startMs), toDay: shifted(fromDay, -1) };
}
