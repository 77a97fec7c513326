import type { Project } from '../projects/project-list.ts';
import type { Fact } from '../base/description.ts';
import { number, roundedSize } from '../base/readable.ts';
import { clip } from '../base/text.ts';
import { MINUTE_MS } from '../base/time.ts';
import { VERSION } from '../base/version.ts';
import { activationOf } from './activation.ts';
import { type Health, healthOf, isReady } from './health.ts';
import { nearestIds, type UnlistedId } from './unlisted-ids.ts';
import type { Numbered } from './last-few.ts';
import type { RefusalGroup } from './refusal-groups.ts';
import type { RefusedSample } from './refused-samples.ts';
import { SampleBudget } from './sample-budget.ts';
import type { CollectorSource } from './collector-source.ts';
import { type Activity, ProjectActivity, type Counts } from './counts.ts';

/** All that the status page shows, as JSON. Each is whole: who missed some catches up with one. */
export interface Snapshot extends Health {
  /** Whether views are taken. */
  readonly ready: boolean;
  readonly version: string;
  readonly nowMs: number;
  /** Since when is counted. */
  readonly sinceMs: number;
  readonly total: ShownActivity;
  readonly projects: readonly ShownProject[];
  readonly projectsLeftOut: number;
  readonly beforeProject: readonly RefusalGroup[];
  readonly unlistedIds: readonly ShownUnlistedId[];
  readonly unlistedIdsLeftOut: number;
  /** Of all projects together, and of where their views go. */
  readonly facts: readonly Fact[];
  readonly latestAccepted: readonly Numbered<ShownView>[];
  readonly latestRefused: readonly Numbered<RefusedSample>[];
}

export interface ShownActivity {
  readonly accepted: number;
  readonly refused: number;
  readonly lastAcceptedMs?: number | undefined;
  /** Views a minute, oldest first, the minute that still runs last; from the first that had any. */
  readonly acceptedByMinute: readonly number[];
  readonly refusedByMinute: readonly number[];
}

export interface ShownProject {
  readonly id: string;
  readonly name?: string | undefined;
  readonly active: boolean;
  readonly activity: ShownActivity;
  readonly refusals: readonly RefusalGroup[];
  /** For an inactive one. */
  readonly command?: string | undefined;
}

export interface ShownUnlistedId extends UnlistedId {
  /** The active id that it was probably meant to be. */
  readonly nearest?: string;
  readonly command: string;
}

export interface ShownView {
  readonly atMs: number;
  readonly project: string;
  readonly url: string;
  readonly text: string;
}

const PROJECTS_MAX = 200;
const UNLISTED_IDS_MAX = 20;
const TEXT_LENGTH_MAX = 1000;

/** A function that takes snapshots; it costs the collector nothing until it is called. */
export function snapshots(source: CollectorSource): () => Snapshot {
  const nearestId = nearestIds();
  return () => {
    const { counts, now, projects } = source;
    const health = healthOf(source);
    const nowMs = now();
    const listed = projects.all();
    const unlistedIds = counts.unlistedIds.list((id) => projects.find(id) !== undefined);
    return {
      ready: isReady(health),
      ...health,
      version: VERSION,
      nowMs,
      sinceMs: counts.sinceMs,
      total: activityOf(counts.total, nowMs),
      projects: shownProjects(source, nowMs),
      projectsLeftOut: Math.max(0, listed.length - PROJECTS_MAX),
      beforeProject: counts.beforeProject.list(),
      unlistedIds: unlistedIds
        .slice(0, UNLISTED_IDS_MAX)
        .map(({ id, count, lastMs, origin, code }) => ({
          id,
          count,
          lastMs,
          origin,
          code,
          nearest: nearestId(id, listed),
          command: activationOf(id, origin, source.projectsPath),
        })),
      unlistedIdsLeftOut: Math.max(0, unlistedIds.length - UNLISTED_IDS_MAX),
      facts: factsOf(source, nowMs),
      latestAccepted: latestViews(counts),
      latestRefused: counts.latestRefused.list(),
    };
  };
}

const SILENT = new ProjectActivity(new SampleBudget(0));

/** In the order of the file. Of more than can be shown, those that were heard of last. */
function shownProjects({ projects, counts, projectsPath }: CollectorSource, nowMs: number) {
  const all = projects.all();
  const lastOf = ({ id }: Project): number => counts.projects.get(id)?.lastAcceptedMs ?? 0;
  const shown =
    all.length <= PROJECTS_MAX
      ? all
      : all.toSorted((a, b) => lastOf(b) - lastOf(a)).slice(0, PROJECTS_MAX);
  return shown.map(({ id, name, active }): ShownProject => {
    const activity = counts.projects.get(id) ?? SILENT;
    return {
      id,
      name: name && clip(name, TEXT_LENGTH_MAX),
      active,
      activity: activityOf(activity, nowMs),
      refusals: activity.refusals.list(),
      command: active ? undefined : activationOf(id, undefined, projectsPath),
    };
  });
}

function activityOf(activity: Activity, nowMs: number): ShownActivity {
  const { accepted, refused, lastAcceptedMs, acceptedByMinute, refusedByMinute } = activity;
  return {
    accepted,
    refused,
    lastAcceptedMs,
    acceptedByMinute: accepted === 0 ? [] : fromFirst(acceptedByMinute.list(nowMs)),
    refusedByMinute: refused === 0 ? [] : fromFirst(refusedByMinute.list(nowMs)),
  };
}

function fromFirst(counts: readonly number[]): number[] {
  const first = counts.findIndex((count) => count > 0);
  return first < 0 ? [] : counts.slice(first);
}

function factsOf(source: CollectorSource, nowMs: number): Fact[] {
  const { counts, store, refused, queue, queueBytesMax } = source;
  return [
    // Of those before a restart only the store knows.
    ['Views today, since the start', number(counts.acceptedToday())],
    ...store.describe(viewsPerDay(counts, nowMs)).facts,
    ['Under way', `${roundedSize(queue.bytes)} of ${roundedSize(queueBytesMax)}`],
    ...refused.describe().facts,
  ];
}

/** At the rate of the last hour, as far as it was counted; `undefined` in the first minute. */
function viewsPerDay({ total, sinceMs }: Counts, nowMs: number): number | undefined {
  const hour = total.acceptedByMinute.list(nowMs).slice(-61, -1);
  const minutes = Math.min(hour.length, Math.floor((nowMs - sinceMs) / MINUTE_MS));
  if (minutes <= 0) return undefined;
  const views = hour.slice(hour.length - minutes).reduce((sum, count) => sum + count, 0);
  return (views / minutes) * 1440;
}

const latestViews = (counts: Counts): Numbered<ShownView>[] =>
  counts.latestAccepted.list().map(({ number, item: { atMs, project, fields } }) => {
    const { url } = JSON.parse(fields) as { url: string };
    const text = clip(fields, TEXT_LENGTH_MAX);
    return { number, item: { atMs, project, url: clip(url, 200), text } };
  });
