/** What becomes of it: nothing; look at it some time; views are lost or refused until it is done. */
export type State = 'well' | 'doubtful' | 'to be mended';

/** What one look at the installation has found. */
export interface Finding {
  /** What was looked at, in a word or two; stable. */
  readonly check: string;
  readonly state: State;
  readonly what: string;
  /** Why it matters. */
  readonly why?: string;
  readonly todo?: string;
}

export const well = (check: string, what: string): Finding => ({ check, state: 'well', what });

export const doubtful = (
  check: string,
  what: string,
  why: string,
  todo: string,
  state: State = 'doubtful',
): Finding => ({ check, state, what, why, todo });

export const toBeMended = (check: string, what: string, why: string, todo: string): Finding =>
  doubtful(check, what, why, todo, 'to be mended');
