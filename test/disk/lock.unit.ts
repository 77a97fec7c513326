import * as fs from 'node:fs';
import * as net from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Fatal } from '../../src/base/exit.ts';
import { lastStartIn } from '../../src/disk/last-start.ts';
import { acquireLock, askHolder, type Lock, type Step } from '../../src/disk/lock.ts';
import { memoryLog } from '../support/memory-log.ts';
import { until } from '../support/viewlog.ts';
import { tempDir } from '../support/temp-dir.ts';

const LOCK = 'viewlog.lock';

async function locked(...args: Parameters<typeof acquireLock>): Promise<Lock> {
  const lock = await acquireLock(...args);
  onTestFinished(() => lock.release());
  return lock;
}

async function expectRefused(dir: string, message: string | RegExp): Promise<void> {
  const matching = expect.stringMatching(message);
  await expect(acquireLock(dir)).rejects.toMatchObject({ exitCode: 73, message: matching });
}

/** Listens like a holder that doesn't run viewlog's code. */
async function listenAt(path: string, serve: (connection: net.Socket) => void): Promise<void> {
  const server = net.createServer(serve);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
}

describe('a lock', () => {
  test('is refused to a second process, which learns which process holds it', async () => {
    const dir = tempDir();
    const lock = await locked(dir);
    const since = String.raw`running since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;
    const message = (where: string): RegExp =>
      new RegExp(
        `^Another viewlog is writing to "${dir}": process ${process.pid}, ${since}${where}; ` +
          'use the running one or end it$',
      );
    await expectRefused(dir, message(''));
    lock.announce({ address: 'http://127.0.0.1:8080' });
    await expectRefused(dir, message(', at http://127.0.0.1:8080'));
    expect(await askHolder(dir)).toMatchObject({
      pid: process.pid,
      sinceMs: Math.round(performance.timeOrigin),
      address: 'http://127.0.0.1:8080',
    });
  });

  test('records the start for the doctor even if it is released immediately', async () => {
    const dir = tempDir();
    const address = 'http://127.0.0.1:8080';
    const lock = await acquireLock(dir);
    lock.announce({ address });
    await lock.release();
    expect(fs.readFileSync(lastStartIn(dir), 'utf8')).toContain(address);
  });

  test('is free as soon as it is released even if a client stays connected; its file stays', async () => {
    const dir = tempDir();
    for (let i = 0; i < 2; i++) {
      const lock = await acquireLock(dir);
      const client = net.connect({ path: join(dir, LOCK), allowHalfOpen: true });
      onTestFinished(() => void client.destroy());
      await new Promise((resolve) => client.once('data', resolve));
      await lock.release();
      expect(await askHolder(dir)).toBeUndefined();
      expect(fs.readdirSync(dir)).toEqual([LOCK]);
    }
  });

  test('replaces a file on which no process listens, whatever pid the file names', async () => {
    const dir = tempDir();
    fs.writeFileSync(join(dir, LOCK), `{"pid":${process.ppid},"sinceMs":0}`);
    await locked(dir);
    expect(await askHolder(dir)).toMatchObject({ pid: process.pid });
  });

  test('keeps out other replays, but not a collector, if a replay holds it', async () => {
    const dir = tempDir();
    const options = { name: 'viewlog.replay.lock' } as const;
    await locked(dir);
    await locked(dir, options);
    await expect(acquireLock(dir, options)).rejects.toThrow(
      /^Another replay is running in ".*": process \d+, .*; wait for it or end it$/,
    );
  });

  test.each([
    ["doesn't answer", () => {}],
    ['hangs up', (connection: net.Socket) => connection.end('HTTP/1.1 400')],
  ])('counts as held if the process that listens on it %s', async (_, serve) => {
    const dir = tempDir();
    await listenAt(join(dir, LOCK), serve);
    const asked = askHolder(dir);
    const find = /doesn't answer; to find it: (sudo )?ss -xlp \| grep -F ' \/.*\/viewlog\.lock'$/;
    await expectRefused(dir, find);
    expect(await asked).toBe('unresponsive');
  });

  test('creates the directory or says what prevents that', async () => {
    const dir = join(tempDir(), 'data');
    fs.mkdirSync(join(dir, LOCK, LOCK), { recursive: true });
    await locked(join(dir, 'new'));
    expect((fs.statSync(join(dir, 'new')).mode & 0o777).toString(8)).toBe('750');
    await expectRefused(
      dir,
      /^Can't use the lock ".*lock": EISDIR: [^,;']*; move that directory away$/,
    );
    expect(fs.readdirSync(dir)).toEqual(['new', LOCK]);
    fs.writeFileSync(join(dir, 'file'), '');
    await expectRefused(
      join(dir, 'file'),
      /^Can't create directory ".*file": EEXIST.*; move that file away/,
    );
  });

  test('is refused if its path is too long for a socket even relative to the working directory', async () => {
    const dir = join(tempDir(), 'd'.repeat(80), 'e'.repeat(60));
    fs.mkdirSync(dir, { recursive: true });
    // 107 or 103 bytes, without those of the draft that is renamed to the lock.
    const bytes = process.platform === 'linux' ? 94 : 90;
    await expectRefused(
      dir,
      `Can't lock "${dir}": the path of its lock, "${dir}/${LOCK}", is longer than ${bytes} bytes, ` +
        'the limit for its socket; start viewlog in that directory or choose a shorter path',
    );
    const before = process.cwd();
    onTestFinished(() => process.chdir(before));
    process.chdir(join(dir, '..'));
    await locked(dir);
    expect(fs.readdirSync(dir)).toEqual([LOCK]);
    await expectRefused(dir, 'Another viewlog');
  });
});

