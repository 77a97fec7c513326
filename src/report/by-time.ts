import { type Day, fullDays, isHabit, withoutGaps } from './gaps.ts';

// Views by day, by hour of the day and by weekday, as charts show them.

interface Period {
  /** A day or a month. */
  readonly name: string;
  readonly views: number;
  /** Whether today is in it, and so not all of its views. */
  readonly isPartial: boolean;
  /** Whether it has no view, and that tells of a fault. */
  readonly isGap: boolean;
}

/** Months instead of days, where there are more than `daysMax` of those. */
export function periods(days: readonly Day[], daysMax: number): Period[] {
  const periods = new Map<string, Omit<Period, 'isGap'>>();
  for (const { day, views, isPartial = false } of days) {
    const name = days.length <= daysMax ? day : day.slice(0, 7);
    const period = periods.get(name);
    periods.set(name, {
      name,
      views: (period?.views ?? 0) + views,
      isPartial: isPartial || period?.isPartial === true,
    });
  }
  const hasHabit = isHabit(fullDays(days));
  return Array.from(periods.values(), (period) =>
    Object.assign(period, { isGap: hasHabit && period.views === 0 && !period.isPartial }),
  );
}

/** Views by hour of the day, over all days. */
export const byHour = (days: readonly Day[]): number[] =>
  Array.from({ length: 24 }, (_, hour) => sum(days.map((day) => day.hours[hour]!)));

/** Monday is 0. */
export const weekdayNumber = (day: string): number =>
  (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;

/** The days that can be averaged, by weekday, Monday first. */
export const weekOf = (days: readonly Day[]): readonly (readonly Day[])[] =>
  Array.from({ length: 7 }, (_, number) =>
    withoutGaps(fullDays(days)).filter(({ day }) => weekdayNumber(day) === number),
  );

/** Of fewer days, a weekday is not told from a day. */
const WEEKS_MIN = 2;

export const hasWeeks = (days: readonly Day[]): boolean =>
  weekOf(days).every(({ length }) => length >= WEEKS_MIN);

/**
 * Views by weekday (Monday first) and hour, on average over its full days; over today, where that
 * is its only day.
 * @param hourNow of today it and those to come are not told.
 * @returns `undefined` for an hour of a weekday that is in none of these days.
 */
export function byWeekday(days: readonly Day[], hourNow: number): (number | undefined)[][] {
  const today = days.filter(({ isPartial }) => isPartial === true);
  return weekOf(days).map((full, number) => {
    const isToday = full.length === 0;
    const told = isToday ? today.filter(({ day }) => weekdayNumber(day) === number) : full;
    return Array.from({ length: 24 }, (_, hour) =>
      told.length === 0 || (isToday && hour >= hourNow)
        ? undefined
        : sum(told.map(({ hours }) => hours[hour]!)) / told.length,
    );
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
