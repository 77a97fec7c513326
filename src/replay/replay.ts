// Sends the views of files of refused views that would be accepted now to a running collector.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { EXIT, Fatal } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { admit, type AdmissionRules } from '../collector/admit.ts';
import { readBlocks } from '../disk/lines.ts';
import { acquireLock, REPLAY_LOCK_NAME } from '../disk/lock.ts';
import { loadProjects } from '../projects/project-list.ts';
import { type KeptView, readRefusedLine } from '../store/refused/refused-line.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal, type Refusal, sizeFault } from '../view/refusal.ts';
import { findCollector, Pace, sendView } from './send.ts';
import { SentIds } from './sent-ids.ts';

/** A running collector follows an edit of the projects file within 2 seconds. */
const PROJECTS_SETTLED_MS = 3_000;
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
  /** Called for each file with what became of its lines, a text of some lines. */
  readonly onOutcome: (text: string) => void;
  readonly log: Log;
}

interface Replay extends ReplayOptions {
  readonly rules: AdmissionRules;
  readonly pace: Pace;
}

/**
 * No view is sent twice, however this is interrupted.
 * @returns whether the outcome of every view that was sent is known.
 * @throws {Fatal} exit 69 if the collector does not answer, or fails; 65 if it refuses a view that
 *   would be accepted by the rules here; 73 or 74 if the record of sent ids can't be written.
 */
export async function replayFiles(
  files: readonly string[],
  options: ReplayOptions,
): Promise<boolean> {
  const { url, projectsPath, viewBytesMax, stop } = options;
  const projects = await loadProjects(projectsPath);
  const pace = new Pace(stop);
  const rules = { projects, viewBytesMax, now: Date.now };
  const replay = { ...options, rules, pace };
  await findCollector(url);
  const settledMs = fs.statSync(projectsPath).mtimeMs + PROJECTS_SETTLED_MS - Date.now();
  // At most that long: the file may be dated in the future.
  await pace.sleep(Math.min(settledMs, PROJECTS_SETTLED_MS));
  let isKnown = true;
  for (const file of files) isKnown = (await replayFile(file, replay)) && isKnown;
  return isKnown;
}

async function replayFile(file: string, replay: Replay): Promise<boolean> {
  const { log, stop, onOutcome } = replay;
  const dir = path.dirname(path.resolve(file));
  let lost: Fatal | undefined;
  const onLost = (fatal: Fatal): void => void (lost = fatal);
  const lock = await acquireLock(dir, { name: REPLAY_LOCK_NAME, log, onLost });
  const sentIds = await SentIds.open(file);
  const outcome = new Outcome();
  try {
    for await (const block of readBlocks(file)) {
      // A line without its newline is still being written.
      const whole = block.lines.length - (block.isUnended ? 1 : 0);
      for (let i = 0; i < whole && !stop.aborted; i++) {
        if (lost !== undefined) throw lost;
        const view = block.damaged.has(i) ? undefined : readRefusedLine(block.lines[i]!);
        outcome.count('lines');
        if (view === undefined) outcome.count('invalid');
        else await replayView(view, sentIds, outcome, replay);
      }
      if (stop.aborted) break;
    }
  } finally {
    await sentIds.close();
    await lock.release();
    onOutcome(outcome.describe(file, sentIds.path));
  }
  return outcome.isKnown;
}

async function replayView(
  view: KeptView,
  sentIds: SentIds,
  outcome: Outcome,
  replay: Replay,
): Promise<void> {
  const { rules, project } = replay;
  const state = sentIds.stateOf(view.id);
  if (state === '+') return outcome.count('sent before');
  if (state === '?') return outcome.addUnknown(view.id);
  if (project !== undefined && projectIn(view.text) !== project) {
    return outcome.count('of other projects');
  }
  const verdict =
    sizeFault(Buffer.byteLength(view.text), rules.viewBytesMax) ??
    admit(readView(view.text), view.origin, rules);
  // The pace stays far below any limit, so a limit that is used up here means nothing.
  const isAccepted = !isRefusal(verdict) || verdict.code === 'rate-limited';
  if (!isAccepted) return outcome.addRefusal(verdict);
  await replay.pace.wait(rules.projects.find(verdict.project!)!);
  await sendOnce(view, sentIds, outcome, replay);
}

