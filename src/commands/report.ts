import * as fs from 'node:fs';
import { EXIT, type ExitCode, Fatal, reasonOf } from '../base/exit.ts';
import { type Block, cannotRead, readBlocks } from '../disk/lines.ts';
import { baseName, dayOfName } from '../disk/packed-names.ts';
import { startProgress } from '../disk/progress.ts';
import type { Settings } from '../settings.ts';
import type { FileKind } from '../disk/names.ts';
import { printable } from '../base/text.ts';
import { DAY_MS } from '../base/time.ts';
import { htmlReport } from '../report/html.ts';
import { summarize } from '../report/summary.ts';
import { terminalReport } from '../report/terminal.ts';
import { type Selection, Totals } from '../report/totals.ts';

const COLUMNS = { fallback: 80, max: 110 };

/**
 * `viewlog report [FILE…]`: the views of the data directory, or of these files, added up: on the
 * terminal, as JSON, or as a page.
 */
export async function report(settings: Settings, operands: string[]): Promise<ExitCode> {
  const { fromDay, toDay, project, html } = settings;
  if (fromDay !== undefined && toDay !== undefined && fromDay > toDay) {
    throw new Fatal(EXIT.usage, `--from ${fromDay} is after --to ${toDay}`);
  }
  const timeZone = settings.timeZone ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const selection = { timeZone, fromDay, toDay, project };
  const paths = operands.length > 0 ? operands : filesIn(settings.data, selection);
  const totals = await addUp(paths, selection);
  const summary = summarize(totals, selection, settings.top);
  if (html !== undefined) {
    write(html, htmlReport(summary));
    if (!settings.json) console.log(`Wrote ${printable(html, Infinity)}`);
  }
  if (settings.json) console.log(JSON.stringify(summary, null, 2));
  else if (html === undefined) {
    const columns = process.stdout.columns ?? COLUMNS.fallback;
    console.log(terminalReport(summary, Math.min(columns, COLUMNS.max)));
  }
  return EXIT.done;
}

async function addUp(paths: readonly string[], selection: Selection): Promise<Totals> {
  const totals = new Totals(selection);
  const progress = startProgress(paths);
  try {
    for (const path of paths) {
      const isRefused = baseName(path).startsWith('refused-');
      for await (const block of readBlocks(path, (bytes) => progress.add(bytes), 'latin1')) {
        addBlock(totals, block, isRefused);
      }
    }
  } finally {
    progress.end();
  }
  return totals;
}

function addBlock(totals: Totals, block: Block, isRefused: boolean): void {
  const { lines, damaged, isUnended } = block;
  // The last line may be under way.
  const whole = lines.length - (isUnended ? 1 : 0);
  for (let i = 0; i < whole; i++) {
    if (damaged.has(i)) totals.invalidLines += 1;
    else if (isRefused) totals.addRefused(lines[i]!);
    else totals.addView(lines[i]!);
  }
}

const KINDS: readonly FileKind[] = ['views', 'refused'];

/** The daily files that can hold lines of the days asked for. */
function filesIn(dir: string, { fromDay, toDay }: Selection): string[] {
  const names = listed(dir);
  const paths = KINDS.flatMap((kind) =>
    [...names]
      .filter((name) => {
        const day = dayOfName(kind, name);
        if (day === undefined) return false;
        // A day being packed is there twice.
        if (name.endsWith('.gz') && names.has(name.slice(0, -'.gz'.length))) return false;
        // Names are UTC days; a local day reaches into the one before or after.
        const isLate = fromDay === undefined || neighbour(day, 1) >= fromDay;
        return isLate && (toDay === undefined || neighbour(day, -1) <= toDay);
      })
      .map((name) => `${dir}/${name}`),
  );
  return paths;
}

function listed(dir: string): Set<string> {
  try {
    return new Set(fs.readdirSync(dir).sort());
  } catch (error) {
    throw cannotRead(dir, error);
  }
}

const neighbour = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

function write(path: string, text: string): void {
  try {
    fs.writeFileSync(path, text);
  } catch (error) {
    throw new Fatal(EXIT.cannotCreate, `Cannot write "${path}": ${reasonOf(error)}`);
  }
}
