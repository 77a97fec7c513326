import { formatSize, plural } from '../base/format.ts';
import { BUILD } from '../base/built.ts';
import { ownAddress } from '../http/own-address.ts';
import { summaryOf } from '../projects/project-list.ts';
import * as problems from '../status/problem-words.ts';
import * as commands from '../status/shell-commands.ts';
import { isOpen } from '../status/state.ts';
import type { Place, Words } from '../status/words.ts';
import { described, isRefused, isViewlogs } from './ask.ts';
import { activeIn, type Facts } from './facts.ts';
import { error, judged, ok, timeOf, type Verdict, warning } from './finding.ts';

// Checks of the program, its settings, its projects file and the collector that runs.

function placeOf({ settings }: Facts): Place {
  const { data, projects } = settings;
  const store = data === undefined ? {} : undefined;
  const installation = commands.installationOf({ data: data ?? '', projects, store });
  return { ...installation, url: ownAddress(settings), viewBytesMax: settings['max-view'] };
}

/** The oldest versions that viewlog is tested on. */
const OLDEST = { Node: '20.19', Deno: '2.5', Bun: '1.0' } as const;

export function checkRuntime({ runtime }: Facts): readonly Verdict[] {
  const { name, version, platform } = runtime;
  const what = `${name} ${version} on ${platform}`;
  const isOld = version.localeCompare(OLDEST[name], 'en', { numeric: true }) < 0;
  if (platform === 'linux' && !isOld) return [ok(what)];
  const fix = `Run it on Linux, with ${name} ${OLDEST[name]} or later`;
  return [warning(what, 'viewlog is not tested there', fix)];
}

/** Says once whose settings are examined. */
export function checkSettings({ commandLine, settings }: Facts): readonly Verdict[] {
  const keys = (Object.keys(settings) as (keyof typeof settings)[]).filter(
    (key) => settings[key] !== commandLine[key],
  );
  if (keys.length === 0) return [];
  const shown = keys.map((key) => {
    const value = settings[key] ?? '';
    const isSize = key === 'max-view' || key === 'min-free';
    return `--${key} ${isSize ? formatSize(Number(value)) : String(value)}`;
  });
  const what = `The collector runs with ${shown.join(', ')}, unlike this command line`;
  const why = 'this examines what it runs with';
  if (!keys.includes('data')) return [ok(what, why)];
  return [warning(what, why, 'To examine another collector, give its --status')];
}

export function checkProjects(facts: Facts): readonly Verdict[] {
  const { projects: reading, settings } = facts;
  const place = placeOf(facts);
  if ('faults' in reading) {
    const [first = '', ...more] = reading.faults;
    const rest = more.length === 0 ? '' : ` (and ${plural(more.length, 'more fault')})`;
    const why = 'viewlog does not start with it; a running one keeps the last good list';
    const fix = `Correct the file. To see every fault: ${commands.checkOf(place)}`;
    return [error(`${first}${rest}`, why, fix)];
  }
  const { projects, operator = '' } = reading.file;
  const active = activeIn(reading);
  const [{ id } = projects[0] ?? { id: 'ID' }] = active;
  const activation = commands.activationOf(id, undefined, settings.projects, place.account);
  const open = active.filter(({ origins }) => origins === undefined).length;
  const what =
    `"${settings.projects}" has ${summaryOf(projects)}` +
    (open === 0 ? '' : `, ${open} open to every site`);
  if (active.length === 0) return [warning(what, 'every view is refused', activation)];
  if (operator !== '') return [ok(what)];
  const fix = `${activation} --operator you@example.com`;
  return [warning(`${what}, but no operator`, 'refusals cannot say whom to ask', fix)];
}

/** Whether the collector that was asked about is the one that holds the data directory. */
export function checkLock({
  holder: probe,
  status,
  commandLine,
  reply,
}: Facts): readonly Verdict[] {
  return judged(probe, (holder) => {
    if (holder === undefined) return [];
    const why = `no other collector can start there, such as one at ${ownAddress(commandLine)}`;
    if (holder === 'unresponsive') {
      const fix = 'Find it, and end it if it hangs: sudo ss -xlp | grep viewlog.lock';
      return [error('A process that does not answer holds the data directory', why, fix)];
    }
    const { pid, sinceMs, address } = holder;
    const { port } = commandLine;
    const isAtPort =
      address === undefined ? isViewlogs(reply) : [0, portOf(address)].includes(port);
    const isKnown = status.overview !== undefined && !status.isFromLock;
    if (isKnown ? status.overview.pid === pid : isAtPort) return [];
    const where = address === undefined ? 'without an address' : `at ${address}`;
    const what = `Process ${pid}, running since ${timeOf(sinceMs)} ${where}, holds the data directory`;
    const examine =
      address === undefined ? '' : `. If it should, examine it with --port ${portOf(address)}`;
    return [error(what, why, `If it should not run any more: sudo kill ${pid}${examine}`)];
  });
}

const portOf = (address: string): number => Number(/:(\d+)$/.exec(address)?.[1]);

/** No such address, or a port that fetch never asks. */
const UNREACHABLE = /ADDRNOTAVAIL|assign requested|NOTFOUND|lookup|UNREACH|bad port/i;

