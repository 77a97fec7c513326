import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { NEWLINE } from '../base/text.ts';
import { sleep } from '../base/time.ts';
import { type Blocked, DayWriter, NOTHING } from '../disk/day-writer.ts';
import { replaceFile } from '../disk/durable.ts';
import { FreeSpace } from '../disk/free-space.ts';
import { archiveRecordOf, dayOfFileName, fileNameOf } from '../disk/names.ts';
import { type DirectoryOptions, ifPresent } from '../disk/ops.ts';
import type { ArchiveLine } from './archive-batch.ts';
import { type ArchiveRecord, readRecord, recordText } from './archive-record.ts';
import { damageOf, removedText, shortenedText } from './damage.ts';
import { idsIn, startOfLast } from './ids-in-file.ts';
import { RecentIds } from './recent-ids.ts';
import { parseRuns, type Run, runsText } from './runs.ts';

export interface ArchiveFilesOptions extends DirectoryOptions {
  /** The archive waits below this much free disk space; 0: until the disk is full. */
  readonly minFreeBytes: number;
  readonly stop: AbortSignal;
  /** The longest wait between two attempts; the first is a tenth of it, and they double. */
  readonly waitMsMax: number;
  /** The most ids to hold in memory, of lines that the record does not cover. */
  readonly idsMax?: number;
  /** View files more than this many days old are removed; 0: none. */
  readonly keepDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A day with a file that this process has written to. */
interface Day {
  /** The recorded size when the file was opened; `undefined` once the archive has caught up. */
  start: number | undefined;
  /** The ids of later lines, as long as their messages have not come. */
  readonly ids: Set<string>;
  size: number;
}

const LOOK_MS = 1_000;
/** About 300 MiB. */
const IDS_MAX = 3_000_000;
/** An id that comes again within so many messages is written once. About 20 MiB. */
const RECENT_MAX = 100_000;
const LINE_END = Uint8Array.of(NEWLINE);

/**
 * The view files, one of which is open, and the record of what is in them. Every call waits while
 * the disk is full; it throws if the process is stopped meanwhile. Calls must not overlap.
 */
export class ArchiveFiles {
  readonly #options: ArchiveFilesOptions;
  readonly writer: DayWriter;
  readonly space: FreeSpace;
  readonly #days = new Map<string, Day>();
  readonly #recent = new RecentIds(RECENT_MAX);
  #openDay = '';
  #lookedMs = 0;
  /** `undefined` if nothing has been archived. */
  record: ArchiveRecord | undefined;
  /** The reason for waiting now: a full disk, or a file that cannot be opened. */
  blocked: Blocked | undefined;
  /** Tells the operator about files that another program has removed. */
  readonly warnings: string[] = [];
  /** Counts of the views written since the start. */
  lines = 0;
  bytes = 0;

  constructor(options: ArchiveFilesOptions) {
    this.#options = options;
    this.writer = new DayWriter({ ...options, kind: 'views', durability: 'disk' });
    this.space = new FreeSpace({ ...options, effect: 'archiving waits' });
  }

