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
import type { Log } from '../base/log.ts';
import { sleep } from '../base/time.ts';
import type { Blocked } from '../disk/day-writer.ts';
import { replaceFile } from '../disk/durable.ts';
import { FreeSpace } from '../disk/free-space.ts';
import { archiveRecordOf } from '../disk/names.ts';
import type { FileOps } from '../disk/ops.ts';
import { startRetention } from '../disk/retention.ts';
import { batchOf } from './archive-batch.ts';
import { ArchiveLog } from './archive-log.ts';
import { type ArchiveRecord, mismatchOf, readRecord, recordText } from './archive-record.ts';
import { Retry, StoppedWaiting } from './retry.ts';
import type { StreamMessage, StreamSource } from './stream-source.ts';
import { ViewFiles } from './view-files.ts';

export interface ArchiveOptions {
  readonly source: StreamSource;
  readonly dir: string;
  readonly files: FileOps;
  /** The archive waits below this much free disk space; 0: until the disk is full. */
  readonly minFreeBytes: number;
  /** View files more than this many days old are removed; 0: none. */
  readonly keepDays: number;
  /** Returns whether this process may remove files now. */
  readonly isLocked: () => boolean;
  /** Ends at the message that was the stream's last one when the archive started. */
  readonly once: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
  readonly stop: AbortSignal;
  /** The longest wait between two attempts. */
  readonly waitMsMax?: number;
  /** The most ids in memory, of lines that the record does not cover. */
  readonly idsMax?: number;
}

/** Plain values for the metrics and the status page; counts since the start. */
export type ArchiveState = ReturnType<Archive['state']>;

const WAIT_MS_MAX = 1_000;
const LOOK_MS = 1_000;
/**
 * A cluster that has just started may not have its latest state yet, so a mismatch is checked
 * again.
 */
const MISMATCH_LOOKS = 4;

export class Archive {
  readonly #options: ArchiveOptions;
  readonly #waitMsMax: number;
  readonly #retry: Retry;
  readonly #views: ViewFiles;
  readonly #space: FreeSpace;
  readonly #log: ArchiveLog;
  #record: ArchiveRecord | undefined;
  /** The sequence of the stream's last message. */
  #end = 0;
  /** The same, when this connection began to read; infinite before it is known. */
  #endAtStart = Infinity;
  #until = Infinity;
  #lookedMs = -Infinity;
  #lines = 0;
  #bytes = 0;

  constructor(options: ArchiveOptions) {
    const { source, log, stop, waitMsMax = WAIT_MS_MAX } = options;
    const retry = new Retry(log, waitMsMax, stop);
    this.#options = options;
    this.#waitMsMax = waitMsMax;
    this.#retry = retry;
    this.#views = new ViewFiles({ ...options, retry, forget: (name) => this.#forget(name) });
    this.#space = new FreeSpace({ ...options, effect: 'archiving waits' });
    this.#log = new ArchiveLog(log, source.name);
  }

  /** Every message up to this one is in the files, and synced. */
  get sequence(): number {
    return this.#record?.sequence ?? 0;
  }

  /** The number of messages in the stream that are not archived yet. */
  get #lag(): number {
    return Math.max(0, this.#end - this.sequence);
  }

  state() {
    const { skipped, lost, unreadable } = this.#log;
    return {
      stream: this.#options.source.name,
      sequence: this.sequence,
      lag: this.#lag,
      lines: this.#lines,
      bytes: this.#bytes,
      skipped,
      lost,
      path: this.#views.writer.path,
      freeBytes: this.#space.bytes,
      /** Why nothing can be written or read now. */
      unavailable: this.#retry.blocked?.reason,
      unreadable,
    };
  }

