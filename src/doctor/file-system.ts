import * as fs from 'node:fs';
import { basename } from 'node:path';
import { errnoOf } from '../base/exit.ts';
import { printable } from '../base/text.ts';
import { doubtful, type Finding, well } from './finding.ts';

const CHECK = 'file system';

interface Mount {
  readonly device: string;
  readonly at: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** What the directory is on, as far as Linux tells. */
export function checkFileSystem(data: string): Finding[] {
  const mount = mountOf(fs.realpathSync(data), fs.readFileSync('/proc/self/mounts', 'utf8'));
  if (mount === undefined) return [];
  const what = `The data directory is on ${printable(mount.type)}`;
  const [how, why, todo] = doubtAbout(mount, hasNoJournal(mount)) ?? [];
  return [why === undefined ? well(CHECK, what) : doubtful(CHECK, what + how, why, todo!)];
}

/** The mount that a path is on: the deepest of those that hold it, and the last of these. */
export function mountOf(path: string, mounts: string): Mount | undefined {
  let found: Mount | undefined;
  for (const line of mounts.split('\n').filter(Boolean)) {
    const [device = '', at = '', type = '', options = ''] = line.split(' ').map(unescaped);
    const isAbove = at === '/' || path === at || path.startsWith(`${at}/`);
    if (isAbove && at.length >= (found?.at.length ?? 0)) {
      found = { device, at, type, options: options.split(',') };
    }
  }
  return found;
}

/** Spaces and such stand there as `\040`. */
const unescaped = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));

/** How it is, why that matters, what to do; undefined where nothing is to be said. */
export function doubtAbout(
  { type, options }: Mount,
  isWithoutJournal: boolean,
): [string, string, string] | undefined {
  const elsewhere = 'Choose a --data on a disk of this machine';
  if (/^(tmpfs|ramfs)$/.test(type)) {
    return [', which is memory', 'views are gone with the next boot', elsewhere];
  }
  if (/^(overlay|aufs)$/.test(type)) {
    return [", a container's own layer", 'views are gone with it', 'Mount a volume there'];
  }
  if (/^(nfs\d?|cifs|smb\w*|9p|afs|ceph|glusterfs|lustre|fuse(\..*)?)$/.test(type)) {
    const why =
      'a sync is worth what its server makes of it, and the lock holds on one machine only';
    return [', not a disk of this machine', why, elsewhere];
  }
  if (options.includes('nobarrier') || options.includes('barrier=0')) {
    return [' without barriers', 'a power cut loses views', 'Mount it without nobarrier'];
  }
  if (!isWithoutJournal) return undefined;
  const why = 'after a failed sync it may hold less than it says';
  return [' without a journal', why, 'tune2fs -O has_journal, while it is not mounted'];
}

function hasNoJournal({ device, type }: Mount): boolean {
  if (type !== 'ext4') return type === 'ext2';
  try {
    const name = basename(fs.realpathSync(device));
    return fs.readFileSync(`/sys/fs/ext4/${name}/journal_task`, 'utf8').trim() === '<none>';
  } catch (error) {
    // /dev/root and the like are no names of devices.
    if (errnoOf(error) !== undefined) return false;
    throw error;
  }
}
