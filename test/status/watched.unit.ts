import { describe, expect, it } from 'vitest';
import { counter, type Description, gauge } from '../../src/base/description.ts';
import { MINUTE_MS } from '../../src/base/time.ts';
import type { FetchHandler } from '../../src/http/status-adapter.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import { Counts } from '../../src/status/counts.ts';
import { operatorApp, type WatchedService } from '../../src/status/operator-app.ts';
import { watchedCollector } from '../../src/status/watched-collector.ts';
import { archiveStatus } from '../../src/status/archive-status.ts';
import type { WatchedStore } from '../../src/store/store.ts';

// What the operator's listener prints of stores and services that it knows nothing of.

/** A store of a kind of its own, which says how many views a day it was told of. */
const newStore = (unavailable?: string): WatchedStore => ({
  state: () => ({
    lines: 3,
    bytes: 300,
    lastAcceptedMs: undefined,
    unavailable,
    queuedLines: 2,
    queuedBytes: 200,
  }),
  describe: (viewsPerDay) => ({
    warnings: ['The tape is nearly full'],
    metrics: [gauge('viewlog_tape_metres', 'Tape left.', [[12.5, { reel: '1' }], [undefined]])],
    facts: [['Tape', `12 m, at ${viewsPerDay} views a day`]],
  }),
});

const newRefused = (): Description => ({
  warnings: ['The bin is nearly full'],
  metrics: [counter('viewlog_bin_total', 'Views in the bin.', [[7]])],
  facts: [['Bin', '7']],
});

function collector(store: WatchedStore): WatchedService {
  let now = 0;
  const counts = new Counts({ now: () => now, isListed: () => true });
  for (let minute = 0; minute < 3; minute++) {
    now = minute * MINUTE_MS;
    counts.accepted('1000001', Buffer.from('{"url":"/"}'));
  }
  now = 2 * MINUTE_MS;
  return watchedCollector({
    counts,
    projects: new ProjectList({ projects: [] }),
    known: { sinceMs: 0, isReading: false },
    installation: { projectsPath: '/projects.json', dataDir: undefined, account: undefined },
    url: () => 'http://127.0.0.1:8080',
    store,
    refused: { describe: newRefused },
    queue: { bytes: 0 },
    queueBytesMax: 1024,
    isStopping: () => false,
    now: () => now,
  });
}

const listener = (service: WatchedService): FetchHandler =>
  operatorApp(service, { host: '127.0.0.1', token: undefined });

async function get(handler: FetchHandler, path: string): Promise<[number, string]> {
  const headers = { host: 'localhost' };
  const answer = await handler({}, new Request(`http://localhost${path}`, { headers }));
  return [answer.status, await answer.text()];
}

describe('a store that the listener has never heard of', () => {
  it('has its metrics among the others, those without a value left out', async () => {
    const [, metrics] = await get(listener(collector(newStore())), '/metrics');
    expect(metrics).toContain(
      '# HELP viewlog_tape_metres Tape left.\n# TYPE viewlog_tape_metres gauge\n' +
        'viewlog_tape_metres{reel="1"} 12.5\n' +
        '# HELP viewlog_bin_total Views in the bin.\n# TYPE viewlog_bin_total counter\n' +
        'viewlog_bin_total 7\n',
    );
    expect(metrics).toContain('\nviewlog_queue_lines 2\n');
  });

  it('has its warnings told, and its reasons', async () => {
    const warnings = [
      'No project is active, so a view would be refused; "viewlog activate ID" activates one',
      'The tape is nearly full',
      'The bin is nearly full',
    ];
    const [status, ready] = await get(listener(collector(newStore())), '/readyz');
    const told = { status: 'ready', reasons: [], warnings };
    expect([status, JSON.parse(ready)]).toStrictEqual([200, told]);
    const [torn, reason] = await get(listener(collector(newStore('the tape is torn'))), '/readyz');
    const why = { status: 'not ready', reasons: ['the tape is torn'], warnings };
    expect([torn, JSON.parse(reason)]).toStrictEqual([503, why]);
  });

  it('has its facts on the page, and knows how many views a day there are', async () => {
    const [, snapshot] = await get(listener(collector(newStore())), '/snapshot');
    const { facts, details } = JSON.parse(snapshot) as Record<string, unknown>;
    expect(facts).toStrictEqual([['Tape', '12 m, at 1440 views a day']]);
    expect(details).toStrictEqual([
      ['Under way', '0 bytes of 1.0 KiB'],
      ['Bin', '7'],
    ]);
  });
});

it('a service without a page of its own is shown as text', async () => {
  const reasons: string[] = [];
  const handler = listener(
    archiveStatus(() => ({ ...newStore().describe(1), reasons, warnings: [] })),
  );
  expect(await get(handler, '/')).toStrictEqual([
    200,
    `${'Tape'.padEnd(24)} 12 m, at 1 views a day\n`,
  ]);
  expect(await get(handler, '/healthz')).toStrictEqual([200, '{"status":"alive"}']);
  expect((await get(handler, '/readyz'))[0]).toBe(200);
  expect((await get(handler, '/snapshot'))[0]).toBe(404);
  reasons.push('it is out of tape');
  const [status, health] = await get(handler, '/readyz');
  expect([status, JSON.parse(health)]).toStrictEqual([
    503,
    { status: 'not ready', reasons: ['it is out of tape'], warnings: [] },
  ]);
  expect((await get(handler, '/metrics'))[1]).toMatch(
    /^# HELP viewlog_tape_metres .*\nviewlog_build_info\{version="[\d.]+"\} 1\n.*\n# HELP process_cpu/s,
  );
});
