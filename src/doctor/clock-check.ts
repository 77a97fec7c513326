import { plural } from '../base/format.ts';
import { DAY_MS, dayOf, MINUTE_MS } from '../base/time.ts';
import { newestDay } from '../disk/directory.ts';
import { readNote } from '../disk/retention-note.ts';
import { doubtful, type Finding, well } from './finding.ts';

/** Before this version was made. */
const EARLIEST_MS = Date.UTC(2026, 0);
const BEHIND_MS = 5 * MINUTE_MS;

/** @param data undefined where there are no files. */
export function checkClock(data: string | undefined, keepDays: number, nowMs: number): Finding {
  const told = `It is ${timeOf(nowMs)}`;
  const doubt = doubtAbout(data, keepDays, nowMs);
  if (doubt === undefined) return well('clock', told);
  const why = 'the clock names the files, is in every line, and says which files are old';
  return doubtful('clock', `${told}, but ${doubt}`, why, 'Have it kept by NTP: timedatectl');
}

export const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function doubtAbout(data: string | undefined, keepDays: number, nowMs: number): string | undefined {
  if (nowMs < EARLIEST_MS) return 'this program is newer than that';
  if (data === undefined) return undefined;
  const newest = newestDay(data, 'views');
  if (newest !== undefined && newest > dayOf(nowMs)) return `there are views of ${newest}`;
  const { seenMs = 0, steadyMs = Infinity } = readNote(data) ?? {};
  if (seenMs > nowMs + BEHIND_MS) return `viewlog ran here at ${timeOf(seenMs)}`;
  const leftDays = Math.ceil(keepDays - steadyMs / DAY_MS);
  if (leftDays <= 0) return undefined;
  return `it has jumped, so --keep-days removes nothing for ${plural(leftDays, 'day')} more`;
}
