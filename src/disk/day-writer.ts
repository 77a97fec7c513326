// Writes whole lines to the file of their day, one day at a time. It opens and seals files, closes
// a file that was moved or belongs to a past day, and decides which errors are retried and which
// end the process.
import { EXIT, errnoOf, Fatal, errorText, writeAdvice } from '../base/exit.ts';
import { NEWLINE } from '../base/text.ts';
import { HOUR_MS } from '../base/time.ts';
import { cannotOpen, daysIn } from './directory.ts';
import { cannotSync, syncDirectory, synced, writeAll } from './durable.ts';
import { fileNameOf, type FileKind } from './names.ts';
import { type DirectoryOptions, type FileOps, ifPresent } from './ops.ts';

/** The outcome of writing some lines. */
export interface Written {
  /** Bytes of whole lines that are in the file and as durable as promised. */
  readonly lineBytes: number;
  /** The reason why the rest isn't written. */
  readonly blocked?: Blocked;
}

/** Why nothing can be written for now: one text for the client, one for the log. */
export interface Blocked {
  readonly reason: string;
  readonly message: string;
}

interface DayWriterOptions extends DirectoryOptions {
  readonly kind: FileKind;
  /** `disk`: each write is synced. `os`: each file is synced when it is closed. */
  readonly durability: 'disk' | 'os' | 'none';
}

/** A day's file, open for append. */
interface OpenFile {
  readonly day: string;
  readonly path: string;
  readonly fd: number;
  /** True: each write is durable when it returns. */
  readonly isDsync: boolean;
  readonly dev: number;
  readonly ino: number;
  size: number;
  /**
   * Bytes to write before anything else: the newline that seals a fragment, or the rest of a line
   * that a full disk cut off. Part of that line may be in the file, and a file that shippers read
   * is never truncated or overwritten.
   */
  owed: Uint8Array;
}

/** A FIFO or /dev/null would accept lines and discard them, so viewlog never writes to one. */
const NOT_REGULAR = "it isn't a regular file; move it away";
const SEAL = Uint8Array.of(NEWLINE);
export const NOTHING = new Uint8Array(0);

/**
 * Calls must not overlap. Every method may throw a Fatal with exit 74: a sync failed, or a write
 * failed in a way that says nothing about the contents of the file (EIO). The process must then
 * end; the next start finds out what is in the file and seals it.
 */
export class DayWriter {
  readonly #options: DayWriterOptions;
  #file: OpenFile | undefined;
  /** The day of the file that is being opened. */
  #opening: string | undefined;
  /** The day of the file that was open before, and when it was closed, on the monotonic clock. */
  #left = { day: '', atMs: 0 };
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

  /** The open file or the directory, for a message. */
  get where(): string {
    return this.path ?? this.#options.dir;
  }

  /** The open file's size. */
  get fileBytes(): number {
    return this.#file?.size ?? 0;
  }

  /**
   * Returns whether the day's file is open or being opened, or was the last one to be closed, less
   * than an hour ago: once a wrong clock is corrected, viewlog opens the former file again.
   */
  isInUse(day: string): boolean {
    const isLeft = day === this.#left.day && performance.now() - this.#left.atMs < HOUR_MS;
    return isLeft || day === this.#file?.day || day === this.#opening;
  }

