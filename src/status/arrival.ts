import { DAY_MS, HOUR_MS } from '../base/time.ts';
import type { Project } from '../projects/project-list.ts';
import type { RefusalCode } from '../view/refusal.ts';
import type { Activity } from './counts.ts';
import type { RefusalGroup } from './refusal-groups.ts';

// Whether a project's views arrive. A project has fallen silent by its own habit, not by a fixed
// time: a small site with five views a day raises no alarm.

export type ProjectState =
  | 'all-refused'
  | 'silent'
  | 'some-refused'
  | 'arriving'
  | 'quiet'
  | 'no-view'
  | 'inactive';

const SILENT_MS = 3 * HOUR_MS;
/** So many views in the same three hours of yesterday are a habit. */
const HABIT_VIEWS = 20;

/** What is to be mended, the worst first. */
const TROUBLES: readonly ProjectState[] = ['all-refused', 'silent', 'some-refused'];

export const isTrouble = (state: ProjectState): boolean => TROUBLES.includes(state);

/** For an order in which trouble comes first. */
export const rankOf = (state: ProjectState): number =>
  isTrouble(state) ? TROUBLES.indexOf(state) : TROUBLES.length;

/** How a listed project fares. */
export function stateOf(
  { active }: Pick<Project, 'active'>,
  { acceptedIn, refusedIn, lastAcceptedMs }: Activity,
  nowMs: number,
): ProjectState {
  const accepted = acceptedIn.lastHour(nowMs);
  const refused = refusedIn?.lastHour(nowMs) ?? 0;
  if (refused > 0 && accepted === 0) return 'all-refused';
  if (refused * 10 > accepted + refused) return 'some-refused';
  if (!active) return 'inactive';
  if (accepted > 0) return 'arriving';
  if (lastAcceptedMs === undefined) return 'no-view';
  if (nowMs - lastAcceptedMs < SILENT_MS) return 'quiet';
  const [from, to] = [nowMs - DAY_MS - SILENT_MS, nowMs - DAY_MS];
  return acceptedIn.between(from, to, nowMs) >= HABIT_VIEWS ? 'silent' : 'quiet';
}

/** Why views of the last hour were refused, mostly; `undefined` where none were. */
export function causeOf(refusals: readonly RefusalGroup[], nowMs: number): RefusalCode | undefined {
  return refusals.find(({ lastMs }) => nowMs - lastMs < HOUR_MS)?.code;
}
