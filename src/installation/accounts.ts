// System accounts, as far as the files of this machine show them.
import * as fs from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf, orElse } from '../base/exit.ts';

/** A system account that owns a file. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
  /** `viewlog`; `#998` if its name is unknown. */
  readonly name: string;
}

export const ROOT: Owner = { uid: 0, gid: 0, name: 'root' };

/** Returns the user that this process runs as; `undefined` if Deno lacks the permission. */
export const ownUid = (): number | undefined =>
  orElse(() => (process.geteuid ?? process.getuid)?.(), undefined);

/** Returns the account that this process runs as; `undefined` if Deno lacks the permission. */
export function ownAccount(): Owner | undefined {
  const uid = ownUid();
  return uid === undefined ? undefined : { uid, gid: process.getegid!(), name: userName(uid) };
}

/** Returns the owner of the first of these paths that exists and may be looked at. */
export async function ownerOf(...paths: readonly string[]): Promise<Owner | undefined> {
  for (const path of paths) {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined) return ownerIn(found);
  }
  return undefined;
}

/** Returns the owner in a file's stats. */
export const ownerIn = ({ uid, gid }: Pick<fs.Stats, 'uid' | 'gid'>): Owner => {
  return { uid, gid, name: userName(uid) };
};

/**
 * Returns the account that can replace a file and keep its owner: the owner, or root if the owner
 * can't write to the directory. `undefined` if this user isn't allowed to examine them.
 */
export async function editorOf(path: string): Promise<Owner | undefined> {
  try {
    const real = await realpath(path).catch(() => path);
    const directory = await stat(dirname(real));
    const file = await stat(real).catch((error) => {
      if (errnoOf(error) === 'ENOENT') return directory;
      throw error;
    });
    const owner = ownerIn(file);
    return isPermitted(owner, directory, WRITE | ENTER) ? owner : ROOT;
  } catch {
    return undefined;
  }
}

/**
 * The largest id that `useradd --system` gives. Such accounts often have a login shell, so the
 * shell doesn't show that they are services.
 */
const SYSTEM_IDS_MAX = 999;

/** Returns whether this is the account of a service: no person logs in to it. */
export function isService({ uid }: Pick<Owner, 'uid'>, users = entriesOf('/etc/passwd')): boolean {
  if (uid <= SYSTEM_IDS_MAX) return uid > 0;
  const entry = users.find(([, , id]) => id === String(uid));
  return entry === undefined || /\/(nologin|false)$/.test(entry[6] ?? '');
}

/** Returns the user's name; `#4711` if this machine has no name for the id. */
export const userName = (uid: number): string => (uid === 0 ? 'root' : nameIn('/etc/passwd', uid));

/** Returns the group's name or `#4712`. */
export const groupName = (gid: number): string => nameIn('/etc/group', gid);

/** Returns the account with this name or id; `undefined` if this machine has none. */
export function accountNamed(text: string): Owner | undefined {
  const users = entriesOf('/etc/passwd');
  const [, , uid, gid] = users.find(([name, , id]) => name === text || id === text) ?? [];
  return uid === undefined ? undefined : ownerIn({ uid: Number(uid), gid: Number(gid) });
}

function nameIn(list: string, id: number): string {
  const [name = ''] = entriesOf(list).find((entry) => entry[2] === String(id)) ?? [];
  return /^[\w.-]+$/.test(name) ? name : `#${id}`;
}

/**
 * Returns the account's own group; if /etc/passwd doesn't have the account, the group of the file
 * that it owns.
 */
export function primaryGroup({ uid, gid }: Owner): number {
  const entry = entriesOf('/etc/passwd').find(([, , id]) => id === String(uid));
  return entry === undefined ? gid : Number(entry[3]);
}

/** Returns the ids of all groups that the user is in. */
function groupsOf(owner: Owner): readonly number[] {
  const { name } = owner;
  const named = entriesOf('/etc/group').filter(([, , , members = '']) =>
    members.split(',').includes(name),
  );
  return [primaryGroup(owner), ...named.map(([, , id]) => Number(id))];
}

/** The bits of a mode. */
export const [READ, WRITE, ENTER] = [4, 2, 1] as const;

/** `0640` */
export const modeText = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0');

/** Returns whether that user may do this to the file. */
export function isPermitted(
  owner: Owner,
  file: Pick<fs.Stats, 'uid' | 'gid' | 'mode'>,
  bits: number,
): boolean {
  if (owner.uid === 0) return true;
  if (owner.uid === file.uid) return (file.mode & (bits << 6)) === bits << 6;
  const isMember = groupsOf(owner).includes(file.gid);
  return isMember ? (file.mode & (bits << 3)) === bits << 3 : (file.mode & bits) === bits;
}

/** Returns the first directory on the way to this absolute path that the account can't enter. */
export function closedTo(owner: Owner, path: string): string | undefined {
  const above = dirname(path);
  if (above === path) return undefined;
  const stats = orElse(() => fs.statSync(above), undefined);
  const isClosed = stats !== undefined && !isPermitted(owner, stats, ENTER);
  return closedTo(owner, above) ?? (isClosed ? above : undefined);
}

/**
 * Returns the group of the account's own directory if root has copied files into it: several files
 * there are root's, and all others the account's. The projects file doesn't count, because root may
 * own it for another reason. `undefined` in any other case.
 */
export function gidOfCopies({ uid }: Owner, dir: string): number | undefined {
  const directory = orElse(() => fs.statSync(dir), undefined);
  if (uid === 0 || directory?.uid !== uid) return undefined;
  const uids = orElse(() => {
    const names = fs.readdirSync(dir).filter((name) => !name.startsWith('projects.'));
    return names.map((name) => fs.lstatSync(`${dir}/${name}`).uid);
  }, []);
  const isCopied = uids.filter((one) => one === 0).length > 1;
  return isCopied && uids.every((one) => [0, uid].includes(one)) ? directory.gid : undefined;
}

/** Returns the fields of each line; none if the file can't be read, as on Deno. */
function entriesOf(list: string): string[][] {
  const lines = orElse(() => fs.readFileSync(list, 'utf8').split('\n'), []);
  return lines.map((line) => line.split(':'));
}
