import { DAY_MS, HOUR_MS } from '../base/time.ts';
import type { Project } from '../projects/project-list.ts';
import type { Activity } from './counts.ts';
import type { RefusalGroup } from './refusal-groups.ts';
import type { Timeline } from './timeline.ts';

// Whether a project's views arrive. A project has fallen silent by its own habit, not by a fixed
// time: a small site with five views a day raises no alarm.

export type ProjectState =
  | 'all-refused'
  | 'most-refused'
  | 'silent'
  | 'some-refused'
  | 'not-stored'
  | 'halted'
  | 'mended'
  | 'arriving'
  | 'quiet'
  | 'no-view'
  | 'inactive';

const SILENT_MS = 3 * HOUR_MS;
/** So many views in the same three hours of yesterday are a habit. */
const HABIT_VIEWS = 20;
/** Refusals that came so often, in an hour, are missed after ten minutes without one. */
const OFTEN = 20;

const RED: ReadonlySet<ProjectState> = new Set(['all-refused', 'most-refused']);
/** But for the collector's own trouble. */
const WELL: ReadonlySet<ProjectState> = new Set(['arriving', 'mended', 'quiet']);
const AMBER: ReadonlySet<ProjectState> = new Set(['silent', 'some-refused']);

export const isRed = (state: ProjectState): boolean => RED.has(state);

/** What is to be mended. */
export const isTrouble = (state: ProjectState): boolean => isRed(state) || AMBER.has(state);

/**
 * For an order in which trouble comes first, red before amber, and of each what is active first:
 * that an inactive project's views are refused is what the operator asked for.
 */
export const rankOf = ({ state, active }: { state: ProjectState; active: boolean }): number => {
  if (isTrouble(state)) return (isRed(state) ? 0 : 2) + (active ? 0 : 1);
  return state === 'not-stored' || state === 'mended' ? 4 : 5;
};

/**
 * How a listed project fares.
 * @param notStored while nothing can be stored: its views of the last hour that were refused for
 *   that alone. They are the collector's trouble, not the project's, and told there.
 */
export function stateOf(
  project: Pick<Project, 'active'>,
  activity: Activity,
  nowMs: number,
  notStored?: number,
): ProjectState {
  const state = ownStateOf(project, activity, nowMs, notStored ?? 0);
  if (notStored === undefined || !WELL.has(state)) return state;
  // Quiet would sound as if its views were taken, once they came.
  return notStored > 0 ? 'not-stored' : 'halted';
}

/** @param notStored counted as if they had been taken. */
function ownStateOf(
  { active }: Pick<Project, 'active'>,
  { acceptedIn, refusedIn, lastAcceptedMs }: Activity,
  nowMs: number,
  notStored: number,
): ProjectState {
  const accepted = acceptedIn.lastHour(nowMs) + notStored;
  const refused = (refusedIn?.lastHour(nowMs) ?? 0) - notStored;
  if (refused > 0 && accepted === 0) return 'all-refused';
  if (refused * 10 > accepted + refused) {
    const isMended =
      refused >= OFTEN &&
      refusedIn?.lastTenMinutes(nowMs) === 0 &&
      acceptedIn.lastTenMinutes(nowMs);
    if (isMended) return 'mended';
    return accepted * 10 <= accepted + refused ? 'most-refused' : 'some-refused';
  }
  if (!active) return 'inactive';
  if (accepted > 0) return 'arriving';
  if (lastAcceptedMs === undefined) return 'no-view';
  return hasFallenSilent(acceptedIn, lastAcceptedMs, nowMs) ? 'silent' : 'quiet';
}

/**
 * Whether the three hours up to any moment since the last view were without one, in which there
 * were views the day before: by night too, when few would come, and the day after.
 */
function hasFallenSilent(acceptedIn: Timeline, lastMs: number, nowMs: number): boolean {
  const firstMs = Math.max(lastMs + SILENT_MS, nowMs - DAY_MS);
  if (firstMs > nowMs) return false;
  const fromMs = firstMs - DAY_MS - SILENT_MS;
  return acceptedIn.mostIn(SILENT_MS, fromMs, nowMs - DAY_MS, nowMs) >= HABIT_VIEWS;
}

/** The views that a project in trouble loses in an hour; what does not come, as yesterday's. */
export function lossOf(
  state: ProjectState,
  { acceptedIn, refusedIn }: Activity,
  nowMs: number,
): number {
  if (!isTrouble(state)) return 0;
  if (state !== 'silent') return refusedIn?.lastHour(nowMs) ?? 0;
  return acceptedIn.between(nowMs - DAY_MS - HOUR_MS, nowMs - DAY_MS, nowMs);
}

/** Why views of the last hour were refused, the most frequent reason first. */
export const reasonsOf = <T extends Pick<RefusalGroup, 'lastHour'>>(refusals: readonly T[]): T[] =>
  refusals.filter(({ lastHour }) => lastHour > 0).toSorted((a, b) => b.lastHour - a.lastHour);

/** But for those that are the collector's own trouble. */
export const ownOf = <T extends Pick<RefusalGroup, 'code'>>(refusals: readonly T[]): T[] =>
  refusals.filter(({ code }) => code !== 'storage-unavailable');

/** How many views they are, of the last hour. */
export const refusedOf = (refusals: readonly Pick<RefusalGroup, 'lastHour'>[]): number =>
  refusals.reduce((sum, { lastHour }) => sum + lastHour, 0);
