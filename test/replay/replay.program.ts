import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MINIMAL_VIEW } from '../support/views.ts';
import {
  dataDirectory,
  refusedPaths,
  run,
  start,
  startViewlog,
  until,
} from '../support/viewlog.ts';

it('stores no view twice, though it is killed often and the file has several names', async () => {
  const count = 40;
  const data = dataDirectory({ projects: [] });
  const viewlog = await startViewlog({ data });
  for (let n = 0; n < count; n++) {
    const answer = await viewlog.post({ ...MINIMAL_VIEW, pid: String(n) });
    expect(answer.status).toBe(403);
  }
  await until(() => viewlog.refusedLines().length === count);
  writeFileSync(join(data, 'projects.json'), '{"projects":[{"id":"1000001"}]}');
  viewlog.child.kill('SIGHUP');
  await until(() => viewlog.stdout().includes('1 active'));
  const names = refusedPaths(data);
  const sent = (): string[] =>
    viewlog.lines().map((line) => (JSON.parse(line) as { pid: string }).pid);
  for (let kills = 0; ; kills++) {
    const sentBefore = sent().length;
    const name = names[kills % names.length]!;
    const started = start(['replay', name, `--port=${viewlog.port}`, `--data=${data}`], data);
    await Promise.race([until(() => sent().length > sentBefore + (kills % 4)), started.ended]);
    if (kills < 4) started.child.kill('SIGKILL');
    if ((await started.ended).signal === null) break;
  }
  expect(new Set(sent()).size).toBe(sent().length);
  const { stdout, code } = await run(['replay', names[0]!, `--port=${viewlog.port}`], { data });
  const [, unknown = '0'] = /(\d+) with an unknown outcome/.exec(stdout) ?? [];
  expect(code).toBe(unknown === '0' ? 0 : 65);
  expect(sent().length).toBeGreaterThanOrEqual(count - Number(unknown));
  expect(stdout).toMatch(/: 40 lines\n {2}0 sent\n(.*\n)? {2}\d+ sent before\n/);
  // No shipper or report reads the record as views.
  const left = readdirSync(data).filter((name) => /^(views|refused)-.*\.ndjson$/.test(name));
  expect(left).toHaveLength(2);
});

it('needs files of refused views', async () => {
  expect((await run(['replay', 'views-2026-03-01.ndjson'])).code).toBe(64);
});
