import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as net from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireLock } from '../../src/disk/lock.ts';
import type { StatusModel } from '../../src/status/model.ts';
import { INSTALLATION } from '../support/installation.ts';
import { listening } from '../support/listening.ts';
import { doctor, installation, namesIn, of, SERVICE } from '../support/doctor.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startWatched, sumOf } from '../support/status.ts';
import { startViewlog } from '../support/viewlog.ts';

// Tests `viewlog doctor` as an operator runs it.

describe('the doctor without a collector', () => {
  it('reports no error in a correct directory and changes nothing', async () => {
    const data = installation();
    const { code, line, lines } = await doctor(data);
    expect([code, namesIn(data)]).toStrictEqual([0, ['projects.json']]);
    expect(line('runtime')).toBe(
      `ok runtime: The doctor runs on Node ${process.versions.node} on linux.`,
    );
    expect(line('data directory')).toBe(`ok data directory: "${data}" is writable.`);
    expect(line('write and sync')).toMatch(
      /takes [\d.]+ ms \(the slowest of 15 took [\d.]+ ms\)\.$/,
    );
    expect(lines.at(-1)).toMatch(/^\d warnings?, \d+ ok$/);
  });

  it('reports a missing or invalid projects file as an error and creates none', async () => {
    const data = installation(null);
    const { code, out } = await doctor(data, ['--json']);
    const { version, state, findings } = JSON.parse(out) as Record<string, object[]>;
    expect([code, namesIn(data)]).toStrictEqual([78, []]);
    expect([version, state]).toStrictEqual([expect.stringMatching(/^\d+\.\d/), 'error']);
    const text = expect.any(String) as string;
    expect(findings).toContainEqual({ check: 'runtime', state: 'ok', what: text });
    const fix = expect.stringMatching(
      /^If the directory was moved, move it back; if its disk isn't mounted, mount it\. Otherwise, create the file\. Replace ID with a project's id:\n  .* activate ID --data /,
    );
    const check = 'projects file';
    expect(findings?.[0]).toStrictEqual({ check, state: 'error', what: text, fix });
    const faulty = await doctor(installation({ projects: [{ id: 7 }, { id: '\u001b[2J' }] }));
    expect(faulty.outcome()).toMatch(/^78 error .*projects\[0\]\.id must be .* \(and 1 more fault/);
  });
});

it('the doctor examines the projects file in a copied directory, not the original file', async () => {
  const viewlog = await startViewlog({ data: installation() });
  await viewlog.signal('SIGTERM');
  const copy = join(tempDir(), 'copy');
  fs.cpSync(viewlog.data, copy, { recursive: true, filter: (path) => !path.endsWith('.lock') });
  const projects = join(copy, 'projects.json');
  expect((await doctor(copy)).line('projects file')).toContain(`ok projects file: "${projects}"`);
  fs.writeFileSync(projects, '{');
  fs.rmSync(viewlog.data, { recursive: true });
  const { code, out } = await doctor(copy);
  expect([code, out]).toStrictEqual([
    78,
    expect.stringContaining(`error    projects file: ${projects}:1:2`),
  ]);
  expect(out).not.toContain(viewlog.data);
});

describe('the doctor with a collector running', () => {
  it("uses the collector's settings instead of its own options", async () => {
    const args = ['--min-free=1MiB', '--max-view=20KiB'];
    const viewlog = await startWatched({ data: installation(), args });
    const { url, statusUrl, statusPort, data, child } = viewlog;
    const byStatus = await doctor(undefined, [`--status=127.0.0.1:${statusPort}`]);
    expect(byStatus.line('settings')).toContain(
      `The collector runs with --data ${data} (not --data `,
    );
    const byData = await doctor(data, ['--port=0']);
    expect(byData.line('settings')).toContain('--host 127.0.0.1 (not 127.86.73.69) and --');
    const other = await doctor(data, ['--port=0', '--max-view=32KiB', '--min-free=1024KiB']);
    expect(other.line('settings')).toContain('--max-view 20KiB (not 32KiB) and --status');
    expect(byData.line('collector')).toContain(`: process ${child.pid}, running since 20`);
    for (const { code, line } of [byStatus, byData]) {
      expect(code).toBe(0);
      expect(line('collector')).toMatch(/^ok collector: viewlog \d/);
      expect(line('collector')).toContain(` answers at ${url}`);
      expect(line('health')).toBe(`ok health: ${statusUrl}/readyz says that viewlog is ready.`);
      expect(line('free space')).toContain('(--min-free is 1 MiB).');
    }
    // The doctor has asked the lock without disturbing its holder.
    expect(viewlog.stderr()).toBe('');
    expect(sumOf(await viewlog.metrics(), 'viewlog_views_received_total')).toBe(0);
    expect(namesIn(data).filter((name) => /^(views|refused|\.)/.test(name))).toStrictEqual([]);
  });

  it('expects no projects file if an archive runs instead', async () => {
    const data = tempDir();
    const self = { ...INSTALLATION, role: 'archive' as const, data, projects: undefined };
    const lock = await acquireLock(data, { self });
    onTestFinished(() => lock.release());
    const { line } = await doctor(data, ['--projects=/etc/projects.json']);
    expect(line('lock')).toMatch(/^ok lock: An archive writes to /);
    expect(line('settings')).not.toContain('--projects');
  });

  it('only warns that the status page is off', async () => {
    const viewlog = await startViewlog({ data: installation() });
    const { outcome } = await doctor(viewlog.data, ['--host=127.0.0.1', `--port=${viewlog.port}`]);
    expect(outcome('collector')).toMatch(/^0 ok collector: /);
    expect(outcome('health')).toBe(
      "0 warning health: --status is off, so the doctor can't tell whether views are accepted. To check that, start viewlog with --status.",
    );
  });

  it('reports a collector that hangs as an error without waiting for it', async () => {
    const { data, child } = await startWatched({ data: installation() });
    child.kill('SIGSTOP');
    const { outcome } = await doctor(data);
    child.kill('SIGCONT');
    expect(outcome()).toMatch(/^78 error lock: The process that has locked "/);
  });

  it('reports a collector that writes to another directory as another viewlog', async () => {
    const viewlog = await startWatched({ data: installation() });
    const { code, line } = await doctor(installation(), of(viewlog));
    expect([code, line('collector')]).toStrictEqual([
      78,
      expect.stringContaining(`error collector: Another viewlog listens at ${viewlog.url} (`),
    ]);
    expect(line('health')).toContain(`at ${viewlog.statusUrl} (it writes to "${viewlog.data}"), `);
  });

  it('sends the token only to the collector', async () => {
    const asked: (string | undefined)[] = [];
    const port = await listening(
      http.createServer(({ headers }, response) => {
        asked.push(headers.authorization);
        response.end('{}');
      }),
    );
    const env = { VIEWLOG_STATUS_TOKEN: 'a-token-of-sixteen' };
    const { code } = await doctor(installation(), [`--status=127.0.0.1:${port}`], { env });
    expect([code, ...new Set(asked)]).toStrictEqual([78, undefined]);
    const viewlog = await startWatched({ data: installation(), env, args: ['--min-free=1MiB'] });
    const space = async (options: object): Promise<string> =>
      (await doctor(viewlog.data, of(viewlog), options)).line('free space');
    expect(await space({ env })).toContain('--min-free is 1 MiB');
    // The lock shows the options to every user who may enter the directory.
    expect(await space({})).toContain('--min-free is 1 MiB');
  });
});

it("the doctor reads the token of its own user's collector, and of no other user's", async () => {
  const data = tempDir();
  fs.writeFileSync(join(data, 'projects.json'), '{"projects":[{"id":"1"}]}');
  const token = join(tempDir(), 'token');
  fs.writeFileSync(token, 'a-token-of-sixteen\n');
  await startWatched({ data, args: [`--status-token-file=${token}`] });
  const own = await doctor(data);
  expect([own.line('health'), own.line('refusals')]).toStrictEqual([
    expect.stringMatching(/^ok health: .* says that viewlog is ready\.$/),
    expect.stringMatching(/^ok refusals: /),
  ]);
  const wrong = await doctor(data, [], {
    env: { VIEWLOG_STATUS_TOKEN: 'another-token-of-24-bytes' },
  });
  expect(wrong.line('health')).toContain('The doctor has the wrong token, so');
  if (process.getuid?.() !== 0) return;
  // The process could have named any file, so root would read that file and send its content there.
  fs.lchownSync(join(data, 'viewlog.lock'), SERVICE.uid, SERVICE.gid);
  const { out, line } = await doctor(data);
  expect(line('health')).toContain(
    "viewlog is ready. The doctor has no token, so it can't see refusals.",
  );
  expect(out).toMatch(
    new RegExp(
      `Run the doctor as a user who can read the token:\\n +sudo .* doctor .* ${token}\\n`,
    ),
  );
});

it("the doctor reports a pipe or a directory in place of today's file", async () => {
  const data = installation();
  const path = `${data}/views-${new Date().toISOString().slice(0, 10)}.ndjson`;
  for (const command of ['mkfifo', 'mkdir']) {
    execFileSync(command, [path]);
    const { outcome } = await doctor(data);
    expect(outcome()).toBe(
      `78 error data directory: "${path}" isn't a regular file, so today's views would be refused. Move it away. viewlog then creates the file.`,
    );
    fs.rmSync(path, { recursive: true });
  }
});

it('the doctor reports a port in use or an impossible address as an error, but not a free port', async () => {
  const server = net.createServer((socket) => socket.end('220 mail\r\n'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as net.AddressInfo;
  const { outcome } = await doctor(installation(), ['--host=127.0.0.1', `--port=${port}`]);
  expect(outcome('collector')).toMatch(/^78 error collector: Another program/);
  const none = await doctor(installation(), ['--port=0']);
  expect(none.outcome('collector')).toMatch(/^0 warning collector: No collector answers at /);
  // viewlog can't start at either address: one has no entry in DNS, and no machine has the other.
  for (const place of ['--host=no-such-host.invalid', '--host=192.0.2.7']) {
    const impossible = await doctor(installation(), [place]);
    expect(impossible.outcome('collector')).toMatch(
      /^78 error collector: viewlog can't listen at /,
    );
  }
});

it('the doctor advises a shorter path if the path of the directory is too long for a lock', async () => {
  const data = `${tempDir()}/${'d'.repeat(100)}`;
  expect((await doctor(data)).outcome()).toMatch(/^73 error: Can't lock ".*d": .* a shorter path$/);
});

describe('the doctor with --url', () => {
  /** Returns a request like another one, whose body is still to be written; passes its answer on. */
  const passedOn = (
    port: number,
    { method, url, headers }: http.IncomingMessage,
    response: http.ServerResponse,
  ): http.ClientRequest =>
    http.request({ port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });

  it('tests the address with one request, which viewlog counts for no project', async () => {
    const viewlog = await startWatched({ data: installation() });
    const { url, statusUrl, data } = viewlog;
    const { code, line } = await doctor(data, [...of(viewlog), '--url', url]);
    expect([code, line('view')]).toStrictEqual([0, '']);
    expect(line('url')).toBe(`ok url: ${url}/view reaches viewlog.`);
    expect(line('cors')).toBe('ok cors: Preflights are granted, and pages can read the responses.');
    expect(line('size')).toBe(
      'ok size: A request with a body of 16 KiB reaches viewlog. With --project, the doctor also tests whether such a body arrives whole.',
    );
    const metrics = await viewlog.metrics();
    expect(sumOf(metrics, 'viewlog_views_received_total')).toBe(1);
    expect(metrics['viewlog_views_refused_total{code="method-not-allowed"}']).toBe(1);
    // Neither the status page nor the next doctor reports the request as a problem.
    const page = await (await fetch(`${statusUrl}/status.txt`)).text();
    expect(page).not.toContain('requests fail');
    expect((await doctor(data, of(viewlog))).line('refusals')).toMatch(/^ok /);
  });

  it('sends one real view if --project is given', async () => {
    const viewlog = await startWatched({ data: installation() });
    const args = [...of(viewlog), '--url', viewlog.url];
    const { outcome } = await doctor(viewlog.data, [...args, '--project=1000001']);
    expect(outcome('view')).toMatch(
      /^0 ok view: A view of project 1000001 from https:\/\/www\.example\.com, in a body of 16 KiB, was stored: \{"id":".*"\}\. Reports count it as a view of \/viewlog-doctor\.$/,
    );
    expect(viewlog.lines().map((text) => JSON.parse(text) as unknown)).toStrictEqual([
      expect.objectContaining({ pid: 'viewlog-doctor', url: '/viewlog-doctor' }),
    ]);
    const refused = await doctor(viewlog.data, [...args, '--project=7']);
    expect(refused.outcome('view')).toMatch(/^0 warning view: .* was refused with project-not/);
    const nowhere = await doctor(viewlog.data, ['--project=7']);
    expect(nowhere.outcome()).toBe(
      '64 error: --project sends one real view, so it needs --url. For example: --url https://views.example.com',
    );
  });

  it('says if the view that it sends is stored by another viewlog', async () => {
    const [viewlog, other] = [
      await startWatched({ data: installation() }),
      await startWatched({ data: installation() }),
    ];
    const args = [`--url=${other.url}`, '--project=1000001'];
    const { outcome } = await doctor(viewlog.data, [...of(viewlog), ...args]);
    expect(outcome('view')).toMatch(
      new RegExp(
        `^78 error view: .*/view leads to another viewlog: it stored a view of project 1000001 .*, but not in "${viewlog.data}"\\. In the proxy, pass /view on to ${viewlog.url}\\.`,
      ),
    );
    await viewlog.signal('SIGTERM');
    expect((await doctor(viewlog.data, args)).line('url')).toContain(
      `/view reaches another viewlog: none writes to "${viewlog.data}".`,
    );
  });

  it('recognises viewlog behind a proxy that passes on only POST', async () => {
    const viewlog = await startWatched({ data: installation() });
    const posting = http.createServer((request, response) => {
      if (request.method === 'POST') request.pipe(passedOn(viewlog.port, request, response));
      else response.writeHead(403).end();
    });
    const args = [...of(viewlog), `--url=http://127.0.0.1:${await listening(posting)}`];
    const { code, line } = await doctor(viewlog.data, [...args, '--project=1000001']);
    expect([code, line('url')]).toStrictEqual([0, expect.stringMatching(/^ok url: /)]);
    expect(line('cors')).toMatch(/^warning cors: .* OPTIONS /);
    expect(line('view')).toMatch(/^ok view: /);
    const page = await (await fetch(`${viewlog.statusUrl}/status.json`)).json();
    expect((page as StatusModel).total.refusedLastHour).toBe(0);
  });

  it("sends a view whose refusal the status page doesn't count", async () => {
    const projects = [{ id: '1000001', active: false }];
    const viewlog = await startWatched({ data: installation({ projects }) });
    const probe = ['--url', viewlog.url, '--project'];
    for (const id of ['1000001', '7']) {
      const { line } = await doctor(viewlog.data, [...of(viewlog), ...probe, id]);
      expect(line('view')).toContain('was refused with project-not-activated');
    }
    const refusals = 'viewlog_views_refused_total{code="project-not-activated"}';
    expect((await viewlog.metrics())[refusals]).toBe(2);
    const shown = await (await fetch(`${viewlog.statusUrl}/status.json`)).json();
    const { total, unlisted, projects: rows } = shown as StatusModel;
    expect([total.refusedLastHour, unlisted]).toStrictEqual([0, []]);
    expect(rows.map(({ figures }) => figures.refusedLastHour)).toStrictEqual([0]);
    expect(viewlog.refusedLines()).toStrictEqual([]);
  });

  it('warns if a proxy cuts off the view that it sends', async () => {
    const viewlog = await startWatched({ data: installation() });
    const cut = async (request: http.IncomingMessage, response: http.ServerResponse) => {
      const body = (await buffer(request)).subarray(0, 1024);
      request.headers['content-length'] = String(body.length);
      passedOn(viewlog.port, request, response).end(body);
    };
    const cutting = http.createServer((...exchange) => void cut(...exchange));
    const args = [...of(viewlog), `--url=http://127.0.0.1:${await listening(cutting)}`];
    const { outcome } = await doctor(viewlog.data, [...args, '--project=1000001']);
    expect(outcome('view')).toMatch(/^0 warning view: .* of 16 KiB, arrived cut off/);
    expect(viewlog.lines()).toStrictEqual([]);
  });
});
