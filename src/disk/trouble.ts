// What can befall a day's file, in words: for the client, and for the log.
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { cannotOpen } from './directory.ts';

/** Why nothing can be written for now: for the client, and for the log. */
export interface Blocked {
  readonly reason: string;
  readonly message: string;
}

/** Quota and RLIMIT_FSIZE are a full disk to the one who is out of it. */
const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
export const DISK_FULL = 'the disk is full';

const isNoRoom = (error: unknown): boolean => NO_ROOM.has(errnoOf(error) ?? '');

/** A view file that cannot be opened now. */
export const unopened = (path: string, error: unknown): Blocked => ({
  reason: isNoRoom(error) ? DISK_FULL : 'the view file cannot be opened',
  message: cannotOpen(path, error).message,
});

/** @throws {Fatal} exit 74 where the error is not that the disk is full. */
export function blockedBy(error: unknown, path: string): Blocked {
  const message = `Cannot write "${path}": ${reasonOf(error)}`;
  if (isNoRoom(error)) return { reason: DISK_FULL, message };
  throw new Fatal(EXIT.ioError, `${message}; check the disk, then start viewlog again`);
}

/** The path of an open file no longer names it, or not all of it. */
export function misplaced(path: string, where: 'moved' | 'shrunk'): string {
  const what = where === 'moved' ? 'been moved or removed' : 'shrunk';
  return `"${path}" has ${what}, not by viewlog; opening it anew`;
}

/** A torn last line has been ended. */
export const sealed = (path: string): string =>
  `"${path}" ended in half a line, left by a crash; ended it with a newline`;
