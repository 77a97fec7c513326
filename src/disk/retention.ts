// Removes daily files by age, and slowly: at most one file of each kind per hour, the first an hour
// after the start. A clock that is wrong for an hour therefore costs one file at most.
import { errnoOf, reasonOf } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { DAY_MS, dayOf, HOUR_MS } from '../base/time.ts';
import { daysIn } from './directory.ts';
import { fileNameOf, replayRecordOf, type FileKind } from './names.ts';
import { type FileOps, ifPresent } from './ops.ts';

export interface RetentionOptions {
  readonly dir: string;
  /** View files more than this many days old are removed; 0: none. */
  readonly keepDays: number;
  /** The same for files of refused views. */
  readonly keepRefusedDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
  readonly files: FileOps;
  /** Whether this process has written the day's file. Such a file is never removed. */
  readonly hasWritten: (kind: FileKind, day: string) => boolean;
  /** Whether this process may remove files now. */
  readonly isLocked?: () => boolean;
}

/** How many files of each kind are older than they should be. */
export type Overdue = Readonly<Record<FileKind, number>>;

/**
 * Returns the days whose files are more than `keepDays` days old, oldest first. The newest day is
 * never among them.
 * @param days all days that have a file, ascending.
 */
export function overdueDays(days: readonly string[], keepDays: number, nowMs: number): string[] {
  if (keepDays === 0) return [];
  const oldestKept = dayOf(nowMs - keepDays * DAY_MS);
  return days.slice(0, -1).filter((day) => day < oldestKept);
}

export class Retention {
  readonly #options: RetentionOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #overdue: Overdue = { views: 0, refused: 0 };
  #isStopped = false;

  /** Counts the overdue files now, and removes one of each kind every hour. */
  constructor(options: RetentionOptions) {
    this.#options = options;
    void this.#look(false);
    this.#lookLater();
  }

  /** As of the last look, at most an hour ago. */
  get overdue(): Overdue {
    return this.#overdue;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** An hour after the last look has ended, so that two removals are never closer than that. */
  #lookLater(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      void this.#look(true).then(() => this.#lookLater());
    }, HOUR_MS);
    this.#timer.unref();
  }

  /** Never rejects. */
  async #look(removes: boolean): Promise<void> {
    const { keepDays, keepRefusedDays, dir, log } = this.#options;
    try {
      const views = await this.#lookAt('views', keepDays, removes);
      this.#overdue = { views, refused: await this.#lookAt('refused', keepRefusedDays, removes) };
    } catch (error) {
      log.warn(`Cannot look for old files in "${dir}": ${reasonOf(error)}`);
    }
  }

  /** Returns how many files are still overdue. */
  async #lookAt(kind: FileKind, keepDays: number, removes: boolean): Promise<number> {
    if (keepDays === 0) return 0;
    const { dir, files, now, hasWritten, isLocked = () => true } = this.#options;
    // Only regular files are viewlog's own: not directories, FIFOs or links of such a name.
    const regular: string[] = [];
    for (const day of await daysIn(files, dir, kind)) {
      const found = await ifPresent(files.lstat(`${dir}/${fileNameOf(kind, day)}`));
      if (found?.isFile() === true) regular.push(day);
    }
    const days = overdueDays(regular, keepDays, now());
    const oldest = days.find((day) => !hasWritten(kind, day));
    if (!removes || oldest === undefined || !isLocked()) return days.length;
    const isRemoved = await this.#remove(kind, `${dir}/${fileNameOf(kind, oldest)}`, keepDays);
    return isRemoved ? days.length - 1 : days.length;
  }

  async #remove(kind: FileKind, path: string, keepDays: number): Promise<boolean> {
    const { files, log } = this.#options;
    try {
      await files.unlink(path);
      log.info(`Removed "${path}", which is more than ${plural(keepDays, 'day')} old`);
      if (kind === 'refused') await files.unlink(replayRecordOf(path));
    } catch (error) {
      // Somebody else may have removed it, and most refused files have no replay record.
      if (errnoOf(error) !== 'ENOENT') {
        log.warn(`Cannot remove "${path}": ${reasonOf(error)}`);
        return false;
      }
    }
    return true;
  }
}
