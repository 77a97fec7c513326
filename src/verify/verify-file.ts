import { plural } from '../base/format.ts';
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { readBlocks } from '../disk/lines.ts';
import { archiveRecordOf } from '../disk/names.ts';
import type { Progress } from '../disk/progress.ts';
import { FileCheck } from './file-check.ts';

/** What `viewlog verify` finds out about one file. */
interface Verdict {
  readonly isSound: boolean;
  /** What is in the file, and each kind of fault and oddity, in a line. */
  readonly lines: readonly string[];
  /** What is wrong with a packed file that ends too early, or is none. */
  readonly broken: string | undefined;
}

/** @throws {Fatal} exit 74 if it can't be read. */
export async function verifyFile(file: string, progress: Progress): Promise<Verdict> {
  const isArchived = existsSync(archiveRecordOf(dirname(file)));
  const check = new FileCheck(basename(file), isArchived);
  const broken = await read(file, check, progress);
  const faults = check.faults();
  const span = check.firstTs === undefined ? '' : `, ${check.firstTs} to ${check.lastTs!}`;
  const size = `${plural(check.lines, 'line')}, ${plural(check.bytes, 'byte')}`;
  return {
    isSound: broken === undefined && faults.length === 0,
    lines: [
      `${printable(file, Infinity)}: ${size}${span}`,
      ...[...faults, ...check.remarks()].map((text) => `  ${text}`),
    ],
    broken,
  };
}

async function read(
  file: string,
  check: FileCheck,
  progress: Progress,
): Promise<string | undefined> {
  try {
    for await (const block of readBlocks(file, (bytes) => progress.add(bytes))) check.add(block);
    return undefined;
  } catch (error) {
    if (error instanceof Fatal && error.exitCode === EXIT.badData) return error.message;
    throw error;
  } finally {
    progress.end();
  }
}