/** A refused view may be any JSON. */
function projectIn(text: string): unknown {
  const view: unknown = JSON.parse(text);
  return typeof view === 'object' && view !== null && 'p' in view ? view.p : undefined;
}

/**
 * The order keeps a view from being sent twice: its id is on the disk before the view is sent. After
 * a crash nothing more is known of it, and it is left alone.
 */
async function sendOnce(
  { id, text, origin }: KeptView,
  sentIds: SentIds,
  outcome: Outcome,
  { url, pace, stop }: Replay,
): Promise<void> {
  while (!stop.aborted) {
    await sentIds.record(id, '?');
    const sent = await sendView(url, text, origin);
    if ('accepted' in sent) {
      await sentIds.record(id, '+');
      return outcome.count('sent');
    }
    if ('unknown' in sent) {
      outcome.addUnknown(id);
      throw new Fatal(EXIT.unavailable, `The collector at ${url} failed: ${sent.unknown}`);
    }
    await sentIds.record(id, '-');
    if ('refused' in sent) {
      throw new Fatal(
        EXIT.badData,
        `The collector at ${url} refuses a view that is acceptable here (${sent.refused}); ` +
          'give its own --projects, --data and --max-view to this command',
      );
    }
    await pace.sleep(1000 * sent.retryAfterSeconds);
  }
}

const COUNTS = ['lines', 'sent', 'sent before', 'of other projects', 'invalid'] as const;

/** Counts the outcomes of one file's lines. */
class Outcome {
  readonly #counts = new Map<(typeof COUNTS)[number], number>();
  /** How often each reason, in the words of its refusal. */
  readonly #reasons = new Map<string, number>();
  #refused = 0;
  readonly #unknownIds: string[] = [];

  get isKnown(): boolean {
    return this.#unknownIds.length === 0;
  }

  count(what: (typeof COUNTS)[number]): void {
    this.#counts.set(what, this.#of(what) + 1);
  }

  addRefusal({ code, detail }: Refusal): void {
    this.#refused += 1;
    const reason = `${code}: ${printable(detail)}`;
    const isListed = this.#reasons.has(reason) || this.#reasons.size < REASONS_MAX;
    const key = isListed ? reason : 'for other reasons';
    this.#reasons.set(key, (this.#reasons.get(key) ?? 0) + 1);
  }

  addUnknown(id: string): void {
    this.#unknownIds.push(id);
  }

  /** @param recordPath where the operator can settle ids with an unknown outcome. */
  describe(file: string, recordPath: string): string {
    const unknown = this.#unknownIds.length;
    const counts: [number, string][] = [
      ...COUNTS.slice(1).map((what): [number, string] => [this.#of(what), what]),
      [this.#refused, 'still refused'],
      [unknown, 'with an unknown outcome'],
    ];
    const shown = counts.filter(([count], i) => i === 0 || count > 0);
    const text = shown.map(([count, what]) => `${count} ${what}`).join(', ');
    const reasons = [...this.#reasons].sort(([, a], [, b]) => b - a);
    const lines = [
      `${printable(file, Infinity)}: ${plural(this.#of('lines'), 'line')}: ${text}`,
      ...reasons.map(([reason, count]) => `  ${count} still refused, ${reason}`),
    ];
    if (unknown > 0) {
      const more = unknown > UNKNOWN_IDS_MAX ? ' …' : '';
      lines.push(
        `  outcome unknown, never sent again: ${this.#unknownIds.slice(0, UNKNOWN_IDS_MAX).join(' ')}${more}`,
        `    look for each id's view in the view files; if it is not there, append the line "ID -" to ` +
          `${printable(recordPath, Infinity)} and run this again; else append "ID +"`,
      );
    }
    return lines.join('\n');
  }

  #of(what: (typeof COUNTS)[number]): number {
    return this.#counts.get(what) ?? 0;
  }
}
