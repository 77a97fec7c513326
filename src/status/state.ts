// Judges each project by its counts and what is true now: its state, the reasons of its refusals,
// what fixes them, and what became of the refused views. Only facts; renderers word them.
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../base/time.ts';
import { correctedOrigin, originTest } from '../projects/origins.ts';
import type { Project, RemovedProject } from '../projects/project-list.ts';
import type { Dropped } from '../store/store.ts';
import { REFUSALS } from '../view/refusal.ts';
import { type Obstacle, type Remedy, remedyOf } from '../view/remedy.ts';
import type { CollectorState } from './health.ts';
import type { FilesSeen } from './look-around.ts';
import { Activity, BY_ORIGIN, type Reason, type Sample } from './reasons.ts';
import type { Replayed } from '../replay/replay-record.ts';
import { type Resent, resentKey } from './resent.ts';

export type ProjectState =
  /** All views of the last hour were refused. */
  | 'refused'
  /** More than one in ten views were refused, or the project was off and no view came since. */
  | 'partly-refused'
  /** Views would be refused, because nothing can be stored. */
  | 'not-stored'
  /** No views for three hours, unlike yesterday. */
  | 'silent'
  | 'arriving'
  | 'quiet'
  | 'inactive';

/** The numbers that decide on a project's state. */
interface Arrivals {
  readonly active: boolean;
  /** True: nothing can be stored. */
  readonly isDown: boolean;
  /** In the last hour. */
  readonly accepted: number;
  /**
   * In the last hour, for reasons that aren't fixed; 0 for an inactive project whose pages have
   * stopped sending.
   */
  readonly refused: number;
  /** True: views were refused because the project was off, and none was accepted since. */
  readonly isOff: boolean;
  /** True: a view was accepted in the last three hours. */
  readonly hasRecentViews: boolean;
  /** True: the collector ran all that time and could store views. */
  readonly hasListened: boolean;
  /** In the same three hours of yesterday. */
  readonly acceptedYesterday: number;
}

/** The subjects of judgements. */
export type SubjectKind =
  /** A listed project. */
  | 'project'
  /** An id that isn't listed, or no longer is. */
  | 'unlisted'
  /** All requests: those that failed before their project was known count as refused. */
  | 'requests';

/** How bad a problem is; green: fixed. */
export const COLOURS = ['red', 'amber', 'green'] as const;
export type Colour = (typeof COLOURS)[number];

/** A project, an unlisted id, or the requests, with a state and the refusals of 24 hours. */
export interface Judged extends Arrivals {
  readonly kind: SubjectKind;
  /** Empty for the requests. */
  readonly id: string;
  readonly name: string | undefined;
  readonly origins: readonly string[] | undefined;
  /** The last entry of an id that was removed. */
  readonly removed: RemovedProject | undefined;
  /** True: the project accepts views from every site since it lost its origins. */
  readonly isOpened: boolean;
  readonly state: ProjectState;
  /** `undefined` if there is no problem. */
  readonly colour: Colour | undefined;
  /** Open ones first, then the most frequent. */
  readonly reasons: readonly JudgedReason[];
  /** Why no command can edit the projects file now. */
  readonly obstacle: Obstacle | undefined;
  readonly activity: Activity;
}

/** Refusals for one reason and the fix that applies now. */
export interface JudgedReason {
  /** The latest refusal. */
  readonly sample: Sample;
  /** The latest refusals for other faults, within the hour before `lastMs`. */
  readonly others: readonly Sample[];
  readonly lastMs: number;
  readonly sinceMs: number;
  /** Refusals of the last hour, those of an earlier problem with this reason left out. */
  readonly lastHour: number;
  /** The refusals that `lastHour` leaves out. */
  readonly endedLastHour: number;
  readonly lastDay: number;
  readonly remedy: Remedy;
  /** When a view was first accepted again; `undefined` if the reason isn't fixed. */
  readonly fixedMs: number | undefined;
  /** Views accepted since the latest refusal. */
  readonly acceptedSince: number;
  /** True: the origins beyond those that are counted one by one. */
  readonly isCollective: boolean;
  /** The origins that the project has lost, if views from this origin are accepted only since then. */
  readonly lost: readonly string[] | undefined;
  readonly fate: Fate;
}

