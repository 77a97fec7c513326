import * as fs from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { basename } from 'node:path';
import { dayOf, within } from '../base/time.ts';
import { LOCK_NAME } from '../disk/lock.ts';
import { ARCHIVE_RECORD, dayOfFileName, FILE_KINDS, fileNameOf } from '../disk/names.ts';
import { ifPresent } from '../disk/ops.ts';
import {
  ENTER,
  gidOfCopies,
  isPermitted,
  type Owner,
  ownerIn,
  WRITE,
} from '../installation/accounts.ts';
import { unreachable } from '../installation/commands.ts';
import { lookAround } from '../status/look-around.ts';
import type { ServeSettings } from '../settings.ts';

export type Inside = Awaited<ReturnType<typeof lookInside>>;

/**
 * The directory's contents, or the `fault` that prevents reading the directory. If both are
 * missing, so is the directory.
 */
export interface Probed {
  readonly inside?: Inside;
  readonly fault?: unknown;
}

/**
 * Examines the data directory. Never rejects.
 * @param read the files that viewlog only reads, as the operator named them.
 * @param runner the account that runs viewlog, or last ran it, if that is known.
 */
export async function probeDisk(
  dir: string,
  read: readonly string[],
  settings: ServeSettings,
  nowMs: number,
  runner?: Owner,
): Promise<Probed> {
  try {
    const stats = await ifPresent(fs.stat(dir));
    return stats === undefined
      ? {}
      : { inside: await lookInside(dir, stats, read, settings, nowMs, runner) };
  } catch (fault) {
    return { fault };
  }
}

async function lookInside(
  dir: string,
  stats: Stats,
  read: readonly string[],
  settings: ServeSettings,
  nowMs: number,
  runner: Owner | undefined,
) {
  const directory = rightsOf(stats);
  const names = (await fs.readdir(dir)).filter(isOpened);
  const files = await filesAt(names.map((name) => `${dir}/${name}`));
  const keepDays = { views: settings['keep-days'], refused: settings['keep-refused-days'] };
  const today = `${dir}/${fileNameOf('views', dayOf(nowMs))}`;
  const seen = await lookAround(dir, keepDays, nowMs, runner);
  const account = seen.closedDirectory ? undefined : accountIn(directory, files);
  // A disk that is nearly full isn't tested by writing.
  const isFull = (seen.fileSystem?.freeBytes ?? Infinity) < settings['min-free'];
  return {
    ...seen,
    directory,
    /** The files that viewlog writes, and its lock. */
    files,
    read: await filesAt(read),
    /**
     * True: something other than a file has the name of today's file. viewlog follows a link, and
     * creates its target if it is missing.
     */
    isBlocked: (await fs.stat(today).catch(() => undefined))?.isFile() === false,
    account,
    /** The directory's group, if root has copied files into the account's directory. */
    copiesGid: account && gidOfCopies(account, dir),
    /** Why the account can't reach one of the files. */
    closed: account && unreachable(account, [dir, ...read]),
    /** How long each write and sync took, in milliseconds, or the error that prevented them. */
    writing: isFull ? [] : await writeTimes(dir).catch((error: Error) => error),
  };
}

const OTHERS = new Set(['status.json', ARCHIVE_RECORD, LOCK_NAME]);

/** Returns whether viewlog opens a file of this name. */
const isOpened = (name: string): boolean =>
  OTHERS.has(name) || FILE_KINDS.some((kind) => dayOfFileName(kind, name) !== undefined);

/** A file's owner, group and mode. */
export type Rights = Pick<Stats, 'uid' | 'gid' | 'mode'>;
const rightsOf = ({ uid, gid, mode }: Stats): Rights => ({ uid, gid, mode });

/**
 * Returns the files that this user can look at. Follows no link: a command for its target would
 * give away a file that the link's owner chose.
 */
async function filesAt(paths: readonly string[]) {
  const looks = paths.map(async (path) => {
    const found = await fs.lstat(path).catch(() => undefined);
    return found === undefined ? [] : [{ path, name: basename(path), ...rightsOf(found) }];
  });
  return (await Promise.all(looks)).flat();
}

/**
 * Returns the account that viewlog runs as: the owner of its files, if that account can create
 * files in the directory. Ignores root's files in another user's directory: viewlog refuses to run
 * there as root, so root may have restored them. `undefined` if the account is unclear.
 */
export function accountIn(
  directory: Rights,
  files: readonly (Rights & { readonly name: string })[],
): Owner | undefined {
  const telling = files.filter(({ uid }) => uid > 0 || directory.uid === 0);
  const owners = new Set(telling.map(({ uid }) => uid));
  const lock = telling.find(({ name }) => name === LOCK_NAME);
  const isOne = owners.size <= 1 || lock?.uid === directory.uid;
  const owner = isOne ? ownerIn(lock ?? telling[0] ?? directory) : undefined;
  return owner && isPermitted(owner, directory, WRITE | ENTER) ? owner : undefined;
}

const WRITES = 15;
const TIMEOUT_MS = 5_000;
const LINE = Buffer.alloc(512, 0x20);

/**
 * Returns how long each write and sync took, in milliseconds; stops after 5 s.
 * @throws if not even one write and sync was done in that time.
 */
async function writeTimes(dir: string): Promise<readonly number[]> {
  const times: number[] = [];
  await within(TIMEOUT_MS, writeAndSync(`${dir}/.viewlog-doctor-${process.pid}`, times));
  if (times.length === 0) throw new Error(`no write and sync was done in ${TIMEOUT_MS / 1000} s`);
  return [...times];
}

/** Writes to a file that is unlinked immediately, so that it disappears with this process. */
async function writeAndSync(path: string, times: number[]): Promise<void> {
  const file = await fs.open(path, 'wx', 0o600);
  try {
    await fs.unlink(path);
    for (let i = 0; i < WRITES; i++) {
      const begunMs = performance.now();
      await file.write(LINE);
      await file.datasync();
      times.push(performance.now() - begunMs);
    }
  } finally {
    await file.close();
  }
}
