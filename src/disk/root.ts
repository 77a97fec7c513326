// Refuses to run as root in the directory of a service. A collector that root runs there would
// leave files that the service's own user cannot write to.
import * as fs from 'node:fs';
import { EXIT, Fatal } from '../base/exit.ts';
import { echo, shellQuoted } from '../base/text.ts';

/**
 * Refuses root in another user's directory.
 * @param made a file that this process has just made: Deno might not reveal its own user.
 * @throws {Fatal} exit 73 if the file is root's and the directory another user's.
 */
export function refuseRoot(dir: string, made: fs.Stats, directory: fs.Stats): void {
  if (made.uid !== 0 || directory.uid === 0) return;
  const user = userName(directory.uid);
  throw new Fatal(
    EXIT.cannotCreate,
    `"${dir}" belongs to user ${user}, and viewlog does not run there as root; ` +
      `run it as that user: ${commandAs(user, process.argv.slice(2))}`,
  );
}

/** Returns a command that runs viewlog as that user. */
export const commandAs = (user: string, args: readonly string[]): string =>
  ['sudo', '-u', user, 'viewlog', ...args].map((arg) => shellQuoted(echo(arg))).join(' ');

/** Service accounts have ids below 1000, or in systemd's range for dynamic users. */
const isService = (uid: number): boolean =>
  (uid > 0 && uid < 1000) || (uid >= 61_184 && uid <= 65_534);

/**
 * Returns the service account that owns the directory, for `sudo -u`: `viewlog`, `#998`.
 * `undefined` if root or a person owns it, or if it cannot be looked at.
 */
export function accountOf(dir: string): string | undefined {
  try {
    const { uid } = fs.statSync(dir);
    return isService(uid) ? userName(uid) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the user's name, or `#4711`, which `sudo -u` accepts too. */
export const userName = (uid: number): string => nameIn('/etc/passwd', uid);

/** Returns the group's name, or `#4712`. */
export const groupName = (gid: number): string => nameIn('/etc/group', gid);

function nameIn(list: string, id: number): string {
  try {
    const line = fs
      .readFileSync(list, 'utf8')
      .split('\n')
      .find((entry) => entry.split(':')[2] === String(id));
    const [name = ''] = line?.split(':') ?? [];
    if (/^[\w.-]+$/.test(name)) return name;
  } catch {
    // Deno may not be allowed to read it.
  }
  return `#${id}`;
}
