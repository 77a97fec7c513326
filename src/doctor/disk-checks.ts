import { formatRoundedSize, formatSize, plural } from '../base/format.ts';
import { echo, shellQuoted } from '../base/text.ts';
import { dayOf } from '../base/time.ts';
import { groupName, userName } from '../disk/root.ts';
import { diskAdvice } from '../status/problem-words.ts';
import { remedyOf } from '../view/remedy.ts';
import type { Facts } from './facts.ts';
import { error, judged, ok, timeOf, type Verdict, warning } from './finding.ts';
import { type Inside, type OwnFile, WRITES, WRITES_TIMEOUT_MS } from './probe-disk.ts';

// Checks of the data directory and what it is on. They have nothing to say about a stream.

type Check = (inside: Inside, facts: Facts) => readonly Verdict[];

/** A check that needs a directory to look into. */
const inside =
  (check: Check) =>
  (facts: Facts): readonly Verdict[] =>
    facts.disk?.inside === undefined ? [] : check(facts.disk.inside, facts);

export function checkDirectory({ disk, settings, ownUid }: Facts): readonly Verdict[] {
  if (disk === undefined) return [];
  const path = settings.data ?? '';
  const { fault } = disk;
  const { uid, mode = 0o700 } = disk.inside?.directory ?? {};
  const why = 'viewlog does not start, or refuses every view';
  if (fault !== undefined) {
    return [
      error(`"${path}" cannot be written to: ${fault}`, why, faultFix(fault, path, uid, ownUid)),
    ];
  }
  if (uid === undefined) {
    const fix = 'viewlog creates it when it starts; if there are views already, correct --data';
    return [warning(`"${path}" does not exist`, 'there are no views yet', fix)];
  }
  // Root may write anywhere; the service's user only if the mode says so.
  if ((mode & 0o700) === 0o700) return [ok(`"${path}" can be written to`)];
  const fix = `sudo chmod u+rwx ${shellQuoted(path)}`;
  return [error(`"${path}" cannot be written to by its owner, ${userName(uid)}`, why, fix)];
}

function faultFix(fault: string, path: string, uid: number | undefined, ownUid = 0): string {
  if (fault.includes('EROFS')) return 'Mount the file system read-write; dmesg says why it is not';
  if (uid === ownUid) return `sudo chmod u+rwx ${shellQuoted(path)}`;
  if (uid !== undefined) return `Run viewlog and this as its owner, ${userName(uid)}`;
  const create = `sudo install -d -o viewlog -g viewlog -m 750 ${shellQuoted(path)}`;
  return `Correct --data, run this as the service's user, or create it: ${create}`;
}

/** The service's user is the one that owns the directory. */
export const checkUser = inside(({ directory }, { ownUid, args }) => {
  const owner = userName(directory.uid);
  const what = `${owner} owns the data directory, so viewlog runs as ${owner}`;
  if (owner === 'root') return [ok(what, 'a user of its own could do less harm')];
  if ([undefined, 0, directory.uid].includes(ownUid)) return [ok(what)];
  const command = ['sudo', '-u', owner, 'viewlog', ...args.map(echo)];
  const why = `this runs as ${userName(ownUid!)}, and may see less`;
  return [warning(what, why, command.map(shellQuoted).join(' '))];
});

const FILES_MAX = 20;

/** What keeps the service from its own files, shippers from view files, and others out. */
export const checkPermissions = inside(({ directory, files }, { settings }) => {
  const { data = '' } = settings;
  const { uid, gid, mode } = directory;
  const [user, group] = [userName(uid), groupName(gid)];
  const verdictOf = (
    [first, ...more]: readonly OwnFile[],
    what: (file: OwnFile) => string,
    why: string,
    command: string,
  ): Verdict[] => {
    if (first === undefined) return [];
    const rest = more.length === 0 ? '' : `, and so for ${plural(more.length, 'more file')}`;
    const names = [first, ...more].slice(0, FILES_MAX).map(({ name }) => `${data}/${name}`);
    const fix = `sudo ${command} ${names.map(shellQuoted).join(' ')}`;
    return [warning(`${what(first)}${rest}`, why, fix)];
  };
  const verdicts = judged(files, (all) => [
    ...verdictOf(
      all.filter((file) => isForeign(file, uid)),
      (file) => `${userName(file.uid)} owns "${file.name}", and not ${user}`,
      'viewlog may not be able to open it, and then does not start',
      `chown -h ${user}:${group}`.replaceAll('#', ''),
    ),
    ...verdictOf(
      (mode & 0o050) === 0o050 ? all.filter(isShut) : [],
      (file) => `"${file.name}" has mode ${octal(file.mode)}`,
      `shippers in group ${group} cannot read it`,
      'chmod 640',
    ),
  ]);
  if ((mode & 0o007) === 0) return verdicts;
  const what = `Every user of this machine can look into the directory (mode ${octal(mode)})`;
  const fix = `sudo chmod 750 ${shellQuoted(data)}, with shippers in group ${group}`;
  return [...verdicts, warning(what, 'it holds what visitors read', fix)];
});

const octal = (mode: number): string => `0${(mode & 0o777).toString(8).padStart(3, '0')}`;

