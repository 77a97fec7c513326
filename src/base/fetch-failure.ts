import { reasonOf } from './exit.ts';
import { printable } from './text.ts';

/** Why a fetch had no answer, in a line. On Node it says so only in its cause. */
export function fetchFailure(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  if (!(cause instanceof Error)) return printable(reasonOf(error));
  // Of a name with several addresses, each with a reason of its own, there is only a code.
  const { message, code } = cause as Error & { readonly code?: unknown };
  return printable(message || (typeof code === 'string' ? code : reasonOf(error)));
}
