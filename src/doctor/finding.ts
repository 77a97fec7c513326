import { messageNotice, type Notice } from '../status/problem-words.ts';
import { noticeText } from '../status/text.ts';

/** `error`: views are lost or refused until the fault is fixed. */
export type State = 'ok' | 'warning' | 'error';

/** The result of a check. */
export interface Verdict {
  readonly state: State;
  /** The fact that was found, and why it matters, in sentences. */
  readonly what: string;
  /** The instructions, in sentences. A command is on an indented line of its own, ready to copy. */
  readonly fix?: string | undefined;
  /** True: the fix starts viewlog, which other faults can prevent. */
  readonly isStart?: boolean;
}

export interface Finding extends Omit<Verdict, 'isStart'> {
  /** The name of the check, in a word or two; stable. */
  readonly check: string;
}

/** @param fix ends in a colon if the `command` follows. */
const verdict =
  (state: State) =>
  (what: string, fix?: string, command?: string): Verdict => {
    return { state, what, fix: command ? `${fix}\n  ${command}` : fix };
  };

export const ok = verdict('ok');
export const warning = verdict('warning');
export const error = verdict('error');

/**
 * Makes a finding from a message that viewlog also logs.
 * @param more what the message leaves out: the effect, and the fix if the message has none.
 */
export function ofMessage(
  state: State,
  message: string,
  { effect, fix }: { readonly effect?: string; readonly fix?: string | undefined } = {},
): Verdict {
  const { title, steps } = messageNotice(message);
  const [step] = steps;
  return verdict(state)(
    [title, effect].filter(Boolean).join(' '),
    step?.text ?? fix,
    step?.command,
  );
}

/** Makes a finding from a notice of the status page. Each command is on a line of its own. */
export function ofNotice(state: State, notice: Notice): Verdict {
  const [what = '', ...steps] = noticeText(notice).split('\n');
  return { state, what, fix: steps.map((line) => line.replace('  ', '')).join('\n') || undefined };
}
