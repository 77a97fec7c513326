// Tests flags, modes, messages and the real file system, which the simulator lacks.
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type FileOps, systemFiles } from '../../../src/disk/ops.ts';
import { prepareDirectory } from '../../../src/disk/directory.ts';
import type { Fatal } from '../../../src/base/exit.ts';
import { LocalViewStore, type ViewStoreOptions } from '../../../src/store/files/view-store.ts';
import { clockAt } from '../../support/clock.ts';
import { FaultyDisk } from '../../support/faulty-disk.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { until } from '../../support/viewlog.ts';

const FILE = 'views-2026-03-01.ndjson';
const DAY_MS = 86_400_000;

/** Opens a store at noon of 2026-03-01, in a new directory unless one is given. */
async function openStore(options: Partial<ViewStoreOptions> = {}) {
  const dir = options.dir ?? join(tempDir(), 'data');
  await prepareDirectory(dir, options.files ?? systemFiles);
  const clock = clockAt('2026-03-01T12:00:00.000Z');
  const log = memoryLog();
  const fatals: Fatal[] = [];
  const store = new LocalViewStore({
    dir,
    files: systemFiles,
    durability: 'disk',
    minFreeBytes: 0,
    now: clock.now,
    log,
    onFatal: (fatal) => fatals.push(fatal),
    ...options,
  });
  await store.start();
  /** Returns the day's file as text. */
  const text = (day = '2026-03-01'): string =>
    fs.readFileSync(join(dir, `views-${day}.ndjson`), 'utf8');
  /** Returns the file's lines without newlines; throws if the last line has no newline. */
  const lines = (day?: string): string[] => {
    const whole = text(day);
    if (whole !== '' && !whole.endsWith('\n')) throw new Error(`a fragment: ${whole}`);
    return whole.split('\n').slice(0, -1);
  };
  return { dir, clock, log, fatals, store, text, lines };
}

/** Returns a view's fields, as the collector passes them. */
const view = (n: number): Buffer => Buffer.from(JSON.stringify({ p: '1', n }));

/** Opens a store on a disk with faults. */
async function openFaulty(options: Partial<ViewStoreOptions> = {}) {
  const disk = new FaultyDisk();
  const opened = await openStore({ files: disk.files(), pollMs: 5, ...options });
  return { disk, ...opened, path: join(opened.dir, FILE) };
}

/** Returns the flags with which this process has opened the file. */
function flagsOf(path: string): number {
  const fd = fs.readdirSync('/proc/self/fd').find((name) => {
    const link = `/proc/self/fd/${name}`;
    return fs.existsSync(link) && fs.readlinkSync(link) === path;
  });
  const info = fs.readFileSync(`/proc/self/fdinfo/${fd!}`, 'utf8');
  return Number.parseInt(/^flags:\s+(\d+)/m.exec(info)![1]!, 8);
}

test.each([
  ['disk', 'with', fs.constants.O_DSYNC],
  ['os', 'without', 0],
] as const)(
  'with --durability %s, a store opens its file %s O_DSYNC',
  async (durability, _, flags) => {
    const { store, dir } = await openStore({ durability });
    await store.append(view(1));
    expect(flagsOf(join(dir, FILE)) & fs.constants.O_DSYNC).toBe(flags);
    await store.close(20_000);
  },
);

test('a store writes the views that arrive during a sync as one batch', async () => {
  let writes = 0;
  const files = {
    ...systemFiles,
    write: (...args: Parameters<typeof systemFiles.write>) => (
      (writes += 1),
      systemFiles.write(...args)
    ),
  };
  const { store, lines } = await openStore({ files });
  const first = store.append(view(0));
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([first, ...Array.from({ length: 500 }, (_, n) => store.append(view(n + 1)))]);
  expect(lines()).toHaveLength(501);
  expect(writes).toBeLessThanOrEqual(3);
  const bytes = fs.statSync(store.state().path!).size;
  const stored = { lines: 501, batches: writes, bytes, fileBytes: bytes, queuedLines: 0 };
  expect(store.state()).toMatchObject(stored);
  expect(store.state().syncSeconds).toBeGreaterThan(0);
  await store.close(20_000);
});

