// Sends stored refused views to a running collector, if it would accept them now.
import * as fs from 'node:fs';
import { EXIT, Fatal } from '../base/exit.ts';
import { formatCount, formatDuration, plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { type Clock, MINUTE_MS } from '../base/time.ts';
import { admit, type AdmissionRules } from '../collector/admit.ts';
import { readBlocks } from '../disk/lines.ts';
import { acquireLock, REPLAY_LOCK_NAME } from '../disk/lock.ts';
import type { FileOps } from '../disk/ops.ts';
import type { AsOwner } from '../disk/root.ts';
import { loadProjects, type Project } from '../projects/project-list.ts';
import { readRefusedLine, type StoredRefusal } from '../store/refused/refused-line.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal } from '../view/refusal.ts';
import { ReplayRecord } from './replay-record.ts';
import { findCollector, sendView } from './send.ts';

/** A running collector follows an edit of the projects file within 2 seconds; 1 s is a margin. */
const PROJECTS_FOLLOWED_MS = 3_000;
/** A working collector accepts far more than this. */
const VIEWS_PER_MINUTE_MAX = 12_000;
/** The rest of a project's limit is left for the views that its pages send meanwhile. */
const SHARE_OF_LIMIT = 1 / 4;
const OUTCOMES_MAX = 20;

export interface ReplayOptions {
  /** The collector's address: `http://127.0.0.1:8080` */
  readonly url: string;
  /** The collector's data directory, which has the record of what was sent. */
  readonly dir: string;
  readonly files: FileOps;
  readonly projectsPath: string;
  readonly viewBytesMax: number;
  /** Only views of this project. */
  readonly project: string | undefined;
  /** Ends the replay after the view that is being sent. */
  readonly stop: AbortSignal;
  readonly clock: Clock;
  /** Called for each file with the outcomes of its lines and at the end with the unknown ones. */
  readonly onOutcome: (text: string) => void;
  readonly asOwner?: AsOwner | undefined;
  readonly log: Log;
}

/**
 * Sends the views. Sends no view twice, however the run is interrupted and whatever the files are
 * called.
 * @returns whether the outcome of every view that was sent is known.
 * @throws {Fatal} exit 69 if the collector doesn't answer or fails; 65 if it refuses a view that
 *   would be accepted by the rules here; 73 if the data directory is missing or another replay is
 *   running there; 73 or 74 if the record of sent views can't be written; 78 if the projects file
 *   has a fault; 65 or 74 if a file can't be read.
 */
export async function replayFiles(
  paths: readonly string[],
  options: ReplayOptions,
): Promise<boolean> {
  const { url, dir, files, projectsPath, stop, clock, asOwner, log, onOutcome } = options;
  if (!fs.existsSync(dir)) throw noDirectory(dir);
  const projects = await loadProjects(projectsPath);
  await findCollector(url);
  await untilFollowed(projectsPath, options);
  let lost: Fatal | undefined;
  const onLost = (fatal: Fatal): void => void (lost = fatal);
  const lock = await acquireLock(dir, { name: REPLAY_LOCK_NAME, asOwner, log, onLost });
  const record = new ReplayRecord(dir, files);
  const run = { ...options, projects, now: clock.now, record, lost: () => lost };
  try {
    for (const path of paths) {
      if (!stop.aborted) await replayFile({ ...run, path, paced: new Set<string>() });
    }
    return record.unknown().length === 0;
  } finally {
    for (const { path, ids } of record.unknown()) onOutcome(unknownWords(path, ids));
    await record.close();
    await lock.release();
  }
}

export const noDirectory = (dir: string): Fatal =>
  new Fatal(
    EXIT.cannotCreate,
    `There is no directory "${printable(dir, Infinity)}"; give the collector's own --data, where ` +
      'replay records the views that it sends',
  );

/** Waits until a running collector has followed the last change of the projects file. */
async function untilFollowed(path: string, { clock, stop }: ReplayOptions): Promise<void> {
  // The time of the change: a file that is restored keeps its old `mtime`. A link may have changed
  // instead of its file.
  const changedMs = Math.max(fs.statSync(path).ctimeMs, fs.lstatSync(path).ctimeMs);
  const waitMs = changedMs + PROJECTS_FOLLOWED_MS - clock.now();
  // Capped, because the clock may have been set back since.
  await clock.sleep(Math.max(0, Math.min(waitMs, PROJECTS_FOLLOWED_MS)), stop);
}

/** The replay of one file. */
interface Run extends ReplayOptions, AdmissionRules {
  readonly path: string;
  readonly record: ReplayRecord;
  /** The projects whose pace was logged. */
  readonly paced: Set<string>;
  /** Returns why this process must stop sending. */
  readonly lost: () => Fatal | undefined;
}

async function replayFile(run: Run): Promise<void> {
  const { path } = run;
  let isWhole = false;
  const counts = new Map([['sent', 0]]);
  try {
    for await (const { lines, damaged } of readBlocks(path)) {
      for (const [i, line] of lines().entries()) {
        const lost = run.lost();
        if (lost !== undefined) throw lost;
        if (run.stop.aborted) return;
        const view = damaged.has(i) ? undefined : readRefusedLine(line);
        const { what, failure } = await replayView(view, run);
        const isListed = counts.has(what) || counts.size < OUTCOMES_MAX;
        const row = isListed ? what : 'still refused for other reasons';
        counts.set(row, (counts.get(row) ?? 0) + 1);
        if (failure !== undefined) throw failure;
      }
    }
    isWhole = true;
  } finally {
    const part = isWhole ? '' : 'stopped after ';
    run.onOutcome(`${printable(path, Infinity)}: ${part}${summaryOf(counts)}`);
  }
}

/** The outcome of a line, in words; `failure`: why no more views can be sent. */
interface Outcome {
  readonly what: string;
  readonly failure?: Fatal;
}

/** Sends a view if it would be accepted now. */
async function replayView(view: StoredRefusal | undefined, run: Run): Promise<Outcome> {
  if (view === undefined) return { what: 'skipped: damaged, or not a refused view' };
  const { url, record, projects, clock, stop } = run;
  const read = readView(view.text);
  if (run.project !== undefined && read.project !== run.project) {
    return { what: 'from other projects' };
  }
  const before = await record.stateOf(view);
  if (before === '+') return { what: 'already sent' };
  if (before === '?') return { what: UNKNOWN };
  const verdict = admit(read, view.origin, run);
  // Ignores a limit that is used up here, because the pace stays far below each project's limit.
  if (isRefusal(verdict) && verdict.code !== 'rate-limited') {
    // The rest is for the page's developer.
    const [fault] = verdict.detail.split(/ (?:The view has|Send the view|If) /);
    return { what: `still refused, ${verdict.code}: ${printable(fault!)}` };
  }
  const id = verdict.project!;
  const project = projects.find(id)!;
  await sayPace(project, run);
  // The id is on the disk before the view is sent. If a crash leaves the outcome unknown, the view
  // isn't sent again.
  await record.append(view, '?', id);
  const { state, answer, isGone } = await sendView(url, view, run);
  if (state === '?') {
    const message = `The collector at ${url} failed: ${answer}. If it has stopped, start it. Run replay again once the collector accepts views: each failed attempt may leave one more view with an unknown outcome.`;
    return { what: UNKNOWN, failure: new Fatal(EXIT.unavailable, message) };
  }
  await record.append(view, state, id);
  if (isGone) {
    const message = `The collector at ${url} has stopped (${answer}); start it, then run replay again`;
    return { what: NOT_SENT, failure: new Fatal(EXIT.unavailable, message) };
  }
  if (state === '-') {
    const what = `not stored: the collector answered ${answer}`;
    return stop.aborted ? { what } : { what, failure: refusedThere(url, answer) };
  }
  await clock.sleep(pauseMs(project), stop);
  return { what: 'sent' };
}

/** Shorter waits need no explanation. */
const WAIT_MS_MAX = 10_000;

/** Logs once how long a project's views take, if its limit is low. */
async function sayPace(project: Project, { path, paced, log }: Run): Promise<void> {
  const { id, maxViewsPerMinute } = project;
  if (maxViewsPerMinute === undefined || paced.has(id)) return;
  paced.add(id);
  // A pipe can be read only once.
  if (!fs.statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  const ofProject = new RegExp(`"p"\\s*:\\s*"${id}"`, 'g');
  let views = 0;
  for await (const { text } of readBlocks(path)) views += text.match(ofProject)?.length ?? 0;
  const waitMs = views * pauseMs(project);
  if (waitMs <= WAIT_MS_MAX) return;
  const unitMs = waitMs < MINUTE_MS ? 1000 : MINUTE_MS;
  const time = formatDuration(Math.ceil(waitMs / unitMs) * unitMs);
  log.info(
    `Project ${id}: sending at most ${paceOf(project)}, to leave most of its limit for its pages. ` +
      `The file has ${plural(views, 'view')} of this project; to send all of them would take ${time}`,
  );
}

const UNKNOWN = 'with an unknown outcome';
const NOT_SENT = 'not sent, because the collector had stopped';

const refusedThere = (url: string, answer: string): Fatal =>
  new Fatal(
    EXIT.badData,
    `The collector at ${url} refuses a view that replay would accept (${answer}); ` +
      "give replay the collector's own --projects, --data and --max-view",
  );

/** Returns the number of lines and a line for each outcome. */
function summaryOf(counts: ReadonlyMap<string, number>): string {
  const lines = [...counts.values()].reduce((sum, count) => sum + count);
  const rows = Array.from(counts, ([outcome, count]) => `  ${count} ${outcome}`);
  return [plural(lines, 'line'), ...rows].join('\n');
}

/** @param path the record of these ids. */
function unknownWords(path: string, ids: readonly string[]): string {
  const [id, ...more] = ids;
  const [views, they, each] =
    more.length === 0 ? ['this view', 'it', 'The'] : ['these views', 'they', 'Each'];
  const such = more.length === 0 ? 'the line' : 'a line such as';
  return [
    `replay won't send ${views} again, because ${they} may be stored: ${ids.join(' ')}`,
    `  ${each} id names a line in a refused file. In the view files, look for a line with the same ` +
      'fields, written when replay ran: a stored view has a new id. If there is none, append ' +
      `${such} "${id} -" to ${printable(path, Infinity)} and run replay again. Otherwise append "${id} +".`,
  ].join('\n');
}

type Limited = Pick<Project, 'maxViewsPerMinute'>;

/** Returns how many views to send per minute, so few that pages don't notice the load. */
const perMinute = ({ maxViewsPerMinute = Infinity }: Limited): number =>
  Math.min(VIEWS_PER_MINUTE_MAX, maxViewsPerMinute * SHARE_OF_LIMIT);

/** Returns the pause between two views. */
const pauseMs = (project: Limited): number => MINUTE_MS / perMinute(project);

/** `one view every 34 s` or, from ten a minute on, `15 views per minute` */
export function paceOf(project: Limited): string {
  const views = perMinute(project);
  return views < 10
    ? `one view every ${Math.round(60 / views)} s`
    : `${formatCount(Math.floor(views))} views per minute`;
}
