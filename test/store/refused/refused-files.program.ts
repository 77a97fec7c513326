import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createRefusedStore,
  type RefusedStoreOptions,
} from '../../../src/store/refused/refused-files.ts';
import { clockAt } from '../../support/clock.ts';
import { FaultyDisk } from '../../support/faulty-disk.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/open-store.ts';

const MiB = 1024 * 1024;
const FILE = 'refused-2026-03-01.ndjson';

function openRefused(options: Partial<RefusedStoreOptions> = {}) {
  const dir = options.dir ?? tempDir();
  const clock = clockAt('2026-03-01T12:00:00.000Z');
  const log = memoryLog();
  const store = createRefusedStore({
    dir,
    maxBytesPerDay: 64 * MiB,
    minFreeBytes: 0,
    freeBytes: () => undefined,
    isListed: (id) => id === '1',
    now: clock.now,
    log,
    ...options,
  });
  const text = (name = FILE): string => fs.readFileSync(join(dir, name), 'utf8');
  const lines = (name?: string) =>
    text(name)
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { id: string; view: unknown });
  /** Waits until what was given is in the file or dropped. */
  const settled = (count: number): Promise<void> =>
    until(() => {
      const { keptLines, dropped } = store.state();
      return keptLines + Object.values(dropped).reduce((a, b) => a + b) === count;
    }, `${count} settled`);
  return { dir, clock, log, store, text, lines, settled };
}

const droppedNone = { dayFull: 0, projectFull: 0, queueFull: 0, lowSpace: 0, writeFailed: 0 };

describe('a refused view', () => {
  test('is kept with all that is known, in this order', async () => {
    const { store, text } = openRefused();
    store.keep({
      code: 'invalid-view',
      issues: [{ field: 'p', message: 'no' }],
      origin: 'https://a.example',
      project: '1',
      text: '{"p":"1","n":1.50}',
    });
    store.keep({ code: 'project-not-activated', project: '2', text: '{"p":"2"}' });
    await store.close(20_000);
    const stamp = '\\{"ts":"2026-03-01T12:00:00.000Z","id":"[0-9a-f-]{36}",';
    expect(text()).toMatch(
      new RegExp(
        `^${stamp}"code":"invalid-view","issues":\\[\\{"field":"p","message":"no"\\}\\],` +
          `"origin":"https://a.example","view":\\{"p":"1","n":1.50\\}\\}\n` +
          `${stamp}"code":"project-not-activated","view":\\{"p":"2"\\}\\}\n$`,
      ),
    );
    expect(store.state()).toMatchObject({ keptLines: 2, dropped: droppedNone });
  });

  test('stays its own text, on one line', async () => {
    const { store, lines, text } = openRefused();
    const sent = '\ufeff{\r\n\t"p" : "\u2028\u2029\\n\\u2028",\n"p":"twice"\r}';
    store.keep({ code: 'invalid-view', project: '1', text: sent });
    await store.close(20_000);
    expect(text()).toContain('"view":{  \t"p" : "\\u2028\\u2029\\n\\u2028", "p":"twice" }}');
    expect(lines()[0]?.view).toEqual(JSON.parse(sent.slice(1)));
  });

  test.each([
    [33, true],
    [34, false],
  ])('nested %i deep is an object: %s', async (depth, isObject) => {
    const { store, lines } = openRefused();
    const inner = depth - 1;
    const sent = `{"a\\"[[[":"{{{","cf":${'['.repeat(inner)}${']'.repeat(inner)}}`;
    store.keep({ code: 'invalid-view', project: '1', text: sent });
    await store.close(20_000);
    expect(lines()[0]?.view).toEqual(isObject ? JSON.parse(sent) : sent);
  });

  test('of any depth does no harm', async () => {
    const { store, lines } = openRefused();
    const sent = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    store.keep({ code: 'invalid-view', project: '1', text: sent });
    await store.close(20_000);
    expect(lines()[0]?.view).toBe(sent);
  });

  test('goes to the file of its day; ids ascend, over a restart too', async () => {
    const first = openRefused();
    first.store.keep({ code: 'a', project: '1', text: '{"n":1}' });
    await first.store.close(20_000);
    const { store, clock, lines } = openRefused({ dir: first.dir });
    store.keep({ code: 'a', project: '1', text: '{"n":2}' });
    clock.ms += 24 * 3_600_000;
    store.keep({ code: 'a', project: '1', text: '{"n":3}' });
    await store.close(20_000);
    const ids = lines().map(({ id }) => id);
    expect(ids).toHaveLength(2);
    expect(ids[1]! > ids[0]!).toBe(true);
    expect(lines('refused-2026-03-02.ndjson').map(({ view }) => view)).toEqual([{ n: 3 }]);
  });
});

