// The operator's listener with live streams of any measure, on any of the runtimes. Prints its port.
import { listen } from '../../src/http/listen.ts';
import { createLiveStreams } from '../../src/status/live-streams.ts';
import { operatorApp } from '../../src/status/operator-app.ts';
import { reply, unreadable } from '../../src/status/replies.ts';
import type { Exchange } from '../../src/http/exchange.ts';

const [intervalMs, lifeMs, eventBytes] = process.argv.slice(2).map(Number);

const streams = createLiveStreams({
  streamsMax: 2,
  intervalMs: intervalMs!,
  lifeMs: lifeMs!,
  snapshot: () => 'x'.repeat(eventBytes!),
});

const service = {
  health: () => ({ reasons: [], warnings: [] }),
  metrics: () => [],
  pages: {
    '/live': (_: boolean, exchange: Exchange) => {
      const stream = streams.open(exchange);
      return stream === undefined
        ? reply(503, 'text/plain', '')
        : reply(200, 'text/event-stream', stream);
    },
    '/count': () => reply(200, 'text/plain', String(streams.count)),
    '/throws': () => {
      throw new Error(`a secret of ${import.meta.url}`);
    },
  },
  close() {},
};

const host = '127.0.0.1';
const handler = operatorApp(service, { host, token: undefined });
const { url } = await listen({
  host,
  port: 0,
  isFetch: true,
  handler,
  unreadable,
  flag: '--status',
});
console.log(JSON.stringify({ port: Number(new URL(url).port) }));
