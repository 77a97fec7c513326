import { formatRoundedSize, formatSize, plural } from '../base/format.ts';
import * as fs from 'node:fs';
import { errnoOf } from '../base/exit.ts';
import { DAY_MS, dayOf } from '../base/time.ts';
import { daysIn } from '../disk/directory.ts';
import { fileNameOf } from '../disk/names.ts';
import { systemFiles } from '../disk/ops.ts';
import { doubtful, type Finding, toBeMended, well } from './finding.ts';
import type { Installation } from './installation.ts';

const CHECK = 'free space';

const RECENT_DAYS = 7;
const DAYS_LEFT_MIN = 14;

type Options = Pick<Installation, 'data' | 'min-free' | 'keep-days'>;

/** The free bytes of the directory's file system; undefined where nothing tells. */
export async function freeBytes(data: string): Promise<number | undefined> {
  try {
    return await systemFiles.freeBytes(data);
  } catch (error) {
    if (errnoOf(error) === undefined || errnoOf(error) === 'ENOSYS') return undefined;
    throw error;
  }
}

/** Whether there is room, and for how long by the growth of the last days. */
export async function checkSpace(
  options: Options,
  free: number | undefined,
  nowMs: number,
): Promise<Finding> {
  const { data, 'min-free': minFree, 'keep-days': keepDays } = options;
  if (free === undefined) {
    const todo = 'For Deno: --allow-sys=statfs';
    return doubtful(CHECK, 'Nothing tells the free space', 'so --min-free is off', todo);
  }
  const what = `${formatRoundedSize(free)} free, --min-free ${formatSize(minFree)}`;
  const todo = 'Remove old view files that are shipped, never the newest; or use --keep-days';
  if (free < minFree) return toBeMended(CHECK, what, 'every view is refused with 503', todo);
  if (free < 2 * minFree) return doubtful(CHECK, what, 'soon every view is refused', todo);
  const days = await daysIn(systemFiles, data, 'views');
  const perDay = bytesPerDay(data, days, nowMs);
  // With --keep-days as many files go as come.
  if (perDay === 0 || (keepDays > 0 && days.length >= keepDays)) return well(CHECK, what);
  const left = Math.floor((free - minFree) / perDay);
  const lasts = `${what}: ${left > 3650 ? 'more than 10 years' : plural(left, 'day')} at ${formatRoundedSize(perDay)} a day`;
  if (left >= DAYS_LEFT_MIN) return well(CHECK, lasts);
  return doubtful(CHECK, lasts, 'then every view is refused', todo);
}

/** By the files of the last whole days. */
function bytesPerDay(data: string, all: readonly string[], nowMs: number): number {
  const [from, today] = [dayOf(nowMs - RECENT_DAYS * DAY_MS), dayOf(nowMs)];
  const days = all.filter((day) => day >= from && day < today);
  const sizes = days.map(
    (day) =>
      fs.statSync(`${data}/${fileNameOf('views', day)}`, { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0) / (sizes.length || 1);
}
