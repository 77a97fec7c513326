import { basename } from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { type Block, readBlocks } from '../disk/lines.ts';
import { startProgress } from '../disk/progress.ts';
import type { Selection } from './calendar.ts';
import { type Surroundings, Totals } from './totals.ts';

/**
 * Adds up the lines of view files and of files of refused views, told apart by their names. A packed
 * file that breaks off counts as far as it could be read, and is told to `warn`.
 * @param filesBefore those that are read for the span before only: their faults are none of this
 *   report's.
 */
export async function addUp(
  files: readonly string[],
  filesBefore: readonly string[],
  selection: Selection,
  surroundings: Surroundings,
  warn: (message: string) => void,
): Promise<Totals> {
  const totals = new Totals(selection, surroundings);
  const progress = startProgress([...filesBefore, ...files]);
  const add = async (file: string): Promise<void> => {
    const isRefused = basename(file).startsWith('refused-');
    try {
      for await (const block of readBlocks(file, (bytes) => progress.add(bytes), 'latin1')) {
        addBlock(totals, block, isRefused);
      }
    } catch (error) {
      if (!(error instanceof Fatal) || error.exitCode !== EXIT.badData) throw error;
      totals.brokenFiles += 1;
      warn(`${error.message}; the report has no more of it than could be read`);
    }
  };
  try {
    for (const file of filesBefore) await add(file);
    totals.invalidLines = 0;
    for (const file of files) await add(file);
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
