import { MiB } from '../base/size.ts';
import { REFUSALS, type Refusal, type RefusalCode } from '../view/refusal.ts';
import type { RequestCounts } from '../collector/request-counts.ts';
import { UnlistedIds } from './unlisted-ids.ts';
import { LastFew } from './last-few.ts';
import { RefusalGroups } from './refusal-groups.ts';
import { type MeasuredSample, type RefusedSample, sampleOf } from './refused-samples.ts';
import { SampleBudget } from './sample-budget.ts';
import { Timeline } from './timeline.ts';

/** Of those that are taken, and of those that are refused. */
export const LATEST_MAX = 20;
/** The last few beside, whose number is bounded, all samples take 16 MiB at most. */
const SAMPLES_BYTES_MAX = 15 * MiB;

/** What is counted of a project, and of all of them together. */
export class Activity {
  /** Since the start. */
  accepted = 0;
  refused = 0;
  lastAcceptedMs: number | undefined;
  readonly acceptedIn = new Timeline();
  /** Most projects never have any. */
  refusedIn: Timeline | undefined;

  accept(nowMs: number): void {
    this.accepted += 1;
    this.lastAcceptedMs = nowMs;
    this.acceptedIn.add(nowMs);
  }

  refuse(nowMs: number): void {
    this.refused += 1;
    this.refusedIn ??= new Timeline();
    this.refusedIn.add(nowMs);
  }

  acceptedEarlier(atMs: number, nowMs: number): void {
    this.lastAcceptedMs = Math.max(atMs, this.lastAcceptedMs ?? 0);
    this.acceptedIn.addEarlier(atMs, nowMs);
  }

  refusedEarlier(atMs: number, nowMs: number): void {
    this.refusedIn ??= new Timeline();
    this.refusedIn.addEarlier(atMs, nowMs);
  }
}

/** One project's; only ids that were listed when they were counted have one. */
export class ProjectActivity extends Activity {
  readonly refusals: RefusalGroups;

  constructor(samples: SampleBudget) {
    super();
    this.refusals = new RefusalGroups(samples);
  }
}

export interface AcceptedSample {
  readonly atMs: number;
  readonly project: string;
  /** The view's fields, as JSON text in UTF-8. */
  readonly fields: Uint8Array;
}

interface CountsOptions {
  readonly now: () => number;
  readonly isListed: (project: string) => boolean;
  readonly samplesBytesMax?: number;
}

/**
 * Counts what the collector answers, and what it is told of the time before its start. Everything
 * is counted, a bounded sample is kept to show; nothing is written anywhere.
 */
export class Counts implements RequestCounts {
  readonly sinceMs: number;
  readonly total = new Activity();
  readonly refusedByCode: Record<RefusalCode, number>;
  readonly projects = new Map<string, ProjectActivity>();
  /** Of ids that were not listed, and of none. */
  readonly unlisted = new Activity();
  readonly unlistedIds = new UnlistedIds();
  /** The memory for samples of refusals. */
  readonly samples: SampleBudget;
  /** Refused before a project was known. */
  readonly beforeProject: RefusalGroups;
  readonly latestAccepted = new LastFew<AcceptedSample>(LATEST_MAX);
  readonly latestRefused = new LastFew<RefusedSample>(LATEST_MAX);
  readonly #now: () => number;
  readonly #isListed: (project: string) => boolean;

  constructor({ now, isListed, samplesBytesMax = SAMPLES_BYTES_MAX }: CountsOptions) {
    this.samples = new SampleBudget(samplesBytesMax);
    this.beforeProject = new RefusalGroups(this.samples);
    this.#now = now;
    this.#isListed = isListed;
    this.sinceMs = now();
    const codes = Object.keys(REFUSALS).map((code) => [code, 0]);
    this.refusedByCode = Object.fromEntries(codes) as Record<RefusalCode, number>;
  }

  accepted(project: string, fields: Uint8Array): void {
    const atMs = this.#now();
    this.total.accept(atMs);
    this.#of(project).accept(atMs);
    this.latestAccepted.add({ atMs, project, fields });
  }

  refused(refusal: Refusal, origin: string | undefined, text?: string): void {
    const atMs = this.#now();
    const measured = sampleOf(refusal, origin, text, atMs);
    const { sample } = measured;
    // The sample's own: the refusal's may be a part of the whole body.
    const { code, project } = sample;
    this.total.refuse(atMs);
    this.refusedByCode[code] += 1;
    this.latestRefused.add(sample);
    this.#listed(project).refuse(atMs);
    this.#group(measured, atMs);
  }

  /**
   * Counts a view that was taken before the start; the newest come first.
   * @param fields as JSON text in UTF-8, asked for where it is shown.
   */
  acceptedEarlier(project: string, atMs: number, fields: () => Uint8Array): void {
    const nowMs = this.#now();
    this.total.acceptedEarlier(atMs, nowMs);
    this.#listed(project).acceptedEarlier(atMs, nowMs);
    if (this.latestAccepted.hasRoom) {
      this.latestAccepted.addEarlier({ atMs, project, fields: fields() });
    }
  }

  /** Counts a refusal of before the start; the newest come first. */
  refusedEarlier(refusal: Refusal, origin: string | undefined, text: string, atMs: number): void {
    const nowMs = this.#now();
    const measured = sampleOf(refusal, origin, text, atMs);
    const { sample } = measured;
    const { project } = sample;
    this.total.refusedEarlier(atMs, nowMs);
    if (this.latestRefused.hasRoom) this.latestRefused.addEarlier(sample);
    this.#listed(project).refusedEarlier(atMs, nowMs);
    this.#group(measured, nowMs);
  }

  #group(measured: MeasuredSample, nowMs: number): void {
    const { project } = measured.sample;
    if (project === undefined) this.beforeProject.add(measured, nowMs);
    else if (this.#isListed(project)) this.#of(project).refusals.add(measured, nowMs);
    else this.unlistedIds.add(project, measured.sample, nowMs);
  }

  #listed(project: string | undefined): Activity {
    return project !== undefined && this.#isListed(project) ? this.#of(project) : this.unlisted;
  }

  #of(project: string): ProjectActivity {
    let activity = this.projects.get(project);
    if (activity === undefined) {
      activity = new ProjectActivity(this.samples);
      // A copy: the view's own may be a part of the whole body, and keep that in memory.
      this.projects.set(Buffer.from(project).toString(), activity);
    }
    return activity;
  }
}
