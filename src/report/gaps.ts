import { daysOf, lengthOf, type Span } from './span.ts';
import type { Summary } from './report-schema.ts';

// Days without a view that tell of a fault: they would make a comparison of totals a wrong one.

export type Day = Summary['days'][number];

/** Of a site with so many views a day, a day without one tells of a fault and not of its readers. */
const HABIT_VIEWS = 20;

const areMany = (views: number, days: number): boolean => days > 0 && views >= HABIT_VIEWS * days;

const seenOf = (days: readonly Day[]): readonly Day[] => days.filter(({ views }) => views > 0);

const viewsOf = (days: readonly Day[]): number => days.reduce((sum, { views }) => sum + views, 0);

export function isHabit(days: readonly Day[]): boolean {
  const seen = seenOf(days);
  return areMany(viewsOf(seen), seen.length);
}

/** The days that are over. */
export const fullDays = (days: readonly Day[]): readonly Day[] =>
  days.filter(({ isPartial }) => isPartial !== true);

/** The days that can be averaged: of a site that has views every day, none without. */
export const withoutGaps = (days: readonly Day[]): readonly Day[] =>
  isHabit(days) ? seenOf(days) : days;

export const average = (days: readonly Day[]): number => Math.round(viewsOf(days) / days.length);

/** Two numbers that are compared: of views, or of views a day. */
interface Pair {
  readonly count: number;
  readonly before: number;
}

/** Days that have views beside days that have views, where either span has gaps. */
export interface LikeForLike {
  /** Views a day. */
  readonly count: number;
  /** `undefined` where the span before has no whole day with views. */
  readonly before: number | undefined;
  /** Those after the first view. */
  readonly gaps: readonly string[];
  readonly gapsBefore: readonly string[];
  /** Of the first view, where that is not the first of these days, and the span before has none. */
  readonly firstDay: string | undefined;
  /** How many of these days had views. */
  readonly seenDays: number;
  /** Of a count of the span before, what as many days with views would have had. */
  readonly scale: number;
}

/** @returns `undefined` where no day is missing, so that totals can be compared. */
export function likeForLike({ days, before }: Summary): LikeForLike | undefined {
  const whole = fullDays(days);
  const told = withoutGaps(whole);
  const isTold = new Set(told);
  const without = whole.filter((day) => !isTold.has(day)).map(({ day }) => day);
  const firstSeen = days.find(({ views }) => views > 0)?.day;
  const isNew = firstSeen !== undefined && (before?.views ?? 0) === 0 && without[0]! < firstSeen;
  const gaps = isNew ? without.filter((day) => day > firstSeen) : without;
  const allBefore = before === undefined ? 0 : lengthOf(before);
  const beforeDays = allBefore - (before?.isCut ? 1 : 0);
  const hasGapsBefore =
    before !== undefined && areMany(before.wholeDayViews, beforeDays - before.silentDays);
  const gapsBefore = hasGapsBefore ? before.silentSpans.flatMap(daysOf) : [];
  if (told.length === 0 || without.length + gapsBefore.length === 0) return undefined;
  const daysBefore = beforeDays - gapsBefore.length;
  const isCompared = before !== undefined && before.wholeDayViews > 0;
  return {
    count: average(told),
    before: isCompared ? Math.round(before.wholeDayViews / daysBefore) : undefined,
    gaps,
    gapsBefore,
    firstDay: isNew ? firstSeen : undefined,
    seenDays: told.length,
    scale: (days.length - without.length) / Math.max(1, allBefore - gapsBefore.length),
  };
}

const WEEK_DAYS = 7;

/**
 * The views of the last seven full days, and of the seven before those.
 * @returns `undefined` where there are not as many days.
 */
export function lastWeeks(days: readonly Day[]): (Pair & { isAverage: boolean }) | undefined {
  const whole = fullDays(days);
  const weeks = whole.slice(-2 * WEEK_DAYS);
  if (weeks.length < 2 * WEEK_DAYS) return undefined;
  const [last, first] = [weeks.slice(WEEK_DAYS), weeks.slice(0, WEEK_DAYS)];
  const isAverage = isHabit(whole) && seenOf(weeks).length < weeks.length;
  if (!isAverage) return { count: viewsOf(last), before: viewsOf(first), isAverage };
  const [seen, seenFirst] = [seenOf(last), seenOf(first)];
  if (seen.length === 0 || seenFirst.length === 0) return undefined;
  return { count: average(seen), before: average(seenFirst), isAverage };
}

/**
 * Projects of several that had no view on days when others had: those that have views every day,
 * and those that had none on any.
 */
export function quietProjects({ days, silentDays }: Summary): { project: string; days: number }[] {
  const whole = fullDays(days);
  const seen = new Set(seenOf(whole).map(({ day }) => day));
  const quiet = silentDays.map(({ project, views, spans, days }) => ({
    project,
    views,
    isTold: views === 0 || areMany(views, Math.max(1, whole.length - days)),
    days: spans.flatMap((span: Span) => daysOf(span)).filter((day) => seen.has(day)).length,
  }));
  return quiet
    .filter(({ isTold, days }) => isTold && days > 0)
    .toSorted((a, b) => b.views - a.views)
    .map(({ project, days }) => ({ project, days }));
}
