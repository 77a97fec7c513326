import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUN, DENO, isPresent, NODE, onEach, type Runtime } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { linesOf, PROJECTS, startViewlog, until } from '../support/viewlog.ts';

// Somebody moves the data directory of a collector that runs, or takes its lock away.

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);

describe('a collector under load, on each runtime', () => {
  /** A collector under load, and a directory that its data directory can be moved to. */
  async function underLoad(runtime: Runtime) {
    const root = tempDir();
    const data = join(root, 'data');
    const projects = join(root, 'projects.json');
    fs.mkdirSync(data);
    fs.writeFileSync(projects, JSON.stringify(PROJECTS));
    const args = (dir: string) => ['--projects', projects, '--data', dir];
    // Deno may read and write in `root`, so that it holds for whatever is in the directory's place.
    const command = {
      ...runtime,
      command: (_: string, file?: string) => runtime.command(root, file),
    };
    const start = () => startViewlog({ runtime: command, data, args: args(data) });
    const viewlog = await start();
    const acknowledged: string[] = [];
    const refused: number[] = [];
    let isOver = false;
    const client = async (): Promise<void> => {
      while (!isOver) {
        const answer = await viewlog.post(MINIMAL_VIEW).catch(() => undefined);
        if (answer === undefined) return;
        const { id } = (await answer.json()) as { id?: string };
        if (answer.status === 201) acknowledged.push(id!);
        else refused.push(answer.status);
      }
    };
    const clients = Promise.all(Array.from({ length: 8 }, client));
    await until(() => acknowledged.length > 20);
    return {
      root,
      data,
      start,
      viewlog,
      acknowledged,
      async end() {
        isOver = true;
        await clients;
        const { code } = await viewlog.signal('SIGTERM');
        const dirs = fs
          .readdirSync(root)
          .filter((name) => fs.statSync(join(root, name)).isDirectory());
        const ids = dirs.flatMap((name) =>
          linesOf(join(root, name), 'views').map((line) => (JSON.parse(line) as { id: string }).id),
        );
        return { code, ids: new Set(ids), lines: ids.length, statuses: new Set(refused) };
      },
    };
  }

  const lockIn = (dir: string): boolean =>
    fs.existsSync(dir) && fs.readdirSync(dir).some((name) => name.startsWith('viewlog.lock.'));

  it(
    'replaced again and again under load, every acknowledged view is in one of them',
    () =>
      onEach(RUNTIMES, async (runtime) => {
        const load = await underLoad(runtime);
        for (let round = 0; round < 4; round++) {
          fs.renameSync(load.data, join(load.root, `old-${round}`));
          if (round % 2 === 1) await new Promise((resolve) => setTimeout(resolve, 600));
          fs.mkdirSync(load.data);
          await until(() => linesOf(load.data, 'views').length > 20);
          expect(lockIn(load.data)).toBe(true);
          // Nobody else gets in, there or where it was.
          await expect(load.start()).rejects.toThrow(`process ${load.viewlog.child.pid};`);
        }
        const { code, ids, lines, statuses } = await load.end();
        expect(code).toBe(0);
        expect(load.acknowledged.filter((id) => !ids.has(id))).toEqual([]);
        expect(lines).toBe(ids.size);
        expect([...statuses].filter((status) => status !== 503)).toEqual([]);
      }),
    90_000,
  );

  it(
    'its lock removed under load, it goes on, and a second one does not start',
    () =>
      onEach(RUNTIMES, async (runtime) => {
        const load = await underLoad(runtime);
        for (let round = 0; round < 3; round++) {
          for (const name of fs.readdirSync(load.data)) {
            if (name.startsWith('viewlog.lock.')) fs.rmSync(join(load.data, name));
          }
          await expect(load.start()).rejects.toThrow(`process ${load.viewlog.child.pid};`);
          expect(lockIn(load.data)).toBe(true);
        }
        const { code, ids, statuses } = await load.end();
        expect(code).toBe(0);
        expect(load.acknowledged.filter((id) => !ids.has(id))).toEqual([]);
        expect([...statuses]).toEqual([]);
      }),
    90_000,
  );
});
