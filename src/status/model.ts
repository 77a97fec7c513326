// The contents of the status page, as values: one pure function of the counts and the current
// state. `words.ts`, `problem-words.ts` and the renderers word them.
import { clip } from '../base/text.ts';
import { DAY_MS, dayOf } from '../base/time.ts';
import type { Project, Projects } from '../projects/project-list.ts';
import { REFUSALS } from '../view/refusal.ts';
import type { AcceptedView } from './counts.ts';
import { type CollectorState, isStream } from './health.ts';
import { type FilesSeen, spaceOf } from './look-around.ts';
import type { Activity, Sample } from './reasons.ts';
import * as state from './state.ts';
import { QUARTER_MS } from './timeline.ts';

interface ModelInput extends CollectorState {
  /** Every listed project, from `judgeListed`. */
  readonly judged: readonly state.Judged[];
  readonly files: FilesSeen;
  readonly warnings: readonly string[];
}

export type StatusModel = ReturnType<typeof modelOf>;
export type Row = ReturnType<typeof rowFacts>;
export type ReasonFacts = Row['reasons'][number];

const ROWS_MAX = 200;
const PROBLEMS_MAX = 10;
const UNLISTED_MAX = 20;
const URL_LENGTH_MAX = 200;

/** @param filter part of the names or ids of the projects to be listed. */
export function modelOf(input: ModelInput, filter: string) {
  const { counts, projects, store, files, isStopping, warnings, nowMs, judged } = input;
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
    stream: isStream(store) ? store.stream : undefined,
    /** `undefined` if views go to a stream. */
    disk: isStream(store)
      ? undefined
      : {
          path: store.path,
          fileBytes: store.fileBytes,
          ...spaceOf(store.freeBytes, input.minFreeBytes, files),
        },
    /** The names of files that should have been removed by now. */
    overdue: files.overdue,
    ...rowsOf(input, filter),
    projectsActive: judged.filter(({ project }) => project.active).length,
    projectsArriving: judged.filter((one) => one.state === 'arriving').length,
    projectsListed: judged.length,
    total: figuresOf(total, input),
    unlisted: unlisted.slice(0, UNLISTED_MAX),
    unlistedInAll: unlisted.length,
    latestAccepted: counts.latestAccepted.map((view) => shownView(view, projects)),
    latestRefused: counts.latestRefused.map((sample) => shownRefusal(sample, projects)),
    /** The project to begin with. */
    first: first && named(first),
  };
}

/** Returns the rows with problems, the worst first, and the rows of the projects asked for. */
function rowsOf(input: ModelInput, filter: string) {
  const { counts, judged } = input;
  const requests = state.judge(state.REQUESTS, counts.requests(), input);
  const problems = [...judged, requests].filter(kindOf).sort(byRank);
  const others = judged.filter((one) => kindOf(one) === undefined);
  const found = [...problems, ...others].filter(
    (one) => one !== requests && matches(one.project, filter),
  );
  const toRow = (one: state.Judged) => rowFacts(one, input);
  return {
    /** Projects, and the requests that name none, with problems or with problems that are fixed. */
    problems: problems.slice(0, PROBLEMS_MAX).map(toRow),
    /** Without those that are fixed. */
    problemsInAll: problems.filter((one) => kindOf(one) !== 'green').length,
    projectsFound: found.length,
    projects: found.slice(0, ROWS_MAX).map(toRow),
  };
}

const KINDS = ['red', 'amber', 'green'] as const;

/** Returns how bad a problem is; green if it is fixed, `undefined` if there is none. */
function kindOf(judged: state.Judged) {
  const { project, state: is, refused, reasons } = judged;
  if (is === 'refused' && project.id !== '') return 'red';
  if (is === 'silent' || state.isRefused(judged)) return 'amber';
  const isFixed = refused === 0 && reasons.some(({ lastHour }) => lastHour > 0);
  return isFixed ? 'green' : undefined;
}

/** Red before amber, active projects before inactive ones, then by the number of lost views. */
const byRank = (a: state.Judged, b: state.Judged): number =>
  KINDS.indexOf(kindOf(a)!) - KINDS.indexOf(kindOf(b)!) ||
  Number(b.active) - Number(a.active) ||
  b.refused + b.acceptedYesterday - a.refused - a.acceptedYesterday;

const named = ({ id, name = `Project ${id}`, active, origins }: Project) => {
  return { id, name, active, origins };
};

const nameOf = (id: string, projects: Projects): string => {
  const project = projects.find(id);
  return project === undefined ? id : named(project).name;
};

function rowFacts(judged: state.Judged, input: ModelInput) {
  const { project, activity, reasons, ...rest } = judged;
  const { nowMs } = input;
  const begun = reasons.filter(state.isOpen).map(({ sinceMs }) => sinceMs);
  const fixed = reasons.map(({ fixedMs = 0 }) => fixedMs);
  const refusedMs = begun.length > 0 ? Math.min(...begun) : Math.max(0, ...fixed);
  return {
    ...rest,
    ...named(project),
    kind: kindOf(judged),
    /** Since when views are missing or refused, or accepted again. */
    sinceMs: judged.state === 'silent' ? activity.lastAcceptedMs : refusedMs,
    reasons: reasons.map((reason) => reasonFacts(reason, input)),
    figures: figuresOf(activity, input),
    /** The last 24 hours, oldest first; the newest is still running. */
    hours: activity.acceptedIn.hours(nowMs),
    refusedHours: activity.refusedIn?.hours(nowMs) ?? [],
  };
}

function reasonFacts(reason: state.JudgedReason, { projects, files }: ModelInput) {
  const { code, project } = reason.sample;
  // Commands that read refused views read the projects file, too.
  const canRead = REFUSALS[code].isStored && project !== undefined && projects.fault === undefined;
  const [from, to] = [dayOf(reason.sinceMs), dayOf(reason.lastMs)];
  return {
    ...reason,
    /** The days of files that have its refused views, if commands can read them now. */
    keptDays: files.refusedDays.filter((day) => canRead && day >= from && day <= to),
  };
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
  return { atMs, project, name: nameOf(project, projects), what: clip(url, URL_LENGTH_MAX) };
}

const shownRefusal = ({ atMs, code, project = '', origin, isCut }: Sample, projects: Projects) => {
  return { atMs, project, name: nameOf(project, projects), code, origin, isCut };
};
