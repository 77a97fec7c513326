// Renders problems and their fixes as sentences and commands, for the page and for plain text.
import {
  formatCount,
  formatDuration,
  formatRoundedSize,
  formatSize,
  formatSizeOption,
  GiB,
  KiB,
  MiB,
  plural,
} from '../base/format.ts';
import { LIMITS } from '../base/limits.ts';
import { printable, sentence } from '../base/text.ts';
import { fileNameOf } from '../disk/names.ts';
import { modeText } from '../installation/accounts.ts';
import * as commands from '../installation/commands.ts';
import type { Installation } from '../installation/installation.ts';
import { UNLISTABLE_ADVICE } from '../collector/admit.ts';
import { OTHERS_MAX } from './counts.ts';
import { curlOf } from '../projects/curl.ts';
import { isOrigin, ORIGIN_SHAPE } from '../projects/origins.ts';
import { type ProjectsFault, withName } from '../projects/project-list.ts';
import { continues, listWords, withFix } from '../projects/projects-file.ts';
import { isStream } from './health.ts';
import type { ProjectRow, StatusModel } from './model.ts';
import { type Issue, type RefusalCode, REFUSALS } from '../view/refusal.ts';
import type { Obstacle, Remedy } from '../view/remedy.ts';
import { withKind } from '../view/view-faults.ts';
import type { ClosedDirectory, Space } from './look-around.ts';
import type { Dropped } from '../store/store.ts';
import { type Colour, type Fate, isFixed, isOpen, type JudgedReason } from './state.ts';
import { BY_ORIGIN, type Sample } from './reasons.ts';
import {
  at,
  faultWord,
  fromOrigin,
  isStoringToday,
  named,
  nounOf,
  problemWords,
  reasonsWords,
  refusalLabel,
  were,
} from './words.ts';

/** A fix and the command for it; or a remark and the text that it is about. */
export interface Step {
  readonly text: string;
  readonly command?: string | undefined;
  /** Printable text in one part, or in three, of which the second is marked. */
  readonly quote?: readonly string[];
  /** If the command sends refused views again, the parts of the text. */
  readonly replay?: ReplayText | undefined;
  /** True: the steps before this one are about another reason. */
  readonly isNext?: boolean;
}

interface ReplayText {
  /** How many views are stored. */
  readonly stored: string;
  /** When the views can be sent: `After the fix,`; `undefined`: now. */
  readonly when: string | undefined;
  /** `the views`, or `those from listed origins` */
  readonly them: string;
}

export const stepText = ({ text, command = '' }: Step): string => `${text} ${command}`.trimEnd();

/** A problem and its fix. */
export interface Notice {
  readonly colour?: Colour | undefined;
  readonly title: string;
  readonly steps: readonly Step[];
}

/**
 * Returns viewlog's own problems, then those of projects and requests (the worst first, fixed ones
 * last), then overdue files, warnings and first steps.
 */
export function noticesOf(model: StatusModel): Notice[] {
  const { installation: of, closedDirectory: closed, projectsFault: fault } = model;
  const { problems, overdue, store } = model;
  const notes = [
    ...(model.isStopping ? ['viewlog is about to stop but accepts views until then'] : []),
    ...model.warnings,
  ];
  // While an obstacle exists, other commands fail.
  const obstacles = [
    ...(closed === undefined
      ? []
      : [directoryNotice(closed, of, undefined, isStoringToday(model))]),
    ...(fault === undefined ? [] : [faultNotice(fault, of)]),
    ...(store.unavailable === undefined ? [] : [storeNotice(model)]),
    ...(closed === undefined ? closedFilesNotices(model) : []),
  ];
  const left = model.problemsInAll - problems.filter(({ colour }) => colour !== 'green').length;
  const notices: Notice[] = [
    ...obstacles,
    ...problems.filter(isRed).map((row) => problemNotice(row, of, model.nowMs)),
    // Before any replay, which would store views of every site.
    ...model.openings.map((note) => messageNotice(note, 'amber')),
    ...problems.filter((row) => !isRed(row)).map((row) => problemNotice(row, of, model.nowMs)),
    ...(left > 0 ? [{ title: `${plural(left, 'more problem')}: see below.`, steps: [] }] : []),
    ...(overdue.length === 0 ? [] : [overdueNotice(overdue, of)]),
    ...notes.map((note) => messageNotice(note, 'amber')),
    ...(obstacles.length > 0
      ? []
      : model.isNew && !isEmptied(model)
        ? [firstSteps(model)]
        : inactiveNotices(model)),
  ];
  const unknown = commands.unknownFacts(of);
  const hasCommands = notices.some(({ steps }) => steps.some(({ command }) => command));
  if (unknown !== undefined && hasCommands) notices.push({ title: `${unknown}.`, steps: [] });
  return notices;
}

/** Returns whether every project was removed. The page then shows how to list them again. */
const isEmptied = ({ projectsListed, removedInAll }: StatusModel): boolean =>
  projectsListed === 0 && removedInAll > 0;

const isRed = ({ colour }: ProjectRow): boolean => colour === 'red';

/** Makes a notice from a message that viewlog also logs: `fact; fix` or `fact; run: command`. */
export function messageNotice(message: string, colour?: Colour): Notice {
  const parts = /^(.+?); (.*?\brun(?: as root)?:(?= )|.+)(?: (.+))?$/.exec(message);
  const [, fact = message, advice, command] = parts ?? [];
  const title = sentence(fact);
  if (advice === undefined) return { colour, title, steps: [] };
  const text = advice.replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return { colour, title, steps: [{ text: sentence(text), command }] };
}

export const RESTORE_PROJECTS =
  'Restore the file from a backup, or write a new one that lists every project: viewlog refuses ' +
  "views of projects that the file doesn't list.";

function faultNotice(fault: ProjectsFault, of: Installation): Notice {
  const { first, sinceMs, access, saved, loss } = fault;
  const which = loss === undefined ? '' : ` "${printable(of.projects ?? '', Infinity)}"`;
  const since = `The projects file${which} has been ${faultWord(fault)} since ${at(sinceMs)}`;
  const what = access?.command === undefined ? withFix(first, access) : first;
  const why = loss === undefined ? `: ${what.replace(/^Can't read projects file /, '')}` : '';
  const title = `${sentence(`${since}${why}`)} ${sentence(continues(saved, access !== undefined))}`;
  return { colour: 'amber', title, steps: correction(fault, of) };
}

