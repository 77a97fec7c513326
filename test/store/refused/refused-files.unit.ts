import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemFiles } from '../../../src/disk/ops.ts';
import {
  RefusedFiles,
  type RefusedStoreOptions,
} from '../../../src/store/refused/refused-files.ts';
import { clockAt } from '../../support/clock.ts';
import { FaultyDisk } from '../../support/faulty-disk.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { until } from '../../support/viewlog.ts';
import { tempDir } from '../../support/temp-dir.ts';

const MiB = 1024 * 1024;
const FILE = 'refused-2026-03-01.ndjson';

function openRefused(options: Partial<RefusedStoreOptions> = {}) {
  const dir = options.dir ?? tempDir();
  const clock = clockAt('2026-03-01T12:00:00.000Z');
  const log = memoryLog();
  const store = new RefusedFiles({
    dir,
    files: systemFiles,
    maxBytesPerDay: 64 * MiB,
    minFreeBytes: 0,
    freeBytes: () => undefined,
    isListed: (id) => id === '1',
    now: clock.now,
    log,
    ...options,
  });
  const text = (name = FILE): string => fs.readFileSync(join(dir, name), 'utf8');
  const views = (name?: string): unknown[] =>
    text(name)
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { view: unknown }).view);
  const settled = (count: number): Promise<boolean> =>
    until(() => {
      const { storedLines, droppedLines } = store.state();
      return storedLines + droppedLines === count;
    });
  return { dir, clock, log, store, text, views, settled };
}

const view = (n: number) => ({ code: 'a', project: '1', text: JSON.stringify({ n }) });

describe('a refused view', () => {
  it('is stored with every known fact, in this order', async () => {
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
    expect(store.state()).toMatchObject({ storedLines: 2, droppedLines: 0 });
    expect(store.state().storedBytes).toBe(Buffer.byteLength(text()));
  });

  it('keeps its text, but on one line', async () => {
    const { store, views, text } = openRefused();
    const sent = '\ufeff{\r\n\t"p" : "\u2028\u2029\\n\\u2028",\n"p":"twice"\r}';
    store.keep({ code: 'invalid-view', project: '1', text: sent });
    await store.close(20_000);
    expect(text()).toContain('"view":{  \t"p" : "\\u2028\\u2029\\n\\u2028", "p":"twice" }}');
    expect(views()).toEqual([JSON.parse(sent.slice(1))]);
  });

  it.each([
    ['an object', 33],
    ['a string', 34],
    ['a string', 100_000],
  ])('is stored as %s if it is nested %i levels deep', async (kind, depth) => {
    const { store, views } = openRefused();
    const inner = depth - 1;
    const sent = `{"a\\"[[[":"{{{","cf":${'['.repeat(inner)}${']'.repeat(inner)}}`;
    store.keep({ code: 'invalid-view', project: '1', text: sent });
    await store.close(20_000);
    expect(views()).toEqual([kind === 'an object' ? JSON.parse(sent) : sent]);
  });
});

const FULL =
  'warn: Refused views have used up --max-refused (50000 bytes) for 2026-03-01; until the next ' +
  "UTC day, viewlog drops those that don't fit, so they can't be sent again. Accepted views aren't " +
  'affected. Correct the cause of the refusals, or start viewlog with a larger --max-refused.';

// The simulator tests how many bytes of a day are stored, and for which projects.
describe('the file of refused views of a day', () => {
  it('holds at most --max-refused, which viewlog logs once; the next day has its own file', async () => {
    const { dir, log, store, clock, views, settled } = openRefused({ maxBytesPerDay: 50_000 });
    const text = JSON.stringify({ x: 'x'.repeat(9_000) });
    for (let n = 0; n < 10; n++) store.keep({ code: 'a', project: '1', text });
    await settled(10);
    expect(store.state()).toMatchObject({ storedLines: 5, droppedLines: 5 });
    expect(fs.statSync(join(dir, FILE)).size).toBe(store.state().storedBytes);
    expect(log.lines).toEqual([FULL]);
    clock.ms += 24 * 3_600_000;
    store.keep(view(1));
    await store.close(20_000);
    expect(views('refused-2026-03-02.ndjson')).toEqual([{ n: 1 }]);
  });

  it('holds at most half of --max-refused for unlisted ids; viewlog logs that once, and a full file separately', async () => {
    const { log, store, settled } = openRefused({ maxBytesPerDay: 50_000 });
    const text = JSON.stringify({ x: 'x'.repeat(9_000) });
    for (let n = 0; n < 5; n++) store.keep({ code: 'a', project: '2', text });
    await settled(5);
    const half =
      'warn: Refused views that belong to no listed project have used up half of --max-refused ' +
      "(50000 bytes) for 2026-03-01; until the next UTC day, viewlog drops those that don't fit, so they " +
      "can't be sent again. The other half is reserved for listed projects.";
    expect(log.lines).toEqual([half]);
    for (let n = 0; n < 5; n++) store.keep({ code: 'a', project: '1', text });
    await settled(10);
    expect(log.lines).toEqual([half, FULL]);
    await store.close(20_000);
  });
});

describe('a store of refused views', () => {
  function openFaulty() {
    const disk = new FaultyDisk();
    return { disk, ...openRefused({ files: disk.files() }) };
  }

  it('while the disk hangs, queues at most 1 MiB of views, and still stops within its timeout', async () => {
    const { disk, store } = openFaulty();
    disk.fault = () => new Promise(() => {});
    const text = JSON.stringify({ x: 'x'.repeat(9_992) });
    for (let n = 0; n < 200; n++) store.keep({ code: 'a', project: '1', text });
    expect(store.state().droppedLines).toBe(200 - Math.floor(MiB / text.length));
    await store.close(20);
    expect(store.state().storedLines).toBe(0);
  });

  it.each(['open', 'fdatasync', 'fsync', 'write'] as const)(
    'counts a view as dropped if %s fails, but stores later views',
    async (failing) => {
      const { disk, store, views, log, settled, dir } = openFaulty();
      fs.writeFileSync(join(dir, FILE), '{}\n');
      disk.fault = (operation) => (operation === failing ? { errno: 'EIO' } : undefined);
      store.keep(view(1));
      await settled(1);
      expect(store.state().droppedLines).toBe(1);
      disk.fault = () => undefined;
      store.keep(view(2));
      await settled(2);
      expect(views().at(-1)).toEqual({ n: 2 });
      expect(log.lines).toEqual([
        expect.stringMatching(
          /^warn: Refused views are lost until this is corrected: Can't \w+ ".*"( for writing)?: EIO: [^;]*(; check the disk)?$/,
        ),
        'info: Storing refused views again',
      ]);
      await store.close(20_000);
    },
  );
});
