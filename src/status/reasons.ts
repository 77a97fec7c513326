// Why requests are refused: a sample for each reason, and its times. As schemas, because they are
// saved too.
import * as v from 'valibot';
import { HOUR_MS } from '../base/time.ts';
import { type RefusalCode, REFUSALS } from '../view/refusal.ts';
import { Timeline } from './timeline.ts';

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
/** Milliseconds since the epoch; JavaScript has no dates after these. */
export const time = v.pipe(count, v.maxValue(8.64e15));
export const text = v.string();

// A plain loop, because 40,000 projects have millions of these numbers.
const periods = v.custom<number[]>((value) => Array.isArray(value) && value.every(isCount));
export const timeline = v.pipe(
  v.object({ minutes: periods, quarters: periods }),
  v.transform((saved) => new Timeline(saved)),
);

const issue = v.object({ field: text, message: text, expected: text, received: text });

/** One refused request. Each text from an unknown sender is cut to a bounded length. */
export type Sample = v.InferOutput<typeof sample>;
const sample = v.object({
  atMs: time,
  code: v.picklist(Object.keys(REFUSALS) as RefusalCode[]),
  project: v.optional(text),
  origin: v.optional(text),
  detail: text,
  issues: v.array(issue),
  /** The size of the body or line that is too large, if it is known. */
  bytes: v.optional(count),
  /** The body, if it was read. */
  text: v.optional(text),
  /** True: the body is the beginning of an object, without its end. */
  isCut: v.boolean(),
});

/** Refusals with one code, and for `origin-not-allowed` from one origin; or of one unlisted id. */
export type Reason = v.InferOutput<typeof reason>;
export const reason = v.object({
  refusedIn: timeline,
  /** When the refusals began, after at least an hour without one. */
  sinceMs: time,
  lastMs: time,
  /**
   * The accepted views at that time: of the project, or of all if it was not known. Below zero if
   * none was accepted since the restart.
   */
  acceptedThen: v.pipe(v.number(), v.safeInteger()),
  sample,
});

/** Returns a key that differs for each reason of a project. */
export function keyOf({ code, origin = '', isCut }: Sample): string {
  if (code === 'origin-not-allowed') return `${code} ${origin}`;
  // A body that arrives cut off either ends too early, or never ends.
  return isCut ? 'request-timeout' : code;
}

/** Returns the reason, or a new one, with one more refusal. */
export function refusedAgain(seen: Reason | undefined, one: Sample, acceptedThen: number): Reason {
  const { atMs } = one;
  const times = { sinceMs: atMs, lastMs: atMs };
  const current = seen ?? { refusedIn: new Timeline(), ...times, acceptedThen, sample: one };
  if (atMs - current.lastMs >= HOUR_MS) current.sinceMs = atMs;
  current.refusedIn.add(atMs);
  return Object.assign(current, { lastMs: atMs, acceptedThen, sample: one });
}
