import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { FaultyDisk } from '../../support/faulty-disk.ts';
import { openStore, QUICK, until, view } from '../../support/open-store.ts';
import { tempDir } from '../../support/temp-dir.ts';

const NO_FILES: [string, (path: string) => void][] = [
  ['a FIFO', (path) => execFileSync('mkfifo', [path])],
  ['a link to a device', (path) => fs.symlinkSync('/dev/null', path)],
  ['a directory', (path) => fs.mkdirSync(path)],
];

// Whether each write syncs too, or a sync follows it, the same holds.
describe.each([
  ['a sync after each write', false],
  ['writes that sync', true],
])('with %s', (_, canDsync) => {
  const FILE = 'views-2026-03-01.ndjson';
  const isAcknowledged = (appended: object): boolean => 'id' in appended;

  async function openFaulty(options: Parameters<typeof openStore>[0] = {}) {
    const disk = new FaultyDisk({ canDsync });
    const opened = await openStore({ files: disk.mount(), timing: QUICK, ...options });
    onTestFinished(() => disk.closeAll());
    return { ...opened, disk };
  }

  const gate = () => {
    let open = (): void => {};
    const wait = new Promise<void>((resolve) => (open = resolve));
    return { wait, open };
  };

  describe('a short write', () => {
    test('is gone on with, a byte at a time, across characters', async () => {
      const { store, disk, lines } = await openFaulty();
      disk.fault = (operation) => (operation === 'write' ? { shortBytes: 1 } : undefined);
      const appended = await store.append(Buffer.from('{"p":"1","pn":"\u{1f600}"}'));
      expect(isAcknowledged(appended)).toBe(true);
      expect(lines()[0]).toContain('\u{1f600}');
      await store.close(20_000);
      disk.check();
    });

    test.each(['EAGAIN', 'EINTR'])('followed by %s is gone on with', async (errno) => {
      const { store, disk, lines, log } = await openFaulty();
      let writes = 0;
      disk.fault = (operation) => {
        if (operation !== 'write') return undefined;
        writes += 1;
        return writes % 2 === 0 ? { shortBytes: 30 } : { errno };
      };
      const appended = await Promise.all([store.append(view(1)), store.append(view(2))]);
      expect(appended.every(isAcknowledged)).toBe(true);
      expect(lines()).toHaveLength(2);
      expect(log.lines).toEqual([]);
      await store.close(20_000);
      disk.check();
    });
  });

  describe('a full disk', () => {
    const LINE_BYTES = 92;

    test('acknowledges exactly the lines that are in the file as a whole, at any byte', async () => {
      for (let room = 0; room <= 3 * LINE_BYTES; room++) {
        const { store, disk, text } = await openFaulty();
        disk.roomBytes = room;
        const appended = await Promise.all([1, 2, 3].map((n) => store.append(view(n))));
        const whole = Math.floor(room / LINE_BYTES);
        expect(appended.map(isAcknowledged)).toEqual([1, 2, 3].map((n) => n <= whole));
        expect(text()).toHaveLength(room);
        await store.close(20_000).catch(() => {});
        expect(text()).toHaveLength(room);
        disk.check();
        disk.closeAll();
      }
    });

    test('refuses at once, goes on by itself with the rest of the half line, logs twice', async () => {
      const { store, disk, lines, log, dir } = await openFaulty();
      await store.append(view(0));
      disk.roomBytes = LINE_BYTES + 40;
      const [first, second] = await Promise.all([store.append(view(1)), store.append(view(2))]);
      expect(first).toHaveProperty('id');
      expect(second).toEqual({ unavailable: 'the disk is full' });
      expect(await store.append(view(3))).toEqual({ unavailable: 'the disk is full' });
      expect(store.state()).toMatchObject({
        unavailable: 'the disk is full',
        queuedLines: 0,
        lines: 2,
        bytes: 2 * LINE_BYTES,
      });
      disk.roomBytes = Number.POSITIVE_INFINITY;
      await until(() => store.state().unavailable === undefined, 'space is noticed');
      expect(await store.append(view(4))).toHaveProperty('id');
      expect(lines().map((line) => (JSON.parse(line) as { n: number }).n)).toEqual([0, 1, 2, 4]);
      expect(log.lines).toEqual([
        `error: Cannot write "${dir}/${FILE}": ENOSPC: made up by the test, write; ` +
          'refusing views until it succeeds',
        `info: Writing to "${dir}/${FILE}" again`,
      ]);
      await store.close(20_000);
      disk.check();
    });

    test('refuses what has queued up behind, too', async () => {
      const { store, disk, text } = await openFaulty();
      await store.append(view(0));
      let writes = 0;
      const { wait, open } = gate();
      disk.roomBytes = 0;
      disk.fault = (operation) => {
        if (operation !== 'write') return undefined;
        writes += 1;
        return writes === 1 ? { shortBytes: 0, wait } : undefined;
      };
      const underWay = store.append(view(1));
      await until(() => writes === 1, 'the write');
      const queued = [store.append(view(2)), store.append(view(3))];
      expect(store.state().queuedLines).toBe(3);
      open();
      for (const one of [underWay, ...queued]) {
        expect(await one).toEqual({ unavailable: 'the disk is full' });
      }
      expect(text()).toHaveLength(LINE_BYTES);
      await store.close(20_000);
    });

    test('does not acknowledge what is in the file before it is synced', async () => {
      const { store, disk, fatals } = await openFaulty();
      await store.append(view(0));
      disk.roomBytes = LINE_BYTES + 40;
      disk.fault = (operation) => (operation === 'fdatasync' ? { errno: 'EIO' } : undefined);
      const appended = await Promise.all([store.append(view(1)), store.append(view(2))]);
      expect(appended.some(isAcknowledged)).toBe(false);
      expect(fatals).toHaveLength(1);
    });

    test('over midnight: the old file gets its rest before the new one is begun', async () => {
      const { store, disk, lines, clock } = await openFaulty();
      await store.append(view(0));
      disk.roomBytes = 40;
      await store.append(view(1));
      clock.ms += 24 * 3_600_000;
      disk.roomBytes = Number.POSITIVE_INFINITY;
      await until(() => store.state().unavailable === undefined, 'space is noticed');
      expect(await store.append(view(2))).toHaveProperty('id');
      expect(lines('2026-03-01')).toHaveLength(2);
      expect(lines('2026-03-02')).toHaveLength(1);
      await store.close(20_000);
    });

    test.each(['EDQUOT', 'EFBIG'])('%s is a full disk too', async (errno) => {
      const { store, disk, fatals } = await openFaulty();
      disk.fault = (operation) => (operation === 'write' ? { errno } : undefined);
      expect(await store.append(view(1))).toEqual({ unavailable: 'the disk is full' });
      disk.fault = () => undefined;
      await until(() => store.state().unavailable === undefined, 'space is noticed');
      expect(fatals).toEqual([]);
      await store.close(20_000);
    });

    test('at the stop: half a line stays, exit 74, and the next start seals it', async () => {
      // The stop does not wait for the next attempt.
      const timing = { ...QUICK, retryMs: 600_000, retryMaxMs: 600_000 };
      const { store, disk, dir, text } = await openFaulty({ timing });
      await store.append(view(0));
      disk.roomBytes = 40;
      await store.append(view(1));
      await new Promise((resolve) => setImmediate(resolve));
      await expect(store.close(20_000)).rejects.toMatchObject({
        exitCode: 74,
        message: `"${dir}/${FILE}" ends in half a line because the disk is full; the next start ends that line`,
      });
      expect(text()).toHaveLength(LINE_BYTES + 40);
      const again = await openStore({ dir });
      expect(text()).toHaveLength(LINE_BYTES + 41);
      expect(again.store.state().sealedFragments).toBe(1);
      await again.store.append(view(2));
      expect(again.lines()).toHaveLength(3);
      await again.store.close(20_000);
    });

    test('at the stop, at the end of a line: nothing is half, exit 0', async () => {
      const { store, disk, text } = await openFaulty();
      await store.append(view(0));
      disk.roomBytes = 0;
      await store.append(view(1));
      await store.close(20_000);
      expect(text()).toHaveLength(LINE_BYTES);
    });

    test('at the start: it starts, refuses, and goes on when there is space', async () => {
      const dir = tempDir();
      fs.writeFileSync(join(dir, FILE), '{"ts":"half a li');
      const disk = new FaultyDisk({ canDsync });
      disk.roomBytes = 0;
      const { store, lines, log } = await openStore({ dir, files: disk.mount(), timing: QUICK });
      expect(await store.append(view(1))).toEqual({ unavailable: 'the disk is full' });
      disk.roomBytes = Number.POSITIVE_INFINITY;
      await until(() => store.state().unavailable === undefined, 'space is noticed');
      expect(await store.append(view(2))).toHaveProperty('id');
      expect(lines()).toHaveLength(2);
      expect(log.lines.map((line) => line.split(':')[0])).toEqual(['error', 'warn', 'info']);
      await store.close(20_000);
      disk.check();
    });

    test('that has no room for a new file: refused, and tried again', async () => {
      const { store, disk, lines, log } = await openFaulty();
      disk.fault = (operation) => (operation === 'open' ? { errno: 'ENOSPC' } : undefined);
      expect(await store.append(view(1))).toEqual({ unavailable: 'the disk is full' });
      disk.fault = () => undefined;
      await until(() => store.state().unavailable === undefined, 'space is noticed');
      expect(await store.append(view(2))).toHaveProperty('id');
      expect(lines()).toHaveLength(1);
      expect(log.lines).toHaveLength(2);
      await store.close(20_000);
    });
  });

  describe('a failed sync', () => {
    test.each(['EIO', 'ENOSPC', 'EINTR', 'EDQUOT'])('%s ends it: exit 74, once', async (errno) => {
      const { store, disk, fatals, log, dir } = await openFaulty();
      await store.append(view(0));
      let syncs = 0;
      disk.fault = (operation) => {
        if (operation !== 'fdatasync') return undefined;
        syncs += 1;
        return { errno };
      };
      const underWay = store.append(view(1));
      await until(() => syncs > 0, 'the sync');
      const queued = store.append(view(2));
      expect(await underWay).toEqual({ unavailable: 'the disk has failed' });
      expect(await queued).toEqual({ unavailable: 'the disk has failed' });
      disk.fault = () => undefined;
      expect(await store.append(view(3))).toEqual({ unavailable: 'the disk has failed' });
      expect(syncs).toBe(1);
      expect(fatals.map(({ exitCode, message }) => ({ exitCode, message }))).toEqual([
        {
          exitCode: 74,
          message:
            `Cannot sync "${dir}/${FILE}": ${errno}: made up by the test, fdatasync; ` +
            'check the disk, then start viewlog again',
        },
      ]);
      expect(log.lines).toEqual([]);
      await store.close(20_000);
      disk.check();
    });

    test('of the directory, when a day begins, ends it too', async () => {
      const { store, disk, fatals, dir } = await openFaulty();
      disk.fault = (operation) => (operation === 'fsync' ? { errno: 'EIO' } : undefined);
      expect(await store.append(view(1))).toEqual({ unavailable: 'the disk has failed' });
      expect(fatals[0]?.message).toMatch(`Cannot sync "${dir}": EIO`);
    });

    test('of a directory on a file system that has no such thing passes', async () => {
      const { store, disk } = await openFaulty();
      disk.fault = (operation) => (operation === 'fsync' ? { errno: 'EINVAL' } : undefined);
      expect(await store.append(view(1))).toHaveProperty('id');
      await store.close(20_000);
    });

    test('at the start: exit 74', async () => {
      const dir = tempDir();
      fs.writeFileSync(join(dir, FILE), '{}\n');
      const disk = new FaultyDisk({ canDsync });
      disk.fault = (operation) => (operation === 'fdatasync' ? { errno: 'EIO' } : undefined);
      const started = openStore({ dir, files: disk.mount() });
      await expect(started).rejects.toMatchObject({ exitCode: 74 });
      disk.closeAll();
    });
  });

  test.each(['EIO', 'EBADF', 'EROFS'])('a write that fails with %s: exit 74', async (errno) => {
    const { store, disk, fatals } = await openFaulty();
    disk.fault = (operation) => (operation === 'write' ? { errno } : undefined);
    expect(await store.append(view(1))).toEqual({ unavailable: 'the disk has failed' });
    expect(fatals).toMatchObject([{ exitCode: 74 }]);
    expect(fatals[0]?.message).toMatch(/^Cannot write "/);
  });

  test.each(['EMFILE', 'EACCES', 'ENOENT'])('a new day whose file %s: refused', async (errno) => {
    const { store, disk, clock, fatals, lines } = await openFaulty();
    await store.append(view(1));
    clock.ms += 24 * 3_600_000;
    disk.fault = (operation) => (operation === 'open' ? { errno } : undefined);
    expect(await store.append(view(2))).toEqual({ unavailable: 'the view file cannot be opened' });
    disk.fault = () => undefined;
    await until(() => store.state().unavailable === undefined, 'the file is opened');
    expect(await store.append(view(3))).toHaveProperty('id');
    expect(lines('2026-03-02')).toHaveLength(1);
    expect(fatals).toEqual([]);
    await store.close(20_000);
  });

  describe('a disk that hangs', () => {
    test.each(['write', 'fdatasync', 'open'] as const)(
      'in %s: everyone is answered, and it goes on when the disk does',
      async (hanging) => {
        const { store, disk, lines, log } = await openFaulty({
          timing: { ...QUICK, stuckMs: 500 },
        });
        const { wait, open } = gate();
        let hangs = false;
        disk.fault = (operation) => {
          if (operation !== hanging) return undefined;
          hangs = true;
          return { wait };
        };
        const underWay = store.append(view(1));
        await until(() => hangs, 'it hangs');
        const queued = store.append(view(2));
        expect(await underWay).toEqual({ unavailable: 'the disk does not answer' });
        expect(await queued).toEqual({ unavailable: 'the disk does not answer' });
        expect(await store.append(view(3))).toEqual({ unavailable: 'the disk does not answer' });
        expect(store.state()).toMatchObject({
          unavailable: 'the disk does not answer',
          queuedLines: 0,
          lastAcceptedMs: undefined,
        });
        disk.fault = () => undefined;
        open();
        await until(() => store.state().unavailable === undefined, 'it goes on');
        // Written since, but nobody was told so.
        expect(store.state()).toMatchObject({ lines: 1, lastAcceptedMs: undefined });
        expect(await store.append(view(4))).toHaveProperty('id');
        const written = lines().map((line) => (JSON.parse(line) as { n: number }).n);
        expect(written).toEqual([1, 4]);
        expect(store.state().lines).toBe(2);
        expect(log.lines).toHaveLength(2);
        await store.close(20_000);
        disk.check();
      },
    );

    test('does not keep close from ending: exit 74, and everyone is answered', async () => {
      const { store, disk } = await openFaulty();
      let hangs = false;
      disk.fault = (operation) => {
        if (operation !== 'fdatasync') return undefined;
        hangs = true;
        return { wait: new Promise<void>(() => {}) };
      };
      const underWay = store.append(view(1));
      await until(() => hangs, 'it hangs');
      const queued = store.append(view(2));
      await expect(store.close(50)).rejects.toMatchObject({ exitCode: 74 });
      expect(await underWay).toEqual({ unavailable: 'shutting down' });
      expect(await queued).toEqual({ unavailable: 'shutting down' });
    });
  });

  describe('little free space', () => {
    test('refuses before the disk is full, with room to spare until it accepts again', async () => {
      const { store, disk, log } = await openFaulty({ minFreeBytes: 800_000 });
      expect(await store.append(view(1))).toHaveProperty('id');
      disk.roomBytes = 799_999;
      await until(() => store.state().unavailable !== undefined, 'low space is noticed');
      expect(await store.append(view(2))).toEqual({ unavailable: 'too little free disk space' });
      await until(() => store.state().unavailableSinceMs !== undefined, 'it is noted since when');
      const sinceMs = store.state().unavailableSinceMs;
      disk.roomBytes = 899_999;
      await until(() => store.state().freeBytes === 899_999, 'a poll');
      expect(store.state().unavailable).toBe('too little free disk space');
      expect(store.state().unavailableSinceMs).toBe(sinceMs);
      disk.roomBytes = 900_000;
      await until(() => store.state().unavailable === undefined, 'space is noticed');
      await until(() => store.state().unavailableSinceMs === undefined, 'that it is over');
      disk.roomBytes = 850_000;
      await until(() => store.state().freeBytes === 850_000, 'a poll');
      expect(await store.append(view(3))).toHaveProperty('id');
      expect(log.lines).toHaveLength(2);
      await store.close(20_000);
    });

    test('is refused from the start on', async () => {
      const disk = new FaultyDisk({ canDsync });
      disk.roomBytes = 99;
      const { store } = await openStore({ files: disk.mount(), minFreeBytes: 100 });
      expect(await store.append(view(1))).toEqual({ unavailable: 'too little free disk space' });
      await store.close(20_000);
    });

    test('is off, said once, where the runtime forbids to look', async () => {
      const disk = new FaultyDisk({ canDsync });
      let asked = 0;
      const files = {
        ...disk.mount(),
        freeBytes: async (): Promise<number> => {
          asked += 1;
          throw new Error('Requires sys access to "statfs"');
        },
      };
      const { store, log } = await openStore({ files, minFreeBytes: 100, timing: QUICK });
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await store.append(view(1))).toHaveProperty('id');
      expect(asked).toBe(1);
      expect(log.lines).toEqual([
        'warn: --min-free is off: free disk space is unknown: Requires sys access to "statfs"; start Deno with --allow-sys=statfs',
      ]);
      await store.close(20_000);
      disk.closeAll();
    });
  });

  describe('a live file that somebody', () => {
    const OPENED_AGAIN = 'was moved, removed or emptied';
    const settled = (log: { lines: string[] }, path: string) =>
      until(() => log.lines.some((line) => line.includes(`"${path}" ${OPENED_AGAIN}`)), 'reopened');

    test('moves: the line goes to a new file, and it is said once', async () => {
      const { store, dir, lines, log } = await openFaulty();
      await store.append(view(1));
      const path = join(dir, FILE);
      fs.renameSync(path, `${path}.moved`);
      await settled(log, path);
      await until(() => fs.existsSync(path), 'a new file');
      expect(await store.append(view(2))).toHaveProperty('id');
      expect(lines().map((line) => (JSON.parse(line) as { n: number }).n)).toEqual([2]);
      expect(log.lines).toHaveLength(1);
      await store.close(20_000);
    });

    test('replaces by another: that one is gone on with, its half line ended', async () => {
      const { store, dir, lines, log } = await openFaulty();
      await store.append(view(1));
      const path = join(dir, FILE);
      fs.writeFileSync(`${path}.new`, 'half a li');
      fs.renameSync(`${path}.new`, path);
      await settled(log, path);
      expect(await store.append(view(2))).toHaveProperty('id');
      expect(lines()).toHaveLength(2);
      expect(lines()[0]).toBe('half a li');
      await store.close(20_000);
    });

    test.each(NO_FILES)('replaces by %s: views are refused until it is gone', async (_, make) => {
      const { store, dir, lines, log } = await openStore({ timing: QUICK });
      await store.append(view(1));
      const path = join(dir, FILE);
      fs.renameSync(path, `${path}.moved`);
      make(path);
      await until(() => store.state().unavailable !== undefined, 'it is noticed');
      expect(await store.append(view(2))).toEqual({
        unavailable: 'the view file cannot be opened',
      });
      fs.rmSync(path, { recursive: true });
      await until(() => store.state().unavailable === undefined, 'its way is noticed');
      expect(await store.append(view(3))).toHaveProperty('id');
      expect(lines().map((line) => (JSON.parse(line) as { n: number }).n)).toEqual([3]);
      expect(log.lines.filter((line) => line.includes('move it away'))).toHaveLength(1);
      await store.close(20_000);
    });

    test('empties: it is gone on with at its new end', async () => {
      const { store, dir, lines, log } = await openStore({ timing: QUICK });
      await store.append(view(1));
      const path = join(dir, FILE);
      fs.truncateSync(path, 10);
      await settled(log, path);
      expect(await store.append(view(2))).toHaveProperty('id');
      expect(lines()).toHaveLength(2);
      expect(lines()[0]).toBe('{"ts":"202');
      expect(log.lines.filter((line) => line.includes(OPENED_AGAIN))).toHaveLength(1);
      await store.close(20_000);
    });

    test('removes while the disk is full and half a line stands in it: it is let go', async () => {
      const { store, disk, dir, lines, log } = await openFaulty();
      await store.append(view(1));
      disk.roomBytes = 40;
      await store.append(view(2));
      const path = join(dir, FILE);
      fs.rmSync(path);
      await settled(log, path);
      await until(() => store.state().unavailable === undefined, 'a new file');
      disk.roomBytes = Number.POSITIVE_INFINITY;
      expect(await store.append(view(3))).toHaveProperty('id');
      expect(lines()).toHaveLength(1);
      await store.close(20_000);
    });

    test('empties while half a line waits for space: its rest is dropped', async () => {
      const { store, disk, dir, lines, log } = await openFaulty();
      await store.append(view(1));
      disk.roomBytes = 40;
      await store.append(view(2));
      const path = join(dir, FILE);
      fs.truncateSync(path);
      disk.roomBytes = Number.POSITIVE_INFINITY;
      await settled(log, path);
      await until(() => store.state().unavailable === undefined, 'space is noticed');
      expect(await store.append(view(3))).toHaveProperty('id');
      expect(lines().map((line) => (JSON.parse(line) as { n: number }).n)).toEqual([3]);
      await store.close(20_000);
    });

    test('hides from stat: it is said once, and lines go on to be written', async () => {
      const { store, disk, log } = await openFaulty();
      await store.append(view(1));
      let looks = 0;
      disk.fault = (operation) => {
        if (operation !== 'stat') return undefined;
        looks += 1;
        return { errno: 'EACCES' };
      };
      await until(() => looks > 3, 'some polls');
      expect(await store.append(view(2))).toHaveProperty('id');
      expect(log.lines).toHaveLength(1);
      await store.close(20_000);
    });

    test('moves when its day is over: no file of that day is made again', async () => {
      const { store, dir, clock } = await openFaulty();
      await store.append(view(1));
      clock.ms += 24 * 3_600_000;
      fs.rmSync(join(dir, FILE));
      await until(() => store.state().path === undefined, 'the day is closed');
      await store.close(20_000);
      expect(fs.readdirSync(dir)).toEqual([]);
    });
  });

  describe('a start', () => {
    test.each([
      ['half a line', '{"ts":"2026', '{"ts":"2026\n', 1],
      ['a tail of NULs', '{}\n\0\0\0', '{}\n\0\0\0\n', 1],
      ['whole lines', '{}\n', '{}\n', 0],
      ['an empty file', '', '', 0],
    ])('finds %s in the newest file, whatever its day', async (_, before, after, sealed) => {
      const dir = tempDir();
      const path = join(dir, 'views-2026-02-11.ndjson');
      fs.writeFileSync(join(dir, 'views-2026-02-10.ndjson'), 'old');
      fs.writeFileSync(path, before);
      const { store, log } = await openStore({ dir });
      expect(fs.readFileSync(path, 'utf8')).toBe(after);
      expect(fs.readFileSync(join(dir, 'views-2026-02-10.ndjson'), 'utf8')).toBe('old');
      expect(store.state().sealedFragments).toBe(sealed);
      expect(log.lines).toHaveLength(sealed);
      await store.close(20_000);
    });

    test.each(NO_FILES)('with %s for the file says so, and goes on without it', async (_, make) => {
      const dir = tempDir();
      const path = join(dir, FILE);
      make(path);
      const { store, log, lines } = await openStore({ dir, timing: QUICK });
      expect(log.lines).toEqual([
        expect.stringMatching(
          /^error: Cannot open ".*ndjson" for writing: it is not a regular file.*; move it away; refus/,
        ),
      ]);
      const refused = { unavailable: 'the view file cannot be opened' };
      expect(await store.append(view(1))).toEqual(refused);
      fs.rmSync(path, { recursive: true });
      await until(() => store.state().unavailable === undefined, 'its way is noticed');
      expect(await store.append(view(2))).toHaveProperty('id');
      expect(lines()).toHaveLength(1);
      await store.close(20_000);
    });

    test.each(NO_FILES)('seals the newest file, though %s has a newer name', async (_, make) => {
      const dir = tempDir();
      const path = join(dir, 'views-2026-02-11.ndjson');
      fs.writeFileSync(path, '{"ts":"2026');
      make(join(dir, 'views-2026-03-02.ndjson'));
      const { store } = await openStore({ dir });
      expect(fs.readFileSync(path, 'utf8')).toBe('{"ts":"2026\n');
      expect(await store.append(view(1))).toHaveProperty('id');
      await store.close(20_000);
    });
  });
});
