// Writes whole lines to the file of their day, one day at a time. It opens and seals files, leaves
// one that was moved or whose day is over, and decides which errors pass and which end the process.
import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { type DailyFile, NOTHING, openDailyFile } from './daily-file.ts';
import { cannotOpen, daysIn, newestRegular } from './directory.ts';
import { fileNameOf, type FileKind } from './names.ts';
import type { FileOps } from './ops.ts';
import { type Blocked, blockedBy, moved, sealed, unopened } from './trouble.ts';

/** The outcome of writing some lines. */
export interface Written {
  /** Bytes of whole lines that are in the file, and as durable as promised. */
  readonly lineBytes: number;
  /** Why the rest is not. */
  readonly blocked?: Blocked;
}

interface DayWriterOptions {
  readonly kind: FileKind;
  /** Exists. */
  readonly dir: string;
  /** `disk`: each write is synced. `os`: each file is synced when it is left. */
  readonly durability: 'disk' | 'os' | 'none';
  readonly files: FileOps;
  readonly log: Log;
}

/**
 * Calls must not overlap. Every method may throw a Fatal with exit 74: a sync failed, or a write
 * failed in a way that says nothing about the contents of the file (EIO). The process must then
 * end; the next start finds out what is in the file, and seals it.
 */
export class DayWriter {
  readonly #options: DayWriterOptions;
  readonly #written = new Set<string>();
  #file: DailyFile | undefined;
  #lookFailed = false;
  /** Seconds spent on writing and syncing. */
  syncSeconds = 0;
  sealedFragments = 0;

  constructor(options: DayWriterOptions) {
    this.#options = options;
  }

  /** The open file. */
  get path(): string | undefined {
    return this.#file?.path;
  }

  /** For a message: the open file, or the directory. */
  get where(): string {
    return this.path ?? this.#options.dir;
  }

  /** The open file's size. */
  get fileBytes(): number {
    return this.#file?.size() ?? 0;
  }

  /** Whether this writer has opened the day's file for writing. */
  hasWritten(day: string): boolean {
    return this.#written.has(day);
  }

  /**
   * Opens, syncs and seals the newest file, which is the one that a crash may have torn.
   * @throws {Fatal} exit 73 if it can't be opened.
   */
  async start(today: string): Promise<Blocked | undefined> {
    const { dir, files, kind } = this.#options;
    const days = await daysIn(files, dir, kind);
    const newest = await newestRegular(files, dir, kind, days);
    if (newest !== undefined) {
      try {
        await this.#open(newest);
      } catch (error) {
        if (error instanceof Fatal) throw error;
        throw cannotOpen(`${dir}/${fileNameOf(kind, newest)}`, error);
      }
      const blocked = (await this.write(newest, NOTHING)).blocked ?? (await this.look(today));
      if (blocked !== undefined) return blocked;
    }
    // If today's file cannot be opened, the operator should not learn it from the first view.
    return days.includes(today) && this.#file === undefined ? this.#tryOpen(today) : undefined;
  }

  /** Writes whole lines to the day's file. No lines: only what the file is owed. */
  async write(day: string, lines: Uint8Array): Promise<Written> {
    if (this.#file?.day !== day) {
      const blocked = (await this.#leave()) ?? (await this.#tryOpen(day));
      if (blocked !== undefined) return { lineBytes: 0, blocked };
    }
    return this.#append(this.#file!, lines);
  }

  /** Opens the file again if its path no longer names it, or not all of it; closes a past day's. */
  async look(today: string): Promise<Blocked | undefined> {
    const file = this.#file;
    if (file === undefined) return undefined;
    const where = await this.#whereabouts(file);
    if (where === 'here') return file.day === today ? undefined : this.#leave();
    // The rest of a half line belongs into a file that was moved, not into one that was emptied.
    // Nobody waits for its space, which may come back only when the file is closed.
    if (where === 'moved' && file.owes()) await this.#append(file, NOTHING);
    await this.#close(file);
    if (file.day !== today) return undefined;
    this.#options.log.warn(moved(file.path));
    return this.#tryOpen(today);
  }

  async #whereabouts(file: DailyFile): Promise<'here' | 'moved' | 'shrunk'> {
    try {
      return await file.whereabouts();
    } catch (error) {
      // The path cannot be looked at, but the open file can still be written to.
      if (!this.#lookFailed) {
        this.#options.log.warn(`Cannot look at "${file.path}": ${reasonOf(error)}`);
      }
      this.#lookFailed = true;
      return 'here';
    }
  }

  /** @throws {Fatal} exit 74 if the file is left with half a line, because the disk is full. */
  async close(): Promise<void> {
    const file = this.#file;
    if (file === undefined || (await this.#leave()) === undefined) return;
    const isTorn = file.isTorn();
    await this.#close(file);
    if (!isTorn) return;
    throw new Fatal(
      EXIT.ioError,
      `"${file.path}" ends in half a line because the disk is full; the next start ends that line`,
    );
  }

  async #append(file: DailyFile, lines: Uint8Array): Promise<Written> {
    const before = file.size();
    const begunMs = performance.now();
    const { lineBytes, error } = await file.append(lines);
    const blocked = error === undefined ? undefined : blockedBy(error, file.path);
    // Also after an error: the lines before it are in the file and get their answer.
    if (this.#options.durability === 'disk' && file.size() > before) await file.sync();
    this.syncSeconds += (performance.now() - begunMs) / 1000;
    return blocked === undefined ? { lineBytes } : { lineBytes, blocked };
  }

  /** Completes, syncs and closes the file, which stays open if it cannot be completed. */
  async #leave(): Promise<Blocked | undefined> {
    const file = this.#file;
    if (file === undefined) return undefined;
    const { blocked } = file.owes() ? await this.#append(file, NOTHING) : {};
    if (blocked === undefined) await this.#close(file);
    return blocked;
  }

  async #close(file: DailyFile): Promise<void> {
    this.#file = undefined;
    if (this.#options.durability === 'os') await file.sync();
    await file.close();
  }

  /** No line is at stake yet, so whatever the reason, it may pass. */
  async #tryOpen(day: string): Promise<Blocked | undefined> {
    const { dir, kind } = this.#options;
    try {
      await this.#open(day);
      return undefined;
    } catch (error) {
      if (error instanceof Fatal) throw error;
      return unopened(`${dir}/${fileNameOf(kind, day)}`, error);
    }
  }

  async #open(day: string): Promise<void> {
    const { kind, dir, durability, files, log } = this.#options;
    this.#written.add(day);
    this.#file = await openDailyFile({
      kind,
      dir,
      day,
      files,
      durable: durability === 'disk',
      onSealed: (path) => {
        this.sealedFragments += 1;
        log.warn(sealed(path));
      },
    });
  }
}
