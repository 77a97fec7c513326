import * as fs from 'node:fs';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf, reasonOf } from '../base/exit.ts';
import { within } from '../base/time.ts';
import { daysIn } from '../disk/directory.ts';
import { LOCK_NAME } from '../disk/lock.ts';
import { ARCHIVE_RECORD, dayOfFileName } from '../disk/names.ts';
import { systemFiles } from '../disk/ops.ts';
import { type FilesSeen, lookAround } from '../status/look-around.ts';
import type { ShownSettings } from '../status/shown-settings.ts';
import type { Probe } from './finding.ts';

/** What was seen of the data directory. */
export interface Disk {
  /** Why this process cannot write to it, or create it. */
  readonly fault: string | undefined;
  /** `undefined` if there is no directory, or it cannot be looked at. */
  readonly inside: Inside | undefined;
}

interface Owned {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

export interface OwnFile extends Owned {
  readonly name: string;
}

export interface Inside {
  readonly directory: Owned;
  /** The files that viewlog made, or reads. */
  readonly files: Probe<readonly OwnFile[]>;
  /** `undefined` if Linux does not tell. */
  readonly mount: Probe<Mount | undefined>;
  /** The days of view files, ascending. */
  readonly viewDays: readonly string[];
  /** `undefined` if nothing tells. */
  readonly freeBytes: number | undefined;
  readonly around: FilesSeen;
  /** How long each write and sync took, in milliseconds; `undefined` if none was tried. */
  readonly writing: Probe<readonly number[] | undefined>;
}

/** Runs one look. Never rejects. */
export async function probe<T>(look: () => T | Promise<T>): Promise<Probe<T>> {
  try {
    return { seen: await look() };
  } catch (error) {
    return { unseen: reasonOf(error) };
  }
}

export async function probeDisk(
  dir: string,
  settings: ShownSettings,
  nowMs: number,
): Promise<Disk> {
  try {
    const stats = fs.statSync(dir, { throwIfNoEntry: false });
    if (stats === undefined) {
      fs.accessSync(`${existingAbove(dir)}/.`, fs.constants.W_OK);
      return { fault: undefined, inside: undefined };
    }
    if (!stats.isDirectory()) return { fault: "it isn't a directory", inside: undefined };
    const fault = writeFault(dir);
    return { fault, inside: await lookInside(dir, stats, fault === undefined, settings, nowMs) };
  } catch (error) {
    return { fault: reasonOf(error), inside: undefined };
  }
}

function existingAbove(path: string): string {
  const above = dirname(path);
  return above === path || fs.existsSync(above) ? above : existingAbove(above);
}

function writeFault(dir: string): string | undefined {
  try {
    fs.accessSync(dir, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return undefined;
  } catch (error) {
    // No errno: Deno without --allow-sys cannot tell, but writing will.
    return errnoOf(error) === undefined ? undefined : reasonOf(error);
  }
}

async function lookInside(
  dir: string,
  { uid, gid, mode }: Owned,
  isWritable: boolean,
  settings: ShownSettings,
  nowMs: number,
): Promise<Inside> {
  const keepDays = { views: settings['keep-days'], refused: settings['keep-refused-days'] };
  const freeBytes = await systemFiles.freeBytes(dir).catch(() => undefined);
  // A disk that is nearly full is not written to.
  const canWrite = isWritable && (freeBytes ?? Infinity) >= settings['min-free'];
  return {
    directory: { uid, gid, mode },
    files: await probe(() => ownFiles(dir)),
    mount: await probe(() => {
      return mountOf(fs.realpathSync(dir), fs.readFileSync('/proc/self/mounts', 'utf8'));
    }),
    viewDays: await daysIn(systemFiles, dir, 'views').catch(() => []),
    freeBytes,
    around: await lookAround(dir, keepDays, nowMs),
    writing: await probe(() => (canWrite ? writeTimes(dir) : undefined)),
  };
}

const ownFiles = (dir: string): OwnFile[] =>
  fs
    .readdirSync(dir)
    .filter(isOwn)
    .sort()
    .map((name) => {
      const { uid, gid, mode } = fs.lstatSync(`${dir}/${name}`);
      return { name, uid, gid, mode };
    });

const isOwn = (name: string): boolean =>
  dayOfFileName('views', name) !== undefined ||
  dayOfFileName('refused', name) !== undefined ||
  name.startsWith(LOCK_NAME) ||
  ['projects.json', 'status.json', ARCHIVE_RECORD].includes(name);

export interface Mount {
  readonly type: string;
  readonly isWithoutJournal: boolean;
}

/** Returns the mount that a path is on: the deepest above it, and the last of these. */
export function mountOf(path: string, mounts: string): Mount | undefined {
  let found: Mount | undefined;
  let depth = 0;
  for (const line of mounts.split('\n').filter(Boolean)) {
    const [device = '', at = '', type = ''] = line.split(' ').map(unescaped);
    const isAbove = at === '/' || path === at || path.startsWith(`${at}/`);
    if (!isAbove || at.length < depth) continue;
    const isWithoutJournal = type === 'ext2' || (type === 'ext4' && hasNoJournal(device));
    found = { type, isWithoutJournal };
    depth = at.length;
  }
  return found;
}

/** Spaces are written as `\040`. */
const unescaped = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));

function hasNoJournal(device: string): boolean {
  try {
    const name = basename(fs.realpathSync(device));
    return fs.readFileSync(`/sys/fs/ext4/${name}/journal_task`, 'utf8').trim() === '<none>';
  } catch {
    // /dev/root and the like do not name a device.
    return false;
  }
}

export const WRITES = 15;
export const WRITES_TIMEOUT_MS = 5_000;
const write = promisify(fs.write);
const fdatasync = promisify(fs.fdatasync);
const LINE = Buffer.alloc(512, 0x20);
/** Linux's O_TMPFILE, which Node does not name: a file in the directory that has no name. */
const O_TMPFILE = 0o20000000 | fs.constants.O_DIRECTORY;

/** Writes to a file without a name, or with one for an instant; it is gone with this process. */
async function writeTimes(dir: string): Promise<readonly number[]> {
  const times: number[] = [];
  await within(WRITES_TIMEOUT_MS, writeAndSync(dir, times));
  return [...times];
}

async function writeAndSync(dir: string, times: number[]): Promise<void> {
  const fd = openNameless(dir);
  try {
    for (let i = 0; i < WRITES; i++) {
      const begunMs = performance.now();
      await write(fd, LINE);
      await fdatasync(fd);
      times.push(performance.now() - begunMs);
    }
  } finally {
    fs.closeSync(fd);
  }
}

function openNameless(dir: string): number {
  try {
    return fs.openSync(dir, O_TMPFILE | fs.constants.O_RDWR, 0o600);
  } catch {
    // Not Linux, not Node, or a file system without such files.
  }
  const path = `${dir}/.viewlog-doctor-${process.pid}`;
  const fd = fs.openSync(path, 'wx', 0o600);
  fs.unlinkSync(path);
  return fd;
}
