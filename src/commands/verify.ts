import { readdirSync, statSync } from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { cannotRead, noViewFiles } from '../disk/lines.ts';
import { dayOfName } from '../disk/names.ts';
import * as commands from '../installation/commands.ts';
import { Receipt } from '../verify/receipt.ts';
import { verifyFile } from '../verify/verify-file.ts';
import {
  alsoCompressed,
  defineCommand,
  type Output,
  refuseRefused,
  refuseTwice,
} from './command.ts';

/** Checks that view files contain only what a collector writes. Exit 65 if a file has a fault. */
export const verify = defineCommand({
  name: 'verify',
  operands: 'FILE…',
  summary: 'checks view files, or all view files in a directory',
  examples: [
    'viewlog verify data/views-2026-01-31.ndjson',
    'viewlog verify /var/lib/viewlog',
    'viewlog verify --receipt /var/lib/viewlog',
  ],
  options: ['receipt'],
  async run({ receipt }, operands, { print, log }) {
    refuseRefused('verify', operands);
    const lists = operands.map((operand) => viewFilesOf(operand, log.warn));
    const files = lists.flat();
    if (receipt) {
      refuseTwice(files);
      await printReceipt(files, await commands.verify(operands), { print, log });
      return EXIT.done;
    }
    for (const twice of alsoCompressed(files)) {
      const receipt = (name: string): Promise<string> => commands.verify([name], true);
      const compared = `${await receipt(twice)} && ${await receipt(`${twice}.gz`)}`;
      log.warn(
        `"${printable(twice, Infinity)}" also exists as a .gz file; if both contain the same views, remove one. To compare them, run: ${compared}`,
      );
    }
    let isValid = true;
    for (const file of files) {
      const found = await verifyFile(file);
      print(found.lines.join('\n'));
      isValid &&= found.isValid;
    }
    return isValid ? EXIT.done : EXIT.badData;
  },
});

async function printReceipt(
  files: readonly string[],
  verifyCommand: string,
  { print, log }: Pick<Output, 'print' | 'log'>,
): Promise<void> {
  const receipt = new Receipt();
  for (const file of files) await receipt.addFile(file);
  const days = receipt.days();
  if (days.length > 0) print(days.map((day) => day.join('\t')).join('\n'));
  const { otherLines } = receipt;
  if (otherLines === 0) return;
  log.warn(
    `Left out ${plural(otherLines, 'line')} that ${otherLines === 1 ? "isn't a view" : "aren't views"}; to see which, run: ${verifyCommand}`,
  );
}

/**
 * Returns the view files of a directory, the oldest first; for a file, the file itself. Warns about
 * files that viewlog can't read.
 */
function viewFilesOf(operand: string, warn: (message: string) => void): string[] {
  if (operand === '-') return [operand];
  let isUnread = false;
  try {
    if (!statSync(operand).isDirectory()) return [operand];
    const all = readdirSync(operand).sort();
    for (const entry of all) {
      const [, name] = /^(.*)\.zst$/.exec(entry) ?? [];
      if (name === undefined || dayOfName('views', name) === undefined) continue;
      const file = printable(path.join(operand, entry), Infinity);
      warn(
        `"${file}" isn't checked, because viewlog can't read zstd; run: zstd -d --rm ${shellQuoted(path.join(operand, entry))}`,
      );
      isUnread = true;
    }
    const names = all.filter((entry) => dayOfName('views', entry) !== undefined);
    if (names.length > 0) return names.map((entry) => path.join(operand, entry));
  } catch (error) {
    throw cannotRead(operand, error);
  }
  throw new Fatal(
    EXIT.badData,
    isUnread
      ? `Every view file in "${printable(operand, Infinity)}" is compressed with zstd, so none was checked`
      : noViewFiles(operand),
  );
}
