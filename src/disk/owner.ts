import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf, reasonOf } from '../base/exit.ts';
import type { FileOps } from './ops.ts';

// What root makes in the directory of a service belongs to the service: a run by root, however it
// ended, must not keep the service's own user from anything. That it is root who runs is known by
// whom the new file belongs to: Deno would have to be allowed to tell its user.

export type Warn = (message: string) => void;

interface Made {
  readonly dev: number;
  readonly ino: number;
  readonly uid: number;
}

/** Gives a socket or a directory that was just made to the owner of the directory it is in. */
export function giveToOwnerOf(dir: string, path: string, warn: Warn): void {
  // Never through a link: whoever owns the directory may have put one there.
  give(
    dir,
    path,
    warn,
    () => fs.lstatSync(path),
    (uid, gid) => fs.lchownSync(path, uid, gid),
  );
}

/** The same for a file, by its descriptor. */
export function giveOpenFileToOwnerOf(dir: string, path: string, fd: number, warn: Warn): void {
  give(
    dir,
    path,
    warn,
    () => fs.fstatSync(fd),
    (uid, gid) => fs.fchownSync(fd, uid, gid),
  );
}

function give(
  dir: string,
  path: string,
  warn: Warn,
  look: () => Made,
  chown: (uid: number, gid: number) => void,
): void {
  try {
    const owner = fs.statSync(dir);
    if (isToBeGiven(path, look(), owner)) chown(owner.uid, owner.gid);
  } catch (error) {
    // No errno: Deno may not look at the directory that a new data directory is made in.
    if (errnoOf(error) !== undefined) warn(cannotGive(path, error));
  }
}

/** The same for a file that was opened through `FileOps`. */
export async function giveOpenedToOwner(
  files: FileOps,
  fd: number,
  path: string,
  warn: Warn,
): Promise<void> {
  try {
    const made = await files.fstat(fd);
    const owner = await files.stat(dirname(path));
    if (isToBeGiven(path, made, owner)) await files.fchown(fd, owner.uid, owner.gid);
  } catch (error) {
    warn(cannotGive(path, error));
  }
}

/** Root's, and really in that directory: not what a link leads to, nor another name of a file. */
function isToBeGiven(path: string, made: Made, owner: { readonly uid: number }): boolean {
  if (made.uid !== 0 || owner.uid === 0) return false;
  const named = fs.lstatSync(path);
  const isOnly = named.nlink === 1 || named.isDirectory();
  return named.dev === made.dev && named.ino === made.ino && isOnly;
}

const cannotGive = (path: string, error: unknown): string =>
  `Cannot give "${path}" to the owner of its directory: ${reasonOf(error)}; ` +
  'without that only root can write there';

/** How to mend that a file is not the directory's owner's; nothing where it is, or nobody tells. */
export function ownerMend(path: string): string | undefined {
  try {
    const file = fs.lstatSync(path);
    const owner = fs.statSync(dirname(path));
    if (file.uid === owner.uid) return undefined;
    return (
      `it belongs to user ${file.uid} and its directory to user ${owner.uid}; ` +
      `give it to that one: sudo chown ${owner.uid}:${owner.gid} '${path}'`
    );
  } catch {
    return undefined;
  }
}

/** Below, and in systemd's range for services of no lasting user, nobody logs in. */
const isService = (uid: number): boolean =>
  (uid > 0 && uid < 1000) || (uid >= 61_184 && uid <= 65_534);

/**
 * The service account that the directory belongs to, as `sudo -u` takes it: `viewlog`, `#998`.
 * @returns `undefined` where it is root's or a person's, or nobody tells.
 */
export function accountOf(dir: string): string | undefined {
  try {
    const { uid } = fs.statSync(dir);
    return isService(uid) ? userName(uid) : undefined;
  } catch {
    return undefined;
  }
}

/** The user's name, or `#4711`, which `sudo -u` takes too, where nothing tells it. */
export function userName(uid: number): string {
  try {
    const line = fs
      .readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.split(':')[2] === String(uid));
    const [name = ''] = line?.split(':') ?? [];
    if (/^[\w.-]+$/.test(name)) return name;
  } catch {
    // Deno may not read it.
  }
  return `#${uid}`;
}
