import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chunk, post, type RawAnswer, speak } from '../support/raw.ts';
import { BUN, DENO, isHere, isPresent, NODE, type Runtime } from '../support/runtimes.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import { startWatched, sumOf, type Watched } from '../support/status.ts';
import { dataDirectory, PROJECTS, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// The operator's listener, from outside, the same on every runtime.

const PROMTOOL = '/usr/bin/promtool';

const body = JSON.stringify(MINIMAL_VIEW);

/** The status of a `GET` whose headers are written by hand. */
async function ask(port: number, path: string, headers: Record<string, string>): Promise<number> {
  const lines = Object.entries({ Connection: 'close', ...headers }).map(([k, v]) => `${k}: ${v}`);
  const pieces = [`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`];
  const { answers } = await speak(port, { pieces }, 200);
  return answers[0]!.status;
}

const readiness = async ({ statusUrl }: Watched): Promise<[number, unknown]> => {
  const answer = await fetch(`${statusUrl}/readyz`);
  return [answer.status, await answer.json()];
};

/** Views of every fate, at once; how many answers of each status there were. */
async function mixedLoad(viewlog: Watched, rounds: number): Promise<Record<number, number>> {
  const seen: Record<number, number> = {};
  const count = async (sent: Promise<Response>): Promise<void> => {
    const { status } = await sent;
    seen[status] = (seen[status] ?? 0) + 1;
  };
  const round = (i: number): Promise<void>[] => [
    count(viewlog.post(MINIMAL_VIEW)),
    count(viewlog.post({ ...MINIMAL_VIEW, p: '1000003' }, { origin: 'https://www.example.com' })),
    count(viewlog.post({ ...MINIMAL_VIEW, p: '1000004' })),
    count(viewlog.post({ ...MINIMAL_VIEW, p: '1000002' })),
    count(viewlog.post({ ...MINIMAL_VIEW, p: String(i) })),
    count(viewlog.post({ ...MINIMAL_VIEW, url: 'x' })),
    count(viewlog.post('{')),
    count(viewlog.post('x'.repeat(20_000))),
    count(viewlog.post(body, { 'content-type': 'text/plain' })),
    count(fetch(`${viewlog.url}/view`)),
    count(fetch(`${viewlog.url}/elsewhere?${i}`)),
    count(fetch(`${viewlog.url}/view`, { method: 'OPTIONS' })),
    count(
      fetch(`${viewlog.url}/view`, {
        method: 'OPTIONS',
        headers: { origin: 'https://a.example', 'access-control-request-method': 'POST' },
      }),
    ),
  ];
  for (let i = 0; i < rounds; i += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, k) => round(i + k)).flat());
  }
  return seen;
}

