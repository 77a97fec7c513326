import { Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { NEWLINE } from '../base/text.ts';
import { NoRegularFile, NOTHING, openDailyFile, type DailyFile } from '../disk/daily-file.ts';
import { fileNameOf } from '../disk/names.ts';
import type { FileOps } from '../disk/ops.ts';
import { type Blocked, blockedBy, moved, sealed, unopened } from '../disk/trouble.ts';
import { findWritten, type Written } from './find-written.ts';
import type { UntilRoom } from './until-room.ts';

interface DayFilesOptions {
  readonly dir: string;
  readonly files: FileOps;
  readonly log: Log;
  readonly untilRoom: UntilRoom;
}

/** Open at once. A batch of lines must not be of more days. */
export const DAYS_MAX = 16;

/**
 * The view files of several days at once, for lines that come in no order of days. A full disk is
 * waited for: no line is left out. Calls must not overlap. All throw a Fatal with exit 74 when a
 * sync fails, or a write in a way that says nothing about what is in the file.
 */
export class DayFiles {
  readonly #options: DayFilesOptions;
  /** The longest unused first. */
  readonly #open = new Map<string, DailyFile>();
  readonly written = new Set<string>();
  syncSeconds = 0;
  sealedFragments = 0;

  constructor(options: DayFilesOptions) {
    this.#options = options;
  }

  pathOf(day: string): string {
    return `${this.#options.dir}/${fileNameOf('views', day)}`;
  }

  get paths(): string[] {
    return Array.from(this.#open.values(), (file) => file.path);
  }

  /** The file that ends in half a line, if one does. */
  get torn(): string | undefined {
    return [...this.#open.values()].find((file) => file.isTorn())?.path;
  }

  /**
   * Opens the day's file, made if missing; its name is then on the disk.
   * @param ending what completes its torn last line, where that is known.
   * @returns its size.
   */
  async open(day: string, ending?: Uint8Array): Promise<number> {
    this.written.add(day);
    await this.#options.untilRoom.succeeds(() => this.#tryOpen(day, ending));
    return this.#open.get(day)!.size();
  }

  /** What the day's file has of these lines, from byte `from` on; `isSure` as in `findWritten`. */
  async find(day: string, from: number, lines: Buffer, isSure: boolean): Promise<Written> {
    const path = this.pathOf(day);
    let written!: Written;
    await this.#options.untilRoom.succeeds(async () => {
      try {
        written = await findWritten(path, from, lines, isSure);
        return undefined;
      } catch (error) {
        if (error instanceof NoRegularFile) return unopened(path, error);
        throw error;
      }
    });
    return written;
  }

  /**
   * Writes whole lines to the day's file, after what it is owed.
   * @param isBegun the file, opened with an `ending`, ends in half of the first of them.
   * @param onReplaced called with the file's size before a line goes to another file than the one
   * that `open` has opened: somebody has moved or emptied that.
   */
  async append(
    day: string,
    lines: Uint8Array,
    onReplaced: (size: number) => Promise<void>,
    isBegun = false,
  ): Promise<void> {
    let known = this.#open.get(day);
    /** Bytes of `lines` that are in the file; the line after them may be owed to `begunIn`. */
    let done = 0;
    let begunIn = isBegun ? known : undefined;
    await this.#options.untilRoom.succeeds(async () => {
      const unopened = await this.#tryOpen(day);
      if (unopened !== undefined) return unopened;
      const file = this.#open.get(day)!;
      if (file !== known) await onReplaced(file.size());
      known = file;
      if (file.owes()) {
        const { error } = await file.append(NOTHING);
        if (error !== undefined) return blockedBy(error, file.path);
        if (file === begunIn) done = lines.indexOf(NEWLINE, done) + 1;
      }
      begunIn = undefined;
      const { lineBytes, error } = await file.append(lines.subarray(done));
      done += lineBytes;
      if (error === undefined) return undefined;
      begunIn = file;
      return blockedBy(error, file.path);
    });
  }

  /** Makes what was written to these files last; closes the longest unused of too many. */
  async sync(days: Iterable<string>): Promise<void> {
    const begunMs = performance.now();
    const files = Array.from(days, (day) => this.#open.get(day)!);
    await Promise.all(files.map((file) => file.sync()));
    this.syncSeconds += (performance.now() - begunMs) / 1000;
    for (const [day, file] of this.#open) {
      if (this.#open.size > DAYS_MAX) await this.#close(day, file);
    }
  }

  /** Closes files that are not at their paths any more. */
  async checkPaths(): Promise<void> {
    for (const [day, file] of this.#open) {
      await this.#leaveMisplaced(day, file).catch(ignoreStat);
    }
  }

  async close(): Promise<void> {
    for (const [day, file] of this.#open) await this.#close(day, file);
  }

  async #tryOpen(day: string, ending?: Uint8Array): Promise<Blocked | undefined> {
    const { dir, files } = this.#options;
    try {
      const file = this.#open.get(day);
      if (file === undefined || (await this.#leaveMisplaced(day, file))) {
        const onSealed = (path: string): void => this.#sealed(path);
        const opened = await openDailyFile({ kind: 'views', dir, day, files, onSealed, ending });
        this.#open.set(day, opened);
      } else {
        // The last in the order.
        this.#open.delete(day);
        this.#open.set(day, file);
      }
      return undefined;
    } catch (error) {
      if (error instanceof Fatal) throw error;
      return unopened(this.pathOf(day), error);
    }
  }

  async #leaveMisplaced(day: string, file: DailyFile): Promise<boolean> {
    const where = await file.whereabouts();
    if (where === 'here') return false;
    this.#options.log.warn(moved(file.path));
    // What was written to it counts as written, wherever it is now.
    await file.sync();
    await this.#close(day, file);
    return true;
  }

  async #close(day: string, file: DailyFile): Promise<void> {
    this.#open.delete(day);
    await file.close();
  }

  #sealed(path: string): void {
    this.sealedFragments += 1;
    this.#options.log.warn(sealed(path));
  }
}

/** The next write tries again, and tells. */
function ignoreStat(error: unknown): void {
  if (error instanceof Fatal) throw error;
}
