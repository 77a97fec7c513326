// The contents of the status page, as values: one pure function of the counts and the current
// state. `words.ts`, `problem-words.ts` and the renderers word them.
import { BUILD } from '../base/built.ts';
import { clip } from '../base/text.ts';
import { DAY_MS, dayOf } from '../base/time.ts';
import { TOO_LITTLE_SPACE } from '../disk/free-space.ts';
import type { Installation } from '../installation/installation.ts';
import { openedTexts } from '../projects/follow.ts';
import type { Project, ProjectsFault } from '../projects/project-list.ts';
import { typoOf } from '../projects/typo.ts';
import {
  type CollectorState,
  isAnyActive,
  isStream,
  warningsOf,
  type WatchedState,
} from './health.ts';
import { type ClosedDirectory, type FilesSeen, type Space, spaceOf } from './look-around.ts';
import type { Activity } from './reasons.ts';
import { COLOURS, judge, type Judged, type JudgedReason } from './state.ts';
import { QUARTER_MS } from './timeline.ts';

interface ModelInput extends CollectorState {
  readonly listing: Listing;
  readonly files: FilesSeen;
  readonly recordFault?: string | undefined;
  readonly installation: Installation;
}

/** The contents of the status page and of `/status.json`. */
export interface StatusModel extends Readonly<Listing['totals']> {
  readonly nowMs: number;
  /** The start of this process, and the start of the counts, which a restart retains. */
  readonly startMs: number;
  readonly sinceMs: number;
  readonly version: string;
  readonly minFreeBytes: number;
  readonly installation: Installation;
  readonly filter: string;
  readonly isStopping: boolean;
  /** Considers all projects, even if only one is listed. */
  readonly isAnyActive: boolean;
  readonly warnings: readonly string[];
  /** Warnings about projects that accept views from every site since they lost their origins. */
  readonly openings: readonly string[];
  /** The names of projects that accept views from every site since an edit removed their origins. */
  readonly opened: readonly string[];
  /** Why the projects file can't be used, and when it became invalid. */
  readonly projectsFault: ProjectsFault | undefined;
  readonly store: WatchedState;
  readonly space: Space | undefined;
  readonly closedDirectory: ClosedDirectory;
  readonly closedFiles: FilesSeen['closedFiles'];
  readonly copiesGid: FilesSeen['copiesGid'];
  /** The names of files that should have been removed by now. */
  readonly overdue: readonly string[];
  /** Projects, and the requests, with open or fixed problems, the worst first. */
  readonly problems: readonly ProjectRow[];
  /** The number of problems, without fixed ones. */
  readonly problemsInAll: number;
  /** True: a problem is worth waking somebody for. */
  readonly isAlarming: boolean;
  /** Projects with problems come first, the worst first. */
  readonly projects: readonly ProjectRow[];
  readonly total: Figures;
  /** 503s of the last 24 hours, for views that couldn't be stored. */
  readonly unstorable: number;
  /** True: the files have views from before `sinceMs`, or the stream has views of others. */
  readonly hasEarlierViews: boolean;
  /** True: no view has arrived yet, accepted or refused. */
  readonly isNew: boolean;
  /** Unlisted ids with views in the last 24 hours, those with the most refused views first. */
  readonly unlisted: readonly ProjectRow[];
  readonly unlistedInAll: number;
  /** Those of them that were active when they were removed, in the last 24 hours. */
  readonly removedInAll: number;
  /** Requests of the last 24 hours that failed too rarely to be a problem. */
  readonly strayRequests: ProjectRow | undefined;
  /** Newest first; equal ones are merged, with the latest time. */
  readonly latestAccepted: readonly LatestView[];
  readonly latestRefused: readonly LatestRefusal[];
}

/** A project, an unlisted id, or the requests. */
export interface ProjectRow extends Omit<Judged, 'name' | 'activity'> {
  readonly name: string;
  readonly figures: Figures;
  /** Accepted and refused views of the last 24 hours, oldest first; the newest is still running. */
  readonly hours: readonly number[];
  readonly refusedHours: readonly number[];
  readonly meant: Meant | undefined;
}

/** The listed project that was probably meant: its id is one typo away from the row's. */
interface Meant {
  readonly id: string;
  readonly name?: string | undefined;
  /** The origin of views that only this project lists, if the ids differ more than that. */
  readonly origin?: string | undefined;
  readonly isInactive?: boolean;
}

