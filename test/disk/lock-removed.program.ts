import * as fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { acquireLock, type Lock } from '../../src/disk/lock.ts';
import { bundle } from '../support/bundle.ts';
import { type Child, startChild } from '../support/child.ts';
import { memoryLog } from '../support/memory-log.ts';
import { until } from '../support/open-store.ts';
import { BUN, DENO, isPresent, NODE, type Runtime } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);
const FILE = 'views-2026-01-01.ndjson';

const locksIn = (dir: string): string[] =>
  fs.readdirSync(dir).filter((name) => name.startsWith('viewlog.lock.'));

function removeLocks(dir: string): void {
  for (const name of locksIn(dir)) fs.rmSync(join(dir, name), { force: true });
}

async function locked(dir: string, onLost?: () => void): Promise<Lock> {
  const lock = await acquireLock(dir, onLost && { onLost });
  onTestFinished(() => lock.release());
  return lock;
}

const write = async ({ files }: Lock, path: string, text: string): Promise<void> => {
  const fd = await files.open(path, 'a+', 0o640);
  try {
    await files.write(fd, Buffer.from(text), 0, text.length);
  } finally {
    await files.close(fd);
  }
};

describe('a holder whose socket is removed', () => {
  test('takes it again, under a number that it has not had', async () => {
    const dir = tempDir();
    const log = memoryLog();
    const lock = await acquireLock(dir, { log });
    removeLocks(dir);
    await until(() => locksIn(dir).join() === 'viewlog.lock.2', 'it is taken again');
    await expect(acquireLock(dir)).rejects.toMatchObject({ exitCode: 73 });
    expect(log.lines).toEqual([
      `warn: The lock of "${dir}" was removed, not by viewlog; taking it again`,
    ]);
    await lock.release();
  });

  test('is not overtaken by one that starts just then', async () => {
    const dir = tempDir();
    let isLost = false;
    await locked(dir, () => (isLost = true));
    fs.writeFileSync(join(dir, FILE), '');
    removeLocks(dir);
    await expect(acquireLock(dir)).rejects.toMatchObject({
      message: expect.stringContaining(`process ${process.pid};`),
    });
    expect(isLost).toBe(false);
  });

  test('is found by one that starts, whatever higher number has been put there', async () => {
    const dir = tempDir();
    await locked(dir);
    fs.writeFileSync(join(dir, 'viewlog.lock.99'), '');
    await expect(acquireLock(dir)).rejects.toMatchObject({
      message: expect.stringContaining(`process ${process.pid};`),
    });
  });

  test('ends when it was stopped for longer than it may write unseen, and writes nothing', async () => {
    const dir = tempDir();
    const child = startChild([...NODE.command(dir, bundle('lock-process')), 'write', dir, 'stop']);
    expect(await child.next()).toMatchObject({ held: true });
    expect(await child.next()).toMatchObject({ stopped: true });
    removeLocks(dir);
    await locked(dir);
    const size = fs.statSync(join(dir, FILE)).size;
    child.kill('SIGCONT');
    expect(await child.next()).toMatchObject({ lost: true });
    expect(fs.statSync(join(dir, FILE)).size).toBe(size);
  });
});

describe('a holder whose directory is replaced', () => {
  test('locks the other one before it opens a file there, and keeps the first for now', async () => {
    const dir = join(tempDir(), 'data');
    const lock = await locked(dir);
    fs.renameSync(dir, `${dir}.old`);
    fs.mkdirSync(dir);
    await write(lock, join(dir, FILE), 'a');
    expect(locksIn(dir)).toEqual(['viewlog.lock.1']);
    await expect(acquireLock(dir)).rejects.toMatchObject({ exitCode: 73 });
    await expect(acquireLock(`${dir}.old`)).rejects.toMatchObject({ exitCode: 73 });
  });

  test('ends where another process holds that, and opens nothing there', async () => {
    const dir = join(tempDir(), 'data');
    const other = join(tempDir(), 'data');
    let lost = 0;
    const lock = await locked(dir, () => (lost += 1));
    const child = startChild([...NODE.command(other, bundle('lock-process')), 'try', other]);
    expect(await child.next()).toMatchObject({ held: true });
    fs.renameSync(dir, `${dir}.old`);
    fs.renameSync(other, dir);
    await expect(write(lock, join(dir, FILE), 'a')).rejects.toMatchObject({
      exitCode: 73,
      message: expect.stringContaining(`process ${child.pid};`),
    });
    await expect(lock.ensure()).rejects.toMatchObject({ exitCode: 73 });
    expect(lost).toBe(1);
    expect(fs.readdirSync(dir)).toEqual(locksIn(dir));
  });

  test('waits for one that is gone, makes none, and takes up the first when it is back', async () => {
    const dir = join(tempDir(), 'data');
    const log = memoryLog();
    const lock = await acquireLock(dir, { log });
    onTestFinished(() => lock.release());
    fs.renameSync(dir, `${dir}.old`);
    await until(() => log.lines.length > 0, 'it is noticed');
    await expect(write(lock, join(dir, FILE), 'a')).rejects.toThrow(/ENOENT/);
    expect(fs.existsSync(dir)).toBe(false);
    fs.renameSync(`${dir}.old`, dir);
    await write(lock, join(dir, FILE), 'a');
    expect(locksIn(dir)).toEqual(['viewlog.lock.1']);
  });

  // Its numbers are looked for in the one, and would be taken in the other, where another process
  // holds the lock: the number that was found dead there lives here.
  test('takes no number in it that was free in another one', async () => {
    const root = tempDir();
    const dir = join(root, 'data');
    await (await acquireLock(dir)).release();
    const other = join(root, 'other');
    const holder = await locked(other);
    const { connect } = net;
    const asked = vi.spyOn(net, 'connect').mockImplementationOnce((path) => {
      const connection = connect(path);
      fs.renameSync(dir, `${dir}.old`);
      fs.renameSync(other, dir);
      return connection;
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      asked.mockRestore();
      syncBuiltinESMExports();
    });
    await expect(acquireLock(dir)).rejects.toMatchObject({ exitCode: 73 });
    expect(asked).toHaveBeenCalled();
    expect(locksIn(dir)).toEqual(['viewlog.lock.1']);
    await holder.release();
  });

  test('does not take one there either when its own was removed just before', async () => {
    const root = tempDir();
    const dir = join(root, 'data');
    let lost = 0;
    const lock = await locked(dir, () => (lost += 1));
    const other = join(root, 'other');
    await locked(other);
    // One that waits does not count; while it is asked, the directory is replaced.
    const waiting = net.createServer((connection) => {
      fs.renameSync(dir, `${dir}.old`);
      fs.renameSync(other, dir);
      connection.end('1 waiting');
    });
    await new Promise<void>((resolve) => {
      waiting.listen(join(dir, 'viewlog.lock.2'), resolve);
    });
    onTestFinished(() => void waiting.close());
    fs.rmSync(join(dir, 'viewlog.lock.1'));
    await expect(lock.ensure()).rejects.toMatchObject({ exitCode: 73 });
    expect(lost).toBe(1);
    expect(locksIn(dir)).toEqual(['viewlog.lock.1']);
  });

  test('goes there and back', async () => {
    const dir = join(tempDir(), 'data');
    const lock = await locked(dir);
    const swap = (away: string, back: string): void => {
      fs.renameSync(dir, away);
      if (fs.existsSync(back)) fs.renameSync(back, dir);
      else fs.mkdirSync(dir);
    };
    for (let i = 0; i < 3; i++) {
      swap(`${dir}.old`, `${dir}.new`);
      await lock.ensure();
      swap(`${dir}.new`, `${dir}.old`);
      await lock.ensure();
    }
    expect(locksIn(dir)).toEqual(['viewlog.lock.1']);
    expect(locksIn(`${dir}.new`)).toEqual(['viewlog.lock.1']);
  });
});