describe('a day keeps', () => {
  const bytesOf = (size: number): string => JSON.stringify({ x: 'x'.repeat(size - 100) });
  const keepMany = async (
    { store, settled }: ReturnType<typeof openRefused>,
    count: number,
    project: (n: number) => string | undefined,
  ): Promise<void> => {
    const { keptLines, dropped } = store.state();
    const before = keptLines + Object.values(dropped).reduce((a, b) => a + b);
    for (let n = 0; n < count; n++) {
      const id = project(n);
      store.keep({
        code: 'a',
        text: bytesOf(10_000),
        ...(id === undefined ? {} : { project: id }),
      });
      if (n % 50 === 49) await settled(before + n + 1);
    }
    await settled(before + count);
  };

  test('at most its maximum, what an earlier start has kept included', async () => {
    const first = openRefused({ maxBytesPerDay: 500_000 });
    await keepMany(first, 30, () => '1');
    await first.store.close(20_000);
    const second = openRefused({ dir: first.dir, maxBytesPerDay: 500_000 });
    await keepMany(second, 30, () => '1');
    await second.store.close(20_000);
    const size = fs.statSync(join(first.dir, FILE)).size;
    expect(size).toBeLessThanOrEqual(500_000);
    expect(size).toBeGreaterThan(480_000);
    expect(second.store.state().dropped.dayFull).toBeGreaterThan(0);
    expect(second.log.lines).toHaveLength(1);
  });

  test('half of it for listed projects', async () => {
    const opened = openRefused({ maxBytesPerDay: 1_000_000 });
    await keepMany(opened, 100, (n) => String(1000 + n));
    expect(opened.store.state().keptBytes).toBeLessThanOrEqual(500_000);
    expect(opened.store.state().keptBytes).toBeGreaterThan(480_000);
    await keepMany(opened, 100, () => '1');
    expect(opened.store.state().keptBytes).toBeLessThanOrEqual(1_000_000);
    expect(opened.store.state().keptBytes).toBeGreaterThan(980_000);
    await opened.store.close(20_000);
  });

  test('that half over a restart', async () => {
    const first = openRefused({ maxBytesPerDay: 1_000_000 });
    await keepMany(first, 100, (n) => String(1000 + n));
    await first.store.close(20_000);
    const second = openRefused({ dir: first.dir, maxBytesPerDay: 1_000_000 });
    await keepMany(second, 10, (n) => String(2000 + n));
    expect(second.store.state().keptLines).toBeLessThanOrEqual(1);
    await second.store.close(20_000);
  });

  test('at most 1 MiB for one unlisted id, and for all that have none', async () => {
    for (const id of ['666', undefined]) {
      const opened = openRefused();
      await keepMany(opened, 120, () => id);
      expect(opened.store.state().keptBytes).toBeLessThanOrEqual(MiB);
      expect(opened.store.state().keptBytes).toBeGreaterThan(MiB - 10_200);
      expect(opened.store.state().dropped.projectFull).toBeGreaterThan(0);
      await keepMany(opened, 1, () => '667');
      expect(opened.store.state().dropped.projectFull).toBe(120 - 103 - 1);
      await opened.store.close(20_000);
    }
  });

  test('more again when the next one begins', async () => {
    const opened = openRefused({ maxBytesPerDay: 100_000 });
    await keepMany(opened, 20, () => '1');
    const before = opened.store.state().keptLines;
    opened.clock.ms += 24 * 3_600_000;
    await keepMany(opened, 5, () => '1');
    expect(opened.store.state().keptLines).toBe(before + 5);
    await opened.store.close(20_000);
  });

  test('nothing where the maximum is 0', async () => {
    const { store, dir } = openRefused({ maxBytesPerDay: 0 });
    store.keep({ code: 'a', project: '1', text: '{}' });
    await store.close(20_000);
    expect(store.state().dropped.dayFull).toBe(1);
    expect(fs.readdirSync(dir)).toEqual([]);
  });

  test('nothing below twice the free space that views need', async () => {
    let free = 199;
    const { store } = openRefused({ minFreeBytes: 100, freeBytes: () => free });
    store.keep({ code: 'a', project: '1', text: '{}' });
    expect(store.state().dropped.lowSpace).toBe(1);
    free = 200;
    store.keep({ code: 'a', project: '1', text: '{}' });
    await store.close(20_000);
    expect(store.state().keptLines).toBe(1);
  });
});

