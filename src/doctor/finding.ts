/** `error`: views are lost or refused until the fault is fixed. */
export type State = 'ok' | 'warning' | 'error';

/** The result of a check. */
export interface Verdict {
  readonly state: State;
  /** The fact that was found, and why it matters. */
  readonly what: string;
  readonly fix?: string | undefined;
  /** True: the fix starts viewlog, which other faults can prevent. */
  readonly isStart?: boolean;
}

export interface Finding extends Omit<Verdict, 'isStart'> {
  /** The name of the check, in a word or two; stable. */
  readonly check: string;
}

export const ok = (what: string): Verdict => ({ state: 'ok', what });
export const warning = (what: string, fix?: string): Verdict => ({ state: 'warning', what, fix });
export const error = (what: string, fix?: string): Verdict => ({ state: 'error', what, fix });
