// Renders problems and their fixes as sentences and commands, for the page and for plain text.
import { formatRoundedSize, formatSize, formatSizeOption, MiB, plural } from '../base/format.ts';
import { printable, shellQuoted } from '../base/text.ts';
import { curlOf } from '../projects/curl.ts';
import { isStream } from './health.ts';
import type { ReasonFacts, Row, StatusModel } from './model.ts';
import type { Issue } from '../view/refusal.ts';
import * as commands from './shell-commands.ts';
import type { Remedy } from '../view/remedy.ts';
import type { Space } from './look-around.ts';
import { at, named, nounOf, problemWords, reasonOf } from './words.ts';

/** A fix, and the command for it. */
interface Step {
  readonly text: string;
  readonly command?: string | undefined;
}

/** A problem and its fix. */
export interface Notice {
  readonly kind?: Row['kind'];
  readonly title: string;
  readonly steps: readonly Step[];
}

type Place = commands.Place;

/** Returns the problems, the worst first, then those that are fixed by now. */
export function noticesOf(model: StatusModel): Notice[] {
  const { place, projectsFault: fault, problems, overdue, store } = model;
  const notes = [
    ...(model.isStopping ? ['viewlog is about to stop. It accepts views until it does.'] : []),
    ...model.warnings,
  ];
  const isNew = model.total.lastAcceptedMs === undefined;
  return [
    ...(store.unavailable === undefined ? [] : [storeNotice(model)]),
    ...(fault === undefined ? [] : [faultNotice(fault, place)]),
    ...problems.map((row) => problemNotice(row, place)),
    ...(overdue.length === 0 ? [] : [overdueNotice(overdue, place)]),
    ...notes.map((note): Notice => ({ kind: 'amber', title: note, steps: [] })),
    ...(isNew && !fault && !store.unavailable ? [firstSteps(model)] : []),
  ];
}

export const RESTORE_PROJECTS =
  'Restore it from a backup, or write it again. viewlog activate would create one that lists a ' +
  'single project, and views of all others would be refused.';

function faultNotice(fault: NonNullable<StatusModel['projectsFault']>, place: Place): Notice {
  const text = 'Correct the file. Until then no command can change it. To see every fault:';
  const correct = { text, command: commands.withProjects('check', place) };
  return {
    kind: 'amber',
    title: `${fault.first.replace(/[^?]$/, '$&.')} Faulty since ${at(fault.sinceMs)}; the last good list stays active.`,
    steps: [fault.isMissing ? { text: RESTORE_PROJECTS } : correct],
  };
}

export function overdueNotice(overdue: readonly string[], place: Place): Notice {
  const title = `${plural(overdue.length, 'file')} should have been removed by now.`;
  const text = 'viewlog removes one of each kind an hour. To remove the oldest now:';
  const steps = [{ text, command: commands.removalOf(overdue, place) }];
  return { kind: 'amber', title, steps };
}

function storeNotice({ place, store, space }: StatusModel): Notice {
  const { unavailable, unavailableSinceMs: ms } = store;
  const since = ms === undefined ? '' : ` since ${at(ms)}`;
  const title = `Views are refused with 503${since}: ${unavailable}.`;
  return { kind: 'red', title, steps: isStream(store) ? [] : [spaceStep(space, place)] };
}

/** Returns what to do if views cannot be stored, by the free space of the disk. */
export function spaceStep(space: Space | undefined, place: Place): Step {
  const { data = '', 'min-free': minFreeBytes } = place;
  const { freeBytes = 0, remedy } = space ?? {};
  if (remedy?.kind === 'lower-min-free') {
    const lower = Math.max(1, Math.floor(Math.min(64, remedy.diskBytes / 8 / MiB)));
    const text =
      `--min-free is ${formatSize(minFreeBytes)}, but this file system can never have more than ` +
      `${formatRoundedSize(remedy.diskBytes)} free. Start viewlog with --min-free ${lower}MiB, or use a larger disk.`;
    return { text };
  }
  if (remedy?.kind === 'free-disk-space') {
    const text =
      `${formatRoundedSize(freeBytes)} are free, and ${formatRoundedSize(remedy.bytes)} more are ` +
      'needed: delete views-*.ndjson of earlier days that are shipped or copied, or ' +
      'refused-*.ndjson. viewlog then continues by itself.';
    return { text, command: `ls -lh ${shellQuoted(data)}` };
  }
  const text = `Check ${data}: its owner, its disk, quotas and inodes. viewlog continues by itself.`;
  return { text, command: commands.doctorOf(place) };
}

const CHECK_PAGES = { text: "Check that the site's pages still contain the script." };

/** Returns the problem of a project's views, or of requests that name no project. */
export function problemNotice(row: Row, place: Place): Notice {
  const { kind, state, name, active, sinceMs = 0, reasons } = row;
  const still = active ? '' : ' (inactive, but still sending)';
  const what = kind === 'green' ? 'fixed' : problemWords(row);
  const title = `${named(name)}${still}: ${what}, since ${at(sinceMs)}.`;
  const lately = reasons.filter(({ lastHour }) => lastHour > 0);
  const steps = lately.flatMap((one) => reasonSteps(one, place));
  return { kind, title, steps: state === 'silent' ? [CHECK_PAGES] : steps };
}

