/** Live streams (server-sent events) to those who look; nothing is done while nobody does. */
export interface LiveStreams {
  /** A new stream, or `undefined` where there are as many as may be. */
  open(): ReadableStream<Uint8Array> | undefined;
  readonly count: number;
  close(): void;
}

interface LiveStreamsOptions {
  readonly streamsMax: number;
  readonly intervalMs: number;
  /** The event's data, one line. */
  readonly snapshot: () => string;
}

/** Events a reader may be behind before it is dropped: it comes back, and catches up with one. */
const BEHIND_MAX = 5;

/** Sends each stream what `snapshot` gives: at once, then every `intervalMs`. */
export function createLiveStreams({
  streamsMax,
  intervalMs,
  snapshot,
}: LiveStreamsOptions): LiveStreams {
  const open = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const encoder = new TextEncoder();
  let timer: ReturnType<typeof setInterval> | undefined;

  const event = (first = ''): Uint8Array => encoder.encode(`${first}data: ${snapshot()}\n\n`);
  const leave = (stream: ReadableStreamDefaultController<Uint8Array>): void => {
    open.delete(stream);
    if (open.size === 0) clearInterval(timer);
  };
  const tick = (): void => {
    const bytes = event();
    for (const stream of open) {
      if ((stream.desiredSize ?? 0) > 0) stream.enqueue(bytes);
      else {
        leave(stream);
        stream.error(new Error('too slow'));
      }
    }
  };

  return {
    open() {
      if (open.size >= streamsMax) return undefined;
      let stream: ReadableStreamDefaultController<Uint8Array>;
      return new ReadableStream(
        {
          start(controller) {
            stream = controller;
            if (open.size === 0) timer = setInterval(tick, intervalMs);
            open.add(stream);
            stream.enqueue(event('retry: 1000\n'));
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
        stream.close();
      }
    },
  };
}