function correction({ first, loss, access, line, saved }: ProjectsFault, of: Installation): Step[] {
  const restore = (text: string): Step[] => (saved ? [{ text, command: saved.restore }] : []);
  if (loss !== undefined) {
    if (saved !== undefined)
      return restore(
        saved.restore ? 'To restore it:' : 'Move its directory back, or mount its disk.',
      );
    const command = commands.help(of, 'restore projects');
    return [{ text: RESTORE_PROJECTS }, { text: 'To read how to restore it:', command }];
  }
  if (access !== undefined) {
    const { words, command } = access;
    return command === undefined ? [] : [{ text: `To correct this, ${words}:`, command }];
  }
  const until = line ? 'Correct the file. Until then' : 'Until viewlog can read the file';
  const check = / more faults?\)$/.test(first) ? 'list every fault' : 'check it again';
  const text = `${until}, activate and deactivate fail. To ${check}:`;
  return [
    ...(line?.some((part) => part.trim() !== '') ? [lineStep(...line)] : []),
    { text, command: commands.check(of) },
    ...(line
      ? restore(`If parts of the file are missing, restore the ${listWords(saved)} instead:`)
      : []),
  ];
}

/** Quotes a line of the projects file, with a mark where its fault is. */
function lineStep(before: string, after: string): Step {
  const parts = [before.trimStart().slice(-60), after.slice(0, 1) || ' ', after.slice(1, 120)];
  return { text: 'The line:', quote: parts.map((part) => printable(part)) };
}

/**
 * @param stopped if viewlog isn't running, the words before the account: `viewlog last ran`.
 * @param isStoring whether today's file is open, so views are still stored.
 */
export function directoryNotice(
  { account, owner, mode, isGivenAway }: NonNullable<ClosedDirectory>,
  of: Installation,
  stopped?: string,
  isStoring = true,
): Notice {
  const still = isStoring
    ? ". Today's views are still stored, but viewlog can't begin the next day's file or start again."
    : ", so viewlog refuses views and can't start again.";
  const effect = stopped === undefined ? still : ", so viewlog can't start.";
  const title =
    `The data directory "${printable(of.data ?? '', Infinity)}" belongs to ${owner} and has mode ${modeText(mode)}. ` +
    `${stopped ?? 'viewlog runs'} as ${account.name}, which can't create files there${effect}`;
  if (owner === account.name) {
    const step = { text: 'Let this account write there:', command: commands.openDirectory(of) };
    return { colour: 'amber', title, steps: [step] };
  }
  const text = `Make ${account.name} the owner of the directory and of viewlog's files in it`;
  const command = commands.giveBack(of, account);
  const step = isGivenAway ? { text: `${text}:`, command } : { text: `${text}.` };
  return { colour: 'amber', title, steps: [step] };
}

function closedFilesNotices({ closedFiles, copiesGid, installation: of }: StatusModel): Notice[] {
  const [first] = closedFiles;
  const account = of.owners.data;
  if (first === undefined || account === undefined) return [];
  const { path, owner } = first;
  const same = closedFiles.filter((one) => one.owner.uid === owner.uid);
  const [files, belong, their] =
    same.length === 1
      ? [`"${printable(path, Infinity)}", a file of refused views`, 'it belongs', 'its']
      : [`${same.length} files of refused views`, 'they belong', 'their'];
  const isOwn = owner.uid === account.uid;
  const why = isOwn ? `of ${their} permissions` : `${belong} to ${owner.name}`;
  const title = `viewlog can't read or write ${files}, because ${why}.`;
  const paths = same.map((one) => one.path);
  const command =
    owner.uid === 0 && copiesGid !== undefined
      ? commands.giveBack(of, account, copiesGid)
      : commands.grant(account, paths, owner, 'rw');
  return [
    {
      colour: 'amber',
      title,
      steps: [{ text: 'To give viewlog read and write access:', command }],
    },
  ];
}

export function overdueNotice(overdue: readonly string[], of: Installation): Notice {
  const isOne = overdue.length === 1;
  const title = `${plural(overdue.length, 'file')} ${isOne ? 'is' : 'are'} older than --keep-days or --keep-refused-days allows.`;
  const some =
    overdue.length > commands.PATHS_MAX ? `the oldest ${commands.PATHS_MAX}` : 'these files';
  const text = `Each hour, viewlog removes one day of such files. To remove ${isOne ? 'this file' : some} now:`;
  const steps = [{ text, command: commands.remove(of, overdue) }];
  return { colour: 'amber', title, steps };
}

function storeNotice({
  installation: of,
  minFreeBytes,
  store,
  space,
  unstorable,
  closedDirectory,
}: StatusModel): Notice {
  const { unavailable, unavailableSinceMs: ms } = store;
  const since = ms === undefined ? '' : ` since ${at(ms)}`;
  const full = space && spaceStep(space, of, minFreeBytes);
  // The store's own message names the file, and says what to do.
  const detail = isStream(store) ? undefined : store.detail;
  const why = (full ? detail?.replace(/; .*/, '') : detail) ?? unavailable;
  const title = `Views ${ms === undefined ? 'are' : 'have been'} refused with 503${since}: ${why}.`;
  const lost = {
    text: `${plural(unstorable, 'view')} got a 503 in the last 24 hours: ${NOT_STORED['storage-unavailable']}`,
  };
  const retry = closedDirectory ? [] : [{ text: RETRYING, command: commands.doctor(of) }];
  const fixes = isStream(store) ? [] : full ? [full] : retry;
  return { colour: 'red', title, steps: unstorable === 0 ? fixes : [...fixes, lost] };
}

const RETRYING = 'Once writes succeed, viewlog accepts views again. To check the directory:';

/** Returns what to do about the file system's space; `undefined`: nothing. */
export function spaceStep(
  { freeBytes, sizeBytes, missingBytes, hasInodes }: Space,
  of: Installation,
  minFreeBytes: number,
): Step | undefined {
  const from = of.chosen['min-free']?.from;
  const isMinFree = `${formatSize(minFreeBytes)} (${SET_BY[from ?? 'default']})`;
  if (minFreeBytes > sizeBytes) {
    const lower = possibleMinFree(sizeBytes);
    const variable = from === 'variable' ? ` with VIEWLOG_MIN_FREE=${lower}` : undefined;
    const text =
      `--min-free is ${isMinFree}, but this file system can never have more than ` +
      `${formatRoundedSize(sizeBytes)} free. Start viewlog` +
      `${variable ?? ` with --min-free ${lower}`} or use a larger disk.`;
    return { text };
  }
  if (missingBytes > 0) {
    const goal = formatRoundedSize(freeBytes + missingBytes);
    const unit = missingBytes < 10 * GiB ? MiB : GiB;
    const missing = formatSize(Math.ceil(missingBytes / unit) * unit);
    const [needed, remove] =
      minFreeBytes > 0
        ? [
            `, but viewlog needs ${goal}: --min-free, which is ${isMinFree}, plus an eighth`,
            `To free at least ${missing}, delete`,
          ]
        : ['', 'Delete'];
    const lower =
      from === undefined || minFreeBytes === 0
        ? ''
        : ' Alternatively, start viewlog with a lower --min-free.';
    const text =
      `${freeBytes === 0 ? 'No space' : formatRoundedSize(freeBytes)} is free${needed}. ` +
      `${remove} view files (views-*.ndjson) of earlier days that you have shipped or copied, ` +
      "refused files (refused-*.ndjson) that you won't replay, or other files on this disk. viewlog " +
      `then accepts views again.${lower} To list the files:`;
    return { text, command: commands.list(of) };
  }
  return hasInodes ? undefined : { text: 'The file system has no free inodes. Delete old files.' };
}

