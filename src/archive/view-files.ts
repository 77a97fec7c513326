import type { Log } from '../base/log.ts';
import { NEWLINE } from '../base/text.ts';
import { DayWriter, NOTHING } from '../disk/day-writer.ts';
import { fileNameOf } from '../disk/names.ts';
import type { FileOps } from '../disk/ops.ts';
import type { ArchiveLine } from './archive-batch.ts';
import type { RetryWhileDiskFull } from './retry-while-disk-full.ts';
import { blocksOf, type Block, findIds } from './unrecorded-lines.ts';

interface ViewFilesOptions {
  readonly dir: string;
  readonly files: FileOps;
  readonly log: Log;
  readonly retry: RetryWhileDiskFull;
}

/** A day whose file this process has written to. */
interface Day {
  /** The recorded size when the file was opened; 0 if it had none. */
  readonly start: number;
  /** What an earlier process wrote beyond that. */
  readonly unrecorded: readonly Block[];
  /** The stream's last message at that time. */
  readonly streamEnd: number;
  size: number;
}

/** Sizes in bytes, by the names of files. */
export type Sizes = Readonly<Record<string, number>>;

/** The view files, one of which is open. A full disk is waited for. Calls must not overlap. */
export class ViewFiles {
  readonly #options: ViewFilesOptions;
  readonly writer: DayWriter;
  readonly #days = new Map<string, Day>();
  #openDay = '';
  #recorded: Sizes = {};

  constructor(options: ViewFilesOptions) {
    this.#options = options;
    this.writer = new DayWriter({ ...options, kind: 'views', durability: 'disk' });
  }

  /** Forgets what is known of the files, and takes these recorded sizes as true. */
  reset(recorded: Sizes): void {
    this.#days.clear();
    this.#recorded = recorded;
  }

  /**
   * Appends the lines that the file does not have yet; they are durable when it resolves.
   * @param streamEnd the stream's last message.
   * @returns the bytes of each new line, its newline included.
   */
  async append(day: string, lines: readonly ArchiveLine[], streamEnd: number): Promise<number[]> {
    await this.#write(day, NOTHING);
    const known = this.#days.get(day) ?? (await this.#begin(day, streamEnd));
    const path = this.#pathOf(day);
    const there = await findIds(this.#options.files, path, known.unrecorded, lines);
    const fresh = lines.filter(({ id }) => !there.has(id));
    await this.#write(day, Buffer.concat(fresh.flatMap(({ data }) => [data, LINE_END])));
    known.size = this.writer.fileBytes;
    return fresh.map(({ data }) => data.length + 1);
  }

  /**
   * Returns the sizes to record together with this position. A file with unrecorded lines keeps
   * its former size until the archive has read to where the stream ended when the file was opened:
   * until then, messages may still come whose lines are in it.
   */
  sizes(position: number): Sizes {
    const sizes: Record<string, number> = { ...this.#recorded };
    for (const [day, { start, unrecorded, streamEnd, size }] of this.#days) {
      const isCovered = unrecorded.length === 0 || position >= streamEnd;
      sizes[fileNameOf('views', day)] = isCovered ? size : start;
    }
    return sizes;
  }

  /** Opens the file again if somebody has moved or emptied it. */
  async look(): Promise<void> {
    // If it cannot be opened, the next write says so.
    await this.writer.look(this.#openDay);
  }

  #pathOf(day: string): string {
    return `${this.#options.dir}/${fileNameOf('views', day)}`;
  }

  /** Looks for lines in a file, now open and sealed, that the record does not cover. */
  async #begin(day: string, streamEnd: number): Promise<Day> {
    const size = this.writer.fileBytes;
    const recorded = this.#recorded[fileNameOf('views', day)] ?? 0;
    // A shorter file is another one.
    const start = recorded > size ? 0 : recorded;
    const unrecorded = await blocksOf(this.#options.files, this.#pathOf(day), start, size);
    const begun = { start, unrecorded, streamEnd, size };
    this.#days.set(day, begun);
    return begun;
  }

  /** Opens the day's file, ends a torn last line, and writes whole lines. */
  async #write(day: string, lines: Uint8Array): Promise<void> {
    this.#openDay = day;
    let left = lines;
    await this.#options.retry.run(async () => {
      const { blocked: unopened } = await this.writer.write(day, NOTHING);
      if (unopened !== undefined || left.length === 0) return unopened;
      const { lineBytes, blocked } = await this.writer.write(day, left);
      // The file itself completes the line that it could not finish.
      left = left.subarray(left.indexOf(NEWLINE, lineBytes) + 1);
      return blocked;
    });
  }
}

const LINE_END = Uint8Array.of(NEWLINE);
