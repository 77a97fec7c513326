import type { Fact } from '../base/description.ts';
import { countOf, duration, number } from '../base/readable.ts';
import type { Issue, RefusalCode } from '../view/refusal.ts';
import { isTrouble, type ProjectState, reasonsOf } from './arrival.ts';
import { since } from './clock.ts';
import type { Words } from './headline.ts';
import { REASONS } from './reason-words.ts';
import type { ShownActivity, ShownOrigin, ShownProject, ShownRefusals } from './shown-projects.ts';
import type { Outage, Snapshot } from './snapshot.ts';
import { QUARTERS, startOf } from './timeline.ts';

// What is said of a snapshot, on the page and as plain text.

const REASONS_MAX = 3;

/** Views as a whole, and where they go. */
export const figuresOf = ({ total, facts }: Snapshot): Snapshot['facts'] => [
  ['Now', `${number(total.perMinute)} a minute`],
  ['Last hour', `${number(total.lastHour)} taken, ${number(total.refusedLastHour)} refused`],
  ...todayOf(total),
  ...facts,
];

function todayOf({ today, yesterdayByNow }: ShownActivity): Fact[] {
  if (yesterdayByNow === undefined) return [['Today', number(today)]];
  const more = today - yesterdayByNow;
  const sign = more < 0 ? '−' : more > 0 ? '+' : '±';
  return [
    ['Today', `${number(today)} (${sign}${number(Math.abs(more))})`],
    ['Yesterday by now', number(yesterdayByNow)],
  ];
}

/** That no view can be stored: what that means, since when, and what ends it. */
export function outageWords({ sinceMs, text = '' }: Outage, nowMs: number): string {
  const from = sinceMs === undefined ? '' : ` since ${since(sinceMs, nowMs)}`;
  const lost = 'Nothing that was acknowledged is lost; viewlog goes on by itself afterwards.';
  return `Every view is refused with 503${from}. ${text} ${lost}`;
}

/** Where no unlisted id sends. */
export const noneUnlistedWords = ({ sinceMs }: Snapshot['known'], nowMs: number): string =>
  `No unknown project has sent views since ${since(sinceMs, nowMs)}.`;

/** The projects in trouble, the worst first; what cannot be stored is told once, of all of them. */
export function troublesOf({ projects, outage }: Snapshot): readonly ShownProject[] {
  const troubles = projects.filter(({ state }) => isTrouble(state));
  return outage === undefined ? troubles : troubles.map(withoutUnstored);
}

const withoutUnstored = (project: ShownProject): ShownProject => ({
  ...project,
  refusals: project.refusals.filter(({ code }) => code !== 'storage-unavailable'),
});

/** Why, and what mends it. */
export interface Reason {
  readonly key: string;
  readonly words: Words;
  readonly command: string | undefined;
}

/** Since when, and how many. */
export function headOf(project: ShownProject, nowMs: number): string {
  const { state, active, activity, refusals } = project;
  const from = sinceOf(project, nowMs);
  if (state === 'silent') {
    const { lastAcceptedMs = nowMs } = activity;
    return `${from}, for ${duration(nowMs - lastAcceptedMs)}, unlike yesterday.`;
  }
  const refused = refusals.reduce((sum, { lastHour }) => sum + lastHour, 0);
  const all = activity.lastHour + activity.refusedLastHour;
  const whole = all === 1 ? 'the only view' : `all ${countOf(all, 'view')}`;
  const many = state === 'all-refused' ? whole : `${number(refused)} of ${countOf(all, 'view')}`;
  return `${active ? '' : 'inactive, but still sending; '}${from}, ${many} of the last hour.`;
}

/** `refused since about 14:15` */
export function sinceOf({ state, activity }: ShownProject, nowMs: number): string {
  const { lastAcceptedMs, refusedByQuarter } = activity;
  if (state === 'silent') return `silent since ${since(lastAcceptedMs ?? nowMs, nowMs)}`;
  const refused = state === 'some-refused' ? 'partly refused' : 'refused';
  return `${refused} ${refusedSince(refusedByQuarter, nowMs)}`;
}

/** An hour without a refusal is an end of them. */
const GAP_QUARTERS = 4;

function refusedSince(refusedByQuarter: readonly number[], nowMs: number): string {
  const newestFirst = refusedByQuarter.toReversed();
  let ago = 0;
  let gap = 0;
  for (const [i, count] of newestFirst.entries()) {
    gap = count > 0 ? 0 : gap + 1;
    if (gap >= GAP_QUARTERS) break;
    if (count > 0) ago = i;
  }
  if (ago >= QUARTERS - GAP_QUARTERS) return 'for 24 hours, or longer';
  return `since about ${since(startOf(nowMs, QUARTERS - 1 - ago), nowMs)}`;
}

/** Each reason with its own number and command, the most frequent first. */
export function whyOf(project: ShownProject): Reason[] {
  const { look, active } = project;
  if (look !== undefined) return [{ key: '', words: [look.text], command: look.command }];
  const reasons = reasonsOf(project.refusals);
  const left = reasons.slice(REASONS_MAX).reduce((sum, { lastHour }) => sum + lastHour, 0);
  const shown = reasons.slice(0, REASONS_MAX).map((reason): Reason => {
    const { code, lastHour } = reason;
    const command = commandOf(reason);
    const why =
      reasons.length === 1 ? capital(REASONS[code]) : `${number(lastHour)} × ${REASONS[code]}`;
    const { [code]: mend = '' } = MENDS;
    const told = mend.endsWith(':') && command === undefined ? 'It is mended by now.' : mend;
    // That it is inactive has been said.
    const isSaid = reasons.length === 1 && code === 'project-not-activated' && !active;
    return { key: code, words: isSaid ? [told] : [why, ...exampleOf(reason), '. ', told], command };
  });
  const words = [`${number(left)} for other reasons: see its row.`];
  return left === 0 ? shown : [...shown, { key: '', words, command: undefined }];
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** What has to be known beside the command, or where there is none. */
const MENDS: Partial<Record<RefusalCode, string>> = {
  'invalid-view': 'Mend it in the page that sends it.',
  'project-not-activated': 'Take the script off its pages, or activate it again:',
  'rate-limited': 'This doubles its limit:',
  'storage-unavailable': 'Views are stored again.',
};

/** `, such as: mb must be an integer; received "12"`; what strangers sent stands apart. */
function exampleOf(reason: ShownRefusals): Words {
  const [issue] = reason.latest?.issues ?? [];
  if (issue !== undefined) return [', such as: ', { name: sentenceOf(issue) }];
  const [most] = byCount(reason);
  if (reason.code !== 'origin-not-allowed' || most === undefined) return [];
  if (most.origin === '') return [', sent without an Origin'];
  if (reason.origins.length === 1) return [', sent from ', { name: most.origin }];
  const isMost = 2 * most.count > reason.count;
  return [`, ${isMost ? 'most' : 'some'} of them from `, { name: most.origin }];
}

const commandOf = (reason: ShownRefusals): string | undefined =>
  reason.command ?? byCount(reason).find(({ command }) => command !== undefined)?.command;

const byCount = ({ origins }: ShownRefusals): readonly ShownOrigin[] =>
  origins.toSorted((a, b) => b.count - a.count);

const STATES: Readonly<Record<ProjectState, string>> = {
  'all-refused': 'all refused',
  'most-refused': 'most refused',
  silent: 'fallen silent',
  'some-refused': 'some refused',
  'not-stored': 'not stored',
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

export const sentenceOf = ({ field, message, received }: Issue): string =>
  `${field === '' ? 'the view' : field} ${message}; received ${received}`;
