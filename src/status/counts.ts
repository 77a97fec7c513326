import type { RequestCounts } from '../collector/take-view.ts';
import { clip } from '../base/text.ts';
import { HOUR_MS } from '../base/time.ts';
import { type Issue, type Refusal, type RefusalCode, REFUSALS } from '../view/refusal.ts';
import { Timeline } from './timeline.ts';

/** The latest accepted views and refusals that are kept to be shown. */
export const LATEST_MAX = 20;
/** Strangers choose origins and ids, so all of these are bounded. */
const ORIGINS_MAX = 8;
const REASONS_MAX = 2_000;
const UNLISTED_IDS_MAX = 100;
const SAMPLE_TEXT_MAX = 1_000;
const SAMPLE_ORIGIN_MAX = 200;
const SAMPLE_ISSUES_MAX = 10;

/** One refused request, with everything that strangers sent cut to a bounded length. */
export interface Sample {
  readonly atMs: number;
  readonly code: RefusalCode;
  readonly project?: string | undefined;
  readonly origin?: string | undefined;
  readonly detail: string;
  readonly issues: readonly Issue[];
  /** The size of the body or line that is too large, if it is known. */
  readonly bytes?: number | undefined;
  /** The body, if it was read. */
  readonly text?: string | undefined;
}

/** Refusals with one code, and for `origin-not-allowed` from one origin. */
export interface Reason {
  readonly refusedIn: Timeline;
  /** When the refusals began, after at least an hour without one. */
  sinceMs: number;
  lastMs: number;
  /** The accepted views at that time: of the project, or of all if it was not known. */
  acceptedThen: number;
  sample: Sample;
}

/** What is counted for one project, for views of unlisted ids, and for all requests together. */
export class Activity {
  /** Since the start of the process. */
  accepted = 0;
  refused = 0;
  lastAcceptedMs: number | undefined;
  acceptedIn = new Timeline();
  /** Most projects have no refused views. */
  refusedIn: Timeline | undefined;
  readonly reasons = new Map<string, Reason>();

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

  toJSON(): object {
    const { accepted, lastAcceptedMs, acceptedIn, refusedIn, reasons } = this;
    return { accepted, lastAcceptedMs, acceptedIn, refusedIn, reasons: [...reasons] };
  }
}

export interface UnlistedId {
  readonly refusedIn: Timeline;
  lastMs: number;
  origin: string | undefined;
}

export interface AcceptedView {
  readonly atMs: number;
  readonly project: string;
  /** The view's fields, as JSON text in UTF-8. */
  readonly fields: Uint8Array;
}

export interface CountsOptions {
  readonly now: () => number;
  readonly isListed: (project: string) => boolean;
}

/**
 * Counts what the collector answers. Each view is counted, and a bounded number of samples is kept.
 * Nothing here may throw or take long: it is called for every view.
 */
export class Counts implements RequestCounts {
  /** When this process began to count. */
  readonly startMs: number;
  /** When counting began; earlier than `startMs` if counts were restored. */
  sinceMs: number;
  readonly total = new Activity();
  readonly refusedByCode: Record<RefusalCode, number>;
  /** Only projects that were listed when a view of theirs was counted. */
  readonly projects = new Map<string, Activity>();
  /** Requests that were refused before their project was known. */
  readonly beforeProject = new Activity();
  readonly unlistedIds = new Map<string, UnlistedId>();
  /** Newest first. */
  readonly latestAccepted: AcceptedView[] = [];
  readonly latestRefused: Sample[] = [];
  /** Every reason and the map that holds it, the one with the oldest refusal first. */
  readonly #reasons = new Map<Reason, [holder: Map<string, Reason>, key: string]>();
  readonly #now: () => number;
  readonly #isListed: (project: string) => boolean;

  constructor({ now, isListed }: CountsOptions) {
    this.#now = now;
    this.#isListed = isListed;
    this.startMs = now();
    this.sinceMs = this.startMs;
    const codes = Object.keys(REFUSALS).map((code) => [code, 0]);
    this.refusedByCode = Object.fromEntries(codes) as Record<RefusalCode, number>;
  }

  accepted(project: string, fields: Uint8Array): void {
    const atMs = this.#now();
    this.total.accept(atMs);
    this.activityOf(project).accept(atMs);
    add(this.latestAccepted, { atMs, project, fields });
  }

