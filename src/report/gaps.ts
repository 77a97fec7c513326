import { daysOf, lengthOf, shifted, type Span } from './span.ts';
import type { Summary } from './report-schema.ts';

// Days without a view that tell of a fault: they would make a comparison of totals a wrong one.

export type Day = Summary['days'][number];

/** Of a site with so many views a day, a day without one tells of a fault and not of its readers. */
const HABIT_VIEWS = 20;

const areMany = (views: number, days: number): boolean => days > 0 && views >= HABIT_VIEWS * days;

const seenOf = (days: readonly Day[]): readonly Day[] => days.filter(({ views }) => views > 0);

export const viewsOf = (days: readonly Pick<Day, 'views'>[]): number =>
  days.reduce((sum, { views }) => sum + views, 0);

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

/** Views of some days, and of the days that they are compared with. */
interface Pair {
  readonly count: number;
  readonly before: number;
}

/** Averages of the same days of two spans: those on which both had views. */
interface PairedDays extends Pair {
  /** How many. */
  readonly averagedDays: number;
}

/**
 * Pairs each day with the one `distance` days before it.
 * @returns `undefined` where no pair has views on both days.
 */
function paired(
  days: readonly Day[],
  daysBefore: readonly Pick<Day, 'day' | 'views'>[],
  distance: number,
): PairedDays | undefined {
  const viewsBefore = new Map(daysBefore.map(({ day, views }) => [day, views]));
  const pairs = days
    .map(({ day, views }) => ({ views, before: viewsBefore.get(shifted(day, -distance)) ?? 0 }))
    .filter(({ views, before }) => views > 0 && before > 0);
  if (pairs.length === 0) return undefined;
  const before = pairs.reduce((sum, pair) => sum + pair.before, 0);
  return {
    count: viewsOf(pairs) / pairs.length,
    before: before / pairs.length,
    averagedDays: pairs.length,
  };
}

/** What can be said where days are missing in either span. */
export interface LikeForLike {
  /** Views a day; not rounded, nor is `before`, so that lists have the same change. */
  readonly count: number;
  /** Of the same days in the span before; `undefined` where none can be compared. */
  readonly before: number | undefined;
  /** How many days these averages are of. */
  readonly averagedDays: number;
  /** Those after the first view. */
  readonly gaps: readonly string[];
  readonly gapsBefore: readonly string[];
  /** Of the first view, where that is not the first of these days, and the span before has none. */
  readonly firstDay: string | undefined;
}

/** @returns `undefined` where no day is missing, so that totals can be compared. */
export function likeForLike({ days, before }: Summary): LikeForLike | undefined {
  const whole = fullDays(days);
  const seen = seenOf(whole);
  const without = isHabit(whole)
    ? whole.filter(({ views }) => views === 0).map(({ day }) => day)
    : [];
  const firstSeen = days.find(({ views }) => views > 0)?.day;
  const isNew = firstSeen !== undefined && (before?.views ?? 0) === 0 && without[0]! < firstSeen;
  const gapsBefore = before === undefined ? [] : gapsIn(before);
  if (seen.length === 0 || without.length + gapsBefore.length === 0) return undefined;
  const alone = {
    count: viewsOf(seen) / seen.length,
    before: undefined,
    averagedDays: seen.length,
  };
  return {
    ...((before && paired(seen, before.days, lengthOf(before))) ?? alone),
    gaps: isNew ? without.filter((day) => day > firstSeen) : without,
    gapsBefore,
    firstDay: isNew ? firstSeen : undefined,
  };
}

/** Of the span before, its whole days that tell of a fault. */
function gapsIn(before: NonNullable<Summary['before']>): string[] {
  const { isCut, wholeDayViews, silentDays, silentSpans } = before;
  const seenDays = lengthOf(before) - (isCut ? 1 : 0) - silentDays;
  return areMany(wholeDayViews, seenDays) ? silentSpans.flatMap(daysOf) : [];
}

/**
 * What a count of the span before is multiplied by to be compared: 1, unless days are missing.
 * Then it is as if each span had only the days that are compared, so that all rows of a list
 * together change as the average day does.
 * @returns `undefined` where nothing is compared.
 */
export function scaleBefore(summary: Summary): number | undefined {
  const { views, before } = summary;
  if (before === undefined || before.views === 0) return undefined;
  const like = likeForLike(summary);
  if (like === undefined) return 1;
  return like.before === undefined
    ? undefined
    : (like.before / before.views) * (views / like.count);
}

const WEEK_DAYS = 7;

/**
 * The views of the last seven full days, and of the seven before those; where some are missing,
 * the average of the days that had views in both weeks.
 * @returns `undefined` where there are not as many days.
 */
export function lastWeeks(days: readonly Day[]): (Pair & { averagedDays?: number }) | undefined {
  const whole = fullDays(days);
  const weeks = whole.slice(-2 * WEEK_DAYS);
  if (weeks.length < 2 * WEEK_DAYS) return undefined;
  const [last, first] = [weeks.slice(WEEK_DAYS), weeks.slice(0, WEEK_DAYS)];
  if (!isHabit(whole) || seenOf(weeks).length === weeks.length) {
    return { count: viewsOf(last), before: viewsOf(first) };
  }
  return paired(last, first, WEEK_DAYS);
}

interface QuietProject {
  readonly project: string;
  /** Ascending. */
  readonly days: readonly string[];
}

/**
 * Projects of several that had no view on days when others had: those that have views every day,
 * and those that had none on any.
 */
export function quietProjects({ days, silentDays }: Summary): QuietProject[] {
  const whole = fullDays(days);
  const seen = new Set(seenOf(whole).map(({ day }) => day));
  const quiet = silentDays.map(({ project, views, spans, days }) => ({
    project,
    views,
    isTold: views === 0 || areMany(views, Math.max(1, whole.length - days)),
    days: spans.flatMap((span: Span) => daysOf(span)).filter((day) => seen.has(day)),
  }));
  return quiet
    .filter(({ isTold, days }) => isTold && days.length > 0)
    .toSorted((a, b) => b.views - a.views)
    .map(({ project, days }) => ({ project, days }));
}