/** Returns a --min-free that fits a file system of this size: `7MiB`. */
export const possibleMinFree = (sizeBytes: number): string =>
  `${Math.max(1, Math.floor(Math.min(64, sizeBytes / 8 / MiB)))}MiB`;

const SET_BY = {
  flag: 'set on the command line',
  variable: 'set by VIEWLOG_MIN_FREE',
  default: 'the default',
};

/** Returns what to do about a project that has sent no views lately. */
function silentStep({ reasons }: ProjectRow, of: Installation): Step {
  const refused =
    " Some views were refused in the last 24 hours; to see why, open the project's row on the status page.";
  const text =
    "Check that the site's pages still contain the script and that their Content-Security-Policy " +
    `allows it.${reasons.length > 0 ? refused : ''} To test the path to viewlog, replace the address ` +
    'after --url with the one that your pages post to:';
  return { text, command: commands.doctor(of, { url: VIEWS_SITE }) };
}

/** Returns the problem of a project's views or of requests that name no project. */
export function problemNotice(row: ProjectRow, of: Installation, nowMs: number): Notice {
  const { colour, kind, state, name, active, reasons } = row;
  const inactive = row.isOff ? ' (inactive but sending)' : ' (inactive)';
  const still = active ? '' : kind === 'unlisted' ? ' (no longer listed)' : inactive;
  const shown = reasons.filter(({ lastHour }) => lastHour > 0);
  const open = reasons.filter(isOpen);
  const isGreen = colour === 'green';
  // In a green row, too few views were refused for the open reasons to be a problem.
  const fixed = reasons.filter(isFixed);
  const which = open.length > 0 ? reasonsWords(fixed) : '';
  const isOnlyOff = !active && open.every(({ sample }) => sample.code === 'project-not-activated');
  // `still` already says why.
  const why = isOnlyOff ? '' : reasonsWords(open);
  const refusals = kind === 'requests' ? 'The failures began' : 'The refusals began';
  const begun = state === 'silent' ? 'The last view was accepted' : refusals;
  const time = at(sinceOf(row));
  const what = isGreen
    ? `the problem${fixed.length === 1 ? `${which} ended` : `s${which} have ended, the last`} on ${time}`
    : `${problemWords(row, why)}. ${begun} on ${time}`;
  const since = `${named(name)}${still}: ${what}.`;
  const title = isGreen && open.length > 0 ? `${since} ${otherRefusals(row)}` : since;
  const steps = causeSteps(row, shown, of, nowMs);
  return { colour, title, steps: state === 'silent' ? [silentStep(row, of)] : steps };
}

function otherRefusals({ kind, refused, reasons }: ProjectRow): string {
  const open = reasons.filter(isOpen);
  const failed = kind === 'requests' ? 'failed' : `${were(refused)} refused`;
  const [first] = open;
  const causes = open.length === 1 ? 'another cause' : 'other causes';
  // The fixed cause may have the same label.
  const isByOrigin = open.length === 1 && first?.sample.code === 'origin-not-allowed';
  const why = isByOrigin
    ? ` (${refusalLabel(first.sample)} ${fromWords(first.sample)})`
    : reasonsWords(open);
  return `${plural(refused, nounOf(kind))} in the last hour ${failed} for ${causes}${why}.`;
}

/** Returns when the last view was accepted, when refusals began, or when the problem ended. */
function sinceOf({ colour, state, reasons, figures }: ProjectRow): number {
  if (colour === 'green') return Math.max(...reasons.map(({ fixedMs = 0 }) => fixedMs));
  if (state === 'silent') return figures.lastAcceptedMs ?? 0;
  return Math.min(...reasons.filter(isOpen).map(({ sinceMs }) => sinceMs));
}

/** Returns the reasons of refusals in the last 24 hours, with a sample of each. */
export const reasonNotices = (
  row: ProjectRow,
  { installation: of, nowMs }: StatusModel,
): Notice[] =>
  row.reasons.map((reason) => {
    const { text } = reason.sample;
    const [what, ...all] = reasonSteps(reason, row, of, nowMs);
    const steps = all.filter(({ quote }) => quote === undefined);
    if (text) steps.push({ text: LATEST_BODY, quote: [printable(text, Infinity)] });
    return { title: what!.text, steps };
  });

export const unlistedNotices = ({ unlisted, installation: of, nowMs }: StatusModel): Notice[] =>
  unlisted.map((row) => {
    const name = row.removed?.name;
    const title = name === undefined ? row.id : `${row.id} (${named(name)})`;
    return { title, steps: causeSteps(row, row.reasons, of, nowMs) };
  });

export const strayNotices = (model: StatusModel): Notice[] =>
  model.strayRequests === undefined ? [] : reasonNotices(model.strayRequests, model);

const isDelisted = ({ kind, figures, removed }: ProjectRow): boolean =>
  kind === 'unlisted' && (figures.lastAcceptedMs !== undefined || removed !== undefined);

function causeSteps(
  row: ProjectRow,
  reasons: readonly JudgedReason[],
  of: Installation,
  nowMs: number,
): Step[] {
  const printed = new Set<string>();
  const all = reasons.flatMap((one, i) => {
    const [first, ...others] = reasonSteps(one, row, of, nowMs, printed);
    return [{ ...first!, isNext: i > 0 }, ...others];
  });
  const steps = withEachReplayOnce(all);
  return isDelisted(row) ? [delistedStep(row, row.figures.lastAcceptedMs, of), ...steps] : steps;
}

/** Returns what to do about an id that was never listed: one step for all its origins. */
function unlistedStep(row: ProjectRow, of: Installation): Step {
  const origins = activationsOf(row).flatMap(({ origin }) => origin ?? []);
  const command = commands.activate(of, row.id, { origin: origins });
  return { text: unlistedWords(origins, isPartial(row), row.meant !== undefined), command };
}