  /**
   * Opens, syncs and seals the newest file, the only one in which a crash can leave a fragment.
   * @throws {Fatal} exit 73 if it can't be opened.
   */
  async start(): Promise<Blocked | undefined> {
    const { dir, files, kind } = this.#options;
    const newest = (await daysIn(files, dir, kind)).at(-1);
    if (newest === undefined) return undefined;
    await this.#open(newest).catch((error: unknown) => {
      throw error instanceof Fatal ? error : cannotOpen(this.#pathOf(newest), error);
    });
    return (await this.write(newest, NOTHING)).blocked;
  }

  /** Writes whole lines to the day's file. Without lines, it writes only what is `owed`. */
  async write(day: string, lines: Uint8Array): Promise<Written> {
    if (this.#file?.day !== day) {
      const blocked = (await this.#leave()) ?? (await this.#tryOpen(day));
      if (blocked !== undefined) return { lineBytes: 0, blocked };
    }
    return this.#append(this.#file!, lines);
  }

  /**
   * Opens the file again if its path names another file or if the file has shrunk; closes a past
   * day's file.
   * @param isReported true: the caller has logged that the file is missing or was cut short.
   */
  async checkPath(today: string, isReported = false): Promise<Blocked | undefined> {
    const file = this.#file;
    if (file === undefined) return undefined;
    // If the path can't be examined, the open file can still be written to.
    const found = await ifPresent(this.#options.files.stat(file.path)).catch(() => file);
    const isThere = found?.dev === file.dev && found.ino === file.ino;
    if (isThere && found.size >= file.size) {
      return file.day === today ? undefined : this.#leave();
    }
    // The rest of a cut line goes into the moved file, but not into an emptied one. The write is
    // tried once, because a moved file's disk may have no space until the file is closed.
    if (!isThere && file.owed.length > 0) await this.#append(file, NOTHING);
    await this.#close(file);
    if (file.day !== today) return undefined;
    const what =
      found === undefined
        ? 'moved or removed by another program; if it was removed, its views are gone'
        : isThere
          ? 'cut short by another program; the views that were cut off are gone'
          : 'replaced by another program; views that the new file lacks are in the old one if it was moved, and otherwise gone';
    const isReplaced = found !== undefined && !isThere;
    if (isReplaced || !isReported) this.#options.log.warn(`"${file.path}" was ${what}`);
    return this.#tryOpen(today);
  }

  /** Reads the open file at an offset, even if its path now names another file. */
  read(bytes: Uint8Array, position: number): Promise<number> {
    return this.#options.files.read(this.#file!.fd, bytes, position);
  }

  /** @throws {Fatal} exit 74 if a full disk leaves a fragment in the file. */
  async close(): Promise<void> {
    const file = this.#file;
    if (file === undefined || (await this.#leave()) === undefined) return;
    // A file that can't be read may end in a fragment.
    const isWhole = await endsInNewline(this.#options.files, file.fd, file.size).catch(() => false);
    await this.#close(file);
    if (isWhole) return;
    throw new Fatal(
      EXIT.ioError,
      `The last line of "${file.path}" may be incomplete, because a write failed; no acknowledged ` +
        'view is lost. The next start ends the line with a newline.',
    );
  }

  async #append(file: OpenFile, lines: Uint8Array): Promise<Written> {
    const begunMs = performance.now();
    const before = file.size;
    let lineBytes = 0;
    // Awaits only if something is owed: otherwise the write begins before the answers to the last
    // batch are made.
    let error = file.owed.length > 0 ? await this.#writeOwed(file) : undefined;
    if (error === undefined) {
      const outcome = await this.#writeTo(file, lines);
      ({ error } = outcome);
      ({ lineBytes, owed: file.owed } = splitAt(lines, outcome.written));
    }
    const blocked = error === undefined ? undefined : blockedBy(error, file.path);
    // Syncs after an error too: the lines before the error are in the file and are acknowledged.
    const mustSync = this.#options.durability === 'disk' && !file.isDsync && file.size > before;
    if (mustSync) await synced(file.path, this.#options.files.fdatasync(file.fd));
    this.syncSeconds += (performance.now() - begunMs) / 1000;
    return blocked === undefined ? { lineBytes } : { lineBytes, blocked };
  }

  /** Writes what is owed, as far as possible; returns the error that ended it, if any. */
  async #writeOwed(file: OpenFile): Promise<unknown> {
    const { owed } = file;
    const { written, error } = await this.#writeTo(file, owed);
    if (written > 0) file.owed = owed.subarray(written);
    if (owed === SEAL && written > 0) {
      this.sealedFragments += 1;
      const what =
        'ended in a fragment, a part of a line; viewlog has sealed it with a newline. If viewlog crashed or the disk was full, its view was never acknowledged';
      this.#options.log.warn(`"${file.path}" ${what}`);
    }
    return error;
  }

  async #writeTo(file: OpenFile, bytes: Uint8Array): ReturnType<typeof writeAll> {
    const { files } = this.#options;
    const outcome = await writeAll(files, file.fd, bytes, async (cause, written) => {
      if (!file.isDsync) return;
      const found = await files.fstat(file.fd).catch(() => undefined);
      // The sync failed if all bytes are in the file or if their number is unknown.
      if ((found?.size ?? Infinity) > file.size + written) throw cannotSync(file.path, cause);
    });
    file.size += outcome.written;
    return outcome;
  }

  /** Completes, syncs and closes the file, which stays open if it can't be completed. */
  async #leave(): Promise<Blocked | undefined> {
    const file = this.#file;
    if (file === undefined) return undefined;
    const { blocked } = file.owed.length > 0 ? await this.#append(file, NOTHING) : {};
    if (blocked === undefined) await this.#close(file);
    return blocked;
  }

  async #close({ day, path, fd }: OpenFile): Promise<void> {
    const { durability, files } = this.#options;
    this.#file = undefined;
    const left = { day, atMs: Infinity };
    this.#left = left;
    if (durability === 'os') await synced(path, files.fdatasync(fd));
    await files.close(fd);
    left.atMs = performance.now();
  }

  #pathOf(day: string): string {
    return `${this.#options.dir}/${fileNameOf(this.#options.kind, day)}`;
  }

  /** Opens the day's file. No line is lost by waiting, so any error may be retried. */
  async #tryOpen(day: string): Promise<Blocked | undefined> {
    this.#opening = day;
    try {
      await this.#open(day);
      return undefined;
    } catch (error) {
      if (error instanceof Fatal) throw error;
      return {
        reason: isDiskFull(error) ? DISK_FULL : "the view file can't be opened",
        message: cannotOpen(this.#pathOf(day), error).message,
      };
    } finally {
      this.#opening = undefined;
    }
  }

  /**
   * Opens or creates the day's file and syncs the lines of earlier processes.
   * @throws {Fatal} exit 74 if a sync fails; else the reason or the system's error.
   */
  async #open(day: string): Promise<void> {
    const { dir, durability, files } = this.#options;
    const path = this.#pathOf(day);
    // Some devices act when they are opened, and on Deno opening a FIFO waits for its reader.
    const found = await ifPresent(files.stat(path));
    if (found?.isFile() === false) throw new Error(NOT_REGULAR);
    // With one call that writes and syncs, Node and Bun store a third more views than with two
    // calls: under load, the event loop is too busy to start the second call in time.
    const isDsync = durability === 'disk' && files.canDsync;
    const fd = await files.open(path, isDsync ? 'ad' : 'a', 0o640);
    try {
      // A service's umask is often 077, and then the shipper's group couldn't read the file. A
      // file system without modes refuses chmod and has rules of its own.
      if (found === undefined) await files.chmod(path, 0o640).catch(() => {});
      const there = await files.fstat(fd);
      // Another program may have replaced the file since it was checked.
      if (!there.isFile()) throw new Error(NOT_REGULAR);
      const { dev, ino, size } = there;
      const owed = (await endsInNewline(files, fd, size)) ? NOTHING : SEAL;
      if (size > 0) await synced(path, files.fdatasync(fd));
      // Syncs the directory of an existing file too: the process that created the file may have
      // died before it synced the directory.
      await syncDirectory(files, dir);
      this.#file = { day, path, fd, isDsync, dev, ino, size, owed };
    } catch (error) {
      // Not awaited, because a disk that hangs must not delay the error.
      void files.close(fd).catch(() => {});
      throw error;
    }
  }
}

