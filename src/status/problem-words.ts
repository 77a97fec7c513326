// Renders problems and their fixes as sentences and commands, for the page and for plain text.
import {
  formatCount,
  formatDuration,
  formatRoundedSize,
  formatSize,
  formatSizeOption,
  plural,
} from '../base/format.ts';
import { MiB } from '../base/size.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { curlOf } from '../projects/curl.ts';
import type { ReasonFacts, Row, StatusModel } from './model.ts';
import * as commands from './shell-commands.ts';
import { isProblem } from './state.ts';
import { at, named, type Place, reasonOf, say, type Step, type Words } from './words.ts';

/** A problem and its fix. */
export interface Notice {
  readonly kind?: 'red' | 'amber' | 'green';
  readonly title: Words;
  readonly steps: readonly Step[];
}

/** Returns the problems, the worst first, then those that are fixed by now. */
export function noticesOf(model: StatusModel, place: Place): Notice[] {
  const { projectsFault: fault, requests, problems, problemsInAll, overdue, unavailable } = model;
  const more = problemsInAll - problems.length;
  const notes = [
    ...(more > 0 ? [`${plural(more, 'more project')} with problems.`] : []),
    ...(model.isStopping ? ['viewlog is about to stop. It accepts views until it does.'] : []),
    ...model.warnings,
  ];
  return [
    ...(unavailable === undefined ? [] : [storeNotice(model, place)]),
    ...(fault === undefined ? [] : [faultNotice(fault, place)]),
    ...problems.map((problem) => problemNotice(problem, model, place)),
    ...(requests === undefined ? [] : [problemNotice(requests, model, place)]),
    ...(overdue.length === 0 ? [] : [overdueNotice(overdue, place)]),
    ...notes.map((note): Notice => ({ kind: 'amber', title: [note], steps: [] })),
    ...model.fixed.map((row): Notice => {
      const steps = row.reasons.flatMap((reason) => reasonSteps(reason, row, place));
      return { kind: 'green', title: [`${named(row.name)}: fixed.`], steps };
    }),
    ...firstSteps(model, place),
  ];
}

export const RESTORE_PROJECTS =
  'Restore it from a backup, or write it again. viewlog activate would create one that lists a ' +
  'single project, and views of all others would be refused.';

function faultNotice(fault: NonNullable<StatusModel['projectsFault']>, place: Place): Notice {
  const words = ['Correct the file. Until then no command can change it. To see every fault:'];
  const restore = { words: [RESTORE_PROJECTS] };
  return {
    kind: 'amber',
    title: say`${fault.first.replace(/[^?]$/, '$&.')} Faulty since ${at(fault.sinceMs)}; the last good list stays active.`,
    steps: [fault.isMissing ? restore : { words, command: commands.checkOf(place) }],
  };
}

export function overdueNotice(overdue: readonly string[], place: Place): Notice {
  const { files, command } = commands.removalOf(overdue, place);
  const title = `${plural(overdue.length, 'file')} should have been removed by now.`;
  const which = files < overdue.length ? `the oldest ${files}` : 'them';
  const words = [`viewlog removes one of each kind an hour. To remove ${which} now:`];
  return { kind: 'amber', title: [title], steps: [{ words, command }] };
}

function storeNotice(
  { unavailable = '', unavailableSinceMs: ms, disk, nowMs }: StatusModel,
  place: Place,
): Notice {
  const title = say`Views are refused with 503 since ${at(ms ?? nowMs)}: ${unavailable}.`;
  if (disk === undefined) return { kind: 'red', title, steps: [] };
  const { dataDir = '' } = place;
  const { kind } = disk.remedy;
  const look = kind === 'none' ? commands.doctorOf(place) : undefined;
  const command = kind === 'free-disk-space' ? `ls -lh ${shellQuoted(dataDir)}` : look;
  return { kind: 'red', title, steps: [{ words: [diskAdvice(disk, dataDir)], command }] };
}

type DiskFacts = NonNullable<StatusModel['disk']>;

export function diskAdvice(
  { freeBytes = 0, minFreeBytes, remedy }: Pick<DiskFacts, 'freeBytes' | 'minFreeBytes' | 'remedy'>,
  dataDir: string,
): string {
  if (remedy.kind === 'lower-min-free') {
    const most = formatRoundedSize(remedy.diskBytes);
    const lower = Math.max(1, Math.floor(Math.min(64, remedy.diskBytes / 8 / MiB)));
    return (
      `--min-free is ${formatSize(minFreeBytes)}, but this file system can never have more than ` +
      `${most} free. Start viewlog with --min-free ${lower}MiB, or use a larger disk.`
    );
  }
  if (remedy.kind === 'free-disk-space') {
    return (
      `${formatRoundedSize(freeBytes)} are free, and ${formatRoundedSize(remedy.bytes)} more are ` +
      'needed: delete views-*.ndjson of earlier days that are shipped or copied, or ' +
      'refused-*.ndjson. viewlog then continues by itself.'
    );
  }
  return `Check ${dataDir}: its owner, its disk, quotas and inodes. viewlog continues by itself.`;
}

