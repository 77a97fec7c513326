/** `error`: views are lost or refused until it is fixed. */
export type State = 'ok' | 'warning' | 'error';

/** What a check has to say. */
export interface Verdict {
  readonly state: State;
  readonly what: string;
  /** Why it matters. */
  readonly why?: string | undefined;
  readonly fix?: string | undefined;
}

export interface Finding extends Verdict {
  /** What was checked, in a word or two; stable. */
  readonly check: string;
}

export const ok = (what: string, why?: string): Verdict => ({ state: 'ok', what, why });

export const warning = (what: string, why: string | undefined, fix: string): Verdict => ({
  ...ok(what, why),
  state: 'warning',
  fix,
});

export const error = (what: string, why: string, fix: string): Verdict => ({
  ...warning(what, why, fix),
  state: 'error',
});

/** What was seen, or why the runtime (Deno) or the system did not permit to look. */
export type Probe<T> = { readonly seen: T } | { readonly unseen: string };

/** Judges what was seen; if nothing was, says so. */
export function judged<T>(probe: Probe<T>, judge: (seen: T) => readonly Verdict[]) {
  if ('seen' in probe) return judge(probe.seen);
  const fix = "Run this as the service's user or as root; on Deno, with the permission it names";
  return [warning(`It cannot be examined: ${probe.unseen}`, 'it may be ok or not', fix)];
}

/** `2026-01-31T11:59:59Z` */
export const timeOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
