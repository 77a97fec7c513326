// The counts of the status page across restarts: `<data>/status.json`. Replaced as a whole every
// minute and at a stop, so a crash costs the page at most the last minute. Only the page needs the
// file, so a file that isn't as expected is ignored with a warning.
import { readFile, stat } from 'node:fs/promises';
import * as v from 'valibot';
import { errnoOf, errorText } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { DAY_MS, dayOf } from '../base/time.ts';
import { replaceFile } from '../disk/durable.ts';
import { readBlocks } from '../disk/lines.ts';
import type { Lock } from '../disk/lock.ts';
import { fileNameOf } from '../disk/names.ts';
import { systemFiles } from '../disk/ops.ts';
import type { OpenedProject, ProjectList } from '../projects/project-list.ts';
import { savedProjects } from '../projects/projects-file.ts';
import { readRefusedLine } from '../store/refused/refused-line.ts';
import { readHead } from '../view/line.ts';
import { readView } from '../view/read-view.ts';
import { isRefusal, type RefusalCode, REFUSALS } from '../view/refusal.ts';
import type { Counts } from './counts.ts';
import { type RemovedEntry, savedCounts } from './reasons.ts';

const countsIn = (dir: string): string => `${dir}/status.json`;

const savedNotes = v.object({
  removed: savedCounts.entries.removed,
  opened: savedCounts.entries.opened,
});

/**
 * Returns the last entry of a project that isn't listed, if a data directory has it: in the last
 * good list, because viewlog wasn't running when the entry was removed, or in the counts.
 */
export async function lastEntryOf(
  id: string,
  dir: string,
): Promise<Omit<RemovedEntry, 'removedMs'> | undefined> {
  const saved = await savedProjects(dir);
  const last = saved?.projects.find((project) => project.id === id);
  if (last !== undefined) return { ...last, operator: saved?.operator };
  return (await notesIn(dir))?.removed.find((entry) => entry.id === id);
}

/** Returns the origins that a project has lost, if the counts of a data directory have them. */
export const lostOrigins = async (id: string, dir: string): Promise<OpenedProject | undefined> =>
  (await notesIn(dir))?.opened.find((entry) => entry.id === id);

async function notesIn(dir: string) {
  const text = await readFile(countsIn(dir), 'utf8').catch(() => '');
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), savedNotes), text);
  return success ? output : undefined;
}

/** The number of projects between two yields to the event loop. */
const SLICE = 50;

/** The file also contains these, besides the projects' counts. */
type Noted = Pick<ProjectList, 'allRemoved' | 'allLost'>;

interface CountsFileOptions {
  readonly dir: string;
  readonly counts: Counts;
  readonly projects: Noted & Pick<ProjectList, 'noteGone' | 'noteOpened' | 'changes'>;
  /** Notes which refusals have ended, so that a restart doesn't bring them back. */
  readonly settle: () => void;
  /** A process that has lost its lock must not write. */
  readonly lock: Pick<Lock, 'isHeld'>;
  readonly log: Pick<Log, 'warn'>;
}

/** The file of saved counts. */
export class CountsFile {
  readonly #options: CountsFileOptions;
  readonly #path: string;
  /**
   * The number of counted requests and of changes of the projects at the last save; -1 without one,
   * so that a first process saves, too: the time of the last save says which refused views the next
   * process counts, if this one is killed.
   */
  #saved = -1;
  #isFailing = false;
  #saving = Promise.resolve();

  constructor(options: CountsFileOptions) {
    this.#options = options;
    this.#path = countsIn(options.dir);
  }

