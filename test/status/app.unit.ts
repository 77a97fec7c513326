import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/base/time.ts';
import { type Service, statusApp } from '../../src/status/app.ts';
import { archiveStatus } from '../../src/status/archive-status.ts';
import {
  type CollectorSource,
  collectorStatus,
  everyMinute,
} from '../../src/status/collector-status.ts';
import type { GuardOptions } from '../../src/status/guard.ts';
import { type CollectorState, healthOf } from '../../src/status/health.ts';
import { collectorMetrics, metricsText } from '../../src/status/metrics.ts';
import { RefusalLog } from '../../src/status/refusal-log.ts';
import { readToken } from '../../src/status/token.ts';
import { type RefusalCode, REFUSALS } from '../../src/view/refusal.ts';
import { memoryLog } from '../support/memory-log.ts';
import { FILES, NOON, PLACE, Scene } from '../support/status-scene.ts';
import { parseMetrics, sumOf } from '../support/status.ts';
import { tempDir } from '../support/temp-dir.ts';

const LOCAL: GuardOptions = { host: '127.0.0.1', token: undefined };
const TOKEN = 'correct-horse-battery-staple';

/** Returns what asks the status server of a service, with these headers beside a Host. */
function asking(service: Service, guarded = LOCAL, log = memoryLog()) {
  const app = statusApp(service, guarded, log);
  return async (path: string, more: Record<string, string> = {}, method = 'GET') => {
    const headers = { host: 'localhost', ...more };
    return app(new Request(`http://localhost${path}`, { method, headers }));
  };
}

function sourceOf(scene: Scene, store = () => FILES): CollectorSource {
  return {
    settings: {
      host: '127.0.0.1',
      port: 8080,
      durability: 'disk',
      data: '/data',
      projects: '/data/projects.json',
      store: {},
      'max-view': 16 * 1024,
      'min-free': 0,
      'keep-days': 0,
      'keep-refused-days': 14,
    },
    url: () => PLACE.url,
    look: () => stateOf(scene, store()),
  };
}

const stateOf = ({ counts, projects, nowMs }: Scene, store = FILES): CollectorState => ({
  counts,
  projects,
  store,
  refused: { storedLines: 0, storedBytes: 0, droppedLines: 0 },
  queue: { bytes: 0, bytesMax: 1024 },
  minFreeBytes: 0,
  isStopping: false,
  nowMs,
});

const broken = (): never => {
  throw new Error('a secret place');
};

const SERVICE: Service = {
  health: () => ({ reasons: ['the disk is full'], warnings: ['odd'] }),
  metrics: () => [],
  pages: { '/': (context) => context.text('a page') },
};

it('a fault in the status ends only its request, and is logged once', async () => {
  const log = memoryLog();
  const service = collectorStatus(sourceOf(new Scene([{ id: '1' }]), broken));
  const get = asking(service, LOCAL, log);
  for (const path of ['/', '/status.txt', '/status.json', '/metrics', '/readyz', '/']) {
    const answer = await get(path);
    expect([path, answer.status]).toStrictEqual([path, 500]);
    expect(await answer.text()).not.toContain('secret');
  }
  expect((await get('/healthz')).status).toBe(200);
  const failed = /^error: The status server failed: .*secret/;
  expect(log.lines).toStrictEqual([expect.stringMatching(failed)]);
});

describe('every minute', () => {
  it('counts are saved and refusals logged; at the end, counts are saved once more', async () => {
    const log = memoryLog();
    const scene = new Scene([{ id: '1' }]);
    scene.refuse(2, { code: 'invalid-view', project: '1' });
    let saves = 0;
    const save = async (): Promise<void> => void (saves += 1);
    const end = everyMinute(() => stateOf(scene), save, log, 1);
    await expect.poll(() => saves).toBeGreaterThan(1);
    const before = saves;
    await end();
    expect(saves).toBeGreaterThan(before);
    expect(log.lines).toStrictEqual([
      'warn: Project 1: all 2 views of the last hour refused (invalid view)',
    ]);
  });

  it('a fault is logged, and the next minute comes all the same', async () => {
    const log = memoryLog();
    const end = everyMinute(broken, async () => {}, log, 1);
    await expect.poll(() => log.lines.length).toBeGreaterThan(1);
    await end();
    expect(log.lines[0]).toBe(
      'error: Cannot check for refused views: a secret place; trying again in a minute',
    );
  });
});

