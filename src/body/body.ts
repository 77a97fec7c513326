import type { Place } from '../queue.ts';
import type { Refusal } from '../refusal.ts';
import { LIMITS } from '../settings.ts';

/** The body of one request, read at most once. */
export interface RequestBody {
  /**
   * Reads it whole, and refuses it as soon as it is over the limit, whatever its Content-Length
   * says.
   * @param place asked before bytes are held in memory; where it has no room the body is refused
   *   as `overloaded`.
   */
  read(bytesMax: number, timeoutMs: number, place: Place): Promise<Uint8Array | Refusal>;
  /**
   * Reads on after a refusal, and forgets what it reads: a sender that is not read to the end sees
   * its connection break instead of the answer.
   * @returns whether the body came to its end within the limits, so that the connection can stay.
   */
  drain(): Promise<boolean>;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The body's text without its BOM, if it has one. */
export function decodeBody(bytes: Uint8Array): string | Refusal {
  try {
    return decoder.decode(bytes);
  } catch {
    return { code: 'malformed-json', detail: 'The body is not UTF-8.' };
  }
}

/** The refusal of a body, or of the line it would become, that is over the limit. */
export const tooLarge = (size: string, bytesMax: number, what = 'The body'): Refusal => ({
  code: 'view-too-large',
  detail: `${what} is ${size}; at most ${bytesMax} bytes are taken.`,
});

export const INCOMPLETE: Refusal = {
  code: 'request-timeout',
  detail: `The body was not complete after ${LIMITS.bodyTimeoutMs / 1000} seconds.`,
};

export const OVERLOADED: Refusal = {
  code: 'overloaded',
  detail: 'Too many views are under way; send this one again later.',
  retryAfterSeconds: 1,
};
