// Turns the messages of a stream into view files, each view once, by its id.
//
// A batch of messages is appended to the files of its days, the files are synced, and then the
// record is replaced: the position in the stream, and the size of each file. A process that dies in
// between leaves lines after the recorded sizes. The next process continues from the recorded
// position, and skips messages that have the id of one of those lines.
//
// The record is checked against the stream before any message is read: at the start, and whenever
// the connection was lost or the servers have forgotten the reader. If it does not match, the
// servers have lost messages, or it is another stream. Its messages are then read from the first
// one, with no size recorded for any file, so views that are in the files are skipped.
//
// One writer: the lock (`disk/lock.ts`) makes sure of it.
import { Fatal } from '../base/exit.ts';
import { sleep } from '../base/time.ts';
import { startRetention } from '../disk/retention.ts';
import { batchOf } from './archive-batch.ts';
import { ArchiveFiles, type ArchiveFilesOptions } from './archive-files.ts';
import { ArchiveLog } from './archive-log.ts';
import { mismatchOf } from './archive-record.ts';
import type { StreamMessage, StreamSource } from './stream-source.ts';

export interface ArchiveOptions extends ArchiveFilesOptions {
  readonly source: StreamSource;
  /** View files more than this many days old are removed; 0: none. */
  readonly keepDays: number;
  /** Returns whether this process may remove files now. */
  readonly isLocked: () => boolean;
  /** Ends at the message that was the stream's last one when the archive started. */
  readonly once: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Plain values for the metrics and the status page; counts since the start. */
export type ArchiveState = ReturnType<Archive['state']>;

const LOOK_MS = 1_000;
/**
 * A cluster that has just started may not have its latest state yet, so a mismatch is checked
 * again.
 */
const MISMATCH_LOOKS = 4;

export class Archive {
  readonly #options: ArchiveOptions;
  readonly #files: ArchiveFiles;
  readonly #log: ArchiveLog;
  /** The sequence of the stream's last message. */
  #end = 0;
  /** The same, when this connection began to read; infinite before it is known. */
  #endAtStart = Infinity;
  /** The last position that was recorded before the servers seemed to have lost messages. */
  #positionBefore = 0;
  #until = Infinity;
  #lookedMs = -Infinity;

  constructor(options: ArchiveOptions) {
    this.#options = options;
    this.#files = new ArchiveFiles(options);
    this.#log = new ArchiveLog(options.log, options.source.name);
  }

  /** Every message up to this one is in the files, and synced. */
  get sequence(): number {
    return this.#files.record?.sequence ?? 0;
  }

  /** The number of messages in the stream that are not archived yet. */
  get #lag(): number {
    return Math.max(0, this.#end - this.sequence);
  }

  state() {
    const { skipped, lost, unreadable } = this.#log;
    const { lines, bytes, writer, space, blocked } = this.#files;
    return {
      sequence: this.sequence,
      lag: this.#lag,
      lines,
      bytes,
      skipped,
      lost,
      path: writer.path,
      freeBytes: space.bytes,
      /** Why nothing can be written or read now. */
      unavailable: blocked?.reason,
      unreadable,
    };
  }

