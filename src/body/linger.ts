import { LIMITS } from '../settings.ts';

/**
 * The body of an answer to a request that is still being sent. A server that closes at once
 * resets the connection, and the reset overtakes the answer; so the answer goes out whole, nothing
 * more is read, and the connection is closed a moment later. The answer needs `Connection: close`.
 */
export function lingering(answer: string, request: Request): string | ReadableStream {
  if ('Deno' in globalThis) {
    // Deno would read the request on to its end; versions that heed it stop while this holds it.
    const { body } = request;
    setTimeout(() => void body?.cancel().catch(() => {}), LIMITS.lingerMs);
    return answer;
  }
  // Node and Bun close when the answer ends, so it ends later than its text.
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(answer));
      await new Promise((resolve) => setTimeout(resolve, LIMITS.lingerMs));
      controller.close();
    },
  });
}
