// Renders the model of the status page as words, for the page and for plain text.
import { basename } from 'node:path';
import { formatCount, formatDuration, formatRoundedSize, plural } from '../base/format.ts';
import { printable } from '../base/text.ts';
import { isStream } from './health.ts';
import type { Row, StatusModel } from './model.ts';
import type { Sample } from './reasons.ts';
import { isOpen, type Judged } from './state.ts';

/** `2026-11-22 14:00 UTC`; the page shows such texts in the reader's time zone. */
export const at = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Finds such times in a sentence. */
export const TIMES = /(\d{4}-\d\d-\d\d \d\d:\d\d UTC)/;

/** Returns why a request was refused: its code, as words. */
export const reasonOf = ({ code, isCut }: Pick<Sample, 'code' | 'isCut'>): string =>
  isCut || code === 'request-timeout' ? 'arrived cut off' : code.replaceAll('-', ' ');

/**
 * Operators choose names and anyone can choose other texts, so characters that reorder a sentence
 * are escaped.
 */
export const named = (text: string): string => printable(text, 60);

export const nounOf = (id: string | undefined): string => (id === '' ? 'request' : 'view');

/** `all 69 views of the last hour refused` */
export function problemWords(one: Omit<Judged, 'activity'>): string {
  const { id, state, accepted, refused, acceptedYesterday } = one;
  if (state === 'silent') {
    return `no views in 3 hours (${formatCount(acceptedYesterday)} in the same hours yesterday)`;
  }
  const noun = nounOf(id);
  const all = plural(accepted + refused, noun);
  const none = refused === 1 ? `the only ${noun}` : `all ${all}`;
  const many = accepted === 0 ? none : `${formatCount(refused)} of ${all}`;
  return `${many} of the last hour refused`;
}

/** ` (origin not allowed)`: each reason that is not fixed, once, the most frequent first. */
export function reasonsOf({ reasons }: Pick<Judged, 'reasons'>): string {
  const open = new Set(reasons.filter(isOpen).map(({ sample }) => reasonOf(sample)));
  return open.size === 0 ? '' : ` (${[...open].join(', ')})`;
}

const NAMES_MAX = 3;

/** Returns the headline, with its colour. */
export function headlineOf(model: StatusModel): [kind: string, text: string] {
  const { store, projectsFault: fault, problems, problemsInAll, total } = model;
  const { projectsActive, projectsArriving: arriving } = model;
  const open = problems.filter(({ kind }) => kind !== 'green');
  const worst = open[0]?.kind;
  if (store.unavailable !== undefined) {
    return ['red', `Every view is refused: ${store.unavailable}`];
  }
  if (worst !== 'red' && fault !== undefined) {
    return ['amber', `The projects file is ${fault.isMissing ? 'missing' : 'faulty'}`];
  }
  if (worst !== undefined) {
    const each = open
      .slice(0, NAMES_MAX)
      .map((row) => `${named(row.name)}: ${stateWords(row)}${reasonsOf(row)}`);
    const more = problemsInAll - each.length;
    return [worst, [...each, ...(more > 0 ? [`${formatCount(more)} more`] : [])].join('; ')];
  }
  if (arriving > 0) {
    const fixed = problems.length > 0 ? '; problems fixed' : '';
    const projects = plural(projectsActive, 'project');
    return ['green', `Views are arriving: ${formatCount(arriving)} of ${projects}${fixed}`];
  }
  if (projectsActive === 0) return ['grey', 'No project is active, so every view is refused'];
  const isNew = total.lastAcceptedMs === undefined;
  return ['grey', isNew ? 'Waiting for the first view' : 'Quiet: no views in the last hour'];
}

/** Returns the page's age, the time since which it counts, and a note on what is further down. */
export function summaryWords(model: StatusModel): string {
  const { total, nowMs, startMs, sinceMs, store, unlistedInAll } = model;
  const { lastAcceptedMs: lastMs } = total;
  const alone = isStream(store) ? ', by this collector alone' : '';
  const ids = `Views of ${plural(unlistedInAll, 'unlisted id')} are refused, see below.`;
  return [
    lastMs === undefined ? 'No view yet.' : `Last view ${formatDuration(nowMs - lastMs)} ago.`,
    sinceMs === startMs ? '' : ` Restarted ${at(startMs)}.`,
    ` Counted since ${at(sinceMs)}${alone}.`,
    unlistedInAll === 0 ? '' : ` ${ids}`,
  ].join('');
}

const countOrDash = (count: number | undefined): string =>
  count === undefined ? '–' : formatCount(count);

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

function storeFigure({ store, space }: StatusModel): Figure {
  if (isStream(store)) {
    const { name, server = 'not connected', seen } = store.stream;
    const where = `${name}, ${server}, led by ${seen.leader ?? 'no server'}`;
    return ['Stream', plural(seen.messages, 'message'), where];
  }
  if (space === undefined) return ['Free disk', 'unknown', 'statfs is not permitted'];
  const { freeBytes, daysLeft = Infinity } = space;
  const days = daysLeft > 3650 ? 'more than 10 years' : plural(Math.floor(daysLeft), 'day');
  const lasts = space.daysLeft === undefined ? 'unknown before a full day' : days;
  return ['Free disk', formatRoundedSize(freeBytes), `lasts: ${lasts}`];
}

export function stateWords(row: Row): string {
  const { state, active, accepted, refused, figures } = row;
  if (state === 'refused') return active ? 'all refused' : 'inactive, sends';
  if (state !== 'partly-refused') {
    return state === 'quiet' && figures.lastAcceptedMs === undefined
      ? 'no view yet'
      : state.replace('-', ' ');
  }
  // 100% would not be all of the truth.
  return `${Math.min(99, Math.round((100 * refused) / (accepted + refused)))}% refused`;
}

/** `Writing views-2026-11-22.ndjson, 1.2 KiB.` */
export function fileWords({ store }: StatusModel): string {
  if (isStream(store) || store.path === undefined) return '';
  return `Writing ${basename(store.path)}, ${formatRoundedSize(store.fileBytes)}.`;
}

export const COLUMNS = ['Last hour', 'Today', 'By now yesterday', 'Refused, 24 h'];

/** The figures of a row, in the order of the columns. */
export const cells = ({ figures: f }: Row): string[] =>
  [f.lastHour, f.today, f.yesterdayByNow, f.refusedLastDay].map(countOrDash);

/** Returns the text under the chart of a row. */
export const chartWords = ({ hours, figures: { today, yesterday } }: Row): string =>
  `Views of the last 24 hours, at most ${formatCount(Math.max(...hours))} an hour. Today ${formatCount(today)}, yesterday ${countOrDash(yesterday)}.`;

/** Returns how many projects are not shown. */
export function leftOut({ projects, projectsFound }: StatusModel): string {
  if (projectsFound === 0) return 'No project found.';
  const left = projectsFound - projects.length;
  return left === 0 ? '' : `${plural(left, 'more project')}: filter by name or id.`;
}

export type Events = ReturnType<typeof latest>[number];

/** The last views and refusals. */
export function latest({ latestAccepted, latestRefused }: StatusModel) {
  const refusals = latestRefused.map((one) => {
    const from = one.origin === undefined ? '' : `, from ${one.origin}`;
    return { ...one, what: reasonOf(one) + from };
  });
  return [
    { title: 'Last views', items: latestAccepted },
    { title: 'Last refusals', items: refusals },
  ];
}
