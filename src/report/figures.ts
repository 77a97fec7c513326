import { plural } from '../base/format.ts';
import { clip } from '../base/text.ts';
import { hourInWords } from './charts.ts';
import { escapeHtml } from './escape.ts';
import {
  average,
  type Day,
  fullDays,
  lastWeeks,
  type LikeForLike,
  likeForLike,
  withoutGaps,
} from './gaps.ts';
import { likeForLikeInWords, quietInWords } from './gaps-in-words.ts';
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
  projectInWords,
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
  const told = withoutGaps(whole);
  const like = likeForLike(summary);
  const compared = [
    ...(isTodayOnly ? [] : [totalOf(summary, whole, like)]),
    ...(today === undefined ? [] : [todaySoFar(summary, today)]),
  ];
  if (views === 0) return comparedCards(compared);
  const others = [
    // Where days are missing, the first card has an average: of these, or of some of them.
    ...(told.length === 0 || like?.averagedDays === told.length
      ? []
      : [usualDay(told, whole, days, like !== undefined || quietInWords(summary).length > 0)]),
    ...busiestWeekday(whole),
    busiestHour(summary, isTodayOnly ? ' so far' : ''),
    ...(isTodayOnly ? [] : [busiestDay(days)]),
    ...topPage(summary),
    ...topSource(summary),
    ...campaigns(summary),
  ];
  return comparedCards(compared) + inColumns(others);
}

const comparedCards = (items: readonly string[]): string =>
  `<ul class="figures compared">${items.join('')}</ul>`;

const COLUMNS_MAX = 4;

/** In one row, or in two, of which the last card fills the second. */
function inColumns(items: readonly string[]): string {
  const [kind, columns] =
    items.length > COLUMNS_MAX ? [' rows', Math.ceil(items.length / 2)] : ['', items.length];
  return `<ul class="figures${kind}" style="--columns: ${columns}">${items.join('')}</ul>`;
}

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
  const beforeInAll = before?.views ? `; ${grouped(before.views)} in ${when}` : '';
  const total =
    like === undefined
      ? figure(grouped(views), what) +
        (isCompared ? change({ count: views, before: before.views, when }) : '') +
        (before !== undefined && !isCompared ? remark(`None in ${when} either`) : '')
      : averageOf(like) +
        remark(likeForLikeInWords(like, when).join('. ')) +
        remark(`In all: ${grouped(views)} ${what}${beforeInAll}`);
  return card(total + lastDays(days, whole) + quietInWords(summary).map(remark).join(''));
}

/** Totals of different numbers of days are no comparison. */
const averageOf = ({ count, before }: LikeForLike): string =>
  figure(grouped(count), 'views a day') +
  (before === undefined ? '' : change({ count, before, when: 'before', each: 'a day ' }));

/** Of a longer span, how it stands at its end. */
function lastDays(days: readonly Day[], whole: readonly Day[]): string {
  const weeks = lastWeeks(days);
  if (weeks === undefined) return '';
  const { count, before, averagedDays } = weeks;
  const what = `in the last 7 ${whole.length < days.length ? 'full ' : ''}days`;
  const [each, when] =
    averagedDays === undefined
      ? ['', 'the 7 before']
      : ['a day ', `in the 7 before, on ${plural(averagedDays, 'day')} with views in both`];
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
 * @param told the days that are averaged, of those that are over.
 * @param hasGaps whether days are missing, in the span before too, or of one project of several.
 */
function usualDay(
  told: readonly Day[],
  whole: readonly Day[],
  days: readonly Day[],
  hasGaps: boolean,
): string {
  const seen = told.length < whole.length ? ' that had views' : '';
  const without = whole.length < days.length ? ' without today' : '';
  const isWhole = whole.length >= 7 && whole.every(({ views }) => views > 0);
  const missing = isWhole && !hasGaps ? '; no day missing' : '';
  const of = `average of ${plural(told.length, 'full day')}${seen}${without}${missing}`;
  return card(figure(grouped(average(told)), 'views on a usual day') + remark(of));
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

/** A stranger's text in a remark, whichever way it is written. */
const bdi = (text: string): string => `<bdi>${escapeHtml(clip(text, NAME_LENGTH_MAX))}</bdi>`;

const namedCard = (name: string, what: string, told: string): string =>
  card(`<p><b class="name">${bdi(name)}</b><span>${what}</span></p><small>${told}</small>`);

function topPage(summary: Summary): string[] {
  const { pages, projects, views } = summary;
  const [first] = pages.top;
  if (first === undefined) return [];
  const { url, name, project } = first.key;
  const site = projects.distinct > 1 ? projectInWords(summary, project) : '';
  const faint = [name, site].filter((text) => text !== '').map(bdi);
  return [
    namedCard(url, 'top page', [...faint, `${share(first.count, views)} of all views`].join(', ')),
  ];
}

/** The first that has a name: that most views have none is no answer. */
function topSource(summary: Summary): string[] {
  const { top } = summary.referrers;
  const { total, part } = wholesOf(summary).sources;
  const first = top.find(({ key }) => isNamedSource(key)) ?? top[0];
  if (first === undefined) return [];
  const unknown = top.find(({ key }) => key === NO_SOURCE && key !== first.key);
  const rest = unknown === undefined ? '' : `; ${share(unknown.count, total)} direct or unknown`;
  const told = `${share(first.count, total)} of views ${part.which}${rest}`;
  const what = unknown === undefined ? 'top source' : 'top known source';
  return [namedCard(sourceInWords(first.key), what, told)];
}

/** How many views came with any, and the strongest of them as their table names it. */
function campaigns({ views, campaignViews, campaigns }: Summary): string[] {
  const [first] = campaigns.top;
  if (first === undefined) return [];
  const { name, rest } = campaignInWords(first.key);
  const named = [name, ...(rest.length === 0 ? [] : [rest.join(' · ')])].map(bdi).join(' ');
  return [
    card(
      figure(share(campaignViews, views), 'of views came with a campaign') +
        `<small>${countOf(campaignViews)}, most with ${named}: ${grouped(first.count)}</small>`,
    ),
  ];
}
