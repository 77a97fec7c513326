import * as fs from 'node:fs';
import * as net from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Fatal } from '../../src/base/exit.ts';
import { acquireLock, askHolder, type Lock, type Step } from '../../src/disk/lock.ts';
import { memoryLog } from '../support/memory-log.ts';
import { until } from '../support/open-store.ts';
import { tempDir } from '../support/temp-dir.ts';

const LOCK = 'viewlog.lock';
const VIEWS = 'views-2026-01-01.ndjson';

const filesIn = (dir: string): string[] => fs.readdirSync(dir).sort();

type Options = Parameters<typeof acquireLock>[1];

async function locked(dir: string, options?: Options): Promise<Lock> {
  const lock = await acquireLock(dir, options);
  onTestFinished(() => lock.release());
  return lock;
}

/** A holder that is not viewlog's code. */
async function listenAt(path: string, serve: (connection: net.Socket) => void): Promise<void> {
  const server = net.createServer(serve);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

/** A holder, and what it has been told. */
async function holder() {
  const dir = join(tempDir(), 'data');
  const log = memoryLog();
  const lost: Fatal[] = [];
  const lock = await locked(dir, { log, onLost: (fatal) => lost.push(fatal) });
  return { dir, log, lost, lock, path: join(dir, LOCK) };
}

describe('a lock', () => {
  test('is refused to a second process, which learns who holds it', async () => {
    const dir = tempDir();
    const lock = await locked(dir);
    const since = String.raw`running since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    const refused = (where: string): object => ({
      exitCode: 73,
      message: expect.stringMatching(
        `^Another viewlog writes to "${dir}": process ${process.pid}, ${since}${where}; ` +
          'leave it running, or stop it first$',
      ),
    });
    await expect(acquireLock(dir)).rejects.toMatchObject(refused(''));
    lock.announce('http://127.0.0.1:8080');
    await expect(acquireLock(dir)).rejects.toMatchObject(refused(', at http://127.0.0.1:8080'));
    expect(await askHolder(dir)).toEqual({
      pid: process.pid,
      sinceMs: Math.round(performance.timeOrigin),
      address: 'http://127.0.0.1:8080',
    });
  });

  test('is free once it is released, and its file stays', async () => {
    const dir = tempDir();
    for (let i = 0; i < 3; i++) {
      const lock = await acquireLock(dir);
      await lock.release();
      expect(await askHolder(dir)).toBeUndefined();
      expect(filesIn(dir)).toEqual([LOCK]);
    }
  });

  test('is released at once, although a client does not hang up', async () => {
    const dir = tempDir();
    const lock = await locked(dir);
    const client = net.connect({ path: join(dir, LOCK), allowHalfOpen: true });
    onTestFinished(() => void client.destroy());
    await new Promise((resolve) => client.once('data', resolve));
    await lock.release();
  });

  test('is taken over from a file that nobody listens on, whatever pid it has', async () => {
    const dir = tempDir();
    fs.writeFileSync(join(dir, LOCK), `{"pid":${process.ppid},"sinceMs":0}`);
    await locked(dir);
    expect(await askHolder(dir)).toMatchObject({ pid: process.pid });
  });

  test('goes to exactly one of many that ask at once', async () => {
    const dir = tempDir();
    for (let round = 0; round < 5; round++) {
      const asked = await Promise.allSettled(Array.from({ length: 8 }, () => acquireLock(dir)));
      const held = asked.filter((one) => one.status === 'fulfilled');
      expect(held).toHaveLength(1);
      await held[0]!.value.release();
    }
  });

  test('of a replay does not get in the way of a collector', async () => {
    const dir = tempDir();
    await locked(dir);
    await locked(dir, { name: 'viewlog.replay.lock' });
    await expect(acquireLock(dir, { name: 'viewlog.replay.lock' })).rejects.toMatchObject({
      exitCode: 73,
      message: expect.stringMatching(/^Another replay runs in ".*": process \d+, .*; wait for it/),
    });
  });

  test.each([
    ['does not answer', () => {}],
    ['hangs up', (connection: net.Socket) => connection.end('HTTP/1.1 400')],
  ])('is held by a process that %s', async (_, serve) => {
    const dir = tempDir();
    await listenAt(join(dir, LOCK), serve);
    const refused = expect(acquireLock(dir)).rejects.toMatchObject({
      exitCode: 73,
      message: expect.stringContaining(
        'a process that does not answer (find it with: ss -xlp | grep viewlog.lock)',
      ),
    });
    expect(await askHolder(dir)).toBe('unresponsive');
    await refused;
  });

  test('makes the directory, or says what is in the way', async () => {
    const dir = join(tempDir(), 'data');
    fs.mkdirSync(join(dir, 'sub', LOCK), { recursive: true });
    await locked(dir);
    await locked(join(dir, 'new'));
    expect((fs.statSync(join(dir, 'new')).mode & 0o777).toString(8)).toBe('750');
    const refused = (message: RegExp): object => ({
      exitCode: 73,
      message: expect.stringMatching(message),
    });
    await expect(acquireLock(join(dir, LOCK))).rejects.toMatchObject(
      refused(/^Cannot open ".*lock" for writing: EEXIST.*; move that file away/),
    );
    await expect(acquireLock(join(dir, 'sub'))).rejects.toMatchObject(
      refused(/^Cannot open ".*lock" for writing: EISDIR.*; move that directory away/),
    );
    expect(filesIn(join(dir, 'sub'))).toEqual([LOCK]);
  });

  test('with a path too long for a socket is refused, unless the directory is near', async () => {
    const dir = join(tempDir(), 'd'.repeat(80), 'e'.repeat(60));
    fs.mkdirSync(dir, { recursive: true });
    await expect(acquireLock(dir)).rejects.toMatchObject({
      exitCode: 73,
      message: expect.stringContaining('start viewlog in that directory, or choose a shorter'),
    });
    const before = process.cwd();
    onTestFinished(() => process.chdir(before));
    process.chdir(join(dir, '..'));
    await locked(dir);
    expect(filesIn(dir)).toEqual([LOCK]);
    await expect(acquireLock(dir)).rejects.toMatchObject({ exitCode: 73 });
  });
});

const STEPS = ['asked', 'listening', 'renamed', 'waited'] as const;

/** One that starts, stops at a step until it is told to go on, and then writes while it may. */
function starter(dir: string, name: string, stopAt: Step | 'held', written: string[]) {
  let goOn = (): void => {};
  const going = new Promise<void>((resolve) => (goOn = resolve));
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const onStep = async (step: Step): Promise<void> => {
    if (step !== stopAt) return;
    arrive();
    await going;
  };
  const lost: Fatal[] = [];
  const acquire = async (): Promise<Lock | undefined> => {
    try {
      const lock = await locked(dir, { onStep, onLost: (fatal) => lost.push(fatal) });
      const writing = setInterval(() => lock.isHeld() && written.push(name), 10);
      onTestFinished(() => clearInterval(writing));
      return lock;
    } catch (error) {
      expect(error).toMatchObject({ exitCode: 73 });
      return undefined;
    } finally {
      arrive();
    }
  };
  return { ended: acquire(), arrived, goOn, lost };
}

test('two that start are each stopped at each step: one holds the lock and writes', async () => {
  const race = async (stopFirst: Step, stopSecond: Step | 'held'): Promise<void> => {
    const dir = tempDir();
    const written: string[] = [];
    const first = starter(dir, 'first', stopFirst, written);
    await first.arrived;
    const second = starter(dir, 'second', stopSecond, written);
    await second.arrived;
    first.goOn();
    await first.ended;
    second.goOn();
    const locks = [await first.ended, await second.ended];
    const what = `the first stopped when it had ${stopFirst}, the second ${stopSecond}`;
    // A holder that was replaced notices by itself.
    await until(() => locks.filter((lock) => lock?.isHeld()).length === 1, what);
    // Where one has written, the other one never writes again.
    const turns = written.filter((name, i) => name !== written[i - 1]);
    expect(turns.length, `${what}: ${turns.join()}`).toBe(new Set(written).size);
    for (const { exitCode } of [...first.lost, ...second.lost]) expect(exitCode, what).toBe(73);
  };
  await Promise.all(STEPS.flatMap((a) => [...STEPS, 'held' as const].map((b) => race(a, b))));
});

describe('a holder whose lock is removed', () => {
  test('takes it back and says so', async () => {
    const { dir, log, lock, lost, path } = await holder();
    for (let round = 1; round <= 2; round++) {
      fs.rmSync(path);
      await until(() => fs.existsSync(path), 'it is back');
      await until(() => log.lines.length === round, 'it is logged');
      await expect(acquireLock(dir)).rejects.toMatchObject({ exitCode: 73 });
    }
    expect(log.lines[0]).toBe(`warn: The lock "${path}" was removed, not by viewlog; it is back`);
    expect([lock.isHeld(), lost]).toEqual([true, []]);
    expect(filesIn(dir)).toEqual([LOCK]);
  });

  test('is not overtaken by one that starts in a directory with views', async () => {
    const { dir, lock, path } = await holder();
    fs.writeFileSync(join(dir, VIEWS), '');
    fs.rmSync(path);
    await expect(acquireLock(dir)).rejects.toMatchObject({ exitCode: 73 });
    expect(lock.isHeld()).toBe(true);
  });

  test('takes it back from a file that nobody listens on', async () => {
    const { dir, log, path } = await holder();
    fs.rmSync(path);
    fs.writeFileSync(path, 'from a backup');
    await until(() => log.lines.length === 1, 'it is logged');
    await until(() => fs.statSync(path).isSocket(), 'it is taken back');
    expect(await askHolder(dir)).toMatchObject({ pid: process.pid });
  });

  test('ends with 73 if another process has it', async () => {
    const { lost, lock, path } = await holder();
    fs.rmSync(path);
    await listenAt(path, (connection) => connection.end('{"pid":4711,"sinceMs":0}\n'));
    await until(() => lost.length === 1, 'it is lost');
    expect(lost[0]).toMatchObject({
      exitCode: 73,
      message: expect.stringContaining('process 4711, running since 1970-01-01T00:00:00Z'),
    });
    expect(lock.isHeld()).toBe(false);
  });
});

describe('a holder whose directory is', () => {
  test.each([
    ['replaced', 'is another directory now', (dir: string) => fs.mkdirSync(dir)],
    ['moved away', 'is missing now', () => {}],
  ])('%s ends with 74, and leaves nothing in its place', async (_, said, replace) => {
    const { dir, lost, lock } = await holder();
    fs.renameSync(dir, `${dir}.old`);
    replace(dir);
    await until(() => lost.length === 1, 'it is lost');
    expect(lost[0]).toMatchObject({ exitCode: 74, message: expect.stringContaining(said) });
    expect(lock.isHeld()).toBe(false);
    expect(fs.existsSync(dir) ? filesIn(dir) : []).toEqual([]);
  });
});
