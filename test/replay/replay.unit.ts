import { existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { Fatal } from '../../src/base/exit.ts';
import { acquireLock, REPLAY_LOCK_NAME } from '../../src/disk/lock.ts';
import { type ReplayOptions, replayFiles } from '../../src/replay/replay.ts';
import { refusedLine } from '../../src/store/refused/refused-line.ts';
import { listening } from '../support/bad-proxy.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

const REFUSED = 'refused-2026-03-01.ndjson';

type Respond = (response: ServerResponse, count: number) => void;

/** Starts a server that answers by `respond`, and remembers the bodies that it gets. */
async function standIn(respond: Respond) {
  const bodies: { readonly text: string; readonly origin: string | undefined }[] = [];
  const server = createServer((request, response) => {
    if (request.method === 'OPTIONS') response.writeHead(204).end();
    else void text(request).then((body) => take(body, request.headers.origin, response));
  });
  const take = (body: string, origin: string | undefined, response: ServerResponse): void => {
    bodies.push({ text: body, origin });
    respond(response, bodies.length);
  };
  return { bodies, url: `http://127.0.0.1:${await listening(server)}` };
}

const accept: Respond = (response) => void response.writeHead(201).end('{"id":"x"}');

const viewOf = (pid: string, change: object = {}): string =>
  JSON.stringify({ ...MINIMAL_VIEW, pid, ...change });

const idOf = (n: number): string => `019ca6b1-dc00-7000-8000-${String(n).padStart(12, '0')}`;

function lineOf(n: number, text: string, origin?: string): string {
  const stamp = { ts: '2026-03-01T00:00:00.000Z', id: idOf(n), day: '2026-03-01' };
  const code = 'project-not-activated';
  return refusedLine(stamp, { code, text, ...(origin !== undefined && { origin }) });
}

/** Creates a directory with a projects file and a file of refused views. */
function refusedViews(lines: readonly string[], projects: unknown = [{ id: '1000001' }]) {
  const dir = tempDir();
  const file = join(dir, REFUSED);
  const projectsPath = join(dir, 'projects.json');
  writeFileSync(projectsPath, JSON.stringify({ projects }));
  // So old that a running collector has surely read it.
  utimesSync(projectsPath, 1, 1);
  writeFileSync(file, lines.join(''));
  /** Returns the last state of each id, in the order of their first events. */
  const states = (): string => {
    const last = new Map<string, string>();
    const record = existsSync(`${file}.replayed`) ? readFileSync(`${file}.replayed`, 'utf8') : '';
    for (const [, id = '', state = ''] of record.matchAll(/(.*) (.)\n/g)) last.set(id, state);
    return [...last.values()].join('');
  };
  return { file, projectsPath, states };
}

const pages = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => lineOf(i, viewOf(`page ${i}`)));

async function replay(
  place: { readonly file: string; readonly projectsPath: string },
  url: string,
  options: Partial<ReplayOptions> = {},
) {
  const texts: string[] = [];
  let end: boolean | Fatal;
  try {
    end = await replayFiles([place.file], {
      url,
      projectsPath: place.projectsPath,
      viewBytesMax: 16 * 1024,
      project: undefined,
      stop: new AbortController().signal,
      onOutcome: (text) => texts.push(text),
      log: memoryLog(),
      ...options,
    });
  } catch (error) {
    if (!(error instanceof Fatal)) throw error;
    end = error;
  }
  return { end, text: texts.join('\n').replaceAll(place.file, REFUSED) };
}

