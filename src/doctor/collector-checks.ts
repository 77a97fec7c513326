// Checks of the program, its settings, its projects file and the running collector.
import { errnoOf } from '../base/exit.ts';
import { capitalised } from '../base/text.ts';
import { timeOf } from '../base/time.ts';
import { isAtLeast, plural } from '../base/format.ts';
import { LOCK_NAME } from '../disk/lock.ts';
import { portOf } from '../http/listener.ts';
import * as commands from '../installation/commands.ts';
import { type Installation, otherProjects } from '../installation/installation.ts';
import { summaryOf } from '../projects/project-list.ts';
import { BRING_BACK_FIRST, listWords, summaryOfFaults } from '../projects/projects-file.ts';
import {
  delistedStep,
  type Notice,
  overdueNotice,
  possibleMinFree,
  problemNotice,
  RESTORE_PROJECTS,
  unlistedNotices,
} from '../status/problem-words.ts';
import { needsTokenVariable, sharedPort } from '../settings.ts';
import type { StatusModel } from '../status/model.ts';
import { isOpen } from '../status/state.ts';
import { fromOrigin } from '../status/words.ts';
import { TOO_LITTLE_SPACE } from '../disk/free-space.ts';
import { TOKEN_ENV } from '../status/token.ts';
import { described, isFromViewlog, isNobodyThere } from './reply.ts';
import { activeIn, type Facts } from './facts.ts';
import { error, ofMessage, ofNotice, ok, type Verdict, warning } from './finding.ts';

/** The oldest versions that viewlog supports. */
const OLDEST = { Node: '20.19', Deno: '2.5', Bun: '1.0' } as const;

export function checkRuntime({ runtime }: Facts): readonly Verdict[] {
  const { name, version, platform } = runtime;
  const where = `${name} ${version} on ${platform}`;
  if (platform === 'linux' && isAtLeast(OLDEST[name], version)) {
    return [ok(`The doctor runs on ${where}.`)];
  }
  const fix = `Run viewlog on Linux, with ${name} ${OLDEST[name]} or later.`;
  return [warning(`viewlog isn't tested on ${where}.`, fix)];
}

/** Reports the settings that are examined instead of those on the command line. */
export function checkSettings(facts: Facts): readonly Verdict[] {
  const { askedData, different, tokenFault } = facts;
  const { data } = facts.of;
  if (tokenFault !== undefined) {
    return [ofMessage('error', tokenFault, { effect: "viewlog can't start until this is fixed." })];
  }
  const shared = facts.source === 'running' ? undefined : sharedPort(facts.settings);
  if (shared !== undefined) {
    return [ofMessage('error', shared, { effect: "viewlog can't start until this is fixed." })];
  }
  const [own, asked] = [data, askedData].map((dir) => (dir ? `--data ${dir}` : '--store'));
  const others = own === asked ? different : [`${own} (not ${asked})`, ...different];
  if (others.length === 0) return [];
  const options = new Intl.ListFormat('en-GB').format(others);
  const what = `The collector runs with ${options}. The doctor uses the collector's settings.`;
  const option = data === undefined ? '--status' : '--data';
  const fix = `To examine another collector, pass its ${option}. To change a setting, restart the collector with it.`;
  return [warning(what, fix)];
}

const isArchive = ({ of }: Facts): boolean => of.role === 'archive';

/** Returns whether the doctor's user can't read the projects file, although viewlog perhaps can. */
const isProjectsDenied = ({ isOutsider, projects: { content } }: Facts): boolean =>
  isOutsider && errnoOf(content) === 'EACCES';

