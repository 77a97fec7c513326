import { clip, plural } from '../base/text.ts';
import { hourInWords } from './charts.ts';
import { escapeHtml } from './escape.ts';
import { average, type Day, fullDays, lastWeeks, type LikeForLike, likeForLike } from './gaps.ts';
import { daysInShort, quietInWords } from './gaps-in-words.ts';
import { isNamedSource, NO_SOURCE } from './sources.ts';
import { byHour, hasWeeks, weekOf } from './by-time.ts';
import type { Summary } from './summary.ts';
import {
  beforeInWords,
  campaignInWords,
  changeInWords,
  countOf,
  dayInWords,
  grouped,
  share,
  sourceInWords,
  timeMade,
  weekdayOf,
  wholesOf,
} from './words.ts';

/** The numbers at the head of the page: the two that are compared, then the others. */
export function figures(summary: Summary): string {
  const { days, today, views } = summary;
  const isTodayOnly = today !== undefined && days.length === 1 && days[0]!.day === today.day;
  const whole = fullDays(days);
  const like = likeForLike(summary);
  const compared = [
    ...(isTodayOnly ? [] : [totalOf(summary, whole, like)]),
    ...(today === undefined ? [] : [todaySoFar(summary, today)]),
  ];
  if (views === 0) return cardsIn(compared, 'compared');
  const others = [
    // Where days are missing, the first card has the average.
    ...(whole.length === 0 || like !== undefined
      ? []
      : [usualDay(whole, days, quietInWords(summary).length > 0)]),
    ...busiestWeekday(whole),
    busiestHour(summary, isTodayOnly ? ' so far' : ''),
    ...(isTodayOnly ? [] : [busiestDay(days)]),
    ...topSource(summary),
    ...topCampaign(summary),
  ];
  return cardsIn(compared, 'compared') + cardsIn(others, others.length > 5 ? 'rows' : '');
}

const cardsIn = (items: readonly string[], kind = ''): string =>
  `<ul class="figures ${kind}">${items.join('')}</ul>`;

const card = (content: string): string => `<li>${content}</li>`;

const figure = (number: string, what: string, kind = ''): string =>
  `<p${kind && ` class="${kind}"`}><b>${escapeHtml(number)}</b><span>${what}</span></p>`;

const remark = (text: string): string => `<small>${escapeHtml(text)}</small>`;

interface Change {
  readonly count: number;
  readonly before: number;
  /** What `before` is of. */
  readonly when: string;
  /** Between how much and `when`: `a day`. */
  readonly each?: string;
  readonly kind?: string;
}

/** `↑ 12 % more` `than the 7 days before: 3,047` */
function change({ count, before, when, each = '', kind = '' }: Change): string {
  const [much, word] = changeInWords(count, before);
  const arrow = word === 'as' ? '' : count < before ? '↓' : '↑';
  // The words say it too.
  const sign = arrow && `<span aria-hidden="true">${arrow}</span> `;
  const what = `${each}${word} ${when}: ${grouped(before)}`;
  return `<p class="change${kind}"><b>${sign}${escapeHtml(much)}</b><span>${what}</span></p>`;
}

/** @param whole the days that are over. */
function totalOf(summary: Summary, whole: readonly Day[], like: LikeForLike | undefined): string {
  const { views, before, days } = summary;
  const among = days.length > 1 ? ` in ${grouped(days.length)} days` : '';
  const what = `${views === 1 ? 'view' : 'views'}${among}`;
  const isCompared = before !== undefined && views + before.views > 0;
  const when = before === undefined ? '' : beforeInWords(before);
  const total =
    like === undefined
      ? figure(grouped(views), what) +
        (isCompared ? change({ count: views, before: before.views, when }) : '')
      : averageOf(like) +
        figure(grouped(views), what, 'also') +
        (isCompared ? figure(grouped(before.views), `in ${when}`, 'change also') : '');
  const remarks = [...(like === undefined ? [] : gaps(like, when)), ...quietInWords(summary)];
  return card(total + lastDays(days, whole) + remarks.map(remark).join(''));
}

/** Totals of different numbers of days are no comparison. */
const averageOf = ({ count, before }: LikeForLike): string =>
  figure(grouped(count), 'views a day') +
  (before === undefined ? '' : change({ count, before, when: 'before', each: 'a day ' }));

function gaps({ gaps, gapsBefore, firstDay, seenDays }: LikeForLike, before: string): string[] {
  return [
    ...(firstDay === undefined ? [] : [`No view before ${daysInShort([firstDay])}`]),
    ...(gaps.length > 0 ? [`${daysInShort(gaps)} had no view at all`] : []),
    ...(gapsBefore.length > 0
      ? [`Of ${before}, ${daysInShort(gapsBefore)} had no view at all`]
      : []),
    `A day: average of the ${plural(seenDays, 'full day')} that had views`,
  ];
}

