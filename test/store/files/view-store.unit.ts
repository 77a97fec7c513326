import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemFiles } from '../../../src/disk/ops.ts';
import { openStore, view } from '../../support/open-store.ts';

/** The flags with which this process has opened the file. */
function flagsOf(path: string): number {
  const fd = fs.readdirSync('/proc/self/fd').find((name) => {
    return (
      fs.existsSync(`/proc/self/fd/${name}`) && fs.readlinkSync(`/proc/self/fd/${name}`) === path
    );
  });
  const info = fs.readFileSync(`/proc/self/fdinfo/${fd!}`, 'utf8');
  return Number.parseInt(/^flags:\s+(\d+)/m.exec(info)![1]!, 8);
}

describe('append', () => {
  test('resolves to the id of the line that is in the file', async () => {
    const { store, lines } = await openStore();
    const appended = await store.append(Buffer.from('{"p":"1","pn":"Grüße \u{1f600}"}'));
    const { id } = appended as { id: string };
    expect(lines()).toEqual([
      `{"ts":"2026-03-01T12:00:00.000Z","id":"${id}","p":"1","pn":"Grüße \u{1f600}"}`,
    ]);
    await store.close(20_000);
  });

  test('resolves only after a sync that began after the write, where no write syncs', async () => {
    const events: string[] = [];
    const files = {
      ...systemFiles,
      canDsync: false,
      async write(fd: number, bytes: Uint8Array, offset: number, length: number) {
        const written = await systemFiles.write(fd, bytes, offset, length);
        events.push('written');
        return written;
      },
      async fdatasync(fd: number) {
        events.push('sync begun');
        await systemFiles.fdatasync(fd);
        events.push('synced');
      },
    };
    const { store } = await openStore({ files });
    await store.append(view(1));
    events.push('acknowledged');
    expect(events).toEqual(['written', 'sync begun', 'synced', 'acknowledged']);
    await store.close(20_000);
  });

  test.each([
    ['disk', true],
    ['os', false],
  ] as const)('with durability %s, on Linux, each write syncs: %s', async (durability, syncs) => {
    const { store, dir } = await openStore({ durability });
    await store.append(view(1));
    expect(flagsOf(join(dir, 'views-2026-03-01.ndjson')) & fs.constants.O_DSYNC).toBe(
      syncs ? fs.constants.O_DSYNC : 0,
    );
    await store.close(20_000);
  });

  test('with durability os resolves after the write; the day is synced when it is closed', async () => {
    let syncs = 0;
    const files = {
      ...systemFiles,
      fdatasync: (fd: number) => ((syncs += 1), systemFiles.fdatasync(fd)),
    };
    const { store, lines } = await openStore({ files, durability: 'os' });
    await store.append(view(1));
    expect(lines()).toHaveLength(1);
    expect(syncs).toBe(0);
    await store.close(20_000);
    expect(syncs).toBe(1);
  });

  test('gathers what arrives during a sync into one write', async () => {
    const writes: number[] = [];
    const files = {
      ...systemFiles,
      write(fd: number, bytes: Uint8Array, offset: number, length: number) {
        writes.push(bytes.toString().split('\n').length - 1);
        return systemFiles.write(fd, bytes, offset, length);
      },
    };
    const { store, lines } = await openStore({ files });
    const first = store.append(view(0));
    await new Promise((resolve) => setImmediate(resolve));
    const rest = Array.from({ length: 500 }, (_, n) => store.append(view(n + 1)));
    await Promise.all([first, ...rest]);
    expect(lines()).toHaveLength(501);
    expect(writes.length).toBeLessThanOrEqual(3);
    expect(store.state()).toMatchObject({ lines: 501, batches: writes.length, queuedLines: 0 });
    await store.close(20_000);
  });

  test('keeps the order of the calls, and ids ascend', async () => {
    const { store, lines } = await openStore();
    const appended = await Promise.all(
      Array.from({ length: 2000 }, (_, n) => store.append(view(n))),
    );
    const parsed = lines().map((line) => JSON.parse(line) as { id: string; n: number });
    expect(parsed.map(({ n }) => n)).toEqual(Array.from({ length: 2000 }, (_, n) => n));
    expect(parsed.map(({ id }) => ({ id }))).toEqual(appended);
    const ids = parsed.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort());
    await store.close(20_000);
  });
});

describe('days', () => {
  test('each line goes to the file of its own day, in one file a batch', async () => {
    const { store, clock, lines } = await openStore();
    const before = store.append(view(1));
    clock.ms = Date.parse('2026-03-02T00:00:00.000Z');
    const after = store.append(view(2));
    await Promise.all([before, after]);
    expect(lines('2026-03-01')).toHaveLength(1);
    expect(lines('2026-03-02')).toHaveLength(1);
    expect(lines('2026-03-02')[0]).toMatch(/^\{"ts":"2026-03-02T/);
    await store.close(20_000);
  });

  test('a restart goes on in the same file', async () => {
    const first = await openStore();
    await first.store.append(view(1));
    await first.store.close(20_000);
    const second = await openStore({ dir: first.dir });
    await second.store.append(view(2));
    await second.store.close(20_000);
    const ids = second.lines().map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).toHaveLength(2);
  });

  test('the file has mode 0640 in a directory 0750, whatever the umask', async () => {
    for (const umask of [0o022, 0o077, 0]) {
      const before = process.umask(umask);
      try {
        const { store, dir } = await openStore();
        await store.append(view(1));
        const mode = (path: string): string => (fs.statSync(path).mode & 0o777).toString(8);
        expect(mode(join(dir, 'views-2026-03-01.ndjson'))).toBe('640');
        expect(mode(dir)).toBe('750');
        await store.close(20_000);
      } finally {
        process.umask(before);
      }
    }
  });
});

describe('close', () => {
  test('writes and answers what is queued, then refuses', async () => {
    const { store, lines } = await openStore();
    const appended = Array.from({ length: 100 }, (_, n) => store.append(view(n)));
    await store.close(20_000);
    for (const one of await Promise.all(appended)) expect(one).toHaveProperty('id');
    expect(lines()).toHaveLength(100);
    expect(await store.append(view(1))).toEqual({ unavailable: 'shutting down' });
    expect(lines()).toHaveLength(100);
  });

  test('can be called twice, and before anything was written', async () => {
    const { store } = await openStore();
    const closed = Promise.all([store.close(20_000), store.close(1000)]);
    await expect(closed).resolves.toHaveLength(2);
  });
});

test('state tells what was written', async () => {
  const { store, dir, clock } = await openStore();
  expect(store.state()).toMatchObject({ path: undefined, lines: 0, lastAcceptedMs: undefined });
  await store.append(view(1));
  clock.ms += 5;
  await store.append(view(2));
  const size = fs.statSync(join(dir, 'views-2026-03-01.ndjson')).size;
  expect(store.state()).toMatchObject({
    path: `${dir}/views-2026-03-01.ndjson`,
    fileBytes: size,
    bytes: size,
    lines: 2,
    batches: 2,
    sealedFragments: 0,
    lastAcceptedMs: clock.ms,
    unavailable: undefined,
    queuedLines: 0,
    queuedBytes: 0,
  });
  expect(store.state().syncSeconds).toBeGreaterThan(0);
  expect(store.state().freeBytes).toBeGreaterThan(0);
  await store.close(20_000);
});
