// Turns messages into view files, each message once.
//
// The order is what makes that so. Before the lines of a batch are written, the record says so: the
// sequence that the batch ends with, and each file's size. Then the lines are written, the files
// synced, and the record says that the batch is done. So whenever the process dies, at most one
// batch is in doubt, and it is known where its lines can stand. Its messages are taken from the
// stream again; of their lines those that stand there whole are passed over, a half one is
// completed, the others are written. However often that is cut off, it begins with the same record.
//
// Sizes only tell where to look. What stands there is compared, never assumed: a power cut leaves
// NULs or less than was written, and other hands may have been at the files.
//
// The record goes back only where the servers have lost messages that are archived: behind the last
// one that they still have, with the ids of the others, which are not written again.
//
// Where an earlier process cannot have recorded how far it had come (the servers have lost messages
// since, or somebody has changed the record), the lines of the messages in doubt are looked for in
// the files in the same way, from their start. A record that is older than the files, as from a
// backup, shows by the first lines after it: they stand there. Alone the last line that was archived
// may come again: two messages are two views, whatever is in them.
//
// One writer: `lock.ts` sees to that.
import { EXIT, Fatal } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { type RetryTiming, sleep } from '../base/time.ts';
import { NOTHING } from '../disk/daily-file.ts';
import { DayFiles } from './day-files.ts';
import { newestDay } from '../disk/directory.ts';
import { dayOfFileName, fileNameOf } from '../disk/names.ts';
import { type FileOps, systemFiles } from '../disk/ops.ts';
import { FreeSpace } from '../disk/free-space.ts';
import { StoppedWaiting, UntilRoom } from './until-room.ts';
import { ALL, type ArchiveBatch, batchOf } from './archive-batch.ts';
import { findLine } from './find-line.ts';
import { Journal, type Sizes } from './journal.ts';
import { Losses } from './losses.ts';
import { idOf, type StreamMessage } from './message.ts';
import type { Loss, Position } from './recent-messages.ts';
import type { ArchiveRecord } from './archive-record.ts';
import type { Known } from './archived-stream.ts';

export interface ArchiverOptions {
  readonly dir: string;
  /** How far an earlier process has come; of a new stream, sequence 0. */
  readonly record: ArchiveRecord;
  /** Below this much free disk space nothing is written; 0: not before the disk is full. */
  readonly minFreeBytes: number;
  readonly log: Log;
  /** Ends the waiting for a full disk; a batch that can be written is written. */
  readonly stop: AbortSignal;
  readonly files?: FileOps;
  readonly timing?: RetryTiming;
}

/** Plain values for the metrics and the status page; counts and sums since the start. */
export interface ArchiverState {
  readonly sequence: number;
  readonly paths: readonly string[];
  readonly lines: number;
  readonly bytes: number;
  readonly batches: number;
  readonly skipped: number;
  readonly lost: number;
  readonly syncSeconds: number;
  readonly sealedFragments: number;
  readonly freeBytes: number | undefined;
  /** Why nothing can be written now. */
  readonly unavailable: string | undefined;
}

const TIMING: RetryTiming = { retryMs: 100, retryMaxMs: 1_000 };
/** A batch under way for longer is said to be stuck. */
const STUCK_MS = 10_000;
const CHECK_MS = 500;

/** Archives the messages that it is given, in the stream's order. Calls must not overlap. */
export class Archiver {
  readonly #options: ArchiverOptions & { readonly files: FileOps };
  readonly #untilRoom: UntilRoom;
  readonly #days: DayFiles;
  readonly #space: FreeSpace;
  readonly #journal: Journal;
  readonly #losses: Losses;
  /** Of a batch that an earlier process did not finish: its messages, until all are here. */
  #again: StreamMessage[] = [];
  #sinceMs: number | undefined;
  /** The files may have lines that are not recorded. */
  #isBehindFiles = true;
  #isBehindTold = false;
  #checkedMs = 0;
  #counts = { lines: 0, bytes: 0, batches: 0 };