export function checkProjects(facts: Facts): readonly Verdict[] {
  const { projects: reading, status, of, source, disk } = facts;
  if (isArchive(facts)) return [];
  if ('faults' in reading) {
    if (isProjectsDenied(facts)) return [];
    const effect =
      source === 'running'
        ? "The running viewlog uses the last good list, but can't start again until this is fixed."
        : "viewlog can't start until this is fixed.";
    const fault = summaryOfFaults(reading.faults);
    const what = `${fault}. ${effect}`;
    const { line, create, fact, saved } = reading;
    if (line !== undefined) {
      const restore = saved
        ? `If parts of the file are missing, restore the ${listWords(saved)}:\n  ${saved.restore}\nOtherwise, correct the file.`
        : 'Correct the file.';
      return [error(what, `${restore} To check it again, run:`, commands.check(of))];
    }
    if (fact !== undefined && saved) {
      const fix = saved.restore
        ? `To restore the ${listWords(saved)}:`
        : 'Move the directory back, or mount its disk.';
      return [error(`${fact}. ${effect}`, fix, saved.restore)];
    }
    // Without a copy of the list, the fault already says what to do.
    const isUnexplained = fact === undefined && status.overview?.projectsFault?.loss === 'missing';
    if (isUnexplained) return [error(what, RESTORE_PROJECTS)];
    // The fault of an empty file, or `checkPermissions`, says what to do.
    if (create === undefined) return [error(what)];
    const isDirectoryMissing = disk && !disk.inside && !disk.fault;
    if (isDirectoryMissing && otherProjects(of) === undefined) {
      const both = `${fault}, and neither does its directory. ${effect}`;
      const fix = `${BRING_BACK_FIRST} check --data. To create the directory and, if needed, the user that will own it, run this, then the doctor again:`;
      return [error(both, fix, commands.create(of))];
    }
    const fix = `${BRING_BACK_FIRST} create the file. Replace ID with a project's id:`;
    return [error(what, fix, create)];
  }
  // Another check reports that viewlog, unlike this user, can't read the file.
  if (status.overview?.projectsFault?.access !== undefined) return [];
  const { projects } = reading.file;
  const isAnyActive = activeIn(reading).length > 0;
  const what = isAnyActive
    ? `"${of.projects}" lists ${summaryOf(projects)}.`
    : `No project in "${of.projects}" is active, so every view is refused.`;
  const { problems = [], unlisted = [] } = status.overview ?? {};
  // Otherwise, another check reports the problems.
  const rows = isAnyActive ? unlisted : [...problems, ...unlisted];
  const [removed, ...more] = rows.filter((one) => one.removed?.active);
  if (removed !== undefined) {
    const { text, command } = delistedStep(removed, removed.figures.lastAcceptedMs, of);
    const others =
      more.length === 0
        ? ''
        : ` The status page shows ${plural(more.length, 'more removed project')}.`;
    return [warning(`${what} An active project was removed.${others}`, text, command)];
  }
  if (isAnyActive) return [ok(what)];
  const [{ id } = { id: undefined }] = projects;
  const text = id ? 'Activate a project:' : 'Add a project. Replace ID with its id:';
  return [warning(what, text, commands.activate(of, id ?? 'ID'))];
}

/** Checks that the process that holds the data directory is the examined collector. */
export function checkLock({ holder, asked, kill, of }: Facts): readonly Verdict[] {
  if (holder === undefined || holder === 'unknown') return [];
  if (holder === 'unresponsive') {
    const find = commands.findHolder(`${of.data}/${LOCK_NAME}`, of.hasSudo);
    const what = `The process that has locked "${of.data}" doesn't answer. If it hangs, no view is accepted, and viewlog can't start there.`;
    const fix =
      'If it hangs, end it (kill -9 PID) and start viewlog. To find its process id (PID), run:';
    return [error(what, fix, find)];
  }
  const { role, pid, sinceMs, version, address } = holder;
  const by = version === '' ? '' : `, viewlog ${version}`;
  const who = `process ${pid}${by}, running since ${timeOf(sinceMs)}`;
  if (role === 'archive') return [ok(`An archive writes to "${of.data}": ${who}.`)];
  const port = portOf(address);
  if (port !== undefined && [0, port].includes(Number(asked['port'] ?? port))) return [];
  const [collector, fix] =
    port === undefined
      ? ["A collector that isn't listening yet", 'If it is starting, wait.']
      : [`The collector at ${address}`, 'If you meant that collector, leave out --port.'];
  const what = `${collector} (${who}) holds "${of.data}", so a second one can't start there.`;
  if (kill !== undefined)
    return [error(what, `${fix} To start another one here, end it first:`, kill)];
  return [
    error(what, `${fix} To start another one here, stop that process or its container first.`),
  ];
}

/**
 * Returns whether the running viewlog is the examined one. With a stream, there is no lock that
 * could name another viewlog.
 */
const isExamined = ({ source, of }: Facts): boolean =>
  source === 'running' || of.data === undefined;

const USES_OTHER = "it doesn't use this data directory";

export function checkCollector(facts: Facts): readonly Verdict[] {
  const { reply, holder, of, listenFault } = facts;
  if (isArchive(facts)) {
    if (holder !== undefined) return [];
    return [notRunning(`No archive writes to "${of.data}", so nothing is archived.`, facts)];
  }
  // `checkAccess` and `checkLock` report why there is no reply.
  if (reply === undefined) return [];
  const { address = '' } = of;
  const running = typeof holder === 'object' ? holder : undefined;
  if (isFromViewlog(reply)) {
    if (!isExamined(facts)) {
      return [otherListener('Another viewlog', address, USES_OTHER, of, '--port')];
    }
    const { overview } = facts.status;
    const version = overview === undefined ? '' : ` ${overview.version}`;
    const who = running ? `: process ${running.pid}, running since ${timeOf(running.sinceMs)}` : '';
    return [ok(`viewlog${version} answers at ${address}${who}.`)];
  }
  if (!isNobodyThere(reply)) {
    return [otherListener('Another program', address, described(reply), of, '--port')];
  }
  if (listenFault !== undefined) {
    const fix =
      'Choose an address of this machine with --host, and a port that viewlog may use with --port.';
    return [error(`viewlog can't listen at ${address}: ${listenFault}.`, fix)];
  }
  const what = `No collector answers at ${address} (${described(reply)}), so no view is accepted there.`;
  return [notRunning(what, facts)];
}

