import { VERSION } from '../base/built.ts';
import { clip, textOfBytewise } from '../base/text.ts';
import { readable, readableParameter } from './page-url.ts';
import type { List, Report } from './schema.ts';
import { NONE } from './sources.ts';
import { daysOf, lengthOf, shifted, spansOf } from './span.ts';
import type { Tally } from './tally.ts';
import type { Totals } from './totals.ts';

type Day = Report['days'][number];

/**
 * A longer span is filled only from the first to the last day with views, or not at all: one clock
 * was probably years off.
 */
const DAYS_FILLED_MAX = 3_660;
const TEXT_LENGTH_MAX = 200;

/**
 * Summarises totals: all facts of a report, as values.
 * @param top the length of the lists.
 */
export function reportOf(totals: Totals, top: number): Report {
  const { calendar, listed, projects } = totals;
  const days = filledDays(totals);
  const full = days.filter(({ isPartial }) => isPartial !== true);
  const read = full.filter(({ day }) => !totals.daysLeftOut.has(day));
  const known = totals.isWhole ? read : [];
  const hours = Array.from({ length: 24 }, (_, hour) => sum(days.map((day) => day.hours[hour]!)));
  return {
    version: VERSION,
    madeAt: calendar.now.toISOString(),
    ...calendar.selection,
    projectNames: Object.fromEntries(listed.flatMap(({ id, name }) => (name ? [[id, name]] : []))),
    views: projects.count,
    ...(totals.isWhole ? compared(totals, full) : {}),
    ...(read.length > 0 && { averageDay: rounded(viewsOf(read) / read.length) }),
    ...(projects.count > 0 && busiest(days, hours)),
    invalidLines: totals.invalidLines,
    brokenFiles: totals.brokenFiles,
    days,
    hours,
    silentSpans: spansOf(known.filter(({ views }) => views === 0).map(({ day }) => day)),
    ...silentSince(totals, days),
    silentDays: totals.isWhole ? silentDays(totals, known) : [],
    ...lists(totals, top),
  };
}

/** Returns since which day there have been no views, if that is before yesterday. */
function silentSince({ isWhole, calendar, daysLeftOut }: Totals, days: readonly Day[]) {
  const { today, selection } = calendar;
  const last = days.findLast(({ views }) => views > 0)?.day;
  if (!isWhole || last === undefined || (selection.toDay ?? today) < today) return {};
  const isUnread = [...daysLeftOut].some((day) => day > last);
  return last < shifted(today, -1) && !isUnread ? { silentSince: last } : {};
}

/** Returns a small average with one decimal. */
const rounded = (average: number): number =>
  average < 10 ? Math.round(10 * average) / 10 : Math.round(average);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
const viewsOf = (days: readonly Day[]): number => sum(days.map(({ views }) => views));

function filledDays({ calendar, days, daysLeftOut, isWhole }: Totals): Day[] {
  const { before, today, selection } = calendar;
  const { fromDay, toDay = today } = selection;
  const seen = [...days.keys()].filter((day) => before === undefined || day > before.toDay).sort();
  // Days after today have views only if a clock was ahead.
  const asked = fromDay === undefined ? '' : [toDay, today].sort()[0]!;
  const last = [asked, seen.at(-1) ?? ''].sort()[1]!;
  const fits = (from: string | undefined): boolean =>
    from !== undefined && lengthOf({ fromDay: from, toDay: last }) <= DAYS_FILLED_MAX;
  const first = isWhole ? [fromDay, seen[0]].find(fits) : undefined;
  const filled = first === undefined ? seen : daysOf({ fromDay: first, toDay: last });
  return filled.map((day) => {
    const hours = days.get(day) ?? Array.from({ length: 24 }, () => 0);
    const views = sum(hours);
    if (day === today) return { day, views, hours, isPartial: true };
    return daysLeftOut.has(day) ? { day, views, hours, isUnread: true } : { day, views, hours };
  });
}

/** @param full the days that are over. */
function compared({ calendar, days, daysLeftOut, yesterdayViews }: Totals, full: readonly Day[]) {
  const { before, hasToday, today } = calendar;
  const viewsOn = (day: string): number => sum(days.get(day) ?? []);
  const weeks = full.slice(-14);
  const fullBefore = before ? daysOf(before).slice(0, hasToday ? -1 : undefined) : [];
  return {
    ...(before && {
      before: {
        ...before,
        isCut: hasToday,
        views: sum(daysOf(before).map(viewsOn)),
        silentSpans: spansOf(fullBefore.filter((day) => !days.has(day) && !daysLeftOut.has(day))),
      },
    }),
    ...(hasToday &&
      viewsOn(today) + yesterdayViews > 0 && {
        today: { day: today, views: viewsOn(today), yesterday: yesterdayViews },
      }),
    ...(weeks.length === 14 && {
      lastWeek: { views: viewsOf(weeks.slice(7)), before: viewsOf(weeks.slice(0, 7)) },
    }),
  };
}

