import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { post, speak } from '../support/raw.ts';
import { BUN, DENO, isHere, isPresent, NODE } from '../support/runtimes.ts';
import { startWatched, sumOf, type Watched } from '../support/status.ts';
import { dataDirectory, PROJECTS, run, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// Tests the status server over HTTP. Every runtime must pass the same tests.

const PROMTOOL = '/usr/bin/promtool';
const TOKEN = 'correct-horse-battery-staple';

const body = JSON.stringify(MINIMAL_VIEW);

const readiness = async ({ statusUrl }: Watched): Promise<[number, unknown]> => {
  const answer = await fetch(`${statusUrl}/readyz`);
  return [answer.status, await answer.json()];
};

/** Requests with every outcome, and their statuses. */
const outcomes = (viewlog: Watched, i: number): [number, Promise<Response>][] => [
  [201, viewlog.post(MINIMAL_VIEW)],
  [403, viewlog.post({ ...MINIMAL_VIEW, p: '1000002' })],
  [403, viewlog.post({ ...MINIMAL_VIEW, p: String(i) })],
  [422, viewlog.post({ ...MINIMAL_VIEW, url: 'x' })],
  [400, viewlog.post('{')],
  [413, viewlog.post('x'.repeat(20_000))],
  [415, viewlog.post(body, { 'content-type': 'text/plain' })],
  [405, fetch(`${viewlog.url}/view`)],
  [404, fetch(`${viewlog.url}/elsewhere?${i}`)],
  [
    204,
    fetch(`${viewlog.url}/view`, { method: 'OPTIONS', headers: { origin: 'https://a.example' } }),
  ],
];

describe.each([NODE, DENO, BUN].filter(isPresent))('the status server on %s', (runtime) => {
  it("counts as many views as the clients' answers and the files show, even under load", async () => {
    const viewlog = await startWatched({ runtime });
    for (let i = 0; i < 50; i += 10) {
      const sent = Array.from({ length: 10 }, (_, k) => outcomes(viewlog, i + k)).flat();
      const metrics = await viewlog.metrics();
      const accepted = sumOf(metrics, 'viewlog_views_accepted_total');
      const refused = sumOf(metrics, 'viewlog_views_refused_total');
      expect(metrics['viewlog_views_received_total']).toBe(accepted + refused);
      for (const [status, answer] of sent) expect((await answer).status).toBe(status);
    }
    // The project's limit is two views per minute.
    for (let i = 0; i < 4; i++) await viewlog.post({ ...MINIMAL_VIEW, p: '1000004' });
    // The connection of a body that was refused unread stays open for a moment.
    await until(async () => (await viewlog.metrics())['viewlog_queue_bytes'] === 0);
    const metrics = await viewlog.metrics();
    expect(metrics).toMatchObject({
      'viewlog_views_accepted_total{project="1000001"}': 50,
      'viewlog_views_accepted_total{project="1000002"}': 0,
      'viewlog_views_accepted_total{project="1000004"}': 2,
      'viewlog_project_refused_total{project="1000001"}': 50,
      'viewlog_project_refused_total{project="1000002"}': 50,
      'viewlog_project_refused_total{project="1000004"}': 2,
      viewlog_directory_ok: 1,
      'viewlog_views_refused_total{code="project-not-activated"}': 100,
      'viewlog_views_refused_total{code="invalid-view"}': 50,
      'viewlog_views_refused_total{code="rate-limited"}': 2,
      'viewlog_views_refused_total{code="overloaded"}': 0,
      viewlog_views_received_total: 454,
      viewlog_written_lines_total: 52,
      viewlog_ready: 1,
    });
    const lines = viewlog.lines();
    expect(lines).toHaveLength(52);
    expect(metrics['viewlog_written_bytes_total']).toBe(lines.join('\n').length + 1);
    // None of the 50 made-up ids has become a label.
    const projects = Object.keys(metrics).filter((series) =>
      series.includes('accepted_total{project='),
    );
    expect(projects).toHaveLength(PROJECTS.projects.length);
    if (!isHere(PROMTOOL)) return;
    const input = await (await fetch(`${viewlog.statusUrl}/metrics`)).text();
    expect(execFileSync(PROMTOOL, ['check', 'metrics'], { input, encoding: 'utf8' })).toBe('');
  });

  it('is ready despite an invalid projects file, but not ready from SIGUSR2 on', async () => {
    const viewlog = await startWatched({ runtime });
    const ready = { status: 'ready', reasons: [], warnings: [] };
    expect(await readiness(viewlog)).toStrictEqual([200, ready]);
    writeFileSync(join(viewlog.data, 'projects.json'), '{');
    await until(async () => (await viewlog.metrics())['viewlog_projects_file_ok'] === 0);
    const warnings = [expect.stringContaining('projects.json:1:2')];
    expect(await readiness(viewlog)).toStrictEqual([200, { ...ready, warnings }]);
    viewlog.child.kill('SIGUSR2');
    await until(async () => (await readiness(viewlog))[0] === 503);
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    const slow = speak(viewlog.port, { pieces: [post(body).slice(0, -5), 800, body.slice(-5)] });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const ended = viewlog.signal('SIGTERM');
    await until(() => viewlog.stdout().includes('viewlog stopping'));
    const stopping = { status: 'not ready', reasons: ['viewlog is stopping'], warnings };
    expect(await readiness(viewlog)).toStrictEqual([503, stopping]);
    expect((await slow).answers.map(({ status }) => status)).toStrictEqual([201]);
    expect((await ended).code).toBe(0);
  });

  it('answers requests with a missing or invalid Host without a stack trace, also in the log', async () => {
    const viewlog = await startWatched({ runtime });
    const said = viewlog.stderr();
    const odd = ['a b<>"', '[', 'localhost:x', '\u00e9\u00ff', 'a/b', 'a?b', '%'];
    const refused = [
      ...['/', '/metrics', '//readyz'].map((path) => `GET ${path} HTTP/1.0`),
      'HEAD / HTTP/1.0',
      ...odd.map((host) => `GET /readyz HTTP/1.1\r\nHost: ${host}`),
      ...odd.map((host) => `GET / HTTP/1.0\r\nHost: ${host}`),
      'GET / HTTP/1.1\r\nHost: u:p@localhost',
      'GET http:///x HTTP/1.1\r\nHost: [',
      'TRACE / HTTP/1.1\r\nHost: a b',
    ];
    const answerTo = async (start: string): Promise<string> => {
      const pieces = [Buffer.from(`${start}\r\n\r\n`, 'latin1')];
      const { answers, received } = await speak(viewlog.statusPort, { pieces }, 100);
      expect(received).not.toMatch(/viewlog\.mjs|\.ts|at |<html/);
      return `${answers[0]?.status} ${answers[0]?.body}`;
    };
    expect(await answerTo('GET /healthz HTTP/1.0')).toBe('200 {"status":"alive"}');
    expect(await answerTo('GET /readyz?now HTTP/1.0\r\nHost:')).toBe('200 {"status":"ready"}');
    for (const start of refused) expect(await answerTo(start), start).toMatch(/^40[035] /);
    expect(viewlog.stderr()).toBe(said);
  });

  it('serves its pages on addresses other than loopback only with the token', async () => {
    const data = dataDirectory();
    const file = join(data, 'status-token');
    writeFileSync(file, TOKEN);
    const args = ['--status=0.0.0.0:0', `--status-token-file=${file}`];
    const { statusPort } = await startWatched({ runtime, data, args });
    const url = `http://127.0.0.1:${statusPort}`;
    const headers = { authorization: `Bearer ${TOKEN}` };
    const types = {
      '/': 'text/html; charset=utf-8',
      '/status.txt': 'text/plain; charset=utf-8',
      '/page.css': 'text/css; charset=utf-8',
      '/page.js': 'text/javascript; charset=utf-8',
      '/metrics': 'text/plain; version=0.0.4; charset=utf-8',
    };
    for (const [path, type] of Object.entries(types)) {
      expect((await fetch(url + path)).status, path).toBe(401);
      const answer = await fetch(url + path, { headers });
      expect(answer.headers.get('content-type')?.toLowerCase()).toBe(type);
      expect((await answer.text()).length).toBeGreaterThan(200);
    }
    expect(await (await fetch(`${url}/readyz`)).json()).toStrictEqual({ status: 'ready' });
  });
});

it.each([
  ['the default host', []],
  ['--host=0.0.0.0', ['--host=0.0.0.0']],
  ['--host=localhost', ['--host=localhost']],
])('serve refuses to use the same port for both servers, with %s', async (_, host) => {
  const { code, stderr } = await run(['serve', '--port=8', '--status=127.0.0.1:8', ...host]);
  const expected =
    'error: --port and --status have the same port, 8; choose another for one of them\n';
  expect([code, stderr]).toStrictEqual([78, expected]);
});

it.each([
  ['--host=192.0.2.7', 'this machine has no such address; choose another address'],
  ['--host=no-such-host.invalid', "this host name can't be resolved; choose another address"],
])("serve says why it can't listen with %s", async (host, why) => {
  const { code, stderr } = await run(['serve', '--port=8080', '--status=off', host]);
  expect([code, stderr]).toStrictEqual([
    69,
    `error: Can't listen on ${host.slice(7)}:8080 (--host and --port): ${why}\n`,
  ]);
});

it('serve names an address that is in use and the flag that sets it', async () => {
  const { statusPort } = await startWatched();
  const { code, stderr } = await run(['serve', '--port=0', `--status=127.0.0.1:${statusPort}`]);
  expect([code, stderr]).toStrictEqual([
    69,
    expect.stringMatching(
      `^error: Can't listen on 127\\.0\\.0\\.1:${statusPort} \\(--status\\): another program is using this address; ` +
        'choose another address, or stop that program. To find it: ' +
        `(sudo )?ss -ltnp 'sport = :${statusPort}'\n$`,
    ),
  ]);
});

it('on Node, the status server accepts at most 64 connections and closes, within 17 seconds, each that sends an incomplete head', async () => {
  const { statusPort, statusUrl } = await startWatched();
  /** Opens connections that send an incomplete head; returns how many are open later. */
  async function halfHeads(count: number, ms: number): Promise<number> {
    const sockets = Array.from({ length: count }, () => connect(statusPort, '127.0.0.1'));
    for (const socket of sockets) {
      socket.on('error', () => {}).resume();
      socket.write('GET / HTTP/1.1\r\nHo');
    }
    await new Promise((resolve) => setTimeout(resolve, ms));
    const open = sockets.filter(({ closed }) => !closed).length;
    for (const socket of sockets) socket.destroy();
    return open;
  }
  const few = halfHeads(20, 17_000);
  expect(await halfHeads(80, 500)).toBe(44);
  expect(await few).toBe(0);
  expect((await fetch(`${statusUrl}/healthz`)).status).toBe(200);
});