  /** @throws {Fatal} exit 65 or 74 if the record cannot be read. */
  async start(): Promise<void> {
    this.record = await readRecord(this.#options.files, this.#options.dir);
    await this.space.poll();
    for (const name of this.shortened) this.#options.log.error(shortenedText(name));
  }

  /** The view files that another program has cut short, until their days are restored. */
  get shortened(): readonly string[] {
    return this.record?.shortened ?? [];
  }

  /** Compares the sizes of files with the record: another program may have changed them. */
  async examine(names = Object.keys(this.record?.files ?? {})): Promise<void> {
    const { log } = this.#options;
    const { missing, shortened } = await damageOf(this.#options, this.record?.files ?? {}, names);
    if (missing.length + shortened.length === 0) return;
    for (const name of shortened) log.error(shortenedText(name));
    const warning = await removedText(this.#options, missing);
    if (warning !== undefined) {
      this.warnings.push(warning);
      log.warn(warning);
    }
    await this.#forget([...missing, ...shortened], shortened);
  }

  /** Removes sizes that no longer hold from the record. */
  async #forget(names: readonly string[], shortened: readonly string[]): Promise<void> {
    for (const name of names) this.#days.delete(dayOfFileName('views', name) ?? '');
    const sizes = Object.entries(this.record!.files).filter(([name]) => !names.includes(name));
    const all = [...new Set([...this.shortened, ...shortened])];
    await this.#save({ ...this.record!, files: Object.fromEntries(sizes), shortened: all });
  }

  /** Records that nothing after this message is archived, and trusts no recorded size. */
  restart(stream: string, created: string, sequence: number): Promise<void> {
    this.#days.clear();
    this.#recent.clear();
    return this.#save({ stream, created, sequence, files: {}, shortened: [...this.shortened] });
  }

  /**
   * Appends the lines that the file does not have yet; they are durable when it resolves.
   * @throws {Fatal} exit 65 if the file has too many lines that the record does not cover.
   */
  async append(day: string, lines: readonly ArchiveLine[]): Promise<void> {
    await this.#repeat(this.#options.dir, () => this.#enoughFree());
    const known = await this.#open(day);
    const fresh = lines.filter(({ id }) => {
      const isInFile = known.ids.delete(id);
      return this.#recent.add(id) && !isInFile;
    });
    await this.#append(day, known, fresh);
  }

  /**
   * Appends the lines whose ids are not in the file, wherever it may have them.
   * @returns their number.
   */
  async complete(day: string, lines: readonly ArchiveLine[]): Promise<number> {
    const absent = await this.absent(day, new Set(lines.map(({ id }) => id)));
    const fresh = lines.filter(({ id }) => absent.delete(id));
    if (fresh.length > 0) await this.#append(day, await this.#open(day), fresh);
    return fresh.length;
  }

  /** Returns the ids that are in no line of the day's file. */
  async absent(day: string, ids: ReadonlySet<string>): Promise<Set<string>> {
    const { files, dir } = this.#options;
    const path = `${dir}/${fileNameOf('views', day)}`;
    let absent = new Set(ids);
    await this.#repeat(path, async () => {
      absent = new Set(ids);
      const found = await ifPresent(files.stat(path));
      for await (const id of idsIn(files, path, 0, found?.size ?? 0)) absent.delete(id);
    });
    return absent;
  }

  /** Call once the day's file has every view that the stream has of the day. */
  async restored(day: string): Promise<void> {
    const name = fileNameOf('views', day);
    const { sequence, id } = this.record!;
    this.record = { ...this.record!, shortened: this.shortened.filter((one) => one !== name) };
    const found = await ifPresent(this.#options.files.stat(`${this.#options.dir}/${name}`));
    if (found !== undefined) await this.#open(day);
    await this.advance(sequence, id);
  }

  /** Opens the day's file. */
  async #open(day: string): Promise<Day> {
    // Once it is open, a file that was removed is there again.
    if (day !== this.#openDay) await this.examine([fileNameOf('views', day)]);
    for (;;) {
      await this.#write(day, NOTHING);
      const before = this.#days.get(day);
      // A different size shows that this is another file, or one that was begun anew.
      const known = before?.size === this.writer.fileBytes ? before : await this.#begin(day);
      if (known !== undefined) return known;
    }
  }

  async #append(day: string, known: Day, lines: readonly ArchiveLine[]): Promise<void> {
    const bytes = Buffer.concat(lines.flatMap(({ data }) => [data, LINE_END]));
    await this.#write(day, bytes);
    known.size = this.writer.fileBytes;
    for (const { id } of lines) this.#recent.add(id);
    this.lines += lines.length;
    this.bytes += bytes.length;
  }

  /**
   * Call once every message that an earlier process may have written has been read.
   * @param isCertain false: some may be, so this process continues to look for them.
   */
  caughtUp(isCertain: boolean): void {
    for (const day of this.#days.values()) {
      day.start = undefined;
      if (isCertain) day.ids.clear();
    }
  }

