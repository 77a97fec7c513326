import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import type { Project } from '../projects/project-list.ts';
import { type Remedy, remedyOf } from '../view/remedy.ts';
import { Activity } from './counts.ts';
import type { Reason, Sample } from './reasons.ts';

export type ProjectState =
  /** All views of the last hour were refused. */
  | 'refused'
  /** More than one in ten were. */
  | 'partly-refused'
  /** None in three hours, unlike yesterday. */
  | 'silent'
  | 'arriving'
  | 'quiet'
  | 'inactive';

/** What decides on a project's state. */
interface Arrivals {
  readonly active: boolean;
  /** In the last hour. */
  readonly accepted: number;
  /** In the last hour, for reasons that are not fixed. */
  readonly refused: number;
  /** In the last three hours. */
  readonly isHeardLately: boolean;
  /** In the same three hours of yesterday. */
  readonly acceptedYesterday: number;
}

/** A site with fewer views is never called silent. */
const HABIT_VIEWS = 20;
export const SILENT_MS = 3 * HOUR_MS;

export function stateOf(arrivals: Arrivals): ProjectState {
  const { active, accepted, refused, isHeardLately, acceptedYesterday } = arrivals;
  if (refused > 0 && accepted === 0) return 'refused';
  if (refused * 10 > accepted + refused) return 'partly-refused';
  if (!active) return 'inactive';
  if (accepted > 0) return 'arriving';
  return !isHeardLately && acceptedYesterday >= HABIT_VIEWS ? 'silent' : 'quiet';
}

/** What is true beside a project's own counts. */
export interface Surroundings {
  readonly nowMs: number;
  readonly isProjectsFileFaulty: boolean;
  /** Why no view can be stored now. */
  readonly unavailable: string | undefined;
}

/** Refusals for one reason, with what fixes them now. */
export interface JudgedReason {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly sample: Sample;
  readonly lastHour: number;
  readonly lastDay: number;
  readonly remedy: Remedy;
  /** Views are accepted again, and none is refused for this reason. */
  readonly isFixed: boolean;
}

export interface Judged {
  readonly project: Project;
  readonly activity: Activity;
  readonly state: ProjectState;
  /** In the last hour. */
  readonly accepted: number;
  /** In the last hour, for reasons that are not fixed. */
  readonly refused: number;
  readonly acceptedYesterday: number;
  /** Of the last 24 hours, those with the most refusals in the last hour first. */
  readonly reasons: readonly JudgedReason[];
}

const NO_ACTIVITY = new Activity();

export function judge(
  project: Project,
  activity: Activity = NO_ACTIVITY,
  around: Surroundings,
): Judged {
  const { nowMs, unavailable } = around;
  const { active } = project;
  if (activity === NO_ACTIVITY) {
    const state = active ? 'quiet' : 'inactive';
    const none = { accepted: 0, refused: 0, acceptedYesterday: 0, reasons: [] };
    return { project, activity, state, ...none };
  }
  const accepted = activity.acceptedIn.lastHour(nowMs);
  const reasons = judgedReasons(activity, around, project);
  // While nothing can be stored, that is the collector's problem and not the project's.
  const open = reasons.filter(
    ({ isFixed, sample }) =>
      !isFixed && (unavailable === undefined || sample.code !== 'storage-unavailable'),
  );
  const refused = open.reduce((sum, { lastHour }) => sum + lastHour, 0);
  const agoMs = nowMs - DAY_MS;
  const acceptedYesterday =
    accepted > 0 ? 0 : activity.acceptedIn.between(agoMs - SILENT_MS, agoMs, nowMs);
  const isHeardLately = nowMs - (activity.lastAcceptedMs ?? 0) < SILENT_MS;
  const state = stateOf({ active, accepted, refused, isHeardLately, acceptedYesterday });
  return { project, activity, state, accepted, refused, acceptedYesterday, reasons };
}

