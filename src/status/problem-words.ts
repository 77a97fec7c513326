// Renders problems and their fixes as sentences and commands, for the page and for plain text.
import {
  formatCount,
  formatDuration,
  formatRoundedSize,
  formatSize,
  formatSizeOption,
  KiB,
  MiB,
  plural,
} from '../base/format.ts';
import { LIMITS } from '../base/limits.ts';
import { printable } from '../base/text.ts';
import { fileNameOf } from '../disk/names.ts';
import * as commands from '../installation/commands.ts';
import type { Installation } from '../installation/installation.ts';
import { curlOf } from '../projects/curl.ts';
import { isStream } from './health.ts';
import type { ProjectRow, StatusModel } from './model.ts';
import { type Issue, type RefusalCode, REFUSALS } from '../view/refusal.ts';
import type { Remedy } from '../view/remedy.ts';
import type { Space } from './look-around.ts';
import type { Dropped } from '../store/store.ts';
import { type Colour, type Fate, isOpen, type JudgedReason } from './state.ts';
import { at, named, nounOf, problemWords, refusalLabel } from './words.ts';

/** A fix, and the command for it. */
interface Step {
  readonly text: string;
  readonly command?: string | undefined;
}

export const stepText = ({ text, command = '' }: Step): string => `${text} ${command}`.trimEnd();

/** A problem and its fix. */
export interface Notice {
  readonly colour?: Colour | undefined;
  readonly title: string;
  readonly steps: readonly Step[];
}

/** Returns the problems, the worst first, then those that are fixed by now. */
export function noticesOf(model: StatusModel): Notice[] {
  const { installation: of, projectsFault: fault, problems, overdue, store } = model;
  const notes = [
    ...(model.isStopping ? ['viewlog is about to stop, and accepts views until then.'] : []),
    ...model.warnings,
  ];
  const notices: Notice[] = [
    ...(fault === undefined ? [] : [faultNotice(fault, of)]),
    ...(store.unavailable === undefined ? [] : [storeNotice(model)]),
    ...problems.map((row) => problemNotice(row, of, model.nowMs)),
    ...(overdue.length === 0 ? [] : [overdueNotice(overdue, of)]),
    ...notes.map((note): Notice => ({ colour: 'amber', title: note, steps: [] })),
    ...(model.isNew && !fault && !store.unavailable ? [firstSteps(model)] : []),
  ];
  const unknown = commands.unknownFacts(of);
  const hasCommands = notices.some(({ steps }) => steps.some(({ command }) => command));
  if (unknown !== undefined && hasCommands) notices.push({ title: `${unknown}.`, steps: [] });
  return notices;
}

export const RESTORE_PROJECTS =
  'Restore it from a backup, or write it again. The command "activate" would create a file ' +
  "with only one project, and all other projects' views would be refused.";

function faultNotice(fault: NonNullable<StatusModel['projectsFault']>, of: Installation): Notice {
  const text = 'Correct the file. Until then no command can change it. To see every fault:';
  const correct = { text, command: commands.check(of) };
  const line = { text: 'The line:', command: printable(fault.line ?? '', 300) };
  return {
    colour: 'amber',
    title: `${fault.first.replace(/[^?]$/, '$&.')} Faulty since ${at(fault.sinceMs)}; the last good list stays active.`,
    steps: fault.isMissing
      ? [{ text: RESTORE_PROJECTS }]
      : [...(fault.line === undefined ? [] : [line]), correct],
  };
}

export function overdueNotice(overdue: readonly string[], of: Installation): Notice {
  const title = `${plural(overdue.length, 'file')} should have been removed by now.`;
  const text = 'viewlog removes one day of each kind per hour. To remove the oldest now:';
  const steps = [{ text, command: commands.remove(of, overdue) }];
  return { colour: 'amber', title, steps };
}

function storeNotice({
  installation: of,
  minFreeBytes,
  store,
  space,
  unstorable,
}: StatusModel): Notice {
  const { unavailable, unavailableSinceMs: ms } = store;
  const since = ms === undefined ? '' : ` since ${at(ms)}`;
  const title = `Views ${ms === undefined ? 'are' : 'have been'} refused with 503${since}: ${unavailable}.`;
  const lost = {
    text: `${plural(unstorable, 'view')} of the last 24 hours not stored: ${NOT_STORED['storage-unavailable']}`,
  };
  const fixes = isStream(store) ? [] : [spaceStep(space, of, minFreeBytes)];
  return { colour: 'red', title, steps: unstorable === 0 ? fixes : [...fixes, lost] };
}