/** The fixes of views of an id that isn't listed. */
const activationsOf = ({ kind, reasons }: ProjectRow) =>
  kind === 'unlisted'
    ? reasons.flatMap(({ remedy }) => (remedy.kind === 'activate' ? [remedy] : []))
    : [];

/** Returns whether only some views of an unlisted id have an origin that can be listed. */
const isPartial = (row: ProjectRow): boolean =>
  new Set(activationsOf(row).map(({ origin }) => origin === undefined)).size > 1;

/**
 * Leaves a replay that several reasons share under only one of them: one whose views can be sent
 * now, if there is one.
 */
function withEachReplayOnce(steps: readonly Step[]): Step[] {
  const kept = new Map<string | undefined, Step>();
  for (const step of steps) {
    const { command, replay } = step;
    const first = kept.get(command)?.replay;
    const isSooner = first === undefined || (first.when !== undefined && !replay?.when);
    if (replay && isSooner) kept.set(command, step);
  }
  return steps.map((step, i) => {
    const one = kept.get(step.command);
    if (!step.replay || one === undefined || one === step) return step;
    const { stored, when, them } = step.replay;
    const where = steps.indexOf(one) < i ? 'above' : 'below';
    const then = when === undefined ? 'The' : `${when} the`;
    return { text: `${stored} ${then} replay command ${where} sends ${them}, too.` };
  });
}

/**
 * Returns the reason of refusals, its fix, and what became of the refused views.
 * @param printed the fixes of other reasons, which aren't repeated; this reason's fix is added.
 */
function reasonSteps(
  reason: JudgedReason,
  row: ProjectRow,
  of: Installation,
  nowMs: number,
  printed = new Set<string>(),
): Step[] {
  const { sample, lastDay, lastMs, acceptedSince, remedy, isCollective } = reason;
  const { kind } = row;
  const views = plural(lastDay, nounOf(kind)) + (isCollective ? ' from other origins' : '');
  const failed = kind === 'requests' ? 'failed' : `${were(lastDay)} refused`;
  const mostly = lastDay === 1 ? ', ' : ', most recently ';
  // Only the latest has this fault.
  const which = reason.others.length > 0 ? '. The latest came ' : mostly;
  const what = `${views} ${failed} in the last 24 hours${which}${latestWords(sample, row)}`;
  // Views accepted before the fix prove nothing.
  const isUnfixed = isOpen(reason) && remedy.kind !== 'fixed';
  const isRecovering = isUnfixed && acceptedSince > 0 && nowMs - lastMs >= CALM_MS;
  const isUnlisted = kind === 'unlisted' && remedy.kind === 'activate';
  const toFix = isUnlisted ? [unlistedStep(row, of)] : faultSteps(reason, row, of);
  const fixes = isDelisted(row) ? [] : toFix;
  const isNew = (step: Step): boolean => !step.command || !printed.has(stepText(step));
  const own = fixes.filter(isNew);
  const typos = hintsFor(sample, row);
  const newTypos = typos.filter(({ text }) => !printed.has(text));
  for (const step of [...own, ...typos]) printed.add(stepText(step));
  const since =
    kind === 'requests'
      ? 'been read, and none has failed for this reason'
      : 'been accepted, and none has been refused for this reason';
  const calm = `Since then (${formatDuration(nowMs - lastMs)}), ${plural(acceptedSince, nounOf(kind))} ${acceptedSince === 1 ? 'has' : 'have'} ${since}.`;
  return [
    { text: isRecovering ? `${what} ${calm}` : what },
    ...arrivedSteps(sample),
    ...newTypos,
    // For a project that is no longer listed, `delistedStep` already gives the fix.
    ...own,
    ...fateSteps(reason, row, of),
  ];
}

/** Returns the fix of the latest fault, then each other fault with its fix. */
function faultSteps(reason: JudgedReason, row: ProjectRow, of: Installation): Step[] {
  const others = reason.fixedMs === undefined ? reason.others : [];
  const steps = [fixOf(reason, of, row.meant)];
  for (const sample of others) {
    const fix = fixOf({ ...reason, sample }, of, row.meant);
    // A fix shared by several faults follows the last of them.
    if (stepText(fix) === stepText(steps.at(-1)!)) steps.pop();
    steps.push({ text: `Another case, most recently ${latestWords(sample, row)}` }, fix);
  }
  if (others.length === OTHERS_MAX)
    steps.push({ text: 'These are the latest four cases; there may be others.' });
  return steps;
}

/** `on 2026-11-22 14:00 UTC from https://a.example: mb must be an integer (received "12").` */
function latestWords(sample: Sample, row: ProjectRow): string {
  const { code, origin, atMs } = sample;
  const when = `on ${at(atMs)}`;
  if (code === 'origin-not-allowed' && origin === undefined) return `${when} ${fromWords(sample)}.`;
  const from = origin === undefined && !BY_ORIGIN.has(code) ? '' : ` ${fromWords(sample)}`;
  return `${when}${from}: ${code === 'project-not-activated' ? whyRefused(row, atMs) : whyOf(sample)}.`;
}

/** Why a view of an id was refused at this time. */
function whyRefused({ kind, active, removed }: ProjectRow, atMs: number): string {
  if (active || (removed && atMs < removed.removedMs))
    return 'the project was inactive or not listed then';
  if (kind === 'project') return 'the project is inactive';
  return `the projects file ${removed ? 'no longer lists' : "doesn't list"} this id`;
}

const fromWords = ({ origin }: Sample): string =>
  origin === undefined ? 'without an Origin header' : fromOrigin(origin);

/** Returns what to do about a project that is no longer listed but was when its views arrived. */
export function delistedStep(
  { id, reasons, removed, obstacle }: Pick<ProjectRow, 'id' | 'reasons' | 'removed' | 'obstacle'>,
  lastAcceptedMs: number | undefined,
  of: Installation,
): Step {
  const last = lastAcceptedMs && `; its last view was accepted on ${at(lastAcceptedMs)}`;
  const isCalm = reasons.every(({ lastMs }) => lastMs < (removed?.removedMs ?? 0));
  const since = isCalm ? ' No view has been refused since its removal.' : '';
  const inactive = removed?.active === false ? ', but inactive' : '';
  const was = `Project ${id} was in the projects file${inactive}${last ?? ''}.${since}`;
  const onPurpose = 'If you removed the project on purpose, remove the script from its pages.';
  const byMistake = 'If its entry was removed or its id was changed by mistake,';
  const correct = 'If its id was changed by mistake, change it back in the projects file.';
  const text = `${was} ${onPurpose} ${byMistake} restore the entry in the projects file.`;
  if (obstacle !== undefined) return { text };
  if (removed !== undefined) {
    const command = commands.activateAsWas(of, removed);
    const again = removed.active
      ? `${correct} If its entry was removed by mistake, add the entry again:`
      : 'To list it again and activate it:';
    return { text: `${was} ${onPurpose} ${again}`, command };
  }
  // Views refused for another reason arrived while the project was listed.
  const unlisted = reasons.filter(({ sample }) => sample.code === 'project-not-activated');
  if (unlisted.length === 0) return { text };
  const found = unlisted.map(({ remedy }) => ('origin' in remedy ? remedy.origin : undefined));
  const origins = found.filter((origin) => origin !== undefined);
  const how =
    origins.length === 0
      ? 'without the old name, limit and origins, so that it accepts views from any site'
      : `with only ${origins.join(', ')} as its origin${origins.length === 1 ? '' : 's'} and without the old name and limit`;
  return {
    text: `${text} To add a new entry instead, ${how}:`,
    command: commands.activate(of, id, { origin: origins }),
  };
}

