// Stores refused views in `refused-YYYY-MM-DD.ndjson`, outside the accept path. Best effort:
// nothing is synced, and no error reaches a client or ends the process. Views that aren't stored
// are counted.
import { errorText } from '../../base/exit.ts';
import { formatSize, MiB } from '../../base/format.ts';
import { within } from '../../base/time.ts';
import { DayWriter, NOTHING } from '../../disk/day-writer.ts';
import type { DirectoryOptions } from '../../disk/ops.ts';
import { countLines } from '../files/batch.ts';
import { createStamper, type Stamp } from '../stamp.ts';
import type { Dropped, RefusedStore, RefusedView } from '../store.ts';
import { refusedLine } from './refused-line.ts';

/** The caller must hold the directory's lock. */
export interface RefusedStoreOptions extends DirectoryOptions {
  /** 0: store none. */
  readonly maxBytesPerDay: number;
  /**
   * Nothing is stored while less than twice this much disk space is free, because accepted views
   * come first.
   */
  readonly minFreeBytes: number;
  readonly freeBytes: () => number | undefined;
  readonly isListed: (projectId: string) => boolean;
  readonly now: () => number;
}

export type RefusedState = ReturnType<RefusedFiles['state']>;

/** Enough for a burst. If the disk hangs, the queue takes no more memory than this. */
const QUEUE_CHARS_MAX = MiB;

interface Queued {
  readonly stamp: Stamp;
  readonly view: RefusedView;
  readonly onDropped: (why: Dropped) => void;
}

export class RefusedFiles implements RefusedStore {
  readonly #options: RefusedStoreOptions;
  readonly #writer: DayWriter;
  readonly #stamp: () => Stamp;
  readonly #queue: Queued[] = [];
  #queuedChars = 0;
  #writing: Promise<void> | undefined;
  #day = '';
  /** Bytes of the day's file that aren't reserved for listed projects. */
  #unlistedBytes = 0;
  /** The lines logged about limits that the day's file has reached. */
  readonly #reached = new Set<string>();
  #isFailing = false;
  #isClosing = false;
  /** Counts since the start; `droppedLines` weren't stored. */
  readonly #counts = { storedLines: 0, storedBytes: 0, droppedLines: 0 };

  constructor(options: RefusedStoreOptions) {
    this.#options = options;
    this.#stamp = createStamper(options.now);
    this.#writer = new DayWriter({ ...options, kind: 'refused', durability: 'none' });
  }

  keep(view: RefusedView, onDropped: (why: Dropped) => void = () => {}): void {
    const why = this.#obstacleTo(view);
    if (why !== undefined) {
      this.#counts.droppedLines += 1;
      return onDropped(why);
    }
    this.#queue.push({ stamp: this.#stamp(), view, onDropped });
    this.#queuedChars += view.text.length;
    this.#writing ??= this.#writeQueue();
  }

  /** Returns why the view can't be queued, if so. */
  #obstacleTo({ text }: RefusedView): Dropped | undefined {
    const { maxBytesPerDay, minFreeBytes, freeBytes } = this.#options;
    if (maxBytesPerDay === 0) return 'off';
    if (this.#isClosing) return 'failed';
    if ((freeBytes() ?? Infinity) < 2 * minFreeBytes) return 'little-space';
    return this.#queuedChars + text.length > QUEUE_CHARS_MAX ? 'too-many' : undefined;
  }

  /** Writes what is queued, as far as the time allows. Never rejects. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosing = true;
    await within(timeoutMs, this.#finish());
  }

  state() {
    return { ...this.#counts };
  }

  isInUse(day: string): boolean {
    return this.#writer.isInUse(day);
  }

  async #finish(): Promise<void> {
    await this.#writing;
    await this.#writer.close().catch(() => {});
  }

  /** Runs one at a time; lines that arrive meanwhile are written next. Never rejects. */
  async #writeQueue(): Promise<void> {
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const { day } = this.#queue[0]!.stamp;
      const end = this.#queue.findIndex(({ stamp }) => stamp.day !== day);
      const some = this.#queue.splice(0, end < 0 ? this.#queue.length : end);
      const linesBefore = this.#counts.storedLines;
      let fitting: readonly Pick<Queued, 'onDropped'>[] = some;
      try {
        await this.#open(day);
        const lines = this.#withinLimits(day, some);
        fitting = lines;
        await this.#write(day, Buffer.concat(lines.map(({ line }) => line)));
        if (this.#isFailing) this.#options.log.info('Storing refused views again');
        this.#isFailing = false;
      } catch (error) {
        if (!this.#isFailing) {
          const what = 'Refused views are lost until this is corrected';
          this.#options.log.warn(`${what}: ${errorText(error)}`);
        }
        this.#isFailing = true;
      }
      const stored = this.#counts.storedLines - linesBefore;
      this.#counts.droppedLines += some.length - stored;
      for (const { onDropped } of fitting.slice(stored)) onDropped('failed');
      for (const { view } of some) this.#queuedChars -= view.text.length;
    }
    this.#writing = undefined;
  }

  async #open(day: string): Promise<void> {
    // Another program may have moved the file since the last line.
    await this.#writer.checkPath(day);
    await this.#write(day, NOTHING);
    if (day !== this.#day) {
      this.#day = day;
      this.#reached.clear();
      // Counts all earlier lines as those of unlisted ids. Some may be of listed projects, but this
      // only leaves more space for listed projects.
      this.#unlistedBytes = this.#writer.fileBytes;
    }
  }

  async #write(day: string, bytes: Uint8Array): Promise<void> {
    const { lineBytes, blocked } = await this.#writer.write(day, bytes);
    this.#counts.storedLines += countLines(bytes.subarray(0, lineBytes));
    this.#counts.storedBytes += lineBytes;
    if (blocked !== undefined) throw new Error(blocked.message);
  }

  /** Returns the lines that fit into the open file and drops the others. */
  #withinLimits(day: string, queued: readonly Queued[]) {
    const { maxBytesPerDay, isListed, log } = this.#options;
    let bytes = this.#writer.fileBytes;
    return queued.flatMap(({ stamp, view, onDropped }) => {
      const line = Buffer.from(refusedLine(stamp, view));
      const unlistedBytes = view.project !== undefined && isListed(view.project) ? 0 : line.length;
      const isFull = bytes + line.length > maxBytesPerDay;
      const isHalfFull =
        unlistedBytes > 0 && this.#unlistedBytes + unlistedBytes > maxBytesPerDay / 2;
      if (!isFull && !isHalfFull) {
        bytes += line.length;
        this.#unlistedBytes += unlistedBytes;
        return [{ line, onDropped }];
      }
      onDropped('full');
      const size = formatSize(maxBytesPerDay);
      const what = isFull
        ? `Refused views have used up --max-refused (${size}) for ${day}; until the next UTC ` +
          "day, viewlog drops those that don't fit, so they can't be sent again. Accepted views aren't " +
          'affected. Correct the cause of the refusals, or start viewlog with a larger --max-refused.'
        : `Refused views that belong to no listed project have used up half of --max-refused (${size}) for ${day}; ` +
          "until the next UTC day, viewlog drops those that don't fit, so they can't be sent again. " +
          'The other half is reserved for listed projects.';
      if (!this.#reached.has(what)) log.warn(what);
      this.#reached.add(what);
      return [];
    });
  }
}
