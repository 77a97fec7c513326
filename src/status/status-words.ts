import { formatCount, formatDuration, plural } from '../base/format.ts';
import { clip } from '../base/text.ts';
import { isTrouble, ownOf, type ProjectState, refusedOf } from './arrival.ts';
import { since } from './clock.ts';
import { NAME_LENGTH_MAX, type Words } from './headline.ts';
import { REASONS } from './reason-words.ts';
import type { ShownActivity } from './shown-activity.ts';
import type { ShownProject } from './shown-projects.ts';
import type { Outage, ShownUnlistedId, Snapshot } from './snapshot.ts';
import { ownTroubles, sinceOf, troubleSince } from './trouble-words.ts';
import { IDS_MAX } from './unlisted-ids.ts';

// What is said of a snapshot, on the page and as plain text.

const UNLISTED_NAMED_MAX = 3;

/** How fresh the page is, and what a restart has left to know. */
export function summaryOf(snapshot: Snapshot): Words {
  const { total, nowMs, projects, outage } = snapshot;
  const { lastAcceptedMs } = total;
  const which = outage === undefined ? '' : ' stored';
  const of = projects.length > 1 ? ' of any project' : '';
  const last =
    lastAcceptedMs === undefined
      ? 'No view yet'
      : `Last view${which}${of} ${formatDuration(nowMs - lastAcceptedMs)} ago`;
  return [...longestWords(snapshot), `${last}. ${knownWords(snapshot)}`];
}

/** Of several: `In trouble the longest: My site, silent since 02:15. ` A full disk is not their trouble. */
function longestWords(snapshot: Snapshot): Words {
  const { outage, nowMs } = snapshot;
  const fromOf = (project: ShownProject): number => troubleSince(project, nowMs) ?? 0;
  const troubles = ownTroubles(snapshot).toSorted((a, b) => fromOf(a) - fromOf(b));
  const [first] = troubles;
  if (first === undefined || troubles.length === 1 || outage !== undefined) return [];
  const name = { name: clip(first.name, NAME_LENGTH_MAX) };
  return ['In trouble the longest: ', name, `, ${sinceOf(first, nowMs)}. `];
}

function knownWords(snapshot: Snapshot): string {
  const { known, sinceMs: startMs, nowMs } = snapshot;
  const from = since(known.sinceMs, nowMs);
  if (known.isReading) return `Still reading what came before the start; counted since ${from}.`;
  if (known.sinceMs === startMs) return `Counted since ${from}, when viewlog started.`;
  const start = since(startMs, nowMs);
  const isWhole = known.sinceMs <= known.wholeMs;
  if (!hasEarlier(snapshot)) return `Running since ${start}.`;
  const machine = known.durability === 'disk' ? '' : ', unless the machine went down';
  const figures = isWhole ? 'the figures go on' : `the figures begin at ${from}`;
  return `Restarted ${start}: no stored view was lost${machine}; ${figures}.`;
}

/** Whether anything that is shown came before the start. */
const hasEarlier = ({ total, accepted, refused }: Snapshot): boolean =>
  total.today + (total.yesterday ?? 0) > accepted || total.refused > refused;

/** Views as a whole, and where they go. */
export const figuresOf = ({ total, facts }: Snapshot): Snapshot['facts'] => [
  ['Last hour', takenOf(total.lastHour, total.refusedLastHour)],
  ['Last 10 minutes', takenOf(total.lastTenMinutes, total.refusedLastTenMinutes)],
  ['Today', todayOf(total)],
  ...facts,
];

const takenOf = (taken: number, refused: number): string =>
  `${formatCount(taken)} taken, ${formatCount(refused)} refused`;

/** `656: 47 fewer than yesterday by now (703)` */
function todayOf({ today, yesterdayByNow }: ShownActivity): string {
  if (yesterdayByNow === undefined) return formatCount(today);
  const more = today - yesterdayByNow;
  if (more === 0) return today === 0 ? 'none' : `${formatCount(today)}, as yesterday by now`;
  const compared = `${formatCount(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'} than yesterday by now`;
  return `${formatCount(today)}: ${compared} (${formatCount(yesterdayByNow)})`;
}

/** That no view can be stored: what that means and since when; what ends it. */
export function outageWords({ sinceMs, text, command }: Outage, nowMs: number): [string, string] {
  const from = sinceMs === undefined ? '' : ` since ${since(sinceMs, nowMs)}`;
  const mend = [
    ...(text === undefined ? [] : [text]),
    'viewlog then goes on by itself.',
    ...(command === undefined ? [] : ['Look:']),
  ];
  return [
    `Every view is refused with 503${from}, and is not kept. What was acknowledged is stored.`,
    mend.join(' '),
  ];
}

