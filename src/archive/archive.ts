// Turns the messages of a stream into view files, each view once, by its id.
//
// A batch of messages is appended to the files of its days, and the files are synced. Then the
// record is replaced: the position in the stream, and the size of each file. A process that dies in
// between leaves lines after the recorded sizes. The next process continues from the recorded
// position, and skips messages that have the id of one of those lines.
//
// The record is checked against the stream before any message is read: at the start, and whenever
// the connection was lost or the servers have forgotten the reader. If it does not match, the
// servers have lost messages, or it is another stream. Its messages are then read from the first
// one, with no size recorded for any file, so views that are in the files are skipped.
//
// Any replica may send the messages, and one that is behind may leave some out. Whenever the archive
// reaches the end of the stream, and each minute, it asks the stream's leader for the messages that
// it read as missing. Those that the leader has are an error, and are read from the leader.
//
// One writer: the lock (`disk/lock.ts`) makes sure of it.
import { Fatal } from '../base/exit.ts';
import { MINUTE_MS, sleep } from '../base/time.ts';
import { startRetention } from '../disk/retention.ts';
import { batchOf } from './archive-batch.ts';
import { ArchiveFiles, type ArchiveFilesOptions } from './archive-files.ts';
import { ArchiveLog } from './archive-log.ts';
import { mismatchOf } from './archive-record.ts';
import { RestoredDay } from './restored-day.ts';
import { parseRuns, type Run, runsFrom } from './runs.ts';
import {
  firstBetween,
  readFromLeader,
  type StreamMessage,
  type StreamSource,
} from './stream-source.ts';

export interface ArchiveOptions extends ArchiveFilesOptions {
  readonly source: StreamSource;
  /** Returns whether this process may remove files now. */
  readonly isLocked: () => boolean;
  /** Ends at the message that was the stream's last one when the archive started. */
  readonly once: boolean;
  /** A day to restore afterwards, with `once`. */
  readonly restore?: string | undefined;
}

/** Plain values for the metrics and the status page; counts since the start. */
export type ArchiveState = ReturnType<Archive['state']>;

const LOOK_MS = 1_000;
/**
 * A cluster that has just started may not have its latest state yet, so a mismatch is checked
 * again.
 */
const MISMATCH_LOOKS = 4;
/** The largest share of the time that audits may take. */
const AUDIT_SHARE = 0.1;

