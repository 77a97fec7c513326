import { LIMITS } from '../base/limits.ts';
import { printable } from '../base/text.ts';
import { piecesMaxOf } from '../http/body.ts';
import type { BodyFault, Exchange } from '../http/exchange.ts';
import { type Refusal, refusal, tooLarge } from '../view/refusal.ts';

/** Any charset except UTF-8, as a parameter of a media type. */
const OTHER_CHARSET = /;\s*charset=(?!"?utf-?8"?\s*(?:;|$))/i;

/** Returns a refusal, unless the body is uncompressed `application/json` in UTF-8. */
export function mediaTypeFault(request: Exchange): Refusal | undefined {
  const type = request.header('content-type');
  if (request.header('content-encoding') !== undefined) {
    return refusal('unsupported-media-type', 'The body is compressed. Send it uncompressed.');
  }
  if (type === 'application/json') return undefined;
  if (type === undefined) return unsupported('has no Content-Type');
  const isJson = /^\s*application\/json\s*(?:;|$)/i.test(type) && !OTHER_CHARSET.test(type);
  return isJson ? undefined : unsupported(`was sent as "${printable(type)}"`);
}

const unsupported = (found: string): Refusal =>
  refusal(
    'unsupported-media-type',
    `The body ${found}. Send it as plain application/json in UTF-8; with navigator.sendBeacon, ` +
      'as a Blob of that type.',
  );

/** Returns the refusal of a request whose body of at most `bytesMax` bytes couldn't be read. */
export function unreadBody(fault: BodyFault, request: Exchange, bytesMax: number): Refusal {
  if (fault === 'too-large') {
    // A body without a length or with a wrong one isn't read to its end.
    const declared = Number(request.header('content-length'));
    return tooLarge(declared > bytesMax ? declared : undefined, bytesMax);
  }
  if (fault === 'too-many-pieces') {
    const detail = `The body arrived in more than ${piecesMaxOf(bytesMax)} pieces. Send it in one.`;
    return refusal('view-too-large', detail);
  }
  if (fault === 'over-budget') {
    const detail = 'Too many requests are in flight; send the view again in 1 s.';
    return refusal('overloaded', detail, { retryAfterSeconds: 1 });
  }
  const detail = `The body didn't arrive whole; viewlog waits at most ${LIMITS.bodyTimeoutMs / 1000} s for it. Send it again.`;
  const { bytesRead: bytes } = request;
  return refusal('request-timeout', detail, bytes === undefined ? {} : { bytes });
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns a body's text, without a byte order mark. */
export function textOfBody(bytes: Uint8Array): string | Refusal {
  try {
    return decoder.decode(bytes);
  } catch {
    return refusal('malformed-json', "The body isn't UTF-8; encode it as UTF-8.");
  }
}
