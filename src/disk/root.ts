// Refuses to run as root in the directory of a service. A collector that root runs there would
// leave files that the service's own user can't write to.
import type { Stats } from 'node:fs';
import { EXIT, Fatal } from '../base/exit.ts';
import { type Owner, ownerIn, ownerOf, ownUid } from '../installation/accounts.ts';

/** Returns this command line as that user would run it; `undefined` if it contains a secret. */
export type AsOwner = (owner: Owner) => string | undefined;

/**
 * Returns this command line for the directory's owner; `undefined` if this process runs as that
 * user, or if there is no such line.
 */
export async function asOwnerOf(dir: string, asOwner?: AsOwner): Promise<string | undefined> {
  const owner = await ownerOf(dir);
  return owner === undefined || owner.uid === ownUid() ? undefined : asOwner?.(owner);
}

/**
 * Refuses root in another user's directory.
 * @param made a file that this process has just created: Deno might not reveal its own user.
 * @throws {Fatal} exit 73 if the file is root's and the directory another user's.
 */
export function refuseRoot(dir: string, made: Stats, directory: Stats, asOwner?: AsOwner): void {
  if (made.uid !== 0 || directory.uid === 0) return;
  const owner = ownerIn(directory);
  const fix = asOwner?.(owner) ?? 'run it as that user';
  throw new Fatal(
    EXIT.cannotCreate,
    `"${dir}" belongs to user ${owner.name}, so viewlog refuses to run there as root; ${fix}`,
  );
}
