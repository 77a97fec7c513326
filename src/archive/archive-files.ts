import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import { NEWLINE } from '../base/text.ts';
import { replaceFile } from '../disk/durable.ts';
import { archiveRecordOf, dayOfFileName, fileNameOf } from '../disk/names.ts';
import { ifPresent } from '../disk/ops.ts';
import type { ArchiveLine } from './archive-batch.ts';
import { type ArchiveRecord, readRecord } from './archive-record.ts';
import { damageOf, removedText, shortenedText } from './damage.ts';
import { idsIn, startOfLast } from './ids-in-file.ts';
import { type PatientOptions, PatientWriter } from './patient-writer.ts';
import { RecentIds } from '../base/recent-ids.ts';

export interface ArchiveFilesOptions extends PatientOptions {
  /** The largest number of ids to hold in memory, of lines that the record doesn't cover. */
  readonly idsMax?: number;
  /** The days to retain a view file for; 0: forever. */
  readonly keepDays: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A day whose file this process has opened. */
interface Day {
  /** The recorded size when the file was opened; `undefined` once the archive has caught up. */
  start: number | undefined;
  /** The ids of the lines after `start` whose messages haven't come yet. */
  readonly ids: Set<string>;
  size: number;
}

/** About 300 MiB. */
const IDS_MAX = 3_000_000;
/** A view whose id recurs within this many messages is written once. The ids take about 20 MiB. */
const RECENT_MAX = 100_000;
const WARNINGS_MAX = 10;
const LINE_END = Uint8Array.of(NEWLINE);

/**
 * The view files, one of them open, and the record of their contents. Every call waits while the
 * disk is full. It throws if the process is stopped meanwhile. Calls must not overlap.
 */
export class ArchiveFiles {
  readonly #options: ArchiveFilesOptions;
  readonly writer: PatientWriter;
  readonly #days = new Map<string, Day>();
  readonly #recent = new RecentIds(RECENT_MAX);
  /** True: every line in the files belongs to a message that the archive has read. */
  #isCaughtUp = false;
  /** `undefined` if nothing has been archived. */
  record: ArchiveRecord | undefined;
  /** Warnings for the operator about the latest files that another program removed. */
  warnings: readonly string[] = [];
  /** The views written since the start, and their bytes. */
  lines = 0;
  bytes = 0;

  constructor(options: ArchiveFilesOptions) {
    this.#options = options;
    this.writer = new PatientWriter(options, async (day) => {
      // A fault changes the record.
      const before = this.record;
      await this.examine([fileNameOf('views', day)]);
      return this.record !== before;
    });
  }

