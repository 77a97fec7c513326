import { plural } from '../base/text.ts';
import { clockOf } from './charts.ts';
import { escapeHtml } from './escape.ts';
import { lengthOf } from './span.ts';
import { byHour, type Day, type Summary, weekdayNumber, withoutGaps } from './summary.ts';
import { changeOf, dayInWords, grouped, weekdayOf } from './words.ts';

/** The numbers at the head of the page: the two that are compared, then the others. */
export function figures(summary: Summary): string {
  const { days, pages, today } = summary;
  const isTodayOnly = today !== undefined && days.length === 1 && days[0]!.day === today.day;
  const busiest = days.reduce((a, b) => (b.views > a.views ? b : a), { day: '', views: 0 });
  const hours = byHour(days);
  const hour = hours.indexOf(Math.max(...hours));
  const whole = days.filter(({ isPartial }) => isPartial !== true);
  const compared = [
    ...(isTodayOnly ? [] : [totalOf(summary, whole)]),
    ...(today === undefined ? [] : [todaySoFar(today)]),
  ];
  if (summary.views === 0) return figuresIn(compared, 'compared');
  const others = [
    ...(whole.length === 0 ? [] : [viewsADay(whole, days)]),
    ...(isTodayOnly ? [] : [figure(dayInWords(busiest.day), 'busiest day')]),
    figure(clockOf(hour), 'busiest hour'),
    quietestWeekday(whole) ??
      figure(`${pages.isExact ? '' : '> '}${grouped(pages.distinct)}`, 'different pages'),
  ];
  return figuresIn(compared, 'compared') + figuresIn(others);
}

const figuresIn = (items: readonly string[], kind = ''): string =>
  `<ul class="figures ${kind}">${items.join('')}</ul>`;

/** @param remarks under it, in a line each. */
const figure = (number: string, what: string, remarks: readonly string[] = []): string =>
  `<li><b>${escapeHtml(number)}</b><span>${what}</span>` +
  `${remarks.map((remark) => `<small>${remark}</small>`).join('')}</li>`;

/** @param whole the days that are over. */
function totalOf({ views, before }: Summary, whole: readonly Day[]): string {
  const what = views === 1 ? 'view' : 'views';
  const gaps = whole.length - withoutGaps(whole).length;
  const missing = gaps === 0 ? [] : [`${plural(gaps, 'day')} of these had no view at all`];
  if (before === undefined) return figure(grouped(views), what, missing);
  const days = lengthOf(before);
  const when = days === 1 ? 'on the day before' : `in the ${grouped(days)} days before`;
  return figure(grouped(views), what, [changed(views, before.views, when), ...missing]);
}

function todaySoFar({ day, views, yesterday, weekAgo }: NonNullable<Summary['today']>): string {
  const lastWeek = `last ${weekdayOf(day)} by now`;
  return figure(grouped(views), 'today so far', [
    ...(weekAgo === undefined ? [] : [changed(views, weekAgo, lastWeek)]),
    changed(views, yesterday, 'yesterday by now'),
  ]);
}

function changed(count: number, before: number, when: string): string {
  if (count === before) return `the same as ${when}`;
  const [number, part] = changeOf(count, before);
  return `${number} (${part}) against ${grouped(before)} ${when}`;
}

/** @param whole the days that are over. */
function viewsADay(whole: readonly Day[], days: readonly Day[]): string {
  const told = withoutGaps(whole);
  const left = [
    ...(whole.length < days.length ? ['today'] : []),
    ...(told.length < whole.length
      ? [`${plural(whole.length - told.length, 'day')} that had none`]
      : []),
  ];
  const without = left.length === 0 ? '' : `, without ${left.join(' and ')}`;
  const of = `average of ${plural(told.length, 'full day')}${without}`;
  return figure(grouped(average(told)), 'views a day', [of]);
}

/** `undefined` where a weekday is missing. */
function quietestWeekday(whole: readonly Day[]): string | undefined {
  const told = withoutGaps(whole);
  const week = Array.from({ length: 7 }, (_, number) =>
    told.filter(({ day }) => weekdayNumber(day) === number),
  );
  if (week.some((days) => days.length === 0)) return undefined;
  const [quietest] = week.toSorted((a, b) => average(a) - average(b));
  const views = grouped(average(quietest!));
  return figure(weekdayOf(quietest![0]!.day), 'quietest weekday', [`${views} views a day`]);
}

const average = (days: readonly Day[]): number =>
  Math.round(days.reduce((sum, { views }) => sum + views, 0) / days.length);