/** Adds how to start viewlog, if it is known which account runs it. */
function notRunning(what: string, { of, source, disk, settings }: Facts): Verdict {
  const { account, fileSystem } = disk?.inside ?? {};
  const isUnclear = account === undefined || (account.uid === 0 && source === 'options');
  if (disk !== undefined && isUnclear) {
    // `checkUser` says how to give the directory to an account.
    return warning(
      what,
      disk.inside && 'Before you start viewlog, follow the advice under "user".',
    );
  }
  const startWith = (fix: string, command?: string): Verdict => {
    return { ...warning(what, fix, command), isStart: true };
  };
  const restart = commands.restart(of);
  const name = of.role === 'archive' ? 'the archive' : 'viewlog';
  // A unit sets its variables itself.
  if (restart !== undefined) return startWith(`Start ${name}:`, restart);
  // `checkSpace` reports a --min-free that the file system is too small for.
  const isSmall = fileSystem !== undefined && settings['min-free'] > fileSystem.sizeBytes;
  const options = isSmall ? { 'min-free': possibleMinFree(fileSystem.sizeBytes) } : {};
  const start = commands.start(of, options);
  if (start === undefined)
    return startWith(
      `Start ${name} as before. Its stream's address is secret, so the doctor prints no command.`,
    );
  const colon =
    source === 'options'
      ? '. The doctor found no earlier start here, so this command has the options that you gave the doctor:'
      : ':';
  if (!needsTokenVariable(of.chosen)) return startWith(`Start ${name}${colon}`, start);
  const withToken = commands.keeping(TOKEN_ENV, start);
  return startWith(`Set ${TOKEN_ENV} and start ${name}${colon}`, withToken);
}

function otherListener(
  who: string,
  address: string,
  why: string,
  { hasSudo }: Installation,
  flag: '--port' | '--status',
): Verdict {
  const what = `${who} listens at ${address} (${why}), so viewlog can't listen there.`;
  const find = commands.findListener(portOf(address), hasSudo);
  const choose = `choose another ${flag} or stop that process. To find the process, run:`;
  const fix = who.endsWith('program')
    ? capitalised(choose)
    : `If you mean that viewlog, give its --data. Otherwise, ${choose}`;
  return error(what, fix, find);
}

/** Reports that the doctor lacks viewlog's token. */
function hiddenReasons({ of, status: { isReady, hasToken } }: Facts): Verdict {
  const which = hasToken ? 'the wrong' : 'no';
  const [is, hidden] = isReady ? ['is', 'refusals'] : ["isn't", 'why'];
  const what = `viewlog ${is} ready. The doctor has ${which} token, so it can't see ${hidden}.`;
  const state = isReady ? warning : error;
  if (of.chosen['status-token-file'] === undefined) {
    return state(what, `Set ${TOKEN_ENV} to viewlog's token or pass --status-token-file.`);
  }
  if (hasToken) {
    const changed = 'If its token file has been changed since viewlog started, restart viewlog.';
    return state(what, `${changed} Otherwise, pass that file with --status-token-file.`);
  }
  return state(what, 'Run the doctor as a user who can read the token:', commands.doctor(of));
}

