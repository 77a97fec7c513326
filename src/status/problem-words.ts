// What is wrong and what to do about it, for the page and for plain text.
import {
  formatCount,
  formatDuration,
  formatRoundedSize,
  formatSize,
  plural,
} from '../base/format.ts';
import { MiB } from '../base/size.ts';
import { clip, printable, shellQuoted } from '../base/text.ts';
import { curlOf } from '../projects/curl.ts';
import type { Remedy } from '../view/remedy.ts';
import type { Sample } from './reasons.ts';
import type { ReasonFacts, RequestsProblem, Row, StatusModel, UnlistedFacts } from './model.ts';
import * as commands from './shell-commands.ts';
import { isOpen } from './state.ts';
import {
  at,
  named,
  type Place,
  REASONS,
  requestReason,
  say,
  type Step,
  type Words,
} from './words.ts';

/** Something wrong, and what to do about it. */
export interface Told {
  readonly kind?: 'red' | 'amber' | 'green';
  readonly title: Words;
  readonly steps: readonly Step[];
}

/** What is wrong, the worst first, then what is fixed by now. */
export function toldOf(model: StatusModel, place: Place): Told[] {
  const { projectsFault: fault, requests, problems, problemsLeftOut, overdue, fixed } = model;
  const notes = [
    ...(problemsLeftOut > 0
      ? [`${plural(problemsLeftOut, 'more project')} with problems: see below.`]
      : []),
    ...(model.isStopping ? ['viewlog is about to stop. It accepts views until it does.'] : []),
    ...model.warnings,
  ];
  return [
    ...(model.unavailable === undefined ? [] : [storeTold(model, place)]),
    ...(fault === undefined ? [] : [faultTold(fault, place)]),
    ...problems.map((problem) => problemTold(problem, model, place)),
    ...(requests === undefined ? [] : [requestsTold(requests)]),
    ...(overdue.length === 0 ? [] : [overdueTold(overdue, place)]),
    ...notes.map((note): Told => ({ kind: 'amber', title: [note], steps: [] })),
    ...fixed.map((row) => fixedTold(row, place)),
  ];
}

function faultTold(fault: NonNullable<StatusModel['projectsFault']>, place: Place): Told {
  const words = ['Correct the file. Until then no command can change it. To see every fault:'];
  return {
    kind: 'amber',
    title: say`${fault.first}. Faulty since ${at(fault.sinceMs)}; the last good list stays active.`,
    steps: [{ words, command: commands.checkOf(place) }],
  };
}

export function overdueTold(overdue: readonly string[], place: Place): Told {
  const { files, command } = commands.removalOf(overdue, place);
  const title = `${plural(overdue.length, 'file')} should have been removed by now.`;
  const which = files < overdue.length ? `the oldest ${files}` : 'them';
  const words = [`viewlog removes one of each kind an hour. To remove ${which} now:`];
  return { kind: 'amber', title: [title], steps: [{ words, command }] };
}

export function storeTold(
  { unavailable = '', unavailableSinceMs: ms, disk }: StatusModel,
  place: Place,
): Told {
  const since = ms === undefined ? ['now'] : say`since ${at(ms)}`;
  const title = ['Views are refused with 503 ', ...since, `: ${unavailable}.`];
  if (disk === undefined) return { kind: 'red', title, steps: [] };
  const { dataDir = '' } = place;
  const command = `df -h ${shellQuoted(dataDir)}`;
  return { kind: 'red', title, steps: [{ words: [diskAdvice(disk, dataDir)], command }] };
}

type DiskFacts = NonNullable<StatusModel['disk']>;

export function diskAdvice(
  { freeBytes = 0, minFreeBytes, remedy }: Pick<DiskFacts, 'freeBytes' | 'minFreeBytes' | 'remedy'>,
  dataDir: string,
): string {
  if (remedy.kind === 'lower-min-free') {
    const lower = Math.max(1, Math.floor(Math.min(64, remedy.diskBytes / 8 / MiB)));
    return (
      `--min-free is ${formatSize(minFreeBytes)}, but this file system can never have more than ` +
      `${formatRoundedSize(remedy.diskBytes)} free. Start viewlog with --min-free ${lower}MiB, or use ` +
      'a larger disk.'
    );
  }
  if (remedy.kind === 'free-disk-space') {
    return (
      `${formatRoundedSize(freeBytes)} are free, and ${formatRoundedSize(remedy.bytes)} more are ` +
      'needed: delete views-*.ndjson of earlier days that are shipped or copied, or ' +
      'refused-*.ndjson. viewlog then continues by itself.'
    );
  }
  return `Check the disk of ${dataDir} and viewlog's log. Quotas and inodes run out, too.`;
}

