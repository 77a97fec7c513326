import { KiB } from './format.ts';

export const PORT_MAX = 65_535;

/** Limits that no flag changes. Units are in the names. */
export const LIMITS = {
  headTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  /**
   * For idle connections. Longer than the idle timeouts of reverse proxies (nginx 60 s, Traefik
   * 90 s, Caddy 120 s), because a proxy loses a view that it sends on a closing connection.
   */
  idleTimeoutMs: 130_000,
  /** For a client that doesn't read its answers. */
  unreadTimeoutMs: 30_000,
  /** How often timeouts are checked where a timer for each would cost too much. */
  sweepMs: 250,
  connectionsMax: 10_000,
  /** A declared body of up to this size is reserved immediately; a larger one as it arrives. */
  reservedBytesMax: 16 * KiB,
  /** viewlog reads this much of a refused body, so that its sender sees the answer. */
  drainBytesMax: 64 * KiB,
  drainMs: 100,
  /**
   * If a body wasn't read whole, the connection stays open this long, so that the answer arrives.
   */
  lingerMs: 300,
  issuesMax: 50,
  quoteLengthMax: 64,
  /** serde_json, and so Vector, stops at 128 levels, jq at 256. */
  nestingMax: 32,
  /** A stop takes at most 10 s: first the requests in flight, then each of the two stores. */
  drainTimeoutMs: 7_000,
  closeTimeoutMs: 1_400,
  /** During a stop, connections wait this long for a request that may be on its way. */
  stopIdleMs: 250,
  retryAfterSeconds: 5,
} as const;
