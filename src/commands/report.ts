import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { readEnv } from '../base/env.ts';
import { EXIT, Fatal, orElse } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { dayOrWord, timeZone } from '../base/option.ts';
import { writeFile } from '../base/output.ts';
import { echo, printable, sentence, shellQuoted } from '../base/text.ts';
import * as commands from '../installation/commands.ts';
import { readProjectsFile } from '../projects/projects-file.ts';
import type { ProjectEntry } from '../projects/projects-schema.ts';
import { typoOf } from '../projects/typo.ts';
import { Calendar } from '../report/calendar.ts';
import { htmlReport } from '../report/html.tsx';
import { reportOf } from '../report/model.ts';
import { filesWith, tallyFiles } from '../report/read.ts';
import { jsonReport, textReport } from '../report/text.ts';
import { Totals } from '../report/totals.ts';
import { projectsIn, REPORT_OPTIONS, type Settings } from '../settings.ts';
import { defineCommand, refuseRefused, refuseTwice } from './command.ts';

const COLUMNS_MAX = 110;

/** Adds up the views of the data directory, or of the named files, as text, JSON or a page. */
export const report = defineCommand({
  name: 'report',
  operands: '[FILE…]',
  summary: 'summarises the views by day, page, source and more',
  examples: [
    'viewlog report --last 7',
    'viewlog report --from 2026-01-01 --to 2026-01-31 --html january.html',
  ],
  options: ['data', 'projects', ...REPORT_OPTIONS],
  async run(settings, operands, { print, log }) {
    refuseRefused('report', operands);
    for (const operand of operands) checkOperand(operand);
    refuseTwice(operands);
    const { html, json, top, query: keepsQuery } = settings;
    if (html === '-' && json) {
      throw new Fatal(
        EXIT.usage,
        '--html - and --json both go to stdout; give --html a file. For example: --html report.html',
      );
    }
    if (html !== undefined) checkPage(html);
    const calendar = calendarOf(settings);
    const warn = (message: string): void => log.warn(message);
    const { fromDay } = calendar.selection;
    if (fromDay !== undefined && fromDay > calendar.today)
      warn(`The report begins on ${fromDay}, which is in the future: today is ${calendar.today}`);
    const found =
      operands.length > 0
        ? { files: operands, unreadDays: [] }
        : await filesWith(settings.data, calendar.spans, warn);
    const isNamed = settings.projects !== projectsIn(settings.data);
    const listed = await listedIn(settings.projects, isNamed, log);
    const { project } = settings;
    if (project !== undefined && listed.length > 0 && !listed.some(({ id }) => id === project)) {
      const near = typoOf(project, listed)?.id;
      const meant = near === undefined ? '' : `. If you meant ${near}, use --project ${near}`;
      log.warn(
        `Project ${project} isn't listed in ${printable(settings.projects, Infinity)}${meant}`,
      );
    }
    // Named files need not have views of every project.
    const expected =
      operands.length > 0 ? listed.map((one) => ({ ...one, active: false })) : listed;
    const totals = new Totals(calendar, expected, keepsQuery);
    totals.isWhole = operands.length === 0;
    for (const day of found.unreadDays) totals.leaveOut(day);
    await tallyFiles(found.files, totals, warn);
    const model = reportOf(totals, top);
    if (html === '-') print(htmlReport(model));
    else if (html !== undefined) {
      writeFile(html, htmlReport(model), '--html -');
      if (!json) print(`Wrote ${printable(html, Infinity)}`);
    }
    if (json) print(jsonReport(model));
    else if (html === undefined) {
      const columns = Math.min(process.stdout.columns ?? 80, COLUMNS_MAX);
      const verify = await commands.verify(operands.length > 0 ? operands : [settings.data]);
      print(textReport(model, columns, verify));
    }
    return EXIT.done;
  },
});

