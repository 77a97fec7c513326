// Turns the messages of a stream into view files, each view once, by its id.
//
// A batch of messages is appended to the files of its days, and the files are synced. Then the
// record is replaced: the position in the stream and the size of each file. A process that dies in
// between leaves lines after the recorded sizes. The next process continues from the recorded
// position and skips messages that have the id of one of those lines.
//
// The record is checked against the stream before any message is read: at the start, and whenever
// the connection was lost or the servers have lost the reader. If the record and the stream don't
// match, the servers have lost messages, or this is another stream. The archive then reads the
// stream from its first message, with no size recorded for any file, and skips views that are in
// the files.
//
// Any replica may send the messages, and a replica that is behind may leave some out. Whenever the
// archive reaches the end of the stream, and each minute, it asks the stream's leader for the
// messages that it found missing. If the leader has any, the archive logs an error and reads them
// from the leader. The record lists missing messages, so a process that starts after a crash asks
// for them too.
//
// Only one archive writes to a directory: the lock (`disk/lock.ts`) ensures that.
import { Fatal } from '../base/exit.ts';
import { MINUTE_MS, sleep } from '../base/time.ts';
import { startRetention } from '../disk/retention.ts';
import { batchOf } from './archive-batch.ts';
import { ArchiveFiles, type ArchiveFilesOptions } from './archive-files.ts';
import { ArchiveLog } from './archive-log.ts';
import { type ArchiveRecord, mismatchOf } from './archive-record.ts';
import { RestoredDay } from './restored-day.ts';
import {
  readFromLeader,
  type Run,
  type StreamMessage,
  type StreamSource,
} from './stream-source.ts';

export interface ArchiveOptions extends ArchiveFilesOptions {
  readonly source: StreamSource;
  /** Returns whether this process may remove files now. */
  readonly isLocked: () => boolean;
  /** True: the archive ends at the message that was the stream's last one when it started. */
  readonly once: boolean;
  /** A day to restore afterwards, with `once`. */
  readonly restore?: string | undefined;
}

/** Plain values for the metrics and the status page; counts since the start. */
export type ArchiveState = ReturnType<Archive['state']>;

const CHECK_MS = 1_000;
/**
 * A cluster that has just started may not have its latest state yet, so a mismatch is checked
 * again.
 */
const MISMATCH_CHECKS = 4;
/** The pause after an audit, per run of messages that the archive asked the leader for. */
const PAUSE_PER_RUN_MS = 10;
/** More runs of missing messages would make the record slow to write, so the oldest are dropped. */
const RUNS_MAX = 10_000;

export class Archive {
  readonly #options: ArchiveOptions;
  readonly #files: ArchiveFiles;
  readonly #log: ArchiveLog;
  /** The sequence of the stream's last message. */
  #end = 0;
  /** The value of `#end` when this connection began to read; `Infinity` until `#end` is known. */
  #endAtStart = Infinity;
  /** The last position that was recorded before the servers seemed to have lost messages. */
  #positionBefore = 0;
  #until = Infinity;
  #checkedMs = -Infinity;
  /** The position at which a reader delivered nothing, although the leader has more messages. */
  #stuckAt = -1;
  #auditedMs = -Infinity;
  #auditPauseMs = 0;
  /** Gaps up to this message have been logged. */
  #loggedTo = 0;
  /** True: messages have been archived since the last audit. */
  #isNew = true;

  constructor(options: ArchiveOptions) {
    this.#options = options;
    this.#files = new ArchiveFiles(options);
    this.#log = new ArchiveLog(options.log, options.source.name);
  }

  /** The record's `sequence`; 0 if there is no record. */
  get sequence(): number {
    return this.#files.record?.sequence ?? 0;
  }

  /** The number of messages in the stream that aren't archived yet. */
  get #lag(): number {
    return Math.max(0, this.#end - this.sequence);
  }

