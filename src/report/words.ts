import { formatCount, plural } from '../base/format.ts';
import type { Report } from './schema.ts';
import { daysOf, lengthOf, type Span } from './span.ts';

// The sentences and figures that the terminal and the page share.

/** Returns `12%`. */
export function share(count: number, total: number): string {
  const percent = total === 0 ? 0 : (100 * count) / total;
  return count > 0 && percent < 1 ? '<1%' : `${Math.round(percent)}%`;
}

/** Below this, one view more would be several percent, so a change is in views. */
const PERCENT_FROM = 100;

/** Returns the amount of a change: `12%`, `3 views`; empty if it rounds to nothing. */
function amountOf(count: number, before: number): string {
  const change = Math.abs(count - before);
  if (before < PERCENT_FROM) return change === 0 ? '' : plural(change, 'view');
  const percent = Math.round((100 * change) / before);
  return percent === 0 ? '' : `${formatCount(percent)}%`;
}

/** Returns the change of a row: `+12%`, `−2 views`, `same`, `new`. */
export function changeOf(count: number, before: number): string {
  if (before === 0) return count === 0 ? 'same' : 'new';
  const amount = amountOf(count, before);
  return amount === '' ? 'same' : `${count < before ? '−' : '+'}${amount}`;
}

/** Returns `up 12% from 894`; `shown` replaces the count before, `894`. */
export function changeInWords(count: number, before: number, shown = before): string {
  if (before === 0) return 'compared with none';
  const amount = amountOf(count, before);
  const about = count === before ? 'the same as' : 'about the same as';
  const how = amount === '' ? about : `${count < before ? 'down' : 'up'} ${amount} from`;
  return `${how} ${formatCount(shown)}`;
}

/** Says how many views there are, how that compares, and which days are missing. */
export const headline = (report: Report): string =>
  [comparison(report), ...gaps(report)].filter(Boolean).join(' ');

function comparison({ views, before, days, averageDay = 0 }: Report): string {
  if (before === undefined) {
    return views === 0 ? 'No views.' : `${plural(views, 'view')} in ${plural(days.length, 'day')}.`;
  }
  const isOver = days.every(({ isPartial }) => isPartial !== true);
  const length = lengthOf(before);
  const period =
    length === 1 ? 'on the previous day' : `in the previous ${formatCount(length)} days`;
  if (views + before.views === 0) return `No views, and none ${period}.`;
  if (isOver && length > 1 && before.views >= PERCENT_FROM) {
    const averageBefore = Math.round(before.views / length);
    const change = changeInWords(views, before.views, averageBefore);
    return `${plural(averageDay, 'view')} a day, ${change} ${period}.`;
  }
  const cut = before.isCut && before.views > 0 ? ' by the same time' : '';
  return `${plural(views, 'view')}, ${changeInWords(views, before.views)} ${period}${cut}.`;
}

/** Names the days without any view, and counts the projects that missed other days. */
function gaps({ views, silentSpans, before, silentDays }: Report): string[] {
  if (views === 0) return [];
  const silent = new Set(silentSpans.flatMap(daysOf));
  const quiet = silentDays.filter(({ spans }) =>
    spans.flatMap(daysOf).some((day) => !silent.has(day)),
  ).length;
  const others = quiet === 1 ? '1 project has' : `${formatCount(quiet)} projects have`;
  const spansBefore = before === undefined || before.views === 0 ? [] : before.silentSpans;
  return [
    silent.size > 0 ? `No views on ${daysInShort(silentSpans)}.` : '',
    spansBefore.length > 0 ? `Before that, no views on ${daysInShort(spansBefore)}.` : '',
    quiet > 0 ? `${others} more days without views.` : '',
  ];
}

/** Returns a sentence about the last seven full days; empty if there are fewer than 14. */
export function lastWeekInWords({ lastWeek }: Report): string {
  if (lastWeek === undefined) return '';
  const { views, before } = lastWeek;
  const change = changeInWords(views, before);
  return `Last 7 full days: ${plural(views, 'view')}, ${change} in the 7 days before.`;
}

/** Returns the figures at the head of the report: a name, a value, and a note on it. */
export function figuresOf(report: Report): [name: string, value: string, note: string][] {
  const { days, views, averageDay = 0, today, busiestDay, busiestHour } = report;
  const isLong = days.length > 1;
  const inDays = `in ${plural(days.length, 'day')}`;
  const average = formatCount(averageDay);
  const figures: [string, string, string][] = [
    ['Views', formatCount(views), today && isLong ? `${inDays}, ${average} per full day` : inDays],
  ];
  if (today && isLong) {
    const change = changeInWords(today.views, today.yesterday);
    const note = `${change} yesterday by ${timeMade(report)}`;
    figures.push(['Today so far', formatCount(today.views), note]);
  }
  if (!today && isLong) figures.push(['Average day', average, 'views']);
  if (busiestDay && isLong) {
    figures.push(['Busiest day', dayInWords(busiestDay.day), plural(busiestDay.views, 'view')]);
  }
  if (busiestHour) {
    const note = `${share(busiestHour.views, views)} of all views`;
    figures.push(['Busiest hour', hourInWords(busiestHour.hour), note]);
  }
  return figures;
}

