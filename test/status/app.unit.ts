import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/base/time.ts';
import { gauge } from '../../src/base/description.ts';
import { archiveStatus } from '../../src/status/archive-status.ts';
import { statusApp } from '../../src/status/app.ts';
import {
  type CollectorSource,
  collectorStatus,
  everyMinute,
} from '../../src/status/collector-status.ts';
import { healthOf, warningsOf } from '../../src/status/health.ts';
import { RefusalLog } from '../../src/status/refusal-log.ts';
import { memoryLog } from '../support/memory-log.ts';
import { FILES, NOON, PLACE, Scene } from '../support/status-scene.ts';

const get = (path: string): Request =>
  new Request(`http://localhost${path}`, { headers: { host: 'localhost' } });

function sourceOf(scene: Scene, state = () => FILES): CollectorSource {
  return {
    counts: scene.counts,
    projects: scene.projects,
    settings: {
      host: '127.0.0.1',
      port: 8080,
      durability: 'disk',
      data: '/data',
      projects: '/data/projects.json',
      store: {},
      'max-view': 16 * 1024,
      'max-queue': 1024,
      'min-free': 0,
      'keep-days': 0,
      'keep-refused-days': 14,
    },
    url: () => PLACE.url,
    store: { state },
    refused: { state: () => ({ keptLines: 0, keptBytes: 0, droppedLines: 0 }) },
    queue: { bytes: 0 },
    isStopping: () => false,
    now: () => scene.nowMs,
  };
}

const broken = (): never => {
  throw new Error('a secret place');
};

describe('a fault in the status', () => {
  it('ends only its request, and is logged once', async () => {
    const log = memoryLog();
    const service = collectorStatus(sourceOf(new Scene([{ id: '1' }]), broken));
    const app = statusApp(service, { host: '127.0.0.1', token: undefined }, log);
    for (const path of ['/', '/status.txt', '/status.json', '/metrics', '/readyz', '/']) {
      const answer = await app(get(path));
      expect([path, answer.status]).toStrictEqual([path, 500]);
      expect(await answer.text()).not.toContain('secret');
    }
    expect((await app(get('/healthz'))).status).toBe(200);
    expect(log.lines).toStrictEqual([
      expect.stringMatching(/^error: The status server failed: .*secret/),
    ]);
  });

  it('of the minute is logged, and the next minute is tried again', async () => {
    const log = memoryLog();
    const end = everyMinute(sourceOf(new Scene([{ id: '1' }]), broken), undefined, log, 1);
    await expect.poll(() => log.lines.length).toBeGreaterThan(1);
    end();
    expect(log.lines[0]).toBe('error: The status page’s minute failed: a secret place');
  });
});

it('every minute the counts are saved, and refusals are logged', async () => {
  const log = memoryLog();
  const scene = new Scene([{ id: '1' }]);
  scene.refuse(2, { code: 'invalid-view', project: '1' });
  let saves = 0;
  const save = async (): Promise<void> => void (saves += 1);
  const end = everyMinute(sourceOf(scene), save, log, 1);
  await expect.poll(() => saves).toBeGreaterThan(1);
  end();
  expect(log.lines).toStrictEqual([
    'warn: Views of project 1 are refused: invalid views; all 2 views of the last hour',
  ]);
});

it('a view that nobody but viewlog could have written does not break the page', async () => {
  const scene = new Scene([{ id: '1' }]);
  scene.refuse(1, { code: 'invalid-view', project: '1' }, 'null', '{"url":"\\ud800');
  const app = statusApp(
    collectorStatus(sourceOf(scene)),
    { host: '127.0.0.1', token: undefined },
    memoryLog(),
  );
  expect((await app(get('/?open=1&open=2&filter=%00'))).status).toBe(200);
  expect((await app(get('/status.txt'))).status).toBe(200);
});

it('an archive has its facts as text, and its reasons in its health', async () => {
  const described = {
    reasons: ['no connection'],
    warnings: [],
    metrics: [gauge('viewlog_archive_sequence', 'The last message archived.', [[7]])],
    facts: [['archived up to', '7']] as const,
  };
  const guarded = { host: '127.0.0.1', token: undefined };
  const app = statusApp(
    archiveStatus(() => described),
    guarded,
    memoryLog(),
  );
  expect(await (await app(get('/'))).text()).toBe('archived up to           7\n');
  expect((await app(get('/readyz'))).status).toBe(503);
  expect(await (await app(get('/metrics'))).text()).toContain('\nviewlog_archive_sequence 7\n');
});

it('warns of a stream whose servers are behind, of little space and of a full queue', () => {
  const { projects } = new Scene([]);
  const seen = { messages: 7, bytes: 700, leader: 'n1', replicas: 3, lagging: ['n2'] };
  const stream = { name: 'VIEWS', warnings: ['It drops views'], seen };
  const store = { ...FILES, stream } as unknown as typeof FILES;
  const health = { projects, minFreeBytes: 2 ** 33, isStopping: false };
  const queue = { bytes: 6, bytesMax: 10 };
  expect(warningsOf({ ...health, store, queue })).toStrictEqual([
    'It drops views',
    '1 of the 3 servers that keep stream VIEWS are down or behind: n2',
    'More than half of --max-queue (10 bytes) is in flight',
  ]);
  expect(healthOf({ ...health, store: FILES, queue: { bytes: 0, bytesMax: 10 } })).toStrictEqual({
    reasons: [],
    warnings: [
      'No project is active, so every view is refused; "viewlog activate ID" activates one',
      'Free disk space is close to --min-free (8 GiB); refused views are no longer kept',
    ],
  });
});

it('the log says that views are refused, and accepted again, once an hour', () => {
  const log = memoryLog();
  const refusals = new RefusalLog(log);
  const scene = new Scene([
    { id: '1', name: 'Aurora', origins: ['https://a.example'] },
    { id: '2' },
  ]);
  const origin = 'https://b.example';
  const refuse = (): void => scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, origin);
  const look = (): void => refusals.look(scene.judged(), scene.nowMs);
  const fix = (): void => scene.list({ id: '1', name: 'Aurora' }, { id: '2' });
  const unfix = (): void => scene.list({ id: '1', name: 'Aurora', origins: ['https://a.example'] });
  scene.accept(1, '2');
  look();
  expect(log.lines).toStrictEqual([]);
  refuse();
  look();
  look();
  const refused =
    'warn: Views of project 1 (Aurora) are refused: origin not allowed; all 9 views of the last hour';
  expect(log.lines).toStrictEqual([refused]);
  fix();
  look();
  expect(log.lines).toStrictEqual([refused]);
  scene.accept();
  look();
  const accepted = 'info: Views of project 1 (Aurora) are accepted again';
  expect(log.lines).toStrictEqual([refused, accepted]);
  unfix();
  refuse();
  look();
  expect(log.lines).toStrictEqual([refused, accepted]);
  scene.nowMs = NOON + HOUR_MS + 60_000;
  refuse();
  look();
  expect(log.lines).toHaveLength(3);
});
