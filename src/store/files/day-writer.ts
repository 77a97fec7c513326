import { EXIT, Fatal } from '../../base/exit.ts';
import type { Log } from '../../base/log.ts';
import { NOTHING, openDailyFile, type DailyFile } from '../../disk/daily-file.ts';
import { cannotOpen, daysIn, newestDay } from '../../disk/directory.ts';
import { fileNameOf } from '../../disk/names.ts';
import type { FileOps } from '../../disk/ops.ts';
import { type Blocked, blockedBy, misplaced, sealed, unopened } from '../../disk/trouble.ts';

/** What came of a batch. */
export interface Committed {
  /** Bytes of whole lines that are as durable as promised. */
  readonly lineBytes: number;
  readonly blocked?: Blocked;
}

interface DayWriterOptions {
  readonly dir: string;
  readonly durability: 'disk' | 'os';
  readonly files: FileOps;
  readonly log: Log;
}

/**
 * Writes batches to the view files, each to its day's. Calls must not overlap, `checkPath` excepted.
 * All but `checkPath` throw a Fatal with exit 74 when a sync fails, or a write in a way that says
 * nothing about what is in the file (EIO): the next start finds out, and seals.
 */
export class DayWriter {
  readonly #options: DayWriterOptions;
  #file: DailyFile | undefined;
  /** The path no longer names the file. */
  #misplaced: 'moved' | 'shrunk' | undefined;
  /** A file should be open, and is not. */
  #wanting = false;
  syncSeconds = 0;
  sealedFragments = 0;

  constructor(options: DayWriterOptions) {
    this.#options = options;
  }

  get path(): string | undefined {
    return this.#file?.path;
  }

  /** For a message: the file, or the directory where none is open. */
  get where(): string {
    return this.path ?? this.#options.dir;
  }

  get fileBytes(): number {
    return this.#file?.size() ?? 0;
  }

  /**
   * Opens and seals the newest file, whatever its day: the one that a crash may have torn.
   * @throws {Fatal} exit 73 if it can't be opened.
   */
  async start(today: string): Promise<Blocked | undefined> {
    const { dir } = this.#options;
    const day = newestDay(dir, 'views');
    if (day !== undefined) {
      await this.#open(day).catch((error: unknown) => {
        if (error instanceof Fatal) throw error;
        throw cannotOpen(`${dir}/${fileNameOf('views', day)}`, error);
      });
    }
    // If no line can be written today, that is found before the first of them.
    if (this.#file?.day !== today) this.#wanting = daysIn(dir, 'views').includes(today);
    return this.catchUp(today);
  }

  /** Writes whole lines to the day's file, and syncs them if so promised. */
  async commit(day: string, lines: Uint8Array): Promise<Committed> {
    if (this.#file?.day !== day || this.#misplaced !== undefined) {
      const blocked = (await this.#leave()) ?? (await this.#tryOpen(day));
      if (blocked !== undefined) return { lineBytes: 0, blocked };
    }
    return this.#write(this.#file!, lines);
  }

  /**
   * Writes what the file is owed, leaves a file that is misplaced or of a past day, opens one
   * where one is wanted.
   */
  async catchUp(today: string): Promise<Blocked | undefined> {
    if (this.#file !== undefined && (this.#file.day !== today || this.#misplaced !== undefined)) {
      if (this.#file.day === today) this.#wanting = true;
      const blocked = await this.#leave();
      if (blocked !== undefined) return blocked;
    }
    if (this.#file === undefined && this.#wanting) {
      const blocked = await this.#tryOpen(today);
      if (blocked !== undefined) return blocked;
    }
    return this.#file?.owes() ? (await this.#write(this.#file, NOTHING)).blocked : undefined;
  }

  /** Whether `catchUp` has something to do: the path no longer names the open file, or a new day. */
  async checkPath(today: string): Promise<boolean> {
    const file = this.#file;
    if (file === undefined) return false;
    const found = await file.whereabouts();
    if (file === this.#file && found !== 'here') this.#misplaced = found;
    return this.#misplaced !== undefined || file.day !== today;
  }

  /** @throws {Fatal} exit 74 if the file ends in half a line: the disk is full. */
  async close(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    const blocked = await this.#leave();
    if (blocked === undefined) return;
    const torn = file.isTorn();
    await this.#sync(file);
    await file.close();
    if (!torn) return;
    throw new Fatal(
      EXIT.ioError,
      `"${file.path}" ends in half a line, since the disk is full; the next start ends that line`,
    );
  }

  async #write(file: DailyFile, lines: Uint8Array): Promise<Committed> {
    const before = file.size();
    const begunMs = performance.now();
    const { lineBytes, error } = await file.append(lines);
    const blocked = error === undefined ? undefined : blockedBy(error, file.path);
    if (this.#options.durability === 'disk' && file.size() > before) {
      await file.sync();
      this.syncSeconds += (performance.now() - begunMs) / 1000;
    }
    return blocked === undefined ? { lineBytes } : { lineBytes, blocked };
  }

  async #sync(file: DailyFile): Promise<void> {
    const begunMs = performance.now();
    await file.sync();
    this.syncSeconds += (performance.now() - begunMs) / 1000;
  }

  /** Closes the file, complete and synced; one that is not at its path any more, in any case. */
  async #leave(): Promise<Blocked | undefined> {
    const file = this.#file;
    if (file === undefined) return undefined;
    const where = this.#misplaced;
    if (where !== undefined) this.#options.log.warn(misplaced(file.path, where));
    // What is owed to a file that shrank belongs to a line that is gone. One that was moved gets
    // it, but is not waited for: its space may come back only when it is closed.
    if (file.owes() && where !== 'shrunk') {
      const { blocked } = await this.#write(file, NOTHING);
      if (blocked !== undefined && where === undefined) return blocked;
    }
    if (this.#options.durability === 'os') await this.#sync(file);
    this.#file = undefined;
    this.#misplaced = undefined;
    await file.close();
    return undefined;
  }

  async #tryOpen(day: string): Promise<Blocked | undefined> {
    try {
      await this.#open(day);
      return undefined;
    } catch (error) {
      if (error instanceof Fatal) throw error;
      // Whatever the reason, no line is at stake: it may pass, and the operator is told.
      this.#wanting = true;
      return unopened(`${this.#options.dir}/${fileNameOf('views', day)}`, error);
    }
  }

  async #open(day: string): Promise<void> {
    const { dir, durability, files, log } = this.#options;
    const durable = durability === 'disk';
    const onSealed = (path: string): void => {
      this.sealedFragments += 1;
      log.warn(sealed(path));
    };
    this.#file = await openDailyFile({ kind: 'views', dir, day, files, durable, onSealed });
    this.#wanting = false;
  }
}
