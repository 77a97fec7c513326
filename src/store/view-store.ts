// View files: one line a view, one file a UTC day.
//
// One writer. This store assumes that no other process writes view files in its directory;
// `lock.ts` sees to that.
//
// Durable. `append` resolves to an id once the whole line is in the file and, with `disk`, an
// fdatasync that began after its write has succeeded: it survives kill -9 and a power cut. With
// `os` it resolves once write() has returned: it survives kill -9, not a power cut. Nothing is ever
// acknowledged from memory, and nothing after a failed sync: what that one lost no later one
// reports, so the process must end.
//
// What a crash can lose: lines not yet acknowledged. What it can leave: whole lines that nobody was
// promised, and half a line at the end of the file. The next start ends it with a newline if that
// file is the newest; if the clock had gone back a day, whoever opens that file next.
//
// Group commit. While one batch is written and synced the next one gathers: the cost of a sync is
// shared under load, and a lone view waits for nobody.
//
// A full disk. Lines that are in the file as a whole are synced and acknowledged. The first that is
// not is refused, but half of it may stand in the file already, and the file is never truncated or
// overwritten; so the rest of it is kept, and written before anything else once there is space. That
// view is stored though its sender was told "not promised". It doubles as the probe for space.
import { EXIT, Fatal, reasonOf } from '../fatal.ts';
import type { Log } from '../log.ts';
import { plural } from '../text.ts';
import { Batch, countLines } from './batch.ts';
import { DayWriter } from './day-writer.ts';
import type { Blocked } from './day-writer.ts';
import { prepareDirectory } from './directory.ts';
import { systemFiles } from './file-ops.ts';
import type { FileOps } from './file-ops.ts';
import { createFreeSpace } from './free-space.ts';
import type { FreeSpace } from './free-space.ts';
import { lastIdOf } from './last-id.ts';
import { createStamper, dayOf } from './stamp.ts';
import type { Stamp } from './stamp.ts';
import type { Appended, ViewStore } from './store.ts';

export interface ViewStoreOptions {
  readonly dir: string;
  readonly durability: 'disk' | 'os';
  /** Below this much free disk space views are refused; 0: not before the disk is full. */
  readonly minFreeBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
  /**
   * The store can't go on: the process must end with the exit code given. Called once. The
   * message is the one line about it; the store does not log it.
   */
  readonly onFatal: (fatal: Fatal) => void;
  readonly files?: FileOps;
  readonly timing?: Timing;
}

interface Timing {
  /** How often free space, the file's path and a stuck disk are looked at. */
  readonly pollMs: number;
  /** A batch under way for longer is answered, and so is what waits behind it. */
  readonly stuckMs: number;
  /** Between two attempts to write to a full disk: at first, and at most. */
  readonly retryMs: number;
  readonly retryMaxMs: number;
}

const TIMING: Timing = { pollMs: 500, stuckMs: 10_000, retryMs: 100, retryMaxMs: 2_000 };

/** Plain values for the metrics and the status page; counts and sums since the start. */
export interface ViewStoreState {
  readonly path: string | undefined;
  readonly fileBytes: number;
  readonly lines: number;
  readonly bytes: number;
  readonly batches: number;
  readonly syncSeconds: number;
  readonly sealedFragments: number;
  readonly lastAcceptedMs: number | undefined;
  /** Why views are refused now. */
  readonly unavailable: string | undefined;
  readonly queuedLines: number;
  readonly queuedBytes: number;
  readonly freeBytes: number | undefined;
}

/**
 * Opens the data directory, made if missing, and seals the newest view file. A full disk does not
 * keep it from starting: it refuses views until there is space.
 * @throws {Fatal} exit 73 if it can't write there, 74 if a sync fails.
 */
export async function createViewStore(options: ViewStoreOptions): Promise<LocalViewStore> {
  const { dir, files = systemFiles } = options;
  await prepareDirectory(dir, files);
  const store = new LocalViewStore({ ...options, files });
  await store.start();
  return store;
}

type Options = ViewStoreOptions & { readonly files: FileOps };

export class LocalViewStore implements ViewStore {
  readonly #options: Options;
  readonly #timing: Timing;
  readonly #space: FreeSpace;
  readonly #writer: DayWriter;
  readonly #stamp: () => Stamp;

  readonly #queue: Batch[] = [];
  #underWay: { readonly batch: Batch | undefined; readonly sinceMs: number } | undefined;
  #pumping = false;
  #onIdle: (() => void) | undefined;
  #settleWanted = false;
  #pollTimer: ReturnType<typeof setInterval> | undefined;
  #polling = false;
  #endWait: (() => void) | undefined;

