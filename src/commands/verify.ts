import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import { readBlocks } from '../disk/lines.ts';
import { startProgress, type Progress } from '../disk/progress.ts';
import { FileCheck } from '../verify/file-check.ts';
import { baseName } from '../disk/packed-names.ts';
import type { Settings } from '../settings.ts';
import { archiveRecordOf } from '../disk/names.ts';
import { plural, printable } from '../base/text.ts';

/**
 * `viewlog verify FILE…`: whether view files hold what the collector writes, whole lines in order.
 * Exit 0, or 65 where one has a fault.
 */
export async function verify(_: Settings, paths: string[]): Promise<ExitCode> {
  if (paths.length === 0) {
    throw new Fatal(EXIT.usage, 'verify needs a FILE, such as data/views-2026-01-31.ndjson');
  }
  const refused = paths.find((path) => baseName(path).startsWith('refused-'));
  if (refused !== undefined) {
    const name = printable(refused, Infinity);
    throw new Fatal(EXIT.usage, `verify reads view files; "${name}" holds refused views`);
  }
  const progress = startProgress(paths);
  let isSound = true;
  let unpacked = true;
  for (const path of paths) {
    const isArchived = existsSync(archiveRecordOf(dirname(path)));
    const check = new FileCheck(baseName(path), isArchived);
    const broken = await read(path, check, progress);
    progress.end();
    console.log(describe(path, check).join('\n'));
    if (broken !== undefined) console.error(broken);
    unpacked &&= broken === undefined;
    isSound &&= check.faults().length === 0;
  }
  return isSound && unpacked ? EXIT.done : EXIT.badData;
}

/** @returns what is wrong with a packed file that ends too early, or is none. */
async function read(
  path: string,
  check: FileCheck,
  progress: Progress,
): Promise<string | undefined> {
  try {
    for await (const block of readBlocks(path, (bytes) => progress.add(bytes))) check.add(block);
    return undefined;
  } catch (error) {
    if (error instanceof Fatal && error.exitCode === EXIT.badData) return `  ${error.message}`;
    progress.end();
    throw error;
  }
}

function describe(path: string, check: FileCheck): string[] {
  const span = check.firstTs === undefined ? '' : `, ${check.firstTs} to ${check.lastTs!}`;
  const size = `${plural(check.lines, 'line')}, ${plural(check.bytes, 'byte')}`;
  return [
    `${printable(path, Infinity)}: ${size}${span}`,
    ...[...check.faults(), ...check.remarks()].map((text) => `  ${text}`),
  ];
}
