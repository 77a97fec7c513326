import { LIMITS } from '../base/limits.ts';

/** The text at once, its end a moment later: a server that then closes does so no sooner. */
export const lingering = (text: string): ReadableStream =>
  new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      await new Promise((resolve) => setTimeout(resolve, LIMITS.lingerMs));
      controller.close();
    },
  });
