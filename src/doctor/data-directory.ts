import { plural } from '../base/format.ts';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { errnoOf, reasonOf } from '../base/exit.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { LOCK_NAME } from '../disk/lock.ts';
import { ARCHIVE_RECORD, dayOfFileName, RETENTION_NOTE } from '../disk/names.ts';
import { userName } from '../disk/root.ts';
import { doubtful, type Finding, toBeMended, well } from './finding.ts';

export const DIRECTORY = 'data directory';

const WHY = 'viewlog does not start, or refuses every view';

/** What is wrong where there is no directory; undefined where there is one. */
export function directoryFault(data: string): Finding | undefined {
  const name = printable(data, Infinity);
  const fault = (what: string, todo: string): Finding =>
    toBeMended(DIRECTORY, `"${name}" ${what}`, WHY, todo);
  try {
    const stats = fs.statSync(data, { throwIfNoEntry: false });
    if (stats !== undefined) {
      return stats.isDirectory() ? undefined : fault('is no directory', 'Choose another --data');
    }
    fs.accessSync(`${existingAbove(data)}/.`, fs.constants.W_OK);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const todo = `Run this as its user, or make it: sudo install -d -o viewlog -g viewlog -m 750 ${shellQuoted(name)}`;
    return fault(`cannot be looked at, or made: ${reasonOf(error)}`, todo);
  }
  const todo = 'The start makes it; if there were views before, name their --data';
  return doubtful(DIRECTORY, `"${name}" does not exist`, 'there are no views yet', todo);
}

function existingAbove(path: string): string {
  const above = dirname(path);
  return above === path || fs.existsSync(above) ? above : existingAbove(above);
}

/** Whose process this is; undefined where the runtime does not tell (Deno without --allow-sys=uid). */
function ownUid(): number | undefined {
  try {
    return process.getuid?.();
  } catch {
    return undefined;
  }
}

/** The service's user is whom the directory belongs to. */
export function checkUser({ uid }: fs.Stats): Finding {
  const own = ownUid();
  const owner = userName(uid);
  if (uid === 0) {
    const why = 'a service should be able to do little';
    const todo = 'Make a user for viewlog, give it the directory, and run viewlog as that user';
    return doubtful(
      'user',
      'The data directory belongs to root, so viewlog runs as root',
      why,
      todo,
    );
  }
  const what = `The data directory belongs to ${owner}, so viewlog has to run as ${owner}`;
  if (own === undefined || own === uid || own === 0) return well('user', what);
  const why = `this is ${userName(own)}, who may not see what that user does`;
  return doubtful('user', what, why, `sudo -u '${owner}' viewlog doctor …`);
}

export function checkWritable(data: string, { uid, mode }: fs.Stats): Finding {
  const name = printable(data, Infinity);
  try {
    fs.accessSync(data, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    const todo =
      errnoOf(error) === 'EROFS'
        ? 'Mount the file system read-write; dmesg tells whether an error made it read-only'
        : `Run this as ${userName(uid)}, or give the directory to the service's user: chown`;
    return toBeMended(DIRECTORY, `"${name}" cannot be written to: ${reasonOf(error)}`, WHY, todo);
  }
  // Root may write anywhere; the service's user only where its mode says so.
  if (ownUid() === 0 && (mode & 0o700) !== 0o700) {
    const what = `${userName(uid)} cannot write to "${name}", its own`;
    return toBeMended(DIRECTORY, what, WHY, `chmod u+rwx ${shellQuoted(name)}`);
  }
  if ((mode & 0o007) === 0) return well(DIRECTORY, `"${name}" can be written to`);
  const todo = `chmod 750 ${shellQuoted(name)}; who reads it joins its group`;
  const what = `"${name}" can be looked into by every user of this machine`;
  return doubtful(DIRECTORY, what, 'it holds what visitors read', todo);
}

/** What keeps the service's user from its own files: those that another user has made. */
export function checkOwners(data: string, { uid, gid }: fs.Stats): Finding[] {
  const paths = fs
    .readdirSync(data)
    .filter(isOurs)
    .map((name) => `${data}/${name}`)
    .filter((path) => isForeign(path, uid));
  const [first] = paths;
  if (first === undefined) return [];
  const user = userName(fs.lstatSync(first).uid);
  const what = `${plural(paths.length, 'file')} in the data directory not of its owner: "${printable(first, Infinity)}" is ${user}'s`;
  const why = 'the service may not be able to open it, and then does not start';
  const names = paths.slice(0, 5).map((path) => shellQuoted(printable(path, Infinity)));
  return [doubtful('owners', what, why, `sudo chown -h ${uid}:${gid} ${names.join(' ')}`)];
}

const isOurs = (name: string): boolean =>
  dayOfFileName('views', name) !== undefined ||
  dayOfFileName('refused', name) !== undefined ||
  name.startsWith(LOCK_NAME) ||
  [ARCHIVE_RECORD, RETENTION_NOTE, 'projects.json', 'projects.json.lock'].includes(name);

function isForeign(path: string, owner: number): boolean {
  const { uid, mode } = fs.lstatSync(path);
  // The projects file only has to be read.
  return uid !== owner && !(path.endsWith('/projects.json') && (mode & 0o004) !== 0);
}
