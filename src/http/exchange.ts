/** An answer to a request, for whichever server is to give it. */
export interface Answer {
  readonly status: number;
  /** Without `Content-Length`, which the server adds. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * Why a body was not read: it is over the limit; it came in too many pieces; it was not complete in
 * time, or its sender is gone; what is under way leaves no room for it.
 */
export type BodyFault = 'too-large' | 'too-many-pieces' | 'incomplete' | 'no-room';

/** What a collector asks a request for. */
export type HeaderName =
  | 'access-control-request-headers'
  | 'access-control-request-method'
  | 'content-encoding'
  | 'content-length'
  | 'content-type'
  | 'origin'
  | 'transfer-encoding';

/** One request and its answer, whichever runtime's server has them. */
export interface Exchange {
  readonly method: string;
  /** The path of the request's target as it was sent: no query, nothing decoded. */
  readonly path: string;
  header(name: HeaderName): string | undefined;
  /**
   * Reads the body whole, once; gives up as soon as it is over `bytesMax`, whatever its
   * Content-Length says, and as soon as its time is over.
   */
  read(bytesMax: number): Promise<Uint8Array | BodyFault>;
  /**
   * Answers, and then gives back the room that the request took of what may be under way.
   * A body that is still being sent is read on for a moment and forgotten, for a sender that is not
   * read to the end sees its connection break instead of the answer. If it does not end within
   * `LIMITS.drainBytesMax`, `drainPiecesMax` and `drainMs`, the answer goes out with `Connection: close`, and the
   * connection is closed `lingerMs` later: a server that closes at once resets the connection, and
   * the reset overtakes the answer.
   * @param answer must not reject.
   * @returns what the app's handler is to return to the server.
   */
  respond(answer: Answer | Promise<Answer>): Response | Promise<Response>;
  /**
   * Breaks off an answer whose body is a stream, and the connection with it. On Node, whose adapter
   * would log the stack of an error that the stream ends with; others end so by themselves.
   */
  breakOff?(): void;
}

/** The path of a request's target: of `/view?x` as of `http://host/view?x` it is `/view`. */
export function pathOf(target: string): string {
  const start = target.startsWith('/') ? 0 : target.indexOf('/', target.indexOf('://') + 3);
  if (start < 0) return '';
  const query = target.indexOf('?', start);
  return target.slice(start, query < 0 ? undefined : query);
}

/** A browser sends a view in one piece; whoever sends one by the byte makes each byte a piece. */
export const piecesMaxOf = (bytesMax: number): number => 64 + Math.floor(bytesMax / 512);