function typoSteps({ id, active, meant }: Subject): Step[] {
  if (meant === undefined) return [];
  const inactive = meant.isInactive ? ', which is inactive' : '';
  const text =
    `${meant.origin ?? id} is ${meant.origin ? 'an origin of project' : 'one typo away from'} ${withName(meant)}${inactive}. ` +
    `If ${meant.origin ? 'its' : 'the'} pages should send ${meant.id}, correct them; ` +
    `${active ? 'this problem then ends within an hour, but ' : ''}the views refused so far can't be sent again under another id.`;
  return [{ text }];
}

/**
 * After this time without a refusal, the page reports the views accepted since. Refused and
 * accepted views may alternate more quickly.
 */
const CALM_MS = 5_000;

/** The beginning of a body that isn't JSON shows what sent it. */
const arrivedSteps = ({ code, isCut, text = '' }: Sample): Step[] =>
  code === 'malformed-json' && text !== '' && (!isCut || text.length <= QUOTED_MAX)
    ? [{ text: LATEST_BODY, quote: [printable(text, QUOTED_MAX)] }]
    : [];

const QUOTED_MAX = 100;

const LATEST_BODY = 'The latest body:';

/** Codes whose detail says more than the code: a place, a type, or sizes. */
const DETAILED: ReadonlySet<RefusalCode> = new Set([
  'malformed-json',
  'method-not-allowed',
  'not-found',
  'unsupported-media-type',
  'view-too-large',
]);

const ONE_CLAUSE = /^(?:"[^"]*"|[^".;]|[.;](?! |$))*/;
const ONE_SENTENCE = /^(?:"[^"]*"|[^".]|\.(?! |$))*/;

/** Returns the fault of the latest refused view or request, if its label doesn't say it. */
export function faultOf({ sample, fixedMs }: JudgedReason): string | undefined {
  const [label, why] = [refusalLabel(sample), whyOf(sample)];
  if (fixedMs !== undefined || why === label) return undefined;
  return why.startsWith(`${label} (`) ? why.slice(label.length + 2, -1) : why;
}

/** `invalid view`, or what is wrong with the latest one */
function whyOf(sample: Sample): string {
  const { code, isCut, detail, issues, faults } = sample;
  // The rest tells the page's developer what to do.
  const end = code === 'view-too-large' ? ONE_SENTENCE : ONE_CLAUSE;
  const [fact] = end.exec(detail)!;
  if (DETAILED.has(code) && !isCut) {
    const why = fact.replace(/^(?:The|There|Line)\b/, (word) => word.toLowerCase());
    return `${refusalLabel(sample)} (${printable(why)})`;
  }
  if (code !== 'invalid-view' || issues.length === 0) return refusalLabel(sample);
  const more =
    faults > issues.length ? [`and ${plural(faults - issues.length, 'more fault')}`] : [];
  return [...issues.map(faultWords), ...more].join('; ');
}

/** Returns the fate of the refused views, with the command that sends stored ones again. */
function fateSteps(
  { sample, remedy, fixedMs, fate, isCollective, lost: lostOrigins }: JudgedReason,
  row: ProjectRow,
  of: Installation,
): Step[] {
  const { kind, isOpened } = row;
  const noun = nounOf(kind);
  const { resent, unsure, stored, lost, days } = fate;
  const { code, project = '' } = sample;
  const them = `the ${noun}${stored === 1 ? '' : 's'}`;
  const isFixed = fixedMs !== undefined || remedy.kind === 'fixed';
  const later = isFixed ? undefined : 'After the fix,';
  const onceAdded =
    remedy.kind === 'add-origin' ? `Once the project accepts ${remedy.origin},` : later;
  // A project may have been deactivated or removed after the refusals had ended.
  const when = remedy.kind === 'activate' ? onceActive(remedy, row) : onceAdded;
  const these = (count: number): string => plural(count, `refused ${noun}`);
  // A directory that viewlog can't enter may still have the file, and a record of a replay.
  const isClosed = fate.obstacle === 'directory';
  const still = isClosed
    ? `${these(stored)} ${were(stored)} stored.`
    : `${these(stored)} ${stored === 1 ? 'is' : 'are'} stored${resent > 0 ? ` but ${stored === 1 ? "hasn't" : "haven't"} been sent again yet` : ''}.`;
  const isGone = of.data !== undefined && days.length === 0 && !isClosed;
  const steps: Step[] =
    resent > 0 ? [{ text: `${these(resent)} ${were(resent)} sent again.` }] : [];
  // A replay sends those whose origin is listed by then.
  const isMixed = isCollective && of.data !== undefined && fate.obstacle === undefined;
  const isLeftOut = remedy.kind === 'activate' && remedy.origin === undefined && isPartial(row);
  const isRemoved = row.removed !== undefined && fate.isBarred && sample.origin !== undefined;
  const other = isLeftOut
    ? `A replay wouldn't help: activated as above, the project would still refuse ${them}.`
    : isRemoved
      ? 'Once the project is listed again, the fix will appear on the status page.'
      : obstructionOf({ remedy, fate, sample }, of);
  const obstructed = isMixed ? undefined : other;
  const names = days.map((day) => fileNameOf('refused', day));
  const command = obstructed === undefined ? commands.replay(of, project, names) : undefined;
  if (stored > 0 && isGone) {
    const file = 'in a file that has since been removed from the data directory';
    steps.push({ text: `${these(stored)} ${were(stored)} stored ${file}.` });
  } else if (stored > 0) {
    const some = 'those from listed origins';
    const listed = isOpened ? 'Once the project has the origins that you want,' : when;
    // Once its origins are restored, the project refuses these views again.
    const condition = lostOrigins ? 'If you removed the origins on purpose,' : listed;
    const again = isMixed
      ? 'A replay sends only views whose origin is listed when you run it:'
      : `${condition ?? 'To'} send ${them} again:`;
    const shared = {
      stored: still,
      when: isMixed ? undefined : condition,
      them: isMixed ? some : them,
    };
    const replay = command === undefined ? undefined : shared;
    steps.push({ text: `${still} ${obstructed ?? again}`, command, replay });
  }
  const find = stored > 0 && command ? undefined : commands.replay(of, project, names);
  steps.push(...unsureSteps(unsure, find));
  if (lost > 0) {
    const got = code === 'storage-unavailable' ? 'got a 503' : `${were(lost)}n't stored`;
    steps.push({ text: `${these(lost)} ${got}: ${whyLost(code, fate)}` });
  }
  return steps;
}

