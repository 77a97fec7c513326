import { formatCount, plural } from '../base/format.ts';
import type { List, Report } from './schema.ts';
import { NONE, NOT_AN_ADDRESS } from './sources.ts';
import { changeOf, clockOf, dayInWords, projectInWords } from './words.ts';

// The report's charts and lists as rows of texts, for the terminal and the page.

export interface SectionRow {
  /** The label and notes on it. */
  readonly texts: readonly string[];
  readonly count: number;
  /** `undefined` if nothing is compared. */
  readonly change?: string | undefined;
}

const UNKNOWN = 'Unknown';

/** `total` is the number of views that the counts are shares of. */
export type Section = ReturnType<typeof sectionsOf>[number];

/**
 * Returns the sections below the report's figures, in order; none if there are no views. A list in
 * which everything is unknown is left out.
 * @param daysMax with more days, the chart has a bar per month.
 */
export function sectionsOf(report: Report, daysMax: number) {
  const { campaignViews, days, entryViews, hours, internalViews, projects, views } = report;
  if (views === 0) return [];
  const hasSeveral = projects.distinct > 1;
  const languages = new Intl.DisplayNames('en', { type: 'language' });
  const page = ({ project, url, name }: Report['pages']['top'][number]['key']) =>
    [name, url, hasSeveral ? projectInWords(report, project) : ''].filter(Boolean);
  const outside = views - internalViews;
  const notInternal = internalViews === 0 ? '' : "that didn't come from the site's own pages";
  const hourRows = hours.map((count, hour): SectionRow => ({ texts: [clockOf(hour)], count }));
  const perDay = days.length > daysMax ? 'Views per month' : 'Views per day';
  const chart = { remark: '', total: views, isChart: true };
  const sections = [
    ...(days.length > 1 ? [{ ...chart, title: perDay, rows: dayRows(report, daysMax) }] : []),
    ...(hasSeveral
      ? [listOf('Projects', projects, (id) => [projectInWords(report, id)], views)]
      : []),
    listOf('Pages', report.pages, page, views),
    listOf('Sources', report.referrers, source, outside, notInternal),
    listOf('Campaigns', report.campaigns, campaign, campaignViews, 'with utm_ parameters'),
    listOf('Entry pages', report.entryPages, page, entryViews, 'from outside the site'),
    listOf('Languages', report.languages, (tag) => [languageInWords(languages, tag)], views),
    listOf('Templates', report.templates, (id) => [id === NONE ? UNKNOWN : id], views),
    { ...chart, title: 'Views per hour of the day', rows: hourRows },
  ];
  return sections.filter(({ rows }) => rows.length !== 1 || rows[0]!.texts[0] !== UNKNOWN);
}

/**
 * Returns a row per day or per month. The label of an unfinished day or month ends in `so far`; that
 * of a day whose file wasn't read ends in `not read`, and that of its month, or of a day whose file
 * is damaged, in `partly read`.
 */
function dayRows({ days }: Report, daysMax: number): SectionRow[] {
  const rows = new Map<string, SectionRow>();
  for (const { day, views, isPartial, isUnread } of days) {
    // `Mon 9 Mar` or `Mar 2026`
    const label =
      days.length <= daysMax ? dayInWords(day) : new Date(day).toUTCString().slice(8, 16);
    const { texts, count } = rows.get(label) ?? { texts: [label], count: 0 };
    const isPart = days.length > daysMax || views > 0;
    const noted = isUnread ? [label, isPart ? 'partly read' : 'not read'] : texts;
    rows.set(label, { texts: isPartial ? [label, 'so far'] : noted, count: count + views });
  }
  return [...rows.values()];
}

/** @param which describes the views that the counts are shares of; empty for all. */
function listOf<T>(
  title: string,
  { top, distinct, isExact }: List<T>,
  textsOf: (key: T) => readonly string[],
  total: number,
  which = '',
) {
  const of = `${isExact ? '' : 'more than '}${formatCount(distinct)}`;
  const remarks = [
    top.length < distinct ? `${top.length} of ${of}` : '',
    isExact ? '' : 'counts are approximate',
    which && (total === 0 ? `no views ${which}` : `share of ${plural(total, 'view')} ${which}`),
  ];
  const rows = top.map(({ key, count, before }): SectionRow => ({
    texts: textsOf(key),
    count,
    change: before === undefined ? undefined : changeOf(count, before),
  }));
  return { title, remark: remarks.filter(Boolean).join(', '), total, isChart: false, rows };
}

const source = (key: string): string[] => [SOURCES.get(key) ?? key];

const campaign = (key: Report['campaigns']['top'][number]['key']): string[] =>
  [key.campaign, key.source, key.medium].filter(Boolean);

const SOURCES = new Map([
  [NONE, 'Direct or unknown'],
  [NOT_AN_ADDRESS, 'Not a web address'],
]);

/** Returns `Norwegian Bokmål (Norway)` for `nb-NO`. */
function languageInWords(languages: Intl.DisplayNames, tag: string): string {
  try {
    return tag === NONE ? UNKNOWN : (languages.of(tag) ?? tag);
  } catch {
    return tag; // the line wasn't written by a collector
  }
}
