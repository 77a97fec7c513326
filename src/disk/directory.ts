import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { EXIT, errnoOf, Fatal, errorText, writeAdvice } from '../base/exit.ts';
import { accessFix, fixText } from '../installation/commands.ts';
import { absolute } from '../installation/installation.ts';
import { syncDirectory } from './durable.ts';
import { dayOfFileName, type FileKind } from './names.ts';
import type { FileOps } from './ops.ts';

/**
 * Makes the data directory (mode 0750) if it is missing.
 * @returns the directory if it was missing.
 * @throws {Fatal} exit 73 if it can't be made.
 */
export async function prepareDirectory(dir: string, files: FileOps): Promise<string | undefined> {
  try {
    const made = makeAll(dir);
    if (made === undefined) return undefined;
    // A service's umask is often 077, and then the shipper's group couldn't enter it.
    fs.chmodSync(dir, 0o750);
    // Deno refuses to open the parent, which isn't in its permissions. The new name is then as
    // durable as the file system makes it.
    await syncDirectory(files, dirname(made)).catch(() => {});
    return dir;
  } catch (error) {
    throw cannotOpen(dir, error, `create directory "${dir}"`);
  }
}

/**
 * Makes a directory and its parents, as `recursive` does. In /proc, where nothing can be made, that
 * option makes Node 20 try forever.
 * @returns the first directory that was missing.
 */
function makeAll(dir: string): string | undefined {
  const make = () => fs.mkdirSync(dir, 0o750);
  try {
    make();
    return dir;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST' && fs.statSync(dir).isDirectory()) return undefined;
    if (errno !== 'ENOENT' || dirname(dir) === dir) throw error;
    const first = makeAll(dirname(dir));
    make();
    return first ?? dir;
  }
}

/** Returns the days of all daily files of this kind, ascending. Ignores all other files. */
export const daysIn = async (files: FileOps, dir: string, kind: FileKind): Promise<string[]> =>
  (await files.list(dir))
    .map((name) => dayOfFileName(kind, name))
    .filter((day) => day !== undefined)
    .sort();

const CAUSES: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: "its directory doesn't exist",
};

/**
 * Returns a Fatal with exit 73: the file or its directory, the reason and the fix.
 * @param doing what failed, in words.
 */
export function cannotOpen(
  name: string,
  error: unknown,
  doing = `open "${name}" for writing`,
): Fatal {
  const errno = errnoOf(error) ?? '';
  const isForbidden = ['EACCES', 'EPERM'].includes(errno);
  const fix = isForbidden ? accessFix(absolute(name), 'rw') : undefined;
  const advice = fix ? fixText(fix) : writeAdvice(error);
  const hint = advice === undefined ? '' : `; ${advice}`;
  const what = fix?.directory ? `use directory "${fix.directory}"` : doing;
  const why = CAUSES[errno] ?? errorText(error);
  return new Fatal(EXIT.cannotCreate, `Can't ${what}: ${why}${hint}`);
}