export function problemTold(row: Row, model: StatusModel, place: Place): Told {
  const { state, name, accepted, refused, active, sinceMs = model.nowMs, reasons } = row;
  if (state === 'silent') return silentTold(row, model, place);
  const all = plural(accepted + refused, 'view');
  const many = state === 'refused' ? `all ${all}` : `${formatCount(refused)} of ${all}`;
  const still = active ? '' : ' (inactive, but still sending)';
  return {
    kind: state === 'refused' ? 'red' : 'amber',
    title: say`${named(name)}${still}: refused since ${at(sinceMs)}, ${many} of the last hour.`,
    steps: [
      ...reasons.filter(isOpen).flatMap((reason) => reasonSteps(reason, row, place)),
      ...fixedTold(row, place).steps,
    ],
  };
}

function silentTold(row: Row, { nowMs, total }: StatusModel, place: Place): Told {
  const { id, name, sinceMs = nowMs, acceptedYesterday, origins } = row;
  const site = origins?.find(commands.isPlainOrigin);
  let step: Step = { words: ["Check that the site's pages still contain the script."] };
  if (total.lastHour === 0) {
    const words = ['No project has views now. Check whether browsers reach viewlog:'];
    step = { words, command: commands.doctorOf(place) };
  } else if (site !== undefined) {
    const words = ['This prints the script in its home page; if it prints nothing, put it back:'];
    step = { words, command: commands.scriptCheckOf(id, site) };
  }
  const age = formatDuration(nowMs - sinceMs);
  const title = say`${named(name)}: no view for ${age}, since ${at(sinceMs)}; ${acceptedYesterday} came in the same 3 hours yesterday.`;
  return { kind: 'amber', title, steps: [step] };
}

function fixedTold({ name, reasons }: Row, place: Place): Told {
  const fixed = reasons.filter(({ isFixed, lastHour }) => isFixed && lastHour > 0);
  const sinceMs = Math.max(0, ...fixed.map(({ lastMs }) => lastMs));
  const steps = fixed.map(({ sample, lastMs, lastHour, keptDays }): Step => {
    const from =
      sample.code === 'origin-not-allowed'
        ? ` from ${printable(sample.origin ?? 'no origin')}`
        : '';
    const what = `${plural(lastHour, 'view')}${from} (${REASONS[sample.code]})`;
    // Views that are faulty stay so.
    const canReplay = keptDays.length > 0 && sample.code !== 'invalid-view';
    const words = say`Fixed since ${at(lastMs)}: ${what} refused before.${canReplay ? ' To send them again:' : ''}`;
    return {
      words,
      command: canReplay ? commands.replayOf(sample.project ?? '', keptDays, place) : undefined,
    };
  });
  return { kind: 'green', title: say`${named(name)}: fixed since ${at(sinceMs)}.`, steps };
}

export function requestsTold({ failed, of, reasons, isFixed, lastMs }: RequestsProblem): Told {
  const many = `${formatCount(failed)} of ${plural(of, 'request')} of the last hour failed`;
  const steps = reasons.map((reason): Step => {
    const { sample, lastHour } = reason;
    const from = sample.origin === undefined ? '' : `, the latest from ${printable(sample.origin)}`;
    const what = `${plural(lastHour, 'request')}: ${requestReason(reason)}${from}.`;
    return { words: [isFixed ? what : `${what} ${adviceOf(reason)}`] };
  });
  if (isFixed) return { kind: 'green', title: say`Fixed since ${at(lastMs)}: ${many}.`, steps };
  return { kind: 'amber', title: [`${many} before their project was known.`], steps };
}

/** Why views of a project are refused, and what fixes that. */
export function reasonSteps(reason: ReasonFacts, row: Row, place: Place): Step[] {
  const { sample, lastHour, keptDays, remedy } = reason;
  const { project: id = '', code } = sample;
  const words = [`${plural(lastHour, 'view')}: ${reasonWords(sample, row)}. ${adviceOf(reason)}`];
  const step = { words, command: commandOf(reason, place) };
  // Views that are faulty stay so.
  if (keptDays.length === 0 || code === 'invalid-view' || remedy.kind === 'fix-projects-file')
    return [step];
  const replay = commands.replayOf(id, keptDays, place);
  return [step, { words: ['Then send the refused views again:'], command: replay }];
}

function reasonWords({ code, origin, issues }: Sample, { maxViewsPerMinute: limit }: Row): string {
  if (code === 'origin-not-allowed' && origin !== undefined) {
    return `sent from ${printable(origin)}, an origin that is not listed`;
  }
  if (code === 'rate-limited' && limit !== undefined) {
    return `over its limit of ${plural(limit, 'view')} a minute`;
  }
  if (code === 'invalid-view') return `invalid: ${issues.map(issueWords).join('; ')}`;
  return REASONS[code];
}

