import * as fs from 'node:fs/promises';
import { dayOf } from '../base/time.ts';
import { ENOUGH } from '../disk/free-space.ts';
import { dayOfFileName, type FileKind, fileNameOf } from '../disk/names.ts';
import { fileSystemOf, systemFiles } from '../disk/ops.ts';
import { type KeepDays, overdueFiles } from '../disk/retention.ts';
import {
  ENTER,
  gidOfCopies,
  isPermitted,
  type Owner,
  ownerIn,
  ownerOf,
  READ,
  userName,
  WRITE,
} from '../installation/accounts.ts';

/** The files as the page shows them, read when somebody looks at it. */
export type FilesSeen = Awaited<ReturnType<typeof lookAround>>;

const DAYS_MAX = 7;

/**
 * Reads the data directory, if there is one. Never rejects: what can't be read is left out.
 * @param account viewlog's own, if it is known.
 */
export async function lookAround(dir = '', keepDays: KeepDays, nowMs: number, account?: Owner) {
  const names = await systemFiles.list(dir).catch(() => []);
  const daysOf = (kind: FileKind): readonly string[] =>
    names.flatMap((name) => dayOfFileName(kind, name) ?? []).sort();
  const [viewDays, refusedDays] = [daysOf('views'), daysOf('refused')];
  const closed = await closedFiles(dir, refusedDays, account);
  const isAnyRoots = closed.some(({ owner }) => owner.uid === 0);
  return {
    closedDirectory: await closedDirectory(dir, names, account).catch(() => undefined),
    fileSystem: await fileSystemOf(dir).catch(() => undefined),
    /** Average size of a view file, over the last complete days. */
    bytesPerDay: await bytesPerDay(dir, viewDays, nowMs).catch(() => undefined),
    /** The days of the view files, ascending. */
    viewDays,
    /** The days of the files of refused views. */
    refusedDays,
    /** Files of refused views that the account can't read or add to, with their owners. */
    closedFiles: closed,
    /** The directory's group, if some of these are among files that root has copied. */
    copiesGid: account && isAnyRoots ? gidOfCopies(account, dir) : undefined,
    /** The names of files that should have been removed by now. */
    overdue: overdueFiles(names, keepDays, nowMs),
  };
}

async function closedFiles(dir: string, days: readonly string[], account: Owner | undefined) {
  const files = days.map(async (day) => {
    const path = `${dir}/${fileNameOf('refused', day)}`;
    const stats = account && (await fs.stat(path).catch(() => undefined));
    const bits = day === days.at(-1) ? READ | WRITE : READ;
    const isClosed = stats !== undefined && !isPermitted(account!, stats, bits);
    return isClosed ? [{ day, path, owner: ownerIn(stats) }] : [];
  });
  return (await Promise.all(files)).flat();
}

/** A directory in which viewlog's account can't create files. */
export type ClosedDirectory = Awaited<ReturnType<typeof closedDirectory>>;

async function closedDirectory(dir: string, names: readonly string[], account: Owner | undefined) {
  if (account === undefined) return undefined;
  const stats = await fs.stat(dir);
  if (isPermitted(account, stats, WRITE | ENTER)) return undefined;
  const { uid, mode } = stats;
  const owners = await Promise.all(names.map((name) => ownerOf(`${dir}/${name}`)));
  const isAllOf = (one: number): boolean =>
    owners.every((owner) => owner === undefined || owner.uid === one);
  /**
   * True: another account owns the directory, and either that account or viewlog's owns everything
   * that can be seen in it.
   */
  const isGivenAway = uid !== account.uid && (isAllOf(uid) || isAllOf(account.uid));
  return { account, owner: userName(uid), mode, isGivenAway };
}

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
  /**
   * The days until `--min-free` is reached, estimated from the last complete days; `undefined`
   * before the first complete day.
   */
  readonly daysLeft: number | undefined;
  /** The most space that could be free on it. */
  readonly sizeBytes: number;
  /** How much more must be free; 0: nothing. */
  readonly missingBytes: number;
  /** False: no file can be created, however much space is free. */
  readonly hasInodes: boolean;
}

/**
 * Returns `undefined` if the free space is unknown.
 * @param isLow whether viewlog refuses views for lack of space.
 */
export function spaceOf(
  { fileSystem, bytesPerDay }: Pick<FilesSeen, 'fileSystem' | 'bytesPerDay'>,
  minFreeBytes: number,
  isLow: boolean,
): Space | undefined {
  if (fileSystem === undefined) return undefined;
  const { freeBytes, sizeBytes, hasInodes } = fileSystem;
  const isFull = isLow || freeBytes < Math.max(1, minFreeBytes);
  const missingBytes = isFull ? Math.max(1, minFreeBytes * ENOUGH - freeBytes) : 0;
  const spareBytes = Math.max(0, freeBytes - minFreeBytes);
  const daysLeft = bytesPerDay ? spareBytes / bytesPerDay : undefined;
  return { freeBytes, sizeBytes, daysLeft, missingBytes, hasInodes };
}
