import { formatCount, plural } from '../base/format.ts';
import type { Report } from './schema.ts';
import { lengthOf, type Span } from './span.ts';

// Sentences and figures that both the terminal and the page show.

/** Returns `12%`. */
export function share(count: number, total: number): string {
  const percent = total === 0 ? 0 : (100 * count) / total;
  return count > 0 && percent < 1 ? '<1%' : `${Math.round(percent)}%`;
}

/** Below this count, changes are given in views, because one view would be more than 1%. */
const PERCENT_FROM = 100;

/** Returns the amount of a change: `12%`, `3 views`; empty if it rounds to nothing. */
function amountOf(count: number, before: number): string {
  const change = Math.abs(count - before);
  if (before < PERCENT_FROM) return change === 0 ? '' : plural(change, 'view');
  const percent = Math.round((100 * change) / before);
  return percent === 0 ? '' : `${formatCount(percent)}%`;
}

/** Returns the change of a row: `+12%`, `−2 views`, `same`. */
export function changeOf(count: number, before: number): string {
  if (before === 0) return count === 0 ? 'same' : `+${plural(count, 'view')}`;
  const amount = amountOf(count, before);
  return amount === '' ? 'same' : `${count < before ? '−' : '+'}${amount}`;
}

/** Returns `up 12% from 894`. */
export function changeInWords(count: number, before: number): string {
  if (before === 0) return count === 0 ? 'as' : 'up from none';
  if (count === 0) return `down from ${formatCount(before)}`;
  const amount = amountOf(count, before);
  const about = count === before ? 'the same as' : 'about the same as';
  const how = amount === '' ? about : `${count < before ? 'down' : 'up'} ${amount} from`;
  return `${how} ${formatCount(before)}`;
}

/** Returns the number of views, its change, and the days without views. */
export function headline(report: Report): string {
  const { views, before, silentSpans, silentSince } = report;
  const last = lastDayOf(report);
  const so = before?.isCut ? ' so far' : '';
  const count = (views === 0 ? 'No views' : plural(views, 'view')) + so;
  const spans = silentSpans.filter(
    ({ fromDay }) => silentSince === undefined || fromDay < silentSince,
  );
  const days = views === 0 ? '' : silentDaysInWords(spans, last);
  const since = silentSince === undefined ? '' : ` No views since ${dayInWords(silentSince)}.`;
  const gaps = `${days === '' ? '' : ` No views ${days}.`}${since}`;
  if (before === undefined) return `${count}.${gaps}`;
  const length = lengthOf(before);
  const period =
    length === 1 ? 'on the previous day' : `in the previous ${formatCount(length)} days`;
  const cut = before.isCut ? 'by this time ' : '';
  const silent = before.views === 0 ? '' : silentDaysInWords(before.silentSpans, last);
  const gapsBefore = silent === '' ? '' : ` (no views ${silent})`;
  const isNone = before.isCut && views === 0 && before.views === 0;
  const change = isNone ? 'and none' : changeInWords(views, before.views);
  return `${count}, ${change} ${cut}${period}${gapsBefore}.${gaps}`;
}

/** `on Wed 11 Mar`, `from Mon 9 Mar to Wed 11 Mar`; empty if there are none. */
const silentDaysInWords = (spans: readonly Span[], last: string): string =>
  spans.length === 0 ? '' : daysInShort(spans, last, { one: 'on', several: 'from' });

/** Returns a sentence about the last seven full days; empty if there are fewer than 14. */
export function lastWeekInWords({ lastWeek, toDay, silentSince }: Report): string {
  if (lastWeek === undefined) return '';
  const { views, before } = lastWeek;
  const change = changeInWords(views, before);
  const isLast = toDay === undefined && silentSince === undefined;
  const which = isLast ? 'Last 7 full days' : 'Last 7 full days of this period';
  return `${which}: ${plural(views, 'view')}, ${change} in the 7 days before.`;
}

type Figure = [name: string, value: string, note: string];

