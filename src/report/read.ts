import * as fs from 'node:fs';
import { EXIT, Fatal } from '../base/exit.ts';
import { cannotRead, readBlocks } from '../disk/lines.ts';
import { dayOfName } from '../disk/names.ts';
import { parseViewLine } from './report-line.ts';
import { type OpenSpan, shifted } from './span.ts';
import type { Totals } from './totals.ts';

/** Returns the view files that can hold lines of these local days. */
export function filesWith(dir: string, spans: readonly OpenSpan[]): string[] {
  const names = namesIn(dir);
  const isWanted = (name: string): boolean => {
    const day = dayOfName('views', name);
    // A day that is being packed has two files.
    const isTwice = name.endsWith('.gz') && names.includes(name.slice(0, -'.gz'.length));
    return day !== undefined && !isTwice && spans.some((span) => mayHoldLinesOf(span, day));
  };
  return names.filter(isWanted).map((name) => `${dir}/${name}`);
}

function namesIn(dir: string): string[] {
  try {
    return fs.readdirSync(dir).sort();
  } catch (error) {
    throw cannotRead(dir, error);
  }
}

/** @param day a UTC day; a local day reaches into the UTC day before or after it. */
const mayHoldLinesOf = ({ fromDay, toDay }: OpenSpan, day: string): boolean =>
  (fromDay === undefined || shifted(day, 1) >= fromDay) &&
  (toDay === undefined || shifted(day, -1) <= toDay);

/** Adds up view files. A damaged packed file counts as far as it can be read, with a warning. */
export async function addUp(
  files: readonly string[],
  totals: Totals,
  warn: (message: string) => void,
): Promise<void> {
  for (const file of files) {
    try {
      for await (const { lines, damaged } of readBlocks(file, 'latin1')) {
        for (const [i, line] of lines.entries()) {
          totals.addView(damaged.has(i) ? undefined : parseViewLine(line));
        }
      }
    } catch (error) {
      if (!(error instanceof Fatal) || error.exitCode !== EXIT.badData) throw error;
      totals.brokenFiles += 1;
      warn(`${error.message}; the report counts only what could be read`);
    }
  }
}
