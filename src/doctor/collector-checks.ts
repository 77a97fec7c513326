// Checks of the program, its settings, its projects file and the running collector.
import type { Reply } from '../base/ask.ts';
import { timeOf } from '../base/time.ts';
import { plural } from '../base/format.ts';
import { portOf } from '../http/listener.ts';
import { summaryOf } from '../projects/project-list.ts';
import { summaryOfFaults } from '../projects/projects-file.ts';
import {
  overdueNotice,
  type Notice,
  problemNotice,
  RESTORE_PROJECTS,
} from '../status/problem-words.ts';
import * as commands from '../status/shell-commands.ts';
import { isOpen } from '../status/state.ts';
import { noticeText } from '../status/text.ts';
import { described, isFromViewlog, isNobodyThere } from './reply.ts';
import { activeIn, type Facts } from './facts.ts';
import { error, ok, type Verdict, warning } from './finding.ts';

/** The oldest versions that viewlog is tested on. */
const OLDEST = { Node: '20.19', Deno: '2.5', Bun: '1.0' } as const;

export function checkRuntime({ runtime }: Facts): readonly Verdict[] {
  const { name, version, platform } = runtime;
  const what = `${name} ${version} on ${platform}`;
  const isOld = version.localeCompare(OLDEST[name], 'en', { numeric: true }) < 0;
  if (platform === 'linux' && !isOld) return [ok(what)];
  const fix = `Run it on Linux, with ${name} ${OLDEST[name]} or later`;
  return [warning(`${what}; viewlog is not tested there`, fix)];
}

/** Reports that the collector's data directory is examined, not the one on the command line. */
export function checkSettings({ askedData, settings: { data } }: Facts): readonly Verdict[] {
  if (data === askedData) return [];
  const [own, asked] = [data, askedData].map((dir) => (dir ? `--data ${dir}` : '--store'));
  const what = `The collector runs with ${own}, so the doctor examines that, not ${asked}`;
  return [warning(what, 'To examine another collector, give its --data or --status')];
}

export function checkProjects({ projects: reading, settings, status }: Facts): readonly Verdict[] {
  if ('faults' in reading) {
    const kept = 'viewlog does not start with it; a running one keeps the last good list';
    const { projectsFault: fault } = status.overview ?? {};
    if (fault?.isMissing) return [error(`${fault.first}; ${kept}`, RESTORE_PROJECTS)];
    const check = `Correct the file. To see every fault: ${commands.withProjects('check', settings)}`;
    // The message of a file that cannot be read says what to do.
    const fix = typeof reading.content === 'object' ? check : undefined;
    return [error(`${summaryOfFaults(reading.faults)}; ${kept}`, fix)];
  }
  const { projects } = reading.file;
  const what = `"${settings.projects}" has ${summaryOf(projects)}`;
  if (activeIn(reading).length > 0) return [ok(what)];
  const fix = commands.withProjects(`activate ${projects[0]?.id ?? 'ID'}`, settings);
  return [warning(`${what}; every view is refused`, fix)];
}

/** Checks that the process that holds the data directory is the examined collector. */
export function checkLock({ holder, askedPort }: Facts): readonly Verdict[] {
  if (holder === undefined) return [];
  const holds = 'holds the data directory; no other collector can start there';
  if (holder === 'unresponsive') {
    const fix = 'Find it, and end it if it hangs: sudo ss -xlp | grep viewlog.lock';
    return [error(`A process that does not answer ${holds}`, fix)];
  }
  const { pid, sinceMs, address } = holder;
  const port = portOf(address);
  if (port !== undefined && [undefined, 0, port].includes(askedPort)) return [];
  const examine = port === undefined ? '' : `. If it should, examine it with --port ${port}`;
  const fix = `If it should not run any more: sudo kill ${pid}${examine}`;
  const where = address === undefined ? '' : ` at ${address}`;
  return [error(`Process ${pid}, running since ${timeOf(sinceMs)}${where}, ${holds}`, fix)];
}

