import * as fs from 'node:fs';
import { reasonOf } from '../fatal.ts';
import type { Log } from '../log.ts';
import { countLines } from './batch.ts';
import { openDailyFile } from './daily-file.ts';
import type { DailyFile } from './daily-file.ts';
import { fileNameOf } from './file-name.ts';
import { systemFiles } from './file-ops.ts';
import type { FileOps } from './file-ops.ts';
import { lastIdOf } from './last-id.ts';
import { RefusedBudget } from './refused-budget.ts';
import type { Dropped } from './refused-budget.ts';
import { refusedLine } from './refused-line.ts';
import { createStamper } from './stamp.ts';
import type { Stamp } from './stamp.ts';
import type { RefusedStore, RefusedView } from './store.ts';

export interface RefusedStoreOptions {
  readonly dir: string;
  /** 0: keep none. */
  readonly maxBytesPerDay: number;
  /** Nothing is kept below twice as much free disk space: views come first. */
  readonly minFreeBytes: number;
  readonly freeBytes: () => number | undefined;
  readonly isListed: (projectId: string) => boolean;
  readonly now: () => number;
  readonly log: Log;
  readonly files?: FileOps;
}

/** Plain values; counts since the start. */
export interface RefusedState {
  readonly path: string | undefined;
  readonly keptLines: number;
  readonly keptBytes: number;
  /** Not kept, by reason. */
  readonly dropped: Readonly<Record<Dropped | 'queueFull' | 'lowSpace' | 'writeFailed', number>>;
}

export interface LocalRefusedStore extends RefusedStore {
  /** Writes what is queued, as far as the time allows. Never rejects. */
  close(timeoutMs: number): Promise<void>;
  state(): RefusedState;
}

/**
 * Keeps refused views in `refused-YYYY-MM-DD.ndjson`, as far as the day's budget goes. Best effort:
 * not synced, no error reaches a client or ends the process; what is dropped is counted.
 */
export function createRefusedStore(options: RefusedStoreOptions): LocalRefusedStore {
  return new RefusedFiles(options);
}

/** Enough for a burst; a disk that hangs costs no more memory than this. */
const QUEUE_BYTES_MAX = 1024 * 1024;
/** The view store says what there is to say about the clock. */
const SILENT: Log = { info: () => {}, warn: () => {}, error: () => {} };

interface Line {
  readonly day: string;
  readonly bytes: Buffer;
}

class RefusedFiles implements LocalRefusedStore {
  readonly #options: RefusedStoreOptions;
  readonly #files: FileOps;
  readonly #stamp: () => Stamp;
  #day = '';
  #budget: RefusedBudget;
  #budgetSaid = false;

  #queue: Line[] = [];
  #queueBytes = 0;
  #writing: Promise<void> | undefined;
  #file: DailyFile | undefined;
  #failing = false;
  #closing = false;

  #keptLines = 0;
  #keptBytes = 0;
  readonly #dropped = { dayFull: 0, projectFull: 0, queueFull: 0, lowSpace: 0, writeFailed: 0 };

