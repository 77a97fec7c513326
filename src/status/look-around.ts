// A named import would keep an old Deno, which has no `statfs`, from starting.
import * as fs from 'node:fs/promises';
import { DAY_MS, dayOf } from '../base/time.ts';
import { daysAmong } from '../disk/directory.ts';
import { fileNameOf, type FileKind } from '../disk/names.ts';
import { overdueDays } from '../disk/retention.ts';
import { diskRemedy } from '../view/remedy.ts';

/** The files as the page shows them, read when somebody looks at it. */
export interface FilesSeen {
  /** Average size of a view file, over the last complete days. */
  readonly bytesPerDay?: number | undefined;
  /** The kernel's number of the type, and the bytes that users may still write. */
  readonly fileSystem?: { readonly type: number; readonly freeBytes: number } | undefined;
  /** The most that could be free on it. */
  readonly sizeBytes?: number | undefined;
  /** The days of the view files, ascending. */
  readonly viewDays: readonly string[];
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
  const days = { views: daysAmong(names, 'views'), refused: daysAmong(names, 'refused') };
  const overdue = (kind: FileKind): string[] =>
    overdueDays(days[kind], keepDays[kind], nowMs).map((day) => fileNameOf(kind, day));
  return {
    ...(dir && (await fileSystemOf(dir).catch(() => undefined))),
    bytesPerDay: await bytesPerDay(dir ?? '', days.views, nowMs).catch(() => undefined),
    viewDays: days.views,
    refusedDays: days.refused,
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

async function fileSystemOf(dir: string) {
  const { type, blocks, bfree, bavail, bsize } = await fs.statfs(dir);
  const fileSystem = { type, freeBytes: bavail * bsize };
  return { fileSystem, sizeBytes: (blocks - (bfree - bavail)) * bsize };
}

export type Space = ReturnType<typeof spaceOf>;

/** Judges the free space of the data directory's disk; nothing is known without `freeBytes`. */
export function spaceOf(
  freeBytes: number | undefined,
  minFreeBytes: number,
  { bytesPerDay, sizeBytes = Infinity }: Pick<FilesSeen, 'bytesPerDay' | 'sizeBytes'>,
) {
  const disk = freeBytes === undefined ? undefined : { sizeBytes, freeBytes, minFreeBytes };
  const spareBytes = Math.max(0, (freeBytes ?? 0) - minFreeBytes);
  return {
    freeBytes,
    minFreeBytes,
    /** The days until the disk is full, by the last complete days. */
    daysLeft: disk && bytesPerDay ? spareBytes / bytesPerDay : undefined,
    remedy: disk && diskRemedy(disk),
  };
}
