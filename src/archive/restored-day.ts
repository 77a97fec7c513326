import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { fileNameOf } from '../disk/names.ts';
import { ifPresent } from '../disk/ops.ts';
import { type ArchiveLine, batchOf } from './archive-batch.ts';
import type { ArchiveFiles, ArchiveFilesOptions } from './archive-files.ts';
import { firstBetween, type StreamSource } from './stream-source.ts';

type Options = ArchiveFilesOptions & { readonly source: StreamSource; readonly log: Log };

/** The number of ids to compare with the file at once: about 50 MiB. */
const IDS_MAX = 500_000;

/**
 * Reads a day from the stream again, as far as the archive has read the stream, and writes the
 * views that the day's file lacks. If it is interrupted, the views written so far stay.
 */
export class RestoredDay {
  readonly #options: Options;
  readonly #files: ArchiveFiles;
  readonly #day: string;
  /** Every message up to this one has been compared. */
  #after = 0;
  #written = 0;

  constructor(options: Options, files: ArchiveFiles, day: string) {
    this.#options = options;
    this.#files = files;
    this.#day = day;
  }

  /**
   * Returns true once the day is restored; reads on if it was interrupted.
   * @throws {Fatal} exit 65 if the day's file is packed.
   */
  async readOn(): Promise<boolean> {
    const { source, log, stop } = this.#options;
    await this.#refusePacked();
    const { first } = await source.ends();
    const end = this.#files.record!.sequence;
    this.#after = Math.max(this.#after, first - 1);
    while (this.#after < end) {
      const ids = new Set<string>();
      let last = end;
      for await (const { to, lines } of this.#lines(end)) {
        for (const { id } of lines) ids.add(id);
        last = to;
        if (ids.size >= IDS_MAX) break;
      }
      const absent = await this.#files.absent(this.#day, ids);
      if (absent.size > 0) {
        for await (const { lines } of this.#lines(last)) {
          const fresh = lines.filter(({ id }) => absent.has(id));
          this.#written += await this.#files.complete(this.#day, fresh);
        }
      }
      if (stop.aborted) return false;
      this.#after = last;
    }
    await this.#files.restored(this.#day);
    log.info(`Restored ${plural(this.#written, 'view')} of ${this.#day}`);
    return true;
  }

  /** Yields the day's lines up to a message. @throws if the servers do not send all of them. */
  async *#lines(end: number): AsyncGenerator<{ to: number; lines: readonly ArchiveLine[] }> {
    const { source, stop } = this.#options;
    let after = this.#after;
    for await (const messages of source.read(after)) {
      if (stop.aborted) return;
      const batch = batchOf(
        messages.filter(({ sequence }) => sequence <= end),
        after,
      );
      const to = messages.length > 0 && messages.at(-1)!.sequence >= end ? end : batch.to;
      const gaps = batch.to < to ? [...batch.gaps, [batch.to + 1, to] as const] : batch.gaps;
      const tail = messages.length === 0 ? [[after + 1, end] as const] : [];
      for (const run of [...gaps, ...tail]) {
        const there = await firstBetween(source, ...run);
        if (there !== undefined) throw new Error(`message ${there.sequence} was left out`);
      }
      after = messages.length === 0 ? end : to;
      yield { to: after, lines: batch.days.get(this.#day) ?? [] };
      if (after >= end) return;
    }
    throw new Error('the connection was lost');
  }

  async #refusePacked(): Promise<void> {
    const { files, dir } = this.#options;
    const name = fileNameOf('views', this.#day);
    const isThere = async (path: string) => (await ifPresent(files.stat(path))) !== undefined;
    if ((await isThere(`${dir}/${name}`)) || !(await isThere(`${dir}/${name}.gz`))) return;
    throw new Fatal(
      EXIT.badData,
      `"${name}.gz" is packed, so its views cannot be compared; unpack it, then restore its day`,
    );
  }
}
