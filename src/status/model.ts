// What the status page shows, as values: one pure function of what is counted and what is true now.
// How it is worded is up to `words.ts`, `problem-words.ts` and the renderers.
import { clip } from '../base/text.ts';
import { DAY_MS, dayOf } from '../base/time.ts';
import type { Project, Projects } from '../projects/project-list.ts';
import { type RefusalCode, rowOf } from '../view/refusal.ts';
import type { AcceptedView, Activity, Counts } from './counts.ts';
import type { FilesSeen } from './look-around.ts';
import {
  isOpen,
  isProblem,
  type Judged,
  type JudgedReason,
  judgedReasons,
  RANKS,
} from './state.ts';
import { diskFacts, isStream, type WatchedState } from './store-facts.ts';
import { QUARTER_MS } from './timeline.ts';

export interface ModelInput {
  readonly counts: Counts;
  readonly projects: Projects;
  readonly store: WatchedState;
  readonly refused: { readonly keptLines: number };
  readonly queue: { readonly bytes: number; readonly bytesMax: number };
  readonly minFreeBytes: number;
  readonly isStopping: boolean;
  readonly nowMs: number;
}

/** What takes a moment to find out. */
export interface Findings {
  /** Every listed project, from `judgeAll`. */
  readonly judged: readonly Judged[];
  readonly files: FilesSeen;
  readonly warnings: readonly string[];
  /** Returns the listed id that this one is probably a typo of, or `''`. */
  readonly nearestId: (id: string, listed: readonly Project[]) => string;
}

/** What a reader asked for. */
export interface Asked {
  /** The ids of open rows. */
  readonly open: ReadonlySet<string>;
  /** Part of a name or an id. */
  readonly filter: string;
}

export type StatusModel = ReturnType<typeof modelOf>;
export type Row = ReturnType<typeof projectRow>;
export type ReasonFacts = Row['reasons'][number];
export type RequestsProblem = NonNullable<StatusModel['requests']>;
export type UnlistedFacts = StatusModel['unlisted'][number];
/** What is wrong with a project, if that is one thing. */
export type Cause = RefusalCode | 'silent' | 'inactive' | 'several';

const ROWS_MAX = 200;
const PROBLEMS_MAX = 10;
const UNLISTED_MAX = 20;
const ROW_VIEWS_MAX = 5;
const NAME_LENGTH_MAX = 100;
const URL_LENGTH_MAX = 200;

export function modelOf(input: ModelInput & Findings, asked: Asked) {
  const { counts, projects, judged, store, files, nowMs } = input;
  const { startMs, sinceMs, total } = counts;
  const problems = judged.filter(({ state }) => isProblem(state)).sort(byRank);
  const fixed = judged.filter((one) => !isProblem(one.state) && one.reasons.some(isFixedLately));
  const found = judged.filter(({ project }) => matches(project, asked.filter));
  const unlisted = unlistedFacts(input);
  const requests = requestsProblem(input);
  const toRow = (one: Judged) => projectRow(one, input, asked);
  const toView = (view: AcceptedView) => shownView(view, projects);
  const all = projects.all();
  const first = all.find(({ active }) => active) ?? all[0];
  return {
    nowMs,
    startMs,
    sinceMs,
    isStopping: input.isStopping,
    headline: headlineOf(input, problems, requests),
    /** Why the projects file is not active, and since when. */
    projectsFault: projects.fault && {
      first: projects.fault.first,
      sinceMs: projects.fault.sinceMs,
    },
    unavailable: store.unavailable,
    unavailableSinceMs: store.unavailableSinceMs,
    stored: store.lines,
    disk: diskFacts(store, files, input.minFreeBytes),
    stream: isStream(store) ? store.stream : undefined,
    queue: input.queue,
    /** The names of files that should have been removed by now. */
    overdue: files.overdue,
    refusedKept: input.refused.keptLines,
    warnings: input.warnings,
    requests,
    /** The worst first. */
    problems: problems.slice(0, PROBLEMS_MAX).map(toRow),
    problemsLeftOut: Math.max(0, problems.length - PROBLEMS_MAX),
    /** Some of their views of the last hour were refused, and now they are accepted again. */
    fixed: fixed.slice(0, PROBLEMS_MAX).map(toRow),
    total: figuresOf(total, sinceMs, nowMs),
    projects: shownFirst(found).map(toRow),
    projectsListed: judged.length,
    projectsFound: found.length,
    unlisted: unlisted.slice(0, UNLISTED_MAX),
    unlistedLeftOut: Math.max(0, unlisted.length - UNLISTED_MAX),
    latestAccepted: counts.latestAccepted.map(toView),
    latestRefused: counts.latestRefused.map(({ atMs, code, project, origin, text }) => {
      return { atMs, code, project, origin, text, name: nameOf(projects.find(project ?? '')) };
    }),
    /** The project to begin with, for a collector that has never accepted a view. */
    firstSteps: total.lastAcceptedMs === undefined ? { project: first && named(first) } : undefined,
  };
}

const isFixedLately = ({ isFixed, lastHour }: JudgedReason): boolean => isFixed && lastHour > 0;

