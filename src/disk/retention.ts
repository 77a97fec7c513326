// Removes daily files by age, and slowly: at most one file of each kind per hour, the first an hour
// after the start. A clock that is wrong for an hour therefore costs one file at most.
import { reasonOf } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../base/time.ts';
import { daysIn } from './directory.ts';
import { fileNameOf, replayRecordOf, type FileKind } from './names.ts';
import { type FileOps, ifPresent } from './ops.ts';

export interface RetentionOptions {
  readonly dir: string;
  /** Files more than this many days old are removed; 0: none. */
  readonly keepDays: Readonly<Record<FileKind, number>>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
  readonly files: FileOps;
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

/** Removes at most one overdue file of each kind per hour, the first an hour from now. */
export class Retention {
  readonly #options: RetentionOptions;
  #isStopped = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#lookLater();
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** An hour after the last look has ended, so that two removals are never closer than that. */
  #lookLater(): void {
    setTimeout(() => void this.#look(), HOUR_MS).unref();
  }

  /** Removes one overdue file of each kind. Never rejects. */
  async #look(): Promise<void> {
    const { dir, log } = this.#options;
    for (const kind of ['views', 'refused'] as const) {
      try {
        await this.#removeOldest(kind);
      } catch (error) {
        log.warn(`Cannot remove old files of ${kind} from "${dir}": ${reasonOf(error)}`);
      }
    }
    this.#lookLater();
  }

  async #removeOldest(kind: FileKind): Promise<void> {
    const { dir, files, now, log, hasWritten, isLocked } = this.#options;
    const keepDays = this.#options.keepDays[kind];
    if (keepDays === 0 || this.#isStopped) return;
    const overdue = overdueDays(await daysIn(files, dir, kind), keepDays, now());
    const oldest = overdue.find((day) => !hasWritten(kind, day));
    if (oldest === undefined || !isLocked()) return;
    const path = `${dir}/${fileNameOf(kind, oldest)}`;
    await files.unlink(path);
    log.info(`Removed "${path}", which is more than ${plural(keepDays, 'day')} old`);
    if (kind === 'refused') await ifPresent(files.unlink(replayRecordOf(path)));
  }
}
