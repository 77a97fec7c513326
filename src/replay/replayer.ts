import * as fs from 'node:fs';
import * as path from 'node:path';
import { admit, type AdmissionRules } from '../collector/admit.ts';
import { EXIT, Fatal } from '../base/exit.ts';
import { readBlocks } from '../disk/lines.ts';
import { type Progress, startProgress } from '../disk/progress.ts';
import { loadProjects } from '../projects/project-list.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal, sizeFault } from '../view/refusal.ts';
import type { Log } from '../base/log.ts';
import { acquireLock, REPLAY_LOCK_NAME } from '../disk/lock.ts';
import { type KeptView, readRefusedLine } from '../store/refused/refused-line.ts';
import { Outcome } from './outcome.ts';
import { Pace } from './pace.ts';
import { ReplayRecord } from './replay-record.ts';
import { findCollector, sendView } from './sender.ts';

/** A running collector follows an edit of the projects file within 2 seconds. */
const PROJECTS_SETTLED_MS = 3_000;

interface ReplayOptions {
  /** The collector's: `http://127.0.0.1:8080` */
  readonly url: string;
  readonly projectsPath: string;
  readonly viewBytesMax: number;
  /** Views of this project only. */
  readonly project: string | undefined;
  /** Ends it after the view under way. */
  readonly stop: AbortSignal;
  /** Told of each file what became of its lines, in a text of some lines. */
  readonly onOutcome: (text: string) => void;
  readonly log: Log;
}

interface Replay extends ReplayOptions {
  readonly rules: AdmissionRules;
  readonly pace: Pace;
  readonly progress: Progress;
}

/**
 * Sends those views of files of refused views that would be taken now to a running collector. What
 * a collector has acknowledged is never sent again, however this is interrupted.
 * @returns whether it is known of every view whether it was sent.
 * @throws {Fatal} exit 69 where the collector does not answer, or fails.
 */
export async function replayFiles(
  files: readonly string[],
  options: ReplayOptions,
): Promise<boolean> {
  const { url, projectsPath, viewBytesMax, stop } = options;
  const projects = await loadProjects(projectsPath);
  const rules = { projects, viewBytesMax, now: Date.now };
  const pace = new Pace(stop);
  const all = { ...options, rules, pace, progress: startProgress(files) };
  await findCollector(url);
  await pace.sleep(fs.statSync(projectsPath).mtimeMs + PROJECTS_SETTLED_MS - Date.now());
  let isCertain = true;
  for (const file of files) isCertain = (await replayFile(file, all)) && isCertain;
  return isCertain;
}

/** @returns whether it is known of every view whether it was sent. */
async function replayFile(file: string, replay: Replay): Promise<boolean> {
  const { log } = replay;
  let lost: Fatal | undefined;
  // One replay per directory: two would send the same views.
  const lock = await acquireLock(path.dirname(path.resolve(file)), {
    name: REPLAY_LOCK_NAME,
    log,
    onLost: (fatal) => (lost = fatal),
  });
  const checkLock = (): void => {
    if (lost !== undefined) throw lost;
  };
  const record = await ReplayRecord.open(file, (message) => log.warn(message));
  const outcome = new Outcome();
  try {
    for await (const block of readBlocks(file, (bytes) => replay.progress.add(bytes))) {
      const whole = block.lines.length - (block.isUnended ? 1 : 0);
      for (let i = 0; i < whole && !replay.stop.aborted; i++) {
        const view = block.damaged.has(i) ? undefined : readRefusedLine(block.lines[i]!);
        await replayLine(view, record, outcome, { ...replay, checkLock });
        outcome.lines += 1;
      }
      if (replay.stop.aborted) break;
    }
  } finally {
    replay.progress.end();
    await record.close();
    await lock.release();
    replay.onOutcome(outcome.describe(file, record.path).join('\n'));
  }
  return outcome.uncertain === 0;
}

async function replayLine(
  view: KeptView | undefined,
  record: ReplayRecord,
  outcome: Outcome,
  { rules, project, ...replay }: Replay & { readonly checkLock: () => void },
): Promise<void> {
  const line = outcome.lines;
  const state = record.stateOf(line, view?.id);
  if (view === undefined) return void (outcome.invalid += 1);
  if (state === '+') return void (outcome.sentBefore += 1);
  if (state === '?') return outcome.addUncertain(line, view.id);
  if (project !== undefined && projectOf(view.text) !== project) {
    return void (outcome.notAsked += 1);
  }
  const bytes = Buffer.byteLength(view.text);
  // The rate is the pace's: it is far below any that the collector would refuse.
  const verdict =
    sizeFault(bytes, rules.viewBytesMax) ?? admit(readView(view.text), view.origin, rules);
  if (isRefusal(verdict) && verdict.code !== 'rate-limited') return outcome.addRefusal(verdict);
  const id = isRefusal(verdict) ? projectOf(view.text)! : verdict.project;
  await replay.pace.wait(rules.projects.find(id)!);
  await sendLine(view, line, record, outcome, replay);
}

/**
 * The order is what keeps a view from being sent twice: that it is being sent is on disk before it
 * is. Whoever finds that mark later knows no more than that, and leaves the view alone.
 */
async function sendLine(
  { id, text, origin }: KeptView,
  line: number,
  record: ReplayRecord,
  outcome: Outcome,
  {
    url,
    pace,
    stop,
    checkLock,
  }: Pick<Replay, 'url' | 'pace' | 'stop'> & {
    readonly checkLock: () => void;
  },
): Promise<void> {
  while (!stop.aborted) {
    checkLock();
    await record.begin(line, id);
    const sent = await sendView(url, text, origin);
    if ('taken' in sent) {
      record.mark(line, id, '+');
      outcome.sent += 1;
      return;
    }
    if ('uncertain' in sent) {
      outcome.addUncertain(line, id);
      throw new Fatal(EXIT.unavailable, `The collector at ${url} failed: ${sent.uncertain}`);
    }
    record.mark(line, id, '-');
    if ('refused' in sent) {
      throw new Fatal(
        EXIT.badData,
        `The collector at ${url} refuses what would be taken here (${sent.refused}); ` +
          'name its own projects file with --projects, and its --max-view',
      );
    }
    await pace.sleep(1000 * sent.retryAfterSeconds);
  }
}

function projectOf(text: string): string | undefined {
  const { p } = JSON.parse(text) as { p?: unknown };
  return typeof p === 'string' ? p : undefined;
}