type Sender = Pick<Judged, 'id' | 'kind' | 'active' | 'removed'> & {
  readonly reasons: readonly Pick<JudgedReason, 'sample'>[];
};

type Figures = ReturnType<typeof figuresOf>;
export type LatestView = ReturnType<typeof latestViews>[number];
export type LatestRefusal = ReturnType<typeof latestRefusals>[number];

const ROWS_MAX = 200;
const PROBLEMS_MAX = 10;
const UNLISTED_MAX = 20;
const URL_LENGTH_MAX = 200;
const UNTOLD = "Can't tell which refused views were sent again";

/** The judgements; only those that the page shows are retained. */
export class Listing {
  /** Part of the names or ids of the projects to be listed. */
  readonly filter: string;
  readonly problems: Judged[] = [];
  /** Projects without a problem, up to the limit of rows. */
  readonly others: Judged[] = [];
  strayRequests: Judged | undefined;
  readonly totals = { projectsListed: 0, projectsActive: 0, projectsArriving: 0, projectsFound: 0 };

  constructor(filter: string) {
    this.filter = filter;
  }

  add(one: Judged): void {
    const { totals } = this;
    if (one.colour !== undefined) this.problems.push(one);
    if (one.kind === 'requests' && one.colour === undefined && one.reasons.length > 0) {
      this.strayRequests = one;
    }
    if (one.kind !== 'project') return;
    totals.projectsListed += 1;
    if (one.active) totals.projectsActive += 1;
    if (one.state === 'arriving') totals.projectsArriving += 1;
    if (!matches(one, this.filter)) return;
    totals.projectsFound += 1;
    if (one.colour === undefined && this.others.length < ROWS_MAX) this.others.push(one);
  }
}

export function modelOf(input: ModelInput): StatusModel {
  const { counts, projects, store, files, installation, minFreeBytes, nowMs, listing } = input;
  const { startMs, sinceMs } = counts;
  const opened = projects.allOpened(nowMs - DAY_MS);
  const openedNames = opened.map(({ id }) => displayName({ id, name: projects.find(id)?.name }));
  const { filter, others, totals, strayRequests } = listing;
  const toRow = (one: Judged): ProjectRow => rowOf(one, input);
  const problems = listing.problems.toSorted(byRank);
  const found = problems.filter((one) => one.kind === 'project' && matches(one, filter));
  const shown = problems.slice(0, PROBLEMS_MAX);
  const unlisted = unlistedIn(input, shown);
  const stray =
    strayRequests ?? problems.slice(PROBLEMS_MAX).find(({ kind }) => kind === 'requests');
  const total = figuresOf(counts.total, input);
  const isCounted = total.lastAcceptedMs !== undefined || counts.projects.size > 0;
  const hasEarlierViews = hasViewsBefore(input);
  return {
    nowMs,
    startMs,
    sinceMs,
    version: BUILD,
    minFreeBytes,
    installation,
    filter,
    ...totals,
    isStopping: input.isStopping,
    isAnyActive: isAnyActive(input),
    warnings: [
      ...warningsOf(input),
      ...(input.recordFault === undefined ? [] : [`${UNTOLD}: ${input.recordFault}`]),
    ],
    // While the file is invalid, no command can change it.
    openings: openedTexts(opened, projects.fault ? undefined : installation, openedNames),
    opened: openedNames,
    projectsFault: isInClosed(input) ? undefined : projects.fault,
    store,
    space: spaceOf(files, minFreeBytes, store.unavailable === TOO_LITTLE_SPACE),
    closedDirectory: files.closedDirectory,
    closedFiles: files.closedFiles,
    copiesGid: files.copiesGid,
    overdue: files.overdue,
    problems: shown.map(toRow),
    problemsInAll: problems.filter(({ colour }) => colour !== 'green').length,
    isAlarming: problems.some(isAlarming),
    projects: [...found, ...others].slice(0, ROWS_MAX).map(toRow),
    total,
    unstorable: counts.refusedLastDay('storage-unavailable', nowMs),
    hasEarlierViews,
    isNew: !isCounted && !hasEarlierViews,
    unlisted: unlisted.slice(0, UNLISTED_MAX).map(toRow),
    unlistedInAll: unlisted.length,
    removedInAll: unlisted.filter((one) => isMissed(one, input)).length,
    strayRequests: stray && toRow(stray),
    latestAccepted: latestViews(input),
    latestRefused: latestRefusals(input),
  };
}

