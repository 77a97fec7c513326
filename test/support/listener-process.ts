// The operator's listener with live streams of any measure, on any of the runtimes. Prints its port.
import { type Client, listenForStatus } from '../../src/http/status-adapter.ts';
import { createLiveStreams } from '../../src/status/live-streams.ts';
import { operatorApp } from '../../src/status/operator-app.ts';
import { reply, unreadable } from '../../src/status/replies.ts';

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
    '/live': (_: boolean, client: Client) => {
      const stream = streams.open(client);
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
const { url } = await listenForStatus({ host, port: 0, handler, unreadable });
console.log(JSON.stringify({ port: Number(new URL(url).port) }));
