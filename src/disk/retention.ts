import { plural } from '../base/format.ts';
import { DAY_MS, dayOf } from '../base/time.ts';
import * as fs from 'node:fs';
import { errnoOf, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { daysIn, newestDay } from './directory.ts';
import { fileNameOf, replayRecordOf, RETENTION_NOTE, type FileKind } from './names.ts';
import { type FileOps, systemFiles } from './ops.ts';
import { readNote, type RetentionNote, writeNote } from './retention-note.ts';
import { JUMP_MS, SteadyClock } from './steady-clock.ts';

// A file's age is what the clock says, and a clock may be wrong: behind at boot, until the network
// puts it right, or ahead for a boot or several. So a jump of the clock stops the removal until
// viewlog has run for as many days as files are kept: whatever the clock says then, every file
// that was there at the jump is as old as that. At a start a jump cannot be told from a box that
// was off, whose files stay that much longer.
//
// At a start the clock is compared with the later of two times: when viewlog last ran here, which
// a note keeps, and the newest file's day. A file that was judged by an earlier start is not judged
// again: one from the future would stop the removal for ever.

export interface RetentionOptions {
  readonly dir: string;
  /** 0: for ever. */
  readonly keepDays: number;
  /** 0: for ever. */
  readonly keepRefusedDays: number;
  readonly now: () => number;
  /** Milliseconds that pass evenly, whatever the clock says. */
  readonly monotonic?: () => number;
  readonly log: Log;
  readonly files?: FileOps;
  /** Whether files in the directory may be removed now. */
  readonly isLocked?: () => boolean;
}

const LOOK_MS = 60_000;
const NOTE_MS = 3_600_000;

export interface Retention {
  /** Milliseconds since the epoch; for whatever names the files. */
  readonly now: () => number;
  /** What this start has found out is noted, as far as it can be: files may be made. Never rejects. */
  readonly noted: Promise<void>;
  /** Notes when it was. Never rejects; hangs where the disk does. */
  stop(): Promise<void>;
}

/** Removes old files now, and whenever a day begins. */
export function startRetention(options: RetentionOptions): Retention {
  const remover = new Remover(options);
  remover.look();
  const timer = setInterval(() => remover.look(), LOOK_MS);
  timer.unref();
  return {
    now: remover.now,
    noted: remover.note(),
    stop() {
      clearInterval(timer);
      return remover.note();
    },
  };
}

class Remover {
  readonly #options: RetentionOptions;
  readonly #clock: SteadyClock;
  /** What was done last: the day, and what was kept. */
  #done = '';
  #noting = Promise.resolve();
  #next: Promise<void> | undefined;
  readonly #monotonic: () => number;
  #notedMs = 0;
  #canNote = true;

  constructor(options: RetentionOptions) {
    const { dir, now, monotonic = () => performance.now() } = options;
    this.#options = options;
    this.#monotonic = monotonic;
    const note = readNote(dir);
    const seenMs = lastSeenMs(dir, note);
    const hasJumped = seenMs !== undefined && Math.abs(now() - seenMs) > JUMP_MS;
    if (hasJumped) this.#sayJump(seenMs, now());
    this.#clock = new SteadyClock({
      now,
      monotonic,
      steadyMs: hasJumped ? 0 : (note?.steadyMs ?? Infinity),
      onJump: (fromMs, toMs) => {
        this.#sayJump(fromMs, toMs);
        void this.note();
      },
    });
  }

  readonly now = (): number => this.#clock.now();

  /** Removes what may be removed, once a day. */
  look(): void {
    const { keepDays, keepRefusedDays, isLocked = () => true } = this.#options;
    const nowMs = this.now();
    if (this.#monotonic() - this.#notedMs > NOTE_MS) void this.note();
    const trusted = (days: number): number => (this.#clock.steadyMs < days * DAY_MS ? 0 : days);
    const keep = { keepDays: trusted(keepDays), keepRefusedDays: trusted(keepRefusedDays) };
    const what = `${dayOf(nowMs)} ${keep.keepDays} ${keep.keepRefusedDays}`;
    if (what === this.#done || !isLocked()) return;
    this.#done = what;
    removeOldFiles({ ...this.#options, ...keep, now: () => nowMs });
  }

  note(): Promise<void> {
    this.#notedMs = this.#monotonic();
    // One at a time, and none piles up behind a disk that hangs.
    this.#next ??= this.#noting.then(() => {
      this.#next = undefined;
      return this.#write();
    });
    this.#noting = this.#next;
    return this.#next;
  }

  async #write(): Promise<void> {
    const { dir, log, files = systemFiles } = this.#options;
    try {
      const seenMs = this.now();
      const { steadyMs } = this.#clock;
      await writeNote(files, dir, { seenMs, steadyMs, newestDay: newestIn(dir) });
      this.#canNote = true;
    } catch (error) {
      // Nothing is lost but a measure; a disk that is full says so elsewhere.
      if (this.#canNote) log.warn(`Cannot write "${dir}/${RETENTION_NOTE}": ${reasonOf(error)}`);
      this.#canNote = false;
    }
  }

  #sayJump(fromMs: number, toMs: number): void {
    const { keepDays, keepRefusedDays, log } = this.#options;
    // The note is kept all the same, for a later start that removes files.
    if (keepDays === 0 && keepRefusedDays === 0) return;
    const days = plural(Math.max(keepDays, keepRefusedDays), 'more day');
    log.warn(
      `The clock went from ${textOf(fromMs)} to ${textOf(toMs)}, or viewlog did not run in ` +
        `between; no file is removed for its age until viewlog has run for ${days}`,
    );
  }
}

/** `2026-03-01 12:00` */
const textOf = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

const newestIn = (dir: string): string | undefined =>
  [newestDay(dir, 'views'), newestDay(dir, 'refused')]
    .filter((day) => day !== undefined)
    .sort()
    .at(-1);

/** The latest time that is known to have been, by a clock that may have been wrong. */
function lastSeenMs(dir: string, note: RetentionNote | undefined): number | undefined {
  const newest = newestIn(dir);
  const times = [note?.seenMs, newest === note?.newestDay ? undefined : Date.parse(newest ?? '')];
  const known = times.filter((ms) => ms !== undefined && !Number.isNaN(ms)) as number[];
  return known.length === 0 ? undefined : Math.max(...known);
}

/**
 * Removes daily files that are too old, going by their names alone. Names that are not exactly a
 * daily file's are never touched, nor what is no plain file.
 */
export function removeOldFiles({
  dir,
  keepDays,
  keepRefusedDays,
  now,
  log,
}: Pick<RetentionOptions, 'dir' | 'keepDays' | 'keepRefusedDays' | 'now' | 'log'>): void {
  try {
    if (keepDays > 0) {
      // Not by the clock alone: of a site with few views the last N days with any are kept.
      const days = daysIn(dir, 'views').slice(0, -keepDays);
      remove(dir, 'views', isOlder(days, keepDays, now()), log);
    }
    if (keepRefusedDays > 0) {
      // By the clock alone: they do not come every day, and must not stay for years.
      remove(dir, 'refused', isOlder(daysIn(dir, 'refused'), keepRefusedDays, now()), log);
    }
  } catch (error) {
    log.warn(`Cannot look for old files in "${dir}": ${reasonOf(error)}`);
  }
}

const isOlder = (days: readonly string[], keepDays: number, nowMs: number): string[] => {
  const todayMs = Date.parse(dayOf(nowMs));
  return days.filter((day) => todayMs - Date.parse(day) > keepDays * DAY_MS);
};

function remove(dir: string, kind: FileKind, days: readonly string[], log: Log): void {
  let removed = 0;
  for (const day of days) {
    const path = `${dir}/${fileNameOf(kind, day)}`;
    try {
      if (!fs.lstatSync(path).isFile()) continue;
      fs.unlinkSync(path);
      removed += 1;
      if (kind === 'refused') fs.rmSync(replayRecordOf(path), { force: true });
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') log.warn(`Cannot remove "${path}": ${reasonOf(error)}`);
    }
  }
  if (removed === 0) return;
  log.info(`Removed ${plural(removed, `${kind} file`)} from "${dir}", up to ${days.at(-1)}`);
}