/** Returns whether the projects file is in a closed directory, so its fault follows from that. */
const isInClosed = ({ files, installation: { data, projects } }: ModelInput): boolean =>
  files.closedDirectory !== undefined && projects?.startsWith(`${data}/`) === true;

/** Returns whether the files or the stream have views that the counts don't include. */
function hasViewsBefore({ files, store, counts }: ModelInput): boolean {
  const { sinceMs, startMs, total } = counts;
  if (isStream(store)) return store.stream.seen.messages > store.lines;
  // A killed process may have stored views that it didn't count.
  const isUncounted = sinceMs === startMs || total.lastAcceptedMs === undefined;
  // A write that failed may have left part of a line.
  const hasFragment = store.sealedFragments > 0 || store.unavailable !== undefined;
  const isInToday = isUncounted && !hasFragment && store.fileBytes > store.bytes;
  return isInToday || files.viewDays.some((day) => day < dayOf(sinceMs));
}

/** With fewer refusals, a problem raises no alarm, so a few stray requests wake nobody. */
const ALARM_MIN = 20;

const isAlarming = ({ colour, state, refused }: Judged): boolean =>
  colour !== 'green' && (state === 'silent' || refused >= ALARM_MIN);

/**
 * Judges the unlisted ids that sent refused views, and those that were removed while they were
 * active, except ids already shown as problems.
 */
function unlistedIn(input: ModelInput, shown: readonly Judged[]): Judged[] {
  const { counts, projects } = input;
  const problems = new Set(shown.map(({ id }) => id));
  const ids = new Set(projects.allRemoved().map(({ id }) => id));
  for (const [id, { reasons }] of counts.projects) if (reasons.size > 0) ids.add(id);
  return (
    [...ids]
      .filter((id) => projects.find(id) === undefined && !problems.has(id))
      .map((id) => judge({ id, active: false }, counts.projects.get(id), input, 'unlisted'))
      // A removed id's refusals may have ended before its removal.
      .filter(
        (one) => isMissed(one, input) || one.reasons.some((reason) => reason.fixedMs === undefined),
      )
      .sort((a, b) => refusalsOf(b) - refusalsOf(a))
  );
}

const refusalsOf = ({ reasons }: Judged): number =>
  reasons.length === 0 ? Infinity : Math.max(...reasons.map(({ lastDay }) => lastDay));

/**
 * Returns whether an active project was removed in the last 24 hours. If its views weren't accepted
 * in that time, the removal matters only if it leaves no active project.
 */
const isMissed = ({ id, removed }: Judged, input: ModelInput): boolean =>
  removed?.active === true &&
  input.nowMs - removed.removedMs < DAY_MS &&
  (input.counts.isSending(id) || !isAnyActive(input));

const latestViews = (input: ModelInput) =>
  combined(
    input.counts.latestAccepted.map(({ atMs, project, fields }) => {
      return { atMs, project, name: nameOf(project, input), url: urlOf(fields), count: 1 };
    }),
  );

const latestRefusals = (input: ModelInput) =>
  combined(
    input.counts.latestRefused.map(({ atMs, project = '', code, origin, isCut }) => {
      // Both codes of bodies that were cut off have the same label.
      const one = isCut ? 'request-timeout' : code;
      return { atMs, name: nameOf(project, input), code: one, origin, isCut: false, count: 1 };
    }),
  );

/** @param id empty if a request names no project. */
const nameOf = (id: string, { projects }: ModelInput): string => {
  if (id === '') return 'Request without a project';
  const project = projects.find(id) ?? projects.removed(id);
  return project === undefined ? id : displayName(project);
};

/** Returns equal items as one, with their number and the time of the newest. */
function combined<T extends { atMs: number; count: number }>(items: readonly T[]): T[] {
  const byKey = new Map<string, T>();
  for (const { atMs, ...item } of items) {
    const key = JSON.stringify(item);
    const first = byKey.get(key);
    if (first === undefined) byKey.set(key, { ...item, atMs } as T);
    else first.count += 1;
  }
  return [...byKey.values()];
}

/** Returns whether an operator expects views: also of a removed id, whose entry may be lost. */
const isOn = ({ active, kind }: Judged): boolean => active || kind === 'unlisted';

/** Red before amber, active projects before inactive ones, then by the number of lost views. */
const byRank = (a: Judged, b: Judged): number =>
  COLOURS.indexOf(a.colour!) - COLOURS.indexOf(b.colour!) ||
  Number(isOn(b)) - Number(isOn(a)) ||
  b.refused + b.acceptedYesterday - a.refused - a.acceptedYesterday;