  /** @throws {Fatal} exit 65 or 74 if the record can't be read. */
  async start(): Promise<void> {
    this.record = await readRecord(this.#options.files, this.#options.dir);
    await this.writer.check();
    for (const name of this.shortened) this.#options.log.error(shortenedText(name));
  }

  /** The view files that another program has cut short, until their days are restored. */
  get shortened(): readonly string[] {
    return this.record?.shortened ?? [];
  }

  /**
   * Compares the sizes of files with the record: another program may have changed them.
   * @param names by default, all files of the record.
   * @returns whether every file could be examined.
   */
  async examine(names?: readonly string[]): Promise<boolean> {
    if (this.record === undefined) return true;
    const { missing, shortened, isComplete } = await damageOf(this.#options, this.record, names);
    if (missing.length + shortened.length === 0) return isComplete;
    const warning = await removedText(this.#options, missing);
    if (warning !== undefined) {
      this.warnings = [...this.warnings, warning].slice(-WARNINGS_MAX);
      this.#options.log.warn(warning);
    }
    await this.#forget(missing, shortened);
    return isComplete;
  }

  /** Removes outdated sizes from the record. */
  async #forget(missing: readonly string[], shortened: readonly string[]): Promise<void> {
    for (const name of shortened) this.#options.log.error(shortenedText(name));
    const names = [...missing, ...shortened];
    for (const name of names) this.#days.delete(dayOfFileName('views', name) ?? '');
    const record = this.record!;
    const files = Object.entries(record.files).filter(([name]) => !names.includes(name));
    const still = this.shortened.filter((name) => !names.includes(name));
    const all = [...still, ...shortened];
    await this.#save({ ...record, files: Object.fromEntries(files), shortened: all });
  }

  /** Drops all recorded sizes. The new record says that nothing after this message is archived. */
  async restart(stream: string, created: string, sequence: number): Promise<void> {
    // Examines the files before that: without its recorded size, a file that another program has
    // cut short would look whole.
    const { dir } = this.#options;
    await this.writer.repeat(dir, async () => {
      if (!(await this.examine())) throw new Error("a view file can't be examined");
    });
    this.#days.clear();
    this.#recent.clear();
    this.#isCaughtUp = false;
    const shortened = [...this.shortened];
    await this.#save({ stream, created, sequence, files: {}, missing: [], shortened });
  }

  /**
   * Appends the lines that the file lacks. The lines are durable when the promise resolves.
   * @throws {Fatal} exit 65 if the file has too many lines that the record doesn't cover.
   */
  async append(day: string, lines: readonly ArchiveLine[]): Promise<void> {
    const known = await this.#open(day);
    const fresh = lines.filter(({ id }) => {
      const isInFile = known.ids.delete(id);
      return this.#recent.add(id) && !isInFile;
    });
    await this.#append(day, known, fresh);
  }

  /**
   * Appends the lines whose ids aren't anywhere in the file.
   * @returns the number of appended lines.
   */
  async complete(day: string, lines: readonly ArchiveLine[]): Promise<number> {
    if (lines.length === 0) return 0;
    // Another program may have removed the file since the messages were found missing.
    await this.writer.check();
    const known = await this.#open(day);
    const absent = new Map(lines.map((line) => [line.id, line]));
    await this.writer.repeat(this.#pathOf(day), async () => {
      for await (const id of idsIn(this.writer, 0, known.size)) absent.delete(id);
    });
    await this.#append(day, known, [...absent.values()]);
    for (const { id } of lines) {
      known.ids.delete(id);
      this.#recent.add(id);
    }
    return absent.size;
  }

  /** Call this when the day's file contains every view of that day in the stream. */
  async restored(day: string): Promise<void> {
    const name = fileNameOf('views', day);
    const shortened = this.shortened.filter((one) => one !== name);
    if ((await ifPresent(this.#options.files.stat(this.#pathOf(day)))) !== undefined) {
      await this.#open(day);
    }
    await this.advance({ ...this.record!, shortened });
  }

  /**
   * Call this after reading every message that an earlier process may have written.
   * @param isCertain false: the files may contain lines of later messages, so `append` goes on
   *   looking for their ids.
   */
  caughtUp(isCertain: boolean): void {
    this.#isCaughtUp = isCertain;
    for (const day of this.#days.values()) {
      day.start = undefined;
      if (isCertain) day.ids.clear();
    }
  }

  /** Records that every message up to a position is in the files or missing. */
  advance(
    position: Pick<ArchiveRecord, 'sequence' | 'lastView' | 'missing'> & Partial<ArchiveRecord>,
  ): Promise<void> {
    const files = { ...this.record!.files };
    for (const [day, { start, ids, size }] of this.#days) {
      // If a file has lines of messages that may still come, the former size stays recorded: with
      // the current size, the next process would write those views again.
      files[fileNameOf('views', day)] = ids.size === 0 ? size : (start ?? size);
    }
    return this.#save({ ...this.record!, ...position, files });
  }

  async #open(day: string): Promise<Day> {
    // Examines the file first, because opening creates a removed file again.
    if (day !== this.writer.day) await this.examine([fileNameOf('views', day)]);
    await this.writer.append(day);
    const before = this.#days.get(day);
    // A different size shows that another program has changed or replaced the file.
    return before?.size === this.writer.fileBytes ? before : this.#begin(day);
  }

  async #append(day: string, known: Day, lines: readonly ArchiveLine[]): Promise<void> {
    const bytes = Buffer.concat(lines.flatMap(({ data }) => [data, LINE_END]));
    await this.writer.append(day, bytes);
    known.size = this.writer.fileBytes;
    this.lines += lines.length;
    this.bytes += bytes.length;
  }

  /** Collects the ids of the lines that the record doesn't cover. The file is open and sealed. */
  async #begin(day: string): Promise<Day> {
    const name = fileNameOf('views', day);
    const size = this.writer.fileBytes;
    const recorded = this.record!.files[name] ?? 0;
    // The recorded size is that of an earlier file. If this file grew to that size before a crash,
    // the record would seem to cover its lines.
    if (recorded > size) await this.#forget([], [name]);
    const covered = this.#isCaughtUp ? size : recorded;
    const start = covered > size ? 0 : covered;
    const ids = new Set<string>();
    await this.writer.repeat(this.#pathOf(day), () => this.#collect(day, ids, start, size));
    const begun = { start, ids, size };
    this.#days.set(day, begun);
    return begun;
  }

  async #collect(day: string, ids: Set<string>, start: number, end: number): Promise<void> {
    const { idsMax = IDS_MAX } = this.#options;
    const recentStart = await startOfLast(this.writer, RECENT_MAX, start);
    for await (const id of idsIn(this.writer, recentStart, start)) this.#recent.add(id);
    const others = [...this.#days.values()].reduce((sum, one) => sum + one.ids.size, 0);
    let count = others;
    for await (const id of idsIn(this.writer, start, end)) {
      ids.add(id);
      // The message with this id may have been recorded already and may come again.
      this.#recent.add(id);
      if (++count > idsMax)
        throw tooMany(
          fileNameOf('views', day),
          others > 0 ? ' and other files have' : ' has',
          idsMax,
        );
    }
  }

  async #save(record: ArchiveRecord): Promise<void> {
    const { dir, files } = this.#options;
    const path = archiveRecordOf(dir);
    // If the record can't be replaced, the old record remains and is still true.
    const replace = (): Promise<void> => replaceFile(files, path, `${JSON.stringify(record)}\n`);
    await this.writer.repeat(path, replace);
    this.record = record;
  }

  #pathOf(day: string): string {
    return `${this.#options.dir}/${fileNameOf('views', day)}`;
  }
}

function tooMany(name: string, have: string, idsMax: number): Fatal {
  return new Fatal(
    EXIT.badData,
    `"${name}"${have} more than ${plural(idsMax, 'line')} after the position in "archive.json", too ` +
      'many to compare; move away the view files of days that the stream still has, and the archive ' +
      'will write them again',
  );
}
