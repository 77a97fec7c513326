// Renders the model of the status page as words, for the page and for plain text.
import {
  formatCount,
  formatDuration,
  formatRoundedSize,
  formatSize,
  plural,
} from '../base/format.ts';
import { printable } from '../base/text.ts';
import type { RefusalCode } from '../view/refusal.ts';
import type { Row, StatusModel } from './model.ts';
import type { Installation } from './shell-commands.ts';
import type { Sample } from './reasons.ts';
import { isOpen, isRefused, type JudgedReason } from './state.ts';

/** The installation that the printed commands are for. */
export interface Place extends Installation {
  /** The collector's own address, without a slash at its end. */
  readonly url: string;
  readonly viewBytesMax: number;
}

/** A sentence; its times are shown in the reader's time zone. */
export type Words = readonly (string | Date)[];

/** A fix, and the command for it. */
export interface Step {
  readonly words: Words;
  readonly command?: string | undefined;
}

/** Makes words of a template with strings, numbers and times in it. */
export const say = (texts: TemplateStringsArray, ...values: (string | number | Date)[]): Words =>
  texts.flatMap((text, i) => {
    const value = values[i] ?? '';
    return [text, typeof value === 'number' ? formatCount(value) : value];
  });

export const at = (ms: number): Date => new Date(ms);