describe('a replay', () => {
  it('sends what would be accepted now, with the bytes and the Origin of its first time', async () => {
    const spaced = viewOf('spaced')
      .replace('{', '{ ')
      .replace('"spaced"', String.raw`"\u0061\/é"`);
    const origin = 'https://www.example.com';
    const place = refusedViews(
      [
        lineOf(0, spaced),
        lineOf(1, viewOf('with origin', { p: '1000003' }), origin),
        lineOf(2, viewOf('without origin', { p: '1000003' })),
        lineOf(3, viewOf('unlisted', { p: '9' })),
        lineOf(4, viewOf('too large', { pn: 'x'.repeat(20_000) })),
      ],
      [{ id: '1000001' }, { id: '1000003', origins: [origin] }],
    );
    const { bodies, url } = await standIn(accept);
    const { end, text } = await replay(place, url);
    expect(end).toBe(true);
    expect(bodies).toStrictEqual([
      { text: spaced, origin: undefined },
      { text: viewOf('with origin', { p: '1000003' }), origin },
    ]);
    expect(text).toMatch(/^.*: 5 lines\n {2}2 sent\n {2}1 still refused, origin-not-allowed: /);
    expect(text).toContain('1 still refused, project-not-activated: Project 9 is not activated.');
    expect(place.states()).toBe('++');
    const again = await replay(place, url);
    expect(bodies).toHaveLength(2);
    expect(again.text).toMatch(/^.*: 5 lines\n {2}0 sent\n {2}2 sent before\n/);
  });

  it('sends a view once that the file has twice', async () => {
    const place = refusedViews([...pages(1), ...pages(1)]);
    const { bodies, url } = await standIn(accept);
    expect((await replay(place, url)).text).toMatch(/2 lines\n {2}1 sent\n {2}1 sent before$/);
    expect(bodies).toHaveLength(1);
  });

  it('leaves a directory alone in which another one runs: exit 73', async () => {
    const place = refusedViews(pages(1));
    const lock = await acquireLock(dirname(place.file), { name: REPLAY_LOCK_NAME });
    const { bodies, url } = await standIn(accept);
    expect((await replay(place, url)).end).toMatchObject({ exitCode: 73 });
    await lock.release();
    expect([bodies.length, place.states()]).toStrictEqual([0, '']);
  });

  it('of one project passes over the others, whatever their lines hold', async () => {
    const place = refusedViews([
      lineOf(0, viewOf('a')),
      lineOf(1, viewOf('b', { p: '2' })),
      lineOf(2, 'null'),
      lineOf(3, '[1]'),
      // By hand: not JSON inside a string.
      lineOf(4, '"{"'),
    ]);
    const { bodies, url } = await standIn(accept);
    const { end, text } = await replay(place, url, { project: '1000001' });
    expect([end, bodies.length, text]).toStrictEqual([
      true,
      1,
      `${REFUSED}: 5 lines\n  1 sent\n  4 of other projects`,
    ]);
  });

  it('counts invalid lines, and leaves the line that is being written', async () => {
    const [first, second] = pages(2) as [string, string];
    const broken = ['\n', 'x\n', `${first.slice(0, 150)}\n`, `${first.slice(0, 150)}${second}`];
    const place = refusedViews([first, ...broken, second, first.slice(0, -1)]);
    const { bodies, url } = await standIn(accept);
    const { text } = await replay(place, url);
    expect([bodies.length, text]).toStrictEqual([2, `${REFUSED}: 6 lines\n  2 sent\n  4 invalid`]);
  });

  it('never sends a view with an unknown outcome again, unless the operator says so', async () => {
    const place = refusedViews(pages(3));
    const broken = await standIn((response, count) =>
      count === 2 ? void response.destroy() : accept(response, count),
    );
    const first = await replay(place, broken.url);
    expect([(first.end as Fatal).exitCode, place.states()]).toStrictEqual([69, '+?']);
    const { bodies, url } = await standIn(accept);
    const second = await replay(place, url);
    expect([second.end, bodies.length, place.states()]).toStrictEqual([false, 1, '+?+']);
    expect(second.text).toContain(`1 with an unknown outcome, never sent again: ${idOf(1)}`);
    expect(second.text).toContain('append the line "ID -" to ');
    writeFileSync(`${place.file}.replayed`, `${idOf(1)} -\n`, { flag: 'a' });
    const third = await replay(place, url);
    expect([third.end, bodies.length, place.states()]).toStrictEqual([true, 2, '+++']);
  });

  it.each([
    [503, 'storage-unavailable', 69, '?'],
    [502, '', 69, '?'],
    [408, 'request-timeout', 69, '?'],
    [403, 'project-not-activated', 65, '-'],
    [413, '', 65, '-'],
  ])('stops at a %i %s with exit %i', async (status, code, exitCode, state) => {
    const place = refusedViews(pages(2));
    const { bodies, url } = await standIn(
      (response) => void response.writeHead(status).end(JSON.stringify({ code })),
    );
    const { end } = await replay(place, url);
    expect(end).toMatchObject({ exitCode });
    expect((end as Fatal).message).toContain(`${status} ${code}`.trim());
    expect([place.states(), bodies.length]).toStrictEqual([state, 1]);
  });

  it('tries again after 429 and after 503 overloaded', async () => {
    const place = refusedViews(pages(1));
    const { bodies, url } = await standIn((response, count) =>
      count === 1
        ? void response.writeHead(429, { 'retry-after': '1' }).end()
        : count === 2
          ? void response.writeHead(503).end('{"code":"overloaded"}')
          : accept(response, count),
    );
    expect((await replay(place, url)).end).toBe(true);
    expect([place.states(), bodies.length]).toStrictEqual(['+', 3]);
  });

  it('spends at most a quarter of a limit', async () => {
    const place = refusedViews(pages(6), [{ id: '1000001', maxViewsPerMinute: 2400 }]);
    const { bodies, url } = await standIn(accept);
    const startedMs = performance.now();
    await replay(place, url);
    expect(bodies).toHaveLength(6);
    // 10 per second. A busy machine makes it longer, never shorter.
    expect(performance.now() - startedMs).toBeGreaterThan(450);
  });

  it('is not held up by a projects file that is dated in the future', async () => {
    const place = refusedViews(pages(1));
    const future = Date.now() / 1000 + 86_400;
    utimesSync(place.projectsPath, future, future);
    const { url } = await standIn(accept);
    expect((await replay(place, url)).end).toBe(true);
  });

  it('ends after the view being sent when it is told to stop', async () => {
    const place = refusedViews(pages(5));
    const stopping = new AbortController();
    const { bodies, url } = await standIn((response, count) => {
      if (count === 2) stopping.abort();
      accept(response, count);
    });
    await replay(place, url, { stop: stopping.signal });
    expect([bodies.length, place.states()]).toStrictEqual([2, '++']);
  });

  it('has a collector to send to: else exit 69, and nothing is recorded', async () => {
    const place = refusedViews(pages(1));
    const { end } = await replay(place, 'http://127.0.0.1:1');
    expect(end).toMatchObject({
      exitCode: 69,
      message: expect.stringMatching(/^No collector answers at http:\/\/127\.0\.0\.1:1: .*--to$/),
    });
    expect(place.states()).toBe('');
  });
});
