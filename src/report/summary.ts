import { DAY_MS } from '../base/time.ts';
import { byCount, type Counted, type Tally } from './ranking.ts';
import type { Page, RefusedKind, Totals, Selection } from './totals.ts';

export interface Day {
  readonly day: string;
  readonly views: number;
  /** By local hour. */
  readonly hours: readonly number[];
}

/** What a report shows, in each of its forms. */
export interface Summary extends Selection {
  readonly views: number;
  readonly invalidLines: number;
  /** Every day from the first to the last that has views. */
  readonly days: readonly Day[];
  readonly projects: List<string>;
  readonly pages: List<Page>;
  readonly referrers: List<string>;
  readonly languages: List<string>;
  readonly templates: List<string>;
  readonly refused: List<RefusedKind> & { readonly views: number };
}

export interface List<T> {
  readonly top: readonly Counted<T>[];
  /** Distinct ones; where the list is not exact, those that are still held. */
  readonly distinct: number;
  readonly isExact: boolean;
}

/** Days without views are filled in for so long; a clock that was years off is left with gaps. */
const DAYS_FILLED_MAX = 3_660;

/** @param top how long the lists are. */
export function summarize(totals: Totals, selection: Selection, top: number): Summary {
  const list = <T>(tally: Tally<T>): List<T> => ({
    top: tally.top(top),
    distinct: tally.size,
    isExact: tally.isExact,
  });
  const projects = [...totals.projects.values()].sort((a, b) => b.views - a.views);
  return {
    ...selection,
    views: totals.views,
    invalidLines: totals.invalidLines,
    days: daysOf(totals.days),
    projects: {
      top: projects.slice(0, top).map(({ id, views }) => ({ key: id, count: views })),
      distinct: projects.length,
      isExact: true,
    },
    pages: {
      top: projects
        .flatMap(({ pages }) => pages.top(top))
        .sort(byCount)
        .slice(0, top),
      distinct: sum(projects.map(({ pages }) => pages.size)),
      isExact: projects.every(({ pages }) => pages.isExact),
    },
    referrers: list(totals.referrers),
    languages: list(totals.languages),
    templates: list(totals.templates),
    refused: { ...list(totals.refused), views: totals.refusedViews },
  };
}

function daysOf(counted: ReadonlyMap<string, readonly number[]>): Day[] {
  const names = [...counted.keys()].sort();
  return filled(names).map((day) => {
    const hours = counted.get(day) ?? Array.from({ length: 24 }, () => 0);
    return { day, hours, views: sum(hours) };
  });
}

function filled(names: readonly string[]): readonly string[] {
  if (names.length === 0) return names;
  const first = Date.parse(names[0]!);
  const days = (Date.parse(names.at(-1)!) - first) / DAY_MS + 1;
  if (days > DAYS_FILLED_MAX) return names;
  return Array.from({ length: days }, (_, i) =>
    new Date(first + i * DAY_MS).toISOString().slice(0, 10),
  );
}

/** Months instead of days, where there are more than `daysMax` of those. */
export function periods(days: readonly Day[], daysMax: number): { name: string; views: number }[] {
  if (days.length <= daysMax) return days.map(({ day, views }) => ({ name: day, views }));
  const months = new Map<string, number>();
  for (const { day, views } of days) {
    const month = day.slice(0, 7);
    months.set(month, (months.get(month) ?? 0) + views);
  }
  return [...months].map(([name, views]) => ({ name, views }));
}

/** Views by hour of the day, over all days. */
export const byHour = (days: readonly Day[]): number[] =>
  Array.from({ length: 24 }, (_, hour) => sum(days.map((day) => day.hours[hour]!)));

/** Views by weekday (Monday first) and hour. */
export function byWeekday(days: readonly Day[]): number[][] {
  const week = Array.from({ length: 7 }, () => Array.from({ length: 24 }, () => 0));
  for (const { day, hours } of days) {
    const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
    for (const [hour, views] of hours.entries()) week[weekday]![hour]! += views;
  }
  return week;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);

const thousands = new Intl.NumberFormat('en');

/** `12,345` */
export const grouped = (count: number): string => thousands.format(count);

/** `12.3 %` */
export const share = (count: number, total: number): string =>
  `${total === 0 ? '0.0' : ((100 * count) / total).toFixed(1)} %`;

/** What the report is about, in words: `project 1000001, from 2026-01-01 to 2026-01-31`. */
export function scopeOf({ project, fromDay, toDay, days }: Summary): string {
  const from = fromDay ?? days[0]?.day;
  const to = toDay ?? days.at(-1)?.day;
  const span = from === undefined || to === undefined ? 'no day' : `${from} to ${to}`;
  return `${project === undefined ? 'all projects' : `project ${project}`}, ${span}`;
}
