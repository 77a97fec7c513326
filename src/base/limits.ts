import { KiB } from './format.ts';

export const PORT_MAX = 65_535;

/** Limits that no flag changes. Units are in the names. */
export const LIMITS = {
  bodyTimeoutMs: 10_000,
  /** viewlog reads this much of a refused body, so that its sender sees the answer. */
  drainBytesMax: 64 * KiB,
  drainMs: 100,
  /** The connection then stays open this long, so that the answer arrives. */
  lingerMs: 300,
  issuesMax: 50,
  quoteLengthMax: 64,
  /** serde_json, and so Vector, stops at 128 levels, jq at 256. */
  nestingMax: 32,
  /** A stop takes at most 10 s: first the requests in flight, then each of the two stores. */
  drainTimeoutMs: 7_000,
  closeTimeoutMs: 1_400,
  retryAfterSeconds: 5,
} as const;
