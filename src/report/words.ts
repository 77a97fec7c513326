import { plural } from '../base/format.ts';
import { once } from '../base/once.ts';
import { NO_SOURCE, OTHER_ADDRESS } from './sources.ts';
import { lengthOf, type Span } from './span.ts';
import type { List, Summary } from './summary.ts';

// How a report says things to a site's owner.

const thousands = once(() => new Intl.NumberFormat('en', { maximumFractionDigits: 0 }));

/** `12,345`; of an average, the nearest whole number. */
export const grouped = (count: number): string => thousands().format(count);

/** `12 %` */
export function share(count: number, total: number): string {
  const percent = total === 0 ? 0 : (100 * count) / total;
  return count > 0 && percent < 1 ? '<1 %' : `${Math.round(percent)} %`;
}

/** What shares are of. */
export interface Whole {
  /** Views. */
  readonly total: number;
  /** Which views they are, where they are not all: how many all are, and what these did. */
  readonly part?: { readonly of: number; readonly which: string; readonly did: string };
}

/** `shares of 1,234 views with a campaign` */
export const wholeInShort = ({ total, part }: Whole): string =>
  `shares of ${countOf(total)}${part === undefined ? '' : ` ${part.which}`}`;

/** `Shares of 1,234 views`, `Of 1,234 views 56 had a campaign; shares are of these` */
export const wholeInWords = ({ total, part }: Whole): string =>
  part === undefined || part.of === total
    ? `Shares of ${countOf(total)}`
    : `Of ${countOf(part.of)} ${grouped(total)} ${part.did}; shares are of these`;

/** `1,234 views` */
export const countOf = (views: number): string =>
  `${grouped(views)} ${views === 1 ? 'view' : 'views'}`;

/** The whole of each list's shares. */
export function wholesOf({ views, internalViews, campaignViews, entryViews }: Summary) {
  const entries = {
    total: entryViews,
    part: { of: views, which: 'that began a visit', did: 'began a visit' },
  };
  const total = views - internalViews;
  // They are more where later views of a visit tell its first referrer.
  const later = {
    of: views,
    which: 'of visits from elsewhere',
    did: 'were of visits from elsewhere',
  };
  return {
    all: { total: views },
    sources: total === entryViews ? entries : { total, part: later },
    campaigns: {
      total: campaignViews,
      part: { of: views, which: 'with a campaign', did: 'had a campaign' },
    },
    entries,
  };
}

/** `Pages (10 of 5,000)` */
export function titleOf(noun: string, { top, distinct, isExact }: List<unknown>): string {
  const of = `${isExact ? '' : 'more than '}${grouped(distinct)}`;
  const shown = top.length < distinct ? ` (${top.length} of ${of})` : '';
  return `${noun}${shown}${isExact ? '' : ', counts approximate'}`;
}

/** Of fewer views before, one more is more than a percent: their change is told in views. */
const PERCENT_FROM = 100;

/** How much more or less than before: `12 %`, `3`; `0 %` may be a few views. */
function difference(count: number, before: number): string {
  const change = Math.round(Math.abs(count - before));
  return before < PERCENT_FROM
    ? grouped(change)
    : `${grouped(Math.round((100 * change) / before))} %`;
}

/** `+12 %`, `−3 views`, `±0 views`, `new` */
export function changeOf(count: number, before: number): string {
  if (before === 0 && count > 0) return 'new';
  const number = difference(count, before);
  const unit = before >= PERCENT_FROM ? '' : number === '1' ? '\u00a0view' : '\u00a0views';
  if (/^0\b/.test(number)) return `±${number}${unit}`;
  return `${count < before ? '−' : '+'}${number}${unit}`;
}

/** How many, and what follows it: `12 % more` `than`, `as many` `as`. */
export function changeInWords(
  count: number,
  before: number,
): readonly [much: string, word: 'than' | 'as'] {
  const number = difference(count, before);
  if (count === before) return ['as many', 'as'];
  if (/^0\b/.test(number)) return ['about as many', 'as'];
  return [`${number} ${count < before ? 'fewer' : 'more'}`, 'than'];
}

