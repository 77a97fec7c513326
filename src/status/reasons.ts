// Counts and refusals of projects: schemas, because both are saved unchanged.
import * as v from 'valibot';
import { clip } from '../base/text.ts';
import { projectEntry } from '../projects/projects-schema.ts';
import { DROPPED } from '../store/store.ts';
import { type RefusalCode, REFUSALS } from '../view/refusal.ts';
import { Timeline } from './timeline.ts';

const number = v.number();
const text = v.string();
// Doesn't check every number, because 40,000 projects have millions of them.
const periods = v.custom<number[]>(Array.isArray);
const timeline = v.pipe(
  v.object({ minutes: periods, quarters: periods }),
  v.transform((saved) => new Timeline(saved)),
);

/** One refused request. Each text from an unknown sender is cut to a bounded length. */
export type Sample = v.InferOutput<typeof sample>;
const sample = v.object({
  atMs: number,
  code: v.picklist(Object.keys(REFUSALS) as RefusalCode[]),
  project: v.optional(text),
  origin: v.optional(text),
  detail: text,
  issues: v.array(v.object({ field: text, message: text, expected: text, received: text })),
  /** How many faults the view has; `issues` has the first of them. */
  faults: number,
  /** The size, if known: of a body or line that is too large, or of the part that arrived. */
  bytes: v.optional(number),
  /** The project's limit of views per minute, if that is the reason. */
  limit: v.optional(number),
  /** The body, if it was read. */
  text: v.optional(text),
  /** True: the body is the beginning of an object, without its end. */
  isCut: v.boolean(),
});

/** Refusals with one code, and for a code in `BY_ORIGIN` from one origin. */
export type Reason = v.InferOutput<typeof reason>;
const reason = v.object({
  refusedIn: timeline,
  /** The part of them that ended before `sinceMs`. */
  endedIn: v.optional(timeline),
  /** When the refusals began: after their end or an hour without one. */
  sinceMs: number,
  lastMs: number,
  acceptedAtLastRefusal: number,
  /** When views were accepted instead, if that was noted; a refusal begins again. */
  endedMs: v.optional(number),
  sample,
  /** The latest samples of other faults, newest first: pages may have different ones. */
  others: v.optional(v.array(sample)),
  /**
   * Views that weren't stored although such views usually are, and why the latest wasn't. Only
   * earlier builds use `atMs`.
   */
  droppedIn: v.optional(timeline),
  dropped: v.optional(v.object({ atMs: number, why: v.picklist(DROPPED) })),
});

const ORIGIN_MAX = 200;
/** Anyone can choose an origin, so it is cut. */
export const cutOrigin = (origin: string): string => clip(origin, ORIGIN_MAX);

/**
 * The codes whose fix depends on the origin, so each origin is a reason of its own. The code alone
 * is the key for the origins beyond those that are counted one by one.
 */
export const BY_ORIGIN: ReadonlySet<string> = new Set<RefusalCode>([
  'origin-not-allowed',
  'project-not-activated',
]);

/** Returns a key that differs for each reason of a project. */
export function reasonKey(code: RefusalCode, origin = '', isCut = false): string {
  if (BY_ORIGIN.has(code)) return `${code} ${cutOrigin(origin)}`;
  // Counts all bodies that arrive cut off as one reason, whether they end too early or never end.
  return isCut ? 'request-timeout' : code;
}

/** A map that is saved as a list of its entries. */
export class SavedMap<V> extends Map<string, V> {
  toJSON(): [string, V][] {
    return [...this];
  }
}

const mapOf = <S extends v.GenericSchema>(value: S) =>
  v.pipe(
    v.array(v.tuple([text, value])),
    v.transform((entries) => new SavedMap(entries)),
  );

/** Counts for one project or for all requests together. */
export class Activity {
  accepted = 0;
  /** The part of them that earlier processes accepted. */
  acceptedEarlier = 0;
  refused = 0;
  /** The part of them that earlier processes refused. */
  refusedEarlier = 0;
  lastAcceptedMs: number | undefined;
  acceptedIn = new Timeline();
  /** Most projects have no refused views. */
  refusedIn: Timeline | undefined;
  reasons = new SavedMap<Reason>();

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
}

const activity = v.pipe(
  v.object({
    accepted: number,
    refused: number,
    lastAcceptedMs: v.optional(number),
    acceptedIn: timeline,
    refusedIn: v.optional(timeline),
    reasons: mapOf(reason),
  }),
  v.transform((saved) => {
    const earlier = { acceptedEarlier: saved.accepted, refusedEarlier: saved.refused };
    return Object.assign(new Activity(), saved, earlier);
  }),
);

export type RemovedEntry = v.InferOutput<typeof removedEntry>;
const removedEntry = v.object({
  ...projectEntry.entries,
  removedMs: number,
  operator: v.optional(text),
});

const openedEntry = v.object({ id: text, origins: v.array(text), openedMs: number });

/** The counts that are saved for later processes. */
export type SavedCounts = Omit<v.InferOutput<typeof savedCounts>, 'savedMs' | 'removed' | 'opened'>;
export const savedCounts = v.object({
  sinceMs: number,
  /** When they were saved; earlier builds didn't say. */
  savedMs: v.optional(number),
  /** The last entries of projects that are no longer listed. */
  removed: v.optional(v.array(removedEntry), []),
  /** The projects that have lost their origins. */
  opened: v.optional(v.array(openedEntry), []),
  /** Views. */
  total: activity,
  /** Accepted if their project was known, refused if they failed before that. */
  requests: activity,
  /** Counts by id, unlisted ids included. */
  projects: mapOf(activity),
});
