import { printable } from '../base/text.ts';
import { piecesMaxOf } from '../http/body.ts';
import type { BodyFault, Exchange } from '../http/exchange.ts';
import * as refusal from '../view/refusal.ts';

type Refusal = refusal.Refusal;

/** Returns `undefined` if the body is `application/json`, in UTF-8 and not compressed. */
export function mediaTypeFault(request: Exchange): Refusal | undefined {
  const type = request.header('content-type');
  if (request.header('content-encoding') !== undefined) {
    return refusal.unsupported('The body is compressed.');
  }
  if (type === 'application/json') return undefined;
  if (type === undefined) return refusal.unsupported('There is no Content-Type.');
  const [essence, ...parameters] = type.split(';').map((part) => part.trim().toLowerCase());
  if (essence !== 'application/json') {
    return refusal.unsupported(`It was sent as "${printable(type)}".`);
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  if (charset === undefined || /^charset="?utf-?8"?$/.test(charset)) return undefined;
  return refusal.unsupported(`Its ${printable(charset)} is not taken, only UTF-8.`);
}

/** Reads a request's body, of at most `bytesMax` bytes. */
export async function readBody(request: Exchange, bytesMax: number): Promise<Uint8Array | Refusal> {
  const body = await request.read(bytesMax);
  if (typeof body === 'string') return refusalOf(body, request, bytesMax);
  return refusal.sizeFault(body.length, bytesMax) ?? body;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns a body's text, without a byte order mark. */
export function textOf(bytes: Uint8Array): string | Refusal {
  try {
    return decoder.decode(bytes);
  } catch {
    return refusal.malformed('The body is not UTF-8.');
  }
}

function refusalOf(fault: BodyFault, request: Exchange, bytesMax: number): Refusal {
  if (fault === 'incomplete') return refusal.INCOMPLETE;
  if (fault === 'over-budget') return refusal.OVERLOADED;
  if (fault === 'too-many-pieces') return refusal.tooManyPieces(piecesMaxOf(bytesMax));
  const size = request.header('content-length') ?? `more than ${bytesMax}`;
  return refusal.tooLarge(`${size} bytes`, bytesMax);
}