  // Why views are refused, and what comes of it.
  #dead = false;
  #closing = false;
  #closed: Promise<void> | undefined;
  #stuck = false;
  #blocked: Blocked | undefined;
  #unavailable: string | undefined;

  readonly #counts = { lines: 0, bytes: 0, batches: 0 };
  #lastAcceptedMs: number | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#timing = options.timing ?? TIMING;
    this.#space = createFreeSpace(options);
    this.#writer = new DayWriter(options);
    const { now, log } = options;
    this.#stamp = createStamper({ now, log, lastIdOf: (day) => this.#lastIdOf(day) });
  }

  async start(): Promise<void> {
    this.#setBlocked(await this.#writer.start(this.#today()));
    await this.#space.poll();
    this.#updateAvailability();
    this.#pollTimer = setInterval(() => void this.#poll(), this.#timing.pollMs);
    this.#pollTimer.unref();
    if (this.#blocked !== undefined) this.#wake();
  }

  append(fields: string): Promise<Appended> {
    if (this.#unavailable !== undefined) {
      return Promise.resolve({ unavailable: this.#unavailable });
    }
    const { ts, id, day } = this.#stamp();
    let batch = this.#queue.at(-1);
    if (batch === undefined || !batch.takes(day)) {
      batch = new Batch(day);
      this.#queue.push(batch);
    }
    this.#wake();
    return batch.add(id, `{"ts":"${ts}","id":"${id}",${fields.slice(1)}\n`);
  }

  /**
   * Refuses new views, writes and syncs what is queued, closes the file.
   * @throws {Fatal} exit 74 if that takes longer, or if the file is left with half a line.
   */
  close(timeoutMs: number): Promise<void> {
    return (this.#closed ??= this.#close(timeoutMs));
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#closing = true;
    this.#updateAvailability();
    clearInterval(this.#pollTimer);
    this.#endWait?.();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#closeTimedOut(timeoutMs)), timeoutMs);
    });
    const drained = this.#idle().then(() => (this.#dead ? undefined : this.#writer.close()));
    try {
      await Promise.race([drained, timeout]);
    } finally {
      clearTimeout(timer);
      this.#refuseAll('shutting down');
    }
  }

  state(): ViewStoreState {
    const batches = [...(this.#underWay?.batch ? [this.#underWay.batch] : []), ...this.#queue];
    return {
      ...this.#counts,
      path: this.#writer.path,
      fileBytes: this.#writer.fileBytes,
      syncSeconds: this.#writer.syncSeconds,
      sealedFragments: this.#writer.sealedFragments,
      lastAcceptedMs: this.#lastAcceptedMs,
      unavailable: this.#unavailable,
      queuedLines: batches.reduce((lines, batch) => lines + batch.waiting, 0),
      queuedBytes: batches.reduce((bytes, batch) => bytes + batch.waitingBytes(), 0),
      freeBytes: this.#space.bytes(),
    };
  }

  #today(): string {
    return dayOf(this.#options.now());
  }

  #lastIdOf(day: string): string | undefined {
    const { dir, log } = this.#options;
    try {
      return lastIdOf(dir, 'views', day);
    } catch (error) {
      log.warn(`Cannot read the last id of ${day} in "${dir}": ${reasonOf(error)}`);
      return undefined;
    }
  }

  #wake(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    void this.#pump();
  }

  #idle(): Promise<void> {
    if (!this.#pumping) return Promise.resolve();
    return new Promise((resolve) => (this.#onIdle = resolve));
  }

  /** The one loop that touches the file. */
  async #pump(): Promise<void> {
    // What else arrives in this turn of the event loop joins the batch.
    await Promise.resolve();
    try {
      while (!this.#dead && (await this.#step()));
    } catch (error) {
      this.#die(error);
    }
    this.#pumping = false;
    this.#onIdle?.();
  }

  /** Does what is next; false where nothing is left to do. */
  async #step(): Promise<boolean> {
    if (this.#blocked !== undefined) {
      if (this.#closing) return false;
      await this.#untilRoom();
    } else if (this.#settleWanted) {
      this.#settleWanted = false;
      this.#setBlocked(await this.#timed(undefined, () => this.#writer.settle(this.#today())));
    } else {
      const batch = this.#queue.shift();
      if (batch === undefined) return false;
      await this.#timed(batch, () => this.#commit(batch));
    }
    return true;
  }

  async #commit(batch: Batch): Promise<void> {
    const bytes = batch.bytes();
    const { lineBytes, blocked } = await this.#writer.commit(batch.day, bytes);
    const whole = blocked === undefined ? bytes : bytes.subarray(0, lineBytes);
    const lines = blocked === undefined ? batch.lines : countLines(whole);
    this.#counts.lines += lines;
    this.#counts.bytes += whole.length;
    this.#counts.batches += 1;
    if (lines > 0 && batch.waiting > 0) this.#lastAcceptedMs = this.#options.now();
    batch.answer(lines, blocked?.reason ?? '');
    this.#setBlocked(blocked);
  }

  /** Tries again, ever more slowly, until what the file is owed is in it. */
  async #untilRoom(): Promise<void> {
    const { retryMs, retryMaxMs } = this.#timing;
    for (let waitMs = retryMs; !this.#closing; waitMs = Math.min(2 * waitMs, retryMaxMs)) {
      await this.#wait(waitMs);
      if (this.#closing) return;
      const blocked = await this.#timed(undefined, () => this.#writer.settle(this.#today()));
      this.#setBlocked(blocked);
      if (blocked === undefined) return;
    }
  }

  async #wait(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#endWait = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
  }

  /** Runs what a disk may hang on. */
  async #timed<T>(batch: Batch | undefined, run: () => Promise<T>): Promise<T> {
    const sinceMs = performance.now();
    this.#underWay = { batch, sinceMs };
    const result = await run();
    this.#underWay = undefined;
    if (this.#stuck) {
      this.#stuck = false;
      const seconds = Math.round((performance.now() - sinceMs) / 1000);
      this.#options.log.info(`The disk answers again, after ${plural(seconds, 'second')}`);
      this.#updateAvailability();
    }
    return result;
  }

  async #poll(): Promise<void> {
    this.#checkStuck();
    // A disk that hangs must not gather hanging calls: the pool has four threads.
    if (this.#polling || this.#dead) return;
    this.#polling = true;
    try {
      await this.#space.poll();
      this.#updateAvailability();
      if (await this.#writer.look(this.#today())) {
        this.#settleWanted = true;
        this.#endWait?.();
        this.#wake();
      }
    } catch (error) {
      this.#options.log.warn(`Cannot look after "${this.#options.dir}": ${reasonOf(error)}`);
    } finally {
      this.#polling = false;
    }
  }

  #checkStuck(): void {
    const underWay = this.#underWay;
    if (this.#stuck || underWay === undefined) return;
    const { stuckMs } = this.#timing;
    if (performance.now() - underWay.sinceMs < stuckMs) return;
    this.#stuck = true;
    const path = this.#writer.path ?? this.#options.dir;
    this.#options.log.error(
      `Writing "${path}" has not ended for ${plural(stuckMs / 1000, 'second')}; refusing views`,
    );
    this.#updateAvailability();
    this.#refuseAll('the disk does not answer');
  }

  #setBlocked(blocked: Blocked | undefined): void {
    const before = this.#blocked;
    this.#blocked = blocked;
    const { log } = this.#options;
    if (blocked !== undefined && before === undefined) {
      log.error(`${blocked.message}; refusing views until it succeeds`);
      this.#refuseAll(blocked.reason);
    } else if (blocked === undefined && before !== undefined) {
      log.info(`Writing again to "${this.#writer.path ?? this.#options.dir}"`);
    }
    this.#updateAvailability();
  }

  #die(error: unknown): void {
    this.#dead = true;
    clearInterval(this.#pollTimer);
    this.#updateAvailability();
    this.#refuseAll('the disk has failed');
    this.#underWay = undefined;
    const { dir, onFatal } = this.#options;
    onFatal(
      error instanceof Fatal
        ? error
        : new Fatal(EXIT.ioError, `Cannot write view files in "${dir}": ${reasonOf(error)}`),
    );
  }

  /** Answers everyone who waits. A batch under way goes on, and is counted when it is done. */
  #refuseAll(reason: string): void {
    this.#underWay?.batch?.answer(0, reason);
    for (const batch of this.#queue.splice(0)) batch.answer(0, reason);
  }

  #closeTimedOut(timeoutMs: number): Fatal {
    const path = this.#writer.path ?? this.#options.dir;
    const seconds = plural(timeoutMs / 1000, 'second');
    return new Fatal(EXIT.ioError, `Stopped before "${path}" was written and synced (${seconds})`);
  }

  #updateAvailability(): void {
    if (this.#dead) this.#unavailable = 'the disk has failed';
    else if (this.#closing) this.#unavailable = 'shutting down';
    else if (this.#stuck) this.#unavailable = 'the disk does not answer';
    else if (this.#blocked !== undefined) this.#unavailable = this.#blocked.reason;
    else this.#unavailable = this.#space.isLow() ? 'too little free disk space' : undefined;
  }
}
