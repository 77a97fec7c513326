import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refusedLine } from '../../src/store/refused/refused-line.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { dataDirectory, run, startCommand, startViewlog, until } from '../support/viewlog.ts';

/** Past edits, so that no running collector could still be reading them. */
function projectsFile(data: string, projects: unknown): void {
  const file = join(data, 'projects.json');
  writeFileSync(file, JSON.stringify({ projects }));
  utimesSync(file, 1, 1);
}

const REFUSED = 'refused-2026-03-01.ndjson';

/** The line before the others: which of them was the last one sent. */
const HEAD_BYTES = 39;

const LD = '"ld":"2026-01-31T23:59:59.999Z"';

interface Body {
  readonly text: string;
  readonly origin: string | undefined;
}

/** A stand-in for a collector, which answers as it is told and keeps what it got. */
async function standIn(answer: (response: ServerResponse, count: number) => void) {
  const bodies: Body[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    if (request.method === 'OPTIONS') {
      response.writeHead(204).end();
      return;
    }
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      bodies.push({ text, origin: request.headers.origin });
      answer(response, bodies.length);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { bodies, to: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const taken = (response: ServerResponse): void => void response.writeHead(201).end('{"id":"x"}');

const viewOf = (pid: string, change: object = {}): string =>
  JSON.stringify({ ...MINIMAL_VIEW, pid, ...change });

/** A data directory with refused views, all of which would be taken now. */
function refusedViews(count: number, projects: unknown = [{ id: '1000001' }]) {
  const data = dataDirectory();
  projectsFile(data, projects);
  const lines = Array.from({ length: count }, (_, i) => {
    const id = `019ca6b1-dc00-7000-8000-${String(i).padStart(12, '0')}`;
    const stamp = { ts: '2026-03-01T00:00:00.000Z', id, day: '2026-03-01' };
    return refusedLine(stamp, { code: 'project-not-activated', text: viewOf(`page ${i}`) });
  });
  writeFileSync(join(data, REFUSED), lines.join(''));
  const record = (): string => readFileSync(join(data, `${REFUSED}.replayed`), 'latin1');
  const states = (): string =>
    record()
      .slice(HEAD_BYTES)
      .replace(/^.{37}/gm, '')
      .replaceAll('\n', '');
  return { data, states };
}

describe.each([NODE, DENO, BUN].filter(isPresent))('replay on $name', (runtime) => {
  it('sends what would be taken now, as it was sent, once', async () => {
    const data = dataDirectory();
    projectsFile(data, [{ id: '1000003', origins: ['https://other.example'] }]);
    const viewlog = await startViewlog({ data });
    const origin = 'https://www.example.com';
    const bodies = [
      viewOf('as it is'),
      `{ "p": "1000001",\n "pid": "first", "pid":"spaced\u2028",\r\n"ld":"2026-01-31T23:59:59.999Z",` +
        ` "url":"/", "pn": ",\\"view\\":{}" }`,
      viewOf('with an origin', { p: '1000003' }),
      viewOf('unlisted', { p: '9' }),
      viewOf('', { '"issue"': ',"view":{}' }),
      viewOf('deep').replace('}', `,"cf":${'['.repeat(60)}${']'.repeat(60)}}`),
    ];
    for (const body of bodies) {
      const answer = await viewlog.post(body, { origin });
      expect([403, 422]).toContain(answer.status);
    }
    await until(() => viewlog.refusedLines().length === bodies.length);
    const file = join(
      data,
      readdirSync(data).find((name) => name.startsWith('refused-'))!,
    );
    projectsFile(data, [
      { id: '1000001' },
      { id: '1000003', origins: [origin] },
      { id: '1000007' },
    ]);
    viewlog.child.kill('SIGHUP');
    const probe = viewOf('probe', { p: '1000007' });
    await until(async () => (await viewlog.post(probe)).ok);
    const refused = viewlog.refusedLines().length;

    const options = { data, runtime };
    const port = String(viewlog.port);
    const first = await run(['replay', file, '--port', port, '--project', '1000001'], options);
    expect(first.stderr).toBe('');
    expect(first.stdout).toMatch(/: \d+ lines: 2 sent, \d+ still refused, \d+ of other projects\n/);
    const second = await run(['replay', file, '--to', viewlog.url], options);
    expect(second.stdout).toMatch(/: \d+ lines: \d+ sent, 2 sent before, \d+ still refused\n/);
    expect(second.stdout).toContain(
      'still refused, 1: project-not-activated: Project 9 is not activated.',
    );
    expect([first.code, second.code]).toStrictEqual([0, 0]);
    const pids = viewlog.lines().map((line) => (JSON.parse(line) as { pid: string }).pid);
    expect(pids.filter((pid) => pid !== 'probe')).toStrictEqual([
      'as it is',
      'spaced\u2028',
      'with an origin',
    ]);
    // Nothing that was refused was sent, or it would be there twice.
    expect(viewlog.refusedLines()).toHaveLength(refused);
  }, 30_000);
});

describe('replay', () => {
  it('sends the bytes that were sent, and their Origin', async () => {
    const { data } = refusedViews(0);
    const stamp = { ts: '2026-03-01T00:00:00.000Z', day: '2026-03-01' };
    const sent = `{ "p" : "1000001","mb":1e2,"pid":"\\u0061\\/é",  "url":"/",${LD}}`;
    const lines = ['https://a.example', undefined].map((origin, i) =>
      refusedLine(
        { ...stamp, id: `${'0'.repeat(35)}${i}` },
        { code: 'project-not-activated', text: sent, ...(origin !== undefined && { origin }) },
      ),
    );
    writeFileSync(join(data, REFUSED), lines.join(''));
    const { bodies, to } = await standIn(taken);
    await run(['replay', REFUSED, '--to', to], { data });
    expect(bodies).toStrictEqual([
      { text: sent, origin: 'https://a.example' },
      { text: sent, origin: undefined },
    ]);
  });

  it('killed again and again, never sends a view twice, and loses none from sight', async () => {
    const count = 60;
    const { data, states } = refusedViews(count);
    const { bodies, to } = await standIn((response) => void setTimeout(taken, 8, response));
    let kills = 0;
    for (let ended = false; !ended; kills++) {
      const started = startCommand(['replay', REFUSED, '--to', to], data);
      const before = bodies.length;
      // Some at once, some in the middle of a view, some between two.
      const reached = until(() => bodies.length >= before + 2 + (kills % 5));
      await Promise.race([reached, started.ended]);
      await new Promise((resolve) => setTimeout(resolve, (kills * 7) % 19));
      if (kills < 8) started.child.kill('SIGKILL');
      const { code, signal } = await started.ended;
      ended = signal === null;
      if (ended) expect([0, 65]).toContain(code);
    }
    expect(kills).toBeGreaterThan(4);
    const seen = bodies.map(({ text }) => (JSON.parse(text) as { pid: string }).pid);
    expect(new Set(seen).size).toBe(seen.length);
    expect(states()).toMatch(/^[+?]{60}$/);
    const uncertain = states().replaceAll('+', '').length;
    expect(uncertain).toBeLessThan(kills);
    // What is known as sent was; what was not seen is uncertain.
    expect(seen.length).toBeGreaterThanOrEqual(count - uncertain);
    const last = await run(['replay', REFUSED, '--to', to], { data });
    expect(last.code).toBe(uncertain === 0 ? 0 : 65);
    expect(bodies).toHaveLength(seen.length);
  }, 30_000);

  it('leaves alone a view that nobody knows of, until the operator settles it', async () => {
    const { data, states } = refusedViews(3);
    const broken = await standIn((response, count) =>
      count === 2 ? void response.destroy() : taken(response),
    );
    const first = await run(['replay', REFUSED, '--to', broken.to], { data });
    expect([first.code, states()]).toStrictEqual([69, '+?']);
    expect(first.stderr).toContain(`The collector at ${broken.to} failed: `);
    const { bodies, to } = await standIn(taken);
    const second = await run(['replay', REFUSED, '--to', to], { data });
    expect([second.code, states(), bodies.length]).toStrictEqual([65, '+?+', 1]);
    expect(second.stdout).toContain('3 lines: 1 sent, 1 sent before, 1 uncertain\n');
    expect(second.stdout).toContain(
      'uncertain, not sent again: line 2 (019ca6b1-dc00-7000-8000-000000000001)\n',
    );
    const record = join(data, `${REFUSED}.replayed`);
    writeFileSync(record, readFileSync(record, 'utf8').replace('?', '-'));
    const third = await run(['replay', REFUSED, '--to', to], { data });
    expect([third.code, states(), bodies.length]).toStrictEqual([0, '+++', 2]);
  });

  it.each([
    [503, 'storage-unavailable', 69, '?'],
    [502, '', 69, '?'],
    [403, 'project-not-activated', 65, '-'],
    [413, '', 65, '-'],
  ])('stops at a %i %s', async (status, code, exit, state) => {
    const { data, states } = refusedViews(2);
    const { bodies, to } = await standIn(
      (response) => void response.writeHead(status).end(JSON.stringify({ code })),
    );
    const ended = await run(['replay', REFUSED, '--to', to], { data });
    expect([ended.code, states(), bodies.length]).toStrictEqual([exit, state, 1]);
    expect(ended.stderr).toContain(`${status} ${code}`.trim());
  });

  it('comes again when it is told to wait, as long as it was told', async () => {
    const { data, states } = refusedViews(1);
    const started = performance.now();
    const { bodies, to } = await standIn((response, count) =>
      count === 1
        ? void response.writeHead(429, { 'retry-after': '1' }).end()
        : count === 2
          ? void response.writeHead(503).end('{"code":"overloaded"}')
          : taken(response),
    );
    expect((await run(['replay', REFUSED, '--to', to], { data })).code).toBe(0);
    expect([states(), bodies.length]).toStrictEqual(['+', 3]);
    expect(performance.now() - started).toBeGreaterThan(2000);
  });

  it('spends a quarter of a project’s limit at most', async () => {
    const { data } = refusedViews(10, [{ id: '1000001', maxViewsPerMinute: 1200 }]);
    const { bodies, to } = await standIn(taken);
    const started = performance.now();
    await run(['replay', REFUSED, '--to', to], { data });
    expect(bodies).toHaveLength(10);
    // 5 a second: a machine that is busy makes it longer, never shorter.
    expect(performance.now() - started).toBeGreaterThan(1800);
  });

  it('ends after the view under way when it is told to stop', async () => {
    const { data, states } = refusedViews(50);
    const { bodies, to } = await standIn((response) => void setTimeout(taken, 30, response));
    const started = startCommand(['replay', REFUSED, '--to', to], data);
    await until(() => bodies.length >= 3);
    started.child.kill('SIGTERM');
    const { code, stdout, stderr } = await started.ended;
    expect([code, stderr]).toStrictEqual([69, 'error: Stopped; run it again for the rest\n']);
    expect(stdout).toContain(`: ${bodies.length} sent\n`);
    expect(states()).toMatch(/^\++-*$/);
  });

  it('is alone in a directory', async () => {
    const { data } = refusedViews(5);
    const { bodies, to } = await standIn(() => {});
    startCommand(['replay', REFUSED, '--to', to], data);
    await until(() => bodies.length === 1);
    const second = await run(['replay', REFUSED, '--to', to], { data });
    expect(second.code).toBe(73);
    expect(second.stderr).toMatch(/Another replay runs in ".*": process \d+, .*; wait for it/);
    expect(bodies).toHaveLength(1);
  });

  it('passes over invalid lines and the one being written', async () => {
    const { data, states } = refusedViews(2);
    const [first, second] = readFileSync(join(data, REFUSED), 'utf8').split('\n');
    const lines = [
      first,
      '',
      'x',
      first!.slice(0, 150),
      `${first!.slice(0, 150)}${second!}`,
      second,
    ];
    writeFileSync(join(data, REFUSED), `${lines.join('\n')}\n${first!}`);
    const { bodies, to } = await standIn(taken);
    const { code, stdout } = await run(['replay', REFUSED, '--to', to], { data });
    expect(stdout).toBe(`${REFUSED}: 6 lines: 2 sent, 4 invalid\n`);
    expect([code, states(), bodies.length]).toStrictEqual([0, '+----+', 2]);
  });

  it('takes no record of another file for its own', async () => {
    const { data } = refusedViews(2);
    const { bodies, to } = await standIn(taken);
    await run(['replay', REFUSED, '--to', to], { data });
    const lines = readFileSync(join(data, REFUSED), 'utf8').split('\n');
    writeFileSync(join(data, REFUSED), `${lines[1]!}\n${lines[0]!}\n`);
    const { code, stderr } = await run(['replay', REFUSED, '--to', to], { data });
    expect([code, bodies.length]).toStrictEqual([65, 2]);
    expect(stderr).toContain('is not the record of this file: its line 1 is');
  });

  it.each([
    [
      'cut off after a line',
      (text: string) => text.slice(0, 4 * 39),
      'is cut off: it has 3 of at least 5',
    ],
    [
      'cut off within a line',
      (text: string) => text.slice(0, 4 * 39 + 20),
      'is cut off: it has 3 of at',
    ],
    [
      'cut off within its head',
      (text: string) => text.slice(0, 20),
      'is no record of a replay: it begins',
    ],
    ['without its middle', (text: string) => text.slice(0, 78) + text.slice(117), 'its line 2 is'],
    [
      'with another order',
      (text: string) => text.slice(0, 39) + text.slice(78) + text.slice(39, 78),
      'its line 1 is',
    ],
    [
      'of NULs',
      (text: string) => text.slice(0, 39) + '\0'.repeat(text.length - 39),
      'its line 1 is',
    ],
    ['of something else', () => '{"sequence":1}\n', 'is no record of a replay: it begins with "{'],
    ['with another state', (text: string) => text.replace('+', '*'), 'its line 1 is'],
    [
      'that is empty but for its head',
      (text: string) => text.slice(0, 39),
      'is cut off: it has 0 of',
    ],
  ])('sends nothing with a record %s, and says so', async (_, tamper, message) => {
    const { data } = refusedViews(5);
    const { bodies, to } = await standIn(taken);
    expect((await run(['replay', REFUSED, '--to', to], { data })).code).toBe(0);
    const record = join(data, `${REFUSED}.replayed`);
    const tampered = tamper(readFileSync(record, 'latin1'));
    writeFileSync(record, tampered, 'latin1');
    const { code, stderr } = await run(['replay', REFUSED, '--to', to], { data });
    expect([code, bodies.length]).toStrictEqual([65, 5]);
    expect(stderr).toContain(message);
    expect(stderr).toContain('put it back as it was');
    expect(readFileSync(record, 'latin1')).toBe(tampered);
  });

  it('knows of no view but the last whether it was sent, where a power cut has left no more', async () => {
    const { data, states } = refusedViews(5);
    const { bodies, to } = await standIn(taken);
    await run(['replay', REFUSED, '--to', to], { data });
    const record = join(data, `${REFUSED}.replayed`);
    for (const left of [
      (text: string) => text.slice(0, -39),
      (text: string) => text.slice(0, -20),
    ]) {
      writeFileSync(record, left(readFileSync(record, 'latin1')), 'latin1');
      const { code, stdout } = await run(['replay', REFUSED, '--to', to], { data });
      expect([code, states(), bodies.length]).toStrictEqual([65, '++++?', 5]);
      expect(stdout).toContain('uncertain, not sent again: line 5');
    }
  });

  it('goes on with a record of the first version, which had no head', async () => {
    const { data, states } = refusedViews(5);
    const { bodies, to } = await standIn(taken);
    await run(['replay', REFUSED, '--to', to], { data });
    const record = join(data, `${REFUSED}.replayed`);
    const first = readFileSync(record, 'latin1').slice(HEAD_BYTES, -39);
    writeFileSync(record, first.replace(/\+\n$/, '-\n'));
    expect((await run(['replay', REFUSED, '--to', to], { data })).code).toBe(0);
    expect([states(), bodies.length]).toStrictEqual(['+++++', 7]);
    expect(readFileSync(record, 'latin1')).toMatch(/^the last line sent is 0{15}5\n/);
  });

  it('waits for nobody where its record is no file', async () => {
    const { data } = refusedViews(1);
    const { bodies, to } = await standIn(taken);
    execFileSync('mkfifo', [join(data, `${REFUSED}.replayed`)]);
    const { code, stderr } = await run(['replay', REFUSED, '--to', to], { data });
    expect([code, bodies.length]).toStrictEqual([73, 0]);
    expect(stderr).toContain('it is no regular file');
  });

  it('says what it needs', async () => {
    const { data } = refusedViews(1);
    const none = await run(['replay', REFUSED, '--port', '1'], { data });
    expect([none.code, none.stderr]).toStrictEqual([
      69,
      expect.stringMatching(/^error: No collector answers at http:\/\/127\.0\.0\.1:1: .*--to\n$/),
    ]);
    expect((await run(['replay'], { data })).code).toBe(64);
    expect((await run(['replay', 'views-2026-03-01.ndjson'], { data })).code).toBe(64);
    expect((await run(['replay', REFUSED, '--to', 'x'], { data })).code).toBe(64);
    // No shipper and no report takes what it leaves for views.
    const { to } = await standIn(taken);
    await run(['replay', REFUSED, '--to', to], { data });
    const left = readdirSync(data).filter((name) => /^(views|refused)-.*\.ndjson$/.test(name));
    expect(left).toStrictEqual([REFUSED]);
  });
});