const STEPS = ['asked', 'listening', 'renamed', 'waited'] as const;

/** A promise, and the function that fulfils it. */
function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/**
 * Starts a process that pauses at a step until `goOn` is called and then writes while it holds the
 * lock.
 */
function starter(dir: string, name: string, stopAt: Step | 'held', written: string[]) {
  const going = gate();
  const arrived = gate();
  const onStep = async (step: Step): Promise<void> => {
    if (step !== stopAt) return;
    arrived.open();
    await going.opened;
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
      arrived.open();
    }
  };
  return { ended: acquire(), arrived: arrived.opened, goOn: going.open, lost };
}

test('a lock is released even if a file has replaced its directory', async () => {
  const dir = tempDir();
  const lock = await acquireLock(dir);
  fs.rmSync(dir, { recursive: true });
  fs.writeFileSync(dir, 'not a directory');
  await lock.release();
});

test('if two processes start together and pause at any step, exactly one holds the lock and writes', async () => {
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
    // A holder that another process has replaced notices the loss without being asked.
    await until(() => locks.filter((lock) => lock?.isHeld()).length === 1);
    // Once a process has written, no earlier process writes again.
    const turns = written.filter((name, i) => name !== written[i - 1]);
    expect(turns.length, `${what}: ${turns.join()}`).toBe(new Set(written).size);
    for (const { exitCode } of [...first.lost, ...second.lost]) expect(exitCode, what).toBe(73);
  };
  await Promise.all(STEPS.flatMap((a) => [...STEPS, 'held' as const].map((b) => race(a, b))));
});

/** Acquires the lock and records its log and its losses. */
async function holder() {
  const dir = join(tempDir(), 'data');
  const log = memoryLog();
  const lost: Fatal[] = [];
  const lock = await locked(dir, { log, onLost: (fatal) => lost.push(fatal) });
  return { dir, log, lost, lock, path: join(dir, LOCK) };
}

describe('the holder of a lock', () => {
  test('restores the lock after its removal, even while another process starts', async () => {
    const { dir, log, lock, lost, path } = await holder();
    fs.writeFileSync(join(dir, 'views-2026-01-01.ndjson'), '');
    fs.rmSync(path);
    await expectRefused(dir, `process ${process.pid}`);
    fs.rmSync(path);
    fs.writeFileSync(path, 'from a backup');
    await until(() => log.lines.length === 2);
    await until(() => fs.statSync(path).isSocket());
    await expectRefused(dir, `process ${process.pid}`);
    expect(log.lines[0]).toBe(
      `warn: The lock "${path}" was removed by another program; viewlog has created it again`,
    );
    expect([lock.isHeld(), lost]).toEqual([true, []]);
  });

  test('loses the lock, with exit code 73, if another process takes it', async () => {
    const { lost, lock, path } = await holder();
    fs.rmSync(path);
    await listenAt(path, (connection) => connection.end('{"pid":4711,"sinceMs":0}\n'));
    await until(() => lost.length === 1);
    const message = expect.stringContaining('process 4711, running since 1970-01-01T00:00:00Z');
    expect(lost[0]).toMatchObject({ exitCode: 73, message });
    expect(lock.isHeld()).toBe(false);
  });
});
