// Sends the views of files of refused views that would be accepted now to a running collector.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { sleep } from '../base/time.ts';
import { admit } from '../collector/admit.ts';
import { readBlocks } from '../disk/lines.ts';
import { acquireLock, REPLAY_LOCK_NAME } from '../disk/lock.ts';
import { loadProjects, type Project, type ProjectList } from '../projects/project-list.ts';
import { type StoredRefusal, readRefusedLine } from '../store/refused/refused-line.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal, type Refusal, sizeFault } from '../view/refusal.ts';
import { findCollector, sendView } from './send.ts';
import { SentIds } from './sent-ids.ts';

/** A running collector follows an edit of the projects file within 2 seconds. */
const PROJECTS_SETTLED_MS = 3_000;
/** A working collector accepts far more than this. */
const VIEWS_PER_SECOND_MAX = 200;
/** The rest of a project's limit is left for the views that its pages send meanwhile. */
const SHARE_OF_LIMIT = 1 / 4;
const REASONS_MAX = 20;
const UNKNOWN_IDS_MAX = 20;

export interface ReplayOptions {
  /** The collector's: `http://127.0.0.1:8080` */
  readonly url: string;
  readonly projectsPath: string;
  readonly viewBytesMax: number;
  /** Only views of this project. */
  readonly project: string | undefined;
  /** Ends it after the view being sent. */
  readonly stop: AbortSignal;
  /** Called for each file with the outcome of its lines, a text of some lines. */
  readonly onOutcome: (text: string) => void;
  readonly log: Log;
}

/**
 * Sends the views. Sends no view twice, however the run is interrupted.
 * @returns whether the outcome of every view that was sent is known.
 * @throws {Fatal} exit 69 if the collector does not answer, or fails; 65 if it refuses a view that
 *   would be accepted by the rules here; 73 or 74 if the record of sent ids can't be written.
 */
export async function replayFiles(
  files: readonly string[],
  options: ReplayOptions,
): Promise<boolean> {
  const { url, projectsPath, stop, log, onOutcome } = options;
  const projects = await loadProjects(projectsPath);
  await findCollector(url);
  const settledMs = fs.statSync(projectsPath).mtimeMs + PROJECTS_SETTLED_MS - Date.now();
  // Waits at most that long: the file may be dated in the future.
  await sleep(Math.max(0, Math.min(settledMs, PROJECTS_SETTLED_MS)), stop);
  let isKnown = true;
  for (const file of files) {
    let lost: Fatal | undefined;
    const onLost = (fatal: Fatal): void => void (lost = fatal);
    const dir = path.dirname(path.resolve(file));
    const lock = await acquireLock(dir, { name: REPLAY_LOCK_NAME, log, onLost });
    const sentIds = await SentIds.open(file).catch(async (error: unknown) => {
      await lock.release();
      throw error;
    });
    const replay = new FileReplay({ ...options, projects, sentIds });
    try {
      for await (const { lines, damaged } of readBlocks(file)) {
        for (const [i, line] of lines.entries()) {
          if (lost !== undefined) throw lost;
          if (stop.aborted) return isKnown;
          await replay.replayLine(damaged.has(i) ? undefined : line);
        }
      }
    } finally {
      await sentIds.close();
      await lock.release();
      onOutcome(replay.describe(file));
    }
    isKnown &&= replay.unknownIds.length === 0;
  }
  return isKnown;
}

interface Place extends ReplayOptions {
  readonly projects: ProjectList;
  readonly sentIds: SentIds;
}

/** Sends the views of one file, and counts the outcomes of its lines. */
class FileReplay {
  readonly unknownIds: string[] = [];
  readonly #place: Place;
  #lines = 0;
  readonly #counts = new Map<string, number>([['sent', 0]]);

  constructor(place: Place) {
    this.#place = place;
  }

  async replayLine(line: string | undefined): Promise<void> {
    this.#lines += 1;
    const view = line === undefined ? undefined : readRefusedLine(line);
    if (view === undefined) return this.#count('invalid');
    const { project, projects, sentIds, viewBytesMax, stop } = this.#place;
    const state = sentIds.states.get(view.id);
    if (state === '+') return this.#count('sent before');
    if (state === '?') return void this.unknownIds.push(view.id);
    const read = readView(view.text);
    if (project !== undefined && read.project !== project) return this.#count('of other projects');
    const rules = { projects, viewBytesMax, now: Date.now };
    const verdict =
      sizeFault(Buffer.byteLength(view.text), viewBytesMax) ?? admit(read, view.origin, rules);
    // The pace stays far below any limit, so a limit that is used up here means nothing.
    if (isRefusal(verdict) && verdict.code !== 'rate-limited') return this.#countRefusal(verdict);
    await this.#send(view);
    await sleep(pauseMs(projects.find(verdict.project!)!), stop);
  }

  /**
   * The order keeps a view from being sent twice: its id is on the disk before the view is sent. If
   * a crash leaves the outcome unknown, the view is not sent again.
   */
  async #send({ id, text, origin }: StoredRefusal): Promise<void> {
    const { url, stop, sentIds } = this.#place;
    await sentIds.record(id, '?');
    let sent = await sendView(url, text, origin);
    while (sent.retryAfterSeconds !== undefined && !stop.aborted) {
      await sleep(1000 * sent.retryAfterSeconds, stop);
      if (!stop.aborted) sent = await sendView(url, text, origin);
    }
    const { state, answer, retryAfterSeconds } = sent;
    if (state === '?') {
      this.unknownIds.push(id);
      throw new Fatal(EXIT.unavailable, `The collector at ${url} failed: ${answer}`);
    }
    await sentIds.record(id, state);
    if (state === '+') return this.#count('sent');
    if (retryAfterSeconds !== undefined) return;
    throw new Fatal(
      EXIT.badData,
      `The collector at ${url} refuses a view that is acceptable here (${answer}); ` +
        'give its own --projects, --data and --max-view to this command',
    );
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  #countRefusal({ code, detail }: Refusal): void {
    const reason = `still refused, ${code}: ${printable(detail)}`;
    const isListed = this.#counts.has(reason) || this.#counts.size < REASONS_MAX;
    this.#count(isListed ? reason : 'still refused for other reasons');
  }

  /** Returns the outcome of the lines: the file, then a line for each kind. */
  describe(file: string): string {
    const rows = Array.from(this.#counts, ([what, count]) => `  ${count} ${what}`);
    const count = this.unknownIds.length;
    if (count > 0) {
      const more = count > UNKNOWN_IDS_MAX ? ' …' : '';
      const ids = this.unknownIds.slice(0, UNKNOWN_IDS_MAX).join(' ');
      rows.push(
        `  ${count} with an unknown outcome, never sent again: ${ids}${more}`,
        `    look for each id's view in the view files; if it is not there, append the line "ID -" to ` +
          `${printable(this.#place.sentIds.path, Infinity)} and run this again; else append "ID +"`,
      );
    }
    return [`${printable(file, Infinity)}: ${plural(this.#lines, 'line')}`, ...rows].join('\n');
  }
}

/**
 * Returns the pause between two views, in milliseconds: short of a load that pages would notice.
 */
function pauseMs({ maxViewsPerMinute = Infinity }: Project): number {
  return 1000 / Math.min(VIEWS_PER_SECOND_MAX, (maxViewsPerMinute / 60) * SHARE_OF_LIMIT);
}