/** @param whose the project, or the activity of all if the project was not known. */
export function judgedReasons(
  activity: Activity,
  around: Surroundings,
  whose: Project | Activity,
): JudgedReason[] {
  const [project, views] = whose instanceof Activity ? [undefined, whose] : [whose, activity];
  const { nowMs } = around;
  const judged: JudgedReason[] = [];
  for (const reason of activity.reasons.values()) {
    if (nowMs - reason.lastMs >= DAY_MS) continue;
    const { sinceMs, lastMs, sample, refusedIn } = reason;
    const remedy = remedyFor(reason, activity, around, project);
    const lastHour = refusedIn.lastHour(nowMs);
    const isFixed = hasRecovered(reason, views, remedy.kind === 'fixed', nowMs);
    const lastDay = refusedIn.lastDay(nowMs);
    judged.push({ sinceMs, lastMs, sample, lastHour, lastDay, remedy, isFixed });
  }
  return judged.sort((a, b) => b.lastHour - a.lastHour || b.lastDay - a.lastDay);
}

function remedyFor(
  { sample }: Reason,
  activity: Activity,
  { nowMs, isProjectsFileFaulty, unavailable }: Surroundings,
  project: Project | undefined,
): Remedy {
  const { code, origin, text, bytes } = sample;
  if (code === 'storage-unavailable') return { kind: unavailable === undefined ? 'fixed' : 'none' };
  return remedyOf({
    code,
    project,
    isProjectsFileFaulty,
    origin,
    isCut: isCut(text),
    bytes,
    sentPerMinute: code === 'rate-limited' ? mostPerMinute(activity, nowMs) : undefined,
  });
}

/** Whether it is the beginning of an object, without its end. */
const isCut = (text = ''): boolean => /^\s*\{/.test(text) && !/[}…]\s*$/.test(text);

/** The most views that a project was sent in one minute of the last hour. */
export function mostPerMinute({ acceptedIn, refusedIn }: Activity, nowMs: number): number {
  const refused = refusedIn?.minutes(nowMs) ?? [];
  return Math.max(...acceptedIn.minutes(nowMs).map((count, i) => count + (refused[i] ?? 0)));
}

/** While refused and accepted views alternate, a pause is no fix. */
const PAUSE_MS = MINUTE_MS / 2;

/**
 * If the cause is gone, one accepted view shows that it works again. Otherwise, as for a page that
 * was corrected, it takes more accepted views in a row than came between two refusals before.
 */
function hasRecovered(
  { acceptedThen, lastMs, refusedIn }: Reason,
  { accepted, acceptedIn }: Activity,
  isCauseGone: boolean,
  nowMs: number,
): boolean {
  const since = accepted - acceptedThen;
  if (since === 0 || isCauseGone) return since > 0;
  const before = Math.max(0, acceptedIn.lastHour(nowMs) - since);
  const between = before / Math.max(1, refusedIn.lastHour(nowMs));
  return nowMs - lastMs >= PAUSE_MS && since >= 3 + 5 * between;
}

/** Red before amber, and before those that are well. */
export const RANKS: Readonly<Record<ProjectState, number>> = {
  refused: 0,
  'partly-refused': 1,
  silent: 1,
  arriving: 2,
  quiet: 2,
  inactive: 2,
};

export const isProblem = (state: ProjectState): boolean => RANKS[state] < 2;

/** Whether views of the last hour were refused for it, and still would be. */
export const isOpen = ({ isFixed, lastHour }: JudgedReason): boolean => !isFixed && lastHour > 0;

/** After so many projects, views have their turn. */
const SLICE = 500;

/** Judges every listed project, in slices that do not hold up views. */
export async function judgeAll(
  projects: readonly Project[],
  activities: ReadonlyMap<string, Activity>,
  around: Surroundings,
): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const project of projects) {
    judged.push(judge(project, activities.get(project.id), around));
    if (judged.length % SLICE === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
  return judged;
}
