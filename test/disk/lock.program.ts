import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NODE } from '../support/runtimes.ts';
import { parsed, Trial } from '../support/trial.ts';
import { linesOf } from '../support/viewlog.ts';

// Another program replaces the data directory of a collector under load.

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
