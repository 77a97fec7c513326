import type { Project } from '../projects/project-list.ts';
import type { RefusalCode } from '../view/refusal.ts';
import type { StreamStoreState } from '../store/stream/stream-store.ts';
import type { ViewStoreState } from '../store/files/view-store.ts';
import { clip } from '../base/text.ts';
import { activationOf } from './activation.ts';
import { type Health, healthOf } from './health.ts';
import { nearestIds } from './unlisted-ids.ts';
import type { Numbered } from './last-few.ts';
import type { RefusalGroup, RefusedSample } from './refused-samples.ts';
import type { StatusSource } from './source.ts';
import { type Activity, ProjectActivity, type Tally } from './counts.ts';

/** All that the status page shows, as JSON. Each is whole: who missed some catches up with one. */
export interface Snapshot extends Health {
  readonly version: string;
  readonly nowMs: number;
  /** Since when is counted. */
  readonly sinceMs: number;
  readonly total: Counts;
  readonly projects: readonly ShownProject[];
  readonly projectsLeftOut: number;
  readonly strays: readonly RefusalGroup[];
  readonly knocks: readonly ShownKnock[];
  readonly knocksLeftOut: number;
  readonly storage: ShownStorage;
  readonly latestAccepted: readonly Numbered<ShownView>[];
  readonly latestRefused: readonly Numbered<RefusedSample>[];
}

export interface Counts {
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
  readonly activity: Counts;
  readonly refusals: readonly RefusalGroup[];
  /** For an inactive one. */
  readonly command?: string | undefined;
}

export interface ShownKnock {
  readonly id: string;
  readonly count: number;
  readonly lastMs: number;
  readonly origin?: string | undefined;
  readonly code: RefusalCode;
  /** The active id that it was probably meant to be. */
  readonly nearest?: string;
  readonly command: string;
}

export interface ShownStorage {
  readonly acceptedToday: number;
  readonly files?: ShownFiles;
  readonly stream?: StreamStoreState['stream'];
  readonly queueBytes: number;
  readonly queueBytesMax: number;
  readonly refusedKept: number;
}

export interface ShownFiles {
  readonly path?: string | undefined;
  readonly fileBytes: number;
  readonly freeBytes?: number | undefined;
  /** How long the free space lasts at the rate of the last hour. */
  readonly daysLeft?: number | undefined;
}

export interface ShownView {
  readonly atMs: number;
  readonly project: string;
  readonly url: string;
  readonly text: string;
}

const PROJECTS_MAX = 200;
const KNOCKS_MAX = 20;
const TEXT_LENGTH_MAX = 1000;

/** A function that takes snapshots; it costs the collector nothing until it is called. */
export function snapshots(source: StatusSource): () => Snapshot {
  const nearestId = nearestIds();
  return () => {
    const { tally, now, version, projects } = source;
    const nowMs = now();
    const listed = projects.all();
    const knocks = tally.knocks.list((id) => projects.find(id) !== undefined);
    return {
      ...healthOf(source),
      version,
      nowMs,
      sinceMs: tally.sinceMs,
      total: countsOf(tally.total, nowMs),
      projects: shownProjects(source, nowMs),
      projectsLeftOut: Math.max(0, listed.length - PROJECTS_MAX),
      strays: tally.strays.list(),
      knocks: knocks.slice(0, KNOCKS_MAX).map(({ id, count, latest }) => ({
        id,
        count,
        lastMs: latest.atMs,
        origin: latest.origin,
        code: latest.code,
        nearest: nearestId(id, listed),
        command: activationOf(id, latest.origin, source.projectsPath),
      })),
      knocksLeftOut: Math.max(0, knocks.length - KNOCKS_MAX),
      storage: storageOf(source, nowMs),
      latestAccepted: latestViews(tally),
      latestRefused: tally.latestRefused.list(),
    };
  };
}

const SILENT = new ProjectActivity();

/** In the order of the file. Of more than can be shown, those that were heard of last. */
function shownProjects({ projects, tally, projectsPath }: StatusSource, nowMs: number) {
  const all = projects.all();
  const lastOf = ({ id }: Project): number => tally.projects.get(id)?.lastAcceptedMs ?? 0;
  const shown =
    all.length <= PROJECTS_MAX
      ? all
      : all.toSorted((a, b) => lastOf(b) - lastOf(a)).slice(0, PROJECTS_MAX);
  return shown.map(({ id, name, active }): ShownProject => {
    const activity = tally.projects.get(id) ?? SILENT;
    return {
      id,
      name: name && clip(name, TEXT_LENGTH_MAX),
      active,
      activity: countsOf(activity, nowMs),
      refusals: activity.refusals.list(),
      command: active ? undefined : activationOf(id, undefined, projectsPath),
    };
  });
}

function countsOf(activity: Activity, nowMs: number): Counts {
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

function storageOf(source: StatusSource, nowMs: number): ShownStorage {
  const { tally, store, refused, queue, queueBytesMax } = source;
  const now = store.state();
  return {
    acceptedToday: tally.acceptedToday(),
    ...('stream' in now ? { stream: now.stream } : { files: filesOf(now, source, nowMs) }),
    queueBytes: queue.bytes,
    queueBytesMax,
    refusedKept: refused.state().keptLines,
  };
}

function filesOf(
  { path, fileBytes, freeBytes, lines, bytes }: ViewStoreState,
  { tally, minFreeBytes }: StatusSource,
  nowMs: number,
): ShownFiles {
  const hour = tally.total.acceptedByMinute.list(nowMs).slice(-61, -1);
  const minutes = Math.min(hour.length, Math.floor((nowMs - tally.sinceMs) / 60_000));
  const views = hour.slice(hour.length - minutes).reduce((sum, count) => sum + count, 0);
  const bytesPerDay = lines === 0 ? 0 : (views / minutes) * 1440 * (bytes / lines);
  const daysLeft =
    freeBytes !== undefined && bytesPerDay > 0
      ? Math.max(0, freeBytes - minFreeBytes) / bytesPerDay
      : undefined;
  return { path, fileBytes, freeBytes, daysLeft };
}

const latestViews = (tally: Tally): Numbered<ShownView>[] =>
  tally.latestAccepted.list().map(({ number, item: { atMs, project, fields } }) => {
    const { url } = JSON.parse(fields) as { url: string };
    const text = clip(fields, TEXT_LENGTH_MAX);
    return { number, item: { atMs, project, url: clip(url, 200), text } };
  });