describe('the status server answers', () => {
  it.each<[number, Record<string, string>]>([
    [200, { host: 'localhost:1234' }],
    [200, { host: '[::1]:80' }],
    [403, { host: 'evil.example' }],
    [403, { host: '127.0.0.1.evil.example:8081' }],
    [403, { host: 'localhost.evil.example' }],
    [403, { host: '127.0.0.2' }],
    [403, { host: '' }],
    [200, { 'sec-fetch-site': 'none' }],
    [200, { 'sec-fetch-site': 'same-origin', origin: 'http://localhost' }],
    [403, { 'sec-fetch-site': 'cross-site' }],
    [403, { 'sec-fetch-site': 'same-site' }],
    [403, { origin: 'https://evil.example' }],
    [403, { origin: 'null' }],
    [403, { origin: 'http://localhost:1' }],
  ])('on loopback with %s to %j', async (status, headers) => {
    for (const path of ['/', '/metrics']) {
      expect((await asking(SERVICE)(path, headers)).status).toBe(status);
    }
  });

  it('a plain check without a Host on the health paths only, and gives no reasons', async () => {
    const ask = asking(SERVICE);
    const readiness = await ask('/readyz', { host: '' });
    expect([readiness.status, await readiness.json()]).toStrictEqual([
      503,
      { status: 'not ready' },
    ]);
    expect((await ask('/healthz', { host: '' })).status).toBe(200);
  });

  it('elsewhere only to the token, with reasons; without it says its health', async () => {
    const ask = asking(SERVICE, { host: '0.0.0.0', token: TOKEN });
    const statusOf = async (authorization: string) =>
      (await ask('/metrics', { authorization, host: 'any.example' })).status;
    const basic = (password: string): string => `Basic ${btoa(`operator:${password}`)}`;
    for (const right of [`Bearer ${TOKEN}`, `bearer ${TOKEN}`, basic(TOKEN)]) {
      expect([right, await statusOf(right)]).toStrictEqual([right, 200]);
    }
    for (const wrong of ['', `Bearer ${TOKEN}x`, 'Bearer', basic('wrong'), `Token ${TOKEN}`]) {
      expect([wrong, await statusOf(wrong)]).toStrictEqual([wrong, 401]);
    }
    expect((await ask('/nowhere')).headers.get('www-authenticate')).toMatch(/^Basic realm=/);
    expect(await (await ask('/readyz')).json()).toStrictEqual({ status: 'not ready' });
    const trusted = { authorization: `Bearer ${TOKEN}` };
    expect(await (await ask('/readyz', trusted)).json()).toStrictEqual({
      status: 'not ready',
      reasons: ['the disk is full'],
      warnings: ['odd'],
    });
    const other = { ...trusted, origin: 'https://evil.example' };
    expect((await ask('/metrics', other)).status).toBe(403);
  });

  it('to GET and HEAD, with headers that keep a browser from more than showing it', async () => {
    const ask = asking(SERVICE);
    const page = await ask('/');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await ask('/', {}, method)).status).toBe(405);
    }
    expect((await ask('/', {}, 'HEAD')).status).toBe(200);
    for (const path of ['/view', '/constructor', '//', '/readyz/']) {
      expect((await ask(path)).status).toBe(404);
    }
  });
});

describe('a status token', () => {
  const loopback = { host: '127.0.0.1' };
  const elsewhere = { host: 'status.example' };

  it('comes from the file or the environment, and is not needed on loopback', async () => {
    const file = join(tempDir(), 'token');
    writeFileSync(file, `${TOKEN}\n`);
    const read = (status: typeof loopback, path: string | undefined, env?: string) =>
      readToken({ status, 'status-token-file': path }, () => env);
    expect(await read(elsewhere, file)).toBe(TOKEN);
    expect(await read(loopback, undefined, TOKEN)).toBe(TOKEN);
    expect(await read(loopback, undefined)).toBeUndefined();
  });

  it.each([
    ['none', undefined, undefined, /^--status status\.example is not loopback, so it needs/],
    ['a short one', undefined, 'x'.repeat(15), /at least 16 characters/],
    ['spaces', undefined, 'correct horse battery staple', /printable ASCII/],
    ['no file', 'no/where', undefined, /^Cannot read --status-token-file "no\/where"/],
  ])('that is %s is refused', async (_, file, env, message) => {
    const reading = readToken({ status: elsewhere, 'status-token-file': file }, () => env);
    await expect(reading).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringMatching(message),
    });
  });
});

