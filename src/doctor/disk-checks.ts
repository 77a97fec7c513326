// Checks of the data directory and its disk. They report nothing if views go to a stream.
import { dirname } from 'node:path';
import { formatRoundedSize, formatSize, plural } from '../base/format.ts';
import { dayOf, timeOf } from '../base/time.ts';
import { cannotOpen } from '../disk/directory.ts';
import { LOCK_NAME } from '../disk/lock.ts';
import { fileNameOf } from '../disk/names.ts';
import {
  groupName,
  isPermitted,
  isService,
  modeText,
  ownerIn,
  READ,
  ROOT,
  userName,
  WRITE,
} from '../installation/accounts.ts';
import * as commands from '../installation/commands.ts';
import { type Installation, otherProjects, UNIT } from '../installation/installation.ts';
import { BRING_BACK_FIRST } from '../projects/projects-file.ts';
import { TOO_LITTLE_SPACE } from '../disk/free-space.ts';
import { type Space, spaceOf } from '../status/look-around.ts';
import { directoryNotice, spaceStep } from '../status/problem-words.ts';
import { daysInWords } from '../status/words.ts';
import type { Facts } from './facts.ts';
import { error, ofMessage, ofNotice, ok, type Verdict, warning } from './finding.ts';
import type { Inside } from './probe-disk.ts';

/** A check that needs a readable data directory. */
const inside =
  (check: (inside: Inside, facts: Facts) => readonly Verdict[]) =>
  (facts: Facts): readonly Verdict[] =>
    facts.disk?.inside === undefined ? [] : check(facts.disk.inside, facts);

/** Reports that a denial says nothing about viewlog, because another user runs the doctor. */
export function checkAccess(facts: Facts): readonly Verdict[] {
  const { isOutsider, ownUid, holder, source, of, asked, disk } = facts;
  if (!isOutsider) return [];
  const { data: owner = ROOT } = of.owners;
  const who = ownUid === undefined ? 'another user' : userName(ownUid);
  const whose =
    source === 'options' ? `${owner.name} owns the files` : `viewlog runs as ${owner.name}`;
  const why =
    holder === 'unknown' && source !== 'running'
      ? `which isn't allowed to check whether "${of.data}" is locked. So the doctor can't tell whether viewlog is running`
      : `but ${whose}. The doctor may miss faults in "${of.data}"`;
  const what = `The doctor runs as ${who}, ${why}.`;
  const again = commands.doctor({ ...of, owners: {} }, asked);
  const { words, command } = commands.runAs(owner, of, again);
  const run = command === undefined ? `${words}.` : `Run the doctor ${words}:`;
  const isRoots = of.owners.data?.uid === 0 && disk?.fault !== undefined;
  // An operator who runs the doctor as a service's account expects viewlog to run as that account.
  if (!isRoots || !isService({ uid: ownUid ?? 0 })) return [warning(what, run, command)];
  const closed = `"${of.data}" belongs to root, and ${who} can't open it`;
  return [error(`${closed}, so viewlog can't start as ${who}.`, run, command)];
}

export function checkDirectory({ disk, isOutsider, nowMs, of, source }: Facts): readonly Verdict[] {
  if (disk === undefined) return [];
  const { data } = of;
  const { inside } = disk;
  const fault = disk.fault ?? (inside?.writing instanceof Error ? inside.writing : undefined);
  if (fault !== undefined) {
    if (isOutsider) return [];
    const { message } = cannotOpen(data!, fault, `use directory "${data}"`);
    return [ofMessage('error', message)];
  }
  if (inside !== undefined) {
    if (inside.isBlocked) {
      const today = fileNameOf('views', dayOf(nowMs));
      const what = `"${data}/${today}" isn't a regular file, so today's views ${source === 'running' ? 'are' : 'would be'} refused.`;
      return [error(what, 'Move it away. viewlog then creates the file.')];
    }
    // Root can write everywhere; `checkUser` reports an account that can't.
    return inside.account === undefined ? [] : [ok(`"${data}" is writable.`)];
  }
  // `checkProjects` says what to do, because the projects file is missing, too.
  if (of.projects !== undefined && otherProjects(of) === undefined) return [];
  const fix = `${BRING_BACK_FIRST} check --data. viewlog creates the directory when it starts. If its account isn't allowed to, run:`;
  return [warning(`The data directory "${data}" doesn't exist.`, fix, commands.create(of))];
}

