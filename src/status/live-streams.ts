import type { Client } from '../http/status-adapter.ts';

/** Live streams (server-sent events) to those who look; nothing is done while nobody does. */
export interface LiveStreams {
  /**
   * A new stream, or `undefined` where there are as many as may be.
   * @param client whose answer the stream is the body of.
   */
  open(client?: Client): ReadableStream<Uint8Array> | undefined;
  readonly count: number;
  close(): void;
}

export interface LiveStreamsOptions {
  readonly streamsMax: number;
  readonly intervalMs: number;
  /** A stream that is older ends, with the event `renew`; whoever still looks opens a new one. */
  readonly lifeMs: number;
  /** The event's data, one line. */
  readonly snapshot: () => string;
}

interface LiveStream {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  readonly endMs: number;
  readonly client: Client;
}

/** Events a client may be behind before it is dropped: it comes back, and catches up with one. */
const BEHIND_MAX = 5;

/**
 * Sends each stream what `snapshot` gives: at once, then every `intervalMs`. A client that reads
 * nothing loses its place as soon as the runtime cannot pass events on to it. That is late where
 * events are small, for the system takes some megabytes for it; so no stream lives for ever.
 */
export function createLiveStreams(options: LiveStreamsOptions): LiveStreams {
  const { streamsMax, intervalMs, lifeMs, snapshot } = options;
  const open = new Set<LiveStream>();
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;

  const event = (first = ''): Uint8Array => encoder.encode(`${first}data: ${snapshot()}\n\n`);
  const leave = (stream: LiveStream): void => {
    open.delete(stream);
    if (open.size === 0) clearInterval(timer);
  };
  const drop = (stream: LiveStream): void => {
    leave(stream);
    if (stream.client.breakOff === undefined) stream.controller.error(new Error('too slow'));
    else stream.client.breakOff();
  };
  const tick = (): void => {
    const bytes = event();
    const nowMs = performance.now();
    for (const stream of open) {
      const { controller, endMs } = stream;
      if ((controller.desiredSize ?? 0) <= 0) drop(stream);
      else if (nowMs < endMs) controller.enqueue(bytes);
      else {
        leave(stream);
        controller.enqueue(encoder.encode('event: renew\ndata:\n\n'));
        controller.close();
      }
    }
  };

  return {
    open(client = {}) {
      if (open.size >= streamsMax) return undefined;
      let stream: LiveStream;
      return new ReadableStream(
        {
          start(controller) {
            stream = { controller, client, endMs: performance.now() + lifeMs };
            if (open.size === 0) timer = setInterval(tick, intervalMs);
            open.add(stream);
            controller.enqueue(event('retry: 1000\n'));
          },
          cancel: () => leave(stream),
        },
        { highWaterMark: BEHIND_MAX },
      );
    },
    get count() {
      return open.size;
    },
    close() {
      for (const stream of open) {
        leave(stream);
        stream.controller.close();
      }
    },
  };
}
