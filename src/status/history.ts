import * as fs from 'node:fs';
import { reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { MiB } from '../base/size.ts';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import { type FilePart, readBackwards } from '../disk/backwards.ts';
import { type FileKind, fileNameOf } from '../disk/names.ts';
import { LARGEST_MAX_VIEW_BYTES } from '../view/line.ts';
import type { Known } from './collector-source.ts';
import type { Counts } from './counts.ts';
import { daysAt } from './days.ts';
import { countRefusedLine, countViewLine } from './kept-lines.ts';

// A restart hides nothing: what was taken and refused yesterday and today is read from the files,
// in the background, the newest first. How much of each file is older than this process is known
// by its size before the first view is taken, whatever the clock says.

const BYTES_MAX = 256 * MiB;
/** Between two views nothing is done for longer; a line is not cut. */
const SLICE_MS = 1;
const LINES_BETWEEN_LOOKS = 16;
/** What a clock that stepped back may have stamped, at most, beyond its own time. */
const AHEAD_MS = 5 * MINUTE_MS;
/** What a project's silence is judged by reaches further back than yesterday, just after midnight. */
const BACK_MS = 27 * HOUR_MS;

interface HistoryOptions {
  readonly dir: string;
  readonly counts: Counts;
  readonly log: Log;
  readonly durability?: 'disk' | 'os';
  readonly bytesMax?: number;
  /** Both, unless only one is asked for. */
  readonly kinds?: readonly FileKind[];
}

/** The files of one kind, and how far back they have been read. */
interface Reading {
  readonly kind: FileKind;
  readonly blocks: AsyncGenerator<readonly string[]>;
  /** All that is newer is counted. */
  reachedMs: number;
  /** What these files cannot tell of. */
  readonly endMs: number;
}

export class History implements Known {
  sinceMs: number;
  isReading = true;
  readonly #options: HistoryOptions;
  readonly #startMs: number;
  readonly #fromMs: number;
  readonly #readings: readonly Reading[];
  readonly #viewLines = { count: 0, bytes: 0 };
  #bytesLeft: number;
  #isStopped = false;

  /** Looks at the files, so before the first view is taken. */
  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#startMs = options.counts.sinceMs;
    this.sinceMs = this.#startMs;
    this.#fromMs = Math.min(this.#startMs - BACK_MS, daysAt(this.#startMs).yesterdayMs);
    this.#bytesLeft = options.bytesMax ?? BYTES_MAX;
    const { kinds = ['views', 'refused'] } = options;
    this.#readings = kinds.map((kind) => this.#readingOf(kind));
  }

  /** Reads what there is, as far as the bound allows. Never rejects. */
  async read(): Promise<void> {
    let open = [...this.#readings];
    while (open.length > 0 && this.#bytesLeft > 0 && !this.#isStopped) {
      // Both kinds in step: what is newer than where the later of them stands is whole.
      const latest = open.reduce((a, b) => (b.reachedMs > a.reachedMs ? b : a));
      if (!(await this.#advance(latest))) open = open.filter((reading) => reading !== latest);
      this.sinceMs = Math.max(...this.#readings.map(({ reachedMs }) => reachedMs));
      await nextTurn();
    }
    for (const { blocks } of open) await blocks.return(undefined);
    this.isReading = false;
  }

  get durability(): 'disk' | 'os' | undefined {
    return this.#options.durability;
  }

  get lineBytes(): number | undefined {
    const { count, bytes } = this.#viewLines;
    return count === 0 ? undefined : bytes / count;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** @returns whether there is more. */
  async #advance(reading: Reading): Promise<boolean> {
    try {
      const { value: lines } = await reading.blocks.next();
      if (lines !== undefined) {
        const { oldestMs, newestMs } = await this.#count(lines, reading.kind);
        reading.reachedMs = Math.min(reading.reachedMs, oldestMs);
        if (newestMs >= this.#fromMs) return true;
        await reading.blocks.return(undefined);
      }
      reading.reachedMs = reading.endMs;
    } catch (error) {
      const { dir, log } = this.#options;
      const since = new Date(reading.reachedMs).toISOString();
      const what = `Cannot read the ${reading.kind} files in "${dir}": ${reasonOf(error)}`;
      log.warn(`${what}; the status page counts since ${since}`);
    }
    return false;
  }

  /** @returns the times of the first and the last of these lines that have one. */
  async #count(lines: readonly string[], kind: FileKind) {
    const { counts } = this.#options;
    const countLine = kind === 'views' ? countViewLine : countRefusedLine;
    let oldestMs = Number.POSITIVE_INFINITY;
    let newestMs = Number.POSITIVE_INFINITY;
    const at = (ts: string): number | undefined => {
      const ms = Date.parse(ts);
      if (Number.isNaN(ms) || ms > this.#startMs + AHEAD_MS) return undefined;
      if (newestMs === Number.POSITIVE_INFINITY) newestMs = ms;
      oldestMs = ms;
      return ms < this.#fromMs ? undefined : Math.min(ms, this.#startMs);
    };
    let sliceMs = performance.now();
    for (let i = lines.length - 1; i >= 0; i--) {
      countLine(lines[i]!, counts, at);
      if (i % LINES_BETWEEN_LOOKS !== 0 || performance.now() - sliceMs < SLICE_MS) continue;
      await nextTurn();
      sliceMs = performance.now();
    }
    return { oldestMs, newestMs };
  }

  #readingOf(kind: FileKind): Reading {
    const { dir } = this.#options;
    const parts: FilePart[] = [];
    let endMs = this.#fromMs;
    const lastDayMs = Date.parse(dayOf(this.#startMs));
    for (let dayMs = lastDayMs; dayMs > this.#fromMs - DAY_MS; dayMs -= DAY_MS) {
      const path = `${dir}/${fileNameOf(kind, dayOf(dayMs))}`;
      const part = partOf(path);
      if (part !== undefined) parts.push(part);
      else if (fs.existsSync(`${path}.gz`)) {
        // Packed, it can be read from its beginning only.
        endMs = Math.max(endMs, dayMs + DAY_MS);
        break;
      }
    }
    const blocks = this.#blocksOf(parts, kind);
    return { kind, blocks, reachedMs: this.#startMs, endMs };
  }

  async *#blocksOf(parts: readonly FilePart[], kind: FileKind): AsyncGenerator<readonly string[]> {
    // View lines are matched with a character for each byte; of refused ones texts are shown.
    const encoding = kind === 'views' ? 'latin1' : 'utf8';
    for (const part of parts) {
      for await (const { lines, bytes } of readBackwards(part, encoding, LARGEST_MAX_VIEW_BYTES)) {
        this.#bytesLeft -= bytes;
        if (kind === 'views') {
          this.#viewLines.count += lines.length;
          this.#viewLines.bytes += bytes;
        }
        yield lines;
      }
    }
  }
}

/** As it is now; `undefined` where there is no file. */
function partOf(path: string): FilePart | undefined {
  try {
    const stat = fs.statSync(path);
    return stat.isFile() ? { path, dev: stat.dev, ino: stat.ino, size: stat.size } : undefined;
  } catch {
    return undefined;
  }
}

/** Lets the collector answer what has come meanwhile. */
const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
