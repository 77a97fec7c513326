// How the status page words what the model says, for the page and for plain text.
import {
  formatCount,
  formatDuration,
  formatRoundedSize,
  formatSize,
  plural,
} from '../base/format.ts';
import { printable } from '../base/text.ts';
import type { RefusalCode } from '../view/refusal.ts';
import type { Cause, RequestsProblem, Row, StatusModel, UnlistedFacts } from './model.ts';
import type { Installation } from './shell-commands.ts';

/** Where the printed commands have to work. */
export interface Place extends Installation {
  /** The collector's own address, without a slash at its end. */
  readonly url: string;
  readonly viewBytesMax: number;
}

/** A sentence; its times are shown in the reader's time zone. */
export type Words = readonly (string | Date)[];

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

/** What a body without its end is called, whatever its code. */
const CUT = 'arrived cut off';

export const REASONS: Readonly<Record<RefusalCode, string>> = {
  'malformed-json': 'not JSON',
  'project-not-activated': 'project not active',
  'origin-not-allowed': 'origin not allowed',
  'not-found': 'unknown path',
  'method-not-allowed': 'wrong method',
  'request-timeout': CUT,
  'view-too-large': 'too large',
  'unsupported-media-type': 'wrong content type',
  'invalid-view': 'invalid views',
  'rate-limited': 'over its limit',
  overloaded: 'collector overloaded',
  'storage-unavailable': 'not stored',
};

const CAUSES: Readonly<Record<Cause, string>> = {
  ...REASONS,
  silent: 'silent, unlike yesterday',
  inactive: 'inactive but still sending',
  several: 'several reasons',
};

/** Operators' names and strangers' texts, without characters that reorder a sentence. */
export const named = (text: string): string => printable(text, 60);

export const countOrDash = (count: number | undefined): string =>
  count === undefined ? '–' : formatCount(count);

export function headlineWords(model: StatusModel): string {
  const { headline, fixed, problems, requests, unavailable = '' } = model;
  const { about } = headline;
  if (about === 'storage') return `Every view is refused: ${unavailable}`;
  if (about === 'projects-file') {
    return 'The projects file is faulty; the last good one stays active';
  }
  if (about === 'requests') return requests === undefined ? '' : requestsWords(requests);
  if (about === 'projects') return problemsWords(headline, problems);
  if (about === 'arriving') {
    const arriving = `${formatCount(headline.arriving)} of ${plural(headline.of, 'project')}`;
    return `Views are arriving: ${arriving}${fixed.length > 0 ? '; problems fixed' : ''}`;
  }
  const { refused } = headline;
  const and = `; ${plural(refused, 'request')} refused in the last hour`;
  return `${QUIET[about]}${refused > 0 ? and : ''}`;
}

const QUIET = {
  'no-active-project': 'No project is active',
  'first-view': 'Waiting for the first view',
  quiet: 'Quiet: no views in the last hour',
};

const percent = (part: number, whole: number): string =>
  `${Math.min(99, Math.max(1, Math.round((100 * part) / whole)))}%`;

/** `41 of 61 requests failed: arrived cut off (40), wrong content type (1)` */
function requestsWords({ failed, of, reasons }: RequestsProblem): string {
  const each = reasons.map((one) => `${requestReason(one)} (${formatCount(one.lastHour)})`);
  return `${formatCount(failed)} of ${plural(of, 'request')} failed: ${each.join(', ')}`;
}

export const requestReason = ({ remedy, sample }: RequestsProblem['reasons'][number]): string =>
  remedy.kind === 'check-proxy' ? CUT : REASONS[sample.code];