/** @param command the replay, unless it is already printed for other views. */
function unsureSteps(count: number, command: string | undefined): Step[] {
  if (count === 0) return [];
  const views = plural(count, 'refused view');
  const may = `${views} ${were(count)} sent again with an unknown outcome, so ${count === 1 ? 'it' : 'they'} may be stored.`;
  const find = command ? 'To find out, run:' : 'The replay also says how to find out.';
  return [{ text: `${may} ${find}`, command }];
}

function onceActive(
  { origin, isListed }: Extract<Remedy, { kind: 'activate' }>,
  { id, removed, meant }: ProjectRow,
): string {
  if (meant !== undefined) return `If you have activated ${id} instead,`;
  const all = isListed ? 'is active' : 'accepts views from every site';
  const accepts = origin === undefined ? all : `accepts ${origin}`;
  return `Once the project ${removed ? 'is listed again' : accepts},`;
}

const REPLAYABLE: ReadonlySet<Remedy['kind']> = new Set([
  'activate',
  'add-origin',
  'wait',
  'fixed',
]);

/** The end of each obstacle, in words. The page reports the obstacle itself first. */
const END: Readonly<Record<Obstacle, string>> = {
  'projects-file': 'viewlog can use the projects file again',
  storage: 'views can be stored again',
  directory: "viewlog's account can create files in the data directory",
  'refused-file': 'viewlog can read the file',
  'replay-record': 'the record of sent views can be read',
};

const laterOf = (obstacle: Obstacle, what: string): string =>
  `Once ${END[obstacle]}, ${what} will appear on the status page.`;

/** Returns why no command can send stored views again now; `undefined`: one can. */
function obstructionOf(
  { remedy, fate, sample }: Pick<JudgedReason, 'remedy' | 'fate' | 'sample'>,
  { data }: Installation,
): string | undefined {
  const { obstacle, stored } = fate;
  const them = `the view${stored === 1 ? '' : 's'}`;
  if (data === undefined) return 'Refused views are in a stream of their own.';
  if (fate.isBarred && sample.code !== 'invalid-view') {
    const [they, their] = stored === 1 ? ['it has', 'its'] : ['they have', 'their'];
    const lack =
      sample.origin === undefined ? `${they} no Origin header` : `${their} origin isn't listed`;
    return `A replay wouldn't help: the project would refuse ${them} again, because ${lack}.`;
  }
  if (!REPLAYABLE.has(remedy.kind)) {
    const noun = sample.project === undefined ? 'request' : 'view';
    return `A replay wouldn't help: viewlog would refuse the ${noun}${stored === 1 ? '' : 's'} again.`;
  }
  return obstacle && laterOf(obstacle, 'the command for a replay');
}

/** Why views of a code are never stored. After a 503, that isn't certain. */
const NOT_STORED: Readonly<Partial<Record<RefusalCode, string>>> = {
  'malformed-json': 'viewlog stores only whole JSON objects.',
  'method-not-allowed': 'viewlog stores only views sent with POST.',
  'not-found': 'viewlog stores only views sent to /view.',
  'request-timeout': 'viewlog stores only whole JSON objects.',
  'unsupported-media-type': "viewlog doesn't read such bodies.",
  'view-too-large': 'viewlog stores no views over --max-view.',
  'rate-limited': "viewlog stores no views over a project's limit.",
  overloaded: '--max-queue was reached.',
  'storage-unavailable':
    "viewlog couldn't store views. After a 503, a few views may have been stored anyway.",
};

const DROPPED: Readonly<Record<Dropped, string>> = {
  'no-object': 'viewlog stores only JSON objects.',
  off: '--max-refused was 0.',
  full: '--max-refused was reached.',
  'little-space': 'free disk space was below twice --min-free.',
  'too-many': 'too many views arrived at once.',
  failed: 'the write failed.',
};

const whyLost = (code: RefusalCode, { why }: Fate): string =>
  (REFUSALS[code].isStored ? DROPPED[why ?? 'failed'] : NOT_STORED[code]) ??
  'viewlog stores no views of this kind.';

/** `mb must be an integer (received "12")`, `… (received 6; did you mean "cf"?)` */
export function faultWords({ field, message, received }: Omit<Issue, 'expected'>): string {
  const name = field === '' ? 'the view' : `"${printable(field)}"`;
  const [fact, hint] = printable(message).split(/ \((did you mean .*\?)\)$/);
  const more = [
    received === 'nothing' ? '' : `received ${withKind(printable(received), message)}`,
    hint,
  ].filter(Boolean);
  return `${name} ${fact}${more.length === 0 ? '' : ` (${more.join('; ')})`}`;
}

const ADVICE: Readonly<Partial<Record<Remedy['kind'], string>>> = {
  'raise-limit': 'Unless this is a flood, raise the limit to twice that rate:',
  'raise-max-view': 'Send smaller views or restart viewlog with --max-view',
  'send-origin':
    'The project accepts only its listed origins, so it refuses views without an Origin header. ' +
    'Browsers send the header, and a proxy must pass it on. A program must send the header with one of ' +
    "the project's origins, or use the id of a project without origins.",
  'fix-page':
    'Send views uncompressed, as application/json in UTF-8. With sendBeacon, put the view in a Blob of that type.',
  inactive: 'The project is inactive, so all its views are refused.',
  fixed: 'The cause is gone, but no view has been accepted since.',
};

type Refused = Pick<JudgedReason, 'remedy' | 'sample' | 'fixedMs'> &
  Partial<Pick<JudgedReason, 'lost' | 'fate'>>;

function fixedWords({ sample, remedy }: Refused, fixedMs: number): string {
  if (sample.project === undefined)
    return `No request has failed for this reason since ${at(fixedMs)}.`;
  // Otherwise, other views of the project may have been accepted instead of these.
  return remedy.kind === 'fixed'
    ? `Views have been accepted since ${at(fixedMs)}.`
    : `No view has been refused for this reason since ${at(fixedMs)}.`;
}