/** Red before amber, active projects before inactive ones, and what loses the most views first. */
const byRank = (a: Judged, b: Judged): number =>
  RANKS[a.state] - RANKS[b.state] ||
  Number(b.project.active) - Number(a.project.active) ||
  b.refused + b.acceptedYesterday - a.refused - a.acceptedYesterday;

function headlineOf(
  { counts, projects, judged, store, nowMs }: ModelInput & Findings,
  problems: readonly Judged[],
  requests: ReturnType<typeof requestsProblem>,
) {
  const active = judged.filter(({ project }) => project.active).length;
  if (store.unavailable !== undefined) return { kind: 'red', about: 'storage' } as const;
  const isRed = problems.some(({ state }) => state === 'refused');
  const ofProjects = { about: 'projects', causes: causesOf(problems) } as const;
  const of = active + problems.filter(({ project }) => !project.active).length;
  if (isRed) return { kind: 'red', ...ofProjects, of } as const;
  if (projects.fault !== undefined) return { kind: 'amber', about: 'projects-file' } as const;
  if (problems.length > 0) return { kind: 'amber', ...ofProjects, of } as const;
  if (requests?.isFixed === false) return { kind: 'amber', about: 'requests' } as const;
  const arriving = judged.filter(({ state }) => state === 'arriving').length;
  if (arriving > 0) return { kind: 'green', about: 'arriving', arriving, of: active } as const;
  const refused = counts.total.refusedIn?.lastHour(nowMs) ?? 0;
  const isNew = counts.total.lastAcceptedMs === undefined;
  const about = active === 0 ? 'no-active-project' : isNew ? 'first-view' : 'quiet';
  return { kind: 'grey', about, refused } as const;
}

/** How many projects have which problem, the most frequent first. */
function causesOf(problems: readonly Judged[]): [Cause, number][] {
  const counts = new Map<Cause, number>();
  for (const { state, project, reasons } of problems) {
    const codes = new Set(reasons.filter(isOpen).map(({ sample }) => sample.code));
    const [code = 'several'] = codes;
    const cause =
      state === 'silent' ? state : !project.active ? 'inactive' : codes.size > 1 ? 'several' : code;
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a);
}

/** A scanner's requests are no views that got lost. */
const NO_VIEWS: ReadonlySet<RefusalCode> = new Set(['not-found', 'method-not-allowed']);

/** Requests that failed before their project was known, if they are more than one in ten. */
function requestsProblem(input: ModelInput & Findings) {
  const { counts, files, nowMs } = input;
  const { acceptedIn, refusedIn } = counts.total;
  const all = judgedReasons(counts.beforeProject, aroundOf(input), counts.total).filter(
    (one) => one.lastHour > 0,
  );
  const reasons = all.filter(({ sample }) => !NO_VIEWS.has(sample.code));
  const failed = sumOf(reasons);
  const requests = acceptedIn.lastHour(nowMs) + (refusedIn?.lastHour(nowMs) ?? 0);
  const of = requests - (sumOf(all) - failed);
  if (failed * 10 <= of) return undefined;
  return {
    failed,
    of,
    isFixed: sumOf(reasons.filter(isOpen)) * 10 <= of,
    lastMs: Math.max(...reasons.map(({ lastMs }) => lastMs)),
    reasons: withoutDoubles(reasons).map((one) => reasonFacts(one, files)),
  };
}

/** Bodies that were cut off have several codes, by what was left of them, and one cause. */
function withoutDoubles(reasons: readonly JudgedReason[]): JudgedReason[] {
  const cut = reasons.filter(({ remedy }) => remedy.kind === 'check-proxy');
  const [first] = cut;
  const others = reasons.filter((reason) => !cut.includes(reason));
  return first === undefined ? others : [{ ...first, lastHour: sumOf(cut) }, ...others];
}

const sumOf = (reasons: readonly JudgedReason[]): number =>
  reasons.reduce((sum, { lastHour }) => sum + lastHour, 0);

/** What a project's state depends on, beside its own counts. */
export const aroundOf = ({ projects, store, nowMs }: ModelInput) => ({
  nowMs,
  isProjectsFileFaulty: projects.fault !== undefined,
  unavailable: store.unavailable,
});

function named({ id, name, active, origins, maxViewsPerMinute }: Project) {
  const shown = name === undefined ? `Project ${id}` : clip(name, NAME_LENGTH_MAX);
  return { id, name: shown, active, origins, maxViewsPerMinute };
}

const nameOf = (project: Project | undefined): string | undefined => project && named(project).name;

