import { formatCount } from '../base/format.ts';
import { columnOf, printable } from '../base/text.ts';
import type { Report } from './schema.ts';
import { type Section, sectionsOf } from './sections.ts';
import {
  faultsOf,
  figuresOf,
  headline,
  lastWeekInWords,
  projectInWords,
  share,
  silenceInWords,
  spanOf,
} from './words.ts';

const DAYS_MAX = 62;
const LABEL_LENGTH_MAX = 56;
const BAR_WIDTH_MIN = 10;

/**
 * Returns the report for a terminal with this many columns.
 * @param verify the command that shows the faults of the files.
 */
export function textReport(report: Report, columns: number, verify: string): string {
  const silence = silenceInWords(report).map(
    ({ name, days }) => `  ${printable(name, LABEL_LENGTH_MAX)}: ${days}`,
  );
  const faults = faultsOf(report).map((fault) => `${fault} To find the cause: ${verify}`);
  return [
    ...head(report),
    ...sectionsOf(report, DAYS_MAX).flatMap((section) => sectionLines(section, columns)),
    ...(silence.length === 0 ? [] : ['', 'Days without views', ...silence]),
    ...(faults.length === 0 ? [] : ['', ...faults]),
  ].join('\n');
}

/** Returns the report as JSON, in which characters that a terminal would obey are escaped. */
export const jsonReport = (report: Report): string =>
  JSON.stringify(report, null, 2).replace(/[^\n]+/g, (line) => printable(line, Infinity));

/** Returns the report's subject and its most important facts. */
function head(report: Report): string[] {
  const { project, timeZone } = report;
  const about = project === undefined ? 'All projects' : printable(projectInWords(report, project));
  const span = spanOf(report);
  if (span === undefined) return [`${about}: no views found`];
  return [
    `${about}, ${[...new Set([span.fromDay, span.toDay])].join(' to ')} (${timeZone})`,
    headline(report),
    lastWeekInWords(report),
    ...figuresOf(report).map(
      ([name, value, note]) => `${name}: ${value}${/^(in|on) /.test(note) ? '' : ','} ${note}`,
    ),
  ].filter((line) => line !== '');
}

/** Returns an empty line, a title, and a line per row: label, views, share, change, bar. */
function sectionLines({ title, remark, total, rows }: Section, columns: number): string[] {
  const heading = remark === '' ? title : `${title}: ${remark}`;
  if (rows.length === 0) return ['', heading];
  const labels = rows.map(({ texts }) => {
    const lengthMax = Math.floor(LABEL_LENGTH_MAX / texts.length);
    return texts.map((text) => printable(text, lengthMax)).join(' · ');
  });
  const cells = [
    columnOf(labels, false),
    columnOf(rows.map(({ count }) => formatCount(count))),
    columnOf(rows.map(({ count }) => share(count, total))),
    columnOf(rows.map(({ change = '' }) => change)),
  ].filter(([first]) => first !== '');
  const lines = rows.map((_, i) => cells.map((column) => `  ${column[i]!}`).join(''));
  const barWidth = Math.max(BAR_WIDTH_MIN, columns - lines[0]!.length - 2);
  const most = Math.max(...rows.map(({ count }) => count), 1);
  const bars = rows.map(({ count }) => '█'.repeat(Math.round((count / most) * barWidth)));
  return ['', heading, ...lines.map((line, i) => `${line}  ${bars[i]!}`.trimEnd())];
}