/** The fate of the refused views of 24 hours; the first four numbers add up to them. */
export interface Fate {
  /** Sent again and accepted. */
  readonly resent: number;
  /** Being sent again, or sent again with an unknown outcome. */
  readonly unsure: number;
  /** Stored and not sent again. */
  readonly stored: number;
  readonly lost: number;
  /**
   * Why the latest lost view wasn't stored; `undefined`: views refused with this code never are.
   */
  readonly why: Dropped | undefined;
  /** The days whose files may have the stored views. */
  readonly days: readonly string[];
  /** Why the stored views can't be sent again now. */
  readonly obstacle: Obstacle | undefined;
  /** True: even after the fix, the project would refuse the latest view because of its origin. */
  readonly isBarred: boolean;
}

/** A site with fewer views in those hours of yesterday is never called silent. */
const HABIT_VIEWS = 20;
const SILENT_MS = 3 * HOUR_MS;

export function stateOf(arrivals: Arrivals): ProjectState {
  const { active, isDown, accepted, refused, isOff, acceptedYesterday } = arrivals;
  if (refused > 0 && accepted === 0) return 'refused';
  if (isOff || refused * 10 > accepted + refused) return 'partly-refused';
  if (!active) return 'inactive';
  if (isDown) return 'not-stored';
  if (accepted > 0) return 'arriving';
  const isMissed = arrivals.hasListened && !arrivals.hasRecentViews;
  return isMissed && acceptedYesterday >= HABIT_VIEWS ? 'silent' : 'quiet';
}

export const isRefused = ({ state }: { readonly state: ProjectState }): boolean =>
  state === 'refused' || state === 'partly-refused';

/** Facts in addition to a project's own counts. */
interface Surroundings extends CollectorState {
  readonly files?: FilesSeen;
  readonly resent?: Resent | undefined;
  readonly recordFault?: string | undefined;
}

type Subject = Pick<Project, 'id' | 'name' | 'active' | 'origins'>;

/** Requests that failed before their project was known. */
export const REQUESTS: Subject = { id: '', name: 'Requests without a project', active: true };

const NO_ACTIVITY = new Activity();

export function judge(
  { id, name, active, origins }: Subject,
  activity: Activity = NO_ACTIVITY,
  around: Surroundings,
  kind: SubjectKind = 'project',
): Judged {
  const { nowMs, store, counts } = around;
  const isDown = store.unavailable !== undefined;
  const recent = Array.from(activity.reasons).filter(([, { lastMs }]) => nowMs - lastMs < DAY_MS);
  const outages = recent.filter(([, { sample }]) => sample.code === 'storage-unavailable');
  const reasons = recent
    // The collector's own fault isn't a project's problem.
    .filter((one) => !isDown || !outages.includes(one))
    .map(([key, reason]) => judgeReason(key, reason, activity, around))
    .sort(
      (a, b) =>
        Number(isOpen(b)) - Number(isOpen(a)) ||
        Number(a.isCollective) - Number(b.isCollective) ||
        b.lastHour - a.lastHour ||
        b.lastDay - a.lastDay,
    );
  const open = reasons.filter(isOpen);
  // Refusals from before a deactivation are no longer a problem.
  const off = open.filter(({ sample }) => sample.code === 'project-not-activated');
  const isSending = active || off.length > 0;
  const outageMs = Math.max(counts.startMs, ...outages.map(([, { lastMs }]) => lastMs));
  const arrivals = {
    active,
    isDown,
    accepted: activity.acceptedIn.lastHour(nowMs),
    refused: isSending ? inLastHour(open) : 0,
    isOff: off.some(({ remedy }) => !active || remedy.kind === 'fixed'),
    // Nobody expects requests that name no project, so they are never silent.
    hasRecentViews: kind === 'requests' || nowMs - (activity.lastAcceptedMs ?? 0) < SILENT_MS,
    hasListened: nowMs - outageMs >= SILENT_MS,
    acceptedYesterday: activity.acceptedIn.between(nowMs - DAY_MS - SILENT_MS, nowMs - DAY_MS),
  };
  const state = stateOf(arrivals);
  return {
    kind,
    id,
    name,
    origins,
    removed: kind === 'unlisted' ? removedIn(around, id) : undefined,
    isOpened: around.projects.opened(id) !== undefined,
    ...arrivals,
    state,
    colour: colourOf({ kind, state, reasons }),
    reasons,
    obstacle: obstacleIn(around),
    activity,
  };
}

/** Returns the last entry of a removed project. The operator's address may be listed again. */
function removedIn({ projects }: Surroundings, id: string): RemovedProject | undefined {
  const removed = projects.removed(id);
  return (
    removed && (projects.operator === undefined ? removed : { ...removed, operator: undefined })
  );
}

