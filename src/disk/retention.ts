// Removes the files of old days slowly: at most one day of each kind per hour, the first one an
// hour after the start. So a clock that is wrong for an hour costs at most one old day of each
// kind.
import { errorText } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../base/time.ts';
import { dayOfRemovable, FILE_KINDS, type FileKind, filesOfDay } from './names.ts';
import { type DirectoryOptions, ifPresent } from './ops.ts';

/** The files of a day are removed once the day ended more than this many days ago; 0: never. */
export type KeepDays = Readonly<Record<FileKind, number>>;

export interface RetentionOptions extends DirectoryOptions {
  readonly keepDays: KeepDays;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns whether this process has the day's file open or may still write to it. */
  readonly isInUse: (kind: FileKind, day: string) => boolean;
  /** Returns whether this process may remove files now. */
  readonly isLocked: () => boolean;
}

/** A file is overdue if retention has had this long to remove it. */
const REMOVAL_MS = 2 * HOUR_MS;

/**
 * Removes the files of at most one overdue day of each kind per hour, the first an hour from now,
 * as long as the process holds the lock.
 */
export function startRetention(options: RetentionOptions): void {
  // Waits an hour after each removal has ended, so that two removals are never closer together.
  const removeAndWait = () => removeOverdue(options).finally(() => startRetention(options));
  setTimeout(() => void removeAndWait(), HOUR_MS).unref();
}

/**
 * Returns the names of the files that should have been removed by now, oldest first of each kind.
 * @param names the regular files in the directory.
 */
export const overdueFiles = (
  names: readonly string[],
  keepDays: KeepDays,
  nowMs: number,
): readonly string[] =>
  FILE_KINDS.flatMap((kind) => {
    const days = overdueDays(kind, names, keepDays[kind], nowMs - REMOVAL_MS);
    return days.flatMap((day) => filesIn(names, kind, day));
  });

/** Returns the days that ended more than `keepDays` days ago, oldest first, without the newest. */
function overdueDays(
  kind: FileKind,
  names: readonly string[],
  keepDays: number,
  nowMs: number,
): readonly string[] {
  if (keepDays === 0) return [];
  const days = new Set(names.flatMap((name) => dayOfRemovable(kind, name) ?? []));
  const firstKept = dayOf(nowMs - keepDays * DAY_MS);
  return [...days]
    .sort()
    .slice(0, -1)
    .filter((day) => day < firstKept);
}

const filesIn = (names: readonly string[], kind: FileKind, day: string): readonly string[] =>
  filesOfDay(kind, day).filter((name) => names.includes(name));

async function removeOverdue(options: RetentionOptions): Promise<void> {
  for (const kind of FILE_KINDS) {
    try {
      await removeOldest(kind, options);
    } catch (error) {
      const { dir, log } = options;
      log.warn(
        `Can't remove old ${kind}-* files from "${dir}": ${errorText(error)}; trying again in an hour`,
      );
    }
  }
}

async function removeOldest(kind: FileKind, options: RetentionOptions): Promise<void> {
  const { dir, files, now, log, isInUse, isLocked } = options;
  const keepDays = options.keepDays[kind];
  if (keepDays === 0 || !isLocked()) return;
  const names = await files.list(dir);
  const oldest = overdueDays(kind, names, keepDays, now()).find((day) => !isInUse(kind, day));
  if (oldest === undefined || !isLocked()) return;
  for (const name of filesIn(names, kind, oldest)) {
    const what = `"${dir}/${name}", which is more than ${plural(keepDays, 'day')} old`;
    try {
      await ifPresent(files.unlink(`${dir}/${name}`));
      log.info(`Removed ${what}`);
    } catch (error) {
      log.warn(
        `Can't remove ${what}: ${errorText(error)}; remove it, because viewlog removes no later file of this kind before it`,
      );
      return;
    }
  }
}
