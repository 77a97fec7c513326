import * as fs from 'node:fs';
import * as path from 'node:path';
import { admit, type AdmissionRules } from '../collector/admit.ts';
import { tooLarge } from '../view/refusal.ts';
import { EXIT, type ExitCode, Fatal } from '../base/exit.ts';
import { createLog } from '../base/log.ts';
import { readBlocks } from '../disk/lines.ts';
import { replayRecordOf } from '../disk/names.ts';
import { baseName } from '../disk/packed-names.ts';
import { type Progress, startProgress } from '../disk/progress.ts';
import { loadProjects } from '../projects/project-list.ts';
import { isRefusal } from '../view/refusal.ts';
import type { Settings } from '../settings.ts';
import { signals } from '../base/signals.ts';
import { acquireLock, type Lock } from '../disk/lock.ts';
import type { LockKind } from '../disk/lock-race.ts';
import { type KeptView, readRefusedLine } from '../store/refused/refused-line.ts';
import { echo } from '../base/text.ts';
import { Outcome } from '../replay/outcome.ts';
import { Pace } from '../replay/pace.ts';
import { ReplayRecord } from '../replay/replay-record.ts';
import { findCollector, sendView } from '../replay/sender.ts';

/** A running collector follows an edit of the projects file within 2 seconds. */
const PROJECTS_SETTLED_MS = 3_000;

interface Replay {
  readonly url: string;
  readonly rules: AdmissionRules;
  readonly project: string | undefined;
  readonly pace: Pace;
  readonly stop: AbortSignal;
  readonly progress: Progress;
}

/** One replay a directory: two would send the same views. */
const REPLAY: LockKind = {
  prefix: 'viewlog.replay.',
  heldBy: (dir, holder) => `Another replay runs in "${dir}": ${holder}; wait for it, or stop it`,
  isLeft: (name) => name.endsWith(replayRecordOf('')),
  moved: (dir) => `"${dir}" was moved while a replay ran in it; run it again, for the rest`,
};

/**
 * `viewlog replay FILE…`: sends refused views that would be taken now to a running collector. What
 * a collector has acknowledged is never sent again, however this is interrupted. Exit 65 where it
 * is uncertain of a view whether it was stored; 69 where it could not go on to the end.
 */
export async function replay(settings: Settings, paths: string[]): Promise<ExitCode> {
  const wrong = paths.find((name) => name === '-' || baseName(name).startsWith('views-'));
  if (paths.length === 0 || wrong !== undefined) {
    const found = wrong === undefined ? '' : `, not "${echo(wrong)}"`;
    const wanted = 'a FILE of refused views, such as data/refused-2026-01-31.ndjson';
    throw new Fatal(EXIT.usage, `replay needs ${wanted}${found}`);
  }
  const url = settings.replayTo ?? ownAddress(settings);
  const projects = await loadProjects(settings.projects);
  const rules = { projects, viewBytesMax: settings['max-view'], now: Date.now };
  // The first signal ends it after the view under way.
  const stopping = new AbortController();
  signals.onStop(() => stopping.abort());
  const stop = stopping.signal;
  const pace = new Pace(stop);
  const progress = startProgress(paths);
  const all = { url, rules, project: settings.project, pace, stop, progress };
  await findCollector(url);
  await pace.sleep(fs.statSync(settings.projects).mtimeMs + PROJECTS_SETTLED_MS - Date.now());
  let isCertain = true;
  for (const file of paths) isCertain = (await replayFile(file, all)) && isCertain;
  if (stop.aborted) {
    console.error('viewlog: Stopped; run it again for the rest');
    return EXIT.unavailable;
  }
  return isCertain ? EXIT.done : EXIT.badData;
}

/** @returns whether it is known of every view whether it was sent. */
async function replayFile(file: string, replay: Replay): Promise<boolean> {
  const log = createLog('text');
  const lock = await acquireLock(path.dirname(path.resolve(file)), { kind: REPLAY, log });
  const record = await ReplayRecord.open(file, (message) => log.warn(message));
  const outcome = new Outcome();
  try {
    for await (const block of readBlocks(file, (bytes) => replay.progress.add(bytes))) {
      const whole = block.lines.length - (block.isUnended ? 1 : 0);
      for (let i = 0; i < whole && !replay.stop.aborted; i++) {
        const view = block.damaged.has(i) ? undefined : readRefusedLine(block.lines[i]!);
        await replayLine(view, record, outcome, { ...replay, lock });
        outcome.lines += 1;
      }
      if (replay.stop.aborted) break;
    }
  } finally {
    replay.progress.end();
    await record.close();
    await lock.release();
    console.log(outcome.describe(file, record.path).join('\n'));
  }
  return outcome.uncertain === 0;
}

async function replayLine(
  view: KeptView | undefined,
  record: ReplayRecord,
  outcome: Outcome,
  { rules, project, ...replay }: Replay & { readonly lock: Lock },
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
    bytes > rules.viewBytesMax
      ? tooLarge(`${bytes} bytes`, rules.viewBytesMax)
      : admit(view.text, view.origin, rules);
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
  { url, pace, stop, lock }: Pick<Replay, 'url' | 'pace' | 'stop'> & { readonly lock: Lock },
): Promise<void> {
  while (!stop.aborted) {
    await lock.ensure();
    record.mark(line, id, '?');
    await record.sync();
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

/** Where a collector with the same settings listens, as seen from here. */
function ownAddress({ host, port }: Settings): string {
  const named = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${named.includes(':') ? `[${named}]` : named}:${port}`;
}