describe('a disk that', () => {
  function openFaulty() {
    const disk = new FaultyDisk();
    onTestFinished(() => disk.closeAll());
    return { disk, ...openRefused({ files: disk.mount() }) };
  }
  const view = (n: number) => ({ code: 'a', project: '1', text: JSON.stringify({ n }) });

  test('hangs costs a queue of bounded size, and no end of the process', async () => {
    const { disk, store } = openFaulty();
    disk.fault = () => ({ wait: new Promise<void>(() => {}) });
    const text = JSON.stringify({ x: 'ü'.repeat(9_000) });
    for (let n = 0; n < 200; n++) store.keep({ code: 'a', project: '1', text });
    expect(store.state().dropped.queueFull).toBe(
      200 - Math.floor(MiB / (Buffer.byteLength(text) + 99)),
    );
    await store.close(20);
    expect(store.state().keptLines).toBe(0);
  });

  test('is full: counted, said once, and gone on with after the half line', async () => {
    const { disk, store, lines, log, settled } = openFaulty();
    disk.roomBytes = 150;
    for (let n = 0; n < 3; n++) store.keep(view(n));
    await settled(3);
    expect(store.state()).toMatchObject({ keptLines: 1, dropped: { writeFailed: 2 } });
    store.keep(view(3));
    await settled(4);
    disk.roomBytes = Number.POSITIVE_INFINITY;
    store.keep(view(4));
    await settled(5);
    expect(lines().map(({ view }) => view)).toEqual([{ n: 0 }, { n: 1 }, { n: 4 }]);
    expect(log.lines.map((line) => line.split(':')[0])).toEqual(['warn', 'info']);
    await store.close(20_000);
    disk.check();
  });

  test.each(['open', 'fdatasync', 'fsync', 'write', 'stat'] as const)(
    'fails in %s: counted, and gone on with',
    async (failing) => {
      const { disk, store, lines, log, settled, dir } = openFaulty();
      fs.writeFileSync(join(dir, FILE), '{}\n');
      if (failing === 'stat') store.keep(view(0));
      if (failing === 'stat') await settled(1);
      const before = failing === 'stat' ? 1 : 0;
      disk.fault = (operation) => (operation === failing ? { errno: 'EIO' } : undefined);
      store.keep(view(1));
      await settled(before + 1);
      expect(store.state().dropped.writeFailed).toBe(1);
      disk.fault = () => undefined;
      store.keep(view(2));
      await settled(before + 2);
      expect(lines().at(-1)?.view).toEqual({ n: 2 });
      expect(log.lines).toHaveLength(2);
      await store.close(20_000);
    },
  );

  test('was left with half a line: it is ended first', async () => {
    const { dir, store, text } = openRefused();
    fs.writeFileSync(join(dir, FILE), '{"ts":"20');
    store.keep(view(1));
    await store.close(20_000);
    expect(text()).toMatch(/^\{"ts":"20\n\{"ts":"2026-03-01T.*\n$/);
  });

  test('has a FIFO for the file: counted, said once with its name, and gone on without it', async () => {
    const { dir, log, store, lines, settled } = openRefused();
    execFileSync('mkfifo', [join(dir, FILE)]);
    store.keep(view(1));
    await settled(1);
    store.keep(view(2));
    await settled(2);
    expect(store.state()).toMatchObject({ keptLines: 0, dropped: { writeFailed: 2 } });
    expect(log.lines).toEqual([
      expect.stringMatching(
        /^warn: .*refused-2026-03-01\.ndjson": it is no regular.*; move it away$/,
      ),
    ]);
    fs.rmSync(join(dir, FILE));
    store.keep(view(3));
    await store.close(20_000);
    expect(lines().map(({ view }) => view)).toEqual([{ n: 3 }]);
  });

  test('loses the file to somebody: a new one is begun', async () => {
    const { dir, store, lines, settled } = openRefused();
    store.keep(view(1));
    await settled(1);
    fs.renameSync(join(dir, FILE), join(dir, 'elsewhere'));
    store.keep(view(2));
    await store.close(20_000);
    expect(lines().map(({ view }) => view)).toEqual([{ n: 2 }]);
  });
});