const displayName = ({
  id,
  name = `Project ${id}`,
}: Pick<Judged, 'id'> & { name?: string | undefined }): string => name;

/** A filter finds part of a name, in any letter case, or part of an id. */
const matches = ({ id, name = '' }: Judged, filter: string): boolean =>
  filter === '' || id.includes(filter) || name.toLowerCase().includes(filter.toLowerCase());

function rowOf({ activity, ...judged }: Judged, input: ModelInput): ProjectRow {
  const { acceptedIn, refusedIn } = activity;
  return {
    ...judged,
    name: displayName({ id: judged.id, name: judged.name ?? judged.removed?.name }),
    figures: figuresOf(activity, input),
    hours: acceptedIn.hours(input.nowMs),
    refusedHours: refusedIn?.hours(input.nowMs) ?? [],
    meant: meantBy(judged, input.projects),
  };
}

/** Comparing an id with tens of thousands takes too long for a page. */
const COMPARED_MAX = 1_000;

/** Returns the listed project whose id the senders of these refused views probably meant. */
export function meantBy(
  { id, kind, active, reasons, removed }: Sender,
  projects: Pick<ModelInput['projects'], 'all'>,
): Meant | undefined {
  const code = active ? 'origin-not-allowed' : 'project-not-activated';
  const refused = reasons.filter(({ sample }) => sample.code === code);
  const all = refused.length > 0 ? projects.all() : [];
  if (all.length > COMPARED_MAX) return undefined;
  const sender = all.find((one) => one.id === id);
  const isOwn = sender?.origins && refused.some(({ sample }) => sender.allowsOrigin(sample.origin));
  if (isOwn) return undefined;
  const listed = all.filter((one) => one.id !== id);
  const others = listed.filter((one) => one.active);
  const origins = new Set(refused.map(({ sample }) => sample.origin));
  const isTheirs = (one: Project): boolean =>
    one.origins !== undefined && [...origins].some((origin) => one.allowsOrigin(origin));
  const owners = others.filter(isTheirs);
  const near = (some: readonly Project[]) => {
    const meant = active ? undefined : typoOf(id, some);
    return meant && { id: meant.id, name: meant.name };
  };
  const nearOwner = near(owners);
  if (nearOwner !== undefined) return nearOwner;
  const [owner, ...more] = owners.length > 0 ? owners : listed.filter(isTheirs);
  const isOwner = (active || kind === 'unlisted') && removed === undefined && more.length === 0;
  if (owner === undefined || !isOwner) return near(others);
  const origin = [...origins].find((one) => owner.allowsOrigin(one));
  return { id: owner.id, name: owner.name, origin, isInactive: !owner.active };
}

function figuresOf(
  { acceptedIn, refusedIn, lastAcceptedMs }: Activity,
  { counts: { sinceMs }, nowMs }: ModelInput,
) {
  // Days are those of the system's time zone, as in a report.
  const midnight = new Date(nowMs);
  const todayMs = midnight.setHours(0, 0, 0, 0);
  const yesterdayMs = midnight.setDate(midnight.getDate() - 1);
  // The same local time, even if the clock was changed in between.
  const sameTime = new Date(nowMs);
  const byMs = sameTime.setDate(sameTime.getDate() - 1);
  // The current quarter-hour counts in proportion to its elapsed part.
  const share = (byMs % QUARTER_MS) / QUARTER_MS;
  const quarterMs = byMs - (byMs % QUARTER_MS);
  const running = Math.round(share * acceptedIn.between(quarterMs, quarterMs + 1));
  return {
    lastHour: acceptedIn.lastHour(nowMs),
    refusedLastHour: refusedIn?.lastHour(nowMs) ?? 0,
    refusedLastDay: refusedIn?.lastDay(nowMs) ?? 0,
    today: acceptedIn.between(todayMs, nowMs + 1),
    /** `undefined` if counting began later. */
    yesterday: sinceMs >= todayMs ? undefined : acceptedIn.between(yesterdayMs, todayMs),
    yesterdayByNow:
      sinceMs > yesterdayMs ? undefined : acceptedIn.between(yesterdayMs, quarterMs) + running,
    lastAcceptedMs,
  };
}

const decoder = new TextDecoder();

function urlOf(fields: Uint8Array): string {
  const { url } = JSON.parse(decoder.decode(fields)) as { url: string };
  return clip(url, URL_LENGTH_MAX);
}
