import { EXIT, Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { writeFile } from '../base/output.ts';
import { printable } from '../base/text.ts';
import { parseProjectsFile } from '../projects/parse.ts';
import { readContent } from '../projects/projects-file.ts';
import { addUp } from '../report/add-up.ts';
import { Calendar, type Selection } from '../report/calendar.ts';
import { filesWith } from '../report/files-with.ts';
import { htmlReport } from '../report/html.ts';
import { localHours } from '../report/local-hour.ts';
import { type OpenSpan, type SpanOptions, spanOf } from '../report/span.ts';
import { summarize } from '../report/summary.ts';
import { terminalReport } from '../report/terminal.ts';
import type { ListedEntry } from '../report/totals.ts';
import type { Settings } from '../settings.ts';
import { defineCommand } from './command.ts';

const COLUMNS = { fallback: 80, max: 110 };

/**
 * The views of the data directory, or of these files, added up: on the terminal, as JSON, or as a
 * page.
 */
export const report = defineCommand({
  name: 'report',
  operands: '[FILE…]',
  summary: 'adds up the views: by day, hour, page, source, campaign, language, template',
  examples: [
    'viewlog report --last 7',
    'viewlog report --from 2026-01-01 --to 2026-01-31 --html january.html',
  ],
  options: [
    'data',
    'projects',
    'from-day',
    'to-day',
    'last',
    'project',
    'time-zone',
    'top',
    'query',
    'html',
    'json',
  ],
  async run(settings, operands, { print, log }) {
    const { 'from-day': from, 'to-day': to, last, project, html, json } = settings;
    if (html === '-' && json) {
      throw new Fatal(EXIT.usage, '--html - and --json both go to stdout; give --html a FILE');
    }
    const timeZone = settings['time-zone'] ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const now = new Date();
    const span = checkedSpan({ from, to, last }, localHours(timeZone)(now.toISOString())!.day);
    const selection = { timeZone, ...span, project };
    const listed = await listedIn(settings.projects, log);
    const [files, filesBefore] =
      operands.length > 0 ? [operands, []] : filesOf(settings, selection, now);
    const surroundings = { now, keepsQuery: settings.query, listed };
    const totals = await addUp(files, filesBefore, selection, surroundings, (message) => {
      log.warn(message);
    });
    const summary = summarize(totals, selection, settings.top);
    if (html === '-') print(htmlReport(summary));
    else if (html !== undefined) {
      writeFile(html, htmlReport(summary));
      if (!json) print(`Wrote ${printable(html, Infinity)}`);
    }
    if (json) print(printableJson(summary));
    else if (html === undefined) {
      const columns = process.stdout.columns ?? COLUMNS.fallback;
      print(terminalReport(summary, Math.min(columns, COLUMNS.max)));
    }
    return EXIT.done;
  },
});

/** The files of the days asked for, and those that are read to compare with. */
function filesOf(
  { data, json }: Settings<'data' | 'json'>,
  selection: Selection,
  now: Date,
): [string[], string[]] {
  const files = filesWith(data, selection, json ? ['views', 'refused'] : ['views']);
  const { before, hasToday, weekAgo } = new Calendar(selection, now);
  const compared = [...(before ? [before] : []), ...(hasToday ? [weekAgo] : [])];
  const filesBefore = new Set(compared.flatMap((span) => filesWith(data, span, ['views'])));
  return [files, [...filesBefore].filter((file) => !files.includes(file))];
}

function checkedSpan(options: SpanOptions, today: string): OpenSpan {
  if (options.from !== undefined && options.last !== undefined) {
    throw new Fatal(EXIT.usage, '--last counts back from --to, or from today; leave out --from');
  }
  const span = spanOf(options, today);
  const { fromDay, toDay } = span;
  if (fromDay !== undefined && toDay !== undefined && fromDay > toDay) {
    throw new Fatal(EXIT.usage, `--from ${fromDay} is after --to ${toDay}`);
  }
  return span;
}

/** A report does without the file, which need not be where the views were brought. */
async function listedIn(path: string, log: Log): Promise<readonly ListedEntry[]> {
  const content = await readContent(path);
  if ('fault' in content) {
    if (!content.isMissing) log.warn(`${content.fault}; ${BY_ID}`);
    return [];
  }
  const reading = parseProjectsFile(content.bytes, printable(path, Infinity));
  if ('file' in reading) return reading.file.projects;
  log.warn(`${reading.faults[0]!}; ${BY_ID}`);
  return [];
}

/** Nothing in it orders a terminal about; as JSON it is the same. */
const printableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2)
    .split('\n')
    .map((line) => printable(line, Infinity))
    .join('\n');

const BY_ID = 'the report names projects by their ids, and knows no origins of theirs';
