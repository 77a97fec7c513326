import { readdirSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { cannotRead } from '../disk/lines.ts';
import { dayOfName } from '../disk/names.ts';
import { verifyFile } from '../verify/verify-file.ts';
import { defineCommand } from './command.ts';

/** Checks that view files contain only what a collector writes. Exit 65 if one has a fault. */
export const verify = defineCommand({
  name: 'verify',
  operands: 'FILE…',
  summary: 'checks view files, or those of a directory: whole lines, each view once',
  examples: ['viewlog verify data/views-2026-01-31.ndjson', 'viewlog verify /var/lib/viewlog'],
  options: [],
  async run(_, operands, { print }) {
    const files = operands.flatMap(viewFilesOf);
    let isSound = true;
    for (const file of files) {
      const found = await verifyFile(file);
      print(found.lines.join('\n'));
      isSound &&= found.isSound;
    }
    return isSound ? EXIT.done : EXIT.badData;
  },
});

/** Returns the view files of a directory, the oldest first; for a file, the file itself. */
function viewFilesOf(operand: string): string[] {
  if (operand === '-') return [operand];
  try {
    if (!statSync(operand).isDirectory()) return [operand];
    const names = readdirSync(operand).filter((entry) => dayOfName('views', entry) !== undefined);
    if (names.length > 0) return names.sort().map((entry) => path.join(operand, entry));
  } catch (error) {
    throw cannotRead(operand, error);
  }
  const name = printable(operand, Infinity);
  throw new Fatal(EXIT.badData, `No view files in "${name}"; name the collector's data directory`);
}
