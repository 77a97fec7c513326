import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundle } from '../support/bundle.ts';
import { BUN, DENO, isPresent, NODE, onEach, type Runtime } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startTalker, type Talker } from '../support/viewlog.ts';

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);

const begin = (runtime: Runtime, mode: string, dir: string, cwd?: string): Talker =>
  startTalker([...runtime.command(dir, bundle('lock-process')), mode, dir], cwd);

const heldBy = ({ child }: Talker): object => ({
  exitCode: 73,
  refused: expect.stringContaining(`process ${child.pid}, running since 2`),
});

test('a killed holder does not prevent a start, a suspended one does', () =>
  onEach(RUNTIMES, async (runtime) => {
    const dir = tempDir();
    const first = begin(runtime, 'start', dir);
    expect(await first.next()).toMatchObject({ held: true });
    expect(await begin(runtime, 'start', dir).next()).toMatchObject(heldBy(first));
    first.child.kill('SIGSTOP');
    expect(await begin(runtime, 'start', dir).next()).toMatchObject({
      exitCode: 73,
      refused: expect.stringContaining('a process that does not answer'),
    });
    first.child.kill('SIGKILL');
    expect(await begin(runtime, 'start', dir).next()).toMatchObject({ held: true });
  }));

test('a holder takes a removed lock back, and ends with 74 if its directory is replaced', () =>
  onEach(RUNTIMES, async (runtime) => {
    const root = tempDir();
    const dir = join(root, 'data');
    fs.mkdirSync(dir);
    fs.writeFileSync(join(dir, 'views-2026-01-01.ndjson'), '');
    const holder = begin(runtime, 'start', dir);
    expect(await holder.next()).toMatchObject({ held: true });
    fs.rmSync(join(dir, 'viewlog.lock'));
    expect(await begin(runtime, 'start', dir).next()).toMatchObject(heldBy(holder));
    fs.renameSync(dir, join(root, 'old'));
    fs.mkdirSync(dir);
    expect(await holder.next()).toMatchObject({ exitCode: 74 });
  }));

test('a lock does not keep its process alive, and is dead when that ends', () =>
  onEach(RUNTIMES, async (runtime) => {
    const dir = tempDir();
    for (let round = 0; round < 2; round++) {
      const child = begin(runtime, 'end', dir);
      expect(await child.next()).toMatchObject({ held: true });
      expect(await child.ended).toMatchObject({ code: 0 });
    }
    expect(fs.readdirSync(dir)).toEqual(['viewlog.lock']);
  }));

test('Deno names the flag that it lacks for the directory', async () => {
  const allowed = DENO.command(tempDir(), bundle('lock-process'));
  const child = startTalker([...allowed, 'start', join(tempDir(), 'data')]);
  expect(await child.next()).toMatchObject({
    exitCode: 73,
    refused: expect.stringMatching(/^Cannot open ".*data" for writing: Requires .*--allow-/),
  });
});

const ROUNDS = Number(process.env['VIEWLOG_TEST_LOCK_ROUNDS'] ?? 2);
const pairs = RUNTIMES.flatMap((a, i) =>
  RUNTIMES.slice(i).map((b): [string, Runtime, Runtime] => [`${a.name} and ${b.name}`, a, b]),
);

test.each(pairs)(
  '%s that start at the same moment, after a kill -9: one stays',
  async (_, a, b) => {
    const dir = tempDir();
    for (let round = 0; round < ROUNDS; round++) {
      const children = [a, b].map((runtime) => begin(runtime, 'at go', dir));
      for (const child of children) expect(await child.next()).toMatchObject({ ready: true });
      fs.writeFileSync(join(dir, 'go'), '');
      const said = await Promise.all(children.map((child) => child.next()));
      const holders = children.filter((_, i) => said[i]!.held === true);
      if (holders.length === 2) {
        // On a busy machine, one was slow to start: it waited until the other had noticed.
        const ended = await Promise.race(holders.map((child) => child.next()));
        expect(ended).toMatchObject({ lost: expect.any(String), exitCode: 73 });
      } else {
        expect(holders).toHaveLength(1);
        expect(said).toContainEqual(expect.objectContaining(heldBy(holders[0]!)));
      }
      for (const { child } of children) child.kill('SIGKILL');
      await Promise.all(children.map((child) => child.ended));
      fs.rmSync(join(dir, 'go'));
    }
  },
);