  /** Adds what earlier processes counted. Never rejects. */
  async restore(): Promise<void> {
    const { counts, projects, log } = this.#options;
    try {
      const text = await readFile(this.#path, 'utf8');
      const { savedMs, removed, opened, ...saved } = v.parse(savedCounts, JSON.parse(text));
      counts.restore(saved);
      projects.noteGone(removed, counts.startMs);
      projects.noteOpened([...removed, ...opened], counts.startMs);
      if (savedMs !== undefined) await countLost(this.#options, savedMs).catch(() => {});
      this.#saved = this.#changes();
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return;
      const what =
        errnoOf(error) === undefined
          ? `"${this.#path}" doesn't contain viewlog's counts`
          : `Can't read "${this.#path}": ${printable(errorText(error))}`;
      log.warn(`${what}; viewlog starts counting from zero`);
    }
  }

  /**
   * Saves the counts if anything was counted or the projects have changed since the last save. Never
   * rejects.
   */
  save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save());
    return this.#saving;
  }

  async #save(): Promise<void> {
    const { counts, projects, settle, lock, log } = this.#options;
    settle();
    const changes = this.#changes();
    if (changes === this.#saved || !lock.isHeld()) return;
    try {
      await replaceFile(systemFiles, this.#path, slicesOf(counts, projects));
      this.#saved = changes;
      this.#isFailing = false;
    } catch (error) {
      const effect = 'a restart would lose the newest counts';
      if (!this.#isFailing) {
        log.warn(`Can't write "${this.#path}": ${errorText(error)}; ${effect}`);
      }
      this.#isFailing = true;
    }
  }

  #changes(): number {
    const { counts, projects } = this.#options;
    return counts.received + projects.changes;
  }
}

/**
 * Counts the refused views that an earlier process stored after it had last saved its counts: it was
 * killed.
 * @throws {Fatal} if a file can't be read.
 */
async function countLost(
  { dir, counts }: Pick<CountsFileOptions, 'dir' | 'counts'>,
  savedMs: number,
): Promise<void> {
  for (const day of new Set([savedMs, counts.startMs].map(dayOf))) {
    const path = `${dir}/${fileNameOf('refused', day)}`;
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
    if (mtimeMs <= savedMs) continue;
    for await (const { lines, damaged } of readBlocks(path)) {
      for (const [i, line] of lines().entries()) {
        const atMs = Date.parse(readHead(line)?.ts ?? '');
        // Parses only the few new lines.
        const view = atMs > savedMs && !damaged.has(i) ? readRefusedLine(line) : undefined;
        if (view === undefined || !isCode(view.code)) continue;
        const read = readView(view.text);
        const refusal = isRefusal(read) ? read : { detail: '', project: read.project };
        counts.refusedEarlier({ ...refusal, code: view.code }, view.origin, view.text, atMs);
      }
    }
  }
}

const isCode = (code: string): code is RefusalCode => code in REFUSALS;

/**
 * Yields the text of the file, some projects at a time. Yields to the event loop after each slice,
 * so that saving doesn't delay views.
 */
export function* slicesOf(
  { sinceMs, now, total, requests, projects }: Counts,
  noted?: Noted,
): Generator<string> {
  // The page shows nothing older than yesterday.
  const oldestMs = (total.lastAcceptedMs ?? 0) - 2 * DAY_MS;
  const recent = Array.from(projects).filter(
    ([, { lastAcceptedMs = 0, reasons }]) => lastAcceptedMs > oldestMs || reasons.size > 0,
  );
  const ids = new Set(recent.map(([id]) => id));
  const dayAgoMs = now() - DAY_MS;
  const removed = noted?.allRemoved().filter(({ id, removedMs }) => {
    return ids.has(id) || removedMs > dayAgoMs;
  });
  const opened = noted?.allLost(oldestMs);
  const head = JSON.stringify({ sinceMs, savedMs: now(), total, requests, removed, opened });
  yield `${head.slice(0, -1)},"projects":[`;
  for (let i = 0; i < recent.length; i += SLICE) {
    yield (i === 0 ? '' : ',') + JSON.stringify(recent.slice(i, i + SLICE)).slice(1, -1);
  }
  yield ']}\n';
}