/** Checks that views are accepted, by `/readyz` and the status page. */
export function checkHealth(facts: Facts): readonly Verdict[] {
  const { of, status } = facts;
  const { address = '', reply, isReady, reasons = [], overview, another } = status;
  if (another && !isExamined(facts)) {
    const { data } = another;
    const why = data ? `it writes to "${data}"` : USES_OTHER;
    return [otherListener('The status server of another viewlog', address, why, of, '--status')];
  }
  if (reply === undefined || isNobodyThere(reply)) {
    // `checkCollector` reports a collector that isn't running.
    const isThere = isArchive(facts) || (facts.reply && isFromViewlog(facts.reply));
    if (!isThere || !isExamined(facts)) return [];
    const unknown = "so the doctor can't tell whether views are accepted.";
    if (another) {
      const fix = 'Choose another --status for one of them.';
      return [warning(`Another viewlog answers at ${address}, ${unknown}`, fix)];
    }
    if (address === '') {
      return [
        warning(`--status is off, ${unknown}`, 'To check that, start viewlog with --status.'),
      ];
    }
    const fix = "Pass the collector's --status address, which is in its log.";
    return [warning(`Nothing answers at ${address}, ${unknown}`, fix)];
  }
  if (isReady === undefined) {
    return [otherListener('Another program', address, described(reply), of, '--status')];
  }
  const ready = ok(`${address}/readyz says that viewlog is ready.`);
  if (isArchive(facts)) {
    if (isReady) return [ready];
    const fix = "Read the archive's log.";
    if (reasons.length === 0) return [error("The archive isn't ready.", fix)];
    return reasons.map((why) => ofMessage('error', `The archive isn't ready: ${why}`, { fix }));
  }
  if (overview === undefined) return [hiddenReasons(facts)];
  if (isReady) return [ready];
  const { unavailable } = overview.store;
  if (unavailable === undefined) {
    const restart = commands.restart(of);
    const fix = 'To keep it running, restart it';
    const what = 'A signal announced that viewlog is about to stop.';
    return [error(what, restart ? `${fix}:` : `${fix}.`, restart)];
  }
  const what = of.data === undefined ? 'the NATS cluster' : 'the disk (df -h, df -i, quotas)';
  // `checkSpace` says how to free space.
  const isExplained = unavailable === TOO_LITTLE_SPACE;
  const fix = isExplained ? undefined : `Check ${what} and read viewlog's log.`;
  return [error(`Every view is refused: ${unavailable}.`, fix)];
}

const REFUSALS_MAX = 5;

/** Reports refusals with their causes, and the status page's warnings. */
export function checkRefusals(facts: Facts): readonly Verdict[] {
  const { status, of, projects: reading } = facts;
  const { overview } = status;
  if (overview === undefined) return [];
  const { projects, problems, warnings, openings, store } = overview;
  // Includes refusals that are too few for the page.
  const refused = [...projects, ...problems.filter(({ kind }) => kind !== 'project')].filter(
    ({ state, reasons }) => state === 'silent' || reasons.some(isOpen),
  );
  const more = refused.length - REFUSALS_MAX;
  const rest =
    more > 0
      ? [
          `${plural(more, 'more problem')} ${more === 1 ? 'is' : 'are'} on the status page (${status.address})`,
        ]
      : [];
  const found = [
    // Before any replay, which would store views of every site.
    ...openings.map((note) => ofMessage('warning', note)),
    ...refused
      .slice(0, REFUSALS_MAX)
      .map((row) =>
        ofNotice('warning', problemNotice({ ...row, colour: 'amber' }, of, overview.nowMs)),
      ),
    ...mistypedNotices(overview).map((notice) => ofNotice('warning', notice)),
    ...[...warnings, ...rest].map((note) => ofMessage('warning', note)),
  ];
  const hasCommands = found.some(({ fix }) => fix?.includes('\n  '));
  if (hasCommands && 'faults' in reading && !isProjectsDenied(facts)) {
    return [
      warning(
        'The projects file has an error (see above). Until it is corrected, the commands below fail.',
      ),
      ...found,
    ];
  }
  if (store.unavailable !== undefined) return found;
  const none = found.length > 0 ? found : [ok('No views of listed projects are being refused.')];
  return [...none, ...strangers(overview, of, status.address)];
}

/** Reports the unlisted ids that may be anyone's. */
function strangers(
  { unlisted, unlistedInAll, removedInAll }: StatusModel,
  of: Installation,
  address = '',
): Verdict[] {
  const rows = unlisted.filter(({ meant, removed }) => meant === undefined && !removed?.active);
  const ids = unlistedInAll - removedInAll - (unlisted.length - rows.length);
  const [row] = rows;
  if (row === undefined || ids < 1) return [];
  if (ids > 1)
    return [ok(`Views of ${plural(ids, 'unlisted id')} were refused; ${address} lists them.`)];
  const { sample, remedy } = row.reasons[0]!;
  const from = sample.origin === undefined ? '' : `, most recently ${fromOrigin(sample.origin)}`;
  const origin = 'origin' in remedy ? remedy.origin : undefined;
  const command = commands.activate(of, row.id, { origin });
  const what = `Views of the unlisted id ${row.id} were refused${from}.`;
  return [ok(what, 'If that is your site, activate the project:', command)];
}

/** Reports the unlisted ids that a listed project's pages probably send by mistake. */
const mistypedNotices = (overview: StatusModel): Notice[] =>
  unlistedNotices({
    ...overview,
    unlisted: overview.unlisted.filter(
      ({ meant, reasons }) => meant !== undefined && reasons.some(isOpen),
    ),
  }).map(({ title, steps }) => ({
    title: `Views of the unlisted id ${title} were refused.`,
    steps,
  }));

export function checkOverdue(facts: Facts): readonly Verdict[] {
  const { overdue = [] } = facts.disk?.inside ?? {};
  return overdue.length === 0 ? [] : [ofNotice('warning', overdueNotice(overdue, facts.of))];
}
