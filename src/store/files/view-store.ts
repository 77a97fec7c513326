// View files: one line per view, one file per UTC day.
//
// One writer. This store assumes that no other process writes view files in its directory; the lock
// (`disk/lock.ts`) ensures that.
//
// Durable. `append` resolves to an id once the whole line is in the file and, with `disk`, synced:
// by an fdatasync that began after the write, or because the write itself syncs (O_DSYNC). The line
// then survives kill -9 and a power cut. With `os` it resolves once write() has returned: the line
// survives kill -9, not a power cut. Nothing is acknowledged from memory, and nothing after a
// failed sync, because no later sync reports what that one lost: the process must end.
//
// Group commit. While one batch is written and synced, the next one fills. Under load many views
// share the cost of a sync; a lone view doesn't wait for others.
//
// A crash can lose lines that weren't acknowledged. It can leave whole lines that weren't
// acknowledged, and a fragment at the end of the file. The next process that opens the file seals
// the fragment with a newline.
//
// A full disk. Whole lines that are in the file are synced and acknowledged. The first line that
// doesn't fit is refused, but part of it may be in the file, which is never truncated or
// overwritten. The rest stays in memory and is written before anything else once there is space.
// That view is stored although its sender got a 503. Writing the rest is also the test for space.
//
// One loop does everything that touches the disk, one step at a time: commit a batch, or check the
// file and the free space and, after an error, try again. Timers only set what is due.
import { EXIT, Fatal, errorText } from '../../base/exit.ts';
import { plural } from '../../base/format.ts';
import { dayOf, every, within } from '../../base/time.ts';
import { type Blocked, DayWriter, NOTHING } from '../../disk/day-writer.ts';
import { FreeSpace, TOO_LITTLE_SPACE } from '../../disk/free-space.ts';
import type { DirectoryOptions } from '../../disk/ops.ts';
import { createStamper, type Stamp } from '../stamp.ts';
import { type Appended, STOPPING, type ViewStore } from '../store.ts';
import { Batch, countLines } from './batch.ts';

/** The caller must hold the directory's lock. */
export interface ViewStoreOptions extends DirectoryOptions {
  readonly durability: 'disk' | 'os';
  /** Views are refused below this much free disk space; 0: not before the disk is full. */
  readonly minFreeBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Called once if the store can't continue: the process must end with this exit code and message.
   * The store hasn't logged them.
   */
  readonly onFatal: (fatal: Fatal) => void;
  /** How often the file's path, the free space and a stuck disk are checked. */
  readonly pollMs?: number;
}

const POLL_MS = 800;
/** Views that wait longer than this for the disk are refused. */
const STUCK_MS = 10_000;

const FAILED = 'the disk has failed';
const STUCK = "the disk doesn't answer";

export type ViewStoreState = ReturnType<LocalViewStore['state']>;

export class LocalViewStore implements ViewStore {
  readonly #options: ViewStoreOptions;
  readonly #stamp: () => Stamp;
  readonly #writer: DayWriter;
  readonly #space: FreeSpace;
  readonly #queue: Batch[] = [];
  #day = '';

  #looping: Promise<void> | undefined;
  /** When the loop's step began, on the monotonic clock, and the batch that it commits. */
  #stepSinceMs: number | undefined;
  #batch: Batch | undefined;
  #isCheckDue = false;
  #checks = 0;
  #endPolls: (() => void) | undefined;

  #blocked: Blocked | undefined;
  #isStuck = false;
  /** The first error after which the store can't continue. */
  #fatal: Fatal | undefined;
  #isClosing = false;
  #unavailableSinceMs: number | undefined;

  readonly #counts = { lines: 0, bytes: 0, batches: 0 };

  constructor(options: ViewStoreOptions) {
    this.#options = options;
    this.#stamp = createStamper(options.now);
    this.#writer = new DayWriter({ ...options, kind: 'views' });
    this.#space = new FreeSpace(options);
  }

  /**
   * Seals the newest view file and begins to check the disk. A full disk doesn't keep the
   * store from starting: it refuses views until there is space.
   * @throws {Fatal} exit 73 if the newest file can't be opened, 74 if a sync fails.
   */
  async start(): Promise<void> {
    this.#setBlocked(await this.#writer.start());
    await this.#space.poll();
    this.#noteUnavailable();
    this.#endPolls = every(this.#options.pollMs ?? POLL_MS, () => this.#poll());
  }

