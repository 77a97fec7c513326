import { plural } from '../base/format.ts';
import { columnOf, widthOf } from '../base/text.ts';
import { printable } from '../base/text.ts';
import { lastWeeks, type LikeForLike, likeForLike, scaleBefore } from './gaps.ts';
import { likeForLikeInWords, quietInWords } from './gaps-in-words.ts';
import { byHour, periods } from './by-time.ts';
import type { List, Summary } from './summary.ts';
import {
  beforeInWords,
  campaignInWords,
  changeInWords,
  changeOf,
  countOf,
  faultsOf,
  grouped,
  idInWords,
  languageInWords,
  projectInWords,
  share,
  sourceInWords,
  spanTold,
  titleOf,
  weekdayOf,
  type Whole,
  wholeInShort,
  wholesOf,
} from './words.ts';

const DAYS_MAX = 62;
const SPANS_MAX = 5;
const LABEL_LENGTH_MAX = 48;
const BAR_WIDTH_MIN = 10;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** The report for a terminal of so many columns. */
export function terminalReport(summary: Summary, columns: number): string {
  const { days, projects, internalViews, before } = summary;
  const faults = faultsOf(summary).map((fault) => `${fault}; viewlog verify says which`);
  const told = faults.length === 0 ? [] : ['', ...faults];
  if (summary.views === 0) return [...headOf(summary), ...told].join('\n');
  const wholes = wholesOf(summary);
  const scale = scaleBefore(summary);
  const bars = (title: string, rows: readonly Row[], whole: Whole = wholes.all): string[] =>
    section(`${title}, ${wholeInShort(whole)}${since(rows)}`, rows, whole.total, columns, scale);
  const since = ([row]: readonly Row[]): string =>
    before === undefined || scale === undefined || row?.before === undefined
      ? ''
      : `, change from ${beforeInWords(before)}`;
  const list = <T>(
    noun: string,
    listed: List<T>,
    label: (key: T) => string,
    whole: Whole = wholes.all,
  ) => bars(titleOf(noun, listed), rowsOf(listed, label), whole);
  const several = projects.distinct > 1;
  const page = ({ project, url, name }: Page): string =>
    `${several ? `${projectInWords(summary, project)} ` : ''}${url}${name && ` (${name})`}`;
  const campaign = (key: Campaign): string => {
    const { name, rest } = campaignInWords(key);
    return rest.length === 0 ? name : `${name} (${rest.join(', ')})`;
  };
  return [
    ...headOf(summary),
    ...bars(
      days.length > DAYS_MAX ? 'Months' : 'Days',
      periods(days, DAYS_MAX).map(({ name, views, isPartial }) => ({
        label: `${weekdayBefore(name)}${name}${isPartial ? ' so far' : ''}`,
        count: views,
      })),
    ),
    ...(several ? list('Projects', projects, (id) => projectInWords(summary, id)) : []),
    ...list('Pages', summary.pages, page),
    ...list('Sources', summary.referrers, sourceInWords, wholes.sources),
    ...(internalViews > 0 ? [`  and ${countOf(internalViews)} from the site's own pages`] : []),
    ...list('Campaigns', summary.campaigns, campaign, wholes.campaigns),
    ...list('Entry pages', summary.entryPages, page, wholes.entries),
    ...bars('Hours', hoursOf(summary)),
    ...list('Languages', summary.languages, languageInWords),
    ...list('Templates', summary.templates, idInWords),
    ...silence(summary),
    ...told,
  ].join('\n');
}

type Page = Summary['pages']['top'][number]['key'];
type Campaign = Summary['campaigns']['top'][number]['key'];

interface Row {
  readonly label: string;
  readonly count: number;
  readonly before?: number | undefined;
}

const rowsOf = <T>({ top }: List<T>, label: (key: T) => string): Row[] =>
  top.map(({ key, count, before }) => ({ label: label(key), count, before }));

const hoursOf = ({ days }: Summary): Row[] =>
  days.length === 0
    ? []
    : byHour(days).map((count, hour) => ({
        label: `${String(hour).padStart(2, '0')}:00`,
        count,
      }));

