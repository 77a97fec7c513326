import { EXIT, Fatal } from '../base/exit.ts';
import { writeFile } from '../base/output.ts';
import { printable } from '../base/text.ts';
import { addUp } from '../report/add-up.ts';
import { filesWith } from '../report/files-with.ts';
import { htmlReport } from '../report/html.ts';
import { summarize } from '../report/summary.ts';
import { terminalReport } from '../report/terminal.ts';
import { defineCommand } from './command.ts';

const COLUMNS = { fallback: 80, max: 110 };

/**
 * The views of the data directory, or of these files, added up: on the terminal, as JSON, or as a
 * page.
 */
export const report = defineCommand({
  name: 'report',
  operands: '[FILE…]',
  summary: 'adds up the views: by day, hour, page, referrer, language, template',
  examples: ['viewlog report --from 2026-01-01 --to 2026-01-31 --html january.html'],
  options: ['data', 'from-day', 'to-day', 'project', 'time-zone', 'top', 'html', 'json'],
  async run(settings, operands, { print }) {
    const { 'from-day': fromDay, 'to-day': toDay, project, html } = settings;
    if (fromDay !== undefined && toDay !== undefined && fromDay > toDay) {
      throw new Fatal(EXIT.usage, `--from ${fromDay} is after --to ${toDay}`);
    }
    const timeZone = settings['time-zone'] ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
    const selection = { timeZone, fromDay, toDay, project };
    const files = operands.length > 0 ? operands : filesWith(settings.data, selection);
    const summary = summarize(await addUp(files, selection), selection, settings.top);
    if (html !== undefined) {
      writeFile(html, htmlReport(summary));
      if (!settings.json) print(`Wrote ${printable(html, Infinity)}`);
    }
    if (settings.json) print(JSON.stringify(summary, null, 2));
    else if (html === undefined) {
      const columns = process.stdout.columns ?? COLUMNS.fallback;
      print(terminalReport(summary, Math.min(columns, COLUMNS.max)));
    }
    return EXIT.done;
  },
});