/** `All of Aurora's views are refused: origin not allowed`; for several, how many have which. */
function problemsWords(
  { causes, of }: { readonly causes: readonly [Cause, number][]; readonly of: number },
  [first, ...others]: readonly Row[],
): string {
  const each = causes.map(([cause, count]) => `${CAUSES[cause]} (${formatCount(count)})`);
  const [cause] = causes[0] ?? ['several' as const];
  if (first !== undefined && others.length === 0) return `${extentWords(first)}: ${CAUSES[cause]}`;
  const count = causes.reduce((sum, [, many]) => sum + many, 0);
  return `${formatCount(count)} of ${plural(of, 'project')} have problems: ${each.join(', ')}`;
}

/** `All of Aurora's views are refused`, `23% of Aurora's views are refused` */
function extentWords({ state, name, accepted, refused }: Row): string {
  const whose = `${named(name)}${/s$/i.test(name) ? "'" : "'s"}`;
  if (state === 'silent') return `No views from ${named(name)} in the last 3 hours`;
  if (state === 'refused') return `All of ${whose} views are refused`;
  return `${percent(refused, accepted + refused)} of ${whose} views are refused`;
}

/** How fresh the page is, and since when it counts. */
export function summaryWords({ total, nowMs, startMs, sinceMs, stream }: StatusModel): Words {
  const { lastAcceptedMs: lastMs } = total;
  const last =
    lastMs === undefined ? 'No view yet' : `Last view ${formatDuration(nowMs - lastMs)} ago`;
  if (stream !== undefined)
    return say`${last}. Counted since ${at(startMs)}, by this collector alone.`;
  return sinceMs === startMs
    ? say`${last}. Counted since ${at(sinceMs)}.`
    : say`${last}. Running since ${at(startMs)}, counted since ${at(sinceMs)}.`;
}

/** The four figures under the headline. */
export function figures(model: StatusModel): [name: string, value: string, hint: string][] {
  const { lastHour, refusedLastHour, today, yesterdayByNow } = model.total;
  const isNew = yesterdayByNow === undefined;
  return [
    ['Last hour', formatCount(lastHour), 'views accepted'],
    ['Refused', formatCount(refusedLastHour), 'in the last hour'],
    [
      'Today',
      formatCount(today),
      isNew ? 'views accepted' : `${formatCount(yesterdayByNow)} yesterday by now`,
    ],
    storeFigure(model),
  ];
}

function storeFigure({ disk, stream }: StatusModel): [string, string, string] {
  if (disk === undefined) {
    const where = `${stream?.name ?? ''}, ${stream?.server ?? 'not connected'}`;
    return ['Stream', plural(stream?.seen.messages ?? 0, 'message'), where];
  }
  const { freeBytes, minFreeBytes, daysLeft } = disk;
  if (freeBytes === undefined) return ['Free disk', 'unknown', 'statfs is not permitted'];
  const lasts = daysLeft === undefined ? 'unknown before a full day' : daysWords(daysLeft);
  const isLow = freeBytes < minFreeBytes;
  const hint = isLow ? `below --min-free ${formatSize(minFreeBytes)}` : `lasts: ${lasts}`;
  return ['Free disk', formatRoundedSize(freeBytes), hint];
}

function daysWords(days: number): string {
  if (days > 3650) return 'more than 10 years';
  return days < 1 ? 'less than a day' : plural(Math.floor(days), 'day');
}

export function stateWords({ state, active, accepted, refused, figures }: Row): string {
  if (state === 'refused') return active ? 'all refused' : 'inactive, sends';
  if (state === 'partly-refused') return `${percent(refused, accepted + refused)} refused`;
  return state === 'quiet' && figures.lastAcceptedMs === undefined ? 'no view yet' : state;
}

/** `1000009: 3 views in 24 hours, 1 in the last hour, from https://new.example` */
export function unlistedWords({ id, lastDay, lastHour, origin }: UnlistedFacts): string {
  const from = origin === undefined ? 'without an Origin' : `from ${printable(origin)}`;
  return `${id}: ${plural(lastDay, 'view')} in 24 hours, ${formatCount(lastHour)} in the last hour, ${from}`;
}
