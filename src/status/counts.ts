import type { RequestCounts } from '../collector/receive-view.ts';
import { clip } from '../base/text.ts';
import { DAY_MS, HOUR_MS } from '../base/time.ts';
import type { Dropped } from '../store/store.ts';
import { isCutOff } from '../view/read-view.ts';
import { type Refusal, type RefusalCode, REFUSALS } from '../view/refusal.ts';
import {
  Activity,
  BY_ORIGIN,
  cutOrigin,
  type Reason,
  reasonKey,
  SavedMap,
  type Sample,
  type SavedCounts,
} from './reasons.ts';
import { Timeline } from './timeline.ts';

/** The latest accepted views and refusals that are stored for the page. */
export const LATEST_MAX = 20;
/** Anyone can choose origins and ids, so all of these are bounded. */
const ORIGINS_MAX = 8;
const REASONS_MAX = 2_000;
const UNLISTED_IDS_MAX = 100;
const SAMPLE_TEXT_MAX = 1_000;
const SAMPLE_ISSUES_MAX = 10;
/** How many other faults of a reason are stored, besides the latest. */
export const OTHERS_MAX = 3;

/**
 * Counts the collector's answers. Counts each view and stores a bounded number of samples. Nothing
 * here may throw or take long: it is called for every view.
 */
export class Counts implements RequestCounts, SavedCounts {
  /** When this process began to count. */
  readonly startMs: number;
  /** When counting began; earlier than `startMs` if counts were restored. */
  sinceMs: number;
  total = new Activity();
  requests = new Activity();
  projects: SavedCounts['projects'] = new SavedMap();
  /** Since the start of the process. */
  readonly refusedByCode = Object.fromEntries(
    Object.keys(REFUSALS).map((code) => [code, 0]),
  ) as Record<RefusalCode, number>;
  /** Newest first; `fields` are the view's, as JSON text in UTF-8. */
  readonly latestAccepted: { atMs: number; project: string; fields: Uint8Array }[] = [];
  readonly latestRefused: Sample[] = [];
  /** The reasons of all activities, the one with the oldest refusal first. */
  readonly #reasons = new Map<Reason, Activity>();
  /** The ids of `projects` that weren't listed when they were first counted. */
  readonly #unlisted = new Set<string>();
  readonly #isListed: (project: string) => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;

  /** @param now milliseconds since the epoch. */
  constructor(now: () => number, isListed: (project: string) => boolean) {
    this.now = now;
    this.#isListed = isListed;
    this.startMs = now();
    this.sinceMs = this.startMs;
  }

  /** Continues from what earlier processes counted; to be called before the first request. */
  restore(saved: SavedCounts): void {
    // The clock may have been set back since.
    Object.assign(this, saved, { sinceMs: Math.min(saved.sinceMs, this.startMs) });
    for (const id of this.projects.keys()) if (!this.#isListed(id)) this.#unlisted.add(id);
    for (const activity of [this.requests, ...this.projects.values()]) {
      for (const reason of activity.reasons.values()) this.#reasons.set(reason, activity);
    }
  }

  accepted(project: string, fields: Uint8Array): void {
    const atMs = this.now();
    this.total.accept(atMs);
    this.requests.accept(atMs);
    this.activityOf(project).accept(atMs);
    add(this.latestAccepted, { atMs, project, fields });
  }

  refused(refusal: Refusal, origin: string | undefined, text?: string): (why: Dropped) => void {
    const sample = sampleOf(refusal, origin, text, this.now());
    const { code } = sample;
    this.refusedByCode[code] += 1;
    add(this.latestRefused, sample);
    if (isStray(sample)) return () => {};
    return this.#refusedBy(sample);
  }

  /** Counts a view that an earlier process refused without saving the count. */
  refusedEarlier(refusal: Refusal, origin: string | undefined, text: string, atMs: number): void {
    const sample = sampleOf(refusal, origin, text, atMs);
    this.#refusedBy(sample);
    if (sample.project !== undefined) this.activityOf(sample.project).refusedEarlier += 1;
  }

  #refusedBy(sample: Sample): (why: Dropped) => void {
    const { atMs, project } = sample;
    this.total.refuse(atMs);
    if (project === undefined) return this.#refusedFor(this.requests, sample);
    this.requests.accept(atMs);
    return this.#refusedFor(this.activityOf(project), sample);
  }

  refusedAgain({ code }: Refusal): void {
    this.refusedByCode[code] += 1;
  }

  /** Requests answered since the start of the process, whether accepted or refused. */
  get received(): number {
    const { accepted, acceptedEarlier } = this.total;
    const refused = Object.values(this.refusedByCode).reduce((sum, n) => sum + n, 0);
    return accepted - acceptedEarlier + refused;
  }