type ByReasons = Pick<Judged, 'state' | 'reasons'>;

/** Returns whether every cause is gone, although no view has been accepted since. */
export function isWaiting({ state, reasons }: ByReasons): boolean {
  const open = reasons.filter(isOpen);
  return isRefused({ state }) && open.every(({ remedy }) => remedy.kind === 'fixed');
}

function colourOf({ kind, ...judged }: ByReasons & Pick<Judged, 'kind'>): Colour | undefined {
  const { state, reasons } = judged;
  if (state === 'refused' && kind !== 'requests' && !isWaiting(judged)) return 'red';
  if (state === 'silent' || isRefused(judged)) return 'amber';
  return reasons.some(isFixed) && state !== 'inactive' ? 'green' : undefined;
}

/** The directory comes first, then the projects file: a fix may need a command that reads it. */
function obstacleIn({ projects, store, files }: Surroundings): Obstacle | undefined {
  if (files?.closedDirectory !== undefined) return 'directory';
  if (projects.fault !== undefined) return 'projects-file';
  return store.unavailable === undefined ? undefined : 'storage';
}

/**
 * Causes that viewlog can't check: only accepted views show that they are gone. Left out are causes
 * that lose large bodies, because accepted small views prove nothing about large ones, and views
 * without an Origin, which a server sends: a page's views prove nothing about the server.
 */
const UNSEEN: ReadonlySet<Remedy['kind']> = new Set(['fix-page', 'correct-origin', 'none']);

function judgeReason(
  key: string,
  reason: Reason,
  activity: Activity,
  around: Surroundings,
): JudgedReason {
  const { sample, sinceMs, lastMs, refusedIn, endedIn } = reason;
  const { projects, viewBytesMax, nowMs, counts } = around;
  const { startMs } = counts;
  const [inHour, lastDay] = [refusedIn.lastHour(nowMs), refusedIn.lastDay(nowMs)];
  const endedLastHour = endedIn?.lastHour(nowMs) ?? 0;
  const { project: id = '', origin } = sample;
  const project = projects.find(id);
  const isCollective = BY_ORIGIN.has(key);
  const remedy = remedyFor(key, {
    ...sample,
    viewBytesMax,
    project,
    obstacle: obstacleIn(around),
    // Costly, and only this code's remedy needs it.
    ...(sample.code === 'rate-limited' && {
      sentPerMinute: busiestMinute(activity, reason, nowMs),
    }),
  });
  const lost = lostFor(projects, sample);
  // Once the project lists its origins again, the views are refused again.
  const fixedMs = lost ? undefined : endOf(reason, activity, { remedy, project, nowMs, startMs });
  const entry = project ?? projects.removed(id);
  // A problem that has ended offers no fix, so nothing will allow the origin again.
  const isAllowedLater = fixedMs === undefined && allows(remedy, project);
  const isBarred = entry?.allowsOrigin(origin) === false && !isAllowedLater;
  const fate = { ...fateOf(key, reason, activity, around), isBarred };
  const others = (reason.others ?? []).filter(({ atMs }) => lastMs - atMs < HOUR_MS);
  return {
    sample,
    others,
    sinceMs,
    lastMs,
    lastHour: inHour - endedLastHour,
    endedLastHour,
    lastDay,
    remedy,
    fixedMs,
    acceptedSince: activity.accepted - reason.acceptedAtLastRefusal,
    isCollective,
    lost,
    fate,
  };
}

/** Returns the origins that a project has lost, if only they kept views like this one out. */
function lostFor(projects: Surroundings['projects'], { code, project = '', origin = '' }: Sample) {
  const origins = code === 'origin-not-allowed' ? projects.opened(project)?.origins : undefined;
  return origins && !originTest(origins)(origin) ? origins : undefined;
}

/** Returns the fix. Of origins that are counted together, only the latest is known to be allowed. */
function remedyFor(key: string, refused: Parameters<typeof remedyOf>[0]): Remedy {
  const remedy = remedyOf({ ...refused, meant: correctedOrigin(refused.origin ?? '') });
  return BY_ORIGIN.has(key) && remedy.kind === 'fixed' ? { kind: 'none' } : remedy;
}

const PAUSE_MS = MINUTE_MS / 2;

type Settling = Pick<Surroundings, 'counts' | 'projects' | 'viewBytesMax' | 'nowMs'>;