  constructor(options: RefusedStoreOptions) {
    const { dir, now, maxBytesPerDay, files = systemFiles } = options;
    this.#options = options;
    this.#files = files;
    this.#budget = new RefusedBudget(maxBytesPerDay, 0);
    this.#stamp = createStamper({
      now,
      log: SILENT,
      lastIdOf: (day) => orElse(undefined, () => lastIdOf(dir, 'refused', day)),
    });
  }

  keep(view: RefusedView): void {
    const { minFreeBytes, freeBytes, isListed } = this.#options;
    if (this.#closing) return void (this.#dropped.writeFailed += 1);
    const free = freeBytes();
    if (free !== undefined && free < 2 * minFreeBytes) return void (this.#dropped.lowSpace += 1);
    // Before the line is built: a flood must not cost more than it has to.
    if (this.#queueBytes + view.text.length > QUEUE_BYTES_MAX) {
      return void (this.#dropped.queueFull += 1);
    }
    const stamp = this.#stamp();
    if (stamp.day !== this.#day) this.#beginDay(stamp.day);
    const bytes = Buffer.from(refusedLine(stamp, view));
    if (this.#queueBytes + bytes.length > QUEUE_BYTES_MAX) {
      return void (this.#dropped.queueFull += 1);
    }
    const { project } = view;
    const listed = project !== undefined && isListed(project);
    const dropped = this.#budget.spend(bytes.length, listed ? undefined : (project ?? 'none'));
    if (dropped !== undefined) return this.#drop(dropped);
    this.#queue.push({ day: stamp.day, bytes });
    this.#queueBytes += bytes.length;
    this.#writing ??= this.#write();
  }

  async close(timeoutMs: number): Promise<void> {
    this.#closing = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)));
    await Promise.race([this.#finish(), timeout]);
    clearTimeout(timer);
  }

  state(): RefusedState {
    return {
      path: this.#file?.path,
      keptLines: this.#keptLines,
      keptBytes: this.#keptBytes,
      dropped: { ...this.#dropped },
    };
  }

  async #finish(): Promise<void> {
    await this.#writing;
    await this.#file?.close().catch(() => {});
    this.#file = undefined;
  }

  #beginDay(day: string): void {
    const path = `${this.#options.dir}/${fileNameOf('refused', day)}`;
    const bytesInFile = orElse(0, () => fs.statSync(path).size);
    this.#day = day;
    this.#budget = new RefusedBudget(this.#options.maxBytesPerDay, bytesInFile);
    this.#budgetSaid = false;
  }

  #drop(reason: Dropped): void {
    this.#dropped[reason] += 1;
    if (reason !== 'dayFull' || this.#budgetSaid || this.#options.maxBytesPerDay === 0) return;
    this.#budgetSaid = true;
    this.#options.log.warn(
      `Refused views have reached --max-refused; not keeping all of them until ${this.#day} is over`,
    );
  }

  /** One at a time; what arrives meanwhile is written next. Never rejects. */
  async #write(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const { day } = this.#queue[0]!;
      const end = this.#queue.findIndex((line) => line.day !== day);
      const lines = this.#queue.splice(0, end < 0 ? this.#queue.length : end);
      const bytes = Buffer.concat(lines.map((line) => line.bytes));
      const kept = await this.#append(day, bytes);
      this.#keptLines += kept.lines;
      this.#keptBytes += kept.bytes;
      this.#dropped.writeFailed += lines.length - kept.lines;
      this.#queueBytes -= bytes.length;
    }
    this.#writing = undefined;
  }

  async #append(day: string, bytes: Buffer): Promise<{ lines: number; bytes: number }> {
    const { log } = this.#options;
    try {
      const file = await this.#fileOf(day);
      const { lineBytes, error } = await file.append(bytes);
      if (error !== undefined) this.#fail(error);
      else if (this.#failing) {
        this.#failing = false;
        log.info(`Keeping refused views again in "${file.path}"`);
      }
      return { lines: countLines(bytes.subarray(0, lineBytes)), bytes: lineBytes };
    } catch (error) {
      this.#fail(error);
      return { lines: 0, bytes: 0 };
    }
  }

  /** The day's file, which somebody may have moved or emptied meanwhile. */
  async #fileOf(day: string): Promise<DailyFile> {
    const file = this.#file;
    if (file?.day === day && (await file.whereabouts()) === 'here') return file;
    this.#file = undefined;
    await file?.close();
    const { dir, log } = this.#options;
    this.#file = await openDailyFile({
      kind: 'refused',
      dir,
      day,
      files: this.#files,
      onSealed: (path) => log.info(`"${path}" ended in half a line; ended it with a newline`),
    });
    return this.#file;
  }

  #fail(error: unknown): void {
    if (this.#failing) return;
    this.#failing = true;
    this.#options.log.warn(`Cannot keep refused views: ${reasonOf(error)}`);
  }
}

function orElse<T>(fallback: T, read: () => T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}
