// Checks of the program, its settings, its projects file and the running collector.
import { errnoOf } from '../base/exit.ts';
import { timeOf } from '../base/time.ts';
import { isAtLeast, plural } from '../base/format.ts';
import { LOCK_NAME } from '../disk/lock.ts';
import { ownAddress, portOf } from '../http/listener.ts';
import * as commands from '../installation/commands.ts';
import type { Announced, Installation } from '../installation/installation.ts';
import { summaryOf } from '../projects/project-list.ts';
import { summaryOfFaults } from '../projects/projects-file.ts';
import {
  overdueNotice,
  type Notice,
  problemNotice,
  RESTORE_PROJECTS,
} from '../status/problem-words.ts';
import { needsTokenVariable } from '../settings.ts';
import { isOpen } from '../status/state.ts';
import { noticeText } from '../status/text.ts';
import { TOKEN_ENV } from '../status/token.ts';
import { described, isFromViewlog, isNobodyThere } from './reply.ts';
import { activeIn, type Facts } from './facts.ts';
import { error, ok, type Verdict, warning } from './finding.ts';

/** The oldest versions that viewlog is tested on. */
const OLDEST = { Node: '20.19', Deno: '2.5', Bun: '1.0' } as const;

export function checkRuntime({ runtime }: Facts): readonly Verdict[] {
  const { name, version, platform } = runtime;
  const what = `${name} ${version} on ${platform}`;
  if (platform === 'linux' && isAtLeast(OLDEST[name], version)) return [ok(what)];
  const fix = `Run viewlog on Linux, with ${name} ${OLDEST[name]} or later`;
  return [warning(`${what}; viewlog isn't tested there`, fix)];
}

/** Reports the settings that are examined instead of those on the command line. */
export function checkSettings(facts: Facts): readonly Verdict[] {
  const { askedData, different, tokenFault } = facts;
  const { data } = facts.of;
  if (tokenFault !== undefined) return [error(`${tokenFault}; viewlog doesn't start without it`)];
  const [own, asked] = [data, askedData].map((dir) => (dir ? `--data ${dir}` : '--store'));
  const others = own === asked ? different : [`${own}, not ${asked}`, ...different];
  if (others.length === 0) return [];
  const what = `The collector runs with ${others.join('; with ')}. The doctor uses the collector's settings`;
  return [warning(what, 'To examine another collector, give its --data or --status')];
}

const isArchive = ({ of }: Facts): boolean => of.role === 'archive';

export function checkProjects(facts: Facts): readonly Verdict[] {
  const { projects: reading, status, of, isOutsider } = facts;
  if (isArchive(facts)) return [];
  if ('faults' in reading) {
    if (isOutsider && errnoOf(reading.content) === 'EACCES') return [];
    const effect =
      "viewlog doesn't start until this is fixed; a running viewlog keeps the last good list";
    const { projectsFault: fault } = status.overview ?? {};
    if (fault?.isMissing) return [error(`${fault.first}; ${effect}`, RESTORE_PROJECTS)];
    const check = `Correct the file. To see every fault: ${commands.check(of)}`;
    const { content, create } = reading;
    const correct = create === undefined ? undefined : `Create it: ${create}`;
    // If the file can't be read, `checkPermissions` says what to do.
    const fix = Buffer.isBuffer(content) ? check : correct;
    return [error(`${summaryOfFaults(reading.faults)}; ${effect}`, fix)];
  }
  // Another check reports that viewlog, unlike this user, can't read the file.
  if (status.overview?.projectsFault?.access !== undefined) return [];
  const { projects } = reading.file;
  const what = `"${of.projects}" has ${summaryOf(projects)}`;
  if (activeIn(reading).length > 0) return [ok(what)];
  const fix = commands.activate(of, projects[0]?.id ?? 'ID');
  return [warning(`${what}; every view is refused`, fix)];
}

