import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NODE } from '../support/runtimes.ts';
import { parsed, Trial } from '../support/trial.ts';
import { linesOf } from '../support/viewlog.ts';

// Another program removes the lock of a collector under load, or replaces its data directory.

test('a collector whose lock is removed goes on, and a second one does not start', async () => {
  const trial = new Trial(NODE);
  const viewlog = await trial.start();
  const holder = `process ${viewlog.child.pid}, running since .*Z, at ${viewlog.url};`;
  const refused = await trial.underLoad(viewlog, 8, async () => {
    for (let round = 0; round < 2; round++) {
      fs.rmSync(join(trial.data, 'viewlog.lock'));
      await expect(trial.start()).rejects.toThrow(new RegExp(holder));
    }
  });
  expect(refused).toEqual([]);
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  trial.expectWhole();
});

test('a collector whose directory is replaced ends with 74, and starts in the new one', async () => {
  const trial = new Trial(NODE);
  const { data } = trial;
  const viewlog = await trial.start();
  await trial.underLoad(viewlog, 8, async () => {
    fs.renameSync(data, `${data}.old`);
    fs.mkdirSync(data);
    fs.copyFileSync(join(`${data}.old`, 'projects.json'), join(data, 'projects.json'));
    await viewlog.ended;
  });
  const { code, stderr } = await viewlog.ended;
  expect([code, stderr]).toEqual([
    74,
    expect.stringContaining(`error: "${data}" is another directory now`),
  ]);
  const lines = [...linesOf(`${data}.old`, 'views'), ...linesOf(data, 'views')];
  const stored = new Set(lines.map((line) => parsed(line)?.id));
  expect(stored.size).toBe(lines.length);
  expect(trial.acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  await trial.restart();
  fs.rmSync(`${data}.old`, { recursive: true });
});