function theListenerOn(runtime: Runtime): void {
  it('counts what the clients were answered and what is in the files, under load too', async () => {
    const viewlog = await startWatched({ runtime });
    let scrapes = 0;
    const load = mixedLoad(viewlog, 50);
    let isLoaded = false;
    void load.finally(() => (isLoaded = true));
    while (!isLoaded) {
      const metrics = await viewlog.metrics();
      const accepted = sumOf(metrics, 'viewlog_views_accepted_total');
      const refused = sumOf(metrics, 'viewlog_views_refused_total');
      expect(metrics['viewlog_views_received_total']).toBe(accepted + refused);
      scrapes += 1;
    }
    expect(scrapes).toBeGreaterThan(2);
    const seen = await load;
    // 50 of each kind; of the project with a limit of 2 a minute only 2 fit.
    expect(seen).toStrictEqual({
      201: 102,
      204: 100,
      400: 50,
      403: 100,
      404: 50,
      405: 50,
      413: 50,
      415: 50,
      422: 50,
      429: 48,
    });
    const metrics = await viewlog.metrics();
    expect(metrics).toMatchObject({
      'viewlog_views_accepted_total{project="1000001"}': 50,
      'viewlog_views_accepted_total{project="1000002"}': 0,
      'viewlog_views_accepted_total{project="1000003"}': 50,
      'viewlog_views_accepted_total{project="1000004"}': 2,
      'viewlog_views_refused_total{code="malformed-json"}': seen[400],
      'viewlog_views_refused_total{code="project-not-activated"}': seen[403],
      'viewlog_views_refused_total{code="origin-not-allowed"}': 0,
      'viewlog_views_refused_total{code="not-found"}': seen[404],
      'viewlog_views_refused_total{code="method-not-allowed"}': seen[405],
      'viewlog_views_refused_total{code="view-too-large"}': seen[413],
      'viewlog_views_refused_total{code="unsupported-media-type"}': seen[415],
      'viewlog_views_refused_total{code="invalid-view"}': seen[422],
      'viewlog_views_refused_total{code="rate-limited"}': seen[429],
      viewlog_views_received_total: 550,
      viewlog_written_lines_total: 102,
      viewlog_queue_bytes: 0,
      viewlog_ready: 1,
    });
    const lines = viewlog.lines();
    expect(lines).toHaveLength(102);
    expect(metrics['viewlog_written_bytes_total']).toBe(lines.join('\n').length + 1);
    // Fifty ids were made up, and none of them became a label.
    const projects = Object.keys(metrics).filter((series) => series.includes('{project='));
    expect(projects).toHaveLength(PROJECTS.projects.length);
  });

  it('counts an upload that is broken off, and one that never ends, as refused', async () => {
    const viewlog = await startWatched({ runtime });
    const socket = connect(viewlog.port, '127.0.0.1');
    socket.write(post(body).slice(0, -5), () => setTimeout(() => socket.destroy(), 50));
    const endless = { piece: chunk('x'.repeat(4096)), bytesMax: 1024 * 1024 };
    const pieces = [post('', { 'Content-Length': '', 'Transfer-Encoding': 'chunked' })];
    await speak(viewlog.port, { pieces, endless }, 100);
    await until(async () => (await viewlog.metrics())['viewlog_views_received_total'] === 2);
    expect(await viewlog.metrics()).toMatchObject({
      'viewlog_views_refused_total{code="view-too-large"}': 1,
      'viewlog_views_refused_total{code="request-timeout"}': 1,
    });
  });

  it('is alive and ready, and stays so with a faulty projects file, which it warns of', async () => {
    const viewlog = await startWatched({ runtime });
    const alive = await fetch(`${viewlog.statusUrl}/healthz`);
    expect([alive.status, await alive.json()]).toStrictEqual([200, { status: 'alive' }]);
    const ready = { status: 'ready', reasons: [], warnings: [] };
    expect(await readiness(viewlog)).toStrictEqual([200, ready]);
    writeFileSync(join(viewlog.data, 'projects.json'), '{');
    await until(async () => (await viewlog.metrics())['viewlog_projects_file_ok'] === 0);
    expect(await readiness(viewlog)).toStrictEqual([
      200,
      { ...ready, warnings: [expect.stringContaining('projects.json:1:2')] },
    ]);
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    writeFileSync(join(viewlog.data, 'projects.json'), JSON.stringify(PROJECTS));
    await until(async () => (await viewlog.metrics())['viewlog_projects_file_ok'] === 1);
    expect(await readiness(viewlog)).toStrictEqual([200, ready]);
  });

  it('is not ready while viewlog stops, and stays to say so until it has', async () => {
    const viewlog = await startWatched({ runtime });
    const slow = speak(viewlog.port, { pieces: [post(body).slice(0, -5), 800, body.slice(-5)] });
    await new Promise((resolve) => setTimeout(resolve, 200));
    const ended = viewlog.signal('SIGTERM');
    await until(() => viewlog.stdout().includes('viewlog stopping'));
    expect(await readiness(viewlog)).toStrictEqual([
      503,
      { status: 'not ready', reasons: ['shutting down'], warnings: [] },
    ]);
    expect((await slow).answers.map(({ status }) => status)).toStrictEqual([201]);
    expect((await ended).code).toBe(0);
  });

  it('says on SIGUSR2 that it is about to stop, and takes views until it does', async () => {
    const viewlog = await startWatched({ runtime });
    viewlog.child.kill('SIGUSR2');
    await until(async () => (await readiness(viewlog))[0] === 503);
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  });

  it('answers only to names of this machine, and not to other sites', async () => {
    const { statusPort: port } = await startWatched({ runtime });
    const host = `127.0.0.1:${port}`;
    const cases: [number, Record<string, string>][] = [
      [200, { Host: host }],
      [200, { Host: 'localhost' }],
      [200, { Host: 'localhost:1234' }],
      [200, { Host: '[::1]:80' }],
      [403, { Host: 'evil.example' }],
      [403, { Host: `127.0.0.1.evil.example:${port}` }],
      [403, { Host: 'localhost.evil.example' }],
      [403, { Host: '127.0.0.2' }],
      [200, { Host: host, 'Sec-Fetch-Site': 'none' }],
      [200, { Host: host, 'Sec-Fetch-Site': 'same-origin', Origin: `http://${host}` }],
      [403, { Host: host, 'Sec-Fetch-Site': 'cross-site' }],
      [403, { Host: host, 'Sec-Fetch-Site': 'same-site' }],
      [403, { Host: host, Origin: 'https://evil.example' }],
      [403, { Host: host, Origin: 'null' }],
      [403, { Host: host, Origin: 'http://localhost:1' }],
    ];
    for (const path of ['/', '/metrics', '/readyz', '/status.json']) {
      const results = await Promise.all(
        cases.map(async ([, headers]) => [await ask(port, path, headers), headers]),
      );
      expect([path, results]).toStrictEqual([path, cases]);
    }
  });

  it("answers a load balancer's plain check, which names no Host, without reasons", async () => {
    const { statusPort: port } = await startWatched({ runtime });
    const plain = async (start: string): Promise<unknown> => {
      const { answers } = await speak(port, { pieces: [`${start}\r\n\r\n`] }, 200);
      const [{ status, body }] = answers as [RawAnswer];
      return [start, status, body];
    };
    const checks = [
      ['GET /healthz HTTP/1.0', 200, '{"status":"alive"}'],
      ['GET /readyz HTTP/1.0', 200, '{"status":"ready"}'],
      ['GET /readyz?now HTTP/1.0\r\nHost:', 200, '{"status":"ready"}'],
    ];
    expect(await Promise.all(checks.map(([start]) => plain(String(start))))).toStrictEqual(checks);
    for (const path of ['/', '/metrics', '/status.json', '//readyz', '/readyz/']) {
      expect(await plain(`GET ${path} HTTP/1.0`)).toMatchObject([expect.anything(), 403, /name/]);
    }
  });

  it.each([['on loopback'], ['beyond it']])(
    'refuses odd Hosts and targets %s, and neither shows nor logs a stack',
    async (where) => {
      const data = dataDirectory();
      const file = join(data, 'status-token');
      writeFileSync(file, 'correct-horse-battery-staple');
      const beyond = ['--status=0.0.0.0:0', `--status-token-file=${file}`];
      const args = where === 'on loopback' ? [] : beyond;
      const viewlog = await startWatched({ runtime, data, args });
      const said = viewlog.stderr();
      const hosts = [
        'a b<>"',
        '[',
        'localhost:99999',
        'localhost:x',
        '\u00e9\u00ff',
        'a/b',
        'a?b',
        '%',
      ];
      const requests = [
        ...hosts.map((host) => `GET /readyz HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
        ...hosts.map((host) => `GET / HTTP/1.0\r\nHost: ${host}\r\n\r\n`),
        'GET / HTTP/1.1\r\nHost: u:p@localhost\r\n\r\n',
        'GET http:///x HTTP/1.1\r\nHost: [\r\n\r\n',
        'TRACE / HTTP/1.1\r\nHost: a b\r\n\r\n',
        'GET /metrics HTTP/1.0\r\n\r\n',
        'HEAD / HTTP/1.0\r\n\r\n',
      ];
      for (const request of requests) {
        const pieces = [Buffer.from(request, 'latin1')];
        const { answers, received } = await speak(viewlog.statusPort, { pieces }, 100);
        const statuses = answers.map(({ status }) => Math.floor(status / 100));
        expect([request, statuses]).toStrictEqual([request, [4]]);
        expect(received).not.toMatch(/viewlog\.mjs|\.ts|at |<html/);
      }
      expect(viewlog.stderr()).toBe(said);
      expect((await fetch(`http://127.0.0.1:${viewlog.statusPort}/healthz`)).status).toBe(200);
    },
  );

  it('serves what it serves, and only reads', async () => {
    const { statusUrl } = await startWatched({ runtime });
    for (const [path, type] of [
      ['/', 'text/html; charset=utf-8'],
      ['/status.txt', 'text/plain; charset=utf-8'],
      ['/page.css', 'text/css; charset=utf-8'],
      ['/page.js', 'text/javascript; charset=utf-8'],
      ['/metrics', 'text/plain; version=0.0.4; charset=utf-8'],
    ] as const) {
      const answer = await fetch(statusUrl + path);
      expect([path, answer.status]).toStrictEqual([path, 200]);
      expect(answer.headers.get('content-type')).toBe(type);
      const policy = answer.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect((await answer.text()).length).toBeGreaterThan(path === '/status.txt' ? 200 : 500);
      expect((await fetch(statusUrl + path, { method: 'HEAD' })).status).toBe(200);
    }
    for (const path of ['/view', '/nowhere', '/constructor', '//']) {
      expect((await fetch(statusUrl + path)).status).toBe(404);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await fetch(`${statusUrl}/`, { method })).status).toBe(405);
    }
  });
}