/** Checks that the process that holds the data directory is the examined collector. */
export function checkLock({ holder, askedPort, kill, settings, of }: Facts): readonly Verdict[] {
  if (holder === undefined || holder === 'unknown') return [];
  const holds = 'holds the data directory; no other collector can start there';
  if (holder === 'unresponsive') {
    const find = commands.findHolder(`${of.data}/${LOCK_NAME}`, of.hasSudo);
    const fix = `Find the process, and end it if it hangs: ${find}`;
    return [error(`A process that doesn't answer ${holds}`, fix)];
  }
  const { role, pid, address } = holder;
  const who = `Process ${pid}${runningSince(holder)}`;
  if (role === 'archive') return [ok(`An archive writes here: ${who}`)];
  const port = portOf(address);
  if (port !== undefined && [undefined, 0, port].includes(askedPort)) return [];
  const examine = port === undefined ? '' : `. Otherwise examine it with --port ${port}`;
  const end = kill === undefined ? ', in its container if it has one' : `: ${kill}`;
  const where = address === undefined ? '' : ` at ${address}`;
  const { host } = settings;
  const optionsRemark =
    port === undefined
      ? ''
      : ` (your options give the address ${ownAddress({ host, port: askedPort! })})`;
  const fix = `If process ${pid} shouldn't run, end it${end}${examine}`;
  return [error(`${who}${where}, ${holds}${optionsRemark}`, fix)];
}

/** `, viewlog 0.1.0, running since 2026-01-31T12:00:00Z` */
const runningSince = ({ version, sinceMs }: Pick<Announced, 'version' | 'sinceMs'>): string =>
  `${version === '' ? '' : `, viewlog ${version}`}, running since ${timeOf(sinceMs)}`;

/**
 * Returns whether the running viewlog is the examined one. With a stream, there is no lock that
 * could name another viewlog.
 */
const isExamined = ({ source, of }: Facts): boolean =>
  source === 'running' || of.data === undefined;

const HOLDS_NOT = "it doesn't hold this data directory";

export function checkCollector(facts: Facts): readonly Verdict[] {
  const { reply, holder, of, listenFault } = facts;
  if (isArchive(facts)) {
    if (holder !== undefined) return [];
    return [notRunning(`No archive writes to "${of.data}"; nothing is archived`, facts)];
  }
  // `checkAccess` and `checkLock` report why there is no reply.
  if (reply === undefined) return [];
  const { address = '' } = of;
  const running = typeof holder === 'object' ? holder : undefined;
  if (isFromViewlog(reply)) {
    if (!isExamined(facts)) {
      return [otherListener('Another viewlog', address, HOLDS_NOT, of)];
    }
    const { overview } = facts.status;
    const version = overview === undefined ? '' : ` ${overview.version}`;
    const who = running ? `: process ${running.pid}, running since ${timeOf(running.sinceMs)}` : '';
    return [ok(`viewlog${version} answers at ${address}${who}`)];
  }
  if (!isNobodyThere(reply)) {
    return [otherListener('Another program', address, described(reply), of)];
  }
  if (listenFault !== undefined) {
    const fix =
      'Choose an address of this machine, and a port that viewlog may use, with --host and --port';
    return [error(`viewlog can't listen at ${address}: ${listenFault}`, fix)];
  }
  const what = `No collector answers at ${address} (${described(reply)}), so no view is accepted there`;
  return [notRunning(what, facts)];
}

function notRunning(what: string, facts: Facts): Verdict {
  const fix = startFix(facts);
  return { ...warning(what, fix), isStart: fix !== undefined };
}

/** Returns how to start viewlog, if it is known which account runs it. */
function startFix({ of, source, disk }: Facts): string | undefined {
  const { account } = disk?.inside ?? {};
  const isUnclear = account === undefined || (account.uid === 0 && source === 'options');
  if (disk !== undefined && isUnclear) return undefined;
  const restart = commands.restart(of);
  // A unit sets its variables itself.
  if (restart !== undefined) return `Start it: ${restart}`;
  const start = commands.start(of);
  if (start === undefined)
    return "Start it as before: its stream's address is a secret, so the doctor prints no command";
  const assumed =
    source === 'options' ? " with this command's options, because no earlier start is known" : '';
  if (!needsTokenVariable(of.chosen)) return `Start it${assumed}: ${start}`;
  return `Set ${TOKEN_ENV}, and start it${assumed}: ${commands.keeping(TOKEN_ENV, start)}`;
}

function otherListener(
  who: string,
  address: string,
  why: string,
  { hasSudo }: Installation,
): Verdict {
  const fix = commands.freePort(portOf(address), hasSudo);
  return error(`${who} listens at ${address} (${why}), so viewlog can't listen there`, fix);
}