/** Returns what to do if views can't be stored, by the free space of the disk. */
export function spaceStep(space: Space | undefined, of: Installation, minFreeBytes: number): Step {
  const { freeBytes = 0, sizeBytes = Infinity, missingBytes = 0 } = space ?? {};
  if (minFreeBytes > sizeBytes) {
    const lower = Math.max(1, Math.floor(Math.min(64, sizeBytes / 8 / MiB)));
    const from = of.chosen['min-free']?.from;
    const variable = from === 'variable' ? ` with VIEWLOG_MIN_FREE=${lower}MiB` : undefined;
    const text =
      `--min-free is ${formatSize(minFreeBytes)} (${SET_BY[from ?? 'default']}), but this file ` +
      `system can never have more than ${formatRoundedSize(sizeBytes)} free. Start viewlog` +
      `${variable ?? ` with --min-free ${lower}MiB`}, or use a larger disk.`;
    return { text };
  }
  if (missingBytes > 0) {
    const text =
      `Free space: ${formatRoundedSize(freeBytes)}. viewlog needs ${formatRoundedSize(missingBytes)} ` +
      'more: delete views-*.ndjson of earlier days that you have shipped or copied, or ' +
      'refused-*.ndjson. viewlog then accepts views again.';
    return { text, command: commands.list(of) };
  }
  const text = `Check the owner, disk, quotas and inodes of ${of.data ?? 'the data directory'}. Once writes succeed, viewlog accepts views again.`;
  return { text, command: commands.doctor(of) };
}

const SET_BY = {
  flag: 'set by the flag',
  variable: 'set by VIEWLOG_MIN_FREE',
  default: 'the default',
};

const CHECK_PAGES = { text: "Check that the site's pages still contain the script." };

/** Returns the problem of a project's views, or of requests that name no project. */
export function problemNotice(row: ProjectRow, of: Installation, nowMs: number): Notice {
  const { colour, state, name, active, sinceMs = 0, reasons } = row;
  const still = active ? '' : ' (inactive, but still sending)';
  const what = colour === 'green' ? 'fixed' : problemWords(row);
  const title = `${named(name)}${still}: ${what}, since ${at(sinceMs)}.`;
  const lately = reasons.filter(({ lastHour }) => lastHour > 0);
  const steps = lately.flatMap((one) => reasonSteps(one, row, of, nowMs));
  return { colour, title, steps: state === 'silent' ? [CHECK_PAGES] : steps };
}

/** Returns the reasons of refusals in the last 24 hours, with a sample of each. */
export const reasonNotices = (
  row: ProjectRow,
  { installation: of, nowMs }: StatusModel,
): Notice[] =>
  row.reasons.map((reason) => {
    const { detail, text } = reason.sample;
    const sample = { text: 'The latest:', command: text && printable(text, 1000) };
    const steps = reasonSteps(reason, row, of, nowMs);
    return { title: printable(detail, 500), steps: text ? [...steps, sample] : steps };
  });

/** The headline's summary says how many there are in all. */
export const unlistedNotices = ({ unlisted, installation: of, nowMs }: StatusModel): Notice[] =>
  unlisted.map((row) => {
    const steps = row.reasons.flatMap((one) => reasonSteps(one, row, of, nowMs));
    return { title: row.id, steps };
  });

/** Returns the reason of refusals, its fix, and what became of the refused views. */
function reasonSteps(
  reason: JudgedReason,
  { kind }: ProjectRow,
  of: Installation,
  nowMs: number,
): Step[] {
  const { sample, lastDay, lastMs, acceptedSince } = reason;
  const views = plural(lastDay, nounOf(kind));
  const from =
    sample.origin === undefined ? 'without an Origin' : `from ${printable(sample.origin)}`;
  const what = `${views} in 24 hours, the latest at ${at(lastMs)} ${from}: ${whyOf(sample)}.`;
  const isRecovering = isOpen(reason) && acceptedSince > 0 && nowMs - lastMs >= CALM_MS;
  const calm = `None refused for ${formatDuration(nowMs - lastMs)}, and ${formatCount(acceptedSince)} accepted since.`;
  return [
    { text: isRecovering ? `${what} ${calm}` : what },
    fixOf(reason, of),
    ...fateSteps(reason, of),
  ];
}

/** Refused and accepted views may alternate more quickly. */
const CALM_MS = 5_000;

