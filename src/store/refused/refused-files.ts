// Keeps refused views in `refused-YYYY-MM-DD.ndjson`, outside the accept path. Best effort: nothing
// is synced, and no error reaches a client or ends the process. What is not kept is counted.
import { errnoOf, reasonOf } from '../../base/exit.ts';
import type { Log } from '../../base/log.ts';
import { MiB } from '../../base/size.ts';
import { within } from '../../base/time.ts';
import { DayWriter } from '../../disk/day-writer.ts';
import { fileNameOf } from '../../disk/names.ts';
import { systemFiles, type FileOps } from '../../disk/ops.ts';
import { countLines } from '../files/batch.ts';
import { createStamper, type Stamp } from '../stamp.ts';
import type { RefusedStore, RefusedView } from '../store.ts';
import { refusedLine } from './refused-line.ts';

export interface RefusedStoreOptions {
  /** Exists, and is locked. */
  readonly dir: string;
  /** 0: keep none. */
  readonly maxBytesPerDay: number;
  /** Nothing is kept below twice as much free disk space, because accepted views come first. */
  readonly minFreeBytes: number;
  readonly freeBytes: () => number | undefined;
  readonly isListed: (projectId: string) => boolean;
  readonly now: () => number;
  readonly log: Log;
  readonly files?: FileOps;
}

/** Counts since the start. */
export interface RefusedState {
  /** The file being written, if views are kept in files. */
  readonly path?: string | undefined;
  readonly keptLines: number;
  readonly keptBytes: number;
  /** Refused views that were not kept. */
  readonly droppedLines: number;
}

export interface LocalRefusedStore extends RefusedStore {
  /** Writes what is queued, as far as the time allows. Never rejects. */
  close(timeoutMs: number): Promise<void>;
  state(): RefusedState;
}

/** Enough for a burst; a disk that hangs costs no more memory than this. */
const QUEUE_CHARS_MAX = MiB;

/** What a day has used of its bytes. */
interface DayUse {
  bytes: number;
  unlistedBytes: number;
  isFullLogged: boolean;
}

interface Queued {
  readonly stamp: Stamp;
  readonly view: RefusedView;
}

export class RefusedFiles implements LocalRefusedStore {
  readonly #options: RefusedStoreOptions;
  readonly #files: FileOps;
  readonly #writer: DayWriter;
  readonly #stamp: () => Stamp;
  readonly #queue: Queued[] = [];
  #queuedChars = 0;
  #writing: Promise<void> | undefined;
  /** Every day that this process has written to, since a clock can return to one. */
  readonly #days = new Map<string, DayUse>();
  #isFailing = false;
  #isClosing = false;
  #keptLines = 0;
  #keptBytes = 0;
  #droppedLines = 0;

  constructor(options: RefusedStoreOptions) {
    const { files = systemFiles } = options;
    this.#options = options;
    this.#files = files;
    this.#stamp = createStamper(options.now);
    this.#writer = new DayWriter({ ...options, kind: 'refused', durability: 'none', files });
  }

  keep(view: RefusedView): void {
    const { maxBytesPerDay, minFreeBytes, freeBytes } = this.#options;
    const isLow = (freeBytes() ?? Infinity) < 2 * minFreeBytes;
    const isFull = this.#queuedChars + view.text.length > QUEUE_CHARS_MAX;
    if (maxBytesPerDay === 0 || this.#isClosing || isLow || isFull) {
      this.#droppedLines += 1;
      return;
    }
    this.#queue.push({ stamp: this.#stamp(), view });
    this.#queuedChars += view.text.length;
    this.#writing ??= this.#writeQueue();
  }

  async close(timeoutMs: number): Promise<void> {
    this.#isClosing = true;
    await within(timeoutMs, this.#finish());
  }

  state(): RefusedState {
    return {
      path: this.#writer.path,
      keptLines: this.#keptLines,
      keptBytes: this.#keptBytes,
      droppedLines: this.#droppedLines,
    };
  }

  hasWritten(day: string): boolean {
    return this.#writer.hasWritten(day);
  }

  async #finish(): Promise<void> {
    await this.#writing;
    await this.#writer.close().catch(() => {});
  }

  /** One at a time; what arrives meanwhile is written next. Never rejects. */
  async #writeQueue(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const { day } = this.#queue[0]!.stamp;
      const end = this.#queue.findIndex(({ stamp }) => stamp.day !== day);
      const some = this.#queue.splice(0, end < 0 ? this.#queue.length : end);
      await this.#writeDay(day, some);
      for (const { view } of some) this.#queuedChars -= view.text.length;
    }
    this.#writing = undefined;
  }

  async #writeDay(day: string, queued: readonly Queued[]): Promise<void> {
    let keptLines = 0;
    try {
      const use = this.#days.get(day) ?? (await this.#beginDay(day));
      const lines = queued
        .map((one) => this.#lineWithinLimits(one, use))
        .filter((line) => line !== undefined);
      // Somebody may have moved the file since the last line.
      await this.#writer.look(day);
      const bytes = Buffer.concat(lines);
      const { lineBytes, blocked } = await this.#writer.write(day, bytes);
      keptLines = countLines(bytes.subarray(0, lineBytes));
      this.#keptBytes += lineBytes;
      if (blocked !== undefined) throw new Error(blocked.message);
      if (this.#isFailing) this.#options.log.info('Keeping refused views again');
      this.#isFailing = false;
    } catch (error) {
      this.#fail(error);
    }
    this.#keptLines += keptLines;
    this.#droppedLines += queued.length - keptLines;
  }

  /** What the file has already counts as the unlisted ids', so that the other half stays free. */
  async #beginDay(day: string): Promise<DayUse> {
    const path = `${this.#options.dir}/${fileNameOf('refused', day)}`;
    const size = await this.#files.stat(path).then(
      (found) => found.size,
      (error: unknown) => {
        if (errnoOf(error) === 'ENOENT') return 0;
        throw error;
      },
    );
    // A torn last line will get a newline.
    const bytes = size === 0 ? 0 : size + 1;
    const use = { bytes, unlistedBytes: bytes, isFullLogged: false };
    this.#days.set(day, use);
    return use;
  }

  /** Returns the view's line, or `undefined` if the day's limit leaves no space for it. */
  #lineWithinLimits({ stamp, view }: Queued, use: DayUse): Buffer | undefined {
    const { maxBytesPerDay, isListed, log } = this.#options;
    const line = Buffer.from(refusedLine(stamp, view));
    const isUnlisted = view.project === undefined || !isListed(view.project);
    const isOver =
      use.bytes + line.length > maxBytesPerDay ||
      (isUnlisted && use.unlistedBytes + line.length > maxBytesPerDay / 2);
    if (!isOver) {
      use.bytes += line.length;
      if (isUnlisted) use.unlistedBytes += line.length;
      return line;
    }
    if (!use.isFullLogged) {
      log.warn(`Refused views of ${stamp.day} have reached --max-refused; some are no longer kept`);
    }
    use.isFullLogged = true;
    return undefined;
  }

  /** Once for each time that it begins. What failed still counts against the day's limit. */
  #fail(error: unknown): void {
    const { dir, log } = this.#options;
    if (!this.#isFailing) log.warn(`Cannot keep refused views in "${dir}": ${reasonOf(error)}`);
    this.#isFailing = true;
  }
}

export const createRefusedStore = (options: RefusedStoreOptions): RefusedFiles =>
  new RefusedFiles(options);