  constructor(options: ArchiverOptions) {
    const { log, timing = TIMING, stop, record, files = systemFiles } = options;
    this.#options = { ...options, files };
    this.#untilRoom = new UntilRoom({ log, timing, stop });
    this.#journal = new Journal(record, { ...options, files, untilRoom: this.#untilRoom });
    this.#losses = new Losses(log);
    this.#days = new DayFiles({ ...options, files, untilRoom: this.#untilRoom });
    this.#space = new FreeSpace({ ...options, files, effect: 'archiving waits' });
  }

  /** Every message up to this one is in the files, and synced. */
  get sequence(): number {
    return this.#journal.record.sequence;
  }

  get #last(): Position {
    const { sequence, id } = this.#journal.record;
    return { sequence, id };
  }

  /** What must be true of the stream, by now. */
  get known(): Known {
    const { created, sequence, id, writing } = this.#journal.record;
    return { created, sequence, id, reached: writing?.to ?? sequence };
  }

  /** The last of the messages that have been taken. */
  get taken(): number {
    return this.#again.at(-1)?.sequence ?? this.#journal.record.sequence;
  }

  state(): ArchiverState {
    const isStuck = this.#sinceMs !== undefined && performance.now() - this.#sinceMs > STUCK_MS;
    const low = this.#space.isLow() ? 'too little free disk space' : undefined;
    return {
      ...this.#counts,
      skipped: this.#losses.skipped,
      lost: this.#losses.lost,
      sequence: this.sequence,
      paths: this.#days.paths,
      syncSeconds: this.#days.syncSeconds,
      sealedFragments: this.#days.sealedFragments,
      freeBytes: this.#space.bytes(),
      unavailable:
        this.#untilRoom.reason ?? low ?? (isStuck ? 'the disk does not answer' : undefined),
    };
  }

  hasWritten(day: string): boolean {
    return this.#days.written.has(day);
  }

  /**
   * Makes the record durable, and ends what a crash of another writer may have torn: the newest file.
   * @throws {StoppedWaiting | Fatal}
   */
  async start(): Promise<void> {
    await this.#journal.start();
    await this.#space.poll();
    const day = await newestDay(this.#options.files, this.#options.dir, 'views');
    const { files = {} } = this.#journal.record.writing ?? {};
    // One that this archive was writing is completed rather than ended.
    if (day === undefined || fileNameOf('views', day) in files) return;
    await this.#days.open(day);
    await this.#days.append(day, NOTHING, async () => {});
    await this.#days.sync([day]);
  }

  /**
   * Archives messages; when it resolves they are on the disk and recorded, unless they belong to a
   * batch that an earlier process began, and of which more are to come.
   * @throws {StoppedWaiting} if told to stop while the disk is full.
   * @throws {Fatal} exit 74 if a sync fails, or a write but for a full disk.
   */
  async take(messages: readonly StreamMessage[]): Promise<void> {
    let left = this.#journal.record.writing === undefined ? messages : await this.#finish(messages);
    while (left.length > 0) {
      const { batch, used } = batchOf(left, this.sequence, this.#journal.kept);
      if (batch.to > this.sequence) await this.#timed(() => this.#write(batch));
      left = left.slice(used);
    }
  }

  /**
   * Goes back to before messages that the servers have lost and that are all archived, so that
   * those in their place can be taken. The views stay in the files: no other message carries them.
   */
  async goBack(loss: Loss): Promise<void> {
    await this.#journal.goBack(loss);
    const { sequence } = loss.position;
    this.#options.log.error(
      `The servers have lost messages ${sequence + 1} to ${loss.to} of the stream, which are ` +
        `archived and stay so; going on after message ${sequence}, with what they have there now`,
    );
  }

  /** Begins again after the position, writing of what follows only what is not in the files. */
  async beginAgain(position: Position): Promise<void> {
    const { reached } = this.known;
    await this.#journal.doubt(position, reached);
    this.#options.log.error(
      `The servers have lost messages of the stream that are archived and stay so, ${reached} the ` +
        `last of them; going on after message ${position.sequence}, with what is not in the files`,
    );
  }

  /** Looks after the free space and the open files: somebody may have moved one. */
  async checkDisk(): Promise<void> {
    this.#checkedMs = performance.now();
    await this.#space.poll();
    await this.#days.checkPaths();
  }

  /** @throws {Fatal} exit 74 if a file ends in half a line: the disk is full. */
  async close(): Promise<void> {
    const { torn } = this.#days;
    await this.#days.close();
    if (torn === undefined) return;
    throw new Fatal(
      EXIT.ioError,
      `"${torn}" ends in half a line, since the disk is full; the next start completes it`,
    );
  }

  async #write(batch: ArchiveBatch): Promise<void> {
    await this.#checkDiskNowAndThen();
    await this.#untilEnoughFree();
    if (await this.#isBehind(batch)) await this.#journal.doubt(this.#last, batch.to);
    if (this.#journal.record.doubtfulTo !== undefined) return this.#writeMissing(batch);
    const sizes: Record<string, number> = {};
    for (const day of batch.days.keys()) {
      sizes[fileNameOf('views', day)] = await this.#days.open(day);
    }
    if (batch.lines > 0) await this.#journal.begin(batch.to, sizes);
    for (const [day, lines] of batch.days) {
      await this.#days.append(day, lines, this.#beginAnew(day, batch.to, sizes));
    }
    await this.#end(batch, batch.days.keys());
  }

  /** Whether the files have more than the record says: asked until they have not. */
  async #isBehind({ days }: ArchiveBatch): Promise<boolean> {
    if (!this.#isBehindFiles || this.#journal.record.doubtfulTo !== undefined) return false;
    const { id } = this.#last;
    for (const [day, lines] of days) {
      const path = this.#days.pathOf(day);
      const found = await findLine(path, lines);
      if (found === 'nowhere' || (found === 'last' && (id ?? idOf(lines)) === idOf(lines)))
        continue;
      this.#tellBehind(path);
      return true;
    }
    if (days.size > 0) this.#isBehindFiles = false;
    return false;
  }

  #tellBehind(path: string): void {
    if (this.#isBehindTold) return;
    this.#isBehindTold = true;
    this.#options.log.warn(
      `"${path}" has views of messages after ${this.sequence}, of which "archive.json" knows ` +
        'nothing: that is older than the files, or was changed; what they have is not written again',
    );
  }

  /** Of a batch that may be in the files already, writes what is not. */
  async #writeMissing(batch: ArchiveBatch): Promise<void> {
    const days = [...batch.days.keys()];
    const sizes = Object.fromEntries(days.map((day) => [fileNameOf('views', day), 0]));
    if (batch.lines > 0) await this.#journal.begin(batch.to, sizes);
    let isCertain = false;
    const written = { lines: 0, bytes: 0 };
    for (const [day, lines] of batch.days) {
      const { missing, size } = await this.#completeFile(day, lines, batch.to, sizes);
      written.lines += linesIn(missing);
      written.bytes += missing.length;
      // A file that has others has come to where the doubtful ones end.
      if (size > 0 && missing.length === lines.length) isCertain = true;
    }
    await this.#end({ ...batch, ...written }, days, isCertain);
  }

  /**
   * Gathers the messages of the batch that an earlier process did not finish, and finishes it.
   * @returns the messages after it.
   */
  async #finish(messages: readonly StreamMessage[]): Promise<readonly StreamMessage[]> {
    const { to } = this.#journal.record.writing!;
    const beyond = messages.findIndex(({ sequence }) => sequence > to);
    this.#again.push(...messages.slice(0, beyond < 0 ? messages.length : beyond));
    if (beyond < 0 && this.taken < to) return [];
    await this.#timed(() => this.#complete(this.#again));
    this.#again = [];
    return beyond < 0 ? [] : messages.slice(beyond);
  }

  async #complete(messages: readonly StreamMessage[]): Promise<void> {
    const { to, files } = this.#journal.record.writing!;
    const { batch } = batchOf(messages, this.sequence, this.#journal.kept, ALL);
    await this.#untilEnoughFree();
    const sizes: Record<string, number> = { ...files };
    const days = new Set([...batch.days.keys(), ...daysOf(files)]);
    // Where the last view comes again, what stands before the sizes is of messages archived earlier.
    const { id } = this.#last;
    const isSure = id === undefined || hasView(batch, id);
    for (const day of days) {
      const lines = batch.days.get(day) ?? Buffer.alloc(0);
      await this.#completeFile(day, lines, to, sizes, isSure);
    }
    const [gap] = batch.to < to ? [{ from: batch.to + 1, to }] : [];
    const whole = gap === undefined ? batch : { ...batch, to, lastId: undefined };
    await this.#end({ ...whole, gaps: [...batch.gaps, ...(gap ? [gap] : [])] }, days);
  }

  /**
   * Of the lines, writes those that do not stand in the file.
   * @param isSure its size is not too large.
   * @returns these, and the file's size before.
   */
  async #completeFile(
    day: string,
    lines: Buffer,
    to: number,
    sizes: Record<string, number>,
    isSure = true,
  ): Promise<{ readonly missing: Buffer; readonly size: number }> {
    const name = fileNameOf('views', day);
    if (!(name in sizes)) {
      sizes[name] = await this.#days.open(day);
      await this.#journal.begin(to, sizes);
    }
    const path = this.#days.pathOf(day);
    const { missing, ending, hasShrunk } = await this.#days.find(day, sizes[name]!, lines, isSure);
    if (hasShrunk) {
      this.#options.log.warn(
        `"${path}" has been moved, removed or emptied, not by viewlog; ` +
          `views of the messages ${this.sequence + 1} to ${to} may be there and here`,
      );
    }
    const size = await this.#days.open(day, ending);
    const isBegun = ending !== undefined;
    await this.#days.append(day, missing, this.#beginAnew(day, to, sizes), isBegun);
    return { missing, size };
  }

  /** The same when somebody has put another file in a file's place. */
  #beginAnew(
    day: string,
    to: number,
    sizes: Record<string, number>,
  ): (size: number) => Promise<void> {
    return (size) => {
      sizes[fileNameOf('views', day)] = size;
      return this.#journal.begin(to, sizes);
    };
  }

  async #end(batch: ArchiveBatch, days: Iterable<string>, isCertain = false): Promise<void> {
    await this.#days.sync(days);
    await this.#journal.end(batch.to, batch.lastId, isCertain);
    this.#counts.lines += batch.lines;
    this.#counts.bytes += batch.bytes;
    this.#counts.batches += 1;
    this.#losses.addSkipped(batch.skipped);
    for (const gap of batch.gaps) this.#losses.addLost(gap);
  }

  /** Under load there is no other time for it. */
  async #checkDiskNowAndThen(): Promise<void> {
    if (performance.now() - this.#checkedMs > CHECK_MS) await this.checkDisk();
  }

  async #untilEnoughFree(): Promise<void> {
    const { stop, timing = TIMING } = this.#options;
    while (this.#space.isLow()) {
      if (stop.aborted) throw new StoppedWaiting('too little free disk space');
      await sleep(timing.retryMaxMs, stop);
      await this.#space.poll();
    }
  }

  async #timed(run: () => Promise<void>): Promise<void> {
    this.#sinceMs = performance.now();
    await run();
    this.#sinceMs = undefined;
  }
}

const hasView = ({ days }: ArchiveBatch, id: string): boolean =>
  [...days.values()].some((lines) => lines.includes(`"id":"${id}"`));

const linesIn = (text: Buffer): number => text.toString('latin1').split('\n').length - 1;

const daysOf = (files: Sizes): string[] =>
  Object.keys(files)
    .map((name) => dayOfFileName('views', name))
    .filter((day) => day !== undefined);