/** `invalid view`, or every fault of the latest one */
function whyOf(sample: JudgedReason['sample']): string {
  const { code, issues, faults } = sample;
  if (code !== 'invalid-view' || issues.length === 0) return refusalLabel(sample);
  const more =
    faults > issues.length ? [`and ${plural(faults - issues.length, 'more fault')}`] : [];
  return [...issues.map(faultWords), ...more].join('; ');
}

/** Returns the fate of the refused views, with the command that sends stored ones again. */
function fateSteps({ sample, remedy, fixedMs, fate }: JudgedReason, of: Installation): Step[] {
  const { resent, stored, lost, days, isReadable } = fate;
  const { code, project = '' } = sample;
  const isFixed = fixedMs !== undefined || remedy.kind === 'fixed';
  const them = stored === 1 ? 'it' : 'them';
  const after = `${isFixed ? 'To' : 'Then'} send ${them} again:`;
  const still = `${these(stored)} stored${resent > 0 ? ', but not sent again yet' : ''}.`;
  const steps: Step[] = resent > 0 ? [{ text: `${formatCount(resent)} sent again.` }] : [];
  if (stored > 0 && days.length === 0) steps.push({ text: `${still} ${noFile(of)}` });
  else if (stored > 0 && !REPLAYABLE.has(remedy.kind))
    steps.push({ text: `${still} ${PAGE_ONLY}` });
  else if (stored > 0 && !isReadable) steps.push({ text: `${still} ${FILE_FIRST}` });
  else if (stored > 0) {
    steps.push({
      text: `${still} ${after}`,
      command: commands.replay(
        of,
        project,
        days.map((day) => fileNameOf('refused', day)),
      ),
    });
  }
  if (lost > 0) steps.push({ text: `${formatCount(lost)} not stored: ${whyLost(code, fate)}` });
  return steps;
}

const these = (count: number): string => `${formatCount(count)} ${count === 1 ? 'is' : 'are'}`;

const REPLAYABLE: ReadonlySet<Remedy['kind']> = new Set([
  'activate',
  'add-origin',
  'fix-projects-file',
  'fixed',
]);
const PAGE_ONLY = "A replay wouldn't help: the page must be corrected.";
const FILE_FIRST =
  'Once the projects file is correct, this page shows the command that sends them again.';

const noFile = ({ data }: Installation): string =>
  data === undefined
    ? 'They are in the stream of refused views.'
    : 'Their file is no longer in the data directory.';

/** Why views of a code are never stored. A 503 promises nothing. */
const NOT_STORED: Readonly<Partial<Record<RefusalCode, string>>> = {
  'malformed-json': 'viewlog stores only whole JSON objects.',
  'request-timeout': 'viewlog stores only whole JSON objects.',
  'unsupported-media-type': "viewlog doesn't read such bodies.",
  'view-too-large': 'viewlog stores no views over --max-view.',
  'rate-limited': "viewlog stores no views over a project's limit.",
  overloaded: 'viewlog had no memory for more requests.',
  'storage-unavailable':
    'viewlog could store nothing. After a 503, a few views may have been stored anyway.',
};

const DROPPED: Readonly<Record<Dropped, string>> = {
  'no-object': 'viewlog stores only JSON objects.',
  off: '--max-refused is 0.',
  full: '--max-refused was reached.',
  'little-space': 'less than twice --min-free was free.',
  'too-many': 'too many came at once.',
  failed: "the file couldn't be written, or viewlog was stopping.",
};

const whyLost = (code: RefusalCode, { why }: Fate): string =>
  (REFUSALS[code].isStored ? DROPPED[why ?? 'failed'] : NOT_STORED[code]) ??
  'viewlog stores no views of this kind.';

/** `mb must be an integer (received "12")` */
export function faultWords({ field, message, received }: Omit<Issue, 'expected'>): string {
  const name = field === '' ? 'the view' : printable(field);
  return `${name} ${printable(message)} (received ${printable(received)})`;
}

const ADVICE: Readonly<Partial<Record<Remedy['kind'], string>>> = {
  activate: 'Remove the script from its pages or, if it is one of your sites, activate it:',
  'add-origin': "If this origin is one of the project's sites, add it:",
  'raise-limit': 'Unless this is a flood, raise the limit to twice that:',
  'raise-max-view': 'Send less, or start viewlog with --max-view',
  'send-origin': 'Send views from a browser, or with an Origin header.',
  'fix-page': 'Send views as application/json; with sendBeacon, as a Blob of that type.',
  'fix-projects-file':
    "Correct the projects file first: its changes, including new ids, aren't active.",
  fixed: 'The cause is gone; waiting for the next view.',
};