/** The projects file only has to be read. */
const isForeign = ({ name, uid, mode }: OwnFile, owner: number): boolean =>
  uid !== owner && !(name === 'projects.json' && (mode & 0o004) !== 0);

const isShut = ({ name, mode }: OwnFile): boolean =>
  name.startsWith('views-') && (mode & 0o040) === 0;

export const checkFileSystem = inside(({ mount: probe }) =>
  judged(probe, (mount) => {
    if (mount === undefined) return [];
    const type = `${mount.type}${mount.isWithoutJournal ? ' without a journal' : ''}`;
    const what = `The data directory is on ${type}`;
    const [, why, fix] = DOUBTS.find(([types]) => types.test(type)) ?? [];
    return why === undefined ? [ok(what)] : [warning(what, why, fix!)];
  }),
);

const LOCAL = 'Move the data directory to a disk of this machine';
const NETWORK = /^(nfs\d?|cifs|smb\w*|9p|afs|ceph|glusterfs|lustre|fuse(\..*)?)$/;

/** Types of file systems, why that matters, and what to do. */
const DOUBTS: readonly [RegExp, string, string][] = [
  [/^(tmpfs|ramfs)$/, 'it is memory, and lost when this machine restarts', LOCAL],
  [/^(overlay|aufs)$/, "it is a container's own, and lost with it", 'Mount a volume there'],
  [NETWORK, 'a sync is only as good as its server, and the lock works on one machine', LOCAL],
  [/ journal$/, 'after a failed sync it may hold less than it says', 'tune2fs -O has_journal'],
];

const DAYS_LEFT_MIN = 14;
const FREE_UP =
  'Delete views-*.ndjson of earlier days that are shipped or copied, or use --keep-days';

/** Whether there is space, and how long it lasts by the sizes of the last complete days. */
export const checkSpace = inside(({ freeBytes, around, viewDays }, { settings }) => {
  const { data = '', 'min-free': minFreeBytes, 'keep-days': keepDays } = settings;
  if (freeBytes === undefined) {
    const what = 'Free disk space is unknown: statfs is not permitted';
    return [warning(what, '--min-free is off', 'Start Deno with --allow-sys=statfs')];
  }
  const what = `${formatRoundedSize(freeBytes)} free, --min-free ${formatSize(minFreeBytes)}`;
  const { sizeBytes = Infinity, bytesPerDay } = around;
  if (freeBytes < minFreeBytes) {
    const disk = { sizeBytes, freeBytes, minFreeBytes };
    const remedy = remedyOf({ code: 'storage-unavailable', disk });
    const advice = diskAdvice({ freeBytes, minFreeBytes, remedy }, data);
    return [error(what, 'every view is refused with 503', advice)];
  }
  if (freeBytes < 2 * minFreeBytes) {
    const why = 'refused views are no longer kept, and soon every view is refused with 503';
    return [warning(what, why, FREE_UP)];
  }
  if (!bytesPerDay) return [ok(`${what}; how long it lasts is unknown before a full day`)];
  const days = Math.floor((freeBytes - minFreeBytes) / bytesPerDay);
  const lasts = days > 3650 ? 'more than 10 years' : plural(days, 'day');
  const told = `${what}; lasts ${lasts} at ${formatRoundedSize(bytesPerDay)} per day`;
  // With --keep-days as many files are removed as are added.
  const isSteady = keepDays > 0 && viewDays.length >= keepDays;
  if (days >= DAYS_LEFT_MIN || isSteady) return [ok(told)];
  return [warning(told, 'then every view is refused with 503', FREE_UP)];
});

const SLOW_MS = 50;

export const checkWriting = inside(({ writing }, { settings }) =>
  judged(writing, (times) => {
    if (times === undefined) return [];
    const sorted = times.toSorted((a, b) => a - b);
    const isDone = times.length === WRITES;
    const median = isDone ? sorted[WRITES >> 1]! : Infinity;
    const what = isDone
      ? `A write and sync take ${millis(median)}, the longest of ${WRITES} ${millis(sorted.at(-1)!)}`
      : `Only ${times.length} writes and syncs in ${WRITES_TIMEOUT_MS / 1000} s`;
    if (median <= SLOW_MS || (isDone && settings.durability === 'os')) return [ok(what)];
    return [
      warning(what, 'answers wait for them', 'See dmesg and iostat -x; is the disk failing?'),
    ];
  }),
);

const millis = (ms: number): string => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;

/** Before this version was made. */
const EARLIEST_MS = Date.UTC(2026, 0);

export function checkClock({ nowMs, disk }: Facts): readonly Verdict[] {
  const newest = disk?.inside?.viewDays.at(-1) ?? '';
  const what = `It is ${timeOf(nowMs)}`;
  const isBehindFiles = newest > dayOf(nowMs);
  if (nowMs >= EARLIEST_MS && !isBehindFiles) return [ok(what)];
  const but = isBehindFiles ? `there are views of ${newest}` : 'this program is newer than that';
  const why = 'the clock names the files, is in every line, and says which files are old';
  return [warning(`${what}, but ${but}`, why, 'Synchronise it: sudo timedatectl set-ntp true')];
}