test('a view file has mode 0640, and its directory 0750, whatever the umask', async () => {
  for (const umask of [0o022, 0o077, 0]) {
    const before = process.umask(umask);
    try {
      const { store, dir } = await openStore();
      await store.append(view(1));
      const mode = (path: string): string => (fs.statSync(path).mode & 0o777).toString(8);
      expect([mode(join(dir, FILE)), mode(dir)]).toEqual(['640', '750']);
      await store.close(20_000);
    } finally {
      process.umask(before);
    }
  }
});

describe('a full disk', () => {
  test('is logged once when it begins and once when it ends', async () => {
    const { store, disk, lines, log, path } = await openFaulty();
    disk.spaceBytes = 40;
    expect(await store.append(view(1))).toEqual({ unavailable: 'the disk is full' });
    expect(await store.append(view(2))).toEqual({ unavailable: 'the disk is full' });
    // The status page shows the log's message.
    const detail = `Can't write "${path}": ENOSPC: injected by the test; free some space, or delete files if df -i shows no free inodes`;
    expect(store.state().detail).toBe(detail);
    disk.spaceBytes = Number.POSITIVE_INFINITY;
    await until(() => store.state().unavailable === undefined);
    expect(store.state().detail).toBeUndefined();
    expect(await store.append(view(3))).toHaveProperty('id');
    expect(lines()).toHaveLength(2);
    expect(log.lines).toEqual([
      `error: Refusing views and retrying: ${detail}`,
      `info: Writing to "${path}" again`,
    ]);
    await store.close(20_000);
  });

  test.each([
    ['writes no bytes and reports no error', async () => 0],
    ['is always busy', () => Promise.reject(Object.assign(new Error(), { code: 'EAGAIN' }))],
  ])(
    'is assumed, and the write is retried with pauses, if the disk %s',
    async (_, writeNothing) => {
      let writes = 0;
      let isFull = true;
      const files: FileOps = {
        ...systemFiles,
        write: async (...args) => {
          writes += 1;
          if (writes > 10_000) throw new Error('it spins');
          return isFull ? writeNothing() : systemFiles.write(...args);
        },
      };
      const { store, lines, log } = await openStore({ files, pollMs: 5 });
      expect(await store.append(view(1))).toEqual({ unavailable: 'the disk is full' });
      await until(() => writes > 2);
      isFull = false;
      await until(() => store.state().unavailable === undefined);
      expect(lines()).toHaveLength(1);
      expect(log.lines[0]).toContain('ENOSPC: the file system accepted no bytes');
      await store.close(20_000);
    },
  );

  test('makes a stop leave a fragment and fail with exit code 74; the next start seals the fragment', async () => {
    const { store, disk, dir, text, path } = await openFaulty({ pollMs: 600_000 });
    disk.spaceBytes = 40;
    await store.append(view(1));
    await expect(store.close(20_000)).rejects.toMatchObject({
      exitCode: 74,
      message: `The last line of "${path}" may be incomplete, because a write failed; no acknowledged view is lost. The next start ends the line with a newline.`,
    });
    const again = await openStore({ dir });
    expect(text()).toHaveLength(41);
    expect(again.log.lines).toEqual([
      `warn: "${path}" ended in a fragment, a part of a line; viewlog has sealed it with a newline. If viewlog crashed or the disk was full, its view was never acknowledged`,
    ]);
    await again.store.close(20_000);
  });
});

