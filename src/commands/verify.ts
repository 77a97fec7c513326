import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { startProgress } from '../disk/progress.ts';
import { verifyFile } from '../verify/verify-file.ts';
import { defineCommand } from './command.ts';

/** Whether view files hold what the collector writes. Exit 0, or 65 where one has a fault. */
export const verify = defineCommand({
  name: 'verify',
  operands: 'FILE…',
  summary: 'checks view files: whole lines, in order, of their day',
  examples: ['viewlog verify data/views-2026-01-31.ndjson'],
  options: [],
  async run(_, files, { print, log }) {
    checkOperands(files);
    const progress = startProgress(files);
    let isSound = true;
    for (const file of files) {
      const found = await verifyFile(file, progress);
      print(found.lines.join('\n'));
      if (found.broken !== undefined) log.error(found.broken);
      isSound &&= found.isSound;
    }
    return isSound ? EXIT.done : EXIT.badData;
  },
});

function checkOperands(files: readonly string[]): void {
  if (files.length === 0) {
    throw new Fatal(EXIT.usage, 'verify needs a FILE, such as data/views-2026-01-31.ndjson');
  }
  const refused = files.find((file) => path.basename(file).startsWith('refused-'));
  if (refused !== undefined) {
    const name = printable(refused, Infinity);
    throw new Fatal(EXIT.usage, `verify reads view files; "${name}" holds refused views`);
  }
}
