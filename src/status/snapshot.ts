import { formatRoundedSize } from '../base/format.ts';
import type { Fact, Remedy } from '../base/description.ts';
import { clip } from '../base/text.ts';
import { HOUR_MS } from '../base/time.ts';
import { VERSION } from '../base/version.ts';
import { curlOf } from '../projects/curl.ts';
import type { Projects } from '../projects/project-list.ts';
import type { CollectorSource, Known } from './collector-source.ts';
import { daysAt } from './days.ts';
import { type Headline, headlineOf } from './headline.ts';
import { type Health, healthOf, isReady } from './health.ts';
import type { Numbered } from './last-few.ts';
import type { RefusedSample } from './refused-samples.ts';
import type { RefusalGroup } from './refusal-groups.ts';
import type { StoreState } from '../store/store.ts';
import { activationOf, reportOf, SITE, snippetOf, VIEWS_SITE } from './shell-commands.ts';
import { type ShownActivity, shownActivity, shownRest, viewsPerDay } from './shown-activity.ts';
import {
  NAME_LENGTH_MAX,
  rankedProjects,
  type ShownProject,
  shownProjects,
} from './shown-projects.ts';
import { nearestIds, type UnlistedId } from './unlisted-ids.ts';

/** All that the status page shows, as JSON. Each is whole: who missed some catches up with one. */
export interface Snapshot extends Health {
  /** Whether views are taken. */
  readonly ready: boolean;
  readonly headline: Headline;
  readonly version: string;
  readonly nowMs: number;
  /** When this process started, and what it has answered since. */
  readonly sinceMs: number;
  readonly accepted: number;
  readonly refused: number;
  /** How far back the counts go, and would at best. */
  readonly known: Known & { readonly wholeMs: number };
  readonly total: ShownActivity;
  readonly projects: readonly ShownProject[];
  readonly projectsLeftOut: number;
  /** What is of none of the listed projects. */
  readonly rest: ShownActivity;
  readonly beforeProject: readonly RefusalGroup[];
  readonly unlistedIds: readonly ShownUnlistedId[];
  readonly unlistedIdsLeftOut: number;
  /** For all of those, those that are left out too. */
  readonly unlistedLastHour: number;
  /** What to do where no view has come yet. */
  readonly firstSteps: readonly Step[];
  /** The command that makes the report. */
  readonly report?: string | undefined;
  /** Of where views go, for an operator; and what only a developer asks for. */
  readonly facts: readonly Fact[];
  /** No view can be stored. */
  readonly outage?: Outage | undefined;
  readonly details: readonly Fact[];
  readonly latestAccepted: readonly Numbered<ShownView>[];
  readonly latestRefused: readonly Numbered<ShownRefusal>[];
}

export interface Outage extends Partial<Remedy> {
  readonly sinceMs?: number | undefined;
}

/** Something to do, and its command. */
export interface Step {
  readonly text: string;
  readonly command: string;
}

export interface ShownUnlistedId extends UnlistedId {
  /** The active id that it was probably meant to be. */
  readonly nearest?: string;
  readonly nearestName?: string | undefined;
  readonly command: string;
}

export interface ShownView {
  readonly atMs: number;
  readonly project: string;
  /** The project's, where it is listed and has one. */
  readonly name?: string | undefined;
  readonly url: string;
  readonly text: string;
}

export interface ShownRefusal extends RefusedSample {
  readonly name?: string | undefined;
  /** Of a project that is not listed. */
  readonly isUnlisted?: boolean;
}

const UNLISTED_IDS_MAX = 20;
const TEXT_LENGTH_MAX = 1000;
const decoder = new TextDecoder();

/** A function that takes snapshots; it costs the collector nothing until it is called. */
export function snapshots(source: CollectorSource): () => Snapshot {
  const nearestId = nearestIds();
  return () => {
    const { counts, known } = source;
    const nowMs = source.now();
    const health = healthOf(source);
    const isOutage = source.store.state().unavailable !== undefined;
    const ranked = rankedProjects(source, nowMs, isOutage);
    const projects = shownProjects(ranked, source, nowMs);
    const total = shownActivity(counts.total, source, nowMs);
    const unlistedIds = shownUnlistedIds(source, nearestId, nowMs);
    const isBlank = known.isReading && known.sinceMs > nowMs - HOUR_MS;
    return {
      ready: isReady(health),
      headline: headlineOf({ health, projects: ranked, isBlank, refused: total.refusedLastHour }),
      ...health,
      version: VERSION,
      nowMs,
      sinceMs: counts.sinceMs,
      accepted: counts.total.accepted,
      refused: counts.total.refused,
      known: {
        sinceMs: known.sinceMs,
        isReading: known.isReading,
        durability: known.durability,
        wholeMs: daysAt(nowMs).yesterdayMs,
      },
      total,
      projects,
      projectsLeftOut: ranked.length - projects.length,
      rest: shownRest(source, nowMs),
      beforeProject: counts.beforeProject.list(nowMs),
      unlistedIds: unlistedIds.slice(0, UNLISTED_IDS_MAX),
      unlistedIdsLeftOut: Math.max(0, unlistedIds.length - UNLISTED_IDS_MAX),
      unlistedLastHour: unlistedIds.reduce((sum, { lastHour }) => sum + lastHour, 0),
      firstSteps: counts.total.lastAcceptedMs === undefined ? firstSteps(source) : [],
      report: reportOf(source.installation),
      ...factsOf(source, nowMs),
      latestAccepted: latestViews(source),
      latestRefused: latestRefusals(source),
    };
  };
}