/**
 * Splits whole lines after the bytes that reached a file.
 * @returns how many of those bytes are whole lines, and a copy of the rest of the line that was cut
 *   off; empty if none was.
 */
export function splitAt(lines: Uint8Array, written: number) {
  const lineBytes = lines.subarray(0, written).lastIndexOf(NEWLINE) + 1;
  const end = lines.indexOf(NEWLINE, lineBytes) + 1;
  // A copy: a Buffer's own `slice` is a view of memory that its owner may use again.
  return { lineBytes, owed: Uint8Array.from(lines.subarray(written, end)) };
}

async function endsInNewline(files: FileOps, fd: number, size: number): Promise<boolean> {
  const last = new Uint8Array(1);
  return size === 0 || ((await files.read(fd, last, size - 1)) === 1 && last[0] === NEWLINE);
}

/** A process over its quota or RLIMIT_FSIZE can't write, as on a full disk. */
const DISK_FULL_ERRNOS = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);
export const DISK_FULL = 'the disk is full';

const isDiskFull = (error: unknown): boolean => DISK_FULL_ERRNOS.has(errnoOf(error) ?? '');

/** @throws {Fatal} exit 74 if the error is anything but a full disk. */
function blockedBy(error: unknown, path: string): Blocked {
  const message = `Can't write "${path}": ${errorText(error)}`;
  if (isDiskFull(error)) return { reason: DISK_FULL, message: `${message}; ${writeAdvice(error)}` };
  throw new Fatal(EXIT.ioError, `${message}; check the disk`);
}
