import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import type { Project, Projects } from '../projects/project-list.ts';
import type { StoreState } from '../store/store.ts';
import { type Remedy, remedyOf } from '../view/remedy.ts';
import type { Counts } from './counts.ts';
import { Activity, type Reason } from './reasons.ts';

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

/** The numbers that decide on a project's state. */
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
const SILENT_MS = 3 * HOUR_MS;

export function stateOf(arrivals: Arrivals): ProjectState {
  const { active, accepted, refused, isHeardLately, acceptedYesterday } = arrivals;
  if (refused > 0 && accepted === 0) return 'refused';
  if (refused * 10 > accepted + refused) return 'partly-refused';
  if (!active) return 'inactive';
  if (accepted > 0) return 'arriving';
  return !isHeardLately && acceptedYesterday >= HABIT_VIEWS ? 'silent' : 'quiet';
}

export const isRefused = ({ state }: { readonly state: ProjectState }): boolean =>
  state === 'refused' || state === 'partly-refused';

export const isProblem = (one: { readonly state: ProjectState }): boolean =>
  isRefused(one) || one.state === 'silent';

/** Facts beside a project's own counts. */
export interface Surroundings {
  readonly projects: Pick<Projects, 'fault'>;
  readonly store: Pick<StoreState, 'unavailable'>;
  readonly nowMs: number;
}

/** A project with its state, and the reasons of its refusals in the last 24 hours. */
export type Judged = ReturnType<typeof judge>;
/** Refusals for one reason, and the fix that applies now. */
export type JudgedReason = ReturnType<typeof judgeReason>;

const NO_ACTIVITY = new Activity();

/** @param views the views that show that such requests are accepted again. */
export function judge(
  project: Project,
  activity: Activity = NO_ACTIVITY,
  around: Surroundings,
  views = activity,
) {
  const { nowMs, store } = around;
  const { active } = project;
  const isDown = store.unavailable !== undefined;
  // While nothing can be stored no views arrive, which is the collector's problem, not the
  // project's.
  const accepted = isDown ? 0 : activity.acceptedIn.lastHour(nowMs);
  const reasons = Array.from(activity.reasons.values())
    .filter(({ sample: { code }, lastMs }) => {
      const isCollectors = isDown && code === 'storage-unavailable';
      return nowMs - lastMs < DAY_MS && !isCollectors;
    })
    .map((reason) => judgeReason(reason, around, views, project))
    .sort((a, b) => b.lastHour - a.lastHour || b.lastDay - a.lastDay);
  const refused = reasons.filter(isOpen).reduce((sum, { lastHour }) => sum + lastHour, 0);
  const agoMs = nowMs - DAY_MS;
  const acceptedYesterday = activity.acceptedIn.between(agoMs - SILENT_MS, agoMs);
  const isHeardLately = nowMs - (activity.lastAcceptedMs ?? 0) < SILENT_MS;
  const state = stateOf({ active, accepted, refused, isHeardLately, acceptedYesterday });
  // Accepted and refused are counts of the last hour; refused leaves out reasons that are fixed.
  return { project, activity, state, accepted, refused, acceptedYesterday, reasons };
}

/** A stand-in project for requests that failed before their project was known. */
const REQUESTS: Project = {
  id: '',
  name: 'Unreadable requests',
  active: true,
  allowsOrigin: () => true,
  takeToken: () => 0,
};

/** Judges requests that failed before their project was known, among all requests. */
export function judgeRequests({ total, beforeProject }: Counts, around: Surroundings): Judged {
  const judged = judge(REQUESTS, beforeProject, around, total);
  const lastHour = ({ acceptedIn, refusedIn }: Activity): number =>
    acceptedIn.lastHour(around.nowMs) + (refusedIn?.lastHour(around.nowMs) ?? 0);
  const accepted = lastHour(total) - lastHour(beforeProject);
  const state = stateOf({ ...judged, active: true, accepted, isHeardLately: false });
  return { ...judged, accepted, state };
}

/** @param project `undefined` if it is not listed. */
export function judgeReason(
  reason: Reason,
  { projects, nowMs }: Surroundings,
  views: Activity = NO_ACTIVITY,
  project?: Project,
) {
  const { sinceMs, lastMs, sample, refusedIn } = reason;
  const { code, origin, isCut, bytes } = sample;
  const remedy: Remedy =
    code === 'storage-unavailable'
      ? { kind: 'fixed' }
      : remedyOf({
          code,
          project,
          isProjectsFileFaulty: projects.fault !== undefined,
          origin,
          isCut,
          bytes,
          // Costly, and only this code's remedy needs it.
          sentPerMinute: code === 'rate-limited' ? busiestMinute(views, nowMs) : undefined,
        });
  const [lastHour, lastDay] = [refusedIn.lastHour(nowMs), refusedIn.lastDay(nowMs)];
  /** True: views are accepted again, and none is refused for this reason. */
  const isFixed = hasRecovered(reason, views, remedy.kind === 'fixed', nowMs);
  return { sinceMs, lastMs, sample, lastHour, lastDay, remedy, isFixed };
}

/** Returns how many views were sent in the busiest minute of the last hour. */
function busiestMinute({ acceptedIn, refusedIn }: Activity, nowMs: number): number {
  const refused = refusedIn?.byMinute(nowMs) ?? [];
  return Math.max(...acceptedIn.byMinute(nowMs).map((count, i) => count + (refused[i] ?? 0)));
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

/** Returns whether views of the last hour were refused for this reason, which is not fixed yet. */
export const isOpen = ({
  isFixed,
  lastHour,
}: Pick<JudgedReason, 'isFixed' | 'lastHour'>): boolean => !isFixed && lastHour > 0;

/** After this many projects, views get their turn. */
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