/** Slips of the pen first: their mend is on the page that sends them. */
function shownUnlistedIds(
  { counts, projects, installation: { projectsPath, account } }: CollectorSource,
  nearestId: ReturnType<typeof nearestIds>,
  nowMs: number,
): ShownUnlistedId[] {
  const listed = projects.all();
  const ids = counts.unlistedIds
    .list((id) => projects.find(id) !== undefined, nowMs)
    .map((unlisted) => {
      const { id, origin } = unlisted;
      const command = activationOf(id, origin, projectsPath, account);
      const nearest = nearestId(id, listed);
      return Object.assign(unlisted, { nearest, nearestName: nameOf(nearest, projects), command });
    });
  return ids.sort((a, b) => Number(b.nearest !== '') - Number(a.nearest !== ''));
}

/** For the first project that there is, or for one that there might be. */
function firstSteps({ counts, projects, installation, known, url }: CollectorSource): Step[] {
  if (known.isReading) return [];
  const listed = projects.all();
  const project = listed.find(({ active }) => active) ?? listed[0];
  const id = project?.id ?? '1000001';
  const { projectsPath, account } = installation;
  const activation: Step = {
    text:
      project === undefined
        ? `Activate a project, under an id of your choice, with its address in place of ${SITE}`
        : 'Activate it',
    command: activationOf(id, project === undefined ? SITE : undefined, projectsPath, account),
  };
  return [
    ...(project?.active ? [] : [activation]),
    {
      text: `Print the script, with the address that browsers reach viewlog by in place of ${VIEWS_SITE}, and put it into its pages`,
      command: snippetOf(id, installation),
    },
    {
      text: 'Or try it from this machine; the view counts',
      // The same text each second, or it could not be selected.
      command: curlOf(project ?? { id, origins: [SITE] }, url(), counts.sinceMs),
    },
  ];
}

function factsOf(
  source: CollectorSource,
  nowMs: number,
): Pick<Snapshot, 'facts' | 'details' | 'outage'> {
  const { store, refused, queue, queueBytesMax, known } = source;
  const perDay = viewsPerDay(source, nowMs);
  const { facts, details = [], remedy } = store.describe(perDay, known.lineBytes);
  return {
    facts,
    outage: outageOf(store.state(), remedy),
    details: [
      ...details,
      ['Under way', `${formatRoundedSize(queue.bytes)} of ${formatRoundedSize(queueBytesMax)}`],
      ...refused.describe().facts,
    ],
  };
}

const outageOf = (
  { unavailable, unavailableSinceMs: sinceMs }: StoreState,
  remedy: Remedy | undefined,
): Outage | undefined => (unavailable === undefined ? undefined : { sinceMs, ...remedy });

const latestViews = ({ counts, projects }: CollectorSource): Numbered<ShownView>[] =>
  counts.latestAccepted.list().map(({ number, item: { atMs, project, fields } }) => {
    const whole = decoder.decode(fields);
    const { url } = JSON.parse(whole) as { url: string };
    const text = clip(whole, TEXT_LENGTH_MAX);
    const name = nameOf(project, projects);
    return { number, item: { atMs, project, name, url: clip(url, 200), text } };
  });

const latestRefusals = ({ counts, projects }: CollectorSource): Numbered<ShownRefusal>[] =>
  counts.latestRefused.list().map(({ number, item }) => {
    const { project } = item;
    const isUnlisted = project !== undefined && projects.find(project) === undefined;
    return { number, item: { ...item, name: nameOf(project, projects), isUnlisted } };
  });

function nameOf(id: string | undefined, projects: Projects): string | undefined {
  const name = id === undefined ? undefined : projects.find(id)?.name;
  return name === undefined ? undefined : clip(name, NAME_LENGTH_MAX);
}
