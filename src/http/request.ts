import type { Place } from './room.ts';
import type { Refusal } from '../view/refusal.ts';
import { LIMITS } from '../base/limits.ts';
import type { Deadlines } from './deadlines.ts';

/** A request, as far as the collector looks at it: its headers, and its body, read at most once. */
export interface ViewRequest {
  /** @param name in lower case. */
  header(name: string): string | undefined;
  /**
   * Reads the body whole, and refuses it as soon as it is over the limit, whatever its Content-Length
   * says, and as soon as its deadline is over.
   * @param place asked before bytes are held in memory; where it has no room the body is refused
   *   as `overloaded`.
   */
  read(bytesMax: number, deadlines: Deadlines, place: Place): Promise<Uint8Array | Refusal>;
  /**
   * Reads on after a refusal, and forgets what it reads: a sender that is not read to the end sees
   * its connection break instead of the answer.
   * @returns whether the body came to its end within the limits, so that the connection can stay.
   */
  drain(): Promise<boolean>;
  /**
   * The body of an answer to a request that is still being sent. A server that closes at once
   * resets the connection, and the reset overtakes the answer; so the answer goes out whole,
   * nothing more is read, and the connection is closed a moment later. The answer needs
   * `Connection: close`.
   */
  linger(answer: string): string | ReadableStream;
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
