import { formatCount, formatDuration, plural } from '../base/format.ts';
import { clip } from '../base/text.ts';
import { HOUR_MS } from '../base/time.ts';
import { isRed, isTrouble, ownOf, rankOf, refusedOf } from './arrival.ts';
import { since } from './clock.ts';
import { NAME_LENGTH_MAX, type Words } from './headline.ts';
import type { ShownActivity } from './shown-activity.ts';
import type { ShownProject } from './shown-projects.ts';
import type { Snapshot } from './snapshot.ts';
import { QUARTER_MS, QUARTERS, startOf } from './timeline.ts';
import { type Reason, whyOf } from './trouble-reasons.ts';

// What is said of projects in trouble, on the page and as plain text: what is the same, once.

const NAMED_MAX = 10;

/** A project in trouble, or several for the same, which is told once. */
export interface Trouble {
  /** Of the first project. */
  readonly id: string;
  readonly isBad: boolean;
  /** `Mine`, or `7 projects` */
  readonly who: Words;
  /** Of one: since when, and how many. */
  readonly extent: Words;
  readonly reasons: readonly Reason[];
  /** Of several: each, since when, and how many. */
  readonly each: Words;
}

/**
 * The worst at length, of the others which and since when.
 * @param toldMax at length.
 */
export function troublesOf(
  snapshot: Snapshot,
  toldMax = Infinity,
): { told: readonly Trouble[]; others: Words } {
  const { nowMs } = snapshot;
  const alike = new Map<string, ShownProject[]>();
  for (const project of ownTroubles(snapshot)) {
    const key = JSON.stringify(whyOf(project), (name, value: unknown) =>
      name === 'page' ? undefined : value,
    );
    alike.set(key, [...(alike.get(key) ?? []), project]);
  }
  const troubles = [...alike.values()].toSorted(
    (a, b) => rankOf(a[0]!) - rankOf(b[0]!) || lossOf(b) - lossOf(a),
  );
  const others = troubles.slice(toldMax).flat();
  const also = others.length === 0 ? [] : [`${plural(others.length, 'more project')} in trouble: `];
  return {
    told: troubles.slice(0, toldMax).map((projects) => troubleOf(projects, nowMs)),
    others: [...also, ...listed(others, (project) => sinceOf(project, nowMs))],
  };
}

const lossOf = (projects: readonly ShownProject[]): number =>
  projects.reduce((sum, { loss }) => sum + loss, 0);

function troubleOf(projects: readonly ShownProject[], nowMs: number): Trouble {
  const first = projects[0]!;
  const isOne = projects.length === 1;
  const inTime = first.state === 'silent' ? [] : ['In the last hour: '];
  const each = listed(projects, (project) => extentOf(project, nowMs));
  return {
    id: first.id,
    isBad: projects.some(({ state }) => isRed(state)),
    who: isOne
      ? [{ name: clip(first.name, NAME_LENGTH_MAX) }]
      : [plural(projects.length, 'project')],
    extent: isOne ? [headOf(first, nowMs)] : [],
    reasons: whyOf(first).map(({ key, words, page, command }) => {
      const sent = page === undefined ? [] : isOne ? latestFrom(page) : oneFrom(page, first);
      return { key, words: [...words, ...sent], command };
    }),
    each: isOne ? [] : [...inTime, ...each],
  };
}

const latestFrom = (page: string): Words => [' The latest came from ', { name: page }];

const oneFrom = (page: string, { name }: ShownProject): Words => [
  ' One came from ',
  { name: page },
  ' of ',
  { name: clip(name, NAME_LENGTH_MAX) },
];

