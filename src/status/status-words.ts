import { countOf, duration, number } from '../base/readable.ts';
import { clip } from '../base/text.ts';
import { isTrouble, type ProjectState } from './arrival.ts';
import { since } from './clock.ts';
import { NAME_LENGTH_MAX, type Words } from './headline.ts';
import { REASONS } from './reason-words.ts';
import type { ShownActivity, ShownProject } from './shown-projects.ts';
import type { Outage, ShownUnlistedId, Snapshot } from './snapshot.ts';
import { ownTroubles, troubleSince } from './trouble-words.ts';
import { IDS_MAX } from './unlisted-ids.ts';

// What is said of a snapshot, on the page and as plain text.

const UNLISTED_NAMED_MAX = 3;

/** How fresh the page is, and what a restart has left to know. */
export function summaryOf(snapshot: Snapshot): string {
  const { total, nowMs, projects } = snapshot;
  const { lastAcceptedMs } = total;
  const last =
    lastAcceptedMs === undefined
      ? 'No view yet'
      : `Last view${projects.length > 1 ? ' of any project' : ''} ${duration(nowMs - lastAcceptedMs)} ago`;
  return `${earliestWords(snapshot)}${last}. ${knownWords(snapshot)}`;
}

/** Since when the first of several is refused, or silent; a full disk is not their trouble. */
function earliestWords(snapshot: Snapshot): string {
  const troubles = ownTroubles(snapshot);
  if (troubles.length < 2 || snapshot.outage !== undefined) return '';
  const silent = troubles.filter(({ state }) => state === 'silent');
  const refused = troubles.filter(({ state }) => state !== 'silent');
  const first = [
    ...(refused.length > 0 ? [`refused ${firstOf(refused, snapshot.nowMs)}`] : []),
    ...(silent.length > 0 ? [`silent ${firstOf(silent, snapshot.nowMs)}`] : []),
  ];
  const words = first.join(', ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}. `;
}

/** `since 02:15` */
function firstOf(troubles: readonly ShownProject[], nowMs: number): string {
  const starts = troubles.map((project) => troubleSince(project, nowMs));
  const known = starts.filter((atMs) => atMs !== undefined);
  return known.length < starts.length
    ? 'for 24 hours, or longer'
    : `since ${since(Math.min(...known), nowMs)}`;
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
  const figures = isWhole ? 'the figures go on from the files' : `the figures begin at ${from}`;
  return `Restarted ${start}: nothing acknowledged was lost${machine}; ${figures}.`;
}

/** Whether anything that is shown came before the start. */
const hasEarlier = ({ total, accepted, refused }: Snapshot): boolean =>
  total.today + (total.yesterday ?? 0) > accepted || total.refused > refused;

/** Views as a whole, and where they go. */
export const figuresOf = ({ total, facts }: Snapshot): Snapshot['facts'] => [
  ['Last hour', `${number(total.lastHour)} taken, ${number(total.refusedLastHour)} refused`],
  ['Last 10 minutes', `${number(total.lastTenMinutes)} taken`],
  ['Today', todayOf(total)],
  ...facts,
];

/** `656: 47 fewer than yesterday by now (703)` */
function todayOf({ today, yesterdayByNow }: ShownActivity): string {
  if (yesterdayByNow === undefined) return number(today);
  const more = today - yesterdayByNow;
  if (more === 0)
    return `${number(today)}: ${today === 0 ? 'none' : 'as many as'} yesterday by now`;
  const compared = `${number(Math.abs(more))} ${more > 0 ? 'more' : 'fewer'} than yesterday by now`;
  return `${number(today)}: ${compared} (${number(yesterdayByNow)})`;
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
export const noneUnlistedWords = ({ sinceMs }: Snapshot['known'], nowMs: number): string =>
  `No unknown id has sent views since ${since(sinceMs, nowMs)}.`;

/** How many views of unlisted ids are refused; of which ids. */
export function unlistedWords(snapshot: Snapshot): { many: string; ids: Words } {
  const { unlistedIds, unlistedIdsLeftOut, unlistedLastHour } = snapshot;
  const count = unlistedIds.length + unlistedIdsLeftOut;
  const ids = `${countOf(count, 'unknown id')}${count < IDS_MAX ? '' : ' or more'}`;
  const views = `${countOf(unlistedLastHour, 'view')} refused in the last hour`;
  const many =
    unlistedLastHour > 0
      ? `${count === 1 ? 'sends' : 'send'}: ${views}`
      : 'sent views in the last 24 hours, none in the last one';
  const named = unlistedIds.slice(0, UNLISTED_NAMED_MAX);
  const each = named.flatMap((unlisted, i): Words => {
    const { id, nearest } = unlisted;
    const looks = nearest ? [`, which looks like ${nearest}`, ...siteWords(unlisted, ' of ')] : [];
    return [i === 0 ? ' (' : '; ', id, ...looks];
  });
  const more = count > named.length ? `; ${number(count - named.length)} more` : '';
  return { many: `${ids} ${many}`, ids: [...each, `${more}).`] };
}

/** The name of what it was probably meant to be. */
const siteWords = ({ nearestName: name }: ShownUnlistedId, before: string, after = ''): Words =>
  name === undefined ? [] : [before, { name: clip(name, NAME_LENGTH_MAX) }, after];

/** Of an id that looks like a slip: what mends that, before the command for any other. */
export const slipWords = (unlisted: ShownUnlistedId): Words => [
  `Change ${unlisted.id} to ${unlisted.nearest}`,
  ...siteWords(unlisted, ' (', ')'),
  ' in the page ',
  ...(unlisted.origin === undefined ? ['that sends it'] : ['of ', { name: unlisted.origin }]),
  '.',
];

export const NO_SLIP = 'Or, if it is another site:';

/** Of the last 24 hours, as in the table. */
export function unlistedFacts(
  { count, origin, lastMs, code }: ShownUnlistedId,
  nowMs: number,
): string {
  const from = origin === undefined ? 'without Origin' : `from ${origin}`;
  const reason = code === 'project-not-activated' ? '' : ` (${REASONS[code]})`;
  return `${countOf(count, 'view')} ${from} in 24 hours, last ${duration(nowMs - lastMs)} ago${reason}`;
}

const STATES: Readonly<Record<ProjectState, string>> = {
  'all-refused': 'all refused',
  'most-refused': 'most refused',
  silent: 'fallen silent',
  'some-refused': 'some refused',
  'not-stored': 'not stored',
  halted: 'not taken now',
  mended: 'mended',
  arriving: 'arriving',
  quiet: 'quiet',
  'no-view': 'no view yet',
  inactive: 'inactive',
};

/** `quiet for 10 h` */
export function stateWords({ state, active, activity }: ShownProject, nowMs: number): string {
  const { lastAcceptedMs } = activity;
  if (!active && isTrouble(state)) return 'inactive, sends';
  if (state !== 'quiet' || lastAcceptedMs === undefined) return STATES[state];
  const [count, unit] = duration(nowMs - lastAcceptedMs).split(' ');
  return `quiet for ${count} ${unit}`;
}

/** `Last view 14:03, 5 min ago.` */
export function lastOf({ lastAcceptedMs }: ShownActivity, nowMs: number): string {
  if (lastAcceptedMs === undefined) return 'No view was taken, as far as is known.';
  return `Last view ${since(lastAcceptedMs, nowMs)}, ${duration(nowMs - lastAcceptedMs)} ago.`;
}