  /**
   * Archives until it is stopped or, with `once`, until the end of the stream.
   * @throws {Fatal} exit 65 if the record's format is unknown or covers too little of the files, 74
   *   if a sync or write fails.
   */
  async run(): Promise<void> {
    const { stop, waitMsMax } = this.#options;
    const { writer } = this.#files;
    const isInUse = (_: string, day: string): boolean => writer.isInUse(day);
    const keepDays = { views: this.#options.keepDays, refused: 0 };
    startRetention({ ...this.#options, keepDays, isInUse });
    await this.#files.start();
    while (!this.#isDone()) {
      await this.#readOn();
      if (!this.#isDone()) await sleep(waitMsMax, stop);
    }
    // Throws a Fatal if a full disk has left half a line in the file.
    await writer.close();
  }

  #isDone(): boolean {
    return this.#options.stop.aborted || this.sequence >= this.#until;
  }

  /** Reads on from the record until the stream has to be checked again. */
  async #readOn(): Promise<void> {
    const { source, stop } = this.#options;
    try {
      await this.#check();
      if (this.#isDone()) return;
      // Servers may have lost messages since the check.
      this.#endAtStart = Infinity;
      this.#lookedMs = -Infinity;
      for await (const messages of source.read(this.sequence)) {
        this.#log.succeeded();
        const isIdle = messages.length === 0;
        const isLookDue = isIdle || performance.now() - this.#lookedMs >= LOOK_MS;
        if (isLookDue && !(await this.#look(isIdle))) return;
        if (!isIdle) await this.#take(messages);
        if (this.#isDone()) return;
      }
    } catch (error) {
      if (error instanceof Fatal) throw error;
      if (!stop.aborted) this.#log.failed(error);
    }
  }

  /** Checks that the record is of this stream; otherwise starts at the stream's first message. */
  async #check(): Promise<void> {
    const { source, log, once, stop, waitMsMax } = this.#options;
    const { record } = this.#files;
    let ends = await source.ends();
    let mismatch = await mismatchOf(record, source, ends);
    for (let look = 1; mismatch !== undefined && look < MISMATCH_LOOKS; look++) {
      await sleep(waitMsMax / 2, stop);
      ends = await source.ends();
      mismatch = await mismatchOf(record, source, ends);
    }
    this.#end = ends.last;
    if (once) this.#until = Math.min(this.#until, ends.last);
    if (record !== undefined && mismatch === undefined) return;
    const isSame = record?.created === ends.created;
    this.#positionBefore = isSame ? Math.max(this.#positionBefore, record.sequence) : 0;
    if (mismatch !== undefined) {
      log.error(
        `${mismatch}; reading stream "${source.name}" from its first message, and skipping views ` +
          'that are in the files',
      );
    }
    await this.#files.restart(source.name, ends.created, Math.max(0, ends.first - 1));
  }

  /** Writes, syncs and records messages. */
  async #take(messages: readonly StreamMessage[]): Promise<void> {
    const { to, id, days, skipped, gaps } = batchOf(messages, this.sequence);
    // Passing over messages is final, and a server that is behind may leave some out.
    for (const [from, last] of gaps) {
      const there = await this.#firstOf(from, last);
      if (there !== undefined) throw new Error(`message ${there} was left out`);
    }
    for (const [day, lines] of days) await this.#files.append(day, lines);
    await this.#advance(to, id);
    this.#log.skip(skipped);
    for (const [from, last] of gaps) this.#log.gap(from, last);
  }

  #advance(sequence: number, id: string | undefined): Promise<void> {
    // Lines of an earlier process come from messages up to this one. Messages that the servers
    // seemed to have lost may still come: a server may have been far behind.
    if (sequence >= this.#endAtStart) this.#files.caughtUp(sequence >= this.#positionBefore);
    return this.#files.advance(sequence, id);
  }

  /**
   * Checks free space, moved files and the end of the stream.
   * @param isIdle no message has come for a while.
   * @returns whether reading can go on; if not, the stream must be checked again.
   */
  async #look(isIdle: boolean): Promise<boolean> {
    const { source } = this.#options;
    this.#lookedMs = performance.now();
    await this.#files.look();
    const { created, last } = await source.ends();
    if (created !== this.#files.record!.created || last < this.sequence) return false;
    this.#end = last;
    if (this.#endAtStart === Infinity) this.#endAtStart = last;
    this.#log.lag(this.#lag);
    if (!isIdle || this.#lag === 0) return true;
    // The stream has later messages that do not arrive: they were removed, or the reader is lost.
    const from = this.sequence + 1;
    if ((await this.#firstOf(from, last)) !== undefined) return false;
    await this.#advance(last, undefined);
    this.#log.gap(from, last);
    return true;
  }

  /** Returns the first of these messages that the stream has; `undefined` if it has none. */
  async #firstOf(from: number, last: number): Promise<number | undefined> {
    const next = await this.#options.source.next(from);
    return next !== undefined && next.sequence <= last ? next.sequence : undefined;
  }
}
