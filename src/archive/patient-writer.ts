import { Fatal, errorText } from '../base/exit.ts';
import { NEWLINE } from '../base/text.ts';
import { sleep } from '../base/time.ts';
import { type Blocked, DayWriter, NOTHING } from '../disk/day-writer.ts';
import { FreeSpace, TOO_LITTLE_SPACE } from '../disk/free-space.ts';
import { fileNameOf } from '../disk/names.ts';
import type { DirectoryOptions } from '../disk/ops.ts';

export interface PatientOptions extends DirectoryOptions {
  /** The archive waits while less disk space than this is free; 0: only while the disk is full. */
  readonly minFreeBytes: number;
  readonly stop: AbortSignal;
  /**
   * The longest wait between attempts. The first wait is a tenth of the longest, and each later
   * wait doubles.
   */
  readonly waitMsMax: number;
}

const CHECK_MS = 1_000;
const LOW: Blocked = { reason: TOO_LITTLE_SPACE, message: '' };

/**
 * Writes whole lines to the files of their days. Every call waits while the disk is full. It
 * throws if the process is stopped meanwhile. Calls must not overlap.
 */
export class PatientWriter extends DayWriter {
  readonly #options: PatientOptions;
  readonly #checkFile: (day: string) => Promise<boolean>;
  readonly space: FreeSpace;
  #checkedMs = 0;
  /** The day whose file was opened last. */
  day = '';
  /** The reason for waiting now: a full disk or a file that can't be opened. */
  blocked: Blocked | undefined;

  /**
   * @param checkFile called in each check, before a moved file is opened again. Returns whether it
   *   has found that the file is missing or was cut short.
   */
  constructor(options: PatientOptions, checkFile: (day: string) => Promise<boolean>) {
    super({ ...options, kind: 'views', durability: 'disk' });
    this.#options = options;
    this.#checkFile = checkFile;
    this.space = new FreeSpace({ ...options, effect: 'archiving waits' });
  }

  /** Checks free space and opens the file again if another program has moved or emptied it. */
  async check(): Promise<void> {
    this.#checkedMs = performance.now();
    await this.space.poll();
    const isReported = this.day !== '' && (await this.#checkFile(this.day));
    // If the file can't be opened, the next write reports it.
    await this.checkPath(this.day, isReported);
  }

  /** Opens the day's file, seals a fragment at its end, and writes the lines, if any. */
  async append(day: string, lines: Uint8Array = NOTHING): Promise<void> {
    this.day = day;
    let left = lines;
    await this.repeat(fileNameOf('views', day), async () => {
      // Checks again after a wait, because another program may have changed the file; but not once
      // some of the lines may have been written.
      const isDue = lines.length === 0 && performance.now() - this.#checkedMs >= CHECK_MS;
      if (isDue || (this.space.isLow && left === lines)) await this.check();
      if (this.space.isLow && left === lines) return LOW;
      const { blocked: unopened } = await this.write(day, NOTHING);
      if (unopened !== undefined || left.length === 0) return unopened;
      const { lineBytes, blocked } = await this.write(day, left);
      // `DayWriter` itself completes a line that it has written in part.
      left = left.subarray(left.indexOf(NEWLINE, lineBytes) + 1);
      return blocked;
    });
  }

  /**
   * Repeats an attempt for as long as a full disk or a file that can't be opened blocks it.
   * @param path the file that is read or written, for the log.
   * @param attempt may resolve to what blocks it or throw; a Fatal isn't retried.
   * @throws if the attempt is blocked and the process is stopped.
   */
  async repeat(path: string, attempt: () => Promise<Blocked | void>): Promise<void> {
    const { log, waitMsMax: most, stop } = this.#options;
    for (let waitMs = most / 10; ; waitMs = Math.min(2 * waitMs, most)) {
      const before = this.blocked;
      const blocked = await attempt().catch((error: unknown) => blockedBy(error, path));
      this.blocked = blocked ?? undefined;
      if (this.blocked === undefined) {
        if (before !== undefined) log.info('Archiving again');
        return;
      }
      const { message } = this.blocked;
      // `FreeSpace` has already logged low space.
      const isNew = message !== '' && message !== before?.message;
      if (isNew) log.error(`Archiving is paused until this is corrected: ${message}`);
      stop.throwIfAborted();
      await sleep(waitMs, stop);
    }
  }
}

/** @throws {Fatal} the error, if it must end the process. */
function blockedBy(error: unknown, path: string): Blocked {
  if (error instanceof Fatal) throw error;
  const message = `Can't read or write "${path}": ${errorText(error)}`;
  return { reason: message, message };
}
