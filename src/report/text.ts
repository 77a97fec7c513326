import { formatCount, plural } from '../base/format.ts';
import { columnOf, printable, widthOf } from '../base/text.ts';
import type { Report } from './schema.ts';
import { tablesOf } from './tables.ts';
import {
  type Bar,
  dayBars,
  dayBarsTitle,
  faultsOf,
  figuresOf,
  headline,
  hourBars,
  lastWeekInWords,
  projectInWords,
  share,
  silenceInWords,
  spanOf,
} from './words.ts';

const DAYS_MAX = 62;
const LABEL_LENGTH_MAX = 56;
const BAR_WIDTH_MIN = 10;

interface Row {
  readonly label: string;
  readonly count: number;
  readonly share: string;
  readonly change?: string | undefined;
}

/** Returns the report for a terminal of so many columns. */
export function textReport(report: Report, columns: number): string {
  const { views } = report;
  const faults = faultsOf(report).map((fault) => `${fault} "viewlog verify" shows which.`);
  const end = faults.length === 0 ? [] : ['', ...faults];
  if (views === 0) return [...head(report), ...end].join('\n');
  const chart = (title: string, bars: readonly Bar[]): string[] => {
    const rows = bars.map(({ label, count, isPartial }) => ({
      label: isPartial ? `${label} so far` : label,
      count,
      share: share(count, views),
    }));
    return section(title, rows, columns);
  };
  const tables = tablesOf(report).flatMap(({ title, remark, rows }) => {
    const labelled = rows.map(({ texts, count, share, change }) => ({
      label: texts
        .map((text) => printable(text, Math.floor(LABEL_LENGTH_MAX / texts.length)))
        .join(' · '),
      count,
      share,
      change,
    }));
    return section(remark === '' ? title : `${title}: ${remark}`, labelled, columns);
  });
  const silence = silenceInWords(report).map(
    ({ name, days }) => `  ${printable(name, LABEL_LENGTH_MAX)}: ${days}`,
  );
  return [
    ...head(report),
    ...chart(dayBarsTitle(report, DAYS_MAX), dayBars(report, DAYS_MAX)),
    ...tables,
    ...chart('Views per hour of the day', hourBars(report)),
    ...(silence.length === 0 ? [] : ['', 'Days without views', ...silence]),
    ...end,
  ].join('\n');
}

/** Says what the report is about, and what is most important in it. */
function head(report: Report): string[] {
  const { views, project, timeZone } = report;
  const about = project === undefined ? 'all projects' : printable(projectInWords(report, project));
  const span = spanOf(report);
  const days = span === undefined ? 'no days' : `${span.fromDay} to ${span.toDay}`;
  return [
    `${plural(views, 'view')}: ${about}, ${days} (${timeZone})`,
    headline(report),
    lastWeekInWords(report),
    ...(views === 0 ? [] : figuresOf(report)).map(
      ([name, value, note]) => `${name}: ${value}, ${note}`,
    ),
  ].filter((line) => line !== '');
}

/** Returns a line per row: label, views, share, change, bar. */
function section(title: string, rows: readonly Row[], columns: number): string[] {
  if (rows.length === 0) return ['', title];
  const texts = [
    columnOf(
      rows.map(({ label }) => label),
      false,
    ),
    columnOf(rows.map(({ count }) => formatCount(count))),
    columnOf(rows.map((row) => row.share)),
    columnOf(rows.map(({ change = '' }) => change)),
  ].filter(([first]) => first !== '');
  const lines = rows.map((_, i) => texts.map((column) => `  ${column[i]!}`).join(''));
  const barWidth = Math.max(BAR_WIDTH_MIN, columns - widthOf(lines[0]!) - 2);
  const most = Math.max(...rows.map(({ count }) => count), 1);
  const bars = rows.map(({ count }) => '█'.repeat(Math.round((count / most) * barWidth)));
  return ['', title, ...lines.map((line, i) => `${line}  ${bars[i]!}`.trimEnd())];
}
