// Checks of the data directory and its disk. They report nothing if views go to a stream.
import { formatRoundedSize, formatSize, plural } from '../base/format.ts';
import { shellQuoted } from '../base/text.ts';
import { dayOf, timeOf } from '../base/time.ts';
import { groupName, userName } from '../installation/accounts.ts';
import { spaceOf } from '../status/look-around.ts';
import { spaceStep } from '../status/problem-words.ts';
import type { Facts } from './facts.ts';
import { error, ok, type Verdict, warning } from './finding.ts';
import type { Inside } from './probe-disk.ts';

/** A check that needs a directory to look into. */
const inside =
  (check: (inside: Inside, facts: Facts) => readonly Verdict[]) =>
  (facts: Facts): readonly Verdict[] =>
    facts.disk?.inside === undefined ? [] : check(facts.disk.inside, facts);

export function checkDirectory({ disk, settings: { data = '' } }: Facts): readonly Verdict[] {
  if (disk === undefined) return [];
  const { inside, fault = inside?.writing } = disk;
  if (typeof fault === 'string') return [error(fault)];
  if (inside !== undefined) return [ok(`"${data}" can be written to`)];
  const create = `sudo install -d -o viewlog -g viewlog -m 750 ${shellQuoted(data)}`;
  const fix = `viewlog creates it when it starts, if it may. Otherwise correct --data, or: ${create}`;
  return [warning(`"${data}" does not exist; there are no views yet`, fix)];
}

/** Reports the service's user: the one that owns the directory. */
export const checkUser = inside(({ directory }, { ownUid, settings: { data = '' } }) => {
  const owner = userName(directory.uid);
  const what = `${owner} owns the data directory, so viewlog runs as ${owner}`;
  if ([undefined, 0, directory.uid].includes(ownUid)) return [ok(what)];
  const fix = `sudo -u ${owner} viewlog doctor --data ${data}`;
  return [warning(`${what}; the doctor runs as ${userName(ownUid!)}, and may see less`, fix)];
});

/** Finds files that the service, or shippers in its group, cannot open. */
export const checkPermissions = inside(({ directory, files }, { settings: { data = '' } }) => {
  const isShared = (directory.mode & 0o050) === 0o050;
  const wrong = files.filter(({ name, uid, mode }) => {
    // The projects file only has to be read.
    if (uid !== directory.uid) return name !== 'projects.json' || (mode & 0o004) === 0;
    return isShared && name.startsWith('views-') && (mode & 0o040) === 0;
  });
  const [first, ...more] = wrong;
  if (first === undefined) return [];
  const [user, group] = [userName(directory.uid), groupName(directory.gid)];
  const mode = (first.mode & 0o777).toString(8).padStart(4, '0');
  const rest = more.length === 0 ? '' : `, and ${plural(more.length, 'more file')} too`;
  const what =
    `"${first.name}" belongs to ${userName(first.uid)}, with mode ${mode}${rest}; viewlog, as ` +
    `${user}, or shippers in group ${group} may be unable to open it`;
  const dir = shellQuoted(data);
  const owners = `${user}:${group}`.replaceAll('#', '');
  return [warning(what, `sudo chown -R ${owners} ${dir} && sudo chmod -R u=rwX,g=rX ${dir}`)];
});

const NETWORK =
  'how safe a sync is depends on the file server, and the lock works on one machine only';

/** The kernel's number of each type of file system, its name, and what to say against it. */
const FILE_SYSTEMS: Readonly<Record<number, readonly [name: string, why?: string]>> = {
  0xef53: ['ext4'],
  0x58465342: ['xfs'],
  0x9123683e: ['btrfs'],
  0x2fc12fc1: ['zfs'],
  0x01021994: ['tmpfs', 'it is memory, and lost when this machine restarts'],
  0x794c7630: ['overlay', "it is a container's own, and lost with it"],
  0x6969: ['nfs', NETWORK],
  0xff534d42: ['cifs', NETWORK],
  0xfe534d42: ['smb', NETWORK],
  0x65735546: ['fuse', NETWORK],
};

export const checkFileSystem = inside(({ fileSystem }) => {
  if (fileSystem === undefined) return [];
  const { type } = fileSystem;
  const [name, why] = FILE_SYSTEMS[type] ?? [`type 0x${type.toString(16)}`];
  const what = `The data directory is on ${name}`;
  if (why === undefined) return [ok(what)];
  return [warning(`${what}; ${why}`, 'Move it to a disk of this machine; mount a volume there')];
});

const DAYS_LEFT_MIN = 14;
const FREE_UP =
  'Delete views-*.ndjson of earlier days that are shipped or copied, or use --keep-days';

/** Checks the free space, and how long it lasts by the sizes of the last complete days. */
export const checkSpace = inside((seen, { settings }) => {
  const { 'min-free': minFreeBytes, 'keep-days': keepDays } = settings;
  const space = spaceOf(seen, minFreeBytes);
  if (space === undefined) {
    const what = 'Free disk space is unknown: statfs is not permitted; --min-free is off';
    return [warning(what, 'Start Deno with --allow-sys=statfs')];
  }
  const what = `${formatRoundedSize(space.freeBytes)} free, --min-free ${formatSize(minFreeBytes)}`;
  const refused = 'every view is refused with 503';
  if (space.remedy !== undefined) {
    return [error(`${what}; ${refused}`, spaceStep(space, settings).text)];
  }
  const { daysLeft } = space;
  if (daysLeft === undefined)
    return [ok(`${what}; how long it lasts is unknown before a full day`)];
  const estimate = `${what}; lasts ${plural(Math.floor(daysLeft), 'day')} at the present rate`;
  // With --keep-days, as many files are removed as are added.
  const isSteady = keepDays > 0 && seen.viewDays.length >= keepDays;
  if (daysLeft >= DAYS_LEFT_MIN || isSteady) return [ok(estimate)];
  return [warning(`${estimate}; then ${refused}`, FREE_UP)];
});

const SLOW_MS = 50;

export const checkWriting = inside(({ writing }, { settings }) => {
  if (typeof writing === 'string') return [];
  const sorted = writing.toSorted((a, b) => a - b);
  const median = sorted[sorted.length >> 1];
  if (median === undefined) return [];
  const slowest = `the slowest of ${sorted.length}: ${millis(sorted.at(-1)!)}`;
  const what = `A write and sync take ${millis(median)} (${slowest})`;
  if (median <= SLOW_MS || settings.durability === 'os') return [ok(what)];
  const fix = 'See dmesg and iostat -x; is the disk failing?';
  return [warning(`${what}; answers wait for them`, fix)];
});

const millis = (ms: number): string => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;

export function checkClock({ nowMs, disk }: Facts): readonly Verdict[] {
  const newest = disk?.inside?.viewDays.at(-1) ?? '';
  const now = `It is ${timeOf(nowMs)}`;
  if (dayOf(nowMs) >= newest) return [ok(now)];
  const what = `${now}, but there are views of ${newest}; the clock names the files`;
  return [warning(what, 'Synchronise it: sudo timedatectl set-ntp true')];
}
