import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { dayOfFileName, fileNameOf, type FileKind } from './names.ts';
import type { FileOps } from './ops.ts';
import { ownerFix } from './root.ts';
import { syncDirectory } from './sync.ts';

/**
 * Makes the data directory (mode 0750) if it is missing.
 * @throws {Fatal} exit 73 if it can't be made or written to.
 */
export async function prepareDirectory(dir: string, files: FileOps): Promise<void> {
  try {
    const made = makeDirectory(dir);
    // Deno does not open what it was not allowed: the parent. The name is then as durable as the
    // file system makes it by itself.
    if (made !== undefined) await syncDirectory(files, path.dirname(made)).catch(() => {});
  } catch (error) {
    throw cannotOpen(dir, error);
  }
  try {
    fs.accessSync(dir, fs.constants.W_OK | fs.constants.X_OK);
  } catch (error) {
    // No errno: Deno without --allow-sys can't tell. The first file made there will.
    if (errnoOf(error) !== undefined) throw cannotOpen(dir, error);
  }
}

/**
 * Makes the directory and those above it that are missing.
 * @returns the first that was made.
 * @throws the system's error.
 */
export function makeDirectory(dir: string): string | undefined {
  const made = fs.mkdirSync(dir, { recursive: true, mode: 0o750 });
  if (made === undefined) return undefined;
  // A service's umask is often 077, and then the shipper's group could not enter it.
  fs.chmodSync(dir, 0o750);
  return made;
}

/** Returns the newest of these days that has a regular file; `undefined` if there is none. */
export async function newestRegular(
  files: FileOps,
  dir: string,
  kind: FileKind,
  days: readonly string[],
): Promise<string | undefined> {
  for (const day of days.toReversed()) {
    if (await isRegular(files, `${dir}/${fileNameOf(kind, day)}`)) return day;
  }
  return undefined;
}

async function isRegular(files: FileOps, path: string): Promise<boolean> {
  try {
    return (await files.stat(path)).isFile();
  } catch (error) {
    // A file that cannot be looked at cannot be opened either, and that has the better message.
    return errnoOf(error) !== 'ENOENT';
  }
}

/** Returns the days of all daily files of this kind, ascending. Other names are ignored. */
export async function daysIn(files: FileOps, dir: string, kind: FileKind): Promise<string[]> {
  const names = await files.list(dir);
  return names
    .map((name) => dayOfFileName(kind, name))
    .filter((day) => day !== undefined)
    .sort();
}

const ADVICE: Record<string, string> = {
  EACCES: 'let the user that runs viewlog write there',
  EPERM: 'let the user that runs viewlog write there',
  EROFS: 'mount the file system read-write, or choose another --data',
  EISDIR: 'move that directory away',
  EEXIST: 'move that file away, or choose another --data',
  ENOTDIR: 'move that file away, or choose another --data',
  ENOSPC: 'make space on the disk',
};

/** What could not be opened, why, and what to do. Exit 73. */
export function cannotOpen(name: string, error: unknown): Fatal {
  const errno = errnoOf(error) ?? '';
  const isDenied = errno === 'EACCES' || errno === 'EPERM';
  const advice = (isDenied ? ownerFix(name) : undefined) ?? ADVICE[errno];
  const hint = advice === undefined ? '' : `; ${advice}`;
  return new Fatal(
    EXIT.cannotCreate,
    `Cannot open "${name}" for writing: ${reasonOf(error)}${hint}`,
  );
}