it('an archive has its facts as text, and its reasons in its health', async () => {
  const state = {
    stream: 'VIEWS',
    sequence: 7,
    lag: 1,
    lines: 6,
    bytes: 600,
    skipped: 1,
    lost: 0,
    path: undefined,
    freeBytes: undefined,
    unavailable: undefined,
    unreadable: 'the stream is gone',
  };
  const service = (server?: string) =>
    asking(archiveStatus({ state: () => state, server: () => server, isStopping: () => false }));
  expect(await (await service('n1:4222')('/')).text()).toMatch(/^The last message archived\. +7$/m);
  const metrics = await (await service('n1:4222')('/metrics')).text();
  expect(metrics).toContain('\nviewlog_archive_sequence 7\n');
  const reasonsOf = async (server?: string): Promise<unknown> =>
    (await service(server)('/readyz')).json();
  expect(await reasonsOf()).toMatchObject({ reasons: ['no connection to the cluster'] });
  expect(await reasonsOf('n1:4222')).toMatchObject({ reasons: ['the stream is gone'] });
});

it('the metrics count each request once: received is accepted and refused together', () => {
  const scene = new Scene([{ id: '1' }]);
  scene.accept(3);
  for (const code of Object.keys(REFUSALS) as RefusalCode[]) {
    for (const whose of [{}, { project: '1' }, { project: '9' }]) {
      scene.refuse(1, { code, ...whose });
    }
  }
  const metrics = parseMetrics(metricsText(collectorMetrics(stateOf(scene))));
  expect(metrics['viewlog_views_received_total']).toBe(3 + 12 * 3);
  expect(sumOf(metrics, 'viewlog_views_accepted_total')).toBe(3);
  expect(sumOf(metrics, 'viewlog_views_refused_total')).toBe(12 * 3);
});

it('warns of a stream whose servers are behind, and of little space', () => {
  const seen = { messages: 7, bytes: 700, leader: 'n1', replicas: 3, lagging: ['n2'] };
  const stream = { name: 'VIEWS', warnings: ['It drops views'], seen };
  const store = { ...FILES, stream } as unknown as typeof FILES;
  const health = { ...stateOf(new Scene([])), minFreeBytes: 2 ** 33 };
  const none =
    'No project is active, so every view is refused; "viewlog activate ID" activates one';
  expect(healthOf({ ...health, store })).toStrictEqual({
    reasons: [],
    warnings: [
      none,
      'It drops views',
      '1 of the 3 servers that keep stream VIEWS are down or behind: n2',
    ],
  });
  expect(healthOf(health)).toStrictEqual({
    reasons: [],
    warnings: [
      none,
      'Free disk space is close to --min-free (8 GiB); refused views are no longer stored',
    ],
  });
});

it('the log says that views are refused, and accepted again, once an hour', () => {
  const log = memoryLog();
  const refusals = new RefusalLog(log);
  const closed = { id: '1', name: 'Aurora', origins: ['https://a.example'] };
  const scene = new Scene([closed]);
  const refuse = (): void => {
    scene.refuse(9, { code: 'origin-not-allowed', project: '1' }, 'https://b.example');
  };
  const look = (): readonly string[] => {
    refusals.look(scene.judged(), scene.nowMs);
    return log.lines;
  };
  expect(look()).toStrictEqual([]);
  refuse();
  const refused =
    'warn: Project 1 (Aurora): all 9 views of the last hour refused (origin not allowed)';
  expect(look()).toStrictEqual([refused]);
  scene.list({ id: '1', name: 'Aurora' });
  expect(look()).toStrictEqual([refused]);
  scene.accept();
  const accepted = 'info: Project 1 (Aurora): views are accepted again';
  expect(look()).toStrictEqual([refused, accepted]);
  scene.list(closed);
  refuse();
  expect(look()).toStrictEqual([refused, accepted]);
  scene.nowMs = NOON + HOUR_MS + 60_000;
  refuse();
  expect(look()).toHaveLength(3);
  scene.nowMs += 2 * HOUR_MS;
  expect(look()).toHaveLength(3);
});
