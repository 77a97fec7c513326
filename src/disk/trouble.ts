// Trouble with a day's file, in words: for the client, and for the log.
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { cannotOpen } from './directory.ts';

/** Why nothing can be written for now: for the client, and for the log. */
export interface Blocked {
  readonly reason: string;
  readonly message: string;
}

/** A quota and RLIMIT_FSIZE are a full disk to the process that exceeds them. */
const DISK_FULL_ERRNOS = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
export const DISK_FULL = 'the disk is full';

const isDiskFull = (error: unknown): boolean => DISK_FULL_ERRNOS.has(errnoOf(error) ?? '');

/** A file that cannot be opened now. */
export const unopened = (path: string, error: unknown): Blocked => ({
  reason: isDiskFull(error) ? DISK_FULL : 'the view file cannot be opened',
  message: cannotOpen(path, error).message,
});

/** @throws {Fatal} exit 74 if the error is anything but a full disk. */
export function blockedBy(error: unknown, path: string): Blocked {
  const message = `Cannot write "${path}": ${reasonOf(error)}`;
  if (isDiskFull(error)) return { reason: DISK_FULL, message };
  throw new Fatal(EXIT.ioError, `${message}; check the disk, then start viewlog again`);
}

/** The path of an open file no longer names it, or not all of it. */
export const moved = (path: string): string =>
  `"${path}" was moved, removed or emptied by another program; opening it again`;

/** A torn last line has been ended. */
export const sealed = (path: string): string =>
  `"${path}" ended in half a line after a crash; ended that line with a newline`;
