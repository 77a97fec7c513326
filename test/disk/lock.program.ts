import * as fs from 'node:fs';
import * as net from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { acquireLock } from '../../src/disk/lock.ts';
import { bundle } from '../support/bundle.ts';
import { startChild } from '../support/child.ts';
import { BUN, DENO, isPresent, NODE, type Runtime } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);

const locksIn = (dir: string): string[] => fs.readdirSync(dir).filter((name) => /lock/.test(name));

describe('a lock', () => {
  test('is refused to a second one, with the pid of the first and what to do', async () => {
    const dir = tempDir();
    const lock = await acquireLock(dir);
    await expect(acquireLock(dir)).rejects.toMatchObject({
      exitCode: 73,
      message:
        `Another viewlog writes to "${dir}": process ${process.pid}; ` +
        'stop it, or choose another --data',
    });
    await lock.release();
  });

  test('is free again once it is released, and leaves one socket', async () => {
    const dir = tempDir();
    for (let i = 0; i < 5; i++) {
      const lock = await acquireLock(dir);
      expect(locksIn(dir)).toEqual([`viewlog.lock.${i + 1}`]);
      await lock.release();
    }
    expect(locksIn(dir)).toEqual(['viewlog.lock.5']);
  });

  test('is taken over from whatever is dead: a socket, a plain file, an unfinished draft', async () => {
    const dir = tempDir();
    fs.writeFileSync(join(dir, 'viewlog.lock.9'), '4711');
    fs.writeFileSync(join(dir, 'viewlog.lock.10'), '');
    fs.writeFileSync(join(dir, 'viewlog.lock.new-12345678'), '');
    fs.writeFileSync(join(dir, 'viewlog.lockfile'), 'not ours');
    const lock = await acquireLock(dir);
    expect(locksIn(dir).sort()).toEqual(['viewlog.lock.11', 'viewlog.lockfile']);
    await lock.release();
  });

  test('of many that ask at once goes to exactly one', async () => {
    const dir = tempDir();
    for (let round = 0; round < 20; round++) {
      const asked = await Promise.allSettled(Array.from({ length: 8 }, () => acquireLock(dir)));
      const held = asked.filter((one) => one.status === 'fulfilled');
      expect(held).toHaveLength(1);
      await held[0]!.value.release();
    }
  });

  test('is not given up because its holder does not answer', { timeout: 20_000 }, async () => {
    const dir = tempDir();
    const silent = net.createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(join(dir, 'viewlog.lock.3'), resolve));
    await expect(acquireLock(dir)).rejects.toMatchObject({
      exitCode: 73,
      message: expect.stringContaining('a process that does not answer (viewlog.lock.3'),
    });
    silent.close();
  });

  test('makes the directory where there is none', async () => {
    const dir = join(tempDir(), 'data');
    const lock = await acquireLock(dir);
    expect((fs.statSync(dir).mode & 0o777).toString(8)).toBe('750');
    await lock.release();
  });

  test('names what is in the way of the directory', async () => {
    const dir = join(tempDir(), 'file');
    fs.writeFileSync(dir, '');
    await expect(acquireLock(dir)).rejects.toMatchObject({
      exitCode: 73,
      message: expect.stringMatching(/^Cannot open ".*file" for writing: EEXIST/),
    });
  });
});

describe('a path too long for a socket', () => {
  // Five levels of 60: over every limit on its own, not as seen from inside.
  const longDir = (): string => {
    const dir = join(tempDir(), ...Array.from({ length: 5 }, () => 'd'.repeat(60)));
    fs.mkdirSync(dir, { recursive: true });
    return dir;
  };

  test.runIf(process.platform === 'linux')('is locked all the same', async () => {
    const dir = longDir();
    const lock = await acquireLock(dir);
    expect(locksIn(dir)).toEqual(['viewlog.lock.1']);
    await expect(acquireLock(dir)).rejects.toMatchObject({ exitCode: 73 });
    await lock.release();
    const again = await acquireLock(dir);
    await again.release();
  });

  describe.each(RUNTIMES)('on $name', (runtime) => {
    test('is locked from nearby', async () => {
      const dir = longDir();
      const file = bundle('lock-process');
      fs.writeFileSync(join(dir, 'go'), '');
      for (const cwd of [dir, join(dir, '..')]) {
        const child = startChild([...runtime.command(dir, file), 'once', dir], cwd);
        expect(await child.next()).toMatchObject({ ready: true });
        expect(await child.next()).toMatchObject({ held: true });
        await expect(acquireLock(dir)).rejects.toMatchObject({
          message: expect.stringContaining(`process ${child.pid}`),
        });
        child.kill('SIGKILL');
        await child.ended;
      }
    });
  });
});

describe.each(RUNTIMES)('a lock on $name', (runtime) => {
  test('keeps no process alive', async () => {
    const dir = tempDir();
    const child = startChild([...runtime.command(dir, bundle('lock-process')), 'end', dir]);
    expect(await child.ended).toBe(0);
    expect(locksIn(dir)).toEqual(['viewlog.lock.1']);
  });
});

test('on Deno, not allowed to the directory, is refused with the flag that is missing', async () => {
  const child = startChild([
    ...DENO.command(tempDir(), bundle('lock-process')),
    'try',
    join(tempDir(), 'data'),
  ]);
  expect(await child.next()).toMatchObject({
    exitCode: 73,
    refused: expect.stringMatching(/^Cannot open ".*data" for writing: Requires .*--allow-/),
  });
});

const pairs: [string, Runtime, Runtime][] = RUNTIMES.flatMap((a, i) =>
  RUNTIMES.slice(i).map((b): [string, Runtime, Runtime] => [`${a.name} and ${b.name}`, a, b]),
);
const ROUNDS = Number(process.env['VIEWLOG_TEST_LOCK_ROUNDS'] ?? 4);

describe.each(pairs)('%s', (_, a, b) => {
  test('that start at once, after a kill -9: one wins', async () => {
    const file = bundle('lock-process');
    const dir = tempDir();
    for (let round = 0; round < ROUNDS; round++) {
      const children = [a, b].map((runtime) =>
        startChild([...runtime.command(dir, file), 'once', dir]),
      );
      for (const child of children) expect(await child.next()).toMatchObject({ ready: true });
      fs.writeFileSync(join(dir, 'go'), '');
      const said = await Promise.all(children.map((child) => child.next()));
      const winner = said.find(({ held }) => held === true);
      const loser = said.find(({ refused }) => refused !== undefined);
      expect(said).toEqual(expect.arrayContaining([winner, loser]));
      expect(loser).toMatchObject({
        exitCode: 73,
        refused: expect.stringContaining(`process ${String(winner?.['pid'])};`),
      });
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => child.ended));
      fs.rmSync(join(dir, 'go'));
    }
  });

  test('that take turns for a second never hold it together', async () => {
    const file = bundle('lock-process');
    const dir = tempDir();
    const children = [a, b, a].map((runtime) =>
      startChild([...runtime.command(dir, file), 'loop', dir, '1000']),
    );
    const counts = await Promise.all(children.map((child) => child.next()));
    const held = counts.reduce((sum, count) => sum + (count['held'] as number), 0);
    expect(counts.map(({ shared }) => shared)).toEqual([0, 0, 0]);
    // Each number was held once, by one.
    expect(locksIn(dir)).toEqual([`viewlog.lock.${held}`]);
  });
});