  refused(refusal: Refusal, origin: string | undefined, text?: string): void {
    const sample = sampleOf(refusal, origin, text, this.#now());
    const { atMs, code, project } = sample;
    this.total.refuse(atMs);
    this.refusedByCode[code] += 1;
    add(this.latestRefused, sample);
    if (project !== undefined && !this.#isListed(project)) {
      this.#addUnlisted(project, sample);
      return;
    }
    const activity = project === undefined ? this.beforeProject : this.activityOf(project);
    activity.refuse(atMs);
    // Whether such requests succeed again shows in the views of all projects.
    const { accepted } = project === undefined ? this.total : activity;
    this.#addReason(activity, sample, accepted);
  }

  activityOf(project: string): Activity {
    let activity = this.projects.get(project);
    if (activity === undefined) {
      activity = new Activity();
      // A copy, because the view's own string may be a slice that keeps its whole body in memory.
      this.projects.set(Buffer.from(project).toString(), activity);
    }
    return activity;
  }

  /** Adds a reason; if there are too many, drops the one that was refused for the longest ago. */
  holdReason({ reasons }: Activity, key: string, reason: Reason): void {
    reasons.set(key, reason);
    this.#reasons.delete(reason);
    this.#reasons.set(reason, [reasons, key]);
    if (this.#reasons.size <= REASONS_MAX) return;
    const [oldest, [holder, itsKey]] = this.#reasons.entries().next().value!;
    this.#reasons.delete(oldest);
    holder.delete(itsKey);
  }

  /** Drops reasons whose latest refusal is older. */
  forgetReasonsBefore(ms: number): void {
    for (const [reason, [holder, key]] of this.#reasons) {
      if (reason.lastMs >= ms) return;
      this.#reasons.delete(reason);
      holder.delete(key);
    }
  }

  #addReason(activity: Activity, sample: Sample, accepted: number): void {
    const { atMs, code, origin } = sample;
    const { reasons } = activity;
    const isByOrigin = code === 'origin-not-allowed';
    const key = isByOrigin ? `${code} ${origin ?? ''}` : code;
    const seen = reasons.get(key);
    if (seen === undefined) {
      if (isByOrigin && reasons.size >= ORIGINS_MAX) return;
      const refusedIn = new Timeline();
      refusedIn.add(atMs);
      const reason = { refusedIn, sinceMs: atMs, lastMs: atMs, acceptedThen: accepted, sample };
      this.holdReason(activity, key, reason);
      return;
    }
    if (atMs - seen.lastMs >= HOUR_MS) seen.sinceMs = atMs;
    seen.refusedIn.add(atMs);
    Object.assign(seen, { lastMs: atMs, acceptedThen: accepted, sample });
    this.holdReason(activity, key, seen);
  }

  #addUnlisted(id: string, { atMs, origin }: Sample): void {
    const ids = this.unlistedIds;
    const seen = ids.get(id) ?? { refusedIn: new Timeline(), lastMs: atMs, origin };
    seen.refusedIn.add(atMs);
    Object.assign(seen, { lastMs: atMs, origin });
    if (!ids.has(id) && ids.size >= UNLISTED_IDS_MAX) ids.delete(rarestOf(ids, atMs));
    ids.set(id, seen);
  }
}

function add<T>(latest: T[], item: T): void {
  latest.unshift(item);
  if (latest.length > LATEST_MAX) latest.pop();
}

/** Returns the id with the fewest views in a day, so that made-up ids do not push out real ones. */
function rarestOf(ids: ReadonlyMap<string, UnlistedId>, nowMs: number): string {
  let rarest = '';
  let fewest = Infinity;
  for (const [id, { refusedIn }] of ids) {
    const count = refusedIn.lastDay(nowMs);
    if (count < fewest) [rarest, fewest] = [id, count];
  }
  return rarest;
}

function sampleOf(
  { code, detail, issues = [], project, bytes }: Refusal,
  origin: string | undefined,
  text: string | undefined,
  atMs: number,
): Sample {
  // Written and parsed again, because engines make a part of a string a slice of the whole: a few
  // words of each sample would keep its whole body in memory.
  const json = JSON.stringify({
    atMs,
    code,
    project,
    origin: origin && clip(origin, SAMPLE_ORIGIN_MAX),
    detail: clip(detail, SAMPLE_TEXT_MAX),
    issues: issues.slice(0, SAMPLE_ISSUES_MAX),
    bytes,
    text: text && clip(text, SAMPLE_TEXT_MAX),
  });
  return JSON.parse(json) as Sample;
}