/**
 * Notes which refusals have ended, so that an edit of the projects file can't bring back a problem
 * before a view is refused again.
 */
export function settle({ counts, projects, viewBytesMax, nowMs }: Settling): void {
  for (const activity of [counts.requests, ...counts.projects.values()]) {
    for (const [key, reason] of activity.reasons) {
      const project = projects.find(reason.sample.project ?? '');
      const remedy = remedyFor(key, { ...reason.sample, viewBytesMax, project });
      const present = { remedy, project, nowMs, startMs: counts.startMs };
      // Once the project lists its origins again, the views are refused again.
      if (!lostFor(projects, reason.sample)) reason.endedMs = endOf(reason, activity, present);
    }
  }
}

interface Present {
  readonly remedy: Remedy;
  readonly project: Project | undefined;
  readonly nowMs: number;
  /** When the process started. */
  readonly startMs: number;
}

/** Returns since when views have been accepted instead; `undefined`: the refusals may go on. */
function endOf(reason: Reason, activity: Activity, present: Present): number | undefined {
  const { lastMs, refusedIn, acceptedAtLastRefusal, endedMs } = reason;
  if (endedMs !== undefined) return endedMs;
  const { remedy, project, nowMs, startMs } = present;
  const { kind } = remedy;
  const acceptedSince = activity.accepted - acceptedAtLastRefusal;
  const before = Math.max(0, activity.acceptedIn.lastHour(nowMs) - acceptedSince);
  // A page counts as corrected after a pause without refusals, and enough accepted views in a row:
  // three, plus five times the average number between two refusals.
  const isRecovered = (): boolean =>
    nowMs - lastMs >= PAUSE_MS &&
    acceptedSince >= 3 + (5 * before) / Math.max(1, refusedIn.lastHour(nowMs));
  // Other views may have been accepted before the entry was corrected, or before a start with a
  // larger --max-view.
  const ofEntry = project?.changedMs ?? 0;
  const ofLimit = reason.sample.code === 'view-too-large' ? startMs : ofEntry;
  const changedMs = kind === 'fixed' ? ofLimit : 0;
  const isAccepted = acceptedSince > 0 && activity.lastAcceptedMs! >= changedMs;
  const isOver = kind === 'fixed' ? isAccepted : UNSEEN.has(kind) && isRecovered();
  if (!isOver) return undefined;
  return Math.max(lastMs, firstOf(acceptedSince, activity, nowMs, changedMs), changedMs);
}

/** Returns whether this fix also allows the origin. A removed entry is restored as it was. */
const allows = (remedy: Remedy, project: Project | undefined): boolean =>
  remedy.kind === 'wait' || ('origin' in remedy && remedy.origin !== undefined && !!project);

/**
 * Returns the views sent in the busiest clock minute that has ended within the last hour, not
 * counting those refused for other reasons; or in the running minute, if it already has more.
 * `undefined` if no minute that has ended had views, or if sending began partway through the only
 * one that did.
 */
function busiestMinute({ acceptedIn }: Activity, { refusedIn }: Reason, nowMs: number) {
  const refused = refusedIn.byMinute(nowMs);
  const sent = acceptedIn.byMinute(nowMs).map((count, i) => count + refused[i]!);
  const running = sent.pop()!;
  // If views are arriving now but the last complete minute follows one without views, sending began
  // partway through that minute. Its count then doesn't show how many views a full minute has.
  const isPartial = running > 0 && sent.at(-2) === 0;
  const isKnown = (isPartial ? sent.slice(0, -1) : sent).some((count) => count > 0);
  return isKnown ? Math.max(...sent, running) : undefined;
}

/**
 * Returns when the first of the last `views` was accepted, or the first of them since then, to the
 * minute; 0 if that was more than an hour ago.
 */
function firstOf(views: number, { acceptedIn }: Activity, nowMs: number, sinceMs: number): number {
  const [now, since] = [nowMs, sinceMs].map((ms) => Math.floor(ms / MINUTE_MS)) as [number, number];
  const minutes = acceptedIn.byMinute(nowMs).toReversed();
  let left = views;
  let first = 0;
  for (const [ago, count] of minutes.entries()) {
    if (now - ago < since) return first;
    if (count > 0) first = (now - ago) * MINUTE_MS;
    left -= count;
    if (left <= 0) return first;
  }
  return 0;
}

