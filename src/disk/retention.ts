import { DAY_MS, dayOf } from '../base/time.ts';
import * as fs from 'node:fs';
import { errnoOf, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { plural } from '../base/text.ts';
import { daysIn } from './directory.ts';
import { fileNameOf, replayRecordOf, type FileKind } from './names.ts';

export interface RetentionOptions {
  readonly dir: string;
  /** 0: for ever. */
  readonly keepDays: number;
  /** 0: for ever. */
  readonly keepRefusedDays: number;
  readonly now: () => number;
  readonly log: Log;
}

const LOOK_MS = 60_000;

/** Removes old files now, and whenever a day begins. */
export function startRetention(options: RetentionOptions): { stop(): void } {
  let done: string | undefined;
  const look = (): void => {
    const today = dayOf(options.now());
    if (today === done) return;
    done = today;
    removeOldFiles(options);
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
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
}: RetentionOptions): void {
  try {
    if (keepDays > 0) {
      // Not by the clock alone: one that is years ahead would remove everything.
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
