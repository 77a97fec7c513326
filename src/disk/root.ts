// Refuses to run as root in the directory of a service. A collector that root runs there would
// leave files that the service's own user cannot write to.
import * as fs from 'node:fs';
import { EXIT, Fatal } from '../base/exit.ts';
import { echo, shellQuoted } from '../base/text.ts';
import { isService, ownerIn, userName } from '../installation/accounts.ts';

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

/**
 * Returns the service account that owns the directory, for `sudo -u`: `viewlog`, `#998`.
 * `undefined` if root or a person owns it, or if it cannot be looked at.
 */
export function accountOf(dir: string): string | undefined {
  try {
    const owner = ownerIn(fs.statSync(dir));
    return isService(owner) ? owner.name : undefined;
  } catch {
    return undefined;
  }
}