/** What the report is about: `7 views: all projects, 2026-01-01 to 2026-01-31 (UTC)`. */
function headOf(summary: Summary): string[] {
  const { views, project, timeZone, today } = summary;
  const about =
    project === undefined ? 'all projects' : printable(projectInWords(summary, project));
  const told = spanTold(summary);
  const span = told === undefined ? 'no day' : `${told.fromDay} to ${told.toDay}`;
  const lines = [`${countOf(views)}: ${about}, ${span} (${timeZone})`];
  lines.push(...comparison(summary), ...quietInWords(summary).map((line) => printable(line)));
  const weeks = lastWeeks(summary.days);
  if (weeks !== undefined) {
    const { count, before, averagedDays } = weeks;
    const [each, which] =
      averagedDays === undefined
        ? ['', '']
        : [' a day', `, on ${plural(averagedDays, 'day')} with views in both`];
    const told = toldChange(count, before, `the 7 before${which}`, each);
    lines.push(`Last 7 full days ${countOf(count)}${each}: ${told}`);
  }
  if (today !== undefined) {
    const { views, yesterday, weekAgo } = today;
    lines.push(`Today so far ${countOf(views)}`);
    lines.push(`  ${toldChange(views, yesterday, 'yesterday by now')}`);
    if (weekAgo !== undefined) {
      lines.push(`  ${toldChange(views, weekAgo, `last ${weekdayOf(today.day)} by now`)}`);
    }
  }
  return lines;
}

/** How the days asked for compare with those before: by the day where some had no view at all. */
function comparison(summary: Summary): string[] {
  const { views, before } = summary;
  const like = likeForLike(summary);
  const which = before !== undefined && before.fromDay !== before.toDay ? ', the last day' : '';
  const cut = before?.isCut ? `${which} up to this time of day` : '';
  const days = before === undefined ? '' : `${before.fromDay} to ${before.toDay}`;
  if (like === undefined) {
    const isCompared = before !== undefined && views + before.views > 0;
    return isCompared ? [toldChange(views, before.views, days + cut)] : [];
  }
  const when = before === undefined ? '' : beforeInWords(before);
  return [
    `${grouped(like.count)} a day${averageChange(like)}`,
    ...likeForLikeInWords(like, when),
    ...(before === undefined ? [] : [`${days}${cut}: ${countOf(before.views)}`]),
    ...(like.before === undefined ? [] : ['Changes in the lists are of days that had views']),
  ];
}

/** `, 12 % more a day than the 671 before` */
function averageChange({ count, before }: LikeForLike): string {
  if (before === undefined) return '';
  const [much, word] = changeInWords(count, before);
  return `, ${much} a day ${word} the ${grouped(before)} before`;
}

/** `12 % more than the 3,047 of yesterday by now` */
function toldChange(count: number, before: number, when: string, each = ''): string {
  const [much, word] = changeInWords(count, before);
  return `${much}${each} ${word} the ${grouped(before)} of ${when}`;
}

/** Of a day, not of a month. */
const weekdayBefore = (name: string): string =>
  name.length > 'YYYY-MM'.length ? `${weekdayOf(name).slice(0, 3)} ` : '';

function silence(summary: Summary): string[] {
  const lines = summary.silentDays.map(({ project, days, spans }) => {
    const told = spans
      .slice(-SPANS_MAX)
      .map(({ fromDay, toDay }) => (fromDay === toDay ? fromDay : `${fromDay} to ${toDay}`));
    const more = spans.length > told.length ? 'the last: ' : '';
    const name = printable(projectInWords(summary, project), LABEL_LENGTH_MAX);
    return `  ${name}: ${plural(days, 'day')}, ${more}${told.join(', ')}`;
  });
  return lines.length === 0 ? [] : ['', 'Days without views', ...lines];
}

/** @param scale what counts before are multiplied by; `undefined` where they are not compared. */
function section(
  title: string,
  rows: readonly Row[],
  total: number,
  columns: number,
  scale: number | undefined,
): string[] {
  if (rows.length === 0) return [];
  const labels = columnOf(
    rows.map(({ label }) => printable(label, LABEL_LENGTH_MAX)),
    false,
  );
  const counts = columnOf(rows.map(({ count }) => grouped(count)));
  const changes = columnOf(
    rows.map(({ count, before }) =>
      before === undefined || scale === undefined ? '' : changeOf(count, before * scale),
    ),
  );
  const isCompared = changes[0] !== '';
  const used = widthOf(labels[0]!) + counts[0]!.length + (isCompared ? changes[0]!.length + 2 : 0);
  const barWidth = Math.max(BAR_WIDTH_MIN, columns - used - 12);
  const most = Math.max(...rows.map(({ count }) => count), 1);
  const lines = rows.map(({ count }, i) => {
    const bar = barOf((count / most) * barWidth);
    const change = isCompared ? `  ${changes[i]!}` : '';
    return `  ${labels[i]!}  ${counts[i]!} ${share(count, total).padStart(5)}${change}  ${bar}`;
  });
  return ['', title, ...lines.map((line) => line.trimEnd())];
}

function barOf(width: number): string {
  const eighths = Math.round(width * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
}