function busiest(days: readonly Day[], hours: readonly number[]) {
  const { day, views } = days.reduce((a, b) => (b.views > a.views ? b : a));
  const most = Math.max(...hours);
  return { busiestDay: { day, views }, busiestHour: { hour: hours.indexOf(most), views: most } };
}

/** @param full the days that are over and whose files were read. */
function silentDays({ calendar, listed, projects, projectsById }: Totals, full: readonly Day[]) {
  const { project } = calendar.selection;
  const asked = listed.filter(({ id, active }) => active !== false && (project ?? id) === id);
  const ids = new Set([...asked.map(({ id }) => id), ...projectsById.keys()]);
  return Array.from(ids, (id) => {
    const seen = projectsById.get(id)?.days ?? new Set();
    const first = [...seen].sort()[0] ?? '';
    const days = full.map(({ day }) => day).filter((day) => day > first && !seen.has(day));
    return { project: id, views: projects.countOf(id), days: days.length, spans: spansOf(days) };
  }).filter(({ days, views }) => days > 0 || views === 0);
}

function lists(totals: Totals, top: number) {
  const hasBefore = totals.projects.before > 0;
  const list = <T>(tally: Tally, keyOf: (text: string) => T): List<T> => ({
    top: tally.top(top).map(({ text, count, before }) => {
      const key = keyOf(text);
      return hasBefore ? { key, count, before } : { key, count };
    }),
    distinct: tally.distinct,
    isExact: tally.isExact,
  });
  const named = (tally: Tally, nameOf = textOfBytewise) => list(tally.renamed(nameOf), short);
  const titles = titlesByPage(totals);
  const page = (projectAndUrl: string) => {
    const [project, url] = split(projectAndUrl);
    return { project, url: short(url), name: short(titles.get(projectAndUrl) ?? '') };
  };
  const campaign = (tags: string) => {
    const [campaign = '', source = '', medium = ''] = (JSON.parse(tags) as string[]).map(short);
    return { campaign, source, medium };
  };
  const { referrers, entryPages } = totals;
  return {
    projects: named(totals.projects),
    pages: list(totals.pages.renamed(pageName), page),
    entryPages: list(entryPages.renamed(pageName), page),
    entryViews: entryPages.count,
    referrers: named(referrers),
    internalViews: totals.projects.count - referrers.count,
    campaigns: list(totals.campaigns.renamed(campaignName), campaign),
    campaignViews: totals.campaigns.count,
    languages: named(totals.languages, languageName),
    templates: named(totals.templates),
  };
}

const short = (text: string): string => clip(text, TEXT_LENGTH_MAX);

/** Returns the text before the first space and the rest. */
function split(text: string): [first: string, rest: string] {
  const end = text.indexOf(' ');
  return [text.slice(0, end), text.slice(end + 1)];
}

// These functions take texts with a character for each byte and return a name that different
// spellings of one thing have in common.

const pageName = (page: string): string => readable(textOfBytewise(page));

const campaignName = (tags: string): string =>
  JSON.stringify(tags.split('&').map((tag) => readableParameter(textOfBytewise(tag))));

function languageName(tag: string): string {
  if (tag === NONE) return NONE;
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? tag;
  } catch {
    return textOfBytewise(tag); // the line wasn't written by a collector
  }
}

/**
 * Returns the commonest title of each page, by the page's `pageName`. If all its titles were
 * dropped, returns the latest one.
 */
function titlesByPage(totals: Totals): Map<string, string> {
  const byPage = totals.titles().renamed((text) => {
    const [length, pageAndTitle] = split(text);
    const page = pageAndTitle.slice(0, Number(length));
    const title = textOfBytewise(pageAndTitle.slice(page.length));
    return JSON.stringify([pageName(page), title]);
  });
  const rows = byPage.top().map(({ text }) => JSON.parse(text) as [string, string]);
  const latest = Array.from(totals.pages.all(), ({ text, title }) => {
    return [pageName(text), textOfBytewise(title)] as const;
  });
  return new Map([...latest, ...rows.toReversed()]);
}