/** Checks that views are accepted, by `/readyz` and the status page. */
export function checkHealth(facts: Facts): readonly Verdict[] {
  const { address = '', reply, isReady, reasons = [], overview, another } = facts.status;
  if (another && !isExamined(facts)) {
    const { data } = another;
    const why = data ? `it writes to "${data}"` : HOLDS_NOT;
    return [otherListener('The status server of another viewlog', address, why, facts.of)];
  }
  if (reply === undefined || isNobodyThere(reply)) {
    // `checkCollector` reports a collector that isn't running.
    const isThere = isArchive(facts) || (facts.reply && isFromViewlog(facts.reply));
    if (!isThere || !isExamined(facts)) return [];
    const unknown = "the doctor can't tell whether views are accepted";
    if (another) return [warning(`Another viewlog answers at ${address}; ${unknown}`)];
    if (address === '') return [warning(`--status is off; ${unknown}`)];
    const fix = "Pass the collector's --status address, which is in its log";
    return [warning(`Nothing answers at ${address}; ${unknown}`, fix)];
  }
  if (isReady === undefined) {
    return [otherListener('Another program', address, described(reply), facts.of)];
  }
  if (isArchive(facts)) {
    if (isReady) return [ok(`Ready, according to ${address}/readyz`)];
    const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
    return [error(`Not ready${why}; nothing is archived`, "Read the archive's log")];
  }
  if (overview === undefined) {
    const what = `${isReady ? 'Ready' : 'Not ready'}; without a token, the doctor sees no details`;
    const fix =
      'Run the doctor with --status-token-file, as a user who can read it, or set VIEWLOG_STATUS_TOKEN';
    return [(isReady ? warning : error)(what, fix)];
  }
  if (isReady) return [ok(`Ready, according to ${address}/readyz`)];
  const { unavailable } = overview.store;
  if (unavailable === undefined) {
    return [error('Not ready: viewlog is about to stop', "If it shouldn't stop, restart it")];
  }
  const fix = 'Check the disk (df -h; df -i; quotas), or the cluster; the log says more';
  return [error(`Not ready: ${unavailable}; every view is refused`, fix)];
}

const REFUSALS_MAX = 5;

/** Reports refusals with their causes, and the status page's warnings. */
export function checkRefusals(facts: Facts): readonly Verdict[] {
  const { status, of, projects: reading } = facts;
  const { overview } = status;
  if (overview === undefined) return [];
  const { projects, problems, warnings, store } = overview;
  // Includes refusals that are too few for the page.
  const refused = [...projects, ...problems.filter(({ kind }) => kind === 'requests')].filter(
    ({ state, reasons }) => state === 'silent' || reasons.some(isOpen),
  );
  const more = refused.length - REFUSALS_MAX;
  const rest = more > 0 ? [`${plural(more, 'more project')} with problems`] : [];
  const found = [
    ...refused
      .slice(0, REFUSALS_MAX)
      .map((row) => verdictOf(problemNotice({ ...row, colour: 'amber' }, of, overview.nowMs))),
    ...[...warnings, ...rest].map((note) => warning(note)),
  ];
  if (found.length > 0 && 'faults' in reading) {
    return [
      warning(`First correct the projects file: ${summaryOfFaults(reading.faults)}`),
      ...found,
    ];
  }
  if (found.length > 0 || store.unavailable !== undefined) return found;
  const ids = overview.unlistedInAll;
  const others = ids > 0 ? `, only views of ${plural(ids, 'unlisted id')}` : '';
  return [ok(`No views of listed projects are being refused${others}`)];
}

export function checkOverdue(facts: Facts): readonly Verdict[] {
  const { overdue = [] } = facts.disk?.inside ?? {};
  return overdue.length === 0 ? [] : [verdictOf(overdueNotice(overdue, facts.of))];
}

/** Returns the notice as a warning, each of its commands on a line of its own, ready to copy. */
function verdictOf(notice: Notice): Verdict {
  const [title = '', ...steps] = noticeText(notice).split('\n');
  const fix = steps.map((line) => line.replace('  ', '')).join('\n');
  return warning(title.replace(/\.$/, ''), fix);
}
