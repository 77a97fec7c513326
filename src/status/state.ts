import { DAY_MS, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import type { Project, Projects } from '../projects/project-list.ts';
import type { StoreState } from '../store/store.ts';
import { remedyOf } from '../view/remedy.ts';
import type { Counts } from './counts.ts';
import { Activity, type Reason } from './reasons.ts';

export type ProjectState =
  /** All views of the last hour were refused. */
  | 'refused'
  /** More than one in ten were. */
  | 'partly-refused'
  /** They would be, because nothing can be stored. */
  | 'not-stored'
  /** None in three hours, unlike yesterday. */
  | 'silent'
  | 'arriving'
  | 'quiet'
  | 'inactive';

/** The numbers that decide on a project's state. */
interface Arrivals {
  readonly active: boolean;
  /** Nothing can be stored. */
  readonly isDown: boolean;
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
  const { active, isDown, accepted, refused, isHeardLately, acceptedYesterday } = arrivals;
  if (refused > 0 && accepted === 0) return 'refused';
  if (refused * 10 > accepted + refused) return 'partly-refused';
  if (!active) return 'inactive';
  if (isDown) return 'not-stored';
  if (accepted > 0) return 'arriving';
  return !isHeardLately && acceptedYesterday >= HABIT_VIEWS ? 'silent' : 'quiet';
}

export const isRefused = ({ state }: { readonly state: ProjectState }): boolean =>
  state === 'refused' || state === 'partly-refused';

/** Facts beside a project's own counts. */
interface Surroundings {
  readonly projects: Pick<Projects, 'fault'>;
  readonly store: Pick<StoreState, 'unavailable'>;
  readonly nowMs: number;
}

/** A project with its state, and the reasons of its refusals in the last 24 hours. */
export type Judged = ReturnType<typeof judge>;
/** Refusals for one reason, and the fix that applies now. */
export type JudgedReason = ReturnType<typeof judgeReason>;

const NO_ACTIVITY = new Activity();

export function judge(project: Project, activity: Activity = NO_ACTIVITY, around: Surroundings) {
  const { nowMs, store } = around;
  const isDown = store.unavailable !== undefined;
  const reasons = Array.from(activity.reasons.values())
    .filter(({ sample: { code }, lastMs }) => {
      const isCollectors = isDown && code === 'storage-unavailable';
      return nowMs - lastMs < DAY_MS && !isCollectors;
    })
    .map((reason) => judgeReason(reason, around, activity, project))
    .sort((a, b) => b.lastHour - a.lastHour || b.lastDay - a.lastDay);
  const agoMs = nowMs - DAY_MS;
  const arrivals = {
    active: project.active,
    isDown,
    accepted: activity.acceptedIn.lastHour(nowMs),
    refused: reasons.filter(isOpen).reduce((sum, { lastHour }) => sum + lastHour, 0),
    // Requests that name no project are never missed.
    isHeardLately: project === REQUESTS || nowMs - (activity.lastAcceptedMs ?? 0) < SILENT_MS,
    acceptedYesterday: activity.acceptedIn.between(agoMs - SILENT_MS, agoMs),
  };
  return { project, activity, ...arrivals, state: stateOf(arrivals), reasons };
}

/** A stand-in project for requests that failed before their project was known. */
export const REQUESTS: Project = {
  id: '',
  name: 'Unreadable requests',
  active: true,
  allowsOrigin: () => true,
  takeToken: () => 0,
};

/** @param project `undefined` if it is not listed. */
export function judgeReason(
  { refusedIn, acceptedThen, ...reason }: Reason,
  { projects, nowMs }: Surroundings,
  views: Activity = NO_ACTIVITY,
  project?: Project,
) {
  const { sample } = reason;
  // Costly, and only this code's remedy needs it.
  const sentPerMinute = sample.code === 'rate-limited' ? busiestMinute(views, nowMs) : undefined;
  const isProjectsFileFaulty = projects.fault !== undefined;
  const remedy = remedyOf({ ...sample, project, isProjectsFileFaulty, sentPerMinute });
  const [lastHour, lastDay] = [refusedIn.lastHour(nowMs), refusedIn.lastDay(nowMs)];
  const since = views.accepted - acceptedThen;
  const before = Math.max(0, views.acceptedIn.lastHour(nowMs) - since);
  // If the cause is gone, one accepted view shows that it works again. Otherwise, as for a page that
  // was corrected, it takes more accepted views in a row than came between two refusals before, and
  // a pause without refusals, because refused and accepted views may alternate.
  const isFixed =
    remedy.kind === 'fixed'
      ? since > 0
      : nowMs - reason.lastMs >= PAUSE_MS && since >= 3 + (5 * before) / Math.max(1, lastHour);
  /** When a view was first accepted again; `undefined` if the reason is not fixed. */
  const fixedMs = isFixed ? Math.max(reason.lastMs, firstOf(since, views, nowMs)) : undefined;
  return { ...reason, lastHour, lastDay, remedy, fixedMs };
}

const PAUSE_MS = MINUTE_MS / 2;

/** Returns how many views were sent in the busiest minute of the last hour. */
function busiestMinute({ acceptedIn, refusedIn }: Activity, nowMs: number): number {
  const refused = refusedIn?.byMinute(nowMs) ?? [];
  return Math.max(...acceptedIn.byMinute(nowMs).map((count, i) => count + (refused[i] ?? 0)));
}

/** Returns when the first of the last views was accepted, to the minute; 0 before the last hour. */
function firstOf(views: number, { acceptedIn }: Activity, nowMs: number): number {
  let left = views;
  const minutes = acceptedIn.byMinute(nowMs).toReversed();
  const ago = minutes.findIndex((count) => (left -= count) <= 0);
  return ago === -1 ? 0 : (Math.floor(nowMs / MINUTE_MS) - ago) * MINUTE_MS;
}

/** Returns whether views of the last hour were refused for this reason, which is not fixed yet. */
export const isOpen = ({
  fixedMs,
  lastHour,
}: Pick<JudgedReason, 'fixedMs' | 'lastHour'>): boolean => fixedMs === undefined && lastHour > 0;

/** After this many projects, views get their turn. */
const SLICE = 500;

/** Judges every listed project, in slices that do not hold up views. */
export async function judgeListed(
  around: Surroundings & { readonly counts: Counts; readonly projects: Projects },
): Promise<Judged[]> {
  const { counts, projects } = around;
  counts.adoptListed();
  const judged: Judged[] = [];
  for (const project of projects.all()) {
    judged.push(judge(project, counts.projects.get(project.id), around));
    if (judged.length % SLICE === 0) await new Promise((resolve) => void setImmediate(resolve));
  }
  return judged;
}
