// View files: one line a view, one file a UTC day.
//
// One writer. This store assumes that no other process writes view files in its directory;
// `lock.ts` sees to that.
//
// Durable. `append` resolves to an id once the whole line is in the file and, with `disk`, an
// fdatasync that began after its write has succeeded, or the write itself was one that syncs
// (O_DSYNC: both in one call): it survives kill -9 and a power cut. With `os` it resolves once
// write() has returned: it survives kill -9, not a power cut. Nothing is ever acknowledged from
// memory, and nothing after a failed sync: what that one lost no later one reports, so the process
// must end.
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
import { plural } from '../../base/format.ts';
import { EXIT, Fatal, reasonOf } from '../../base/exit.ts';
import type { Log } from '../../base/log.ts';
import type { Description } from '../../base/description.ts';
import { Committer, type Timing } from './committer.ts';
import { DayWriter } from './day-writer.ts';
import { describeFiles } from './describe-files.ts';
import { prepareDirectory } from '../../disk/directory.ts';
import { systemFiles, type FileOps } from '../../disk/ops.ts';
import { createFreeSpace, type FreeSpace } from '../../disk/free-space.ts';
import { lastIdOf } from '../last-id.ts';
import { createStamper, type Stamp } from '../stamp.ts';
import { dayOf, atMultiplesOf } from '../../base/time.ts';
import type { Appended, StoreState, ViewStore, WatchedStore } from '../store.ts';

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

const TIMING: Timing = { pollMs: 800, stuckMs: 10_000, retryMs: 100, retryMaxMs: 1_000 };

/** Of the files beside what every store tells; counts and sums since the start. */
export interface ViewStoreState extends StoreState {
  readonly path: string | undefined;
  readonly fileBytes: number;
  readonly batches: number;
  readonly syncSeconds: number;
  readonly sealedFragments: number;
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

export class LocalViewStore implements ViewStore, WatchedStore {
  readonly #options: Options;
  readonly #timing: Timing;
  readonly #stamp: () => Stamp;
  readonly #writer: DayWriter;
  readonly #committer: Committer;
  readonly #space: FreeSpace;
  #endPolls: (() => void) | undefined;
  #unavailableSinceMs: number | undefined;
  #polling = false;
  #polls = 0;
  #pollFailed = false;
  #closed: Promise<void> | undefined;

  constructor(options: Options) {
    const { now, log, timing = TIMING } = options;
    this.#options = options;
    this.#timing = timing;
    this.#stamp = createStamper({ now, log, lastIdOf: (day) => this.#lastIdOf(day) });
    this.#writer = new DayWriter(options);
    const today = (): string => this.#today();
    this.#committer = new Committer({ ...options, timing, today, writer: this.#writer });
    this.#space = createFreeSpace(options);
  }

  async start(): Promise<void> {
    this.#committer.start(await this.#writer.start(this.#today()));
    await this.#space.poll();
    this.#noteUnavailable();
    this.#endPolls = atMultiplesOf(this.#timing.pollMs, () => void this.#poll());
  }

  append(fields: Uint8Array): Promise<Appended> {
    const unavailable = this.#unavailable();
    if (unavailable !== undefined) return Promise.resolve({ unavailable });
    return this.#committer.add(this.#stamp(), fields);
  }

  /**
   * Refuses new views, writes and syncs what is queued, closes the file.
   * @throws {Fatal} exit 74 if that takes longer, or if the file is left with half a line.
   */
  close(timeoutMs: number): Promise<void> {
    return (this.#closed ??= this.#close(timeoutMs));
  }

  /** Free disk space at the directory, as of the last look; `undefined` where nobody tells. */
  freeBytes(): number | undefined {
    return this.#space.bytes();
  }

  state(): ViewStoreState {
    return {
      ...this.#committer.counts,
      path: this.#writer.path,
      fileBytes: this.#writer.fileBytes,
      syncSeconds: this.#writer.syncSeconds,
      sealedFragments: this.#writer.sealedFragments,
      lastAcceptedMs: this.#committer.lastAcceptedMs,
      unavailable: this.#unavailable(),
      unavailableSinceMs: this.#unavailableSinceMs,
      queuedLines: this.#committer.queuedLines,
      queuedBytes: this.#committer.queuedBytes,
      freeBytes: this.freeBytes(),
    };
  }

  describe(viewsPerDay: number | undefined, lineBytes?: number): Description {
    return describeFiles(this.state(), this.#options, viewsPerDay, lineBytes);
  }

  #unavailable(): string | undefined {
    if (this.#committer.unavailable !== undefined) return this.#committer.unavailable;
    if (this.#closed !== undefined) return SHUTTING_DOWN;
    return this.#space.isLow() ? 'too little free disk space' : undefined;
  }

  /** By the polls, so that it costs a view nothing. */
  #noteUnavailable(): void {
    if (this.#unavailable() === undefined) this.#unavailableSinceMs = undefined;
    else this.#unavailableSinceMs ??= this.#options.now();
  }

  async #close(timeoutMs: number): Promise<void> {
    this.#endPolls?.();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.#closeTimedOut(timeoutMs)), timeoutMs);
    });
    try {
      await Promise.race([this.#finish(), timeout]);
    } finally {
      clearTimeout(timer);
      this.#committer.refuseAll(SHUTTING_DOWN);
    }
  }

  async #finish(): Promise<void> {
    if (await this.#committer.stop()) await this.#writer.close();
  }

  #closeTimedOut(timeoutMs: number): Fatal {
    const seconds = plural(timeoutMs / 1000, 'second');
    return new Fatal(
      EXIT.ioError,
      `Stopped before "${this.#writer.where}" was written and synced, after ${seconds}`,
    );
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

  async #poll(): Promise<void> {
    this.#committer.checkStuck();
    this.#noteUnavailable();
    // A disk that hangs must not gather hanging calls: the runtime's pool has four threads.
    if (this.#polling) return;
    this.#polling = true;
    try {
      // Calls to the system in the background are what an idle collector pays for: the fewer wake
      // it, the better. What moves the file must show within a second, free space need not.
      const isSpaceDue = this.#polls++ % 2 === 0;
      const looked = this.#writer.checkPath(this.#today());
      await Promise.allSettled([looked, isSpaceDue && this.#space.poll()]);
      if (await looked) this.#committer.catchUpSoon();
      this.#pollFailed = false;
    } catch (error) {
      if (!this.#pollFailed) {
        this.#options.log.warn(`Cannot look after "${this.#writer.where}": ${reasonOf(error)}`);
      }
      this.#pollFailed = true;
    } finally {
      this.#noteUnavailable();
      this.#polling = false;
    }
  }
}

const SHUTTING_DOWN = 'shutting down';
