import * as fs from 'node:fs';
import { reasonOf } from '../../base/exit.ts';
import type { Description } from '../../base/description.ts';
import type { Log } from '../../base/log.ts';
import { countLines } from '../files/batch.ts';
import { openDailyFile, type DailyFile } from '../../disk/daily-file.ts';
import { fileNameOf } from '../../disk/names.ts';
import { systemFiles, type FileOps } from '../../disk/ops.ts';
import { sealed } from '../../disk/trouble.ts';
import { lastIdOf } from '../last-id.ts';
import { describeRefused } from './describe-refused.ts';
import type { Dropped } from './refused-budget.ts';
import { RefusedIntake, type RefusedLine } from './refused-intake.ts';
import type { RefusedStore, RefusedView } from '../store.ts';

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
  /** Where they are kept in files. */
  readonly path?: string | undefined;
  readonly keptLines: number;
  readonly keptBytes: number;
  /** Not kept, by reason. */
  readonly dropped: Readonly<Record<Dropped | 'queueFull' | 'lowSpace' | 'writeFailed', number>>;
}

export interface LocalRefusedStore extends RefusedStore {
  /** Writes what is queued, as far as the time allows. Never rejects. */
  close(timeoutMs: number): Promise<void>;
  state(): RefusedState;
  describe(): Description;
}

/**
 * Keeps refused views in `refused-YYYY-MM-DD.ndjson`, as far as the day's budget goes. Best effort:
 * not synced, no error reaches a client or ends the process; what is dropped is counted.
 */
export function createRefusedStore(options: RefusedStoreOptions): LocalRefusedStore {
  return new RefusedFiles(options);
}

class RefusedFiles implements LocalRefusedStore {
  readonly #options: RefusedStoreOptions;
  readonly #files: FileOps;
  readonly #intake: RefusedIntake;

  #queue: RefusedLine[] = [];
  #queueBytes = 0;
  #writing: Promise<void> | undefined;
  #file: DailyFile | undefined;
  #failing = false;
  #closing = false;

  #keptLines = 0;
  #keptBytes = 0;

  constructor(options: RefusedStoreOptions) {
    const { dir, files = systemFiles } = options;
    this.#options = options;
    this.#files = files;
    this.#intake = new RefusedIntake({
      ...options,
      bytesOf: (day) => orElse(0, () => fs.statSync(`${dir}/${fileNameOf('refused', day)}`).size),
      lastIdOf: (day) => orElse(undefined, () => lastIdOf(dir, 'refused', day)),
    });
  }

  keep(view: RefusedView): void {
    const { minFreeBytes, freeBytes } = this.#options;
    const { dropped } = this.#intake;
    if (this.#closing) return void (dropped.writeFailed += 1);
    const free = freeBytes();
    if (free !== undefined && free < 2 * minFreeBytes) return void (dropped.lowSpace += 1);
    const line = this.#intake.take(view, this.#queueBytes);
    if (line === undefined) return;
    this.#queue.push(line);
    this.#queueBytes += line.bytes.length;
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
      dropped: { ...this.#intake.dropped },
    };
  }

  describe(): Description {
    return describeRefused(this.state());
  }

  async #finish(): Promise<void> {
    await this.#writing;
    await this.#file?.close().catch(() => {});
    this.#file = undefined;
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
      this.#intake.dropped.writeFailed += lines.length - kept.lines;
      this.#queueBytes -= bytes.length;
    }
    this.#writing = undefined;
  }

  async #append(day: string, bytes: Buffer): Promise<{ lines: number; bytes: number }> {
    const { log } = this.#options;
    try {
      const file = await this.#fileOf(day);
      const { lineBytes, error } = await file.append(bytes);
      if (error !== undefined) this.#fail(day, error);
      else if (this.#failing) {
        this.#failing = false;
        log.info(`Keeping refused views again in "${file.path}"`);
      }
      return { lines: countLines(bytes.subarray(0, lineBytes)), bytes: lineBytes };
    } catch (error) {
      this.#fail(day, error);
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
      onSealed: (path) => log.info(sealed(path)),
    });
    return this.#file;
  }

  #fail(day: string, error: unknown): void {
    if (this.#failing) return;
    this.#failing = true;
    const { dir, log } = this.#options;
    const path = `${dir}/${fileNameOf('refused', day)}`;
    log.warn(`Cannot keep refused views in "${path}": ${reasonOf(error)}`);
  }
}

function orElse<T>(fallback: T, read: () => T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}