type Subject = Pick<ProjectRow, 'id' | 'active' | 'meant'>;

/** Returns what to do about refusals in one line, and first whose id the pages may lack. */
export const fixLine = (reason: Refused, subject: Subject, of: Installation): string =>
  [...hintsFor(reason.sample, subject), fixOf(reason, of, subject.meant)].map(stepText).join(' ');

function hintsFor({ code, origin }: Sample, subject: Subject): Step[] {
  const isOfOther = origin !== undefined && origin === subject.meant?.origin;
  return code === 'project-not-activated' || isOfOther ? typoSteps(subject) : [];
}

/**
 * Returns what to do about refusals.
 * @param meant the project whose id the pages may lack, as another step says first.
 */
export function fixOf(reason: Refused, of: Installation, meant?: ProjectRow['meant']): Step {
  const { remedy, sample, fixedMs } = reason;
  if (reason.lost) return lostStep(reason.lost, reason, of);
  if (fixedMs !== undefined) {
    return { text: fixedWords(reason, fixedMs) };
  }
  if (remedy.kind === 'wait') return { text: laterOf(remedy.obstacle, 'the fix') };
  if (remedy.kind === 'fixed' && (reason.fate?.resent ?? 0) > 0)
    return { text: 'The cause is gone.' };
  if (remedy.kind === 'none' && sample.origin === 'null') return { text: NULL_ORIGIN };
  if (remedy.kind === 'correct-origin') return correctStep(remedy, sample, of);
  // Not every origin can be listed; the detail says why.
  const [why] = UNLISTABLE_ADVICE.exec(sample.detail) ?? [];
  if (remedy.kind === 'none' && why !== undefined) return { text: printable(why, Infinity) };
  if (sample.code === 'not-found')
    return { text: WRONG_PATH, command: commands.help(of, 'proxies') };
  if (sample.code === 'method-not-allowed')
    return { text: REDIRECTED, command: commands.help(of, '405') };
  const text = ADVICE[remedy.kind] ?? 'To read about this:';
  if (remedy.kind === 'none') return { text, command: commands.help(of, sample.code) };
  const activate = (options: commands.Options): string =>
    commands.activate(of, sample.project ?? '', options);
  if (remedy.kind === 'activate' || remedy.kind === 'add-origin') {
    const { origin } = remedy;
    const how =
      remedy.kind === 'activate'
        ? activateWords(remedy, reason, meant !== undefined)
        : addWords(remedy, sample, meant);
    return { text: how, command: activate({ origin }) };
  }
  if (remedy.kind === 'raise-limit') {
    const { limit, sent = 0, viewsPerMinute: raised } = remedy;
    const now = `The project's limit is ${plural(limit, 'view')} per minute`;
    if (raised === undefined) return { text: `${now}. ${UNKNOWN_RATE}` };
    const rate = `${now}, and ${formatCount(sent)} were sent in the busiest minute.`;
    return { text: `${rate} ${text}`, command: activate({ 'max-views-per-minute': raised }) };
  }
  if (remedy.kind === 'raise-max-view')
    return { text: `${text} ${formatSizeOption(remedy.bytes)}.` };
  if (remedy.kind === 'send-origin') {
    return testProxy(text, sample, of);
  }
  if (remedy.kind === 'check-proxy') return proxyStep(sample, remedy.bodyBytes, of);
  const isType = sample.code === 'unsupported-media-type';
  return remedy.kind === 'fix-page' && !isType ? pageStep(reason, of) : { text };
}

const ifOwn = (origin: string, when = 'If'): string =>
  `${when} ${origin} isn't one of the project's sites, ignore these views. If it is,`;

function addWords(
  { origin, like }: Extract<Remedy, { kind: 'add-origin' }>,
  { code }: Sample,
  meant: ProjectRow['meant'],
): string {
  const isActivated = code === 'project-not-activated';
  const now = isActivated ? "The project is active now but doesn't list this origin. " : '';
  const part = like && likeWords(origin, like);
  const isOther = origin === meant?.origin;
  const when = isOther
    ? 'Otherwise, if the site should count for this project, too,'
    : ifOwn(origin);
  return `${now}${part ?? ''}${when} add it:`;
}

/** Returns how a listed origin of the same host differs, and another fix than adding this one. */
function likeWords(origin: string, like: string): string {
  const isInsecure = origin.startsWith('http:') && like.startsWith('https:');
  const fix = isInsecure ? ' If its pages are meant to be on https, redirect them.' : '';
  return `The project lists ${like}, which is another origin: its scheme or port differs.${fix} `;
}

const CLOSED =
  "Once the project is active, it will still refuse such views, because they have no Origin header. Have their sender send the header with one of the project's origins, or stop the sender. To activate the project:";

const EVERY_SITE = ', which then accepts views from every site';

function activateWords(
  { origin, isListed, isOpen }: Extract<Remedy, { kind: 'activate' }>,
  { sample, fate }: Pick<Refused, 'sample' | 'fate'>,
  isTypo: boolean,
): string {
  if (!isListed && fate === undefined && !isTypo) {
    const open = origin === undefined ? EVERY_SITE : '';
    return `If the id is wrong, correct it in the script of the page. To count the page under this id, activate the project${open}:`;
  }
  if (!isListed) return unlistedWords(origin === undefined ? [] : [origin], false, isTypo);
  if (!isOpen && sample.origin === undefined) return CLOSED;
  const rules = isOpen ? EVERY_SITE : '';
  if (origin !== undefined) {
    return `${ifOwn(origin, isTypo ? 'Otherwise, if' : 'If')} add it and activate the project:`;
  }
  if (isTypo) return `Otherwise, to count the site under this id, activate the project${rules}:`;
  const remove = "If you don't want to count this site, remove the script from its pages.";
  return `${remove} To count it, activate the project${rules}:`;
}

/**
 * @param isPartial True: other views come without an origin that can be listed.
 * @param isTypo True: another step already says what to do if the id is wrong.
 */
function unlistedWords(origins: readonly string[], isPartial = false, isTypo = false): string {
  const open = origins.length === 0 ? EVERY_SITE : '';
  const rules = isPartial ? '; the project then refuses all other views' : open;
  const [ignore, count] =
    origins.length > 1
      ? [
          "Ignore views from sites that aren't yours. In pages of your own, correct the id, or remove the script.",
          "count your sites under this id, delete the origins that aren't yours from this command, and run it",
        ]
      : [
          "If this site isn't yours, ignore these views. If it is, correct the id in its script, or remove the script.",
          'count the site under this id, activate the project',
        ];
  return `${isTypo ? 'Otherwise, to' : `${ignore} To`} ${count}${rules}:`;
}