/** Where no unlisted id sends. */
export function noneUnlistedWords(snapshot: Snapshot): string {
  const { known, sinceMs, nowMs } = snapshot;
  const fromMs = hasEarlier(snapshot) ? known.sinceMs : sinceMs;
  return `No unknown id has sent views since ${since(fromMs, nowMs)}.`;
}

/** How many views of unlisted ids are refused; of which ids. */
export function unlistedWords(snapshot: Snapshot): { many: string; ids: Words } {
  const { unlistedIds, unlistedIdsLeftOut, unlistedLastHour } = snapshot;
  const count = unlistedIds.length + unlistedIdsLeftOut;
  const ids = `${plural(count, 'unknown id')}${count < IDS_MAX ? '' : ' or more'}`;
  const views = `${plural(unlistedLastHour, 'view')} refused in the last hour`;
  const many =
    unlistedLastHour > 0
      ? `${count === 1 ? 'sends' : 'send'}: ${views}`
      : 'sent views in the last 24 hours, none in the last one';
  const named = unlistedIds.slice(0, UNLISTED_NAMED_MAX);
  const each = named.flatMap((unlisted, i): Words => {
    const { id, nearest } = unlisted;
    const looks = nearest ? [` (looks like ${nearest}`, ...siteWords(unlisted, ' of '), ')'] : [];
    return [i === 0 ? `; ${named.length === 1 ? 'id' : 'ids'} ` : ', ', id, ...looks];
  });
  const more = count > named.length ? `, ${formatCount(count - named.length)} more` : '';
  return { many: `${ids} ${many}`, ids: [...each, `${more}.`] };
}

/** Whether views that a listed project is probably missing came in the last hour. */
export const isSlipKnocking = ({ unlistedIds }: Snapshot): boolean =>
  unlistedIds.some(({ nearest, lastHour }) => nearest && lastHour > 0);

/** The name of what it was probably meant to be. */
const siteWords = ({ nearestName: name }: ShownUnlistedId, before: string, after = ''): Words =>
  name === undefined ? [] : [before, { name: clip(name, NAME_LENGTH_MAX) }, after];

/** Of an id that looks like a slip: what mends that, before the command for any other. */
export const slipWords = (unlisted: ShownUnlistedId): Words => [
  `Perhaps ${unlisted.nearest}`,
  ...siteWords(unlisted, ' (', ')'),
  ' is meant: then change it in the page ',
  ...(unlisted.origin === undefined ? ['that sends it'] : ['of ', { name: unlisted.origin }]),
  '.',
];

export const IF_YOURS = 'If it is a site of yours:';
export const IF_ANOTHER = 'If it is another site of yours:';

/** Of the last 24 hours, as in the table. */
export function unlistedFacts(
  { count, origin, lastMs, code }: ShownUnlistedId,
  nowMs: number,
): string {
  const from = origin === undefined ? 'without Origin' : `from ${origin}`;
  const reason = code === 'project-not-activated' ? '' : ` (${REASONS[code]})`;
  return `${plural(count, 'view')} ${from} in 24 hours, last ${formatDuration(nowMs - lastMs)} ago${reason}`;
}

const STATES: Readonly<Record<Exclude<ProjectState, 'most-refused' | 'some-refused'>, string>> = {
  'all-refused': 'all refused',
  silent: 'fallen silent',
  'not-stored': 'not stored',
  halted: 'not taken now',
  mended: 'mended',
  arriving: 'arriving',
  quiet: 'quiet',
  'no-view': 'no view yet',
  inactive: 'inactive',
};

/** `quiet for 10 h` */
export function stateWords(project: ShownProject, nowMs: number): string {
  const { state, active, activity } = project;
  const { lastAcceptedMs } = activity;
  if (!active && isTrouble(state)) return 'inactive, sends';
  if (state === 'most-refused' || state === 'some-refused')
    return `${refusedPercent(project)} % refused`;
  if (state !== 'quiet' || lastAcceptedMs === undefined) return STATES[state];
  const [count, unit] = formatDuration(nowMs - lastAcceptedMs).split(' ');
  return `quiet for ${count} ${unit}`;
}

/** Of the last hour, what could not be stored left out. */
function refusedPercent({ activity, refusals }: ShownProject): number {
  const all = activity.lastHour + activity.refusedLastHour;
  const percent = (100 * refusedOf(ownOf(refusals))) / all;
  return Math.min(99, Math.max(1, Math.round(percent)));
}

/** `Last view 14:03, 5 min ago.` */
export function lastOf({ lastAcceptedMs }: ShownActivity, nowMs: number): string {
  if (lastAcceptedMs === undefined) return 'No view was taken, as far as is known.';
  return `Last view ${since(lastAcceptedMs, nowMs)}, ${formatDuration(nowMs - lastAcceptedMs)} ago.`;
}
