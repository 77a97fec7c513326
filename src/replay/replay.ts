// Sends the views of files of refused views that would be accepted now to a running collector.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { sleep } from '../base/time.ts';
import { admit, type AdmissionRules } from '../collector/admit.ts';
import { readBlocks } from '../disk/lines.ts';
import { acquireLock, REPLAY_LOCK_NAME } from '../disk/lock.ts';
import { loadProjects, type Project } from '../projects/project-list.ts';
import { readRefusedLine, type StoredRefusal } from '../store/refused/refused-line.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal } from '../view/refusal.ts';
import { findCollector, sendView } from './send.ts';
import { SentIds } from './sent-ids.ts';

/** A running collector follows an edit of the projects file within 2 seconds. */
const PROJECTS_SETTLED_MS = 3_000;
/** A working collector accepts far more than this. */
const VIEWS_PER_SECOND_MAX = 200;
/** The rest of a project's limit is left for the views that its pages send meanwhile. */
const SHARE_OF_LIMIT = 1 / 4;
const OUTCOMES_MAX = 20;

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
  const { url, projectsPath, stop } = options;
  const projects = await loadProjects(projectsPath);
  await findCollector(url);
  const settledMs = fs.statSync(projectsPath).mtimeMs + PROJECTS_SETTLED_MS - Date.now();
  // Waits at most that long: the file may be dated in the future.
  await sleep(Math.max(0, Math.min(settledMs, PROJECTS_SETTLED_MS)), stop);
  let isKnown = true;
  for (const file of files) {
    if (stop.aborted) break;
    if (!(await replayFile(file, { ...options, projects, now: Date.now }))) isKnown = false;
  }
  return isKnown;
}

type Rules = ReplayOptions & AdmissionRules;

/** Returns whether the outcome of every view that was ever sent is known. */
async function replayFile(file: string, rules: Rules): Promise<boolean> {
  const { stop, log, onOutcome } = rules;
  let lost: Fatal | undefined;
  const onLost = (fatal: Fatal): void => void (lost = fatal);
  const dir = path.dirname(path.resolve(file));
  const lock = await acquireLock(dir, { name: REPLAY_LOCK_NAME, log, onLost });
  try {
    const sentIds = await SentIds.open(file);
    const counts = new Map([['sent', 0]]);
    try {
      for await (const { lines, damaged } of readBlocks(file)) {
        for (const [i, line] of lines.entries()) {
          if (lost !== undefined) throw lost;
          if (stop.aborted) return true;
          const view = damaged.has(i) ? undefined : readRefusedLine(line);
          const outcome = await replayView(view, sentIds, rules);
          const isListed = counts.has(outcome) || counts.size < OUTCOMES_MAX;
          const row = isListed ? outcome : 'still refused for other reasons';
          counts.set(row, (counts.get(row) ?? 0) + 1);
        }
      }
    } finally {
      await sentIds.close();
      onOutcome(`${printable(file, Infinity)}: ${summaryOf(counts, sentIds)}`);
    }
    return sentIds.unknown().length === 0;
  } finally {
    await lock.release();
  }
}

/** Sends a view that would be accepted now. Returns the outcome of its line. */
async function replayView(
  view: StoredRefusal | undefined,
  sentIds: SentIds,
  rules: Rules,
): Promise<string> {
  if (view === undefined) return 'invalid';
  const { id, text, origin } = view;
  const { url, project, projects, stop } = rules;
  const before = sentIds.states.get(id);
  if (before === '+') return 'sent before';
  if (before === '?') return 'with an unknown outcome';
  const read = readView(text);
  if (project !== undefined && read.project !== project) return 'of other projects';
  const verdict = admit(read, origin, rules);
  // The pace stays far below any limit, so a limit that is used up here means nothing.
  if (isRefusal(verdict) && verdict.code !== 'rate-limited') {
    return `still refused, ${verdict.code}: ${printable(verdict.detail)}`;
  }
  // The id is on the disk before the view is sent. If a crash leaves the outcome unknown, the view
  // is not sent again.
  await sentIds.record(id, '?');
  const { state, answer } = await sendView(url, view, stop);
  if (state === '?') throw new Fatal(EXIT.unavailable, `The collector at ${url} failed: ${answer}`);
  await sentIds.record(id, state);
  if (state === '-' && !stop.aborted) {
    throw new Fatal(
      EXIT.badData,
      `The collector at ${url} refuses a view that is acceptable here (${answer}); ` +
        'give its own --projects, --data and --max-view to this command',
    );
  }
  await sleep(pauseMs(projects.find(verdict.project!)!), stop);
  return state === '+' ? 'sent' : 'not sent';
}

/** Returns the number of lines, a line for each outcome, and the ids of unknown outcome. */
function summaryOf(counts: ReadonlyMap<string, number>, sentIds: SentIds): string {
  const lines = [...counts.values()].reduce((sum, count) => sum + count);
  const rows = Array.from(counts, ([outcome, count]) => `  ${count} ${outcome}`);
  const unknown = sentIds.unknown();
  if (unknown.length > 0) {
    rows.push(
      `  Never sent again, because they may be stored: ${unknown.join(' ')}`,
      `    look for each id's view in the view files; if it is not there, append the line "ID -" to ` +
        `${printable(sentIds.path, Infinity)} and run this again; else append "ID +"`,
    );
  }
  return [plural(lines, 'line'), ...rows].join('\n');
}

/**
 * Returns the pause between two views, in milliseconds: short of a load that pages would notice.
 */
function pauseMs({ maxViewsPerMinute = Infinity }: Project): number {
  return 1000 / Math.min(VIEWS_PER_SECOND_MAX, (maxViewsPerMinute / 60) * SHARE_OF_LIMIT);
}
