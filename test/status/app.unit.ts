import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ArchiveState } from '../../src/archive/archive.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import type { Fatal } from '../../src/base/exit.ts';
import { type Service, statusApp } from '../../src/status/app.ts';
import { archiveStatus } from '../../src/status/archive-status.ts';
import { collectorStatus } from '../../src/status/collector-status.ts';
import { everyMinute } from '../../src/status/every-minute.ts';
import type { GuardOptions } from '../../src/status/guard.ts';
import { healthOf } from '../../src/status/health.ts';
import { readToken } from '../../src/status/token.ts';
import { memoryLog } from '../support/memory-log.ts';
import { INSTALLATION } from '../support/installation.ts';
import { type FILES, NOON, Scene } from '../support/status-scene.ts';
import { tempDir } from '../support/temp-dir.ts';

const LOCAL: GuardOptions = { host: '127.0.0.1', token: undefined };
const TOKEN = 'correct-horse-battery-staple';

/** Returns a function that asks a service's status server, with a Host and these headers. */
function asking(service: Service, guarded = LOCAL, log = memoryLog()) {
  const app = statusApp(service, guarded, log);
  return async (path: string, more: Record<string, string> = {}, method = 'GET') => {
    const headers = { host: 'localhost', ...more };
    return app(new Request(`http://localhost${path}`, { method, headers }));
  };
}

const broken = (): never => {
  throw new Error('a secret place');
};

const SERVICE: Service = {
  health: () => ({ reasons: ['the disk is full'], warnings: ['odd'] }),
  metrics: () => [],
  pages: { '/': (context) => context.text('a page') },
};

it('an error in the status server fails only its request and is logged once', async () => {
  const log = memoryLog();
  const keepDays = { views: 0, refused: 14 };
  const installation = () => ({ ...INSTALLATION, data: undefined });
  const get = asking(collectorStatus({ keepDays, installation, snapshot: broken }), LOCAL, log);
  for (const path of ['/', '/status.txt', '/status.json', '/metrics', '/readyz', '/']) {
    const answer = await get(path);
    expect([path, answer.status]).toStrictEqual([path, 500]);
    expect(await answer.text()).not.toContain('secret');
  }
  expect((await get('/healthz')).status).toBe(200);
  const failed =
    /^error: A request to the status server failed because of an error in viewlog; .*secret/;
  expect(log.lines).toStrictEqual([expect.stringMatching(failed)]);
});

