// A named import would keep an old Deno, which has no `statfs`, from starting.
import * as fs from 'node:fs/promises';
import { dayOf } from '../base/time.ts';
import { daysIn } from '../disk/directory.ts';
import { fileNameOf } from '../disk/names.ts';
import { fileSystemOf, systemFiles } from '../disk/ops.ts';
import { overdueFiles } from '../disk/retention.ts';
import { type DiskRemedy, diskRemedy } from '../view/remedy.ts';
import type { ShownSettings } from './shown-settings.ts';

/** The files as the page shows them, read when somebody looks at it. */
export type FilesSeen = Awaited<ReturnType<typeof lookAround>>;

const DAYS_MAX = 7;

/** Reads the data directory, if there is one. Never rejects: what cannot be read is left out. */
export async function lookAround(place: Looked, nowMs: number) {
  const { data: dir = '', 'keep-days': keepDays, 'keep-refused-days': keepRefusedDays } = place;
  const names = await systemFiles.list(dir).catch(() => []);
  const viewDays = await daysIn(systemFiles, dir, 'views').catch(() => []);
  const refusedDays = await daysIn(systemFiles, dir, 'refused').catch(() => []);
  return {
    fileSystem: await fileSystemOf(dir).catch(() => undefined),
    /** Average size of a view file, over the last complete days. */
    bytesPerDay: await bytesPerDay(dir, viewDays, nowMs).catch(() => undefined),
    /** The days of the view files, ascending. */
    viewDays,
    /** The days of the files of refused views. */
    refusedDays,
    /** The names of files that should have been removed by now. */
    overdue: overdueFiles(names, { views: keepDays, refused: keepRefusedDays }, nowMs),
  };
}

type Looked = Pick<ShownSettings, 'data' | 'keep-days' | 'keep-refused-days'>;

/** The first day is left out, because viewlog may have started in the middle of it. */
async function bytesPerDay(dir: string, [, ...days]: readonly string[], nowMs: number) {
  const complete = days.filter((day) => day < dayOf(nowMs)).slice(-DAYS_MAX);
  const sizes = complete.map(
    async (day) => (await fs.stat(`${dir}/${fileNameOf('views', day)}`)).size,
  );
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  return complete.length === 0 ? undefined : bytes / complete.length;
}

/** The free space of the data directory's disk. */
export interface Space {
  readonly freeBytes: number;
  /** The days until the disk is full, by the last complete days; `undefined` before the first. */
  readonly daysLeft: number | undefined;
  /** The remedy for too little of it; `undefined` if there is enough. */
  readonly remedy: DiskRemedy | undefined;
}

/** Returns `undefined` if the free space is unknown. */
export function spaceOf(
  { fileSystem, bytesPerDay }: Pick<FilesSeen, 'fileSystem' | 'bytesPerDay'>,
  minFreeBytes: number,
): Space | undefined {
  if (fileSystem === undefined) return undefined;
  const { freeBytes } = fileSystem;
  const spareBytes = Math.max(0, freeBytes - minFreeBytes);
  const daysLeft = bytesPerDay ? spareBytes / bytesPerDay : undefined;
  return { freeBytes, daysLeft, remedy: diskRemedy({ ...fileSystem, minFreeBytes }) };
}
