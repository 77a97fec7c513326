// Removes daily files by age, and slowly: at most one file of each kind per hour, the first an hour
// after the start. A clock that is wrong for an hour therefore costs one file at most.
import { reasonOf } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../base/time.ts';
import { daysIn } from './directory.ts';
import { fileNameOf, replayRecordOf, type FileKind } from './names.ts';
import { type DirectoryOptions, ifPresent } from './ops.ts';

export interface RetentionOptions extends DirectoryOptions {
  /** Files more than this many days old are removed; 0: none. */
  readonly keepDays: Readonly<Record<FileKind, number>>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns whether this process has written the day's file. Such a file is never removed. */
  readonly hasWritten: (kind: FileKind, day: string) => boolean;
  /** Returns whether this process may remove files now. */
  readonly isLocked: () => boolean;
}

/**
 * Returns the days that have files more than `keepDays` days old, oldest first. The newest day is
 * never among them.
 * @param days all days that have a file, ascending.
 */
export function overdueDays(days: readonly string[], keepDays: number, nowMs: number): string[] {
  if (keepDays === 0) return [];
  const oldestDay = dayOf(nowMs - keepDays * DAY_MS);
  return days.slice(0, -1).filter((day) => day < oldestDay);
}

/**
 * Removes at most one overdue file of each kind per hour, the first an hour from now, as long as the
 * process holds the lock.
 */
export function startRetention(options: RetentionOptions): void {
  const look = async (): Promise<void> => {
    for (const kind of ['views', 'refused'] as const) {
      try {
        await removeOldest(kind, options);
      } catch (error) {
        const { dir, log } = options;
        log.warn(`Cannot remove old files of ${kind} from "${dir}": ${reasonOf(error)}`);
      }
    }
    // An hour after the look has ended, so that two removals are never closer than that.
    startRetention(options);
  };
  setTimeout(() => void look(), HOUR_MS).unref();
}

async function removeOldest(kind: FileKind, options: RetentionOptions): Promise<void> {
  const { dir, files, now, log, hasWritten, isLocked } = options;
  const keepDays = options.keepDays[kind];
  if (keepDays === 0 || !isLocked()) return;
  const overdue = overdueDays(await daysIn(files, dir, kind), keepDays, now());
  const oldest = overdue.find((day) => !hasWritten(kind, day));
  if (oldest === undefined || !isLocked()) return;
  const path = `${dir}/${fileNameOf(kind, oldest)}`;
  await files.unlink(path);
  log.info(`Removed "${path}", which is more than ${plural(keepDays, 'day')} old`);
  if (kind === 'refused') await ifPresent(files.unlink(replayRecordOf(path)));
}
