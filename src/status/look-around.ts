// A named import would keep an old Deno, which has no `statfs`, from starting.
import * as fs from 'node:fs/promises';
import { DAY_MS, dayOf } from '../base/time.ts';
import { daysAmong } from '../disk/directory.ts';
import { fileNameOf, type FileKind } from '../disk/names.ts';
import { overdueDays } from '../disk/retention.ts';

/** The files as the page shows them, read when somebody looks at it. */
export interface FilesSeen {
  /** Average size of a view file, over the last complete days. */
  readonly bytesPerDay?: number | undefined;
  /** The most that could be free on the file system of the data directory. */
  readonly sizeBytes?: number | undefined;
  /** The days of the files of refused views. */
  readonly refusedDays: readonly string[];
  /** The names of files that should have been removed by now. */
  readonly overdue: readonly string[];
}

const DAYS_MAX = 7;

/**
 * Reads the directory. Never rejects: what cannot be read is left out.
 * @param dir the data directory, if there is one.
 * @param keepDays the days for which files are kept; 0: forever.
 */
export async function lookAround(
  dir: string | undefined,
  keepDays: Readonly<Record<FileKind, number>>,
  nowMs: number,
): Promise<FilesSeen> {
  const names = dir === undefined ? [] : await fs.readdir(dir).catch(() => []);
  const overdue = (kind: FileKind): string[] =>
    overdueDays(daysAmong(names, kind), keepDays[kind], nowMs).map((day) => fileNameOf(kind, day));
  return {
    bytesPerDay: await bytesPerDay(dir ?? '', daysAmong(names, 'views'), nowMs).catch(
      () => undefined,
    ),
    sizeBytes: dir === undefined ? undefined : await sizeOf(dir).catch(() => undefined),
    refusedDays: daysAmong(names, 'refused'),
    overdue: [...overdue('views'), ...overdue('refused')],
  };
}

/** The first day is left out, because viewlog may have started in the middle of it. */
async function bytesPerDay(
  dir: string,
  [first, ...days]: readonly string[],
  nowMs: number,
): Promise<number | undefined> {
  if (first === undefined) return undefined;
  const today = dayOf(nowMs);
  const complete = Math.round((Date.parse(today) - Date.parse(first)) / DAY_MS) - 1;
  const count = Math.min(DAYS_MAX, complete);
  if (count <= 0) return undefined;
  const from = dayOf(Date.parse(today) - count * DAY_MS);
  const sizes = days
    .filter((day) => day >= from && day < today)
    .map(async (day) => (await fs.stat(`${dir}/${fileNameOf('views', day)}`)).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / count;
}

async function sizeOf(dir: string): Promise<number> {
  const { blocks, bfree, bavail, bsize } = await fs.statfs(dir);
  return (blocks - (bfree - bavail)) * bsize;
}
