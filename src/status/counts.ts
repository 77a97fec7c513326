import type { RequestCounts } from '../collector/receive-view.ts';
import { clip } from '../base/text.ts';
import { DAY_MS } from '../base/time.ts';
import { type Refusal, type RefusalCode, REFUSALS } from '../view/refusal.ts';
import { keyOf, type Reason, refusedAgain, type Sample } from './reasons.ts';
import { Timeline } from './timeline.ts';

/** The latest accepted views and refusals that are stored for the page. */
export const LATEST_MAX = 20;
/** Anyone can choose origins and ids, so all of these are bounded. */
const ORIGINS_MAX = 8;
const REASONS_MAX = 2_000;
export const UNLISTED_IDS_MAX = 100;
const SAMPLE_TEXT_MAX = 1_000;
const SAMPLE_ORIGIN_MAX = 200;
const SAMPLE_ISSUES_MAX = 10;

/** Counts for one project, or for all requests together. */
export class Activity {
  /** Since the start of the process. */
  accepted = 0;
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
    this.refusedIn ??= new Timeline();
    this.refusedIn.add(nowMs);
  }
}

export interface AcceptedView {
  readonly atMs: number;
  readonly project: string;
  /** The view's fields, as JSON text in UTF-8. */
  readonly fields: Uint8Array;
}

interface CountsOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly isListed: (project: string) => boolean;
}

/**
 * Counts the collector's answers. Counts each view, and stores a bounded number of samples. Nothing
 * here may throw or take long: it is called for every view.
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
  readonly unlistedIds = new Map<string, Reason>();
  /** Newest first. */
  readonly latestAccepted: AcceptedView[] = [];
  readonly latestRefused: Sample[] = [];
  /** The reasons of all activities, the one with the oldest refusal first. */
  readonly #reasons = new Map<Reason, Activity>();
  readonly isListed: (project: string) => boolean;
  readonly #now: () => number;

  constructor({ now, isListed }: CountsOptions) {
    this.#now = now;
    this.isListed = isListed;
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
    this.refusedByCode[code] += 1;
    add(this.latestRefused, sample);
    // A scanner, the doctor, or a person with the address in a browser sends these; they are not
    // views.
    if (code === 'method-not-allowed' || code === 'not-found') return;
    this.total.refuse(atMs);
    if (project !== undefined && !this.isListed(project)) {
      this.#refusedUnlisted(project, sample);
      return;
    }
    const activity = project === undefined ? this.beforeProject : this.activityOf(project);
    activity.refuse(atMs);
    this.#dropOldReasons(atMs);
    const { reasons } = activity;
    const key = keyOf(sample);
    const isNew = !reasons.has(key);
    if (isNew && code === 'origin-not-allowed' && reasons.size >= ORIGINS_MAX) return;
    // The views of all projects show whether such requests succeed again.
    const { accepted } = project === undefined ? this.total : activity;
    this.keepReason(activity, refusedAgain(reasons.get(key), sample, accepted));
  }

  /** Requests answered since the start of the process, whether accepted or refused. */
  get received(): number {
    return Object.values(this.refusedByCode).reduce((sum, n) => sum + n, this.total.accepted);
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

  /** Refusals of ids that are listed by now become those of their projects. */
  adoptListed(): void {
    for (const [id, reason] of this.unlistedIds) {
      if (!this.isListed(id)) continue;
      this.unlistedIds.delete(id);
      const activity = this.activityOf(id);
      activity.refusedIn ??= new Timeline(reason.refusedIn.toJSON());
      if (!activity.reasons.has(keyOf(reason.sample))) this.keepReason(activity, reason);
    }
  }

  keepReason(activity: Activity, reason: Reason): void {
    activity.reasons.set(keyOf(reason.sample), reason);
    this.#reasons.delete(reason);
    this.#reasons.set(reason, activity);
  }

  /** Makes space for one more reason, and drops reasons without a refusal for a day. */
  #dropOldReasons(nowMs: number): void {
    for (const [reason, { reasons }] of this.#reasons) {
      if (this.#reasons.size < REASONS_MAX && nowMs - reason.lastMs < DAY_MS) return;
      this.#reasons.delete(reason);
      reasons.delete(keyOf(reason.sample));
    }
  }

  #refusedUnlisted(id: string, sample: Sample): void {
    const ids = this.unlistedIds;
    const accepted = this.projects.get(id)?.accepted ?? 0;
    const reason = refusedAgain(ids.get(id), sample, accepted);
    if (!ids.has(id) && ids.size >= UNLISTED_IDS_MAX) ids.delete(rarestOf(ids, sample.atMs));
    ids.set(id, reason);
  }
}

function add<T>(latest: T[], item: T): void {
  latest.unshift(item);
  if (latest.length > LATEST_MAX) latest.pop();
}

/** Returns the id with the fewest views in a day, so that made-up ids do not push out real ones. */
function rarestOf(ids: ReadonlyMap<string, Reason>, nowMs: number): string {
  const counts = Array.from(ids, ([id, { refusedIn }]) => [id, refusedIn.lastDay(nowMs)] as const);
  return counts.reduce((rarest, one) => (one[1] < rarest[1] ? one : rarest))[0];
}

function sampleOf(
  { code, detail, issues = [], project, bytes }: Refusal,
  origin: string | undefined,
  text: string | undefined,
  atMs: number,
): Sample {
  const isObject = text?.trimStart().startsWith('{') === true;
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
    isCut: code === 'malformed-json' && isObject && !text.trimEnd().endsWith('}'),
  });
  return JSON.parse(json) as Sample;
}