  state() {
    const { skipped, lost, leftOut, unreadable } = this.#log;
    const { lines, bytes, writer, shortened, warnings } = this.#files;
    return {
      sequence: this.sequence,
      lag: this.#lag,
      lines,
      bytes,
      skipped,
      lost,
      leftOut,
      shortened,
      warnings,
      path: writer.path,
      freeBytes: writer.space.bytes,
      /** Why the archive can't write (`unavailable`) or read (`unreadable`) now. */
      unavailable: writer.blocked?.reason,
      unreadable,
    };
  }

  /**
   * Archives until it is stopped or, with `once`, until the end of the stream.
   * @throws {Fatal} exit 65 if the record has an unknown format or covers too little of the files;
   *   74 if a sync or write fails.
   */
  async run(): Promise<void> {
    const { writer } = this.#files;
    const isInUse = (_: string, day: string): boolean => writer.isInUse(day);
    const keepDays = { views: this.#options.keepDays, refused: 0 };
    startRetention({ ...this.#options, keepDays, isInUse });
    await this.#files.start();
    this.#loggedTo = this.sequence;
    await this.#repeat(() => this.#readOn());
    if (this.#options.restore !== undefined && !this.#options.stop.aborted) {
      this.#files.caughtUp(true);
      const day = new RestoredDay(this.#options, this.#files, this.#options.restore);
      await this.#repeat(() => day.readOn());
    }
    // Throws a Fatal if a full disk has left a fragment in the file.
    await writer.close();
  }

  /** Repeats `attempt` until it returns true or the process is stopped. */
  async #repeat(attempt: () => Promise<boolean>): Promise<void> {
    const { stop, waitMsMax } = this.#options;
    for (;;) {
      try {
        if ((await attempt()) || stop.aborted) return;
      } catch (error) {
        if (error instanceof Fatal) throw error;
        if (stop.aborted) return;
        this.#log.failed(error);
      }
      await sleep(waitMsMax, stop);
    }
  }

  /**
   * Reads on from the recorded position until the stream must be checked again.
   * @returns whether everything is archived.
   */
  async #readOn(): Promise<boolean> {
    const { source, stop } = this.#options;
    await this.#checkRecord();
    if (await this.#hasEnded()) return true;
    // Servers may have lost messages since the check.
    this.#endAtStart = Infinity;
    this.#checkedMs = -Infinity;
    for await (const messages of source.read(this.sequence)) {
      this.#log.succeeded();
      const isIdle = messages.length === 0;
      const isDue = isIdle || performance.now() - this.#checkedMs >= CHECK_MS;
      if (isDue && !(await this.#check(isIdle))) return false;
      if (!isIdle) await this.#write(messages);
      if (stop.aborted || (await this.#hasEnded())) return true;
    }
    return false;
  }

  /** Returns whether, with `once`, everything is archived. Asks the leader for missing messages. */
  async #hasEnded(): Promise<boolean> {
    return this.sequence >= this.#until && this.#audit();
  }

  /**
   * Checks that the record matches this stream; if it doesn't, starts at the stream's first
   * message.
   */
  async #checkRecord(): Promise<void> {
    const { source, log, once, stop, waitMsMax } = this.#options;
    const { record } = this.#files;
    let ends = await source.ends();
    let mismatch = await mismatchOf(record, source, ends);
    for (let time = 1; mismatch !== undefined && time < MISMATCH_CHECKS; time++) {
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
        `${mismatch}; reading stream "${source.name}" from its first message and skipping views ` +
          'that are in the files',
      );
    }
    this.#loggedTo = Math.max(0, ends.first - 1);
    await this.#files.restart(source.name, ends.created, this.#loggedTo);
  }

  /** Writes, syncs and records messages. */
  async #write(messages: readonly StreamMessage[]): Promise<void> {
    const { to, lastView, days, skipped, gaps } = batchOf(messages, this.sequence);
    for (const [day, lines] of days) await this.#files.append(day, lines);
    await this.#advance(to, [...this.#missing, ...gaps], lastView);
    this.#isNew = true;
    this.#log.skip(skipped);
  }

  get #missing(): readonly Run[] {
    return this.#files.record!.missing;
  }

  /** @param lastView by default, the recorded view: none has been read since. */
  #advance(
    sequence: number,
    missing: readonly Run[],
    lastView = this.#files.record!.lastView,
  ): Promise<void> {
    // An earlier process wrote only lines of messages up to `#endAtStart`. Messages that the
    // servers seemed to have lost may still come: a server may have been far behind.
    if (sequence >= this.#endAtStart) this.#files.caughtUp(sequence >= this.#positionBefore);
    const runs = missing.map(([from, to]): [number, number] => [from, to]);
    return this.#files.advance({ sequence, lastView, missing: runs });
  }

  /**
   * Checks free space, moved files and the end of the stream.
   * @param isIdle true: no message has come for a while.
   * @returns whether reading can go on; if not, the stream must be checked again.
   */
  async #check(isIdle: boolean): Promise<boolean> {
    const { source } = this.#options;
    this.#checkedMs = performance.now();
    await this.#files.writer.check();
    const { created, last } = await source.ends();
    if (created !== this.#files.record!.created || last < this.sequence) return false;
    this.#end = last;
    if (this.#endAtStart === Infinity) this.#endAtStart = last;
    this.#log.lag(this.#lag);
    if (isIdle && this.#lag > 0) return this.#passOver([this.sequence + 1, last]);
    const pauseMs = isIdle && this.#isNew ? this.#auditPauseMs : MINUTE_MS;
    return performance.now() - this.#auditedMs < pauseMs || this.#audit();
  }

  /**
   * Records the stream's last messages as missing: they were removed, the reader is lost, or its
   * server lacks them. A new reader gets one attempt before the messages count as missing.
   */
  async #passOver(run: Run): Promise<boolean> {
    const { source } = this.#options;
    const [from, to] = run;
    const found = await source.next(from);
    if (found !== undefined && found.sequence <= to && this.#stuckAt !== from) {
      this.#stuckAt = from;
      return false;
    }
    await this.#advance(to, [...this.#missing, run]);
    return this.#audit();
  }

  /**
   * Asks the leader for the messages that were found missing and archives those that it has.
   * @returns whether reading can go on; if not, the stream must be checked again.
   */
  async #audit(): Promise<boolean> {
    const { source } = this.#options;
    await this.#files.examine();
    const ends = await source.ends();
    if ((await mismatchOf(this.#files.record, source, ends)) !== undefined) return false;
    const missing: Run[] = [];
    let { lastView } = this.#files.record!;
    for (const run of this.#missing) {
      const read = await this.#readFromLeader(run);
      missing.push(...read.missing);
      const isLater = (read.lastView?.sequence ?? 0) > (lastView?.sequence ?? 0);
      if (isLater) ({ lastView } = read);
    }
    this.#log.gaps(missing.filter(([from]) => from > this.#loggedTo));
    this.#loggedTo = this.sequence;
    // The stream no longer has the messages before `ends.first`.
    const asked = missing.filter(([, to]) => to >= ends.first).slice(-RUNS_MAX);
    if (this.#missing.length > 0) {
      await this.#advance(this.sequence, asked, lastView);
    }
    this.#isNew = false;
    this.#auditedMs = performance.now();
    this.#auditPauseMs = Math.min(MINUTE_MS, asked.length * PAUSE_PER_RUN_MS);
    return true;
  }

  /** Archives the messages of a run that the leader has; returns the runs that the leader lacks. */
  async #readFromLeader(run: Run) {
    const [from, to] = run;
    const missing: Run[] = [];
    let lastView: ArchiveRecord['lastView'];
    let after = from - 1;
    let count = 0;
    for await (const messages of readFromLeader(this.#options.source, run)) {
      const batch = batchOf(messages, after);
      for (const [day, lines] of batch.days) await this.#files.complete(day, lines);
      this.#log.skip(batch.skipped);
      missing.push(...batch.gaps);
      lastView = batch.lastView ?? lastView;
      after = batch.to;
      count += messages.length;
    }
    if (count > 0) this.#log.foundMissing(run, count);
    if (after < to) missing.push([after + 1, to]);
    return { missing, lastView };
  }
}
