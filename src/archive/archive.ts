// Turns the messages of a stream into view files, each view once, by its id.
//
// A batch of messages is appended to the files of its days, the files are synced, and then the
// record is replaced: how far the archive has come with the stream, and how long each file is. A
// process that dies in between leaves lines behind the recorded sizes. The next one reads on from
// the recorded position, and skips messages whose ids are among those lines.
//
// The record is checked against the stream before any message is read: at the start, and whenever
// the connection was lost or the servers have forgotten the reader. If it does not match, the
// servers have lost messages, or it is another stream. Its messages are then read from the first
// one, with no size recorded for any file: whatever is in the files is skipped.
//
// One writer: `lock.ts` sees to that.
import { Fatal, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { type RetryTiming, sleep } from '../base/time.ts';
import { FreeSpace } from '../disk/free-space.ts';
import { archiveRecordOf } from '../disk/names.ts';
import type { FileOps } from '../disk/ops.ts';
import { replaceFile } from '../disk/durable.ts';
import { type ArchiveBatch, batchOf } from './archive-batch.ts';
import { ArchiveLog } from './archive-log.ts';
import { type ArchiveRecord, mismatchOf, readRecord, recordText } from './archive-record.ts';
import { RetryWhileDiskFull, StoppedWaiting } from './retry-while-disk-full.ts';
import type { StreamEnds, StreamMessage, StreamSource } from './stream-source.ts';
import { ViewFiles } from './view-files.ts';

export interface ArchiveOptions {
  readonly source: StreamSource;
  readonly dir: string;
  readonly files: FileOps;
  /** The archive waits below this much free disk space; 0: until the disk is full. */
  readonly minFreeBytes: number;
  /** Ends at the message that was the stream's last one when the archive started. */
  readonly once: boolean;
  /** Milliseconds that pass evenly. */
  readonly now: () => number;
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly timing?: RetryTiming;
}

/** Plain values for the metrics and the status page; counts since the start. */
export interface ArchiveState {
  readonly stream: string;
  readonly sequence: number;
  /** Messages that the stream has after `sequence`. */
  readonly lag: number;
  readonly lines: number;
  readonly bytes: number;
  /** Messages that are not views. */
  readonly skipped: number;
  /** Messages that the stream removed before they were archived. */
  readonly lost: number;
  /** The file that was written to last. */
  readonly path: string | undefined;
  readonly freeBytes: number | undefined;
  /** Why nothing can be written now, and why nothing can be read. */
  readonly unavailable: string | undefined;
  readonly unreadable: string | undefined;
}

const TIMING: RetryTiming = { retryMs: 100, retryMaxMs: 1_000 };
const LOOK_MS = 1_000;
/** A cluster that has just started may not know yet what it has, so a mismatch is looked at again. */
const MISMATCH_LOOKS = 4;
/** Looks at messages that do not come before the reader is made anew. */
const STALLED_LOOKS = 5;

export class Archive {
  readonly #options: ArchiveOptions & { readonly timing: RetryTiming };
  readonly #retry: RetryWhileDiskFull;
  readonly #views: ViewFiles;
  readonly #space: FreeSpace;
  readonly #log: ArchiveLog;
  #record: ArchiveRecord | undefined;
  /** The stream's last message, when it was last asked. */
  #end = 0;
  #until = Infinity;
  #lookedMs = -Infinity;
  #stalledLooks = 0;
  #lines = 0;
  #bytes = 0;

  constructor(options: ArchiveOptions) {
    const { source, log, stop, timing = TIMING } = options;
    this.#options = { ...options, timing };
    this.#retry = new RetryWhileDiskFull({ log, timing, stop });
    this.#views = new ViewFiles({ ...options, retry: this.#retry });
    this.#space = new FreeSpace({ ...options, effect: 'archiving waits' });
    this.#log = new ArchiveLog(log, source.name);
  }

  /** Every message up to this one is in the files, and synced. */
  get sequence(): number {
    return this.#record?.sequence ?? 0;
  }

  hasWritten(day: string): boolean {
    return this.#views.writer.hasWritten(day);
  }

  state(): ArchiveState {
    const low = this.#space.isLow ? 'too little free disk space' : undefined;
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
      unavailable: this.#retry.reason ?? low,
      unreadable,
    };
  }

  /**
   * Archives until it is told to stop or, with `once`, has come to the end.
   * @throws {Fatal} exit 65 if the record's format is unknown, 74 if a sync or write fails.
   */
  async run(): Promise<void> {
    const { dir, files, stop, timing } = this.#options;
    this.#record = await readRecord(files, dir);
    this.#views.reset(this.#record?.files ?? {});
    await this.#space.poll();
    try {
      while (!this.#isDone()) {
        await this.#readOn();
        if (!this.#isDone()) await sleep(timing.retryMaxMs, stop);
      }
    } catch (error) {
      if (!(error instanceof StoppedWaiting)) throw error;
    }
    // Throws a Fatal if a full disk has left half a line in the file.
    await this.#views.writer.close();
  }

  #isDone(): boolean {
    return this.#options.stop.aborted || this.sequence >= this.#until;
  }

  /** Reads on from the record until the servers have to be checked again. */
  async #readOn(): Promise<void> {
    const { source, stop } = this.#options;
    try {
      await this.#check();
      if (this.#isDone()) return;
      for await (const messages of source.read(this.sequence, stop)) {
        this.#log.succeeded();
        if (messages.length > 0) await this.#take(messages);
        await this.#lookAround(messages.length === 0);
        if (this.#isDone()) return;
      }
    } catch (error) {
      if (error instanceof Fatal || error instanceof StoppedWaiting) throw error;
      if (!stop.aborted) this.#log.failed(error);
    }
  }

  /** Makes sure that the record is of this stream; else begins with the stream's first message. */
  async #check(): Promise<void> {
    const { source, log, once } = this.#options;
    const { ends, mismatch } = await this.#compare();
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
    const start = { stream: source.name, created, sequence: Math.max(0, first - 1), files: {} };
    await this.#save(start);
  }

  /** Compares the record with the stream: more than once, if they differ. */
  async #compare(): Promise<{ ends: StreamEnds; mismatch: string | undefined }> {
    const { source, timing, stop } = this.#options;
    for (let look = 1; ; look++) {
      const ends = await source.ends();
      const mismatch = this.#record && (await mismatchOf(this.#record, source, ends));
      if (mismatch === undefined || look === MISMATCH_LOOKS) return { ends, mismatch };
      await sleep(timing.retryMaxMs / 2, stop);
    }
  }

  /** Writes, syncs and records messages. */
  async #take(messages: readonly StreamMessage[]): Promise<void> {
    const { to, id, days, skipped, gaps } = batchOf(messages, this.sequence);
    await this.#confirm(gaps);
    await this.#untilEnoughFree();
    for (const [day, lines] of days) {
      const written = await this.#views.append(day, lines, Math.max(this.#end, to));
      this.#lines += written.length;
      this.#bytes += written.reduce((sum, bytes) => sum + bytes, 0);
    }
    await this.#advance(to, id);
    this.#log.skip(skipped);
    for (const [from, last] of gaps) this.#log.gap(from, last);
  }

  #advance(sequence: number, id: string | undefined): Promise<void> {
    const { stream, created } = this.#record!;
    const files = this.#views.sizes(sequence);
    return this.#save({ stream, created, sequence, ...(id !== undefined && { id }), files });
  }

  async #save(record: ArchiveRecord): Promise<void> {
    const { dir, files } = this.#options;
    const path = archiveRecordOf(dir);
    await this.#retry.run(async () => {
      try {
        await replaceFile(files, path, recordText(record));
        return undefined;
      } catch (error) {
        if (error instanceof Fatal) throw error;
        // The old record is still there, and still true.
        const reason = "the archive's record cannot be written";
        return { reason, message: `Cannot write "${path}": ${reasonOf(error)}` };
      }
    });
    this.#record = record;
  }

  /** Passing over messages is final, so the stream is asked whether they are gone. */
  async #confirm(gaps: ArchiveBatch['gaps']): Promise<void> {
    for (const [from, to] of gaps) {
      if ((await this.#options.source.message(from)) === undefined) continue;
      throw new Error(`messages ${from} to ${to} were left out`);
    }
  }

  /** Looks at free space, moved files and the end of the stream; under load, once a second. */
  async #lookAround(isIdle: boolean): Promise<void> {
    const { source, now } = this.#options;
    if (!isIdle && now() - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = now();
    await this.#space.poll();
    await this.#views.look();
    const ends = await source.ends();
    if (ends.created !== this.#record!.created || ends.last < this.sequence) {
      throw new Error('the stream has changed');
    }
    this.#end = ends.last;
    if (isIdle && this.#lag > 0) await this.#passOver(ends);
    else this.#stalledLooks = 0;
    this.#log.lag(this.#lag);
  }

  /** No message comes, though the stream has later ones: these were removed, or will come. */
  async #passOver({ first, last }: StreamEnds): Promise<void> {
    const { source } = this.#options;
    const from = this.sequence + 1;
    let to = Math.max(from - 1, first - 1);
    while (to < last && (await source.message(to + 1)) === undefined) to += 1;
    if (to === last) {
      await this.#advance(to, undefined);
      this.#log.gap(from, to);
    } else if (++this.#stalledLooks > STALLED_LOOKS) {
      this.#stalledLooks = 0;
      throw new Error('its messages do not come');
    }
  }

  async #untilEnoughFree(): Promise<void> {
    const { stop, timing } = this.#options;
    while (this.#space.isLow) {
      if (stop.aborted) throw new StoppedWaiting('too little free disk space');
      await sleep(timing.retryMaxMs, stop);
      await this.#space.poll();
    }
  }

  get #lag(): number {
    return Math.max(0, this.#end - this.sequence);
  }
}
