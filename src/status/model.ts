// The contents of the status page, as values: one pure function of the counts and the current
// state. `words.ts`, `problem-words.ts` and the renderers word them.
import { BUILD } from '../base/built.ts';
import { clip } from '../base/text.ts';
import { type CollectorState, warningsOf } from './health.ts';
import { type FilesSeen, spaceOf } from './look-around.ts';
import type { Activity } from './reasons.ts';
import type { Place } from './shell-commands.ts';
import { judge, type Judged, KINDS, REQUESTS, type Subject } from './state.ts';
import { QUARTER_MS } from './timeline.ts';

interface ModelInput extends CollectorState {
  readonly listing: Listing;
  readonly files: FilesSeen;
  readonly place: Place;
}

export type StatusModel = ReturnType<typeof modelOf>;
export type Row = ReturnType<typeof rowOf>;
export type ReasonFacts = Row['reasons'][number];

const ROWS_MAX = 200;
const PROBLEMS_MAX = 10;
const UNLISTED_MAX = 20;
const URL_LENGTH_MAX = 200;

/** The listed projects, of which it keeps those that the page shows. */
export class Listing {
  /** Part of the names or ids of the projects to be listed. */
  readonly filter: string;
  readonly problems: Judged[] = [];
  /** Projects without a problem, as far as there is space for them. */
  readonly others: Judged[] = [];
  projectsListed = 0;
  projectsActive = 0;
  projectsArriving = 0;
  /** Projects that the filter finds. */
  projectsFound = 0;

  constructor(filter: string) {
    this.filter = filter;
  }

  add(one: Judged): void {
    this.projectsListed += 1;
    if (one.active) this.projectsActive += 1;
    if (one.state === 'arriving') this.projectsArriving += 1;
    const isFound = matches(one, this.filter);
    if (isFound) this.projectsFound += 1;
    if (one.kind !== undefined) this.problems.push(one);
    else if (isFound && this.others.length < ROWS_MAX) this.others.push(one);
  }
}

export function modelOf(input: ModelInput) {
  const { counts, projects, store, files, place, isStopping, nowMs, listing } = input;
  const { startMs, sinceMs, total } = counts;
  const { problems: ofProjects, others, ...listed } = listing;
  const toRow = (one: Judged) => rowOf(one, input);
  const nameOf = (id = ''): string => {
    const project = projects.find(id);
    return project === undefined ? id : displayName(project);
  };
  const requests = judge(REQUESTS, counts.requests, input);
  const problems = [...ofProjects, requests].filter(({ kind }) => kind !== undefined).sort(byRank);
  const found = problems.filter((one) => one !== requests && matches(one, listed.filter));
  // Also ids that were listed before.
  const unlisted = Array.from(counts.projects)
    .filter(([id, { reasons }]) => reasons.size > 0 && projects.find(id) === undefined)
    .map(([id, activity]) => judge({ id, active: false }, activity, input))
    .filter(({ reasons }) => reasons.length > 0)
    .sort((a, b) => b.reasons[0]!.lastDay - a.reasons[0]!.lastDay);
  return {
    nowMs,
    startMs,
    sinceMs,
    version: BUILD,
    place,
    ...listed,
    isStopping,
    warnings: warningsOf(input),
    /** Why the projects file is not active, and since when. */
    projectsFault: projects.fault,
    store,
    space: spaceOf(files, input.minFreeBytes),
    /** The names of files that should have been removed by now. */
    overdue: files.overdue,
    /** Projects, and the requests that name none, with problems or with problems that are fixed. */
    problems: problems.slice(0, PROBLEMS_MAX).map(toRow),
    /** Without those that are fixed. */
    problemsInAll: problems.filter(({ kind }) => kind !== 'green').length,
    /** Those with problems first, the worst first. */
    projects: [...found, ...others].slice(0, ROWS_MAX).map(toRow),
    total: figuresOf(total, input),
    /** Unlisted ids that sent views in the last 24 hours, those with the most first. */
    unlisted: unlisted.slice(0, UNLISTED_MAX).map(toRow),
    unlistedInAll: unlisted.length,
    latestAccepted: counts.latestAccepted.map(({ atMs, project, fields }) => {
      return { atMs, project, name: nameOf(project), what: urlOf(fields) };
    }),
    latestRefused: counts.latestRefused.map(({ atMs, project, code, origin, isCut }) => {
      return { atMs, name: nameOf(project), code, origin, isCut };
    }),
  };
}

/** Red before amber, active projects before inactive ones, then by the number of lost views. */
const byRank = (a: Judged, b: Judged): number =>
  KINDS.indexOf(a.kind!) - KINDS.indexOf(b.kind!) ||
  Number(b.active) - Number(a.active) ||
  b.refused + b.acceptedYesterday - a.refused - a.acceptedYesterday;

const displayName = ({ id, name = `Project ${id}` }: Subject): string => name;

/** A filter finds part of a name, in any letter case, or part of an id. */
const matches = ({ id, name = '' }: Judged, filter: string): boolean =>
  filter === '' || id.includes(filter) || name.toLowerCase().includes(filter.toLowerCase());

function rowOf({ activity, ...judged }: Judged, input: ModelInput) {
  const { acceptedIn, refusedIn } = activity;
  return {
    ...judged,
    name: displayName(judged),
    figures: figuresOf(activity, input),
    /** The last 24 hours, oldest first; the newest is still running. */
    hours: acceptedIn.hours(input.nowMs),
    refusedHours: refusedIn?.hours(input.nowMs) ?? [],
  };
}

function figuresOf(
  { acceptedIn, refusedIn, lastAcceptedMs }: Activity,
  { counts: { sinceMs }, nowMs }: ModelInput,
) {
  // Days are those of the system's time zone, as in a report.
  const midnight = new Date(nowMs);
  const todayMs = midnight.setHours(0, 0, 0, 0);
  const yesterdayMs = midnight.setDate(midnight.getDate() - 1);
  const byMs = yesterdayMs + nowMs - todayMs;
  // The running quarter of an hour counts by its share.
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
