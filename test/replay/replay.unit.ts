import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Fatal } from '../../src/base/exit.ts';
import { systemFiles } from '../../src/disk/ops.ts';
import { paceOf, type ReplayOptions, replayFiles } from '../../src/replay/replay.ts';
import { refusedLine } from '../../src/store/refused/refused-line.ts';
import { listening } from '../support/listening.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

const REFUSED = 'refused-2026-03-01.ndjson';

type Respond = (response: ServerResponse, count: number, server: Server) => void;

const accept = (response: ServerResponse): void => void response.writeHead(201).end('{"id":"x"}');

const viewOf = (pid: string, change: object = {}): string =>
  JSON.stringify({ ...MINIMAL_VIEW, pid, ...change });

const idOf = (n: number): string => `019ca6b1-dc00-7000-8000-${String(n).padStart(12, '0')}`;

function lineOf(n: number, text: string, origin?: string): string {
  const stamp = { ts: '2026-03-01T00:00:00.000Z', id: idOf(n), day: '2026-03-01' };
  const code = 'project-not-activated';
  return refusedLine(stamp, { code, text, ...(origin !== undefined && { origin }) });
}

/** Returns a clock that advances only by waiting; waiting takes no real time. */
function fastClock() {
  const startMs = Date.now();
  const waitsMs: number[] = [];
  const sleep = async (ms: number): Promise<void> => void waitsMs.push(ms);
  return { now: () => waitsMs.reduce((sum, ms) => sum + ms, startMs), sleep, waitsMs };
}

/** Creates a file of refused views, its projects file, and functions that replay it. */
function refusedViews(lines: readonly string[], projects: unknown = [{ id: '1000001' }]) {
  const dir = tempDir();
  const file = join(dir, REFUSED);
  const projectsPath = join(dir, 'projects.json');
  writeFileSync(projectsPath, JSON.stringify({ projects }));
  writeFileSync(file, lines.join(''));
  /** Returns the last state of each id, in the order of their first events. */
  const states = (): string => {
    const last = new Map<string, string>();
    const record = existsSync(`${file}.replayed`) ? readFileSync(`${file}.replayed`, 'utf8') : '';
    for (const [, id = '', state = ''] of record.matchAll(/^(\S+) (.).*\n/gm)) last.set(id, state);
    return [...last.values()].join('');
  };
  /**
   * Replays the file to a server that answers with `respond`; returns each body that it got, with
   * its Origin.
   */
  const replay = async (
    respond: Respond = accept,
    options: Partial<ReplayOptions> = {},
    paths = [file],
  ) => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      const { method, headers } = request;
      const record = (body: string): number => bodies.push(`${headers.origin ?? 'none'} ${body}`);
      if (method === 'OPTIONS') response.writeHead(204).end();
      else void text(request).then((body) => respond(response, record(body), server));
    });
    const said: string[] = [];
    const clock = fastClock();
    const end = await replayFiles(paths, {
      url: `http://127.0.0.1:${await listening(server)}`,
      dir,
      files: systemFiles,
      clock,
      projectsPath,
      viewBytesMax: 16 * 1024,
      project: undefined,
      stop: new AbortController().signal,
      onOutcome: (outcome) => said.push(outcome),
      log: memoryLog(),
      ...options,
    }).catch((error: unknown) => error);
    const printed = said.join('\n').replaceAll(file, REFUSED);
    return { end, bodies, said: printed, waitsMs: clock.waitsMs };
  };
  return { dir, file, projectsPath, states, replay };
}

const pages = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => lineOf(i, viewOf(`page ${i}`)));

