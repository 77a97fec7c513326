import { plural } from '../../base/format.ts';
import { EXIT, Fatal, reasonOf } from '../../base/exit.ts';
import type { Log } from '../../base/log.ts';
import { backOff, type RetryTiming } from '../../base/time.ts';
import type { Blocked } from '../../disk/trouble.ts';
import type { Stamp } from '../stamp.ts';
import type { Appended } from '../store.ts';
import { Batch, countLines } from './batch.ts';
import type { DayWriter } from './day-writer.ts';

export interface Timing extends RetryTiming {
  /** How often free space, the file's path and a stuck disk are looked at. */
  readonly pollMs: number;
  /** A batch under way for longer is answered, and so is what waits behind it. */
  readonly stuckMs: number;
}

interface CommitterOptions {
  readonly writer: DayWriter;
  readonly timing: Timing;
  readonly now: () => number;
  /** The UTC day that it is. */
  readonly today: () => string;
  readonly log: Log;
  readonly onFatal: (fatal: Fatal) => void;
}

const FAILED = 'the disk has failed';
const STUCK = 'the disk does not answer';

/** Queues lines and commits them batch by batch: one loop, the only one that writes. */
export class Committer {
  readonly #options: CommitterOptions;
  readonly #queue: Batch[] = [];
  #underWay: { readonly batch: Batch | undefined; readonly sinceMs: number } | undefined;
  #looping = false;
  #onIdle: (() => void) | undefined;
  #endWait: (() => void) | undefined;
  #catchUpWanted = false;

  #dead = false;
  #stopping = false;
  #stuck = false;
  #blocked: Blocked | undefined;

  readonly counts = { lines: 0, bytes: 0, batches: 0 };
  lastAcceptedMs: number | undefined;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  /** Why nothing can be committed now. */
  get unavailable(): string | undefined {
    if (this.#dead) return FAILED;
    return this.#stuck ? STUCK : this.#blocked?.reason;
  }

  get queuedLines(): number {
    return this.#batches().reduce((lines, batch) => lines + batch.waiting, 0);
  }

  get queuedBytes(): number {
    return this.#batches().reduce((bytes, batch) => bytes + batch.waitingBytes(), 0);
  }

  /** Begins with what the writer met at its start. */
  start(blocked: Blocked | undefined): void {
    this.#setBlocked(blocked);
    if (blocked !== undefined) this.#wake();
  }

  add(stamp: Stamp, fields: Uint8Array): Promise<Appended> {
    const { day } = stamp;
    let batch = this.#queue.at(-1);
    if (batch === undefined || !batch.takes(day)) {
      batch = new Batch(day);
      this.#queue.push(batch);
    }
    this.#wake();
    return batch.add(stamp, fields);
  }

  /** Has the writer catch up, as soon as it is free. */
  catchUpSoon(): void {
    this.#catchUpWanted = true;
    this.#endWait?.();
    this.#wake();
  }

  /** Commits what is queued, as far as there is room; false if the disk has failed. */
  async stop(): Promise<boolean> {
    this.#stopping = true;
    this.#endWait?.();
    if (this.#looping) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    return !this.#dead;
  }

  /** Answers everyone who waits. A batch under way goes on, and is counted when it is done. */
  refuseAll(reason: string): void {
    this.#underWay?.batch?.answer(0, reason);
    for (const batch of this.#queue.splice(0)) batch.answer(0, reason);
  }

  checkStuck(): void {
    const underWay = this.#underWay;
    if (this.#stuck || underWay === undefined) return;
    const { timing, log, writer } = this.#options;
    if (performance.now() - underWay.sinceMs < timing.stuckMs) return;
    this.#stuck = true;
    const seconds = plural(timing.stuckMs / 1000, 'second');
    log.error(`Writing to "${writer.where}" has not ended for ${seconds}; refusing views`);
    this.refuseAll(STUCK);
  }

  #batches(): Batch[] {
    const batch = this.#underWay?.batch;
    return batch === undefined ? this.#queue : [batch, ...this.#queue];
  }

  #wake(): void {
    if (this.#looping) return;
    this.#looping = true;
    void this.#loop();
  }

  async #loop(): Promise<void> {
    try {
      // What else arrives in this turn of the event loop joins the batch.
      do await turnOfEventLoop();
      while (!this.#dead && (await this.#step()));
    } catch (error) {
      this.#die(error);
    }
    this.#looping = false;
    this.#onIdle?.();
  }

  /** Does what is next; false where nothing is left to do. */
  async #step(): Promise<boolean> {
    if (this.#blocked !== undefined) {
      if (this.#stopping) return false;
      await this.#untilRoom();
    } else if (this.#catchUpWanted) {
      await this.#catchUp();
    } else {
      const batch = this.#queue.shift();
      if (batch === undefined) return false;
      await this.#timed(batch, () => this.#commit(batch));
    }
    return true;
  }

  async #commit(batch: Batch): Promise<void> {
    const bytes = batch.bytes();
    const { lineBytes, blocked } = await this.#options.writer.commit(batch.day, bytes);
    const lines = blocked === undefined ? batch.lines : countLines(bytes.subarray(0, lineBytes));
    this.counts.lines += lines;
    this.counts.bytes += lineBytes;
    this.counts.batches += 1;
    if (lines > 0 && batch.waiting > 0) this.lastAcceptedMs = this.#options.now();
    batch.answer(lines, blocked?.reason ?? '');
    this.#setBlocked(blocked);
  }

  async #catchUp(): Promise<void> {
    this.#catchUpWanted = false;
    const { writer, today } = this.#options;
    this.#setBlocked(await this.#timed(undefined, () => writer.catchUp(today())));
  }

  /** Tries again, ever more slowly, until what the file is owed is in it. */
  async #untilRoom(): Promise<void> {
    for (const waitMs of backOff(this.#options.timing)) {
      await this.#wait(waitMs);
      if (this.#stopping) return;
      await this.#catchUp();
      if (this.#blocked === undefined) return;
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
    }
    return result;
  }

  #setBlocked(blocked: Blocked | undefined): void {
    const before = this.#blocked;
    this.#blocked = blocked;
    const { log, writer } = this.#options;
    if (blocked !== undefined && before === undefined) {
      log.error(`${blocked.message}; refusing views until it succeeds`);
      this.refuseAll(blocked.reason);
    } else if (blocked === undefined && before !== undefined) {
      log.info(`Writing to "${writer.where}" again`);
    }
  }

  #die(error: unknown): void {
    this.#dead = true;
    this.refuseAll(FAILED);
    this.#underWay = undefined;
    const { writer, onFatal } = this.#options;
    onFatal(
      error instanceof Fatal
        ? error
        : new Fatal(EXIT.ioError, `Cannot write to "${writer.where}": ${reasonOf(error)}`),
    );
  }
}

const turnOfEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