function correctStep(
  { meant, isAllowed }: Extract<Remedy, { kind: 'correct-origin' }>,
  { project = '' }: Sample,
  of: Installation,
): Step {
  const text = `An origin ${ORIGIN_SHAPE}. The sender must send "${meant}".`;
  if (isAllowed) return { text };
  const command = commands.activate(of, project, { origin: meant });
  return {
    text: `${text} If that isn't one of the project's sites, ignore these views. If it is, add it:`,
    command,
  };
}

function lostStep(origin: readonly string[], { sample, fate }: Refused, of: Installation): Step {
  const restore =
    'viewlog would accept such views now, but only because the project no longer lists origins. If ' +
    'they were removed by mistake, restore them before you replay any views';
  const command = commands.activate(of, sample.project ?? '', { origin });
  return fate?.obstacle === undefined ? { text: `${restore}:`, command } : { text: `${restore}.` };
}

const WRONG_PATH =
  'Have the pages send to /view. If they already do, a proxy is changing the path. To see how to configure it:';

const REDIRECTED =
  'Have the pages post to the final address, the one after any redirect. A redirect, for example ' +
  'from http to https, can turn a POST into a GET. To read more:';

const NULL_ORIGIN =
  'The origin "null" can\'t be listed: any page in a sandboxed frame or opened from a file ' +
  "sends it. Open the page at its site's address.";

const UNKNOWN_RATE =
  'Within two minutes, once viewlog has counted a full minute of views, a suggested limit will appear on the status page.';

function proxyStep(sample: Sample, bodyBytes: number, of: Installation): Step {
  const { isCut, bytes } = sample;
  const seconds = LIMITS.bodyTimeoutMs / 1000;
  const arrived = bytes === undefined ? '' : ` (${formatCount(bytes)} bytes)`;
  const what = isCut
    ? `ended after ${plural(bytes ?? 0, 'byte')}, before its closing brace. If the page builds its JSON by hand, use JSON.stringify(view). Otherwise, the sender or a proxy cut the body off`
    : `was incomplete${arrived} when its connection ended or ${seconds} s had passed`;
  const nginx = `client_max_body_size ${Math.ceil(bodyBytes / KiB)}k`;
  const caddy = `max_size ${formatSizeOption(bodyBytes)} in request_body`;
  const text =
    `The latest refused body ${what}. A few such bodies are normal, because visitors leave pages early. ` +
    'If there is a proxy, let it pass on bodies of up to ' +
    `${formatSize(bodyBytes)} (nginx: ${nginx}; Caddy: ${caddy}), and allow each up to ` +
    `${seconds} s to arrive.`;
  return testProxy(text, sample, of);
}

/**
 * Returns a step with a doctor command. If the sample names a project, the doctor sends a view of
 * it, because a proxy may cut bodies off or drop headers.
 */
function testProxy(what: string, { project, text = '' }: Sample, of: Installation): Step {
  const [, id = project] = /"p"\s*:\s*"(\d{1,20})"/.exec(text) ?? [];
  const how = id ? ' with one real view, which reports show as /viewlog-doctor' : '';
  return {
    text: `${what} To test the proxy${how}, replace the address after --url with the one that your pages post to:`,
    command: commands.doctor(of, { url: VIEWS_SITE, project: project ?? id }),
  };
}

function pageStep({ sample, fate }: Pick<Refused, 'sample' | 'fate'>, of: Installation): Step {
  const { code, text: body = '' } = sample;
  const [, url] = /"url"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(body) ?? [];
  const unknown =
    fate === undefined
      ? 'that sent this view'
      : sample.code === 'malformed-json'
        ? 'that sends these bodies'
        : 'that sends these views';
  // An invalid view may have something else in place of the page's address.
  const isPage = url !== undefined && /^(\/|https?:)/.test(url);
  const page = isPage ? `"${printable(url, 100)}"` : unknown;
  const correct = `Correct the page ${page}.`;
  // A sample that was cut ends in an ellipsis, and a line can't show every character.
  const isWhole = !/^$|…$/.test(body) && printable(body, Infinity) === body;
  const isReadable = fate !== undefined && fate.obstacle === undefined;
  if (code !== 'invalid-view' || !isWhole || !isReadable) return { text: correct };
  const origin = sample.origin !== undefined && isOrigin(sample.origin) ? sample.origin : undefined;
  return {
    text: `${correct} To check a corrected view, change it in this command:`,
    command: commands.explain(of, body, { origin }),
  };
}

/** Precedes the command that prints a project's script. */
export const TO_PRINT =
  "To print the script for the project's pages, replace the address after --url with the one at " +
  'which browsers reach viewlog, and run:';

const EXAMPLE = { id: '1000001', active: false, origins: ['https://www.example.com'] };
/** An address at which browsers might reach a collector. */
const VIEWS_SITE = 'https://views.example.com';

/** How to activate a project, by the number of listed projects. */
const ACTIVATE = [
  "Activate a project, with your own id and your site's address:",
  'Activate the project:',
];

const activateStep = (
  one: Pick<ProjectRow, 'id' | 'origins'>,
  { installation: of, projects }: StatusModel,
): Step => {
  const { id } = one;
  const origins = one === EXAMPLE ? EXAMPLE.origins : [];
  const text = ACTIVATE[projects.length] ?? 'Activate a project, for example:';
  return { text, command: commands.activate(of, id, { origin: origins }) };
};

/** Returns how to activate a project if none is active and none sends views. */
function inactiveNotices(model: StatusModel): Notice[] {
  const first =
    model.projects[0] ?? (model.projectsListed === 0 && !isEmptied(model) ? EXAMPLE : undefined);
  if (first === undefined || model.isAnyActive || model.problems.length > 0) return [];
  return [{ title: 'To accept views', steps: [activateStep(first, model)] }];
}

/** Returns the first steps, for a collector that hasn't been sent a view yet. */
function firstSteps(model: StatusModel): Notice {
  const { installation: of, projects, startMs } = model;
  const first = projects.find(({ active }) => active) ?? projects[0] ?? EXAMPLE;
  const { id, active } = first;
  const activate = activateStep(first, model);
  const script = {
    text: TO_PRINT,
    command: commands.snippet(of, id, VIEWS_SITE),
  };
  const test = {
    text: 'Or send a test view from this machine (it counts like any other view):',
    command: curlOf(first, of.address ?? '', startMs),
  };
  return { title: 'To get the first view', steps: [...(active ? [] : [activate]), script, test] };
}