/** A file's path, owner and mode. */
type Found = Inside['files'][number];

/** Reports the account that viewlog runs as, or that it isn't clear. */
export const checkUser = inside((seen, { of, source, unitUser }) => {
  const { directory, files, account, closedDirectory: closed } = seen;
  if (closed !== undefined) {
    const stopped = unitUser === undefined ? 'viewlog last ran' : `${UNIT} runs viewlog`;
    const runs = source === 'running' ? undefined : stopped;
    return [ofNotice('error', directoryNotice(closed, of, runs))];
  }
  const whose = `The data directory belongs to ${userName(directory.uid)}`;
  if (account?.uid === 0 && source === 'options') {
    const fix =
      "If viewlog should run as a service's account, first give that account the directory and everything in it. Replace USER with the account's name:";
    const chown = commands.giveBack(of, undefined);
    const start = commands.start(of);
    const asRoot = start === undefined ? '' : `\nIf it should run as root, start it:\n  ${start}`;
    return [warning(`${whose}, so viewlog would run as root.`, `${fix}\n  ${chown}${asRoot}`)];
  }
  if (account !== undefined) {
    const { uid, name } = account;
    const owned = uid === directory.uid ? 'the data directory' : 'the files in the data directory';
    if (uid > 0) return [ok(`${name} owns ${owned}, so viewlog should run as ${name}.`)];
    const runs = source === 'running' ? 'runs' : 'last ran';
    return [
      ok(`root owns ${owned}${of.account?.uid === 0 ? `, and viewlog ${runs} as root` : ''}.`),
    ];
  }
  const [name = userName(directory.uid), ...more] = new Set(files.map(({ uid }) => userName(uid)));
  if (more.length > 0) {
    const names = [name, ...more].join(' and ');
    const fix =
      "Give the directory and everything in it to the account that runs viewlog. Replace USER with the account's name:";
    const command = commands.giveBack(of, undefined);
    return [warning(`${whose}, and its files belong to ${names}.`, fix, command)];
  }
  const mode = `${whose} and has mode ${modeText(directory.mode)}`;
  if (name === userName(directory.uid)) {
    const what = `${mode}. ${name} can't create files there.`;
    return [error(what, `Let ${name} write there:`, commands.openDirectory(of))];
  }
  const what = `${mode}, and its files belong to ${name}, which can't create files there.`;
  const fix = `If ${name} should run viewlog, give it the directory and everything in it:`;
  return [error(what, fix, commands.giveBack(of, ownerIn(files[0]!)))];
});

/** Returns who owns files of one owner: `"/data/a" and 2 more files belong to root`. */
function whose([first, ...more]: readonly [Found, ...Found[]]): string {
  const { path, uid, mode } = first;
  return more.length === 0
    ? `"${path}" belongs to ${userName(uid)} and has mode ${modeText(mode)}`
    : `"${path}" and ${plural(more.length, 'more file')} belong to ${userName(uid)}`;
}

