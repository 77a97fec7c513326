import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import type { Project } from '../projects/project-list.ts';
import { REFUSALS } from '../view/refusal.ts';
import { remedyOf } from '../view/remedy.ts';
import type { CollectorState } from './health.ts';
import type { FilesSeen } from './look-around.ts';
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
interface Surroundings extends CollectorState {
  readonly files?: FilesSeen;
}

/** A project, or an id that is not listed. */
export type Subject = Pick<Project, 'id' | 'name' | 'active' | 'origins'>;

/** Requests that failed before their project was known. */
export const REQUESTS: Subject = { id: '', name: 'Unreadable requests', active: true };

/** A project with its state, and the reasons of its refusals in the last 24 hours. */
export type Judged = ReturnType<typeof judge>;
/** Refusals for one reason, and the fix that applies now. */
export type JudgedReason = ReturnType<typeof judgeReason>;

const NO_ACTIVITY = new Activity();

export function judge(subject: Subject, activity: Activity = NO_ACTIVITY, around: Surroundings) {
  const { id, name, active, origins } = subject;
  const { nowMs, store } = around;
  const isDown = store.unavailable !== undefined;
  const reasons = Array.from(activity.reasons.values())
    .filter(({ sample: { code }, lastMs }) => {
      const isCollectors = isDown && code === 'storage-unavailable';
      return nowMs - lastMs < DAY_MS && !isCollectors;
    })
    .map((reason) => judgeReason(reason, activity, around))
    .sort((a, b) => b.lastHour - a.lastHour || b.lastDay - a.lastDay);
  const open = reasons.filter(isOpen);
  const agoMs = nowMs - DAY_MS;
  const arrivals = {
    active,
    isDown,
    accepted: activity.acceptedIn.lastHour(nowMs),
    refused: open.reduce((sum, { lastHour }) => sum + lastHour, 0),
    // Requests that name no project are never missed.
    isHeardLately: id === '' || nowMs - (activity.lastAcceptedMs ?? 0) < SILENT_MS,
    acceptedYesterday: activity.acceptedIn.between(agoMs - SILENT_MS, agoMs),
  };
  const state = stateOf(arrivals);
  const refusedMs = open.length > 0 ? Math.min(...open.map(({ sinceMs }) => sinceMs)) : undefined;
  const fixedMs = Math.max(0, ...reasons.map((reason) => reason.fixedMs ?? 0));
  return {
    id,
    name,
    origins,
    ...arrivals,
    state,
    /** How bad it is; green if it is fixed, `undefined` if there is no problem. */
    kind: kindOf(id, state, open.length === 0 && reasons.some(({ lastHour }) => lastHour > 0)),
    /** Since when views are missing or refused, or accepted again. */
    sinceMs: state === 'silent' ? activity.lastAcceptedMs : (refusedMs ?? fixedMs),
    reasons,
    activity,
  };
}

export const KINDS = ['red', 'amber', 'green'] as const;

function kindOf(
  id: string,
  state: ProjectState,
  isFixed: boolean,
): (typeof KINDS)[number] | undefined {
  if (state === 'refused' && id !== '') return 'red';
  if (state === 'silent' || isRefused({ state })) return 'amber';
  return isFixed ? 'green' : undefined;
}

function judgeReason(reason: Reason, activity: Activity, around: Surroundings) {
  const { refusedIn, acceptedThen, ...rest } = reason;
  const { sample, sinceMs, lastMs } = rest;
  const { projects, files, nowMs } = around;
  // Costly, and only this code's remedy needs it.
  const sentPerMinute = sample.code === 'rate-limited' ? busiestMinute(activity, nowMs) : undefined;
  const project = projects.find(sample.project ?? '');
  const isProjectsFileFaulty = projects.fault !== undefined;
  const remedy = remedyOf({ ...sample, project, isProjectsFileFaulty, sentPerMinute });
  const [lastHour, lastDay] = [refusedIn.lastHour(nowMs), refusedIn.lastDay(nowMs)];
  const since = activity.accepted - acceptedThen;
  const before = Math.max(0, activity.acceptedIn.lastHour(nowMs) - since);
  // If the cause is gone, one accepted view shows that it works again. Otherwise, as for a page that
  // was corrected, it takes more accepted views in a row than came between two refusals before, and
  // a pause without refusals, because refused and accepted views may alternate.
  const isFixed =
    remedy.kind === 'fixed'
      ? since > 0
      : nowMs - lastMs >= PAUSE_MS && since >= 3 + (5 * before) / Math.max(1, lastHour);
  /** When a view was first accepted again; `undefined` if the reason is not fixed. */
  const fixedMs = isFixed ? Math.max(lastMs, firstOf(since, activity, nowMs)) : undefined;
  // Commands that read refused views read the projects file, too.
  const canRead = REFUSALS[sample.code].isStored && !isProjectsFileFaulty;
  const [from, to] = [dayOf(sinceMs), dayOf(lastMs)];
  /** The days of files with its refused views, if commands can read them now. */
  const keptDays = canRead
    ? (files?.refusedDays.filter((day) => day >= from && day <= to) ?? [])
    : [];
  return { ...rest, lastHour, lastDay, remedy, fixedMs, keptDays };
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

/** Judges each listed project, in slices that do not hold up views. Few of many should be kept. */
export async function judgeListed(
  around: Surroundings,
  visit: (judged: Judged) => void,
): Promise<void> {
  const { counts, projects } = around;
  for (const [i, project] of projects.all().entries()) {
    if (i % SLICE === 0) await new Promise((resolve) => void setImmediate(resolve));
    visit(judge(project, counts.projects.get(project.id), around));
  }
}