/** Returns the reasons of refusals in the last 24 hours, with a sample of each. */
export const reasonNotices = ({ reasons }: Row, place: Place): Notice[] =>
  reasons.map((reason) => {
    const { detail, text } = reason.sample;
    const sample = { text: 'The latest:', command: text && printable(text, 1000) };
    const steps = reasonSteps(reason, place);
    return { title: printable(detail, 500), steps: text ? [...steps, sample] : steps };
  });

/** The headline's summary says how many there are in all. */
export const unlistedNotices = ({ unlisted, place }: StatusModel): Notice[] =>
  unlisted.map(({ id, reasons }) => {
    return { title: id, steps: reasons.flatMap((one) => reasonSteps(one, place)) };
  });

/** Returns the reason of refusals, its fix, and how to send the views again. */
function reasonSteps(reason: ReasonFacts, place: Place): Step[] {
  const { sample, lastDay, lastMs, keptDays } = reason;
  const { code, project = '', origin } = sample;
  const views = plural(lastDay, nounOf(project));
  const from = origin === undefined ? 'without an Origin' : `from ${printable(origin)}`;
  const why = code === 'invalid-view' ? sample.issues.map(faultWords).join('; ') : reasonOf(sample);
  const what = `${views} in 24 hours, the latest ${at(lastMs)} ${from}: ${why}.`;
  const steps = [{ text: what }, fixOf(reason, place)];
  // Faulty views stay faulty.
  if (keptDays.length === 0 || !RESENT.has(reason.remedy.kind)) return steps;
  const command = commands.replayOf(project, keptDays, place);
  return [...steps, { text: 'Then send the refused views again:', command }];
}

const RESENT: ReadonlySet<Remedy['kind']> = new Set(['activate', 'add-origin', 'fixed']);

/** `mb must be an integer (received "12")` */
export function faultWords({ field, message, received }: Omit<Issue, 'expected'>): string {
  const name = field === '' ? 'the view' : printable(field);
  return `${name} ${printable(message)} (received ${printable(received)})`;
}

const ADVICE: Readonly<Partial<Record<Remedy['kind'], string>>> = {
  activate: 'If it is a site of yours, activate it; if not, remove the script from its pages:',
  'add-origin': 'If it is one of its sites, add it:',
  'raise-limit': 'Unless this is a flood, raise the limit to twice what is sent:',
  'raise-max-view': 'Send less, or start viewlog with --max-view',
  'send-origin': 'Send them from a browser, or with an Origin header.',
  'fix-page': 'Send them as application/json; with sendBeacon, as a Blob of that type.',
  'check-proxy':
    "That is usually a proxy's size limit (nginx: client_max_body_size; Caddy: request_body).",
  'fix-projects-file':
    'Correct the projects file first: its changes, new ids included, are not active.',
  fixed: 'The cause is gone; waiting for the next view.',
};

type Refused = Pick<ReasonFacts, 'remedy' | 'sample' | 'fixedMs' | 'keptDays'>;

/** Returns what to do about refusals. */
export function fixOf(reason: Refused, place: commands.Owned): Step {
  const { remedy, sample, fixedMs, keptDays } = reason;
  const { project: id = '', code, text: body = '' } = sample;
  const { kind } = remedy;
  if (fixedMs !== undefined) return { text: `Accepted again since ${at(fixedMs)}.` };
  const advice = ADVICE[kind] ?? 'If this continues: viewlog help trouble';
  const activate = (options: commands.Options): Step => {
    return { text: advice, command: commands.withProjects(`activate ${id}`, place, options) };
  };
  if (kind === 'activate' || kind === 'add-origin') return activate({ origin: remedy.origin });
  if (kind === 'raise-limit') return activate({ 'max-views-per-minute': remedy.viewsPerMinute });
  if (kind === 'raise-max-view') return { text: `${advice} ${formatSizeOption(remedy.bytes)}.` };
  if (kind !== 'fix-page' || code === 'unsupported-media-type') return { text: advice };
  const [, url] = /"url"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(body) ?? [];
  const page = url === undefined ? 'that sends them' : `"${printable(url, 100)}"`;
  const day = keptDays.at(-1);
  if (day === undefined) return { text: `Correct the page ${page}.` };
  const command = commands.explainOf(id, day, place);
  return { text: `Correct the page ${page}. To explain the latest:`, command };
}

const EXAMPLE = { id: '1000001', active: false, origins: ['https://www.example.com'] };
/** An address at which browsers might reach a collector. */
const VIEWS_SITE = 'https://views.example.com';

/** Returns the first steps, for a collector that has never accepted a view. */
function firstSteps({ place, projects, startMs }: StatusModel): Notice {
  const first = projects.find(({ active }) => active) ?? projects[0] ?? EXAMPLE;
  const { id, active, origins } = first;
  const activate = {
    text: 'Activate a project, with an id and an address of your own:',
    command: commands.withProjects(`activate ${id}`, place, { origin: origins?.[0] }),
  };
  const script = {
    text: 'Print the script for its pages, with the address at which browsers reach viewlog:',
    command: commands.withProjects(`snippet ${id}`, place, { url: VIEWS_SITE }),
  };
  const test = {
    text: 'Or try it from this machine; the view counts:',
    command: curlOf(first, place.url, startMs),
  };
  return { title: 'To get the first view', steps: [...(active ? [] : [activate]), script, test] };
}