test('a store with too little free space refuses views until an eighth more is free', async () => {
  const { store, disk, log } = await openFaulty({ minFreeBytes: 800_000 });
  disk.spaceBytes = 799_999;
  await until(() => store.state().unavailable !== undefined);
  expect(await store.append(view(2))).toEqual({ unavailable: 'too little free disk space' });
  await until(() => store.state().unavailableSinceMs !== undefined);
  disk.spaceBytes = 899_999;
  await until(() => store.state().freeBytes === 899_999);
  expect(store.state().unavailable).toBe('too little free disk space');
  disk.spaceBytes = 900_000;
  await until(() => store.state().unavailable === undefined);
  await until(() => store.state().unavailableSinceMs === undefined);
  expect(log.lines[0]).toMatch(
    /^error: Free disk space at ".*" is below --min-free \(800000 bytes\), so viewlog refuses views until at least 879 KiB is free; delete files on the same disk that you no longer need \(a view file only after you have copied it\), or start viewlog with a lower --min-free$/,
  );
  expect(log.lines[1]).toMatch(/^info: Free disk space at ".*" is at least 879 KiB again$/);
  expect(log.lines).toHaveLength(2);
  await store.close(20_000);
});

test('a store logs once that the free space is unknown', async () => {
  let asked = 0;
  const freeBytes = async (): Promise<number> => {
    asked += 1;
    throw new Error('Requires sys access to "statfs"');
  };
  const files = { ...systemFiles, freeBytes };
  const { store, log } = await openStore({ files, minFreeBytes: 100, pollMs: 5 });
  expect(await store.append(view(1))).toHaveProperty('id');
  await until(() => asked > 2);
  expect(log.lines).toEqual([
    `warn: --min-free is off, because viewlog can't read the free disk space: Requires sys access to "statfs"; start Deno with --allow-sys=statfs`,
  ]);
  await store.close(20_000);
});

test.each([
  ['fdatasync', 'ENOSPC', 'sync'],
  ['write', 'EIO', 'write'],
])('a store ends the process with code 74 if %s fails with %s', async (failing, errno, what) => {
  const { store, disk, fatals, path } = await openFaulty();
  disk.fault = (operation) => (operation === failing ? { errno } : undefined);
  expect(await store.append(view(1))).toEqual({ unavailable: 'the disk has failed' });
  const fault = `Can't ${what} "${path}": ${errno}: injected by the test`;
  expect(fatals.map(({ exitCode, message }) => [exitCode, message])).toEqual([
    [74, `${fault}; check the disk. viewlog is stopping; the views that it was writing get 503`],
  ]);
  await expect(store.close(20_000)).rejects.toBe(fatals[0]);
});

test.each([
  [
    'moves',
    (path: string) => fs.renameSync(path, `${path}.moved`),
    'moved or removed by another program; if it was removed, its views are gone',
  ],
  [
    'replaces',
    (path: string) => {
      fs.writeFileSync(`${path}.new`, '');
      fs.renameSync(`${path}.new`, path);
    },
    'replaced by another program; views that the new file lacks are in the old one if it was moved, and otherwise gone',
  ],
  [
    'empties',
    (path: string) => fs.truncateSync(path),
    'cut short by another program; the views that were cut off are gone',
  ],
])(
  'after another program %s its file, a store reopens the file and logs that once',
  async (_, change, what) => {
    const { store, lines, log, path } = await openFaulty();
    await store.append(view(1));
    change(path);
    await until(() => log.lines.length > 0);
    expect(await store.append(view(2))).toHaveProperty('id');
    expect(lines()).toHaveLength(1);
    expect(log.lines).toEqual([`warn: "${path}" was ${what}`]);
    await store.close(20_000);
  },
);

test('a store logs that the clock was set back across midnight and follows the clock', async () => {
  const { store, clock, lines, log } = await openStore();
  await store.append(view(1));
  clock.ms -= DAY_MS;
  await store.append(view(2));
  expect(lines('2026-02-28')).toHaveLength(1);
  expect(log.lines).toEqual([
    'warn: The clock was set back from 2026-03-01 to 2026-02-28; writing to the file of 2026-02-28 again',
  ]);
  await store.close(20_000);
});
