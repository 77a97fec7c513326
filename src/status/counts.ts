import { MiB } from '../base/size.ts';
import { DAY_MS } from '../base/time.ts';
import { REFUSALS, type Refusal, type RefusalCode } from '../view/refusal.ts';
import type { Stats } from '../collector/stats.ts';
import { UnlistedIds } from './unlisted-ids.ts';
import { LastFew } from './last-few.ts';
import { Minutes } from './minutes.ts';
import { RefusalGroups } from './refusal-groups.ts';
import { type RefusedSample, sampleOf } from './refused-samples.ts';
import { SampleBudget } from './sample-budget.ts';

const LATEST_MAX = 20;
/** The last few beside, whose number is bounded, all samples take 16 MiB at most. */
const SAMPLES_BYTES_MAX = 15 * MiB;

/** What is counted of a project, and of all of them together. */
export class Activity {
  accepted = 0;
  refused = 0;
  lastAcceptedMs: number | undefined;
  readonly acceptedByMinute = new Minutes();
  readonly refusedByMinute = new Minutes();

  accept(nowMs: number): void {
    this.accepted += 1;
    this.lastAcceptedMs = nowMs;
    this.acceptedByMinute.add(nowMs);
  }

  refuse(nowMs: number): void {
    this.refused += 1;
    this.refusedByMinute.add(nowMs);
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
  /** The view's fields, as JSON text. */
  readonly fields: string;
}

interface CountsOptions {
  readonly now: () => number;
  readonly isListed: (project: string) => boolean;
  readonly samplesBytesMax?: number;
}

/**
 * Counts what the collector answers, since the start. Everything is counted, a bounded sample is
 * kept to show; nothing is written anywhere.
 */
export class Counts implements Stats {
  readonly sinceMs: number;
  readonly total = new Activity();
  readonly refusedByCode: Record<RefusalCode, number>;
  readonly projects = new Map<string, ProjectActivity>();
  readonly unlistedIds = new UnlistedIds();
  /** The memory for samples of refusals. */
  readonly samples: SampleBudget;
  /** Refused before a project was known. */
  readonly beforeProject: RefusalGroups;
  readonly latestAccepted = new LastFew<AcceptedSample>(LATEST_MAX);
  readonly latestRefused = new LastFew<RefusedSample>(LATEST_MAX);
  readonly #now: () => number;
  readonly #isListed: (project: string) => boolean;
  #day = 0;
  #acceptedOnDay = 0;

  constructor({ now, isListed, samplesBytesMax = SAMPLES_BYTES_MAX }: CountsOptions) {
    this.samples = new SampleBudget(samplesBytesMax);
    this.beforeProject = new RefusalGroups(this.samples);
    this.#now = now;
    this.#isListed = isListed;
    this.sinceMs = now();
    const codes = Object.keys(REFUSALS).map((code) => [code, 0]);
    this.refusedByCode = Object.fromEntries(codes) as Record<RefusalCode, number>;
  }

  accepted(project: string, fields: string): void {
    const atMs = this.#now();
    this.#turnTo(atMs);
    this.#acceptedOnDay += 1;
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
    if (project === undefined) return this.beforeProject.add(measured);
    if (!this.#isListed(project)) return this.unlistedIds.add(project, sample);
    const activity = this.#of(project);
    activity.refuse(atMs);
    activity.refusals.add(measured);
  }

  /** Of the UTC day, as far as this process has run in it. */
  acceptedToday(): number {
    this.#turnTo(this.#now());
    return this.#acceptedOnDay;
  }

  #turnTo(nowMs: number): void {
    const day = Math.floor(nowMs / DAY_MS);
    if (day === this.#day) return;
    this.#day = day;
    this.#acceptedOnDay = 0;
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