function fateOf(
  key: string,
  { sample: { project = '', code }, refusedIn, sinceMs, lastMs, droppedIn, dropped }: Reason,
  { reasons }: Activity,
  around: Surroundings,
): Omit<Fate, 'isBarred'> {
  const { files, resent, recordFault, nowMs } = around;
  const lastDay = refusedIn.lastDay(nowMs);
  const { isStored = false } = REFUSALS[code];
  const lost = isStored ? Math.min(lastDay, droppedIn?.lastDay(nowMs) ?? 0) : lastDay;
  const sent = (state: Replayed['state']): number =>
    isStored ? refusedIn.sharedWith(resentOf({ state, project, key }, reasons, resent), nowMs) : 0;
  const sentAgain = Math.min(sent('+'), lastDay - lost);
  const unsure = Math.min(sent('?'), lastDay - lost - sentAgain);
  const isYesterday = refusedIn.between(nowMs - DAY_MS, nowMs - (nowMs % DAY_MS)) > 0;
  const [from, to] = [dayOf(Math.min(sinceMs, nowMs - (isYesterday ? DAY_MS : 0))), dayOf(lastMs)];
  const days = isStored ? (files?.refusedDays.filter((day) => day >= from && day <= to) ?? []) : [];
  const isClosed = files?.closedFiles.some(({ day }) => days.includes(day));
  return {
    resent: sentAgain,
    unsure,
    stored: lastDay - lost - sentAgain - unsure,
    lost,
    why: dropped?.why,
    days,
    obstacle:
      obstacleIn(around) ??
      (isClosed ? 'refused-file' : undefined) ??
      (recordFault === undefined ? undefined : 'replay-record'),
  };
}

/** Adds up the origins that are counted together, because a replay records each of them. */
function resentOf(
  { state, project, key }: { state: Replayed['state']; project: string; key: string },
  reasons: Activity['reasons'],
  resent: Resent = new Map(),
) {
  const fullKey = resentKey(state, project, key);
  if (!BY_ORIGIN.has(key)) return [resent.get(fullKey)].filter((one) => one !== undefined);
  const named = new Set(Array.from(reasons.keys(), (one) => resentKey(state, project, one)));
  const others = [...resent].filter(([one]) => one.startsWith(fullKey) && !named.has(one));
  return others.map(([, timeline]) => timeline);
}

type Recent = Pick<JudgedReason, 'fixedMs' | 'lastHour'>;

/** Returns how many views or requests of the last hour failed for these reasons. */
export const inLastHour = (reasons: readonly Pick<JudgedReason, 'lastHour'>[]): number =>
  reasons.reduce((sum, { lastHour }) => sum + lastHour, 0);

/** Returns whether views of the last hour were refused for this reason, which isn't fixed yet. */
export const isOpen = ({ fixedMs, lastHour }: Recent): boolean =>
  fixedMs === undefined && lastHour > 0;

/** Returns whether views of the last hour were refused for this reason, which is already fixed. */
export const isFixed = ({ fixedMs, lastHour }: Recent): boolean =>
  fixedMs !== undefined && lastHour > 0;

/**
 * Judges each listed project, then the ids that were listed when their views of the last day were
 * accepted, and the requests.
 * @param only the only id to judge, and no requests.
 */
export function* judgements(around: Surroundings, only?: string): Generator<Judged> {
  const { counts, projects } = around;
  const found = only === undefined ? projects.all() : [projects.find(only)];
  for (const project of found) {
    if (project !== undefined) yield judge(project, counts.projects.get(project.id), around);
  }
  for (const id of only === undefined ? counts.projects.keys() : [only]) {
    // The sum of a day costs more, and most ids are listed.
    const isGone = projects.find(id) === undefined && counts.isSending(id);
    // Nobody misses the views of a project that was inactive.
    if (isGone && projects.removed(id)?.active !== false)
      yield judge({ id, active: false }, counts.projects.get(id), around, 'unlisted');
  }
  if (only === undefined) yield judge(REQUESTS, counts.requests, around, 'requests');
}

/** The number of judgements between two yields to the event loop. */
const SLICE = 500;

/**
 * Makes these judgements in slices that don't hold up views. The caller should retain only a few.
 */
export async function judgeAll(
  around: Surroundings,
  visit: (judged: Judged) => void,
  only?: string,
): Promise<void> {
  let judged = 0;
  for (const one of judgements(around, only)) {
    if (judged++ % SLICE === 0) await new Promise((resolve) => void setImmediate(resolve));
    visit(one);
  }
}
