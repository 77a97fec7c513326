import { collectorMetrics } from './collector-metrics.ts';
import type { CollectorSource } from './collector-source.ts';
import { healthOf } from './health.ts';
import { createLiveStreams } from './live-streams.ts';
import type { WatchedService } from './operator-app.ts';
import { pageFiles } from './page-files.ts';
import { json, plain, reply } from './replies.ts';
import { snapshots } from './snapshot.ts';
import { statusText } from './status-text.ts';

const STREAMS_MAX = 16;
const INTERVAL_MS = 1_000;
const LIFE_MS = 60_000;

/** A collector as its operator sees it: with the status page, live. */
export function watchedCollector(source: CollectorSource): WatchedService {
  const snapshot = snapshots(source);
  const streams = createLiveStreams({
    streamsMax: STREAMS_MAX,
    intervalMs: INTERVAL_MS,
    lifeMs: LIFE_MS,
    snapshot: () => JSON.stringify(snapshot()),
  });
  return {
    health: () => healthOf(source),
    metrics: () => collectorMetrics(source),
    pages: {
      '/': () => reply(200, 'text/html; charset=utf-8', pageFiles().html),
      '/page.css': () => reply(200, 'text/css; charset=utf-8', pageFiles().css),
      '/page.js': () => reply(200, 'text/javascript; charset=utf-8', pageFiles().js),
      '/status.txt': () => reply(200, 'text/plain; charset=utf-8', statusText(snapshot())),
      '/snapshot': () => json(snapshot()),
      '/live': (isHead, exchange) => {
        // A stream that nobody would read is not opened.
        const stream = isHead ? null : streams.open(exchange);
        return stream === undefined ? tooMany() : reply(200, 'text/event-stream', stream);
      },
    },
    close: () => streams.close(),
  };
}

const tooMany = (): Response =>
  plain(503, `There are ${STREAMS_MAX} live streams already.`, { 'Retry-After': '5' });