  /**
   * Records that every message up to this one is in the files.
   * @param id the id of its view, if it is one.
   * @param runs messages that were read as missing; by default those of the record.
   */
  advance(
    sequence: number,
    id: string | undefined,
    runs: readonly Run[] | undefined = parseRuns(this.record?.missing ?? ''),
  ): Promise<void> {
    const { stream, created, files } = this.record!;
    const sizes = { ...files };
    for (const [day, { start, ids, size }] of this.#days) {
      // A file with lines from messages that may still come keeps its former size: if the present
      // size were recorded, the next process would write these views again.
      sizes[fileNameOf('views', day)] = ids.size === 0 ? size : (start ?? size);
    }
    return this.#save({
      stream,
      created,
      sequence,
      ...(id !== undefined && { id }),
      files: sizes,
      ...(runs?.length && { missing: runsText(runs) }),
      ...(this.shortened.length > 0 && { shortened: [...this.shortened] }),
    });
  }

  /** Checks free space, and opens the file again if another program has moved or emptied it. */
  async look(): Promise<void> {
    this.#lookedMs = performance.now();
    await this.space.poll();
    if (this.#openDay !== '') await this.examine([fileNameOf('views', this.#openDay)]);
    // If the file cannot be opened, the next write reports it.
    await this.writer.checkPath(this.#openDay);
  }

  /**
   * Collects the ids in a file, now open and sealed, that the record does not cover.
   * @returns `undefined` if another program has just moved the file.
   */
  async #begin(day: string): Promise<Day | undefined> {
    const name = fileNameOf('views', day);
    const size = this.writer.fileBytes;
    const recorded = this.record!.files[name] ?? 0;
    const isShorter = recorded > size;
    const start = isShorter ? 0 : recorded;
    let ids: Set<string> | undefined;
    await this.#repeat(name, async () => {
      ids = await ifPresent(this.#collect(name, start, size));
    });
    if (ids === undefined) {
      await this.look();
      return undefined;
    }
    // The record has the size of another file, and this one could grow to that size before a crash.
    if (isShorter) {
      this.#options.log.error(shortenedText(name));
      await this.#forget([name], [name]);
    }
    const begun = { start, ids, size };
    this.#days.set(day, begun);
    return begun;
  }

  async #collect(name: string, start: number, end: number): Promise<Set<string>> {
    const { files, dir, idsMax = IDS_MAX } = this.#options;
    const path = `${dir}/${name}`;
    const recentStart = await startOfLast(files, path, RECENT_MAX, start);
    for await (const id of idsIn(files, path, recentStart, start)) this.#recent.add(id);
    const ids = new Set<string>();
    let count = [...this.#days.values()].reduce((sum, day) => sum + day.ids.size, 0);
    for await (const id of idsIn(files, path, start, end)) {
      ids.add(id);
      if (++count > idsMax) throw tooMany(name, idsMax);
    }
    return ids;
  }

  /** Opens the day's file, ends a torn last line, and writes whole lines. */
  async #write(day: string, lines: Uint8Array): Promise<void> {
    this.#openDay = day;
    let left = lines;
    await this.#repeat(fileNameOf('views', day), async () => {
      // After a wait, another program may have changed the file. Once part of the lines may be
      // written, it is too late to check.
      const isLookDue = lines.length === 0 && performance.now() - this.#lookedMs >= LOOK_MS;
      if (isLookDue) await this.look();
      const { blocked: unopened } = await this.writer.write(day, NOTHING);
      if (unopened !== undefined || left.length === 0) return unopened;
      const { lineBytes, blocked } = await this.writer.write(day, left);
      // The writer itself completes the line that it could not finish.
      left = left.subarray(left.indexOf(NEWLINE, lineBytes) + 1);
      return blocked;
    });
  }

  async #save(record: ArchiveRecord): Promise<void> {
    const { dir, files } = this.#options;
    const path = archiveRecordOf(dir);
    // If the record cannot be replaced, the old one is still there, and still true.
    await this.#repeat(path, () => replaceFile(files, path, recordText(record)));
    this.record = record;
  }

  /**
   * Repeats an attempt for as long as a full disk, or a file that cannot be opened, blocks it.
   * @param path the file that is read or written, for the log.
   * @param attempt may resolve to what blocks it, or throw; a Fatal is not retried.
   * @throws if the attempt is blocked and the process is stopped.
   */
  async #repeat(path: string, attempt: () => Promise<Blocked | void>): Promise<void> {
    const { log, waitMsMax: most, stop } = this.#options;
    for (let waitMs = most / 10; ; waitMs = Math.min(2 * waitMs, most)) {
      const before = this.blocked;
      const blocked = await attempt().catch((error: unknown) => blockedBy(error, path));
      this.blocked = blocked ?? undefined;
      if (this.blocked === undefined) {
        if (before !== undefined) log.info('The archive writes again');
        return;
      }
      const { message } = this.blocked;
      // The log already has a line about low space.
      const isNew = message !== '' && message !== before?.message;
      if (isNew) log.error(`${message}; retrying`);
      stop.throwIfAborted();
      await sleep(waitMs, stop);
    }
  }

  async #enoughFree(): Promise<Blocked | undefined> {
    if (this.space.isLow) await this.look();
    return this.space.isLow ? { reason: 'too little free disk space', message: '' } : undefined;
  }
}

/** @throws {Fatal} the error, if it must end the process. */
function blockedBy(error: unknown, path: string): Blocked {
  if (error instanceof Fatal) throw error;
  const message = `Cannot read or write "${path}": ${reasonOf(error)}`;
  return { reason: message, message };
}

function tooMany(name: string, idsMax: number): Fatal {
  return new Fatal(
    EXIT.badData,
    `"${name}" and other files have more than ${plural(idsMax, 'line')} that "archive.json" does ` +
      'not cover; move away the view files of days that the stream still has: the archive writes ' +
      'them again',
  );
}
