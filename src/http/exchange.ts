import type { HeaderName } from './few-headers.ts';

/** An answer to a request, on any runtime's server. */
export interface Answer {
  readonly status: number;
  /** Without `Content-Length`, which the server adds. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * Why a body wasn't read: it exceeds the limit, came in too many pieces, or wasn't complete in time
 * (or its sender has gone), or the memory budget is exhausted.
 */
export type BodyFault = 'too-large' | 'too-many-pieces' | 'incomplete' | 'over-budget';

/** One request, on any runtime's server. */
export interface Exchange {
  readonly method: string;
  /** The path as sent: no query, nothing decoded. Empty if the target isn't a URL. */
  readonly path: string;
  header(name: HeaderName): string | undefined;
  /**
   * Reads the whole body, once. Gives up as soon as the body exceeds `bytesMax`, whatever its
   * Content-Length says, and after `LIMITS.bodyTimeoutMs`.
   */
  read(bytesMax: number): Promise<Uint8Array | BodyFault>;
  /** How much of an incomplete body has arrived; `undefined` if it is unknown. */
  readonly bytesRead?: number | undefined;
}

/**
 * Answers any request; never throws or rejects.
 *
 * If the request's body is still arriving when its answer is ready, the server reads on for a
 * moment and discards the rest. Otherwise the client would see its connection break instead of the
 * answer. If the body doesn't end within `LIMITS.drainBytesMax` and `drainMs`, the answer says
 * `Connection: close`, and the connection is closed `lingerMs` later. Closing immediately would
 * reset the connection, and the reset overtakes the answer.
 */
export type Handler = (exchange: Exchange) => Answer | Promise<Answer>;

/** The path of a request's target: `/view` for `/view?x` and for `http://host/view?x`. */
export function pathOf(target: string): string {
  const start = target.startsWith('/') ? 0 : target.indexOf('/', target.indexOf('://') + 3);
  if (start < 0) return '';
  const query = target.indexOf('?', start);
  return target.slice(start, query < 0 ? undefined : query);
}