  /**
   * Archives until it is stopped or, with `once`, until the end of the stream.
   * @throws {Fatal} exit 65 if the record's format is unknown or covers too little of the files, 74
   *   if a sync or write fails.
   */
  async run(): Promise<void> {
    const { dir, files, stop } = this.#options;
    const { writer } = this.#views;
    const hasWritten = (_: string, day: string): boolean => writer.hasWritten(day);
    const keepDays = { views: this.#options.keepDays, refused: 0 };
    startRetention({ ...this.#options, keepDays, hasWritten });
    try {
      this.#record = await readRecord(files, dir);
      this.#views.reset(this.#record?.files ?? {});
      await this.#space.poll();
      while (!this.#isDone()) {
        await this.#readOn();
        if (!this.#isDone()) await sleep(this.#waitMsMax, stop);
      }
    } catch (error) {
      if (!(error instanceof StoppedWaiting)) throw error;
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
      for await (const messages of source.read(this.sequence, stop)) {
        this.#log.succeeded();
        const isIdle = messages.length === 0;
        const isLookDue = isIdle || performance.now() - this.#lookedMs >= LOOK_MS;
        if (isLookDue && !(await this.#look(isIdle))) return;
        if (!isIdle) await this.#take(messages);
        if (this.#isDone()) return;
      }
    } catch (error) {
      if (error instanceof Fatal || error instanceof StoppedWaiting) throw error;
      if (!stop.aborted) this.#log.failed(error);
    }
  }

  /** Checks that the record is of this stream; otherwise starts at the stream's first message. */
  async #check(): Promise<void> {
    const { source, log, once, stop } = this.#options;
    let ends = await source.ends();
    let mismatch = await mismatchOf(this.#record, source, ends);
    for (let look = 1; mismatch !== undefined && look < MISMATCH_LOOKS; look++) {
      await sleep(this.#waitMsMax / 2, stop);
      ends = await source.ends();
      mismatch = await mismatchOf(this.#record, source, ends);
    }
    this.#end = ends.last;
    if (once) this.#until = Math.min(this.#until, ends.last);
    if (this.#record !== undefined && mismatch === undefined) return;
    if (mismatch !== undefined) {
      log.error(
        `${mismatch}; reading stream "${source.name}" from its first message, and skipping views ` +
          'that are in the files',
      );
    }
    this.#views.reset({});
    const { created, first } = ends;
    const sequence = Math.max(0, first - 1);
    await this.#save({ stream: source.name, created, sequence, files: {} });
  }

  /** Writes, syncs and records messages. */
  async #take(messages: readonly StreamMessage[]): Promise<void> {
    const { to, id, days, skipped, gaps } = batchOf(messages, this.sequence);
    // Passing over messages is final, and a server that is behind may leave some out.
    for (const [from, last] of gaps) {
      const next = await this.#options.source.next(from);
      if (next !== undefined && next.sequence <= last) {
        throw new Error(`message ${next.sequence} was left out`);
      }
    }
    await this.#retry.run(this.#options.dir, () => this.#enoughFree());
    for (const [day, lines] of days) {
      const written = await this.#views.append(day, lines);
      this.#lines += written.length;
      this.#bytes += written.reduce((sum, bytes) => sum + bytes, 0);
    }
    await this.#advance(to, id);
    this.#log.skip(skipped);
    for (const [from, last] of gaps) this.#log.gap(from, last);
  }

  #advance(sequence: number, id: string | undefined): Promise<void> {
    // Lines of an earlier process come from messages up to this one.
    if (sequence >= this.#endAtStart) this.#views.caughtUp();
    const { stream, created } = this.#record!;
    const files = this.#views.sizes();
    return this.#save({ stream, created, sequence, ...(id !== undefined && { id }), files });
  }

  #forget(name: string): Promise<void> {
    const { [name]: _, ...files } = this.#record!.files;
    return this.#save({ ...this.#record!, files });
  }

  async #save(record: ArchiveRecord): Promise<void> {
    const { dir, files } = this.#options;
    const path = archiveRecordOf(dir);
    // If the record cannot be replaced, the old one is still there, and still true.
    await this.#retry.run(path, () => replaceFile(files, path, recordText(record)));
    this.#record = record;
  }

  /**
   * Checks free space, moved files and the end of the stream.
   * @param isIdle no message has come for a while.
   * @returns whether reading can go on; if not, the stream must be checked again.
   */
  async #look(isIdle: boolean): Promise<boolean> {
    const { source } = this.#options;
    this.#lookedMs = performance.now();
    await this.#space.poll();
    await this.#views.look();
    const { created, last } = await source.ends();
    if (created !== this.#record!.created || last < this.sequence) return false;
    this.#end = last;
    if (this.#endAtStart === Infinity) this.#endAtStart = last;
    this.#log.lag(this.#lag);
    if (!isIdle || this.#lag === 0) return true;
    // The stream has later messages that do not arrive: they were removed, or the reader is lost.
    const from = this.sequence + 1;
    const next = await source.next(from);
    if (next !== undefined && next.sequence <= last) return false;
    await this.#advance(last, undefined);
    this.#log.gap(from, last);
    return true;
  }

  async #enoughFree(): Promise<Blocked | undefined> {
    if (!this.#space.isLow) return undefined;
    await this.#views.look();
    await this.#space.poll();
    return this.#space.isLow ? { reason: 'too little free disk space', message: '' } : undefined;
  }
}
