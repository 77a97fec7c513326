import { expect, it } from 'vitest';
import type { Report } from '../../src/report/schema.ts';
import { BUNDLE } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startProgram } from '../support/viewlog.ts';
import { viewAt } from './report-on.ts';

const LINES = 200_000;
const WRITER = `
  const [line] = process.argv.slice(1);
  for (let i = 0; i < ${LINES}; ) {
    let block = '';
    for (const end = i + 100; i < end; i++) {
      const one = line.replace('PROJECT', 10 ** 14 + (i % 60)).replaceAll('SOURCE', i % 997);
      block += one + '\\n';
    }
    if (!process.stdout.write(block)) await new Promise((r) => process.stdout.once('drain', r));
  }`;

// The lines take 600 MB. If texts held their lines in memory, a tenth of them would fill the heap.
it('report reads 200,000 lines of 3 KiB, with 997 sources in 60 projects, in a heap of 128 MiB', async () => {
  const [referrer, p, pid] = ['https://source-SOURCE.example/', 'PROJECT', 'x'.repeat(2600)];
  const line = viewAt('2026-03-01', { p, ref: referrer, orgreferer: referrer, pid });
  const pipe = '"$0" -e "$1" "$2" | "$0" --max-old-space-size=128 "$3" report --json --data "$4" -';
  const names = [process.execPath, WRITER, line, BUNDLE, tempDir()];
  const { ended } = startProgram(['sh', '-c', pipe, ...names]);
  const { stdout, stderr } = await ended;
  expect(stderr).toBe('');
  const { views, referrers, projects } = JSON.parse(stdout) as Report;
  expect([views, referrers.distinct, projects.distinct]).toStrictEqual([LINES, 997, 60]);
});