/** @throws {Fatal} exit 73 for a file that isn't an earlier report: nothing else is overwritten. */
function checkPage(path: string): void {
  const found = orElse(() => statSync(path), undefined);
  if (!found?.isFile() || found.size === 0) return;
  const [fd, start] = [openSync(path, 'r'), Buffer.alloc(200)];
  readSync(fd, start, 0, start.length, 0);
  closeSync(fd);
  if (start.includes('<meta name="generator" content="viewlog"/>')) return;
  const what = `"${echo(path)}" exists and isn't a report of viewlog`;
  throw new Fatal(EXIT.cannotCreate, `${what}; name another file for --html`);
}

/** @throws {Fatal} exit 64 if it is no file but a directory, a day or a project's id; 65 if it is compressed with zstd. */
function checkOperand(operand: string): void {
  const shown = echo(operand);
  const found = orElse(() => statSync(operand), undefined);
  if (found?.isDirectory())
    throw new Fatal(
      EXIT.usage,
      `"${shown}" is a directory; to read its view files, use --data ${shellQuoted(operand)}`,
    );
  if (operand.endsWith('.zst'))
    throw new Fatal(
      EXIT.badData,
      `"${shown}" is compressed with zstd, which viewlog can't read; run: zstd -d --rm ${shellQuoted(operand)}`,
    );
  if (found !== undefined) return;
  if (operand === 'last')
    throw new Fatal(EXIT.usage, `"last" isn't a file; for the last days, use --last DAYS`);
  if (/^\d{1,20}$/.test(operand))
    throw new Fatal(
      EXIT.usage,
      `"${shown}" isn't a file; for one project, use --project ${operand}`,
    );
  if (dayOrWord.read(operand) !== undefined)
    throw new Fatal(
      EXIT.usage,
      `"${shown}" isn't a file; for that day alone, use --from ${operand} --to ${operand}`,
    );
}

/** @throws {Fatal} exit 64 if the options contradict each other. */
function calendarOf(settings: Settings<(typeof REPORT_OPTIONS)[number]>): Calendar {
  const { 'from-day': from, 'to-day': to, last, project } = settings;
  if (from !== undefined && last !== undefined) {
    throw new Fatal(
      EXIT.usage,
      'Pass --last or --from, not both: --last counts back from --to, or from today',
    );
  }
  const asked = { fromDay: from, toDay: to, last, project };
  const zone = settings['time-zone'] ?? systemTimeZone();
  const calendar = new Calendar({ ...asked, timeZone: zone }, new Date());
  const { fromDay = '', toDay = fromDay } = calendar.selection;
  if (fromDay > toDay)
    throw new Fatal(EXIT.usage, `--from ${fromDay} is after --to ${toDay}; swap the two days`);
  return calendar;
}

/** @throws {Fatal} exit 64 if TZ isn't the name of a time zone. */
function systemTimeZone(): string {
  // Runtimes read other forms of TZ, such as CET-1CEST and GMT+3, as UTC or with the wrong sign.
  const tz = readEnv('TZ');
  if (tz === '') return 'UTC';
  const ofClock = new Intl.DateTimeFormat().resolvedOptions().timeZone as string | undefined;
  const name = tz?.replace(/^:/, '') ?? ofClock ?? '';
  const zone = timeZone.read(name);
  if (zone !== undefined) return zone;
  const fault = `TZ "${printable(tz ?? name)}" isn't the name of a time zone`;
  throw new Fatal(
    EXIT.usage,
    `${fault}; set TZ or --time-zone to a name such as Europe/Oslo or UTC`,
  );
}

/**
 * Returns the listed projects; none if the projects file is missing or faulty, because a report
 * works without it.
 * @param isNamed true: an option names the file, so that a missing one is a mistake.
 */
async function listedIn(
  path: string,
  isNamed: boolean,
  log: Log,
): Promise<readonly ProjectEntry[]> {
  const reading = await readProjectsFile(path);
  if ('file' in reading) return reading.file.projects;
  if (isNamed || reading.content !== undefined) {
    const effect = "The report shows ids instead of names and counts a site's own pages as sources";
    log.warn(`${sentence(reading.fact ?? reading.faults[0]!)} ${effect}`);
  }
  return [];
}