const ROUNDS = Number(process.env['VIEWLOG_TEST_LOCK_ROUNDS'] ?? 4);
const some = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Throws where one who held the lock has written again after another one. */
function expectTurns(path: string): Set<string> {
  const ended = new Set<string>();
  let last = '';
  for (const line of fs.readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
    if (line === last) continue;
    expect(ended.has(line), `${line} has written after ${last}`).toBe(false);
    ended.add(last);
    last = line;
  }
  return ended.add(last);
}

describe('processes on all runtimes, killed and their sockets removed at random', () => {
  const begin = (runtime: Runtime, dir: string, file: string): Child =>
    startChild([...runtime.command(dir, file), 'write', dir]);

  test(
    'hold the lock one after the other, and one does in the end',
    { timeout: 180_000 },
    async () => {
      const dir = tempDir();
      const file = bundle('lock-process');
      const runtimes = [...RUNTIMES, NODE];
      const children = runtimes.map((runtime) => begin(runtime, dir, file));
      await until(() => fs.existsSync(join(dir, FILE)), 'one writes');
      for (let round = 0; round < 4 * ROUNDS; round++) {
        await pause(Math.random() * 600);
        const names = locksIn(dir);
        if (Math.random() < 0.7) fs.rmSync(join(dir, some(names) ?? 'none'), { force: true });
        else removeLocks(dir);
        if (Math.random() < 0.4) {
          const index = Math.floor(Math.random() * children.length);
          children[index]!.kill('SIGKILL');
          children[index] = begin(runtimes[index]!, dir, file);
        }
      }
      const size = fs.statSync(join(dir, FILE)).size;
      await until(() => fs.statSync(join(dir, FILE)).size > size, 'one writes on');
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => child.ended));
      expect(expectTurns(join(dir, FILE)).size).toBeGreaterThan(1);
    },
  );

  test(
    'never write in one directory together, however often it is replaced',
    { timeout: 180_000 },
    async () => {
      const root = tempDir();
      const dir = join(root, 'data');
      fs.mkdirSync(dir);
      const file = bundle('lock-process');
      const all = [...RUNTIMES, NODE].map((runtime) =>
        startChild([...runtime.command(root, file), 'write', dir]),
      );
      for (let round = 0; round < ROUNDS; round++) {
        await until(() => fs.existsSync(join(dir, FILE)), 'one writes there');
        await pause(Math.random() * 1500);
        fs.renameSync(dir, join(root, `old-${round}`));
        if (Math.random() < 0.5) await pause(Math.random() * 500);
        // Sometimes one that was there before.
        const back = join(root, `old-${round - 1}`);
        try {
          if (Math.random() < 0.4 && fs.existsSync(back)) fs.renameSync(back, dir);
          else fs.mkdirSync(dir, { recursive: true });
        } catch (error) {
          // One that starts has made it.
          if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
        }
      }
      await until(() => fs.existsSync(join(dir, FILE)), 'one writes on');
      for (const child of all) child.kill('SIGKILL');
      await Promise.all(all.map((child) => child.ended));
      for (const name of fs.readdirSync(root)) {
        const path = join(root, name, FILE);
        if (fs.existsSync(path)) expectTurns(path);
      }
    },
  );
});
