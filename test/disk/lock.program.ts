import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { linesOf, PROJECTS, startViewlog, until } from '../support/viewlog.ts';

// Somebody removes the lock of a collector under load, or replaces its data directory.

async function underLoad() {
  const root = tempDir();
  const data = join(root, 'data');
  const projects = join(root, 'projects.json');
  fs.mkdirSync(data);
  fs.writeFileSync(projects, JSON.stringify(PROJECTS));
  const start = () => startViewlog({ data, args: ['--projects', projects, '--data', data] });
  const viewlog = await start();
  const acknowledged: string[] = [];
  const statuses = new Set<number>();
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) {
      const answer = await viewlog.post(MINIMAL_VIEW).catch(() => undefined);
      if (answer === undefined) return;
      statuses.add(answer.status);
      const { id } = (await answer.json()) as { id?: string };
      if (answer.status === 201) acknowledged.push(id!);
    }
  };
  const clients = Promise.all(Array.from({ length: 8 }, client));
  await until(() => acknowledged.length > 20);
  const expectAllStored = async (...dirs: string[]): Promise<void> => {
    isOver = true;
    await clients;
    const lines = dirs.flatMap((dir) => (fs.existsSync(dir) ? linesOf(dir, 'views') : []));
    const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids.length).toBe(new Set(ids).size);
    const stored = new Set(ids);
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  };
  return { data, start, viewlog, statuses, expectAllStored };
}

test('a collector whose lock is removed goes on, and a second one does not start', async () => {
  const { data, start, viewlog, statuses, expectAllStored } = await underLoad();
  const holder = `process ${viewlog.child.pid}, running since .*Z, at ${viewlog.url};`;
  for (let round = 0; round < 2; round++) {
    fs.rmSync(join(data, 'viewlog.lock'));
    await expect(start()).rejects.toThrow(new RegExp(holder));
  }
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  await expectAllStored(data);
  expect([...statuses]).toEqual([201]);
});

test('a collector whose directory is replaced ends with 74, and starts in the new one', async () => {
  const { data, start, viewlog, expectAllStored } = await underLoad();
  fs.renameSync(data, `${data}.old`);
  fs.mkdirSync(data);
  const { code, stderr } = await viewlog.ended;
  expect(code).toBe(74);
  expect(stderr).toContain(`error: "${data}" is another directory now`);
  await expectAllStored(data, `${data}.old`);
  const next = await start();
  expect((await next.post(MINIMAL_VIEW)).status).toBe(201);
  expect((await next.signal('SIGTERM')).code).toBe(0);
});