/** Of a longer span, how it stands at its end. */
function lastDays(days: readonly Day[], whole: readonly Day[]): string {
  const weeks = lastWeeks(days);
  if (weeks === undefined) return '';
  const { count, before, isAverage } = weeks;
  const what = `in the last 7 ${whole.length < days.length ? 'full ' : ''}days`;
  const [each, when] = isAverage ? ['a day ', 'in the 7 before'] : ['', 'the 7 before'];
  return (
    figure(grouped(count), `${each}${what}`, 'also') +
    change({ count, before, when, each, kind: ' also' })
  );
}

function todaySoFar(summary: Summary, today: NonNullable<Summary['today']>): string {
  const { day, views: count, yesterday, weekAgo } = today;
  const by = `by ${timeMade(summary)}`;
  const week = { count, when: `last ${weekdayOf(day)} ${by}`, kind: ' also' };
  return card(
    figure(grouped(count), 'today so far') +
      change({ count, before: yesterday, when: `yesterday ${by}` }) +
      (weekAgo === undefined ? '' : change({ ...week, before: weekAgo })),
  );
}

function busiestHour({ days, views }: Summary, soFar: string): string {
  const hours = byHour(days);
  const most = Math.max(...hours);
  return card(
    figure(hourInWords(hours.indexOf(most)), `busiest hour${soFar}`) +
      remark(`${share(most, views)} of all views`),
  );
}

function busiestDay(days: readonly Day[]): string {
  const { day, views } = days.reduce((a, b) => (b.views > a.views ? b : a));
  return card(figure(dayInWords(day), 'busiest day') + remark(countOf(views)));
}

/**
 * @param whole the days that are over, none of them missing.
 * @param isQuiet whether a project of several had days without a view.
 */
function usualDay(whole: readonly Day[], days: readonly Day[], isQuiet: boolean): string {
  const without = whole.length < days.length ? ' without today' : '';
  const isWhole = whole.length >= 7 && whole.every(({ views }) => views > 0);
  const missing = isWhole && !isQuiet ? '; no day missing' : '';
  const of = `average of ${plural(whole.length, 'full day')}${without}${missing}`;
  return card(figure(grouped(average(whole)), 'views on a usual day') + remark(of));
}

/** None where there is too little of a weekday. */
function busiestWeekday(whole: readonly Day[]): string[] {
  if (!hasWeeks(whole)) return [];
  const ranked = weekOf(whole)
    .toSorted((a, b) => average(b) - average(a))
    .map((days) => ({ name: weekdayOf(days[0]!.day), views: average(days) }));
  const [busiest, quietest] = [ranked[0]!, ranked.at(-1)!];
  const fewest = `fewest on ${quietest.name}: ${grouped(quietest.views)}`;
  return [
    card(
      figure(busiest.name, 'busiest weekday') +
        remark(`${countOf(busiest.views)} a day; ${fewest}`),
    ),
  ];
}

/** Longer ones are read in their list. */
const NAME_LENGTH_MAX = 40;

const namedCard = (name: string, what: string, told: string): string =>
  card(
    `<p><b class="name"><bdi>${escapeHtml(clip(name, NAME_LENGTH_MAX))}</bdi></b>` +
      `<span>${what}</span></p>${remark(told)}`,
  );

/** The first that has a name: that most views have none is no answer. */
function topSource(summary: Summary): string[] {
  const { top } = summary.referrers;
  const { total } = wholesOf(summary).sources;
  const first = top.find(({ key }) => isNamedSource(key)) ?? top[0];
  if (first === undefined) return [];
  const unknown = top.find(({ key }) => key === NO_SOURCE && key !== first.key);
  const rest = unknown === undefined ? '' : `; ${share(unknown.count, total)} direct or unknown`;
  const told = `${share(first.count, total)} of views from elsewhere${rest}`;
  return [namedCard(sourceInWords(first.key), 'top source', told)];
}

function topCampaign(summary: Summary): string[] {
  const [first] = summary.campaigns.top;
  if (first === undefined) return [];
  const { name, rest } = campaignInWords(first.key);
  const part = `${share(first.count, summary.campaignViews)} of ${countOf(summary.campaignViews)} with a campaign`;
  const told = [...rest.map((tag) => clip(tag, NAME_LENGTH_MAX)), part].join(', ');
  return [namedCard(name, 'top campaign', told)];
}