type Refused = Pick<JudgedReason, 'remedy' | 'sample' | 'fixedMs'> & {
  readonly fate?: Fate | undefined;
};

/** Returns what to do about refusals. */
export function fixOf(reason: Refused, of: Installation): Step {
  const { remedy, sample, fixedMs } = reason;
  if (fixedMs !== undefined) return { text: `Accepted again since ${at(fixedMs)}.` };
  const text = ADVICE[remedy.kind] ?? 'If this continues:';
  if (remedy.kind === 'none') return { text, command: commands.help(of, 'trouble') };
  const activate = (options: commands.Options): string =>
    commands.activate(of, sample.project ?? '', options);
  if (remedy.kind === 'activate' || remedy.kind === 'add-origin') {
    return { text, command: activate({ origin: remedy.origin }) };
  }
  if (remedy.kind === 'raise-limit') {
    const { limit, sent = 0, viewsPerMinute: raised } = remedy;
    const now = `Its limit is ${plural(limit, 'view')} per minute`;
    if (raised === undefined) return { text: `${now}. ${UNKNOWN_RATE}` };
    const rate = `${now}, and ${formatCount(sent)} were sent in the busiest full minute.`;
    return { text: `${rate} ${text}`, command: activate({ 'max-views-per-minute': raised }) };
  }
  if (remedy.kind === 'raise-max-view')
    return { text: `${text} ${formatSizeOption(remedy.bytes)}.` };
  if (remedy.kind === 'check-proxy') return proxyStep(sample, remedy.bodyBytes, of);
  const isType = sample.code === 'unsupported-media-type';
  return remedy.kind === 'fix-page' && !isType ? pageStep(reason, of) : { text };
}

const UNKNOWN_RATE = 'The limit to set is known after a full minute.';

function proxyStep(
  { isCut, bytes }: JudgedReason['sample'],
  bodyBytes: number,
  of: Installation,
): Step {
  const size = bytes === undefined ? '' : `of ${formatCount(bytes)} bytes `;
  const seconds = LIMITS.bodyTimeoutMs / 1000;
  const late = `${size}didn't arrive in full before its connection ended, or within ${seconds} s`;
  const what = isCut ? `ended after ${formatCount(bytes ?? 0)} bytes` : late;
  const nginx = `client_max_body_size ${Math.ceil(bodyBytes / KiB)}k`;
  const caddy = `request_body { max_size ${formatSizeOption(bodyBytes)} }`;
  const text =
    `The latest body ${what}. Usually a proxy limits the size or time of bodies. ` +
    `Allow ${formatSize(bodyBytes)} (nginx: ${nginx}; Caddy: ${caddy}). ` +
    'To test it, with the address that pages post to:';
  return { text, command: commands.doctor(of, { url: VIEWS_SITE }) };
}

function pageStep({ sample, fate }: Refused, of: Installation): Step {
  const { project, code, text: body = '' } = sample;
  const [, url] = /"url"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(body) ?? [];
  const page = url === undefined ? 'that sends them' : `"${printable(url, 100)}"`;
  // A page may send its id as a number by mistake.
  const id = project ?? /"p"\s*:\s*(\d{1,20})\s*[,}]/.exec(body)?.[1];
  const day = fate?.days.at(-1);
  const isFound = code === 'invalid-view' && fate?.isReadable === true && !fate.isLatestLost;
  if (!isFound || day === undefined || id === undefined)
    return { text: `Correct the page ${page}.` };
  const command = commands.explainLatest(of, id, fileNameOf('refused', day));
  return { text: `Correct the page ${page}. To explain the latest view:`, command };
}

const EXAMPLE = { id: '1000001', active: false, origins: ['https://www.example.com'] };
/** An address at which browsers might reach a collector. */
const VIEWS_SITE = 'https://views.example.com';

/** Returns the first steps, for a collector to which no view was sent yet. */
function firstSteps({ installation: of, projects, startMs }: StatusModel): Notice {
  const first = projects.find(({ active }) => active) ?? projects[0] ?? EXAMPLE;
  const { id, active, origins } = first;
  const activate = {
    text: 'Activate a project, with an id and an address of your own:',
    command: commands.activate(of, id, { origin: origins?.[0] }),
  };
  const script = {
    text: 'Print the script for its pages, with the address at which browsers reach viewlog:',
    command: commands.snippet(of, id, VIEWS_SITE),
  };
  const test = {
    text: 'Or send a view from this machine, which counts like any other:',
    command: curlOf(first, of.address ?? '', startMs),
  };
  return { title: 'To get the first view', steps: [...(active ? [] : [activate]), script, test] };
}
