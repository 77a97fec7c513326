import { plural } from '../base/text.ts';
import { clockOf } from './charts.ts';
import { escapeHtml } from './escape.ts';
import {
  byHour,
  type Day,
  fullDays,
  gapsBefore,
  lastWeeks,
  type Summary,
  weekdayNumber,
  withoutGaps,
} from './summary.ts';
import {
  beforeInWords,
  changeInWords,
  countOf,
  dayInWords,
  grouped,
  share,
  timeMade,
  weekdayOf,
} from './words.ts';

/** The numbers at the head of the page: the two that are compared, then the others. */
export function figures(summary: Summary): string {
  const { days, pages, today, views } = summary;
  const isTodayOnly = today !== undefined && days.length === 1 && days[0]!.day === today.day;
  const hours = byHour(days);
  const most = Math.max(...hours);
  const whole = fullDays(days);
  const compared = [
    ...(isTodayOnly ? [] : [totalOf(summary, whole)]),
    ...(today === undefined ? [] : [todaySoFar(summary, today)]),
  ];
  if (views === 0) return cardsIn(compared, 'compared');
  const weekday = busiestWeekday(whole);
  // Of one week they are the same.
  const isDayTold = !isTodayOnly && (weekday === undefined || whole.length > 7);
  const others = [
    ...(whole.length === 0 ? [] : [usualDay(whole, days)]),
    ...(weekday === undefined ? [] : [weekday]),
    card(
      figure(clockOf(hours.indexOf(most)), 'busiest hour') +
        remark(`${share(most, views)} of all views`),
    ),
    isDayTold
      ? busiestDay(days)
      : card(figure(`${pages.isExact ? '' : '> '}${grouped(pages.distinct)}`, 'different pages')),
  ];
  return cardsIn(compared, 'compared') + cardsIn(others);
}

const cardsIn = (items: readonly string[], kind = ''): string =>
  `<ul class="figures ${kind}">${items.join('')}</ul>`;

const card = (content: string): string => `<li>${content}</li>`;

const figure = (number: string, what: string, kind = ''): string =>
  `<p${kind && ` class="${kind}"`}><b>${escapeHtml(number)}</b><span>${what}</span></p>`;

const remark = (text: string): string => `<small>${text}</small>`;

/** `12 % more` `than the 7 days before: 3,047` */
function change(count: number, before: number, when: string, kind = ''): string {
  const [much, word] = changeInWords(count, before);
  return figure(much, `${word} ${when}: ${grouped(before)}`, `change${kind}`);
}

/** @param whole the days that are over. */
function totalOf({ views, before, days }: Summary, whole: readonly Day[]): string {
  const among = days.length > 1 ? ` in ${grouped(days.length)} days` : '';
  return card(
    figure(grouped(views), `${views === 1 ? 'view' : 'views'}${among}`) +
      (before === undefined || views + before.views === 0
        ? ''
        : change(views, before.views, beforeInWords(before))) +
      lastDays(days, whole) +
      gaps(whole) +
      gapsOfBefore(before),
  );
}

/** Of a longer span, how it stands at its end. */
function lastDays(days: readonly Day[], whole: readonly Day[]): string {
  const weeks = lastWeeks(days);
  if (weeks === undefined) return '';
  const what = `in the last 7 ${whole.length < days.length ? 'full ' : ''}days`;
  return (
    figure(grouped(weeks.views), what, 'also') +
    change(weeks.views, weeks.before, 'the 7 before', ' also')
  );
}

function gaps(whole: readonly Day[]): string {
  const told = new Set(withoutGaps(whole));
  const gaps = whole.filter((day) => !told.has(day));
  if (gaps.length === 0) return '';
  const late = whole.slice(-14).filter((day) => !told.has(day)).length;
  const when = whole.length > 14 && late > 0 ? `, ${late} of them in the last 14,` : '';
  return remark(
    `${plural(gaps.length, 'day')} of these${when} had no view at all, which lowers the total`,
  );
}

function gapsOfBefore(before: Summary['before']): string {
  const count = before === undefined ? 0 : gapsBefore(before);
  if (before === undefined || count === 0) return '';
  return remark(
    `${grouped(count)} of ${beforeInWords(before)} had no view at all, which lowers their total`,
  );
}

function todaySoFar(summary: Summary, today: NonNullable<Summary['today']>): string {
  const { day, views, yesterday, weekAgo } = today;
  const by = `by ${timeMade(summary)}`;
  const beside = [
    // Weekdays differ more than weeks.
    ...(weekAgo === undefined ? [] : [{ count: weekAgo, when: `last ${weekdayOf(day)} ${by}` }]),
    { count: yesterday, when: `yesterday ${by}` },
  ];
  return card(
    figure(grouped(views), 'today so far') +
      beside
        .map(({ count, when }, i) => change(views, count, when, i === 0 ? '' : ' also'))
        .join(''),
  );
}

function busiestDay(days: readonly Day[]): string {
  const { day, views } = days.reduce((a, b) => (b.views > a.views ? b : a));
  return card(figure(dayInWords(day), 'busiest day') + remark(countOf(views)));
}

/** @param whole the days that are over. */
function usualDay(whole: readonly Day[], days: readonly Day[]): string {
  const told = withoutGaps(whole);
  const left = [
    ...(whole.length < days.length ? ['today'] : []),
    ...(told.length < whole.length
      ? [`${plural(whole.length - told.length, 'day')} that had none`]
      : []),
  ];
  const without = left.length === 0 ? '' : `, without ${left.join(' and ')}`;
  const of = `average of ${plural(told.length, 'full day')}${without}`;
  return card(figure(grouped(average(told)), 'views on a usual day') + remark(of));
}

/** `undefined` where a weekday is missing. */
function busiestWeekday(whole: readonly Day[]): string | undefined {
  const told = withoutGaps(whole);
  const week = Array.from({ length: 7 }, (_, number) =>
    told.filter(({ day }) => weekdayNumber(day) === number),
  );
  if (week.some((days) => days.length === 0)) return undefined;
  const ranked = week
    .toSorted((a, b) => average(b) - average(a))
    .map((days) => ({ name: weekdayOf(days[0]!.day), views: average(days) }));
  const [busiest, quietest] = [ranked[0]!, ranked.at(-1)!];
  return card(
    figure(busiest.name, 'busiest weekday') +
      remark(
        `${countOf(busiest.views)} a day; fewest on ${quietest.name}: ${grouped(quietest.views)}`,
      ),
  );
}

const average = (days: readonly Day[]): number =>
  Math.round(days.reduce((sum, { views }) => sum + views, 0) / days.length);