describe('a replay', () => {
  it('sends acceptable views once, with their original bytes and Origin', async () => {
    const spaced = viewOf('spaced')
      .replace('{', '{ ')
      .replace('"spaced"', String.raw`"\u0061\/é"`);
    const origin = 'https://www.example.com';
    const ofSite = viewOf('of a site', { p: '1000003' });
    const lines = [
      lineOf(0, spaced),
      lineOf(0, spaced),
      lineOf(1, ofSite, origin),
      lineOf(2, ofSite),
      lineOf(3, viewOf('unlisted', { p: '9' })),
      lineOf(4, viewOf('too large', { pn: 'x'.repeat(20_000) })),
    ];
    const projects = [{ id: '1000001' }, { id: '1000003', origins: [origin] }];
    const { replay, states } = refusedViews(lines, projects);
    const { end, bodies, said } = await replay();
    expect(end).toBe(true);
    expect(bodies).toStrictEqual([`none ${spaced}`, `${origin} ${ofSite}`]);
    expect(said).toMatch(
      /^.*: 6 lines\n {2}2 sent\n {2}1 already sent\n {2}1 still refused, origin-not-allowed: /,
    );
    expect(said).toContain("1 still refused, project-not-activated: Project 9 isn't activated.");
    expect(states()).toBe('++');
    const again = await replay();
    expect(again.bodies).toStrictEqual([]);
    expect(again.said).toMatch(/^.*: 6 lines\n {2}0 sent\n {2}3 already sent\n/);
    const other = await replay(accept, { project: '1000003' });
    expect(other.said).toMatch(
      /^.*: 6 lines\n {2}0 sent\n {2}4 from other projects\n {2}1 already sent\n/,
    );
  });

  const [first, second] = pages(2) as [string, string];
  it.each([
    // The last view is a string that doesn't contain JSON, as only a person would write it.
    [
      'views of other projects',
      'from other projects',
      [viewOf('b', { p: '2' }), 'null', '[1]', '"{"'].map((text, n) => lineOf(n + 2, text)),
    ],
    [
      'invalid lines',
      'skipped: damaged, or not a refused view',
      ['\n', 'x\n', `${first.slice(0, 150)}\n`, `${first.slice(0, 150)}${second}`],
    ],
  ])('counts %s and ignores an unfinished last line', async (_, what, others) => {
    const { replay } = refusedViews([first, ...others, second, first.slice(0, -1)]);
    const { end, bodies, said } = await replay(accept, { project: '1000001' });
    expect([end, bodies.length]).toStrictEqual([true, 2]);
    expect(said).toBe(`${REFUSED}: 6 lines\n  2 sent\n  4 ${what}`);
  });

  it('never sends a view with an unknown outcome again, unless the operator says so', async () => {
    const { file, states, replay } = refusedViews(pages(3));
    const first = await replay((response, count) =>
      count === 2 ? void response.destroy() : accept(response),
    );
    expect([(first.end as Fatal).exitCode, states()]).toStrictEqual([69, '+?']);
    expect(first.said).toContain(
      ": stopped after 2 lines\n  1 sent\n  1 with an unknown outcome\nreplay won't send ",
    );
    const second = await replay();
    expect([second.end, second.bodies.length, states()]).toStrictEqual([false, 1, '+?+']);
    expect(second.said).toContain('1 with an unknown outcome\n');
    expect(second.said).toContain(
      `\nreplay won't send this view again, because it may be stored: ${idOf(1)}\n`,
    );
    expect(second.said).toContain(
      'look for a line with the same fields, written when replay ran: a stored view has a new id. ',
    );
    expect(second.said).toContain(`append the line "${idOf(1)} -" to `);
    writeFileSync(`${file}.replayed`, `${idOf(1)} -\n`, { flag: 'a' });
    const third = await replay();
    expect([third.end, third.bodies.length, states()]).toStrictEqual([true, 1, '+++']);
  });

  it.each([
    ['503 storage-unavailable', 69, '?'],
    ['408', 69, '?'],
    ['403 project-not-activated', 65, '-'],
    ['413', 65, '-'],
  ])('stops at the answer "%s" with exit code %i', async (answer, exitCode, state) => {
    const [status, code = ''] = answer.split(' ');
    const { states, replay } = refusedViews(pages(2));
    const { end, bodies, said } = await replay(
      (response) => void response.writeHead(Number(status)).end(JSON.stringify({ code })),
    );
    const became =
      state === '?' ? 'with an unknown outcome' : `not stored: the collector answered ${answer}`;
    expect(said).toContain(`: stopped after 1 line\n  0 sent\n  1 ${became}`);
    expect(end).toMatchObject({ exitCode, message: expect.stringContaining(answer) });
    expect(/If it has stopped, start it/.test((end as Fatal).message)).toBe(state === '?');
    expect([states(), bodies.length]).toStrictEqual([state, 1]);
  });

  it('sends a view again later if the collector had stopped before the view could be sent', async () => {
    const { states, replay } = refusedViews(pages(3));
    const first = await replay((response, count, server) => {
      server.close();
      accept(response);
    });
    expect([first.bodies.length, states()]).toStrictEqual([1, '+-']);
    expect(first.said).toBe(
      `${REFUSED}: stopped after 2 lines\n  1 sent\n  1 not sent, because the collector had stopped`,
    );
    expect(first.end).toMatchObject({
      exitCode: 69,
      message: expect.stringMatching(/ has stopped \(.*\); start it, then run replay again$/),
    });
    const second = await replay();
    expect([second.end, states()]).toStrictEqual([true, '+++']);
  });

  it('tries again after 429 and after 503 overloaded', async () => {
    const { states, replay } = refusedViews(pages(1));
    const { end, bodies } = await replay((response, count) => {
      if (count === 1) response.writeHead(429, { 'retry-after': '1' }).end();
      else if (count === 2) response.writeHead(503).end('{"code":"overloaded"}');
      else accept(response);
    });
    expect([end, states(), bodies.length]).toStrictEqual([true, '+', 3]);
  });

  it("spends at most a quarter of a project's limit", async () => {
    const { replay } = refusedViews(pages(6), [{ id: '1000001', maxViewsPerMinute: 2400 }]);
    const { bodies, waitsMs } = await replay();
    expect(bodies).toHaveLength(6);
    expect(waitsMs.slice(1)).toStrictEqual(Array(6).fill(100)); // 10 per second
  });

  it('logs once how long it will take if a low limit slows it down', async () => {
    const logOf = async (count: number): Promise<string[]> => {
      const log = memoryLog();
      const { replay } = refusedViews(pages(count), [{ id: '1000001', maxViewsPerMinute: 60 }]);
      await replay(accept, { log });
      return log.lines;
    };
    expect(await logOf(2)).toStrictEqual([]);
    expect(await logOf(3)).toStrictEqual([expect.stringMatching(/ would take 12 s$/)]);
    expect(await logOf(40)).toStrictEqual([
      'info: Project 1000001: sending at most 15 views per minute, to leave most of its limit for its pages. The file has 40 views of this project; to send all of them would take 3 min',
    ]);
  });

  it('describes the pace of every limit in whole numbers, within a tenth', () => {
    for (let limit = 1; limit <= 1_000_000; limit++) {
      const pace = paceOf({ maxViewsPerMinute: limit });
      const perMinute = Math.min(12_000, limit / 4);
      const [, seconds] = /^one view every (\d{1,3}) s$/.exec(pace) ?? [];
      const [, views] = /^(\d{2,3}|\d{1,3},\d{3}) views per minute$/.exec(pace) ?? [];
      const shown = seconds === undefined ? Number(views?.replace(',', '')) : 60 / Number(seconds);
      if (!(Math.abs(shown / perMinute - 1) < 0.1)) expect.fail(`${limit}: ${pace}`);
    }
    expect(paceOf({ maxViewsPerMinute: 7 })).toBe('one view every 34 s');
    expect(paceOf({ maxViewsPerMinute: 6_000 })).toBe('1,500 views per minute');
  });

  it('reads a pipe once, even under a low limit', async () => {
    const lines = pages(600); // more than a pipe holds
    const { dir, file, replay } = refusedViews(lines, [{ id: '1000001', maxViewsPerMinute: 60 }]);
    const pipe = join(dir, 'pipe');
    execFileSync('mkfifo', [pipe]);
    execFile('sh', ['-c', 'cat "$0" > "$1"', file, pipe]);
    const { bodies } = await replay(accept, {}, [pipe]);
    expect(bodies).toHaveLength(lines.length);
  });

  const old = (file: string): void => utimesSync(file, 1, 1);
  const ahead = Date.now() / 1000 + 86_400;
  it.each<[string, (file: string) => void]>([
    ['was just edited', () => {}],
    ['has a date in the future', (file) => utimesSync(file, ahead, ahead)],
    ['was just restored with its old date', old],
    [
      'is old but has just replaced another',
      (file) => {
        copyFileSync(file, `${file}.old`);
        old(`${file}.old`);
        renameSync(`${file}.old`, file);
      },
    ],
    [
      'is a new link to an old file',
      (file) => {
        renameSync(file, `${file}.old`);
        symlinkSync(`${file}.old`, file);
      },
    ],
  ])('waits up to 3 s for the collector to follow a projects file that %s', async (_, change) => {
    const { projectsPath, replay } = refusedViews(pages(0));
    change(projectsPath);
    const { end, waitsMs } = await replay();
    expect([end, waitsMs.length]).toStrictEqual([true, 1]);
    expect(waitsMs[0]).toBeGreaterThan(1000);
    expect(waitsMs[0]).toBeLessThanOrEqual(3000);
  });

  it.each([
    [201, '++'],
    [429, '+-'],
  ])('stops on request once the view in flight is answered with %i', async (status, last) => {
    const { states, replay } = refusedViews(pages(5));
    const stopping = new AbortController();
    const respond: Respond = (response, count) => {
      if (count === 1) return accept(response);
      stopping.abort();
      response.writeHead(status).end();
    };
    const { bodies } = await replay(respond, { stop: stopping.signal });
    expect([bodies.length, states()]).toStrictEqual([2, last]);
  });

  it('exits with code 73 and creates nothing if the data directory is missing', async () => {
    const { dir, replay } = refusedViews(pages(1));
    const { end, bodies } = await replay(accept, { dir: join(dir, 'nowhere') });
    expect([(end as Fatal).exitCode, bodies]).toStrictEqual([73, []]);
    expect(existsSync(join(dir, 'nowhere'))).toBe(false);
  });

  it('exits with code 69 and records nothing if there is no collector', async () => {
    const { states, replay } = refusedViews(pages(1));
    const { end } = await replay(accept, { url: 'http://127.0.0.1:1' });
    const message = expect.stringMatching(
      /^No collector answers at http:\/\/127.0.0.1:1: .*; start the collector, or correct its address \(--to\)$/,
    );
    expect(end).toMatchObject({ exitCode: 69, message });
    expect(states()).toBe('');
  });
});