/** Returns the figures at the head of the report: a name, a value, and a note on it. */
export function figuresOf(report: Report): Figure[] {
  const { days, views, averageDay = 0, today, busiestDay, busiestHour } = report;
  if (busiestDay === undefined || busiestHour === undefined) return [];
  const { hour } = busiestHour;
  const ofAll = `${share(busiestHour.views, views)} of all views`;
  const busiest: Figure = ['Busiest time of day', `${clockOf(hour)}–${clockOf(hour + 1)}`, ofAll];
  // The headline has the number of views.
  if (days.length === 1) return [busiest];
  const inDays = `in ${plural(days.length, 'day')}`;
  const isSmall =
    averageDay === 0 && days.some(({ views: ofDay, isPartial }) => ofDay > 0 && !isPartial);
  const average = isSmall ? 'less than 0.1' : formatCount(averageDay);
  const change = today && `${changeInWords(today.views, today.yesterday)} yesterday by`;
  return [
    ['Views', formatCount(views), today ? `${inDays}, ${average} per full day` : inDays],
    today
      ? ['Today so far', formatCount(today.views), `${change} ${timeMade(report)}`]
      : ['Views per full day', average, 'on average'],
    [
      'Busiest day',
      dayInWords(busiestDay.day, lastDayOf(report)),
      plural(busiestDay.views, 'view'),
    ],
    busiest,
  ];
}

/** Returns when the report was made, `12:00`. */
const timeMade = ({ madeAt, timeZone }: Report): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' }).format(new Date(madeAt));

/** Returns the days without views of each project. */
export function silenceInWords(report: Report): { name: string; days: string }[] {
  // A project may have views on other days than those asked for.
  const isPart = report.fromDay !== undefined || report.toDay !== undefined;
  const last = lastDayOf(report);
  const never = isPart ? 'no views' : 'no views yet';
  return report.silentDays.map(({ project, views, days, spans }) => ({
    name: projectInWords(report, project),
    days: views === 0 ? never : `${plural(days, 'day')}, ${daysInShort(spans, last)}`,
  }));
}

/** Returns the faults of lines and files that weren't counted. */
export const faultsOf = ({ invalidLines, brokenFiles }: Report): string[] => [
  ...(invalidLines > 0
    ? [
        `The report left out ${plural(invalidLines, 'line')} that ${invalidLines === 1 ? "isn't a view" : "aren't views"}.`,
      ]
    : []),
  ...(brokenFiles > 0
    ? [
        `${plural(brokenFiles, 'compressed file')} ${brokenFiles === 1 ? 'is' : 'are'} damaged, so some views are missing.`,
      ]
    : []),
];

/** Returns `1–14 March 2026`; some runtimes put spaces around the dash. */
export const spanInWords = ({ fromDay, toDay }: Span): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', dateStyle: 'long' }).formatRange(
    new Date(fromDay),
    new Date(toDay),
  );

/** Returns `Mon 9 Mar`, with the year if that isn't the year of the day `last`. */
export const dayInWords = (day: string, last = day): string =>
  new Date(day)
    .toUTCString()
    .replace(/, 0?(\d+ \w+)( \d+) .*/, day.slice(0, 4) === last.slice(0, 4) ? ' $1' : ' $1$2');

const lastDayOf = ({ toDay, days, madeAt }: Report): string => toDay ?? days.at(-1)?.day ?? madeAt;

const SPANS_MAX = 4;

/**
 * Returns `Thu 12 Nov and Mon 16 Nov to Tue 17 Nov`; if there are many, the last ones.
 * @param last the report's last day: days of other years get their year.
 * @param before the words before a day and before several days in a row.
 */
export function daysInShort(
  spans: readonly Span[],
  last: string,
  before = { one: '', several: '' },
): string {
  let said = '';
  const shown = spans.slice(-SPANS_MAX).map(({ fromDay, toDay }) => {
    const days = [...new Set([fromDay, toDay])].map((day) => dayInWords(day, last)).join(' to ');
    const word = fromDay === toDay ? before.one : before.several;
    const isRepeated = word === '' || (word === said && word === before.one);
    said = word;
    return isRepeated ? days : `${word} ${days}`;
  });
  const left = spans.slice(0, -SPANS_MAX).reduce((sum, span) => sum + lengthOf(span), 0);
  const texts = left === 0 ? shown : [...shown, plural(left, 'earlier day')];
  return new Intl.ListFormat('en-GB').format(texts);
}

/** Returns `07:00`. */
export const clockOf = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

/** Returns the days of the report; `undefined` if there are none. */
export function spanOf({ fromDay, toDay, days }: Report): Span | undefined {
  const from = fromDay ?? days[0]?.day;
  const to = toDay ?? days.at(-1)?.day;
  return from === undefined || to === undefined ? undefined : { fromDay: from, toDay: to };
}

export const projectInWords = ({ projectNames }: Report, id: string): string =>
  projectNames[id] ?? `Project ${id}`;
