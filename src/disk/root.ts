// Root in the directory of a service. A collector that root runs there would leave files that the
// service's own user cannot write to, so viewlog refuses.
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { EXIT, errnoOf, Fatal, reasonOf } from '../base/exit.ts';
import { echo, shellQuoted } from '../base/text.ts';

export type Warn = (message: string) => void;

interface Owned {
  readonly uid: number;
}

/**
 * @param made a file that this process has just made: Deno might not tell its own user.
 * @param args the command line, without the program.
 * @throws {Fatal} exit 73 if that is root's and the directory another user's.
 */
export function refuseRoot(
  dir: string,
  made: Owned,
  { uid }: Owned,
  args: readonly string[] = process.argv.slice(2),
): void {
  if (made.uid !== 0 || uid === 0) return;
  const user = userName(uid);
  const command = ['sudo', '-u', user, 'viewlog', ...args].map((arg) => shellQuoted(echo(arg)));
  throw new Fatal(
    EXIT.cannotCreate,
    `"${dir}" belongs to user ${user}, and viewlog does not run there as root; ` +
      `run it as that user: ${command.join(' ')}`,
  );
}

/** Gives a file that root has just made in a directory to the directory's owner. */
export function giveOpenFileToOwnerOf(dir: string, path: string, fd: number, warn: Warn): void {
  try {
    const owner = fs.statSync(dir);
    const made = fs.fstatSync(fd);
    if (made.uid !== 0 || owner.uid === 0) return;
    // Not what a link leads to, nor another name of a file: the directory's owner may have put it
    // there.
    const named = fs.lstatSync(path);
    if (named.dev !== made.dev || named.ino !== made.ino || named.nlink !== 1) return;
    fs.fchownSync(fd, owner.uid, owner.gid);
  } catch (error) {
    const reason = reasonOf(error);
    // No errno: Deno may not look at a directory that it was not allowed.
    if (errnoOf(error) === undefined) return;
    warn(`Cannot give "${path}" to the owner of its directory: ${reason}; only root can write it`);
  }
}

/** The command that gives a file to its directory's owner. Undefined if that is its owner already. */
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