describe.each([NODE, DENO, BUN].filter(isPresent))(
  "the operator's listener on $name",
  (runtime) => {
    theListenerOn(runtime);
  },
);

describe("the status server's limits on Node", () => {
  /** Opens connections that send half a head; how many are open later. */
  async function halfHeads(port: number, count: number, ms: number): Promise<number> {
    const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
    let open = count;
    for (const socket of sockets) {
      socket
        .on('error', () => {})
        .on('close', () => (open -= 1))
        .resume();
      socket.write('GET / HTTP/1.1\r\nHo');
    }
    await new Promise((resolve) => setTimeout(resolve, ms));
    const left = open;
    for (const socket of sockets) socket.destroy();
    return left;
  }

  it('are 64 connections, and ten seconds or a little more for a head', async () => {
    const viewlog = await startWatched();
    const few = halfHeads(viewlog.statusPort, 20, 17_000);
    expect(await halfHeads(viewlog.statusPort, 80, 500)).toBe(44);
    expect(await few).toBe(0);
    expect((await fetch(`${viewlog.statusUrl}/healthz`)).status).toBe(200);
  });
});

describe.skipIf(!isHere(PROMTOOL))('the metrics', () => {
  it("pass Prometheus' own check, before and after views", async () => {
    const viewlog = await startWatched();
    const check = async (): Promise<string> => {
      const input = await (await fetch(`${viewlog.statusUrl}/metrics`)).text();
      return execFileSync(PROMTOOL, ['check', 'metrics'], { input, encoding: 'utf8' });
    };
    expect(await check()).toBe('');
    await mixedLoad(viewlog, 10);
    expect(await check()).toBe('');
  });
});

