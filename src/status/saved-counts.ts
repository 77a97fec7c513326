// The counts of the status page across restarts: `<data>/status.json`. Replaced as a whole every
// minute and at a stop, so a crash costs the page at most the last minute. It is only for the page:
// a file that is not as expected is ignored with a warning.
import * as fs from 'node:fs/promises';
import * as v from 'valibot';
import { errnoOf, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { KiB, MiB } from '../base/size.ts';
import { printable } from '../base/text.ts';
import { DAY_MS } from '../base/time.ts';
import { systemFiles } from '../disk/ops.ts';
import { replaceFile } from '../disk/durable.ts';
import { type Activity, type Counts, UNLISTED_IDS_MAX } from './counts.ts';
import { count, reason, text, time, timeline } from './reasons.ts';

const FILE_BYTES_MAX = 256 * MiB;
/** After this many characters, views get their turn. */
const SLICE_LENGTH = 64 * KiB;

const savedActivity = v.object({
  accepted: count,
  lastAcceptedMs: v.optional(time),
  acceptedIn: timeline,
  refusedIn: v.optional(timeline),
  reasons: v.array(reason),
});
const savedCounts = v.object({
  version: v.literal(1),
  sinceMs: time,
  total: savedActivity,
  beforeProject: savedActivity,
  unlistedIds: v.pipe(v.array(v.tuple([text, reason])), v.maxLength(UNLISTED_IDS_MAX)),
  projects: v.array(v.tuple([text, savedActivity])),
});

interface CountsFileOptions {
  readonly dir: string;
  readonly counts: Counts;
  /** A process that has lost its lock must not write. */
  readonly isLocked: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
}

/** The file of saved counts. */
export class CountsFile {
  readonly #options: CountsFileOptions;
  readonly #path: string;
  #savedRequests = 0;
  #isFailing = false;

  constructor(options: CountsFileOptions) {
    this.#options = options;
    this.#path = `${options.dir}/status.json`;
  }

  /** Adds what earlier processes counted. Never rejects. */
  async restore(): Promise<void> {
    const { counts, log } = this.#options;
    try {
      // Opening a FIFO would wait for its writer.
      const stats = await fs.stat(this.#path);
      if (!stats.isFile() || stats.size > FILE_BYTES_MAX) throw new Error('not a file of counts');
      const saved = v.parse(savedCounts, JSON.parse(await fs.readFile(this.#path, 'utf8')));
      const { accepted } = saved.total;
      // The clock may have been set back since.
      counts.sinceMs = Math.min(saved.sinceMs, counts.startMs);
      restore(counts, counts.total, saved.total);
      restore(counts, counts.beforeProject, { ...saved.beforeProject, accepted });
      for (const [id, one] of saved.unlistedIds) {
        counts.unlistedIds.set(id, { ...one, acceptedThen: 0 });
      }
      for (const [id, one] of saved.projects) {
        if (counts.isListed(id)) restore(counts, counts.activityOf(id), one);
      }
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return;
      const effect = 'the status page counts from this start';
      log.warn(`Cannot read "${this.#path}": ${printable(reasonOf(error))}; ${effect}`);
    }
  }

  /** Saves the counts if anything was counted since the last time. Never rejects. */
  async save(): Promise<void> {
    const { counts, isLocked, now, log } = this.#options;
    const { received } = counts;
    if (received === this.#savedRequests) return;
    try {
      if (!isLocked()) return;
      await replaceFile(systemFiles, this.#path, slicesOf(counts, now()));
      this.#savedRequests = received;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn(`Cannot write "${this.#path}": ${reasonOf(error)}`);
      this.#isFailing = true;
    }
  }
}

/** This process itself begins with no accepted views. */
function restore(
  counts: Counts,
  activity: Activity,
  { accepted, reasons, ...saved }: v.InferOutput<typeof savedActivity>,
): void {
  Object.assign(activity, saved);
  for (const reason of reasons) {
    reason.acceptedThen -= accepted;
    counts.keepReason(activity, reason);
  }
}

function plain({ accepted, lastAcceptedMs, acceptedIn, refusedIn, reasons }: Activity) {
  return { accepted, lastAcceptedMs, acceptedIn, refusedIn, reasons: [...reasons.values()] };
}

/** Yields the text of the file, some projects at a time. Views get their turn after each slice. */
export function* slicesOf(counts: Counts, nowMs: number): Generator<string> {
  const { sinceMs, total, beforeProject, unlistedIds, projects } = counts;
  const head = JSON.stringify({
    version: 1,
    sinceMs,
    total: plain(total),
    beforeProject: plain(beforeProject),
    unlistedIds: [...unlistedIds],
  });
  yield `${head.slice(0, -1)},"projects":[`;
  let [slice, separator] = ['', ''];
  for (const [id, one] of projects) {
    // The page shows nothing older than yesterday.
    const isRecent = nowMs - (one.lastAcceptedMs ?? 0) < 2 * DAY_MS;
    if (!isRecent && one.reasons.size === 0) continue;
    slice += separator + JSON.stringify([id, plain(one)]);
    separator = ',';
    if (slice.length < SLICE_LENGTH) continue;
    yield slice;
    slice = '';
  }
  yield `${slice}]}\n`;
}