function projectRow(judged: Judged, input: ModelInput & Findings, { open }: Asked) {
  const { project, activity, state, accepted, refused, acceptedYesterday } = judged;
  const { counts, projects, files, nowMs } = input;
  const starts = judged.reasons.filter(isOpen).map(({ sinceMs }) => sinceMs);
  return {
    ...named(project),
    state,
    /** In the last hour; refused for reasons that are not fixed. */
    accepted,
    refused,
    acceptedYesterday,
    sinceMs: state === 'silent' ? activity.lastAcceptedMs : starts.sort((a, b) => a - b)[0],
    reasons: judged.reasons.map((reason) => reasonFacts(reason, files)),
    figures: figuresOf(activity, counts.sinceMs, nowMs),
    /** The last 24 hours, oldest first; the newest is still running. */
    hours: activity.acceptedIn.hours(nowMs),
    refusedHours: activity.refusedIn?.hours(nowMs) ?? [],
    /** Only if the row is open. */
    latest: open.has(project.id)
      ? counts.latestAccepted
          .filter((view) => view.project === project.id)
          .slice(0, ROW_VIEWS_MAX)
          .map((view) => shownView(view, projects))
      : undefined,
  };
}

/** With the days whose files of refused views hold some of them. */
function reasonFacts(reason: JudgedReason, { refusedDays }: FilesSeen) {
  const [from, to] = [dayOf(reason.sinceMs), dayOf(reason.lastMs)];
  const { code, project } = reason.sample;
  const isKept = rowOf(code).isKept === true && project !== undefined;
  return { ...reason, keptDays: refusedDays.filter((day) => isKept && day >= from && day <= to) };
}

/** A filter finds part of a name, in any letter case, or part of an id. */
const matches = ({ id, name = '' }: Project, filter: string): boolean =>
  filter === '' || id.includes(filter) || name.toLowerCase().includes(filter.toLowerCase());

/** As many as the page shows: problems first, then those with the latest views, by name. */
function shownFirst(judged: readonly Judged[]): Judged[] {
  const problems = judged.filter(({ state }) => isProblem(state)).sort(byRank);
  const last = ({ activity }: Judged): number => activity.lastAcceptedMs ?? 0;
  const others = judged
    .filter(({ state }) => !isProblem(state))
    .sort((a, b) => last(b) - last(a))
    .slice(0, Math.max(0, ROWS_MAX - problems.length));
  const collator = new Intl.Collator('en', { numeric: true });
  const nameFor = ({ project: { id, name } }: Judged): string => name ?? `Project ${id}`;
  others.sort((a, b) => collator.compare(nameFor(a), nameFor(b)));
  return [...problems, ...others].slice(0, ROWS_MAX);
}

function figuresOf(
  { acceptedIn, refusedIn, lastAcceptedMs }: Activity,
  sinceMs: number,
  nowMs: number,
) {
  const { todayMs, yesterdayMs } = daysAt(nowMs);
  const between = (fromMs: number, toMs: number) => acceptedIn.between(fromMs, toMs, nowMs);
  // The running quarter of an hour counts by its share.
  const byMs = yesterdayMs + nowMs - todayMs;
  const quarterMs = Math.floor(byMs / QUARTER_MS) * QUARTER_MS;
  const running = (between(quarterMs, quarterMs + 1) * (byMs - quarterMs)) / QUARTER_MS;
  return {
    lastHour: acceptedIn.lastHour(nowMs),
    refusedLastHour: refusedIn?.lastHour(nowMs) ?? 0,
    refusedLastDay: refusedIn?.lastDay(nowMs) ?? 0,
    today: between(todayMs, nowMs + 1),
    /** `undefined` if counting began later. */
    yesterday: sinceMs >= todayMs ? undefined : between(yesterdayMs, todayMs),
    yesterdayByNow:
      sinceMs > yesterdayMs ? undefined : between(yesterdayMs, quarterMs) + Math.round(running),
    lastAcceptedMs,
  };
}

/** When today and yesterday began, in the system's time zone, as in a report. */
export function daysAt(nowMs: number): { readonly todayMs: number; readonly yesterdayMs: number } {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  return {
    todayMs: new Date(year, month, day).getTime(),
    yesterdayMs: new Date(year, month, day - 1).getTime(),
  };
}

/** Of the last 24 hours: typos of listed ids first, then those with the most views. */
function unlistedFacts({ counts, projects, nearestId, nowMs }: ModelInput & Findings) {
  const facts = Array.from(counts.unlistedIds)
    .filter(([id, { lastMs }]) => nowMs - lastMs < DAY_MS && projects.find(id) === undefined)
    .map(([id, { refusedIn, lastMs, sample }]) => {
      const near = projects.find(nearestId(id, projects.all()));
      return {
        id,
        lastDay: refusedIn.lastDay(nowMs),
        lastHour: refusedIn.lastHour(nowMs),
        lastMs,
        origin: sample.origin,
        /** The listed project whose id was probably meant. */
        near: near && named(near),
        /** In the projects file, which is faulty. */
        isInFaultyFile: projects.fault?.idsInFile.has(id) === true,
      };
    });
  return facts.sort((a, b) => Number(!a.near) - Number(!b.near) || b.lastDay - a.lastDay);
}

const decoder = new TextDecoder();

function shownView({ atMs, project, fields }: AcceptedView, projects: Projects) {
  const { url } = JSON.parse(decoder.decode(fields)) as { url: string };
  const name = nameOf(projects.find(project)) ?? project;
  return { atMs, name, url: clip(url, URL_LENGTH_MAX) };
}