/** Finds files that viewlog, or shippers in its group, can't open. */
export const checkPermissions = inside((seen, { of, source }) => {
  const { files, account, read, closed, copiesGid } = seen;
  if (account === undefined) return [];
  // Says "viewlog's account", because a bare name such as "viewlog" would be unclear.
  const who = `viewlog's account (${account.name})`;
  const noStart = source === 'running' ? "viewlog can't start again" : "viewlog can't start";
  if (closed !== undefined) return [ofMessage('error', `${noStart}: ${closed}`)];
  /**
   * Reports files that the account can't read, or can't read and write. Only those with the same
   * owner as the first are reported.
   */
  const denied = (
    some: readonly Found[],
    what: 'r' | 'rw',
    state: typeof error,
    verb: string,
  ): Verdict[] => {
    const bits = what === 'r' ? READ : READ | WRITE;
    const closedFiles = some.filter((file) => !isPermitted(account, file, bits));
    const [first] = closedFiles;
    if (first === undefined) return [];
    const same = closedFiles.filter(({ uid }) => uid === first.uid);
    const stop = state === error ? `, so ${noStart}` : '';
    const effect = (them: string) => `${who} can't ${verb} ${them}${stop}.`;
    if (copiesGid !== undefined && first.uid === 0 && dirname(first.path) === of.data) {
      const why = `"${first.path}" and other files there belong to root`;
      const give = commands.giveBack(of, account, copiesGid);
      return [state(`${why}. ${effect('that file')}`, 'Give the files to that account:', give)];
    }
    const paths = same.map(({ path }) => path);
    const why = `${whose([first, ...same.slice(1)])}. ${effect(same.length > 1 ? 'them' : 'it')}`;
    return [state(why, 'Give the account access:', commands.grant(account, paths, first, what))];
  };
  const newest = (kind: string): readonly Found[] =>
    files
      .filter(({ name }) => name.startsWith(kind))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .slice(-1);
  const [views, refused] = [newest('views-'), newest('refused-')];
  const lock = files.filter(({ name }) => name === LOCK_NAME);
  const older = files.filter((file) => ![...views, ...refused, ...lock].includes(file));
  const all = [
    ...read.flatMap((file) => denied([file], 'r', error, 'read')),
    ...denied(views, 'rw', error, 'write to'),
    ...denied(lock, 'rw', error, 'open'),
    ...denied(refused, 'rw', warning, 'store refused views in'),
    ...denied(older, 'r', warning, 'read'),
  ];
  // One command fixes all files that root has copied.
  const found = all.filter(({ fix }, i) => all.findIndex((one) => one.fix === fix) === i);
  return found[0]?.state === 'error' ? found : [...found, ...hiddenFromShippers(seen, of)];
});

/** Reports view files that viewlog can read, but the group of the data directory can't. */
function hiddenFromShippers({ directory, files, account }: Inside, of: Installation): Verdict[] {
  const isShared = (directory.mode & 0o050) === 0o050;
  const hidden = files.filter(
    (file) =>
      file.name.startsWith('views-') && !(file.mode & 0o040) && isPermitted(account!, file, READ),
  );
  const [first, ...more] = hidden;
  if (!isShared || first === undefined) return [];
  const them = more.length > 0 ? 'them' : 'it';
  const what = `${whose([first, ...more])}. Shippers in group ${groupName(directory.gid)} can't read ${them}.`;
  const fix = commands.share(
    { ...of, owners: { data: ownerIn(first) } },
    hidden.map(({ name }) => name),
  );
  return [warning(what, `Let the group read ${them}:`, fix)];
}

const LOCK_HERE = 'and the lock keeps out only collectors on this machine.';
const NETWORK = `. The file server decides how safe a sync is, ${LOCK_HERE}`;

/** The kernel's number of each type of file system, its name, and the effect if it is a bad one. */
const FILE_SYSTEMS: Readonly<Record<number, readonly [name: string, why?: string]>> = {
  0xef53: ['ext4'],
  0x58465342: ['xfs'],
  0x9123683e: ['btrfs'],
  0x2fc12fc1: ['zfs'],
  0x01021994: ['tmpfs', ', which is in memory. A reboot deletes all views.'],
  0x794c7630: [
    'overlay',
    ', which belongs to a container. Removing the container deletes all views.',
  ],
  0x6969: ['nfs', NETWORK],
  0xff534d42: ['cifs', NETWORK],
  0xfe534d42: ['smb', NETWORK],
  0x65735546: ['fuse', `. The program behind it decides how safe a sync is, ${LOCK_HERE}`],
};