/** `2026-11-22 14:00 UTC` */
export const utc = (date: Date): string =>
  `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

const REASONS: Readonly<Record<RefusalCode, string>> = {
  'malformed-json': 'not JSON',
  'project-not-activated': 'project not active',
  'origin-not-allowed': 'origin not allowed',
  'not-found': 'unknown path',
  'method-not-allowed': 'wrong method',
  'request-timeout': 'arrived cut off',
  'view-too-large': 'too large',
  'unsupported-media-type': 'wrong content type',
  'invalid-view': 'invalid views',
  'rate-limited': 'over its limit',
  overloaded: 'collector overloaded',
  'storage-unavailable': 'storage unavailable',
};

export const reasonOf = ({ code, isCut }: Pick<Sample, 'code' | 'isCut'>): string =>
  REASONS[isCut ? 'request-timeout' : code];

/** Each reason that is not fixed, once, the most frequent first. */
export const reasonsOf = ({ reasons }: { readonly reasons: readonly JudgedReason[] }): string =>
  [...new Set(reasons.filter(isOpen).map(({ sample }) => reasonOf(sample)))].join(', ');

/**
 * Operators choose names and anyone can choose other texts, so characters that reorder a sentence
 * are escaped.
 */
export const named = (text: string): string => printable(text, 60);

const countOrDash = (count: number | undefined): string =>
  count === undefined ? '–' : formatCount(count);

type About = StatusModel['headline']['about'];

const HEADLINES: Readonly<Record<About, (model: StatusModel) => string>> = {
  storage: ({ unavailable = '' }) => `Every view is refused: ${unavailable}`,
  projects: problemsWords,
  'projects-file': ({ projectsFault: fault }) =>
    `The projects file is ${fault?.isMissing ? 'missing' : 'faulty'}`,
  requests: ({ requests }) =>
    requests === undefined ? '' : `${shareOf(requests)} of requests fail: ${reasonsOf(requests)}`,
  arriving: ({ projectsArriving: arriving, projectsActive, fixed }) =>
    `Views are arriving: ${formatCount(arriving)} of ${plural(projectsActive, 'project')}` +
    (fixed.length > 0 ? '; problems fixed' : ''),
  'no-active-project': () => 'No project is active, so every view is refused',
  'first-view': () => 'Waiting for the first view',
  quiet: () => 'Quiet: no views in the last hour',
};

export const headlineWords = (model: StatusModel): string => HEADLINES[model.headline.about](model);

const NAMES_MAX = 3;
const LATEST_SHOWN = 10;

/** `Aurora: all views refused (origin not allowed); Bergen: no views in 3 hours; 2 more` */
function problemsWords({ problems, problemsInAll }: StatusModel): string {
  const each = problems.slice(0, NAMES_MAX).map((row) => {
    const silent = 'no views in 3 hours, unlike yesterday';
    const share = row.state === 'refused' ? 'all' : `${shareOf(row)} of`;
    const refused = `${share} views refused (${reasonsOf(row)})`;
    return `${named(row.name)}: ${row.state === 'silent' ? silent : refused}`;
  });
  const more = problemsInAll - each.length;
  return [...each, ...(more > 0 ? [`${formatCount(more)} more`] : [])].join('; ');
}

/** `23%`: never 0% or 100% if that is not all of the truth. */
const shareOf = ({ accepted, refused }: Row): string => {
  const share = Math.round((100 * refused) / (accepted + refused));
  return `${accepted === 0 ? 100 : Math.min(99, Math.max(1, share))}%`;
};

/** Returns the page's age, the time since which it counts, and a note on what is further down. */
export function summaryWords(model: StatusModel): Words {
  const { total, nowMs, startMs, sinceMs, stream, unlistedInAll } = model;
  const { lastAcceptedMs: lastMs } = total;
  const alone = stream === undefined ? '' : ', by this collector alone';
  const restart = sinceMs === startMs ? [' '] : say` Restarted ${at(startMs)}. `;
  const ids = `Views of ${plural(unlistedInAll, 'unlisted id')} are refused, see below.`;
  return [
    ...lastWords(lastMs, nowMs),
    ...restart,
    ...say`Counted since ${at(sinceMs)}${alone}.`,
    unlistedInAll === 0 ? '' : ` ${ids}`,
  ];
}

function lastWords(lastMs: number | undefined, nowMs: number): Words {
  if (lastMs === undefined) return ['No view yet.'];
  if (lastMs <= nowMs) return [`Last view ${formatDuration(nowMs - lastMs)} ago.`];
  return say`Last view ${at(lastMs)}, which is later than this clock’s time.`;
}

type Figure = readonly [name: string, value: string, hint: string];

/** The four figures under the headline. */
export function figures(model: StatusModel): Figure[] {
  const { lastHour, refusedLastHour, today, yesterdayByNow: byNow } = model.total;
  const compared =
    byNow === undefined ? 'views accepted' : `${formatCount(byNow)} yesterday by now`;
  return [
    ['Last hour', formatCount(lastHour), 'views accepted'],
    ['Refused', formatCount(refusedLastHour), 'in the last hour'],
    ['Today', formatCount(today), compared],
    storeFigure(model),
  ];
}

function storeFigure({ disk, stream }: StatusModel): Figure {
  if (disk === undefined) {
    const where = `${stream?.name ?? ''}, ${stream?.server ?? 'not connected'}`;
    return ['Stream', plural(stream?.seen.messages ?? 0, 'message'), where];
  }
  const { freeBytes, minFreeBytes, daysLeft = Infinity } = disk;
  if (freeBytes === undefined) return ['Free disk', 'unknown', 'statfs is not permitted'];
  const isLow = freeBytes < minFreeBytes;
  const days = daysLeft > 3650 ? 'more than 10 years' : plural(Math.floor(daysLeft), 'day');
  const lasts = disk.daysLeft === undefined ? 'unknown before a full day' : days;
  const hint = isLow ? `below --min-free ${formatSize(minFreeBytes)}` : `lasts: ${lasts}`;
  return ['Free disk', formatRoundedSize(freeBytes), hint];
}

export function stateWords(row: Row): string {
  const { state, active, figures, isUnstored } = row;
  if (isUnstored && !isRefused(row)) return 'not stored';
  if (state === 'refused') return active ? 'all refused' : 'inactive, sends';
  if (state === 'partly-refused') return `${shareOf(row)} refused`;
  return state === 'quiet' && figures.lastAcceptedMs === undefined ? 'no view yet' : state;
}

/** `Writing views-2026-11-22.ndjson, 1.2 KiB.` */
export function fileWords({ disk }: StatusModel): string {
  if (disk?.path === undefined) return '';
  const name = disk.path.slice(disk.path.lastIndexOf('/') + 1);
  return `Writing ${name}, ${formatRoundedSize(disk.fileBytes)}.`;
}

export const COLUMNS = ['Last hour', 'Today', 'By now yesterday', 'Refused, 24 h'];

/** The figures of a row, in the order of the columns. */
export const cells = ({ figures: f }: Row): string[] =>
  [f.lastHour, f.today, f.yesterdayByNow, f.refusedLastDay].map(countOrDash);

/** Returns the text under the chart of a row. */
export const chartWords = ({ hours, figures: { today, yesterday } }: Row): Words =>
  say`Views of the last 24 hours, at most ${Math.max(...hours)} an hour. Today ${today}, yesterday ${countOrDash(yesterday)}.`;

/** Returns how many projects are not shown. */
export function leftOut({ projects, projectsFound }: StatusModel): string {
  if (projectsFound === 0) return 'No project found.';
  const left = projectsFound - projects.length;
  return left === 0 ? '' : `${plural(left, 'more project')}: filter by name or id.`;
}

export interface Events {
  readonly title: string;
  readonly items: readonly {
    readonly atMs: number;
    readonly name: string;
    readonly what: string;
  }[];
}

/** The last views and refusals. */
export function latest({ latestAccepted, latestRefused }: StatusModel): Events[] {
  const refusals = latestRefused.map((one) => {
    const { atMs, name, origin = '' } = one;
    const reason = reasonOf(one);
    return { atMs, name, what: origin === '' ? reason : `${reason}, from ${origin}` };
  });
  const views = { title: 'Last views', items: latestAccepted.slice(0, LATEST_SHOWN) };
  return [views, { title: 'Last refusals', items: refusals.slice(0, LATEST_SHOWN) }];
}