  append(fields: Uint8Array): Promise<Appended> {
    const unavailable = this.#unavailable();
    if (unavailable !== undefined) return Promise.resolve({ unavailable });
    const stamp = this.#stamp();
    if (stamp.day !== this.#day) this.#beginDay(stamp.day);
    let batch = this.#queue.at(-1);
    if (batch === undefined || !batch.takes(stamp.day)) {
      batch = new Batch(stamp.day);
      this.#queue.push(batch);
    }
    this.#looping ??= this.#loop();
    return batch.add(stamp, fields);
  }

  /**
   * Refuses new views, writes and syncs the queue, closes the file.
   * @throws {Fatal} the error that `onFatal` got, before or meanwhile; exit 74 if the disk takes
   *   longer, or if the file is left with a fragment.
   */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosing = true;
    this.#endPolls?.();
    const isFinished = await within(timeoutMs, this.#finish()).finally(() => {
      this.#refuseAll(STOPPING);
    });
    if (isFinished) return;
    const what = `Stopped before all writes to "${this.#writer.where}" were finished and synced`;
    throw new Fatal(EXIT.ioError, `${what}: the disk didn't answer in time`);
  }

  isInUse(day: string): boolean {
    return this.#writer.isInUse(day);
  }

  /** Counts and sums are since the start. */
  state() {
    const { path, fileBytes, syncSeconds, sealedFragments } = this.#writer;
    const waiting = this.#batch === undefined ? this.#queue : [this.#batch, ...this.#queue];
    return {
      ...this.#counts,
      path,
      fileBytes,
      syncSeconds,
      sealedFragments,
      unavailable: this.#unavailable(),
      unavailableSinceMs: this.#unavailableSinceMs,
      /** The log's message about the file that can't be opened or written. */
      detail: this.#blocked?.message,
      queuedLines: waiting.reduce((lines, batch) => lines + batch.waiting, 0),
      /** At the last check; `undefined` if it is unknown. */
      freeBytes: this.#space.bytes,
    };
  }

  #unavailable(): string | undefined {
    if (this.#fatal !== undefined) return FAILED;
    if (this.#isStuck) return STUCK;
    if (this.#blocked !== undefined) return this.#blocked.reason;
    if (this.#isClosing) return STOPPING;
    return this.#space.isLow ? TOO_LITTLE_SPACE : undefined;
  }

  #beginDay(day: string): void {
    if (day < this.#day) {
      this.#options.log.warn(
        `The clock was set back from ${this.#day} to ${day}; writing to the file of ${day} again`,
      );
    }
    this.#day = day;
  }

  async #loop(): Promise<void> {
    for (;;) {
      // Views that arrive in the same turn of the event loop share a batch.
      await new Promise((resolve) => setImmediate(resolve));
      const isCheck = this.#isCheckDue;
      const batch = isCheck || this.#blocked !== undefined ? undefined : this.#queue.shift();
      if (this.#fatal !== undefined || (!isCheck && batch === undefined)) break;
      this.#batch = batch;
      this.#stepSinceMs = performance.now();
      try {
        await (batch === undefined ? this.#checkDisk() : this.#commit(batch));
      } catch (error) {
        this.#die(error);
      }
      this.#endStep(this.#stepSinceMs);
    }
    // Set in the same turn as the decision that nothing is due, so that no wake-up is lost.
    this.#looping = undefined;
  }

  #endStep(sinceMs: number): void {
    this.#batch = undefined;
    this.#stepSinceMs = undefined;
    if (!this.#isStuck) return;
    this.#isStuck = false;
    const seconds = Math.round((performance.now() - sinceMs) / 1000);
    this.#options.log.info(`The disk answers again, after ${plural(seconds, 'second')}`);
  }

  async #commit(batch: Batch): Promise<void> {
    const bytes = batch.bytes();
    const { lineBytes, blocked } = await this.#writer.write(batch.day, bytes);
    const lines = blocked === undefined ? batch.lines : countLines(bytes.subarray(0, lineBytes));
    this.#counts.lines += lines;
    this.#counts.bytes += lineBytes;
    this.#counts.batches += 1;
    batch.answer(lines, blocked?.reason ?? '');
    this.#setBlocked(blocked);
  }

  /**
   * While nothing can be written, also tries to write the rest of a cut line or to open the file.
   */
  async #checkDisk(): Promise<void> {
    this.#isCheckDue = false;
    // A moved file must be noticed within a second. Free space is less urgent: checking it only
    // every other time saves work on an idle machine.
    if (this.#checks++ % 2 === 0) await this.#space.poll();
    const today = dayOf(this.#options.now());
    let blocked = await this.#writer.checkPath(today);
    if (this.#blocked !== undefined) {
      blocked ??= (await this.#writer.write(today, NOTHING)).blocked;
    }
    this.#setBlocked(blocked);
  }

  #setBlocked(blocked: Blocked | undefined): void {
    const before = this.#blocked;
    this.#blocked = blocked;
    const { log } = this.#options;
    if (blocked !== undefined && before === undefined) {
      log.error(`Refusing views and retrying: ${blocked.message}`);
      this.#refuseAll(blocked.reason);
    } else if (blocked === undefined && before !== undefined) {
      log.info(`Writing to "${this.#writer.where}" again`);
    }
  }

  #die(error: unknown): void {
    const fault =
      error instanceof Fatal
        ? error.message
        : `Can't write to "${this.#writer.where}": ${errorText(error)}`;
    const end = 'viewlog is stopping; the views that it was writing get 503';
    this.#fatal = new Fatal(EXIT.ioError, `${fault}. ${end}`, error);
    this.#refuseAll(FAILED);
    this.#options.onFatal(this.#fatal);
  }

  /** Answers all waiting lines. A batch that is being written is counted when the write ends. */
  #refuseAll(reason: string): void {
    this.#batch?.answer(0, reason);
    for (const batch of this.#queue.splice(0)) batch.answer(0, reason);
  }

  #poll(): void {
    this.#checkStuck();
    this.#noteUnavailable();
    this.#isCheckDue = true;
    this.#looping ??= this.#loop();
  }

  #checkStuck(): void {
    if (this.#isStuck || this.#stepSinceMs === undefined) return;
    if (performance.now() - this.#stepSinceMs < STUCK_MS) return;
    this.#isStuck = true;
    const seconds = plural(STUCK_MS / 1000, 'second');
    const { where } = this.#writer;
    this.#options.log.error(
      `The disk that holds "${where}" hasn't answered for ${seconds}; refusing views`,
    );
    this.#refuseAll(STUCK);
  }

  /** Called by the polls, not for each view, to save time. */
  #noteUnavailable(): void {
    if (this.#unavailable() === undefined) this.#unavailableSinceMs = undefined;
    else this.#unavailableSinceMs ??= this.#options.now();
  }

  async #finish(): Promise<void> {
    await this.#looping;
    if (this.#fatal !== undefined) throw this.#fatal;
    await this.#writer.close();
  }
}