describe.each([NODE, BUN].filter(isPresent))('without free disk space, on $name', (runtime) => {
  it('is not ready, says why, and counts each 503', async () => {
    const viewlog = await startWatched({ runtime, args: ['--min-free=1000TiB'] });
    const answers = await Promise.all(Array.from({ length: 5 }, () => viewlog.post(MINIMAL_VIEW)));
    expect(answers.map(({ status }) => status)).toStrictEqual([503, 503, 503, 503, 503]);
    const [status, health] = await readiness(viewlog);
    expect(status).toBe(503);
    expect(health).toMatchObject({ reasons: ['too little free disk space'] });
    expect(await viewlog.metrics()).toMatchObject({
      'viewlog_views_refused_total{code="storage-unavailable"}': 5,
      viewlog_views_received_total: 5,
      viewlog_written_lines_total: 0,
      viewlog_ready: 0,
    });
  });
});

describe.skipIf(!canMount()).each([NODE, DENO, BUN].filter(isPresent))(
  'while the disk is full, on $name',
  (runtime) => {
    it('counts as accepted what was acknowledged, and the others as refused', async () => {
      const data = smallDisk(64 * 1024);
      writeFileSync(join(data, 'projects.json'), JSON.stringify(PROJECTS));
      const args = ['--min-free=0', '--max-refused=0'];
      const viewlog = await startWatched({ runtime, data, args });
      const view = { ...MINIMAL_VIEW, pn: 'x'.repeat(900) };
      const seen: Record<number, number> = { 201: 0, 503: 0 };
      for (let round = 0; round < 10; round++) {
        const answers = await Promise.all(Array.from({ length: 10 }, () => viewlog.post(view)));
        for (const { status } of answers) seen[status]! += 1;
      }
      expect(seen[201]! + seen[503]!).toBe(100);
      expect(Math.min(seen[201]!, seen[503]!)).toBeGreaterThan(20);
      expect(await readiness(viewlog)).toMatchObject([503, { reasons: ['the disk is full'] }]);
      const lines = viewlog.lines();
      expect(await viewlog.metrics()).toMatchObject({
        'viewlog_views_accepted_total{project="1000001"}': seen[201],
        'viewlog_views_refused_total{code="storage-unavailable"}': seen[503],
        viewlog_views_received_total: 100,
        viewlog_written_lines_total: lines.length,
      });
      expect(lines).toHaveLength(seen[201]!);
    });
  },
);
