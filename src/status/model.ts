// The contents of the status page, as values: one pure function of the counts and the current
// state. `words.ts`, `problem-words.ts` and the renderers word them.
import { clip } from '../base/text.ts';
import { DAY_MS, dayOf } from '../base/time.ts';
import type { Project, Projects } from '../projects/project-list.ts';
import { rowOf } from '../view/refusal.ts';
import type { AcceptedView } from './counts.ts';
import type { CollectorState } from './health.ts';
import type { FilesSeen } from './look-around.ts';
import type { Activity, Sample } from './reasons.ts';
import * as state from './state.ts';
import { diskFacts, isStream } from './store-facts.ts';
import { QUARTER_MS } from './timeline.ts';

export interface ModelInput extends CollectorState {
  /** Every listed project, from `judgeAll`. */
  readonly judged: readonly state.Judged[];
  readonly files: FilesSeen;
  readonly warnings: readonly string[];
}

/** The reader's request. */
export interface Asked {
  /** The ids of open rows. */
  readonly open: ReadonlySet<string>;
  /** Part of a name or an id. */
  readonly filter: string;
}

export type StatusModel = ReturnType<typeof modelOf>;
export type Row = ReturnType<typeof rowFacts>;
export type ReasonFacts = Row['reasons'][number];

const ROWS_MAX = 200;
const PROBLEMS_MAX = 10;
const UNLISTED_MAX = 20;
const NAME_LENGTH_MAX = 100;
const URL_LENGTH_MAX = 200;

export function modelOf(input: ModelInput, asked: Asked) {
  const { counts, projects, store, files, isStopping, warnings, nowMs } = input;
  const { startMs, sinceMs, total } = counts;
  const unlisted = unlistedFacts(input);
  const first = projects.all().find(({ active }) => active) ?? projects.all()[0];
  return {
    nowMs,
    startMs,
    sinceMs,
    isStopping,
    warnings,
    /** Why the projects file is not active, and since when. */
    projectsFault: projects.fault,
    unavailable: store.unavailable,
    unavailableSinceMs: store.unavailableSinceMs,
    disk: diskFacts(store, files, input.minFreeBytes),
    stream: isStream(store) ? store.stream : undefined,
    /** The names of files that should have been removed by now. */
    overdue: files.overdue,
    ...projectsFacts(input, asked),
    total: figuresOf(total, input),
    unlisted: unlisted.slice(0, UNLISTED_MAX),
    unlistedInAll: unlisted.length,
    latestAccepted: counts.latestAccepted.map((view) => shownView(view, projects)),
    latestRefused: counts.latestRefused.map((sample) => shownRefusal(sample, projects)),
    /** The project to begin with, for a collector that has never accepted a view. */
    firstSteps: total.lastAcceptedMs === undefined ? { project: first && named(first) } : undefined,
  };
}

function projectsFacts(input: ModelInput, { open, filter }: Asked) {
  const { counts, judged } = input;
  const requests = state.judgeRequests(counts, input);
  const problems = judged.filter(state.isProblem).sort(byRank);
  const others = judged.filter((one) => !state.isProblem(one));
  const found = [...problems, ...others].filter(({ project }) => matches(project, filter));
  const fixed = [...others, requests].filter((one) => !state.isProblem(one) && isFixedLately(one));
  const toRow = (one: state.Judged) => rowFacts(one, input, open);
  return {
    headline: headlineOf(input, problems, requests),
    /** Requests that failed before their project was known, if they are more than one in ten. */
    requests: state.isProblem(requests) ? toRow(requests) : undefined,
    /** The projects with problems, the worst first. */
    problems: problems.slice(0, PROBLEMS_MAX).map(toRow),
    problemsInAll: problems.length,
    /** Projects that had views refused in the last hour, and now have views accepted again. */
    fixed: fixed.slice(0, PROBLEMS_MAX).map(toRow),
    projectsActive: judged.filter(({ project }) => project.active).length,
    projectsArriving: judged.filter((one) => one.state === 'arriving').length,
    projectsListed: judged.length,
    projectsFound: found.length,
    projects: found.slice(0, ROWS_MAX).map(toRow),
  };
}

/** Red before amber, active projects before inactive ones, then by the number of lost views. */
const byRank = (a: state.Judged, b: state.Judged): number =>
  Number(b.state === 'refused') - Number(a.state === 'refused') ||
  Number(b.project.active) - Number(a.project.active) ||
  b.refused + b.acceptedYesterday - a.refused - a.acceptedYesterday;