export const checkFileSystem = inside(({ fileSystem }) => {
  if (fileSystem === undefined) return [];
  const { type } = fileSystem;
  const [name, why] = FILE_SYSTEMS[type] ?? [`a file system of type 0x${type.toString(16)}`];
  const what = `The data directory is on ${name}`;
  if (why === undefined) return [ok(`${what}.`)];
  return [
    warning(`${what}${why}`, 'Move it to a local disk. In a container, mount a volume there.'),
  ];
});

const DAYS_LEFT_MIN = 14;
const FREE_UP =
  'Delete view files (views-*.ndjson) of earlier days that you have shipped or copied, or set --keep-days.';

/** Checks the free space, and estimates from the last complete days how long it will last. */
export const checkSpace = inside((seen, { settings, of, status, source }) => {
  const { 'min-free': minFreeBytes, 'keep-days': keepDays } = settings;
  const isLow = status.reasons?.includes(TOO_LITTLE_SPACE) ?? false;
  const space = spaceOf(seen, minFreeBytes, isLow);
  if (space === undefined) {
    const what = 'Free disk space is unknown, so --min-free is off.';
    return [warning(what, 'On Deno, start viewlog with --allow-sys=statfs.')];
  }
  const full = spaceStep(space, of, minFreeBytes);
  if (full !== undefined) {
    const what = refusal(space, minFreeBytes, source === 'running' ? 'is' : 'would be');
    return [error(what, full.text, full.command)];
  }
  const what = `${formatRoundedSize(space.freeBytes)} is free (--min-free is ${formatSize(minFreeBytes)})`;
  const { daysLeft } = space;
  // There is no estimate before a full day.
  if (daysLeft === undefined) return [ok(`${what}.`)];
  const estimate = `${what}, enough for ${daysInWords(daysLeft)} at the current rate.`;
  // With --keep-days, as many files are removed as are added.
  const isSteady = keepDays > 0 && seen.viewDays.length >= keepDays;
  if (daysLeft >= DAYS_LEFT_MIN || isSteady) return [ok(estimate)];
  return [warning(`${estimate} After that, every view is refused with 503.`, FREE_UP)];
});

/** Returns what is refused for lack of space. */
function refusal({ missingBytes }: Space, minFreeBytes: number, is: string): string {
  // Only inodes have run out: the open file can still grow.
  if (missingBytes === 0) return "viewlog can't create files.";
  return minFreeBytes > 0
    ? `Every view ${is} refused with 503, because too little disk space is free.`
    : `A view that doesn't fit on the disk ${is} refused with 503.`;
}

const SLOW_MS = 50;

export const checkWriting = inside(({ writing }, { settings, of }) => {
  if (writing instanceof Error) return [];
  const sorted = writing.toSorted((a, b) => a - b);
  const median = sorted[sorted.length >> 1];
  if (median === undefined) return [];
  const slowest = `the slowest of ${sorted.length} took ${millis(sorted.at(-1)!)}`;
  const what = `A write with its sync takes ${millis(median)} (${slowest}).`;
  if (median <= SLOW_MS || settings.durability === 'os') return [ok(what)];
  const fix = 'Look for disk errors in the kernel log:';
  return [
    warning(`${what} Every 201 waits for a sync.`, fix, commands.asRoot('dmesg', of.hasSudo)),
  ];
});

const millis = (ms: number): string => `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;

export function checkClock({ nowMs, disk, of, isSynchronised }: Facts): readonly Verdict[] {
  const newest = disk?.inside?.viewDays.at(-1) ?? '';
  const now = `The time is ${timeOf(nowMs)}`;
  if (dayOf(nowMs) >= newest) return [ok(`${now}.`)];
  const what = `${now}, but "${of.data}/${fileNameOf('views', newest)}" has a later date.`;
  if (isSynchronised)
    return [
      ok(
        `${what} The clock was probably wrong when viewlog wrote that file; it is synchronised now.`,
      ),
    ];
  const sync = commands.asRoot('timedatectl set-ntp true', of.hasSudo);
  return [
    warning(
      `${what} The clock is wrong now, or it was wrong when viewlog wrote that file.`,
      'Synchronise the clock:',
      sync,
    ),
  ];
}
