import { VERSION } from '../base/version.ts';
import type { Selection } from './calendar.ts';
import { byCount, type Counted, type Tally } from './ranking.ts';
import type { Summary } from './report-schema.ts';
import { daysOf, lengthOf, type OpenSpan, shifted, type Span, spansOf } from './span.ts';
import { type Day, viewsOf } from './gaps.ts';
import { kept } from './report-line.ts';
import { type ProjectTotals, tagsIn, type Totals } from './totals.ts';

export type { Summary };

export interface List<T> {
  readonly top: readonly Counted<T>[];
  /** Distinct ones; where the list is not exact, those that are still held. */
  readonly distinct: number;
  readonly isExact: boolean;
}

/** Days without views are filled in for so long; a clock that was years off is left with gaps. */
const DAYS_FILLED_MAX = 3_660;

const keptText = (bytes: string): string => kept(bytes);

/** @param top how long the lists are. */
export function summarize(totals: Totals, selection: Selection, top: number): Summary {
  const { calendar, surroundings } = totals;
  const isCompared = calendar.before !== undefined;
  const list = <K, T>(tally: Tally<K>, read: (key: K) => T, compares = false) => ({
    top: tally.top(top, compares).map(({ key, count, before }): Counted<T> => {
      const shown = { key: read(key), count };
      return before === undefined ? shown : Object.assign(shown, { before });
    }),
    distinct: tally.distinct('count'),
    isExact: tally.isExact,
  });
  const projects = [...totals.projects.values()].sort((a, b) => b.views - a.views);
  const seen = projects.filter(({ views }) => views > 0);
  const pages = (topOf: (tally: ProjectTotals['pages']) => Counted<Page>[], field: Field) => ({
    top: seen
      .flatMap((project) => topOf(project.pages))
      .sort(byCount)
      .slice(0, top),
    distinct: sum(seen.map((project) => project.pages.distinct(field))),
    isExact: seen.every((project) => project.pages.isExact),
  });
  return {
    version: VERSION,
    madeAt: surroundings.now.toISOString(),
    ...selection,
    projectNames: namesOf(totals),
    views: totals.views,
    ...comparison(totals),
    invalidLines: totals.invalidLines,
    brokenFiles: totals.brokenFiles,
    days: filledDays(totals, selection),
    silentDays: silentDays(totals, selection),
    projects: {
      top: seen
        .slice(0, top)
        .map(({ id, views, before }) =>
          isCompared ? { key: id, count: views, before } : { key: id, count: views },
        ),
      distinct: seen.length,
      isExact: true,
    },
    pages: pages((tally) => tally.top(top, isCompared), 'count'),
    entryPages: pages((tally) => tally.topEntries(top), 'entries'),
    entryViews: totals.entryViews,
    referrers: list(totals.referrers, keptText, isCompared),
    internalViews: totals.internalViews,
    campaigns: list(totals.campaigns, tagsIn, isCompared),
    campaignViews: totals.campaignViews,
    languages: list(totals.languages, keptText),
    templates: list(totals.templates, keptText),
    refused: { ...list(totals.refused, (kind) => kind), views: totals.refusedViews },
  };
}

type Page = Summary['pages']['top'][number]['key'];
type Field = 'count' | 'entries';

function comparison(totals: Totals): Pick<Summary, 'before' | 'today'> {
  const { calendar, soFar } = totals;
  const { before, isBeforeCut: isCut, today, hasToday } = calendar;
  const { weekAgo } = soFar;
  const isTodayTold = hasToday && soFar.today + soFar.yesterday + (weekAgo ?? 0) > 0;
  return {
    ...(before && {
      before: { ...before, isCut, ...daysBefore(before, isCut, totals) },
    }),
    ...(isTodayTold && {
      today: {
        day: today.day,
        views: soFar.today,
        yesterday: soFar.yesterday,
        ...(weekAgo !== undefined && { weekAgo }),
      },
    }),
  };
}

/** @param isCut whether its last day is no whole one. */
function daysBefore({ fromDay, toDay }: Span, isCut: boolean, totals: Totals) {
  const days = Array.from(totals.daysBefore, ([day, hours]) => ({ day, views: sum(hours) }));
  const lastWhole = isCut ? shifted(toDay, -1) : toDay;
  const whole = days.filter(({ day }) => day <= lastWhole);
  const silent = daysOf({ fromDay, toDay: lastWhole }).filter((day) => !totals.daysBefore.has(day));
  return {
    views: viewsOf(days),
    wholeDayViews: viewsOf(whole),
    silentDays: silent.length,
    silentSpans: spansOf(silent),
    days: days.sort((a, b) => (a.day < b.day ? -1 : 1)),
  };
}

/** Of the projects that the report is about. */
function namesOf({ surroundings, projects }: Totals): Record<string, string> {
  const named = surroundings.listed.filter(({ name }) => name !== undefined && name !== '');
  return Object.fromEntries(
    named
      .filter(({ id, active }) => projects.has(id) || active !== false)
      .map(({ id, name }) => [id, name!]),
  );
}

/** The days asked for, as far as they have come, where there is an end to them. */
function daysAsked({ calendar, days }: Totals, { fromDay, toDay }: OpenSpan): string[] {
  const names = [...days.keys()].sort();
  const { day: today } = calendar.today;
  const first = fromDay ?? names[0];
  // A clock that was ahead may have left views of days to come.
  const end = fromDay === undefined ? names.at(-1) : [toDay ?? today, today].toSorted()[0];
  if (first === undefined || end === undefined) return names;
  const span = { fromDay: first, toDay: [end, names.at(-1) ?? end].toSorted()[1]! };
  const length = lengthOf(span);
  return length < 1 || length > DAYS_FILLED_MAX ? names : daysOf(span);
}

function filledDays(totals: Totals, selection: OpenSpan): Day[] {
  return daysAsked(totals, selection).map((day) => {
    const hours = totals.days.get(day) ?? Array.from({ length: 24 }, () => 0);
    const filled: Day = { day, views: sum(hours), hours };
    return day === totals.calendar.today.day ? Object.assign(filled, { isPartial: true }) : filled;
  });
}

function silentDays(totals: Totals, selection: Selection): Summary['silentDays'] {
  const { calendar, surroundings, projects } = totals;
  const asked = daysAsked(totals, selection).filter((day) => day < calendar.today.day);
  const unseen = surroundings.listed.filter(
    ({ id, active }) =>
      active !== false &&
      !projects.has(id) &&
      (selection.project === undefined || selection.project === id),
  );
  const silent = [
    ...unseen.map(({ id }) => ({ project: id, views: 0, days: asked })),
    ...Array.from(projects.values(), ({ id, views, days }) => {
      const first = [...days].sort()[0]!;
      return { project: id, views, days: asked.filter((day) => day > first && !days.has(day)) };
    }),
  ];
  return silent
    .filter(({ days }) => days.length > 0)
    .map(({ project, views, days }) => ({
      project,
      views,
      days: days.length,
      spans: spansOf(days),
    }));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
