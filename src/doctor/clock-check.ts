import { dayOf } from '../base/time.ts';
import { newestDay } from '../disk/directory.ts';
import { systemFiles } from '../disk/ops.ts';
import { doubtful, type Finding, well } from './finding.ts';

/** Before this version was made. */
const EARLIEST_MS = Date.UTC(2026, 0);

/** @param data undefined where there are no files. */
export async function checkClock(data: string | undefined, nowMs: number): Promise<Finding> {
  const told = `It is ${timeOf(nowMs)}`;
  const doubt = await doubtAbout(data, nowMs);
  if (doubt === undefined) return well('clock', told);
  const why = 'the clock names the files, is in every line, and says which files are old';
  return doubtful('clock', `${told}, but ${doubt}`, why, 'Have it kept by NTP: timedatectl');
}

export const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

async function doubtAbout(data: string | undefined, nowMs: number): Promise<string | undefined> {
  if (nowMs < EARLIEST_MS) return 'this program is newer than that';
  if (data === undefined) return undefined;
  const newest = await newestDay(systemFiles, data, 'views');
  if (newest !== undefined && newest > dayOf(nowMs)) return `there are views of ${newest}`;
  return undefined;
}