/** Returns the problem of a project's views, or of requests that name no project. */
export function problemNotice(row: Row, model: StatusModel, place: Place): Notice {
  const { state, id, name, accepted, refused, active, sinceMs = model.nowMs, reasons } = row;
  if (state === 'silent') return silentNotice(row, model);
  const all = plural(accepted + refused, nounOf(row));
  const only = refused === 1 ? `the only ${nounOf(row)}` : `all ${all}`;
  const many = accepted === 0 ? only : `${formatCount(refused)} of ${all}`;
  const still = active ? '' : ' (inactive, but still sending)';
  return {
    kind: state === 'refused' && id !== '' ? 'red' : 'amber',
    title: say`${named(name)}${still}: refused since ${at(sinceMs)}, ${many} of the last hour.`,
    steps: reasons.flatMap((reason) => reasonSteps(reason, row, place)),
  };
}

function silentNotice(row: Row, { nowMs }: StatusModel): Notice {
  const { id, name, sinceMs = nowMs, acceptedYesterday, origins = [] } = row;
  const site = origins.find((origin) => !origin.includes('*'));
  const age = formatDuration(nowMs - sinceMs);
  const title = say`${named(name)}: no view for ${age}, since ${at(sinceMs)}; ${acceptedYesterday} came in the same 3 hours yesterday.`;
  const check = "Check that the site's pages still contain the script.";
  const command = site === undefined ? undefined : commands.scriptCheckOf(id, site);
  const words = [`${check}${site === undefined ? '' : ' This prints it from the home page:'}`];
  return { kind: 'amber', title, steps: [{ words, command }] };
}

/**
 * Returns the reasons of refusals in the last 24 hours. The fixes of a problem are above the table.
 */
export const reasonNotices = (row: Row, place: Place): Notice[] =>
  row.reasons.map((reason) => {
    const { sample, lastDay, lastMs } = reason;
    const title = say`${lastDay} refused in 24 hours, the latest ${at(lastMs)}: ${reasonOf(sample)}`;
    const text = sample.text && printable(sample.text, 1000);
    const detail = { words: [printable(sample.detail, 500)], command: text };
    const steps = isProblem(row) ? [] : reasonSteps(reason, row, place);
    return { title, steps: [detail, ...steps] };
  });

const nounOf = ({ id }: Row): string => (id === '' ? 'request' : 'view');

/** Returns the fixes for a reason of refusals, and how to send the views again. */
export function reasonSteps(reason: ReasonFacts, row: Row, place: Place): Step[] {
  const { lastHour, sinceMs, lastMs, isFixed } = reason;
  if (lastHour === 0) return [];
  const what = `${plural(lastHour, nounOf(row))}${reasonWords(reason, row)}.`;
  if (!isFixed) return fixSteps(reason, place, `${what} `);
  const replay = replayOf(reason, place);
  const again = replay === undefined ? '' : ' To send them again:';
  const fixed = say`${what} The first was refused ${at(sinceMs)}, the last ${at(lastMs)}.${again}`;
  return [{ words: fixed, command: replay }];
}

/** Faulty views stay faulty, so only others can be sent again. */
function replayOf({ sample, remedy, keptDays }: ReasonFacts, place: Place): string | undefined {
  const staysRefused = sample.code === 'invalid-view' || remedy.kind === 'send-origin';
  if (staysRefused || keptDays.length === 0) return undefined;
  return commands.replayOf(sample.project ?? '', keptDays, place);
}

function fixSteps(reason: ReasonFacts, place: Place, what: string): Step[] {
  const [advice, command] = fixOf(reason, place);
  const replay = replayOf(reason, place);
  const again = { words: ['Then send the refused views again:'], command: replay };
  return [{ words: [what + advice], command }, ...(replay === undefined ? [] : [again])];
}

function reasonWords(reason: ReasonFacts, { id, maxViewsPerMinute: limit }: Row): string {
  const { sample, isFixed } = reason;
  const { code, issues } = sample;
  // The limit may have been raised since.
  const isOver = code === 'rate-limited' && !isFixed;
  const from = fromWords(sample);
  if (code === 'origin-not-allowed') return ` ${from}: origin not allowed`;
  if (isOver && limit !== undefined) {
    return `: over its limit of ${plural(limit, 'view')} a minute`;
  }
  if (code !== 'invalid-view') {
    return `${id === '' ? `, the latest ${from}` : ''}: ${reasonOf(sample)}`;
  }
  const faults = issues.map(({ field, message, received }) => {
    const name = field === '' ? 'the view' : printable(field);
    return `${name} ${printable(message)} (received ${printable(received)})`;
  });
  return `: ${faults.join('; ')}`;
}

