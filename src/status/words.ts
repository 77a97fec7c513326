// Renders the model of the status page as words, for the page and for plain text.
import { basename } from 'node:path';
import { formatCount, formatDuration, formatRoundedSize, plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { dayOf, timeOf } from '../base/time.ts';
import { DISK_FULL } from '../disk/day-writer.ts';
import type { ProjectsFault } from '../projects/project-list.ts';
import { isStray, LATEST_MAX } from './counts.ts';
import { isStream, NONE_ACTIVE } from './health.ts';
import type { LatestRefusal, ProjectRow, StatusModel } from './model.ts';
import { BY_ORIGIN, type Sample } from './reasons.ts';
import {
  isFixed,
  isOpen,
  isRefused,
  isWaiting,
  type Judged,
  type JudgedReason,
  type SubjectKind,
} from './state.ts';

/** `2026-11-22 14:00 UTC`; the page shows such texts in the reader's time zone. */
export const at = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** `2026-11-22 14:00:59 UTC` */
const atSecond = (ms: number): string => at(ms).replace(' UTC', `${timeOf(ms).slice(16, 19)} UTC`);

/** Finds such times in a sentence. */
export const TIMES = /(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC)/;

/** Returns why a request was refused: its code, as words. */
export const refusalLabel = ({ code, isCut }: Pick<Sample, 'code' | 'isCut'>): string =>
  isCut || code === 'request-timeout'
    ? 'body cut off'
    : code.replaceAll('-', ' ').replace('json', 'JSON');

/**
 * Operators choose names and anyone can choose other texts, so characters that reorder a sentence
 * are escaped.
 */
export const named = (text: string): string => printable(text, 60);

/** Returns `was` or `were` for a count. */
export const were = (count: number): string => (count === 1 ? 'was' : 'were');

export const nounOf = (kind: SubjectKind): string => (kind === 'requests' ? 'request' : 'view');

/**
 * `all 69 views in the last hour were refused (origin not allowed)`
 * @param why the open reasons, in parentheses.
 */
export function problemWords(one: Omit<Judged, 'activity'> & Counted, why: string): string {
  const { kind, state, accepted, acceptedYesterday } = one;
  const inAll = refusedInAll(one);
  const refused = one.refused > 0 ? one.refused : inAll;
  if (state === 'silent') {
    return `no views accepted in the last 3 hours (${formatCount(acceptedYesterday)} in the same hours the day before)`;
  }
  const noun = nounOf(kind);
  const all = plural(accepted + refused, noun);
  const only = kind === 'requests' ? 'the' : 'its';
  const none = [`${only} only ${noun}`, `both ${noun}s`][refused - 1] ?? `all ${all}`;
  const gone = inAll - refused;
  const every = gone > 0 ? plural(refused, noun) : none;
  const many = accepted === 0 ? every : `${formatCount(refused)} of ${all}`;
  const failed = 'failed before viewlog could read a project id';
  const what = `in the last hour ${kind === 'requests' ? failed : `${were(refused)} refused`}`;
  const byProblem = one.reasons
    .flatMap((reason) => [isFixed(reason) ? reason.lastHour : 0, reason.endedLastHour])
    .filter((count) => count > 0);
  const ended = Math.min(
    gone,
    byProblem.reduce((sum, count) => sum + count, 0),
  );
  const problems =
    byProblem.length === 1 ? 'an earlier problem that has' : 'earlier problems that have';
  const more = [
    ...(ended > 0 ? [`${formatCount(ended)} refused because of ${problems} ended`] : []),
    ...(gone > ended
      ? [`${formatCount(gone - ended)} ${one.isDown ? 'during the outage' : 'for other causes'}`]
      : []),
  ];
  const left = more.length === 0 ? '' : `, not counting ${more.join(' and ')}`;
  return `${many} ${what}${why}${left}`;
}

interface Counted {
  readonly figures?: Pick<ProjectRow['figures'], 'refusedLastHour'>;
}

/** Includes views that were refused for causes that are fixed or because of the store. */
const refusedInAll = ({ refused, figures }: Pick<Judged, 'refused'> & Counted): number =>
  figures?.refusedLastHour ?? refused;

/** Returns why the views of a reason were refused. Its project may have been changed since. */
export const reasonLabel = ({ sample }: Pick<JudgedReason, 'sample'>): string =>
  sample.code === 'origin-not-allowed' && !sample.origin
    ? `${sample.origin === undefined ? 'no' : 'empty'} Origin header`
    : refusalLabel(sample);

const LABELS_MAX = 3;

/** ` (origin not allowed)`: each of these reasons once, open ones first, then the most frequent. */
export function reasonsWords(reasons: Judged['reasons']): string {
  const labels = [...new Set(reasons.map(reasonLabel))];
  const more = labels.length - LABELS_MAX;
  const shown = labels.slice(0, LABELS_MAX).join(', ');
  const others = more > 0 ? ` and ${plural(more, 'other reason')}` : '';
  return labels.length === 0 ? '' : ` (${shown}${others})`;
}

/** A state that also says that a project accepts views from every site. */
const LOST = 'origins lost';

const NAMES_MAX = 3;

/** Returns the headline, with its colour. */
export function headlineOf(model: StatusModel): [kind: string, text: string] {
  const [kind, text] = arrivalsOf(model);
  const unnamed = model.opened.filter((name) => !text.includes(`${named(name)}: ${LOST}`));
  const [first, ...others] = unnamed;
  if (first === undefined || kind === 'red') return [kind, text];
  const who = others.length === 0 ? named(first) : plural(unnamed.length, 'project');
  const opened = `${who} accept${others.length === 0 ? 's' : ''} views from every site`;
  if (kind === 'amber') return [kind, `${text}; ${opened}`];
  return ['amber', `${opened}; ${text.replace(/^[A-Z]/, (letter) => letter.toLowerCase())}`];
}

function arrivalsOf(model: StatusModel): [kind: string, text: string] {
  const { store, closedDirectory, projectsFault: fault, problems, problemsInAll } = model;
  const { projectsActive, projectsArriving: arriving } = model;
  const open = problems.filter(({ colour }) => colour !== 'green');
  const worst = open[0]?.colour;
  const closed = "viewlog can't create files in its data directory";
  const file = closedDirectory ? closed : fault && `The projects file is ${faultWord(fault)}`;
  if (store.unavailable !== undefined) {
    return ['red', `Every view is refused: ${whyUnavailable(model)}`];
  }
  if (worst !== undefined || file !== undefined) {
    const each = worst && problemNames(open, problemsInAll);
    const arrives = worst === undefined && arriving > 0 ? 'views are still arriving' : undefined;
    const inOrder = worst === 'red' ? [each, file] : [file, each ?? arrives];
    const none = model.isAnyActive ? undefined : NONE_ACTIVE;
    const gone = model.isAnyActive ? '' : removedWords(model, each !== undefined);
    const parts = [none, ...inOrder, gone || undefined].filter((part) => part !== undefined);
    const text = parts.map((part, i) => (i > 0 && part === file ? part.replace(/^T/, 't') : part));
    return [worst ?? 'amber', text.join('; ')];
  }
  const [only] = model.projectsListed === 1 ? model.projects : [];
  if (arriving > 0) {
    const fixed = problems.length > 0 ? '; earlier problems have ended' : '';
    const projects = `${formatCount(arriving)} of ${formatCount(projectsActive)} active projects`;
    return ['green', `Views are arriving from ${only ? named(only.name) : projects}${fixed}`];
  }
  if (projectsActive === 0) {
    const none = only ? `${named(only.name)} is inactive, so its views are refused` : NONE_ACTIVE;
    const removed = removedWords(model, only !== undefined);
    return removed === '' ? ['grey', none] : ['amber', `${none}; ${removed}`];
  }
  if (model.isNew) return ['grey', 'Waiting for the first view'];
  const { lastAcceptedMs } = only?.figures ?? model.total;
  if (lastAcceptedMs !== undefined) {
    const from = only ? named(only.name) : 'active projects';
    return ['grey', `Quiet: no views from ${from} in the last hour`];
  }
  // Views of ids that were removed since.
  if (only && model.total.lastAcceptedMs !== undefined) {
    return ['grey', `No view accepted from ${named(only.name)} yet`];
  }
  const since = model.hasEarlierViews ? 'since the counts began' : 'yet';
  return ['grey', `No view accepted ${since}`];
}

/** Returns how many active projects were removed in the last 24 hours. */
const removedWords = ({ removedInAll: all }: StatusModel, isOther: boolean): string =>
  all === 0
    ? ''
    : `${plural(all, isOther ? 'other active project' : 'active project')} ${were(all)} removed`;

/** The store treats some errors as a full disk; the free space shows whether the disk is full. */
function whyUnavailable({ store, space }: StatusModel): string | undefined {
  const isFull = space === undefined || space.missingBytes > 0;
  const isKnown = store.unavailable !== DISK_FULL || isFull;
  return isKnown ? store.unavailable : "the view file can't be written";
}

/** `Aurora: all refused (origin not allowed); 1 more problem` */
function problemNames(open: readonly ProjectRow[], inAll: number): string {
  const each = open.slice(0, NAMES_MAX).map((row) => {
    const state = row.state === 'silent' ? 'no views for 3 hours' : stateWords(row);
    // All views of a project that is off are refused because it is off, as `state` says.
    const isOff = row.kind !== 'requests' && !row.active;
    const why = isOff || isWaiting(row) ? '' : reasonsWords(row.reasons.filter(isOpen));
    const who = row.kind === 'requests' ? 'Requests' : named(row.name);
    return `${who}: ${state}${why}`;
  });
  const more = inAll - each.length;
  return [...each, ...(more > 0 ? [plural(more, 'more problem')] : [])].join('; ');
}

/** Returns the answer of `/arriving`: 503 if somebody should look. */
export const arrivingWords = (model: StatusModel): [200 | 503, string] => {
  // Views still arrive in a closed directory, but none can from the next day on.
  const isDown = model.store.unavailable !== undefined || model.closedDirectory !== undefined;
  const isFailing = model.isAlarming || isDown;
  return [isFailing ? 503 : 200, headlineOf(model)[1]];
};

export const faultWord = ({ loss, line }: ProjectsFault): string =>
  loss ?? (line === undefined ? 'unreadable' : 'invalid');

/** Returns when the last view came, when counting began, and a note on what is further down. */
export function summaryWords(model: StatusModel): string {
  const { total, nowMs, startMs, sinceMs, store, removedInAll, hasEarlierViews } = model;
  const unlisted = model.unlistedInAll - removedInAll;
  const { lastAcceptedMs: lastMs } = total;
  const [alone, others] = isStream(store)
    ? [', for this collector alone', '; other views are in the stream']
    : ['', '; other views are in the files'];
  const isOther = model.problems.some(({ kind }) => kind === 'unlisted');
  const ids = `Views of ${plural(unlisted, 'unlisted id')} were refused (see below).`;
  return [
    ...(lastMs === undefined ? [] : [`Last view accepted ${formatDuration(nowMs - lastMs)} ago.`]),
    ...(sinceMs === startMs ? [] : [`viewlog restarted on ${at(startMs)}.`]),
    `The counts began on ${at(sinceMs)}${alone}${hasEarlierViews ? others : ''}.`,
    ...(removedInAll === 0 ? [] : [`${removedWords(model, isOther)} (see below).`]),
    ...(unlisted === 0 ? [] : [ids]),
  ].join(' ');
}

const countOrDash = (count: number | undefined): string =>
  count === undefined ? '–' : formatCount(count);

type Figure = readonly [name: string, value: string, hint: string];

/** The four figures under the headline. */
export function figures(model: StatusModel): Figure[] {
  const { lastHour, refusedLastHour, today, yesterdayByNow: byNow } = model.total;
  const compared =
    byNow === undefined ? 'views accepted' : `${formatCount(byNow)} by this time yesterday`;
  return [
    ['Last hour', formatCount(lastHour), 'views accepted'],
    ['Refused', formatCount(refusedLastHour), REFUSED_HINT],
    ['Today', formatCount(today), compared],
    storeFigure(model),
  ];
}

/** Explains why the number can exceed the sum of the problems above it. */
const REFUSED_HINT = 'in the last hour, from all senders';

function storeFigure({ store, space }: StatusModel): Figure {
  if (isStream(store)) {
    const { name, server = 'not connected', seen } = store.stream;
    const where = `${name}, ${server}, ${seen.leader === undefined ? 'without a leader' : `led by ${seen.leader}`}`;
    return ['Stream', plural(seen.messages, 'message'), where];
  }
  if (space === undefined) return ['Free disk', 'unknown', "viewlog can't check it"];
  const { freeBytes, daysLeft } = space;
  const lasts =
    daysLeft === undefined ? 'estimate after one full day' : `lasts ${daysInWords(daysLeft)}`;
  return ['Free disk', formatRoundedSize(freeBytes), lasts];
}

/** `less than a day`, `12 days`, `more than 10 years` */
export function daysInWords(days: number): string {
  if (days < 1) return 'less than a day';
  return days > 3650 ? 'more than 10 years' : plural(Math.floor(days), 'day');
}

/** @param hasEarlierViews as in the model. */
export function stateWords(row: ProjectRow, hasEarlierViews = false): string {
  const { kind, state, active, accepted, figures } = row;
  if (isWaiting(row)) {
    const isOpened = row.reasons.some((one) => isOpen(one) && one.lost);
    return isOpened ? LOST : 'fixed, waiting for a view';
  }
  // All its views are refused now, even if some were accepted within the hour.
  if (isRefused(row) && kind === 'unlisted') return 'no longer listed';
  if (isRefused(row) && kind === 'project' && !active) return 'inactive but sending';
  if (state === 'refused') return kind === 'requests' ? 'all failed' : 'all refused';
  if (state !== 'partly-refused') {
    return state === 'quiet' && figures.lastAcceptedMs === undefined && !hasEarlierViews
      ? 'none accepted yet'
      : state.replace('-', ' ');
  }
  const { refused } = row;
  // Not 100%, because some views were accepted.
  const share = Math.min(99, Math.round((100 * refused) / (accepted + refused)));
  return kind === 'requests' ? `${share}% failed` : `${share}% refused`;
}

/** Returns whether today's file is open, so that views are stored even in a closed directory. */
export const isStoringToday = ({ store, nowMs }: Pick<StatusModel, 'store' | 'nowMs'>): boolean =>
  store.unavailable === undefined &&
  (isStream(store) || store.path?.includes(dayOf(nowMs)) === true);

/** `Writing views-2026-11-22.ndjson, 1.2 KiB.` */
export function fileWords(model: StatusModel): string {
  const { store } = model;
  if (isStream(store) || store.path === undefined) return '';
  const what = isStoringToday(model) ? 'Writing' : 'Last written:';
  return `${what} ${basename(store.path)}, ${formatRoundedSize(store.fileBytes)}.`;
}

export const COLUMNS = ['Last hour', 'Today', 'Yesterday, same time', 'Refused, 24 h'];

/** The figures of a row, in the order of the columns. */
export const cells = ({ figures: f }: ProjectRow): string[] =>
  [f.lastHour, f.today, f.yesterdayByNow, f.refusedLastDay].map(countOrDash);

/** Returns the text under the chart of a row. */
export function chartWords({ hours, refusedHours, figures }: ProjectRow): string {
  const [accepted, refused] = [hours, refusedHours].map((all) => formatCount(Math.max(0, ...all)));
  const { today, yesterday } = figures;
  const most = `Highest counts per hour in the last 24 hours: ${accepted} accepted, ${refused} refused.`;
  const before = yesterday === undefined ? '' : `; yesterday: ${formatCount(yesterday)}`;
  return `${most} Accepted today: ${formatCount(today)}${before}.`;
}

/** Returns how many projects aren't shown. */
export function leftOut({ projects, projectsFound, projectsListed }: StatusModel): string {
  if (projectsListed === 0) return 'No project is listed.';
  if (projectsFound === 0) return 'No project found.';
  const left = projectsFound - projects.length;
  return left === 0 ? '' : `${plural(left, 'more project')}: filter by name or id.`;
}

/** A list of the last views or refusals. */
export interface EventList {
  readonly title: string;
  /** Says that there are no events. */
  readonly none: string;
  readonly events: readonly {
    readonly time: string;
    readonly name: string;
    readonly what: string;
  }[];
}

export const latest = ({ latestAccepted, latestRefused }: StatusModel): EventList[] => [
  { title: `Last ${LATEST_MAX} accepted views`, none: NONE, events: viewEvents(latestAccepted) },
  {
    title: `Last ${LATEST_MAX} refusals`,
    none: NONE,
    events: latestRefused.map((one) => eventOf(one, whyRefused(one))),
  },
];

const NONE = 'None since viewlog started.';

/** Returns a project's views among the last views of all projects. */
export const latestOf = ({ id }: ProjectRow, { latestAccepted }: StatusModel): EventList => {
  const views = latestAccepted.filter(({ project }) => project === id);
  return {
    title: `Its views among the last ${LATEST_MAX} accepted`,
    none: 'None.',
    events: viewEvents(views),
  };
};

const viewEvents = (views: StatusModel['latestAccepted']) =>
  views.map((one) => eventOf(one, one.url));

function whyRefused({ origin, ...refusal }: LatestRefusal): string {
  const label = refusalLabel(refusal);
  if (origin !== undefined) return `${label}, ${fromOrigin(origin)}`;
  const without = `${label}, without an Origin header`;
  if (isStray(refusal)) return `${without} (not counted)`;
  return BY_ORIGIN.has(refusal.code) ? without : label;
}

/** `from https://a.example` */
export const fromOrigin = (origin: string): string =>
  origin === ''
    ? 'with an empty Origin header'
    : `from ${origin === 'null' ? 'the origin "null"' : printable(origin)}`;

function eventOf(
  { atMs, name, count }: { atMs: number; name: string; count: number },
  what: string,
) {
  return { time: atSecond(atMs), name, what: count === 1 ? what : `${what} (${count} times)` };
}
