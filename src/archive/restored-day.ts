import { EXIT, Fatal } from '../base/exit.ts';
import { MiB, plural } from '../base/format.ts';
import { shellQuoted } from '../base/text.ts';
import { fileNameOf } from '../disk/names.ts';
import { ifPresent } from '../disk/ops.ts';
import { absolute } from '../installation/installation.ts';
import { type ArchiveLine, batchOf } from './archive-batch.ts';
import type { ArchiveFiles, ArchiveFilesOptions } from './archive-files.ts';
import {
  readFromLeader,
  type Run,
  type StreamMessage,
  type StreamSource,
} from './stream-source.ts';

type Options = ArchiveFilesOptions & { readonly source: StreamSource };

/** The bytes of lines to compare with the file in one step. */
const COMPARE_BYTES = 64 * MiB;

/**
 * Reads a day from the stream again, as far as the archive has read the stream, and writes the
 * views that the day's file lacks. If the reading is interrupted, the views written so far stay.
 */
export class RestoredDay {
  readonly #options: Options;
  readonly #files: ArchiveFiles;
  readonly #day: string;
  /** The sequence up to which the stream was read again. */
  #after = 0;
  /** The day's lines that aren't compared yet. */
  #lines: ArchiveLine[] = [];
  #bytes = 0;
  #written = 0;

  constructor(options: Options, files: ArchiveFiles, day: string) {
    this.#options = options;
    this.#files = files;
    this.#day = day;
  }

  /**
   * Reads on from where the last call was interrupted. Returns true once the day is restored.
   * @throws {Fatal} exit 65 if the day's file is compressed.
   */
  async readOn(): Promise<boolean> {
    const { source, stop, log } = this.#options;
    await this.#refuseCompressed();
    const { sequence: end } = this.#files.record!;
    for await (const messages of source.read(this.#after)) {
      if (stop.aborted) return false;
      if (this.#after < end) await this.#compare(messages, end);
      if (this.#after < end) continue;
      await this.#write();
      await this.#files.restored(this.#day);
      log.info(`Restored ${plural(this.#written, 'view')} from ${this.#day}`);
      return true;
    }
    return false;
  }

  /**
   * Collects the day's lines. Asks the leader for messages in gaps, because a server that is behind
   * may have left them out.
   */
  async #compare(messages: readonly StreamMessage[], end: number): Promise<void> {
    const { source } = this.#options;
    const { gaps } = batchOf(messages, this.#after);
    const last = messages.at(-1)?.sequence ?? this.#after;
    const tail: Run[] = messages.length === 0 ? [[last + 1, end]] : [];
    for (const [from, to] of [...gaps, ...tail]) {
      const run: Run = [from, Math.min(to, end)];
      for await (const others of readFromLeader(source, run)) await this.#collect(others);
    }
    await this.#collect(messages.filter(({ sequence }) => sequence <= end));
    this.#after = messages.length === 0 ? end : last;
  }

  async #collect(messages: readonly StreamMessage[]): Promise<void> {
    for (const line of batchOf(messages, 0).days.get(this.#day) ?? []) {
      this.#lines.push(line);
      this.#bytes += line.data.length;
    }
    if (this.#bytes >= COMPARE_BYTES) await this.#write();
  }

  async #write(): Promise<void> {
    this.#written += await this.#files.complete(this.#day, this.#lines);
    this.#lines = [];
    this.#bytes = 0;
  }

  async #refuseCompressed(): Promise<void> {
    const { files, dir } = this.#options;
    const name = fileNameOf('views', this.#day);
    const isThere = async (path: string) => (await ifPresent(files.stat(path))) !== undefined;
    if ((await isThere(`${dir}/${name}`)) || !(await isThere(`${dir}/${name}.gz`))) return;
    throw new Fatal(
      EXIT.badData,
      `"${name}.gz" is compressed, and only an uncompressed file can be completed; first run: gunzip ${shellQuoted(absolute(`${dir}/${name}.gz`))}`,
    );
  }
}
