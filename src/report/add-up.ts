import { basename } from 'node:path';
import { type Block, readBlocks } from '../disk/lines.ts';
import { startProgress } from '../disk/progress.ts';
import { type Selection, Totals } from './totals.ts';

/** Adds up the lines of view files and of files of refused views, told apart by their names. */
export async function addUp(files: readonly string[], selection: Selection): Promise<Totals> {
  const totals = new Totals(selection);
  const progress = startProgress(files);
  try {
    for (const file of files) {
      const isRefused = basename(file).startsWith('refused-');
      for await (const block of readBlocks(file, (bytes) => progress.add(bytes), 'latin1')) {
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