export class Archive {
  readonly #options: ArchiveOptions;
  readonly #files: ArchiveFiles;
  readonly #log: ArchiveLog;
  /** The sequence of the stream's last message. */
  #end = 0;
  /** The same when this connection began to read; `Infinity` until it is known. */
  #endAtStart = Infinity;
  /** The last position that was recorded before the servers seemed to have lost messages. */
  #positionBefore = 0;
  #until = Infinity;
  #lookedMs = -Infinity;
  /** Runs of messages that were read as missing, in order. */
  #runs: readonly Run[] = [];
  #auditedMs = -Infinity;
  #auditPauseMs = 0;
  /** Whether messages were archived since the last audit. */
  #isNew = true;
  /** With `once`: everything is archived. */
  #isComplete = false;

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
    const { skipped, lost, leftOut, unreadable } = this.#log;
    const { lines, bytes, writer, space, blocked, shortened, warnings } = this.#files;
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
    const { writer } = this.#files;
    const isInUse = (_: string, day: string): boolean => writer.isInUse(day);
    const keepDays = { views: this.#options.keepDays, refused: 0 };
    startRetention({ ...this.#options, keepDays, isInUse });
    await this.#files.start();
    this.#runs = parseRuns(this.#files.record?.missing ?? '') ?? [];
    await this.#repeat(() => this.#readOn());
    if (this.#options.restore !== undefined && this.#isComplete) {
      const day = new RestoredDay(this.#options, this.#files, this.#options.restore);
      await this.#repeat(() => day.readOn());
    }
    // Throws a Fatal if a full disk has left half a line in the file.
    await writer.close();
  }

  /** Tries again until `attempt` returns true, or the process is stopped. */
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
   * Reads on from the record until the stream has to be checked again.
   * @returns whether everything is archived.
   */
  async #readOn(): Promise<boolean> {
    const { source, stop } = this.#options;
    await this.#check();
    if (await this.#hasEnded()) return true;
    // Servers may have lost messages since the check.
    this.#endAtStart = Infinity;
    this.#lookedMs = -Infinity;
    for await (const messages of source.read(this.sequence)) {
      this.#log.succeeded();
      const isIdle = messages.length === 0;
      const isLookDue = isIdle || performance.now() - this.#lookedMs >= LOOK_MS;
      if (isLookDue && !(await this.#look(isIdle))) return false;
      if (!isIdle) await this.#take(messages);
      if (stop.aborted || (await this.#hasEnded())) return true;
    }
    return false;
  }

  /** Returns whether, with `once`, everything is archived, as far as the leader knows. */
  async #hasEnded(): Promise<boolean> {
    if (this.sequence < this.#until) return false;
    this.#isComplete = await this.#audit((await this.#options.source.ends()).first);
    return this.#isComplete;
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
    this.#runs = [];
    await this.#files.restart(source.name, ends.created, Math.max(0, ends.first - 1));
  }

  /** Writes, syncs and records messages. */
  async #take(messages: readonly StreamMessage[]): Promise<void> {
    const { to, id, days, skipped, gaps } = batchOf(messages, this.sequence);
    const { source } = this.#options;
    // A server that is behind may leave some out.
    for (const [from, last] of gaps) {
      const there = await firstBetween(source, from, last);
      if (there !== undefined) throw new Error(`message ${there.sequence} was left out`);
    }
    for (const [day, lines] of days) await this.#files.append(day, lines);
    this.#runs = [...this.#runs, ...gaps];
    await this.#advance(to, id);
    this.#isNew = true;
    this.#log.skip(skipped);
    for (const gap of gaps) this.#log.gap(gap);
  }

  #advance(sequence: number, id: string | undefined): Promise<void> {
    // Lines of an earlier process come from messages up to this one. Messages that the servers
    // seemed to have lost may still come: a server may have been far behind.
    if (sequence >= this.#endAtStart) this.#files.caughtUp(sequence >= this.#positionBefore);
    return this.#files.advance(sequence, id, this.#runs);
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
    const { created, first, last } = await source.ends();
    if (created !== this.#files.record!.created || last < this.sequence) return false;
    this.#end = last;
    if (this.#endAtStart === Infinity) this.#endAtStart = last;
    this.#log.lag(this.#lag);
    if (isIdle && this.#lag > 0) {
      // The stream has later messages that do not arrive: they were removed, or the reader is lost.
      const run: Run = [this.sequence + 1, last];
      if ((await firstBetween(source, ...run)) !== undefined) return false;
      this.#runs = [...this.#runs, run];
      await this.#advance(last, undefined);
      this.#log.gap(run);
    }
    const pauseMs = isIdle && this.#isNew ? this.#auditPauseMs : MINUTE_MS;
    return performance.now() - this.#auditedMs < pauseMs || this.#audit(first);
  }

  /**
   * Asks the leader for the messages that were read as missing, and archives those that it has.
   * @param first the stream's first sequence.
   * @returns whether reading can go on; if not, the stream must be checked again.
   */
  async #audit(first: number): Promise<boolean> {
    const { source } = this.#options;
    const beginMs = performance.now();
    await this.#files.examine();
    const ends = await source.ends();
    if ((await mismatchOf(this.#files.record, source, ends)) !== undefined) return false;
    this.#runs = runsFrom(this.#runs, first);
    for (const run of this.#runs) {
      const found = await firstBetween(source, ...run);
      if (found === undefined) continue;
      this.#log.foundMissing(run, found.sequence);
      await this.#readFromLeader(run);
    }
    this.#log.sayGaps();
    this.#isNew = false;
    this.#auditedMs = performance.now();
    this.#auditPauseMs = Math.min(MINUTE_MS, (this.#auditedMs - beginMs) / AUDIT_SHARE);
    return true;
  }

  /** Archives what the leader has of a run, which may be long. */
  async #readFromLeader([first, to]: Run): Promise<void> {
    for (let from = first; from <= to;) {
      const messages = await readFromLeader(this.#options.source, from, to);
      if (messages.length === 0) return;
      const { to: last, days, gaps, skipped } = batchOf(messages, from - 1);
      for (const [day, lines] of days) await this.#files.complete(day, lines);
      const others = this.#runs.filter(([at]) => at < from || at > to);
      const rest: Run[] = last < to ? [[last + 1, to]] : [];
      this.#runs = [...others, ...gaps, ...rest].toSorted(([a], [b]) => a - b);
      await this.#advance(this.sequence, this.#files.record!.id);
      this.#log.skip(skipped);
      this.#log.leftOut += messages.length;
      from = last + 1;
    }
  }
}