const NO_TEXT = /\b(integer|boolean|array|object)$/;

function issueWords({ field, message, received }: Sample['issues'][number]): string {
  // Text in quotes looks like the number that it should be.
  const kind = received.startsWith('"') && NO_TEXT.test(message) ? 'the string ' : '';
  const name = field === '' ? 'the view' : printable(field);
  return `${name} ${printable(message)}, received ${kind}${printable(received)}`;
}

/** A command is printed only if it works as printed. */
function commandOf({ remedy, sample, keptDays }: ReasonFacts, place: Place): string | undefined {
  const { project: id = '' } = sample;
  const { kind } = remedy;
  if (kind === 'raise-limit') return commands.raisedLimitOf(id, remedy.viewsPerMinute, place);
  if (kind === 'activate' || kind === 'add-origin') {
    return commands.activationOf(id, remedy.origin, place.projectsPath, place.account);
  }
  return kind === 'fix-page' ? commands.explainOf(id, keptDays, place) : undefined;
}

const OTHERWISE = 'If this continues: viewlog help trouble';

const ADVICE: Readonly<Partial<Record<Remedy['kind'], string>>> = {
  activate: 'Remove the script from its pages, or activate the project:',
  'add-origin': 'If it is one of its sites, add it:',
  'raise-limit': 'Unless this is a flood, raise the limit to twice what is sent:',
  'send-origin': 'Send them from a browser, or with an Origin header.',
  'check-proxy':
    "That is usually a proxy's size limit (nginx: client_max_body_size; Caddy: request_body).",
  'fix-projects-file': 'Correct the projects file first.',
  fixed: 'They would be accepted now; waiting for the next one.',
};

function adviceOf({ remedy, sample, keptDays }: ReasonFacts): string {
  if (remedy.kind === 'fix-page') return pageAdvice(sample, keptDays.length > 0);
  if (remedy.kind !== 'raise-max-view') return ADVICE[remedy.kind] ?? OTHERWISE;
  return `Send less, or start viewlog with --max-view ${formatSize(remedy.bytes).replace(' ', '')}.`;
}

function pageAdvice({ code, origin = '', text = '' }: Sample, isKept: boolean): string {
  if (code === 'unsupported-media-type') {
    return 'Send them as application/json; with sendBeacon, as a Blob of that type.';
  }
  const [, url = ''] = /"url"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  const page = printable(clip(`${origin}${url}`, 100));
  const advice = page === '' ? 'Correct the page that sends them.' : `Correct the page "${page}".`;
  return isKept ? `${advice} To explain the latest:` : advice;
}

/** What to do about views of an id that is not listed. */
export function unlistedStep(
  { id, near, origin, isInFaultyFile }: UnlistedFacts,
  { projectsFault }: StatusModel,
  { projectsPath, account }: Place,
): Step {
  if (isInFaultyFile) return { words: ['It is in the file, which is not active.'] };
  if (projectsFault !== undefined) return { words: ['Correct the projects file first.'] };
  const command = commands.activationOf(id, origin, projectsPath, account);
  if (near === undefined) return { words: ['If it is a site of yours:'], command };
  const where =
    origin === undefined ? 'the page that sends it' : `the pages of ${printable(origin)}`;
  const typo = `Probably ${near.id} (${named(near.name)}) is meant: then correct ${where}.`;
  return { words: [`${typo} If not:`], command };
}

/** What to do first, for a collector that has never accepted a view. */
export function firstSteps(
  { firstSteps: first, projectsFault, unavailable, startMs }: StatusModel,
  place: Place,
): Step[] {
  if (first === undefined || projectsFault !== undefined || unavailable !== undefined) return [];
  const { SITE, VIEWS_SITE } = commands;
  const { id, active, origins } = first.project ?? {
    id: '1000001',
    active: false,
    origins: [SITE],
  };
  const site = first.project === undefined ? SITE : undefined;
  const own =
    site === undefined ? '' : `, with an id of your choice, and its address in place of ${SITE}`;
  const activation = commands.activationOf(id, site, place.projectsPath, place.account);
  const script = `Print the script for its pages, with the address at which browsers reach viewlog in place of ${VIEWS_SITE}:`;
  return [
    ...(active ? [] : [{ words: [`Activate a project${own}:`], command: activation }]),
    { words: [script], command: commands.snippetOf(id, place) },
    {
      words: ['Or try it from this machine; the view counts:'],
      command: curlOf({ id, origins }, place.url, startMs),
    },
  ];
}