export function checkCollector(facts: Facts): readonly Verdict[] {
  const { reply, holder, settings, status } = facts;
  const { url: address } = settings;
  const running = typeof holder === 'object' ? holder : undefined;
  if (isFromViewlog(reply)) {
    const version = status.overview === undefined ? '' : ` ${status.overview.version}`;
    const who = running ? `: process ${running.pid}, running since ${timeOf(running.sinceMs)}` : '';
    return [ok(`viewlog${version} answers at ${address}${who}`)];
  }
  if (!isNobodyThere(reply)) return [anotherProgram(address, reply)];
  // The check of the lock reports a process without an address, or one that hangs.
  if (holder !== undefined && running?.address === undefined) return [];
  const what = `No collector answers at ${address}: ${described(reply)}; no view is accepted`;
  const fix = `Start it: sudo systemctl restart viewlog, or: ${commands.serveOf(settings)}`;
  return [warning(what, fix)];
}

function anotherProgram(address: string, reply: Reply): Verdict {
  const what = `Another program answers at ${address}: ${described(reply)}; viewlog cannot listen there`;
  const find = `sudo ss -ltnp 'sport = :${portOf(address)}'`;
  return error(what, `Find it and stop it, or choose another address: ${find}`);
}

/** Checks that views are accepted, by `/readyz` and the status page. */
export function checkHealth(facts: Facts): readonly Verdict[] {
  const { address = '', reply, isReady, overview } = facts.status;
  if (reply === undefined || isNobodyThere(reply)) {
    if (!isFromViewlog(facts.reply)) return [];
    const what = address === '' ? '--status is off' : `Nothing answers at ${address}`;
    const fix = 'Give --status as the collector has it; its log says where it is';
    return [warning(`${what}; it is unknown whether views are accepted`, fix)];
  }
  if (isReady === undefined) return [anotherProgram(address, reply)];
  if (overview === undefined) {
    const what = `${isReady ? 'Ready' : 'Not ready'}; only clients with a token see details`;
    const fix = 'Give --status-token-file, as a user who can read it, or VIEWLOG_STATUS_TOKEN';
    return [(isReady ? warning : error)(what, fix)];
  }
  if (isReady) return [ok(`Ready, according to ${address}/readyz`)];
  const { unavailable } = overview.store;
  if (unavailable === undefined) {
    return [error('Not ready: about to stop', 'If it should not stop, restart it')];
  }
  const fix = 'Check the disk (df -h; df -i; quotas), or the cluster; the log says more';
  return [error(`Not ready: ${unavailable}; every view is refused`, fix)];
}

const REFUSALS_MAX = 5;

/** Reports refusals with their causes, and the status page's warnings. */
export function checkRefusals({ status: { overview }, settings }: Facts): readonly Verdict[] {
  if (overview === undefined) return [];
  const { projects, problems, warnings, store } = overview;
  // Also those that are too few for the page.
  const refused = [...projects, ...problems.filter(({ kind }) => kind === 'requests')].filter(
    ({ state, reasons }) => state === 'silent' || reasons.some(isOpen),
  );
  const more = refused.length - REFUSALS_MAX;
  const rest = more > 0 ? [`${plural(more, 'more project')} with problems`] : [];
  const found = [
    ...refused
      .slice(0, REFUSALS_MAX)
      .map((row) => verdictOf(problemNotice(row, settings, overview.nowMs))),
    ...[...warnings, ...rest].map((note) => warning(note)),
  ];
  if (found.length > 0 || store.unavailable !== undefined) return found;
  return [ok('No view of a listed project is refused now')];
}

export function checkOverdue(facts: Facts): readonly Verdict[] {
  const { overdue = [] } = facts.disk?.inside ?? {};
  return overdue.length === 0 ? [] : [verdictOf(overdueNotice(overdue, facts.settings))];
}

/** Returns the notice as a warning, each of its commands on a line of its own, ready to copy. */
function verdictOf(notice: Notice): Verdict {
  const [title = '', ...steps] = noticeText(notice).split('\n');
  const fix = steps.map((line) => line.replace('  ', '')).join('\n');
  return warning(title.replace(/\.$/, ''), fix);
}