const isFixedLately = ({ reasons }: Pick<state.Judged, 'reasons'>): boolean =>
  reasons.some(({ isFixed, lastHour }) => isFixed && lastHour > 0);

function headlineOf(
  { counts, projects, judged, store }: ModelInput,
  problems: readonly state.Judged[],
  requests: state.Judged,
) {
  if (store.unavailable !== undefined) return { kind: 'red', about: 'storage' } as const;
  if (problems[0]?.state === 'refused') return { kind: 'red', about: 'projects' } as const;
  if (projects.fault !== undefined) return { kind: 'amber', about: 'projects-file' } as const;
  if (problems.length > 0) return { kind: 'amber', about: 'projects' } as const;
  if (state.isProblem(requests)) return { kind: 'amber', about: 'requests' } as const;
  const isArriving = judged.some((one) => one.state === 'arriving');
  if (isArriving) return { kind: 'green', about: 'arriving' } as const;
  const isActive = judged.some(({ project }) => project.active);
  if (!isActive) return { kind: 'grey', about: 'no-active-project' } as const;
  const isNew = counts.total.lastAcceptedMs === undefined;
  return { kind: 'grey', about: isNew ? 'first-view' : 'quiet' } as const;
}

function named({ id, name, active, origins, maxViewsPerMinute }: Project) {
  const shown = name === undefined ? `Project ${id}` : clip(name, NAME_LENGTH_MAX);
  return { id, name: shown, active, origins, maxViewsPerMinute };
}

function nameOf(id: string, projects: Projects): string {
  const project = projects.find(id);
  return project === undefined ? id : named(project).name;
}

function rowFacts(judged: state.Judged, input: ModelInput, open: ReadonlySet<string>) {
  const { project, activity, reasons, ...rest } = judged;
  const { counts, projects, nowMs } = input;
  const starts = reasons.filter(state.isOpen).map(({ sinceMs }) => sinceMs);
  const isSilent = judged.state === 'silent';
  return {
    ...named(project),
    ...rest,
    /** Its views would be refused, because nothing can be stored. */
    isUnstored: project.active && input.store.unavailable !== undefined,
    sinceMs: isSilent ? activity.lastAcceptedMs : starts.sort((a, b) => a - b)[0],
    reasons: reasons.map((reason) => reasonFacts(reason, input)),
    figures: figuresOf(activity, input),
    /** The last 24 hours, oldest first; the newest is still running. */
    hours: activity.acceptedIn.hours(nowMs),
    refusedHours: activity.refusedIn?.hours(nowMs) ?? [],
    /** Only if the row is open. */
    latest: open.has(project.id)
      ? counts.latestAccepted
          .filter((view) => view.project === project.id)
          .map((view) => shownView(view, projects))
      : undefined,
  };
}

/**
 * Returns a reason with the days of files that have its refused views, if commands can read them
 * now.
 */
function reasonFacts(reason: state.JudgedReason, { projects, files }: ModelInput) {
  const { code, project } = reason.sample;
  // Commands that read refused views read the projects file, too.
  const canRead = rowOf(code).isStored && project !== undefined && projects.fault === undefined;
  const [from, to] = [dayOf(reason.sinceMs), dayOf(reason.lastMs)];
  const keptDays = files.refusedDays.filter((day) => canRead && day >= from && day <= to);
  return { ...reason, keptDays };
}

/** A filter finds part of a name, in any letter case, or part of an id. */
const matches = ({ id, name = '' }: Project, filter: string): boolean =>
  filter === '' || id.includes(filter) || name.toLowerCase().includes(filter.toLowerCase());

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

/** Unlisted ids that sent views in the last 24 hours, those with the most first. */
function unlistedFacts(input: ModelInput) {
  const { counts, projects, nowMs } = input;
  return Array.from(counts.unlistedIds)
    .filter(([id, { lastMs }]) => nowMs - lastMs < DAY_MS && projects.find(id) === undefined)
    .map(([id, reason]) => ({ id, reason: reasonFacts(state.judgeReason(reason, input), input) }))
    .sort((a, b) => b.reason.lastDay - a.reason.lastDay);
}

const decoder = new TextDecoder();

function shownView({ atMs, project, fields }: AcceptedView, projects: Projects) {
  const { url } = JSON.parse(decoder.decode(fields)) as { url: string };
  return { atMs, name: nameOf(project, projects), what: clip(url, URL_LENGTH_MAX) };
}

const shownRefusal = ({ atMs, code, project = '', origin, isCut }: Sample, projects: Projects) => {
  return { atMs, name: nameOf(project, projects), code, origin, isCut };
};
