import type { Refusal } from './refusal.ts';
import { LIMITS } from './settings.ts';

/** A request's body, or why it was refused before its end. */
export type Body = { readonly bytes: Uint8Array } | { readonly refusal: Refusal };

export interface BodyLimits {
  readonly bytesMax: number;
  readonly timeoutMs: number;
  /** Asked before bytes are held in memory; `false` refuses the body as `overloaded`. */
  readonly enter: (bytes: number) => boolean;
}

/**
 * Reads a body whole, refusing it as soon as it is over the limit, whatever its Content-Length
 * says. Of a declared length that is within the limit the server itself holds the sender to it.
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<Body> {
  const declared = request.headers.get('content-length');
  if (declared === null) return readChunks(request.body, limits);
  const length = Number(declared);
  if (length > limits.bytesMax) return { refusal: tooLarge(`${length} bytes`, limits.bytesMax) };
  if (!limits.enter(length)) return { refusal: OVERLOADED };
  try {
    const buffer = await within(limits.timeoutMs, request.arrayBuffer());
    return buffer === undefined ? { refusal: INCOMPLETE } : { bytes: new Uint8Array(buffer) };
  } catch {
    return { refusal: INCOMPLETE }; // the client has gone
  }
}

async function readChunks(stream: Request['body'], limits: BodyLimits): Promise<Body> {
  if (stream === null) return { bytes: new Uint8Array() };
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const deadline = Date.now() + limits.timeoutMs;
  try {
    for (;;) {
      const next = await within(deadline - Date.now(), reader.read());
      if (next === undefined) return { refusal: INCOMPLETE };
      if (next.done) return { bytes: joined(chunks, size) };
      size += next.value.byteLength;
      if (size > limits.bytesMax) {
        return { refusal: tooLarge(`more than ${limits.bytesMax} bytes`, limits.bytesMax) };
      }
      if (!limits.enter(next.value.byteLength)) return { refusal: OVERLOADED };
      chunks.push(next.value);
    }
  } catch {
    return { refusal: INCOMPLETE };
  } finally {
    reader.releaseLock();
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0]!;
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/**
 * Reads on after a refusal, and forgets what it reads: a sender that is not read to the end sees
 * its connection break instead of the answer.
 * @returns whether the body came to its end within the limits, so that the connection can stay.
 */
export async function drainBody(stream: Request['body']): Promise<boolean> {
  if (stream === null) return true;
  if (stream.locked) return false;
  const reader = stream.getReader();
  const deadline = Date.now() + LIMITS.drainMs;
  let size = 0;
  try {
    while (size <= LIMITS.drainBytesMax) {
      const next = await within(deadline - Date.now(), reader.read());
      if (next === undefined) return false;
      if (next.done) return true;
      size += next.value.byteLength;
    }
  } catch {
    // The client has gone.
  } finally {
    reader.releaseLock();
  }
  return false;
}

/** What the promise gives, or `undefined` after `ms`; its later failure is then nobody's. */
function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, undefined);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
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

const INCOMPLETE: Refusal = {
  code: 'request-timeout',
  detail: `The body was not complete after ${LIMITS.bodyTimeoutMs / 1000} seconds.`,
};

const OVERLOADED: Refusal = {
  code: 'overloaded',
  detail: 'Too many views are under way; send this one again later.',
  retryAfterSeconds: 1,
};