/** Each a link to its row: `Fjord Books silent since 14:15; …` */
function listed(
  projects: readonly ShownProject[],
  wordsOf: (project: ShownProject) => string,
): Words {
  if (projects.length === 0) return [];
  const named = projects.slice(0, NAMED_MAX).flatMap((project, i): Words => {
    const name = { name: clip(project.name, NAME_LENGTH_MAX), href: `#${rowIdOf(project)}` };
    return [i === 0 ? '' : '; ', name, ` ${wordsOf(project)}`];
  });
  const left = projects.length - NAMED_MAX;
  return [...named, left > 0 ? `; and ${formatCount(left)} more in the table.` : '.'];
}

/** Of a project's row on the page. */
export const rowIdOf = ({ id }: Pick<ShownProject, 'id'>): string => `project-${id}`;

/** The projects in trouble, the worst first; what cannot be stored is told once, of all of them. */
export function ownTroubles({ projects, outage }: Snapshot): readonly ShownProject[] {
  const troubles = projects.filter(({ state }) => isTrouble(state));
  return outage === undefined ? troubles : troubles.map(withoutUnstored);
}

const withoutUnstored = (project: ShownProject): ShownProject => ({
  ...project,
  refusals: ownOf(project.refusals),
});

/** Since when, and how many. */
function headOf(project: ShownProject, nowMs: number): string {
  const { active, causes, state } = project;
  const extent = extentOf(project, nowMs);
  if (state === 'silent') return `${extent}.`;
  const many = causes.length > 1 ? `, for ${causes.length} reasons` : '';
  return `${active ? '' : 'inactive, but still sending; '}${extent} of the last hour${many}.`;
}

/** `refused since about 14:15, all 32 views` */
function extentOf(project: ShownProject, nowMs: number): string {
  const { state, activity, refusals } = project;
  const from = sinceOf(project, nowMs);
  if (state === 'silent') {
    const { lastAcceptedMs = nowMs } = activity;
    return `${from}, for ${formatDuration(nowMs - lastAcceptedMs)}, unlike yesterday`;
  }
  const refused = refusedOf(refusals);
  const all = activity.lastHour + activity.refusedLastHour;
  const whole = all === 1 ? 'the only view' : `all ${plural(all, 'view')}`;
  const many =
    state === 'all-refused' ? whole : `${formatCount(refused)} of ${plural(all, 'view')}`;
  return `${from}, ${many}`;
}

/** `refused since 14:21`, `refused since about 14:15` where it is known by the quarter of an hour. */
export function sinceOf(project: ShownProject, nowMs: number): string {
  const fromMs = troubleSince(project, nowMs);
  if (project.state === 'silent') return `silent since ${since(fromMs ?? nowMs, nowMs)}`;
  const refused = project.state === 'some-refused' ? 'partly refused' : 'refused';
  if (fromMs === undefined) return `${refused} for 24 hours, or longer`;
  const about = fromMs % QUARTER_MS === 0 ? 'about ' : '';
  return `${refused} since ${about}${since(fromMs, nowMs)}`;
}

/** `undefined`: for 24 hours, or longer. */
export const troubleSince = (
  { state, activity }: ShownProject,
  nowMs: number,
): number | undefined =>
  state === 'silent' ? activity.lastAcceptedMs : refusedSince(activity, nowMs);

/** An hour without a refusal is an end of them. */
const GAP_QUARTERS = 4;

function refusedSince(
  { refusedByQuarter, refusedFromMs }: ShownActivity,
  nowMs: number,
): number | undefined {
  const newestFirst = refusedByQuarter.toReversed();
  let ago = 0;
  let gap = 0;
  for (const [i, count] of newestFirst.entries()) {
    gap = count > 0 ? 0 : gap + 1;
    if (gap >= GAP_QUARTERS) break;
    if (count > 0) ago = i;
  }
  if (ago >= QUARTERS - GAP_QUARTERS) return undefined;
  const quarterMs = startOf(nowMs, QUARTERS - 1 - ago);
  // Of the last hour it is known by the minute.
  return quarterMs > nowMs - HOUR_MS ? (refusedFromMs ?? quarterMs) : quarterMs;
}
