import { execFileSync } from 'node:child_process';
import { appendFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DAY_MS, dayOf, HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import { Counts } from '../../src/status/counts.ts';
import { daysAt } from '../../src/status/days.ts';
import { History } from '../../src/status/history.ts';
import { refusedLine } from '../../src/store/refused/refused-line.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';
import { lineOf } from '../support/views.ts';

// What a start learns of the files of the time before it.

const START = Date.parse('2026-11-21T14:00:00.000Z');
const ID = '019aa5d5-0000-7000-8000-000000000000';

const tsOf = (ms: number): string => new Date(ms).toISOString();

const viewAt = (ms: number, p = '1', url = '/'): string =>
  lineOf(tsOf(ms), ID, JSON.stringify({ pn: 'Café', pid: 'x', p, ld: tsOf(ms), url }));

const refusedAt = (ms: number, p = '1', code = 'origin-not-allowed'): string => {
  const text = JSON.stringify({ p, pid: 'Café' });
  const origin = 'https://a.example';
  return refusedLine({ ts: tsOf(ms), id: ID, day: dayOf(ms) }, { code, origin, text });
};

/** @param lines by the file's name. */
function filesWith(lines: Readonly<Record<string, readonly string[]>>): string {
  const dir = tempDir();
  for (const [name, texts] of Object.entries(lines)) {
    writeFileSync(join(dir, name), texts.join(''));
  }
  return dir;
}

function started(dir: string, bytesMax?: number) {
  const counts = new Counts({ now: () => START, isListed: (id) => id === '1' });
  const log = memoryLog();
  const history = new History({ dir, counts, log, ...(bytesMax !== undefined && { bytesMax }) });
  return { counts, history, log };
}

const { todayMs, yesterdayMs } = daysAt(START);

function countsOf({ total, projects }: Counts) {
  const of = ({ acceptedIn, refusedIn }: typeof total) => [
    acceptedIn.lastHour(START),
    acceptedIn.between(todayMs, START + 1, START),
    acceptedIn.between(yesterdayMs, todayMs, START),
    refusedIn?.between(yesterdayMs, START + 1, START) ?? 0,
  ];
  return { total: of(total), listed: of(projects.get('1')!) };
}

const TODAY = 'views-2026-11-21.ndjson';
const YESTERDAY = 'views-2026-11-20.ndjson';

describe('a start', () => {
  it('learns of the views and refusals of yesterday and today', async () => {
    const dir = filesWith({
      [YESTERDAY]: [viewAt(yesterdayMs - 1), viewAt(yesterdayMs), viewAt(todayMs - 1)],
      [TODAY]: [viewAt(todayMs), viewAt(START - MINUTE_MS, '1', '/last')],
      'refused-2026-11-20.ndjson': [
        refusedAt(todayMs - 2, '2'),
        refusedAt(todayMs - 1),
        refusedAt(todayMs - 1, '2'),
      ],
      'refused-2026-11-21.ndjson': [refusedAt(START - 2 * MINUTE_MS)],
    });
    const before = readdirSync(dir).map((name) => statSync(join(dir, name)).mtimeMs);
    const { counts, history } = started(dir);
    expect(history).toMatchObject({ isReading: true, sinceMs: START });
    await history.read();
    expect(history.isReading).toBe(false);
    expect(history.sinceMs).toBeLessThanOrEqual(yesterdayMs);
    expect(countsOf(counts)).toStrictEqual({ total: [1, 2, 2, 4], listed: [1, 2, 2, 2] });
    expect(counts.projects.get('1')!.lastAcceptedMs).toBe(START - MINUTE_MS);
    const [group] = counts.projects.get('1')!.refusals.list(START);
    expect(group).toMatchObject({
      code: 'origin-not-allowed',
      count: 2,
      lastMs: START - 2 * MINUTE_MS,
      latest: {
        atMs: START - 2 * MINUTE_MS,
        origin: 'https://a.example',
        text: '{"p":"1","pid":"Café"}',
      },
      origins: [{ origin: 'https://a.example', count: 2, latest: { atMs: START - 2 * MINUTE_MS } }],
    });
    expect(counts.unlistedIds.list(() => false, START)).toMatchObject([
      { id: '2', count: 2, lastMs: todayMs - 1 },
    ]);
    const [latest] = counts.latestAccepted.list();
    expect(JSON.parse(Buffer.from(latest!.item.fields).toString())).toMatchObject({
      pn: 'Café',
      url: '/last',
    });
    // What Prometheus reads began with the process, and the files are as they were.
    expect([counts.total.accepted, counts.total.refused]).toStrictEqual([0, 0]);
    expect(readdirSync(dir).map((name) => statSync(join(dir, name)).mtimeMs)).toStrictEqual(before);
  });

  it('counts nothing twice: what is written while it reads comes live', async () => {
    const dir = filesWith({ [TODAY]: [viewAt(START - 2), viewAt(START - 1)] });
    const { counts, history } = started(dir);
    appendFileSync(join(dir, TODAY), viewAt(START) + viewAt(START - 1));
    counts.accepted('1', Buffer.from('{"url":"/"}'));
    counts.accepted('1', Buffer.from('{"url":"/"}'));
    await history.read();
    expect(countsOf(counts).listed).toStrictEqual([4, 4, 0, 0]);
  });

  it('passes over torn lines, and those that no collector wrote', async () => {
    const view = viewAt(START - 1);
    const dir = filesWith({
      [TODAY]: [
        view,
        `${view.slice(0, 80)}\n`,
        '\n',
        'null\n',
        '{"ts":1}\n',
        `${JSON.stringify({ ts: tsOf(START - 1), id: ID, p: 7, url: '/' })}\n`,
        `${JSON.stringify({ ts: tsOf(START - 1), id: ID, p: '1' })}\n`,
        '\0\0\0\n',
        view,
        view.slice(0, -9),
      ],
      'refused-2026-11-21.ndjson': [
        refusedAt(START - 1),
        refusedAt(START - 1).replace('origin-not-allowed', 'constructor'),
        refusedAt(START - 1).slice(0, 70),
      ],
    });
    const { counts, history, log } = started(dir);
    await history.read();
    expect(countsOf(counts).listed).toStrictEqual([2, 2, 0, 1]);
    expect(log.lines).toStrictEqual([]);
  });

  it('counts views of projects that are not listed any more in the total alone', async () => {
    const dir = filesWith({ [TODAY]: [viewAt(START - 1), viewAt(START - 1, '9')] });
    const { counts, history } = started(dir);
    await history.read();
    expect(countsOf(counts)).toMatchObject({ total: [2, 2, 0, 0], listed: [1, 1, 0, 0] });
    expect([...counts.projects.keys()]).toStrictEqual(['1']);
  });

  it('reads the newest first, as far as its bound, and says since when it knows', async () => {
    const lines = Array.from({ length: 5_000 }, (_, i) => viewAt(START - 5_000_000 + i * 1_000));
    const bytes = lines.join('').length;
    const refused = Array.from({ length: 2_000 }, (_, i) =>
      refusedAt(START - 5_000_000 + i * 2_500),
    );
    const name = 'refused-2026-11-21.ndjson';
    const dir = filesWith({ [TODAY]: lines, [YESTERDAY]: [viewAt(todayMs - 1)], [name]: refused });
    const { counts, history } = started(dir, bytes / 2);
    await history.read();
    expect(history.isReading).toBe(false);
    const knownMs = START - history.sinceMs;
    expect(knownMs).toBeGreaterThan(1_000_000);
    expect(knownMs).toBeLessThan(4_000_000);
    // All of both kinds since then, and nothing of yesterday.
    const whole = (step: number): number => Math.floor(knownMs / step);
    const timeline = counts.projects.get('1')!;
    expect(timeline.acceptedIn.between(0, START, START)).toBeGreaterThanOrEqual(whole(1_000));
    expect(timeline.refusedIn!.between(0, START, START)).toBeGreaterThanOrEqual(whole(2_500));
    expect(timeline.acceptedIn.between(yesterdayMs, todayMs, START)).toBe(0);
  });

  it('leaves out what a wrong clock wrote, and takes what one that stepped back a little did', async () => {
    const dir = filesWith({
      [TODAY]: [viewAt(START + HOUR_MS), viewAt(START - 1), viewAt(START + 4 * MINUTE_MS)],
      'views-2031-01-01.ndjson': [viewAt(Date.parse('2031-01-01T00:00:00.000Z'))],
      'views-1970-01-01.ndjson': [viewAt(0)],
    });
    const { counts, history } = started(dir);
    await history.read();
    expect(countsOf(counts).listed).toStrictEqual([2, 2, 0, 0]);
    expect(counts.projects.get('1')!.lastAcceptedMs).toBe(START);
  });

  it('knows nothing of a day that is packed, nor of those before', async () => {
    const dir = filesWith({ [TODAY]: [viewAt(START - 1)], [`${YESTERDAY}.gz`]: ['x'] });
    const { history } = started(dir);
    await history.read();
    expect(history.sinceMs).toBe(Date.parse('2026-11-21T00:00:00.000Z'));
  });

  it('is not held up by what is no file, and warns of what it cannot read', async () => {
    const dir = filesWith({ [TODAY]: [viewAt(START - 1)] });
    execFileSync('mkfifo', [join(dir, YESTERDAY), join(dir, 'refused-2026-11-21.ndjson')]);
    const { counts, history } = started(dir);
    await history.read();
    expect(countsOf(counts).listed).toStrictEqual([1, 1, 0, 0]);
    const gone = filesWith({ [TODAY]: [viewAt(START - 1)] });
    const { history: unread, log } = started(gone);
    rmSync(join(gone, TODAY));
    await unread.read();
    expect([unread.isReading, unread.sinceMs]).toStrictEqual([false, START]);
    expect(log.lines).toStrictEqual([
      expect.stringMatching(
        /^warn: Cannot read the views files in ".*": .*; the status page counts since 2026-11-21T14/,
      ),
    ]);
  });

  it('reads as far back as a silence is judged by, though that is before yesterday', async () => {
    const start = daysAt(START).todayMs + HOUR_MS;
    const agoMs = start - DAY_MS - 2 * HOUR_MS;
    const dir = filesWith({ [`views-${dayOf(agoMs)}.ndjson`]: [viewAt(agoMs)] });
    const counts = new Counts({ now: () => start, isListed: () => true });
    const history = new History({ dir, counts, log: memoryLog() });
    await history.read();
    expect(counts.total.acceptedIn.between(agoMs - HOUR_MS, agoMs + 1, start)).toBe(1);
  });

  it('ends early where the collector stops', async () => {
    const lines = Array.from({ length: 5_000 }, (_, i) => viewAt(START - 5_000_000 + i * 1_000));
    const { counts, history } = started(filesWith({ [TODAY]: lines }));
    const read = history.read();
    history.stop();
    await read;
    expect(countsOf(counts).total[1]).toBeLessThan(5_000);
  });
});