  /** Returns how many requests were refused with this code in the last 24 hours. */
  refusedLastDay(code: RefusalCode, nowMs: number): number {
    const those = [...this.#reasons.keys()].filter(({ sample }) => sample.code === code);
    return those.reduce((sum, { refusedIn }) => sum + refusedIn.lastDay(nowMs), 0);
  }

  /** Returns whether views of this project were accepted in the last 24 hours. */
  readonly isSending = (project: string): boolean =>
    (this.projects.get(project)?.acceptedIn.lastDay(this.now()) ?? 0) > 0;

  activityOf(project: string): Activity {
    let activity = this.projects.get(project);
    if (activity === undefined) {
      activity = new Activity();
      // A copy, because the view's own string may be a slice that keeps its whole body in memory.
      const id = Buffer.from(project).toString();
      if (!this.#isListed(id)) this.#addUnlisted(id);
      this.projects.set(id, activity);
    }
    return activity;
  }

  /**
   * Adds an unlisted id. If there are too many, drops the one with the fewest refused views, so
   * that made-up ids don't displace real ones.
   */
  #addUnlisted(added: string): void {
    const ids = this.#unlisted;
    for (const id of ids) if (this.#isListed(id)) ids.delete(id);
    if (ids.size >= UNLISTED_IDS_MAX) {
      // Reasons are dropped a day after their last refusal.
      const refused = (id: string): number => {
        const { reasons, refused: views } = this.activityOf(id);
        return reasons.size === 0 ? 0 : views;
      };
      const rarest = [...ids].reduce((least, id) => (refused(id) < refused(least) ? id : least));
      for (const reason of this.activityOf(rarest).reasons.values()) this.#reasons.delete(reason);
      this.projects.delete(rarest);
      ids.delete(rarest);
    }
    ids.add(added);
  }

  #refusedFor(activity: Activity, sample: Sample): (why: Dropped) => void {
    const { atMs, code, origin, isCut } = sample;
    activity.refuse(atMs);
    // Makes space and drops reasons without a refusal for a day.
    for (const [reason, { reasons }] of this.#reasons) {
      if (this.#reasons.size < REASONS_MAX && atMs - reason.lastMs < DAY_MS) break;
      this.#reasons.delete(reason);
      for (const [key, one] of reasons) if (one === reason) reasons.delete(key);
    }
    const { reasons } = activity;
    const exactKey = reasonKey(code, origin, isCut);
    const hasOrigin = BY_ORIGIN.has(code) && origin !== undefined;
    const isOneMore = hasOrigin && reasons.size >= ORIGINS_MAX;
    // Origins beyond the limit are counted together, with the latest one as the sample.
    const key = isOneMore && !reasons.has(exactKey) ? code : exactKey;
    const seen = reasons.get(key);
    const { refusedIn, sinceMs, lastMs } = seen ?? {
      refusedIn: new Timeline(),
      sinceMs: atMs,
      lastMs: atMs,
    };
    const endedIn = seen?.endedMs === undefined ? seen?.endedIn : refusedIn.copy();
    refusedIn.add(atMs);
    const reason: Reason = {
      ...seen,
      refusedIn,
      endedIn,
      sinceMs: atMs - lastMs < HOUR_MS && seen?.endedMs === undefined ? sinceMs : atMs,
      lastMs: atMs,
      acceptedAtLastRefusal: activity.accepted,
      endedMs: undefined,
      sample,
      ...(seen && { others: othersOf(seen, sample) }),
    };
    reasons.set(key, reason);
    if (seen) this.#reasons.delete(seen);
    this.#reasons.set(reason, activity);
    // The caller may learn only later that the view won't be stored, after more refusals.
    return (why) => {
      const latest = reasons.get(key) ?? reason;
      latest.droppedIn ??= new Timeline();
      latest.droppedIn.add(atMs);
      latest.dropped = { atMs, why };
    };
  }
}

const STRAY: ReadonlySet<RefusalCode> = new Set(['not-found', 'method-not-allowed']);

/**
 * Returns whether a scanner, or a person with the address in a browser, sent this request. A
 * request with an Origin comes from a page's script: its view went to a wrong path or was
 * redirected.
 */
export const isStray = ({ code, origin }: Pick<Sample, 'code' | 'origin'>): boolean =>
  origin === undefined && STRAY.has(code);

function add<T>(latest: T[], item: T): void {
  latest.unshift(item);
  if (latest.length > LATEST_MAX) latest.pop();
}

/** Returns the latest samples of faults that differ from the newest one's. */
function othersOf({ sample, others = [] }: Reason, newest: Sample): Sample[] {
  const fault = faultOf(newest);
  if (faultOf(sample) === fault) return others;
  return [sample, ...others.filter((one) => faultOf(one) !== fault)].slice(0, OTHERS_MAX);
}

/** Returns a text that differs for each fault of a page. For other codes, one sample is enough. */
function faultOf({ code, isCut, origin, detail, issues }: Sample): string {
  if (issues.length > 0) return issues.map(({ field, message }) => `${field} ${message}`).join();
  // The detail names a place, which says nothing about the fault; an empty body has none.
  if (code === 'malformed-json') return isCut ? '' : `${origin} ${/is empty/.test(detail)}`;
  return OF_PAGES.has(code) ? `${origin} ${detail}` : '';
}

const OF_PAGES: ReadonlySet<RefusalCode> = new Set([...STRAY, 'unsupported-media-type']);

export function sampleOf(
  refusal: Refusal,
  origin: string | undefined,
  text: string | undefined,
  atMs: number,
): Sample {
  const { code, detail, issues = [] } = refusal;
  const isCut = code === 'malformed-json' && text !== undefined && isCutOff(text);
  // Written and parsed again, because engines make a part of a string a slice of the whole: a few
  // words of each sample would keep its whole body in memory.
  const json = JSON.stringify({
    ...refusal,
    atMs,
    origin: origin && cutOrigin(origin),
    detail: clip(detail, SAMPLE_TEXT_MAX),
    issues: issues.slice(0, SAMPLE_ISSUES_MAX),
    faults: issues.length,
    text: text && clip(text, SAMPLE_TEXT_MAX),
    isCut,
    ...(isCut && { bytes: Buffer.byteLength(text) }),
  });
  return JSON.parse(json) as Sample;
}
