// The counts of the status page across restarts: `<data>/status.json`. Replaced as a whole every
// minute and at a stop, so a crash costs the page at most the last minute. It is only for the page:
// a file that cannot be read is ignored with a warning.
import * as fs from 'node:fs/promises';
import { errnoOf, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { MiB } from '../base/size.ts';
import { DAY_MS } from '../base/time.ts';
import { systemFiles } from '../disk/ops.ts';
import type { Projects } from '../projects/project-list.ts';
import { replaceFile } from '../disk/durable.ts';
import {
  type Activity,
  Counts,
  type CountsOptions,
  type Reason,
  type UnlistedId,
} from './counts.ts';
import { type SavedTimeline, Timeline } from './timeline.ts';

const VERSION = 1;
const FILE_BYTES_MAX = 256 * MiB;
/** After so many projects, views have their turn. */
const SLICE = 100;
/** What the file holds, which is what JSON makes of counts. */
interface Saved {
  readonly version: number;
  readonly sinceMs: number;
  readonly total: SavedActivity;
  readonly beforeProject: SavedActivity;
  readonly unlistedIds: readonly [id: string, WithSavedTimeline<UnlistedId>][];
  readonly projects: readonly [id: string, SavedActivity][];
}

interface SavedActivity extends Pick<Activity, 'accepted' | 'lastAcceptedMs'> {
  readonly acceptedIn: SavedTimeline;
  readonly refusedIn?: SavedTimeline;
  readonly reasons: readonly [key: string, WithSavedTimeline<Reason>][];
}

type WithSavedTimeline<T> = Omit<T, 'refusedIn'> & { readonly refusedIn: SavedTimeline };

const pathOf = (dir: string): string => `${dir}/status.json`;

/** Returns what is counted, with what earlier processes counted in this directory. */
export async function openCounts(
  directory: Pick<SaverOptions, 'dir' | 'isLocked'> | undefined,
  { projects, now, log }: { projects: Pick<Projects, 'find'>; now: () => number; log: Log },
): Promise<{ counts: Counts; saver: CountsSaver | undefined }> {
  const options = { now, isListed: (id: string) => projects.find(id) !== undefined };
  if (directory === undefined) return { counts: new Counts(options), saver: undefined };
  const counts = await restoredCounts(directory.dir, options, log);
  return { counts, saver: new CountsSaver({ ...directory, counts, now, log }) };
}

/** Returns counts that begin with those that an earlier process saved. */
export async function restoredCounts(
  dir: string,
  options: CountsOptions,
  log: Pick<Log, 'warn'>,
): Promise<Counts> {
  const path = pathOf(dir);
  try {
    // Opening a FIFO would wait for its writer.
    const stats = await fs.stat(path);
    if (!stats.isFile() || stats.size > FILE_BYTES_MAX) throw new Error('not a file of counts');
    const saved = JSON.parse(await fs.readFile(path, 'utf8')) as Saved;
    if (saved.version !== VERSION) throw new Error('another version of viewlog wrote it');
    return restored(saved, options);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') {
      const effect = 'the status page counts from this start';
      log.warn(`Cannot read "${path}": ${reasonOf(error)}; ${effect}`);
    }
    return new Counts(options);
  }
}

function restored(saved: Saved, options: CountsOptions): Counts {
  const counts = new Counts(options);
  counts.sinceMs = saved.sinceMs;
  restore(counts, counts.total, saved.total);
  const { accepted } = saved.total;
  restore(counts, counts.beforeProject, { ...saved.beforeProject, accepted });
  for (const [id, activity] of saved.projects) {
    if (options.isListed(id)) restore(counts, counts.activityOf(id), activity);
  }
  for (const [id, one] of saved.unlistedIds) counts.unlistedIds.set(id, withTimeline(one));
  return counts;
}

function restore(counts: Counts, activity: Activity, saved: SavedActivity): void {
  const { accepted, lastAcceptedMs, acceptedIn, refusedIn, reasons } = saved;
  activity.lastAcceptedMs = lastAcceptedMs;
  activity.acceptedIn = Timeline.restored(acceptedIn);
  activity.refusedIn = refusedIn && Timeline.restored(refusedIn);
  for (const [key, one] of reasons) {
    const reason = withTimeline(one);
    // This process begins with none accepted.
    reason.acceptedThen -= accepted;
    counts.holdReason(activity, key, reason);
  }
}

const withTimeline = <T extends { readonly refusedIn: SavedTimeline }>(saved: T) => ({
  ...saved,
  refusedIn: Timeline.restored(saved.refusedIn),
});

interface SaverOptions {
  readonly dir: string;
  readonly counts: Counts;
  /** A process that has lost its lock must not write. */
  readonly isLocked: () => boolean;
  readonly now: () => number;
  readonly log: Pick<Log, 'warn'>;
}

/** Writes the counts, one save at a time. */
export class CountsSaver {
  readonly #options: SaverOptions;
  #saving: Promise<void> | undefined;
  #savedRequests = 0;
  #isFailing = false;

  constructor(options: SaverOptions) {
    this.#options = options;
  }

  /** Never rejects. Does nothing if nothing was counted since the last time. */
  save(): Promise<void> {
    return (this.#saving ??= this.#save().finally(() => (this.#saving = undefined)));
  }

  /** Saves whatever was counted up to now. */
  async saveLast(): Promise<void> {
    await this.#saving;
    await this.save();
  }

  async #save(): Promise<void> {
    const { dir, counts, isLocked, now, log } = this.#options;
    const { accepted, refused } = counts.total;
    if (accepted + refused === this.#savedRequests) return;
    try {
      const text = await textOf(counts, now());
      if (!isLocked()) return;
      await replaceFile(systemFiles, pathOf(dir), text);
      this.#savedRequests = accepted + refused;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn(`Cannot write "${pathOf(dir)}": ${reasonOf(error)}`);
      this.#isFailing = true;
    }
  }
}

async function textOf(counts: Counts, nowMs: number): Promise<string> {
  counts.forgetReasonsBefore(nowMs - DAY_MS);
  const { sinceMs, total, beforeProject, unlistedIds, projects } = counts;
  const unlisted = [...unlistedIds];
  const head = JSON.stringify({
    version: VERSION,
    sinceMs,
    total,
    beforeProject,
    unlistedIds: unlisted,
  });
  const texts: string[] = [];
  for (const [id, activity] of projects) {
    // What is older than yesterday is not shown.
    const isRecent = nowMs - (activity.lastAcceptedMs ?? 0) < 2 * DAY_MS;
    if (!isRecent && activity.reasons.size === 0) continue;
    texts.push(JSON.stringify([id, activity]));
    if (texts.length % SLICE === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
  return `${head.slice(0, -1)},"projects":[${texts.join(',')}]}\n`;
}
