import { textOfBytewise } from '../base/text.ts';
import { clip } from '../base/text.ts';
import { VERSION } from '../base/built.ts';
import type { Selection } from './calendar.ts';
import { readable, readableParameter } from './page-url.ts';
import type { List, Report } from './schema.ts';
import { daysOf, lengthOf, shifted, spansOf } from './span.ts';
import type { Tally } from './tally.ts';
import type { Totals } from './totals.ts';

type Day = Report['days'][number];

interface ModelOptions {
  readonly now: Date;
  /** The length of the lists. */
  readonly top: number;
}

/** A longer span is not filled with days without views: one clock was probably years off. */
const DAYS_FILLED_MAX = 3_660;
const TEXT_LENGTH_MAX = 200;

/** Summarizes totals: everything that a report says, as values. */
export function reportOf(totals: Totals, selection: Selection, options: ModelOptions): Report {
  const days = filledDays(totals, selection);
  const full = days.filter(({ isPartial }) => isPartial !== true);
  const hours = Array.from({ length: 24 }, (_, hour) => sum(days.map((day) => day.hours[hour]!)));
  const shown = totals.listed.filter(
    ({ id, active }) => totals.projectsById.has(id) || active !== false,
  );
  return {
    version: VERSION,
    madeAt: options.now.toISOString(),
    ...selection,
    projectNames: Object.fromEntries(shown.flatMap(({ id, name }) => (name ? [[id, name]] : []))),
    views: totals.views,
    ...compared(totals, full),
    ...(full.length > 0 && { averageDay: Math.round(viewsOf(full) / full.length) }),
    ...(totals.views > 0 && busiest(days, hours)),
    invalidLines: totals.invalidLines,
    brokenFiles: totals.brokenFiles,
    days,
    hours,
    silentSpans: spansOf(full.filter(({ views }) => views === 0).map(({ day }) => day)),
    silentDays: silentDays(totals, full, selection),
    ...lists(totals, options.top),
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
const viewsOf = (days: readonly Day[]): number => sum(days.map(({ views }) => views));

function filledDays({ calendar, days }: Totals, { fromDay, toDay }: Selection): Day[] {
  const { before, today } = calendar;
  const seen = [...days.keys()].filter((day) => before === undefined || day > before.toDay).sort();
  // Days to come are there only if a clock that was ahead has left views of them.
  const asked = fromDay === undefined ? '' : [toDay ?? today, today].sort()[0]!;
  const first = fromDay ?? seen[0];
  const last = [asked, seen.at(-1) ?? ''].sort()[1]!;
  const span = first !== undefined && last !== '' && { fromDay: first, toDay: last };
  const isFilled = span && lengthOf(span) <= DAYS_FILLED_MAX;
  return (isFilled ? daysOf(span) : seen).map((day): Day => {
    const hours = days.get(day) ?? Array.from({ length: 24 }, () => 0);
    const one = { day, views: sum(hours), hours };
    return day === today ? Object.assign(one, { isPartial: true }) : one;
  });
}

/** @param full the days that are over. */
function compared(totals: Totals, full: readonly Day[]): Partial<Report> {
  const { calendar, days, todayViews, yesterdayViews } = totals;
  const { before, isBeforeCut, today } = calendar;
  const weeks = full.slice(-14);
  const lastFull = before && (isBeforeCut ? shifted(before.toDay, -1) : before.toDay);
  return {
    ...(before && {
      before: {
        ...before,
        isCut: isBeforeCut,
        views: sum(daysOf(before).map((day) => sum(days.get(day) ?? []))),
        silentSpans: spansOf(
          daysOf({ ...before, toDay: lastFull! }).filter((day) => !days.has(day)),
        ),
      },
    }),
    ...(calendar.hasToday &&
      todayViews + yesterdayViews > 0 && {
        today: { day: today, views: todayViews, yesterday: yesterdayViews },
      }),
    ...(weeks.length === 14 && {
      lastWeek: { views: viewsOf(weeks.slice(7)), before: viewsOf(weeks.slice(0, 7)) },
    }),
  };
}

function busiest(days: readonly Day[], hours: readonly number[]): Partial<Report> {
  const { day, views } = days.reduce((a, b) => (b.views > a.views ? b : a));
  const most = Math.max(...hours);
  return {
    busiestDay: { day, views },
    busiestHour: { hour: hours.indexOf(most), views: most },
  };
}

function silentDays(totals: Totals, full: readonly Day[], selection: Selection) {
  const { listed, projects, projectsById } = totals;
  const asked = full.map(({ day }) => day);
  const unseen = listed.filter(
    ({ id, active }) =>
      active !== false && !projectsById.has(id) && (selection.project ?? id) === id,
  );
  const silent = [
    ...unseen.map(({ id }) => ({ id, days: asked })),
    ...Array.from(projectsById, ([id, { days }]) => {
      const first = [...days].sort()[0]!;
      return { id, days: asked.filter((day) => day > first && !days.has(day)) };
    }),
  ];
  return silent
    .filter(({ days }) => days.length > 0)
    .map(({ id, days }) => ({
      project: id,
      views: projects.countOf(id),
      days: days.length,
      spans: spansOf(days),
    }));
}

/** Returns the text of bytes, cut if it is long. */
const textOf = (bytes: string, change = (text: string): string => text): string =>
  clip(change(textOfBytewise(bytes)), TEXT_LENGTH_MAX);

function lists(totals: Totals, top: number) {
  const hasBefore = totals.projects.before > 0;
  const list = <T>(tally: Tally, keyOf: (text: string, name: string) => T): List<T> => ({
    top: tally.top(top).map(({ text, name, count, before }) => {
      const key = keyOf(text, name);
      return hasBefore ? { key, count, before } : { key, count };
    }),
    distinct: tally.distinct,
    isExact: tally.isExact,
  });
  const text = (bytes: string): string => textOf(bytes);
  const page = (projectAndPage: string, name: string) => {
    const end = projectAndPage.indexOf(' ');
    const url = textOf(projectAndPage.slice(end + 1), readable);
    return { project: projectAndPage.slice(0, end), url, name: textOf(name) };
  };
  const campaign = (tags: string) => {
    const texts = tags.split('&').map((tag) => textOf(tag, readableParameter));
    const [campaign = '', source = '', medium = ''] = texts;
    return { campaign, source, medium };
  };
  return {
    projects: list(totals.projects, text),
    pages: list(totals.pages, page),
    entryPages: list(totals.entryPages, page),
    entryViews: totals.entryViews,
    referrers: list(totals.referrers, text),
    internalViews: totals.internalViews,
    campaigns: list(totals.campaigns, campaign),
    campaignViews: totals.campaignViews,
    languages: list(totals.languages, text),
    templates: list(totals.templates, text),
  };
}