export function checkCollector(facts: Facts): readonly Verdict[] {
  const { reply, settings, holder, status, hasUnit } = facts;
  const address = ownAddress(settings);
  const seen = 'seen' in holder ? holder.seen : 'unresponsive';
  if (isViewlogs(reply)) {
    const who =
      typeof seen === 'object'
        ? `: process ${seen.pid}, running since ${timeOf(seen.sinceMs)}`
        : '';
    return [ok(`viewlog answers at ${address}${who}`)];
  }
  const isKnown = status.overview !== undefined;
  if ('failure' in reply && (isKnown || isRefused(reply) || UNREACHABLE.test(reply.failure))) {
    // The check of the lock says what runs instead.
    if (seen !== undefined && !isKnown) return [];
    const what = `No collector answers at ${address}: ${reply.failure}`;
    const start = commands.serveOf(placeOf(facts), settings);
    const fix = hasUnit ? 'sudo systemctl restart viewlog' : isKnown ? 'Restart it' : start;
    return [warning(what, 'no view is accepted', fix)];
  }
  const fix = `${findOf(settings.port)}, or start viewlog with another --port`;
  return [anotherProgram(address, described(reply), fix)];
}

const anotherProgram = (address: string, answer: string, fix: string): Verdict =>
  error(`Another program answers at ${address}: ${answer}`, 'viewlog cannot listen there', fix);

const findOf = (port: number): string => `Find it and stop it: sudo ss -ltnp 'sport = :${port}'`;

export function checkVersion({ status, hasUnit }: Facts): readonly Verdict[] {
  const theirs = status.overview?.version ?? BUILD;
  if (theirs === BUILD) return [];
  const what = `The collector runs viewlog ${theirs}, and this is ${BUILD}`;
  const fix = hasUnit ? 'sudo systemctl restart viewlog' : 'Restart it';
  return [warning(what, 'an update takes effect at a restart', fix)];
}

/** Whether views are accepted, as `/readyz` and the status page say. */
export function checkHealth(facts: Facts): readonly Verdict[] {
  const { address, reply, isReady, overview } = facts.status;
  if (address === undefined) {
    const fix = 'Leave --status at its default, which only this machine can reach';
    return [warning('--status is off', 'nothing says whether views are accepted', fix)];
  }
  if (reply === undefined || isRefused(reply)) {
    if (!isViewlogs(facts.reply)) return [];
    const fix = 'Give --status as the collector has it; its log says where it is';
    return [warning(`Nothing answers at ${address}`, 'health is unknown', fix)];
  }
  if (isReady === undefined) {
    const fix = `${findOf(portOf(address))}, or start viewlog with another --status`;
    return [anotherProgram(address, described(reply), fix)];
  }
  if (!isReady) return [unreadyVerdict(facts)];
  if (overview === undefined) return [warning('Ready, but more is not known', NO_TOKEN, TOKEN)];
  const { warnings } = overview;
  if (warnings.length === 0) return [ok(`Ready, says ${address}/readyz`)];
  const why = 'the collector warns of it';
  return warnings.map((text) => warning(text, why, `See ${address}/`));
}

const NO_TOKEN = 'the status server says why only to those who have its token';
const TOKEN = 'Give --status-token-file, as a user who can read it, or VIEWLOG_STATUS_TOKEN';

function unreadyVerdict(facts: Facts): Verdict {
  const { overview } = facts.status;
  if (overview === undefined) return error('Not ready', NO_TOKEN, TOKEN);
  if (overview.isStopping) {
    const why = 'views are accepted until it stops, and then refused';
    return error('Not ready: about to stop', why, 'If it should not stop, restart it');
  }
  const reason = overview.unavailable ?? 'see the status page';
  const { disk } = overview;
  const fix = disk === undefined ? '' : problems.diskAdvice(disk, facts.settings.data ?? '');
  return error(`Not ready: ${reason}`, 'every view is refused', fix);
}

const REFUSALS_MAX = 5;

/** What is refused now and why, as the status page says. */
export function checkRefusals(facts: Facts): readonly Verdict[] {
  const { overview, address } = facts.status;
  if (overview === undefined) return [];
  const { requests, projects } = overview;
  const told = [
    ...(requests === undefined ? [] : [requests]),
    ...projects.filter(({ state, reasons }) => state === 'silent' || reasons.some(isOpen)),
  ].map((row) => problems.problemTold(row, overview, placeOf(facts)));
  if (told.length === 0) return [ok('No view of a listed project is refused now')];
  const verdicts = told.slice(0, REFUSALS_MAX).map(verdictOf);
  const more = told.length - verdicts.length;
  const fix = `The status page shows them all: ${address}/`;
  return more === 0 ? verdicts : [...verdicts, warning(`${more} more of these`, undefined, fix)];
}

export function checkOverdue(facts: Facts): readonly Verdict[] {
  const { overdue = [] } = facts.disk?.inside?.around ?? {};
  return overdue.length === 0 ? [] : [verdictOf(problems.overdueTold(overdue, placeOf(facts)))];
}

const wordsOf = (words: Words): string =>
  words.map((word) => (typeof word === 'string' ? word : timeOf(word.getTime()))).join('');

const verdictOf = (told: problems.Told): Verdict =>
  warning(wordsOf(told.title).replace(/\.$/, ''), undefined, stepsOf(told));

const stepsOf = ({ steps }: problems.Told): string =>
  steps
    .map(({ words, command }) => `${wordsOf(words)}${command === undefined ? '' : ` ${command};`}`)
    .join(' ')
    .replace(/[.;]$/, '');
