import { plural, printable } from '../base/text.ts';
import { byHour, grouped, type List, periods, scopeOf, share, type Summary } from './summary.ts';

const DAYS_MAX = 62;
const LABEL_LENGTH_MAX = 48;
const BAR_WIDTH_MIN = 10;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** The report for a terminal of so many columns. */
export function terminalReport(summary: Summary, columns: number): string {
  const { views, days, invalidLines, timeZone, refused } = summary;
  const bars = (title: string, rows: readonly Row[], total = views): string[] =>
    section(title, rows, total, columns);
  const several = summary.projects.distinct > 1;
  return [
    `${grouped(views)} ${views === 1 ? 'view' : 'views'}: ${scopeOf(summary)} (${timeZone})`,
    ...bars(
      days.length > DAYS_MAX ? 'Months' : 'Days',
      periods(days, DAYS_MAX).map(({ name, views }) => [name, views]),
    ),
    ...bars(
      'Hours',
      days.length === 0
        ? []
        : byHour(days).map((count, hour) => [`${String(hour).padStart(2, '0')}:00`, count]),
    ),
    ...(several ? bars(titleOf('Projects', summary.projects), rowsOf(summary.projects)) : []),
    ...bars(
      titleOf('Pages', summary.pages),
      summary.pages.top.map(({ key, count }) => [
        `${several ? `${key.project} ` : ''}${key.url}${key.name && ` (${key.name})`}`,
        count,
      ]),
    ),
    ...bars(titleOf('Referrers', summary.referrers), rowsOf(summary.referrers)),
    ...bars(titleOf('Languages', summary.languages), rowsOf(summary.languages)),
    ...bars(titleOf('Templates', summary.templates), rowsOf(summary.templates)),
    ...bars(
      titleOf('Refused views that were kept', refused),
      refused.top.map(({ key, count }) => [`${key.code} ${key.project}`, count]),
      refused.views,
    ),
    ...(invalidLines > 0
      ? ['', `${plural(invalidLines, 'invalid line')} skipped; viewlog verify says which`]
      : []),
  ].join('\n');
}

type Row = readonly [label: string, count: number];

const rowsOf = (list: List<string>): Row[] => list.top.map(({ key, count }) => [key, count]);

/** `Pages (10 of 5,000)` */
export function titleOf(noun: string, { top, distinct, isExact }: List<unknown>): string {
  const of = `${isExact ? '' : 'more than '}${grouped(distinct)}`;
  const shown = top.length < distinct ? ` (${top.length} of ${of})` : '';
  return `${noun}${shown}${isExact ? '' : ', counts approximate'}`;
}

function section(title: string, rows: readonly Row[], total: number, columns: number): string[] {
  if (rows.length === 0) return [];
  const labels = rows.map(([label]) => printable(label, LABEL_LENGTH_MAX));
  const counts = rows.map(([, count]) => grouped(count));
  const labelWidth = Math.max(...labels.map(widthOf));
  const countWidth = Math.max(...counts.map((text) => text.length));
  const barWidth = Math.max(BAR_WIDTH_MIN, columns - labelWidth - countWidth - 14);
  const most = Math.max(...rows.map(([, count]) => count), 1);
  const lines = rows.map(([, count], i) => {
    const label = labels[i]! + ' '.repeat(labelWidth - widthOf(labels[i]!));
    const bar = barOf((count / most) * barWidth);
    return `  ${label}  ${counts[i]!.padStart(countWidth)} ${share(count, total).padStart(7)}  ${bar}`;
  });
  return ['', title, ...lines.map((line) => line.trimEnd())];
}

function barOf(width: number): string {
  const eighths = Math.round(width * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Extended_Pictographic}/gu;

/** Columns on a terminal: East Asian characters and pictures take two. */
function widthOf(text: string): number {
  return Array.from(text).length + (text.match(WIDE)?.length ?? 0);
}