/** Returns which days each project had no views on. */
export const silenceInWords = (report: Report): { name: string; days: string }[] =>
  report.silentDays.map(({ project, days, spans }) => ({
    name: projectInWords(report, project),
    days: `${plural(days, 'day')}, ${daysInShort(spans)}`,
  }));

/** Says which lines and files could not be counted. */
export const faultsOf = ({ invalidLines, brokenFiles }: Report): string[] => [
  ...(invalidLines > 0 ? [`${plural(invalidLines, 'invalid line')} skipped.`] : []),
  ...(brokenFiles > 0
    ? [`${plural(brokenFiles, 'packed file')} damaged: some views are missing.`]
    : []),
];

export interface Bar {
  readonly label: string;
  readonly count: number;
  /** True for a day or month that is not over. */
  readonly isPartial: boolean;
}

/** A bar per day, or per month if there are more than `daysMax` days. */
export function dayBars({ days }: Report, daysMax: number): Bar[] {
  const bars = new Map<string, Bar>();
  for (const { day, views, isPartial = false } of days) {
    const label = days.length <= daysMax ? dayInWords(day) : month().format(new Date(day));
    const bar = bars.get(label) ?? { label, count: 0, isPartial: false };
    bars.set(label, { label, count: bar.count + views, isPartial: bar.isPartial || isPartial });
  }
  return [...bars.values()];
}

export const dayBarsTitle = ({ days }: Report, daysMax: number): string =>
  days.length > daysMax ? 'Views per month' : 'Views per day';

export const hourBars = ({ hours }: Report): Bar[] =>
  hours.map((count, hour) => ({ label: clockOf(hour), count, isPartial: false }));

/** Returns what gives the value of `make`, made when it is first asked for, not at the start. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const dayFormat = (parts: Intl.DateTimeFormatOptions) =>
  once(() => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...parts }));

const longDay = dayFormat({ day: 'numeric', month: 'long', year: 'numeric' });
const shortDay = dayFormat({ weekday: 'short', day: 'numeric', month: 'short' });
const month = dayFormat({ month: 'short', year: 'numeric' });

/** Returns `1–14 March 2026`. */
export const spanInWords = ({ fromDay, toDay }: Span): string =>
  longDay().formatRange(new Date(fromDay), new Date(toDay));

/** Returns `Mon 9 Mar`. */
const dayInWords = (day: string): string => shortDay().format(new Date(day)).replace(',', '');

const SPANS_MAX = 4;

/** Returns `Thu 12 Nov and Mon 16 Nov to Tue 17 Nov`; if there are many, the last ones. */
export function daysInShort(spans: readonly Span[]): string {
  const shown = spans
    .slice(-SPANS_MAX)
    .map(({ fromDay, toDay }) => [...new Set([fromDay, toDay])].map(dayInWords).join(' to '));
  const left = spans.slice(0, -SPANS_MAX).reduce((sum, span) => sum + lengthOf(span), 0);
  const texts = left === 0 ? shown : [...shown, `${plural(left, 'day')} before`];
  return new Intl.ListFormat('en-GB').format(texts);
}

const clockOf = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

/** Returns `07:00–08:00`. */
const hourInWords = (hour: number): string => `${clockOf(hour)}–${clockOf(hour + 1)}`;

/** Returns when the report was made, `12:00`. */
const timeMade = ({ madeAt, timeZone }: Report): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' }).format(new Date(madeAt));

/** Returns the days that the report is about; `undefined` if there are none. */
export function spanOf({ fromDay, toDay, days }: Report): Span | undefined {
  const from = fromDay ?? days[0]?.day;
  const to = toDay ?? days.at(-1)?.day;
  return from === undefined || to === undefined ? undefined : { fromDay: from, toDay: to };
}

export const projectInWords = ({ projectNames }: Report, id: string): string =>
  projectNames[id] ?? `Project ${id}`;

/** Returns the name of the only site that the report is about; `undefined` if there are several. */
export function siteOf(report: Report): string | undefined {
  const { project, projects, silentDays } = report;
  const ids = new Set([
    ...projects.top.map(({ key }) => key),
    ...silentDays.map((row) => row.project),
  ]);
  const one = projects.distinct <= 1 && ids.size === 1 ? [...ids][0] : undefined;
  const id = project ?? one;
  return id === undefined ? undefined : projectInWords(report, id);
}
