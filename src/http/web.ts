import type { Place } from './room.ts';
import type { Refusal } from '../view/refusal.ts';
import { LIMITS } from '../base/limits.ts';
import type { Deadlines } from './deadlines.ts';
import { lingering } from './linger.ts';
import { INCOMPLETE, OVERLOADED, tooLarge, type ViewRequest } from './request.ts';

/** A request as the Fetch API has it. */
export class WebRequest implements ViewRequest {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  read(bytesMax: number, deadlines: Deadlines, place: Place): Promise<Uint8Array | Refusal> {
    return read(this.#request, bytesMax, deadlines, place);
  }

  drain(): Promise<boolean> {
    return drain(this.#request.body);
  }

  linger(answer: string): string | ReadableStream {
    if (!('Deno' in globalThis)) return lingering(answer);
    // Deno would read the request on to its end; versions that heed it stop while this holds it.
    const { body } = this.#request;
    setTimeout(() => void body?.cancel().catch(() => {}), LIMITS.lingerMs);
    return answer;
  }
}

/** Of a declared length that is within the limit the server itself holds the sender to it. */
async function read(
  request: Request,
  bytesMax: number,
  deadlines: Deadlines,
  place: Place,
): Promise<Uint8Array | Refusal> {
  const declared = request.headers.get('content-length');
  if (declared === null) return readChunks(request.body, bytesMax, deadlines.ms, place);
  const length = Number(declared);
  if (length > bytesMax) return tooLarge(`${length} bytes`, bytesMax);
  if (!place.take(length)) return OVERLOADED;
  try {
    return await wholeBody(request, deadlines);
  } catch {
    return INCOMPLETE; // the client has gone
  }
}

function wholeBody(request: Request, deadlines: Deadlines): Promise<Uint8Array | Refusal> {
  return new Promise((resolve, reject) => {
    const deadline = deadlines.set(() => resolve(INCOMPLETE));
    request.arrayBuffer().then(
      (buffer) => {
        deadlines.clear(deadline);
        resolve(new Uint8Array(buffer));
      },
      (error: unknown) => {
        deadlines.clear(deadline);
        reject(error);
      },
    );
  });
}

async function readChunks(
  stream: Request['body'],
  bytesMax: number,
  timeoutMs: number,
  place: Place,
): Promise<Uint8Array | Refusal> {
  if (stream === null) return new Uint8Array();
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const deadline = Date.now() + timeoutMs;
  try {
    for (;;) {
      const next = await within(deadline - Date.now(), reader.read());
      if (next === undefined) return INCOMPLETE;
      if (next.done) return Buffer.concat(chunks);
      size += next.value.byteLength;
      if (size > bytesMax) {
        return tooLarge(`more than ${bytesMax} bytes`, bytesMax);
      }
      if (!place.take(next.value.byteLength)) return OVERLOADED;
      chunks.push(next.value);
    }
  } catch {
    return INCOMPLETE;
  } finally {
    reader.releaseLock();
  }
}

async function drain(stream: Request['body']): Promise<boolean> {
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