type Fix = readonly [advice: string, command?: string | undefined];
type Sent = Pick<ReasonFacts['sample'], 'code' | 'project' | 'origin' | 'text'>;

/** Returns what to do about refusals. */
export function fixOf(
  { remedy, sample, keptDays }: Pick<ReasonFacts, 'remedy' | 'keptDays'> & { sample: Sent },
  place: commands.Owned,
): Fix {
  const { project: id = '', code } = sample;
  const { kind } = remedy;
  const advice = ADVICE[kind] ?? 'If this continues: viewlog help trouble';
  if (kind === 'activate' || kind === 'add-origin') {
    return [advice, commands.activationOf(id, remedy.origin, place)];
  }
  if (kind === 'raise-limit') {
    return [advice, commands.raisedLimitOf(id, remedy.viewsPerMinute, place)];
  }
  if (kind === 'raise-max-view') {
    return [`${advice} ${formatSizeOption(remedy.bytes)}.`];
  }
  if (kind !== 'fix-page' || code === 'unsupported-media-type') return [advice];
  return pageFix(sample, commands.explainOf(id, keptDays, place));
}

const ADVICE: Readonly<Partial<Record<ReasonFacts['remedy']['kind'], string>>> = {
  activate: 'If it is a site of yours, activate it; if not, remove the script from its pages:',
  'add-origin': 'If it is one of its sites, add it:',
  'raise-limit': 'Unless this is a flood, raise the limit to twice what is sent:',
  'raise-max-view': 'Send less, or start viewlog with --max-view',
  'send-origin': 'Send them from a browser, or with an Origin header.',
  'fix-page': 'Send them as application/json; with sendBeacon, as a Blob of that type.',
  'check-proxy':
    "That is usually a proxy's size limit (nginx: client_max_body_size; Caddy: request_body).",
  'fix-projects-file': 'Correct the projects file first.',
  fixed: 'They would be accepted now; waiting for the next one.',
};

function pageFix({ origin = '', text = '' }: Sent, explain?: string): Fix {
  const [, url] = /"url"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  const page = url === undefined ? 'that sends them' : `"${printable(url, 100)}"`;
  const advice = `Correct the page ${page}${origin === '' ? '' : ` of ${printable(origin)}`}.`;
  return explain === undefined ? [advice] : [`${advice} To explain the latest:`, explain];
}

/** Shown for views of ids that are not listed. */
const IN_FAULTY_FILE =
  'It is in the projects file, which is faulty and so not active. Correct the file first.';

export function unlistedNotices(model: StatusModel, place: Place): Notice[] {
  const { unlisted, unlistedInAll, projectsFault } = model;
  const notices = unlisted.map(({ id, reason }): Notice => {
    const { lastDay, lastHour, lastMs, sample } = reason;
    const views = plural(lastDay, 'view');
    const title = say`${id}: ${views} in 24 hours, ${lastHour} in the last hour, ${fromWords(sample)}, the latest ${at(lastMs)}`;
    if (projectsFault?.idsInFile.has(id)) return { title, steps: [{ words: [IN_FAULTY_FILE] }] };
    return { title, steps: fixSteps(reason, place, '') };
  });
  const left = unlistedInAll - unlisted.length;
  return left === 0 ? notices : [...notices, { title: [plural(left, 'more id')], steps: [] }];
}

const fromWords = ({ origin }: ReasonFacts['sample']): string =>
  origin === undefined ? 'without an Origin' : `from ${printable(origin)}`;

const EXAMPLE = { id: '1000001', active: false, origins: ['https://www.example.com'] };

/** Returns the first steps, for a collector that has never accepted a view. */
function firstSteps(model: StatusModel, place: Place): Notice[] {
  const { firstSteps: first, projectsFault, unavailable, startMs } = model;
  if (first === undefined || projectsFault !== undefined || unavailable !== undefined) return [];
  const { id, active, origins } = first.project ?? EXAMPLE;
  const origin = first.project === undefined ? EXAMPLE.origins[0] : undefined;
  const activate = 'Activate a project, with an id and an address of your own:';
  const script =
    'Print the script for its pages, with the address at which browsers reach viewlog:';
  const test = 'Or try it from this machine; the view counts:';
  const steps = [
    { words: [activate], command: commands.activationOf(id, origin, place) },
    { words: [script], command: commands.snippetOf(id, place) },
    { words: [test], command: curlOf({ id, origins }, place.url, startMs) },
  ];
  return [{ title: ['To get the first view'], steps: active ? steps.slice(1) : steps }];
}