/** What the files had that could not be read, a sentence each. */
export const faultsOf = ({ invalidLines, brokenFiles }: Summary): string[] => [
  ...(invalidLines > 0 ? [`${plural(invalidLines, 'invalid line')} skipped`] : []),
  ...(brokenFiles > 0
    ? [`${plural(brokenFiles, 'packed file')} broken off, so views are missing`]
    : []),
];

const dayFormat = (parts: Intl.DateTimeFormatOptions) =>
  once(() => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', ...parts }));

const longDay = dayFormat({ month: 'long', year: 'numeric' });
const shortDay = dayFormat({ weekday: 'short', month: 'short' });
const tickDay = dayFormat({ month: 'short' });

/** `1 – 14 March 2026`, `Sunday 1 March 2026` */
export const spanInWords = ({ fromDay, toDay }: Span): string =>
  fromDay === toDay
    ? `${weekdayOf(fromDay)} ${longDay().format(new Date(fromDay))}`
    : longDay().formatRange(new Date(fromDay), new Date(toDay));

/** `Mon 9 Mar` */
export const dayInWords = (day: string): string =>
  shortDay().format(new Date(day)).replace(',', '');

/** The span before: `the 7 days before` */
export function beforeInWords(before: Span): string {
  const days = lengthOf(before);
  return days === 1 ? 'the day before' : `the ${grouped(days)} days before`;
}

/** `1 – 14 Mar`, `26 Feb – 1 Mar`; a line may end within the second only, and at its dash. */
export const spanInShort = ({ fromDay, toDay }: Span): string =>
  tickDay()
    .formatRange(new Date(fromDay), new Date(toDay))
    .replaceAll(' ', '\u00a0')
    .replace(/^(\d+)\s–\s/, '$1\u202f–\u202f');

/** `9 Mar` */
export const tickOf = (day: string): string => tickDay().format(new Date(day));

const longWeekday = once(() => new Intl.DateTimeFormat('en', { timeZone: 'UTC', weekday: 'long' }));

/** `Monday` */
export const weekdayOf = (day: string): string => longWeekday().format(new Date(day));

/** The days that the report is about; `undefined` where it has none. */
export function spanTold({ fromDay, toDay, days }: Summary): Span | undefined {
  const from = fromDay ?? days[0]?.day;
  const to = toDay ?? days.at(-1)?.day;
  return from === undefined || to === undefined ? undefined : { fromDay: from, toDay: to };
}

/** When the report was made, and so up to when today counts: `12:00` */
export const timeMade = ({ madeAt, timeZone }: Summary): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' }).format(new Date(madeAt));

/** A project by its name, where it has one. */
export const projectInWords = ({ projectNames }: Summary, id: string): string =>
  projectNames[id] ?? (id === '(others)' ? 'Other projects' : `Project ${id}`);

/** The one site that the report is about. */
export function siteOf(summary: Summary): string | undefined {
  const { project, projects, silentDays } = summary;
  const told =
    projects.distinct > 0
      ? projects.top.map(({ key }) => key)
      : silentDays.map(({ project }) => project);
  const id = project ?? (projects.distinct > 1 || told.length > 1 ? undefined : told[0]);
  return id === undefined ? undefined : projectInWords(summary, id);
}

export function sourceInWords(source: string): string {
  if (source === NO_SOURCE) return 'Direct or unknown';
  return source === OTHER_ADDRESS ? 'Not an address' : source;
}

/** An id that a view need not have. */
export const idInWords = (id: string): string => (id === '(none)' ? 'Not told' : id);

const languages = once(() => new Intl.DisplayNames('en', { type: 'language' }));

/** `nb-NO` as `Norwegian Bokmål (Norway)`. */
export function languageInWords(tag: string): string {
  try {
    return tag === '(none)' ? 'Not told' : (languages().of(tag) ?? tag);
  } catch {
    return tag; // the line was not written by a collector
  }
}

/** `spring-sale`, and where it came from: `newsletter`, `email`. */
export function campaignInWords(key: Summary['campaigns']['top'][number]['key']) {
  const [name = '', ...rest] = [key.campaign, key.source, key.medium].filter((tag) => tag !== '');
  return { name, rest };
}