it('every minute, even after an error, a collector saves counts and logs refusals and a closed data directory', async () => {
  const log = memoryLog();
  const scene = new Scene([{ id: '1' }]);
  scene.refuse(2, { code: 'invalid-view', project: '1' });
  let [looks, saves] = [0, 0];
  const snapshot = () => (looks++ === 0 ? broken() : scene.state());
  const save = async () => void (saves += 1);
  const dir = tempDir();
  const owners = { data: { uid: 4711, gid: 4712, name: '#4711' } };
  const installation = () => ({ ...INSTALLATION, data: dir, owners });
  const keepDays = { views: 0, refused: 14 };
  const { directoryWarning } = collectorStatus({
    keepDays,
    installation,
    snapshot: scene.state.bind(scene),
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const end = everyMinute({
    snapshot,
    save,
    fixFor: () => 'Correct the page.',
    directoryWarning,
    log,
  });
  await vi.advanceTimersByTimeAsync(MINUTE_MS - 1);
  expect(saves).toBe(0);
  await vi.advanceTimersByTimeAsync(MINUTE_MS + 1);
  expect([saves, looks]).toStrictEqual([2, 2]);
  // The directory is read while the timers stand still.
  const hasLogged = async (lines: number): Promise<void> => {
    while (log.lines.length < lines) await new Promise((resolve) => void setImmediate(resolve));
  };
  await hasLogged(3);
  chmodSync(dir, 0o777);
  await vi.advanceTimersByTimeAsync(MINUTE_MS + 1);
  await hasLogged(4);
  await end();
  expect(saves).toBe(4);
  expect(log.lines).toStrictEqual([
    "error: Can't check for refused views: a secret place; viewlog will try again in a minute",
    'warn: Project 1: both views in the last hour were refused (invalid view). Correct the page.',
    expect.stringMatching(
      /^warn: The data directory ".*" belongs to .*, which can't create files there\. .*: sudo chown -R 4711:4712 \//,
    ),
    'info: viewlog can create files in its data directory again',
  ]);
});

describe('the status server', () => {
  it.each<[status: number, to: string, headers: Record<string, string>]>([
    [200, 'with the Host localhost', { host: 'localhost:1234' }],
    [200, 'with the Host [::1]', { host: '[::1]:80' }],
    [403, 'with the Host of a site', { host: 'evil.example' }],
    [403, 'with a Host that begins like 127.0.0.1', { host: '127.0.0.1.evil.example:8081' }],
    [403, 'with the Host 127.0.0.2', { host: '127.0.0.2' }],
    [403, 'with an empty Host', { host: '' }],
    [200, 'from a typed address', { 'sec-fetch-site': 'none' }],
    [200, 'from its own page', { 'sec-fetch-site': 'same-origin', origin: 'http://localhost' }],
    [403, 'from another page of the same site', { 'sec-fetch-site': 'same-site' }],
    [403, 'from a sandboxed page', { origin: 'null' }],
    [403, 'from a page of another port', { origin: 'http://localhost:1' }],
  ])('answers %i on loopback to a request %s', async (status, _, headers) => {
    for (const path of ['/', '/metrics']) {
      expect((await asking(SERVICE)(path, headers)).status).toBe(status);
    }
  });

  it('requires the token on other addresses, except for /healthz and for /readyz without reasons', async () => {
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
    expect((await ask('/healthz')).status).toBe(200);
    const trusted = { authorization: `Bearer ${TOKEN}` };
    expect(await (await ask('/readyz', trusted)).json()).toStrictEqual({
      status: 'not ready',
      reasons: ['the disk is full'],
      warnings: ['odd'],
    });
    const other = { ...trusted, origin: 'https://evil.example' };
    expect((await ask('/metrics', other)).status).toBe(403);
  });

  it('answers only GET and HEAD, with headers that let a browser only show the page', async () => {
    const ask = asking(SERVICE);
    const page = await ask('/');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(page.headers.get('cache-control')).toBe('no-store');
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await ask('/view', {}, method);
      expect(answer.status).toBe(405);
      expect(await answer.text()).toContain("views go to /view on viewlog's other port");
    }
    expect((await ask('/', {}, 'HEAD')).status).toBe(200);
    for (const path of ['/view', '/constructor', '//', '/readyz/']) {
      expect((await ask(path)).status).toBe(404);
    }
  });
});

it('the log says if a refused origin belongs to another project', () => {
  const scene = new Scene([
    { id: '1', origins: ['https://a.example'] },
    { id: '5', name: 'Kelp', origins: ['https://kelp.example'] },
  ]);
  scene.refuse(1, { code: 'origin-not-allowed', project: '1' }, 'https://kelp.example');
  const { fixFor } = collectorStatus({
    keepDays: { views: 0, refused: 14 },
    installation: () => ({ ...INSTALLATION, data: undefined }),
    snapshot: () => scene.state(),
  });
  const judged = scene.judged().find(({ id }) => id === '1')!;
  expect(fixFor(judged.reasons[0]!, judged)).toMatch(
    /^https:\/\/kelp\.example is an origin of project 5 \(Kelp\)\. If its pages should send 5, .* Otherwise, if the site should count for this project, too, add it: .* activate 1 /,
  );
});

describe('/arriving', () => {
  const keepDays = { views: 0, refused: 14 };
  const installation = () => ({ ...INSTALLATION, data: undefined });
  const arriving = (scene: Scene) => {
    const source = { keepDays, installation, snapshot: () => scene.state() };
    const ask = asking(collectorStatus(source));
    return async (query = '') => {
      const answer = await ask(`/arriving${query}`);
      return [answer.status, (await answer.text()).trim()];
    };
  };

  it('answers 503 with the headline once 20 requests in an hour were refused, for all projects or one', async () => {
    const scene = new Scene([{ id: '1', name: 'Aurora' }, { id: '2' }]);
    const ask = arriving(scene);
    expect(await ask()).toStrictEqual([200, 'Waiting for the first view']);
    scene.accept(1, '2');
    scene.refuse(19, { code: 'invalid-view', project: '1' });
    const refused = 'Aurora: all refused (invalid view)';
    expect(await ask()).toStrictEqual([200, refused]);
    scene.refuse(1, { code: 'invalid-view', project: '1' });
    expect(await ask()).toStrictEqual([503, refused]);
    expect(await ask('?project=1')).toStrictEqual([503, refused]);
    expect(await ask('?project=2')).toStrictEqual([200, 'Views are arriving from Project 2']);
    expect(await ask('?project=3')).toStrictEqual([404, "That project isn't listed."]);
    // The headline is amber while more than one in ten is refused.
    scene.accept(60, '1', 0);
    expect((await ask())[0]).toBe(503);
    scene.accept(200, '1', 0);
    expect(await ask()).toStrictEqual([200, expect.stringContaining('Views are arriving')]);
  });

  it('answers 503 if requests that name no project fail, unless it is asked about one project', async () => {
    const scene = new Scene([{ id: '1' }]);
    scene.refuse(20, { code: 'malformed-json' });
    const ask = arriving(scene);
    expect(await ask()).toStrictEqual([503, 'Requests: all failed (malformed JSON)']);
    expect((await ask('?project=1'))[0]).toBe(200);
  });

  it('answers 503 for a removed id while its views are refused', async () => {
    const scene = new Scene([{ id: '1' }, { id: '77', name: 'Shop' }]);
    const ask = arriving(scene);
    scene.accept(1, '77');
    scene.list({ id: '1' });
    expect(await ask('?project=77')).toStrictEqual([404, 'That project is no longer listed.']);
    for (const project of ['77', '78']) {
      scene.refuse(20, { code: 'project-not-activated', project });
    }
    scene.refuse(9, { code: 'malformed-json' });
    expect(await ask('?project=77')).toStrictEqual([503, 'Shop: no longer listed']);
    expect(await ask('?project=78')).toStrictEqual([404, "That project isn't listed."]);
    expect(await ask('?project=1')).toStrictEqual([200, 'No view accepted from Project 1 yet']);
  });

  it('names the project that it is asked about, even if that is quiet or inactive', async () => {
    const scene = new Scene([{ id: '1', name: 'Aurora' }, { id: '2' }, { id: '3', active: false }]);
    const ask = arriving(scene);
    scene.accept(1, '1');
    expect((await ask('?project=2'))[1]).toBe('No view accepted from Project 2 yet');
    expect((await ask('?project=3'))[1]).toBe('Project 3 is inactive, so its views are refused');
    scene.nowMs += HOUR_MS;
    expect((await ask('?project=1'))[1]).toBe('Quiet: no views from Aurora in the last hour');
    expect((await ask())[1]).toBe('Quiet: no views from active projects in the last hour');
  });

  it('answers 503 if no view can be stored, or if a project is silent', async () => {
    const scene = new Scene([{ id: '1', name: 'Aurora' }, { id: '2' }], NOON - 48 * HOUR_MS);
    const ask = arriving(scene);
    scene.nowMs = NOON - 26 * HOUR_MS;
    scene.accept(20);
    scene.nowMs = NOON;
    expect(await ask()).toStrictEqual([503, 'Aurora: no views for 3 hours']);
    expect((await ask('?project=2'))[0]).toBe(200);
    scene.around = { store: { unavailable: 'the disk is full' } };
    const full = 'Every view is refused: the disk is full';
    expect(await ask('?project=2')).toStrictEqual([503, full]);
  });
});

it.each([
  ['is read from the file', '0.0.0.0', 'token', undefined, TOKEN],
  ['is read from the environment', '0.0.0.0', undefined, TOKEN, TOKEN],
  ['may be missing on loopback', '127.0.0.1', undefined, undefined, undefined],
  [
    'must be given on other addresses',
    '0.0.0.0',
    undefined,
    undefined,
    /^--status 0\.0\.0\.0 isn't a loopback address/,
  ],
  ['may be an empty variable on loopback', '127.0.0.1', undefined, '', undefined],
  [
    "can't be an empty variable on other addresses",
    '0.0.0.0',
    undefined,
    '',
    /isn't a loopback address/,
  ],
  [
    "can't be shorter than 16 characters",
    '0.0.0.0',
    undefined,
    'x'.repeat(15),
    /at least 16 printable ASCII characters/,
  ],
  ["can't contain spaces", '0.0.0.0', undefined, 'correct horse battery staple', /printable ASCII/],
  [
    "can't be in a missing file",
    '0.0.0.0',
    'none',
    undefined,
    /^Can't read --status-token-file "[^"]+\/none": it doesn't exist; to create it, run: .*umask 077; openssl rand -hex 16 > \S+\/none/,
  ],
  [
    "can't be in a directory",
    '0.0.0.0',
    '.',
    undefined,
    /^Can't read --status-token-file "[^"]+": EISDIR: illegal operation on a directory; name the file that contains the token$/,
  ],
])('the status token %s', async (_, host, file, env, expected) => {
  const dir = tempDir();
  writeFileSync(join(dir, 'token'), `${TOKEN}\n`);
  const options = { status: { host }, 'status-token-file': file && join(dir, file) };
  const reading = readToken(options, {}, () => env);
  if (!(expected instanceof RegExp)) return expect(await reading).toBe(expected);
  const error = (await reading.catch((one: unknown) => one)) as Fatal;
  expect([error.exitCode, error.message]).toStrictEqual([78, expect.stringMatching(expected)]);
  expect(error.message).not.toContain(env || TOKEN);
});

it("an archive's status page is text, and its /readyz gives reasons", async () => {
  const facts = { sequence: 7, unreadable: 'the stream is gone', warnings: ['It is old'] };
  const shortened: string[] = [];
  const state = { ...facts, shortened } as unknown as ArchiveState;
  const get = async (path: string, server?: string): Promise<string> => {
    const service = archiveStatus(() => ({ ...state, server, isStopping: false }));
    return (await asking(service)(path)).text();
  };
  expect(await get('/', 'n1:4222')).toMatch(/^The last message archived\. +7$/m);
  expect(await get('/metrics', 'n1:4222')).toContain('\nviewlog_archive_sequence 7\n');
  expect(await get('/readyz')).toContain('"reasons":["no connection to the cluster"]');
  expect(await get('/readyz', 'n1:4222')).toContain('"reasons":["the stream is gone"]');
  expect(await get('/readyz')).toContain('"warnings":["It is old"]');
  shortened.push('views-2026-03-01.ndjson');
  expect(await get('/readyz', 'n1:4222')).toContain(
    'stop the archive, then start it once with its usual options and --restore 2026-03-01"]',
  );
  expect(await get('/', 'n1:4222')).toMatch(/^Warning: +It is old$/m);
});

it("a collector warns if servers of its stream are behind, and isn't ready if no view can be stored", () => {
  const seen = { messages: 7, bytes: 700, leader: 'n1', replicas: 3, lagging: ['n2'] };
  const stream = { name: 'VIEWS', warnings: ['It drops views'], seen };
  const none = 'No project is active, so every view is refused';
  const scene = new Scene([]);
  scene.around = { store: { stream } as unknown as typeof FILES };
  expect(healthOf(scene.state()).warnings).toStrictEqual([
    none,
    'It drops views',
    '1 of 3 servers of stream VIEWS is down or behind: n2',
  ]);
  scene.around = { store: { unavailable: 'the disk is full' } };
  expect(healthOf(scene.state())).toStrictEqual({
    reasons: ['the disk is full'],
    warnings: [none],
  });
});
