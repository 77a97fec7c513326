/** `error`: views are lost or refused until it is fixed. */
export type State = 'ok' | 'warning' | 'error';

/** The result of a check. */
export interface Verdict {
  readonly state: State;
  readonly what: string;
  /** Why it matters. */
  readonly why?: string | undefined;
  readonly fix?: string | undefined;
}

export interface Finding extends Verdict {
  /** The name of the check, in a word or two; stable. */
  readonly check: string;
}

export const ok = (what: string, why?: string): Verdict => ({ state: 'ok', what, why });

const bad =
  (state: State) =>
  (what: string, why?: string, fix?: string): Verdict => ({ state, what, why, fix });

export const warning = bad('warning');
export const error = bad('error');
