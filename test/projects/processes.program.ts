import { execFile, execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { loadProjects } from '../../src/projects/project-list.ts';
import { BUNDLE } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { run } from '../support/viewlog.ts';

test("simultaneous edits lose no project, and a umask of 077 doesn't close the files to their group", async () => {
  const data = `${tempDir()}/data`;
  const ids = Array.from({ length: 12 }, (_, i) => String(i + 1));
  const command = ['umask 077; exec "$@"', 'sh', process.execPath, BUNDLE, 'activate'];
  const activate = (id: string) =>
    promisify(execFile)('sh', ['-c', ...command, id, '--data', data]);
  const edits = await Promise.allSettled(ids.map(activate));
  // The other edits end with 73 and change nothing.
  const done = ids.filter((_, i) => edits[i]!.status === 'fulfilled');
  const failed = edits.flatMap((edit) => (edit.status === 'rejected' ? [edit.reason.code] : []));
  expect(new Set([73, ...failed])).toEqual(new Set([73]));
  const listed = (await loadProjects(`${data}/projects.json`)).all().map(({ id }) => id);
  expect(listed.sort((a, b) => Number(a) - Number(b))).toEqual(done);
  expect(fs.readdirSync(data)).toEqual(['projects.json', 'projects.schema.json']);
  expect(fs.statSync(data).mode & 0o777).toBe(0o750);
  expect(fs.statSync(`${data}/projects.json`).mode & 0o777).toBe(0o640);
});

test('viewlog refuses a named pipe in place of the projects file, without waiting for a writer', async () => {
  const pipe = `${tempDir()}/pipe`;
  execFileSync('mkfifo', [pipe]);
  const { code, stderr } = await run(['check', '--projects', pipe]);
  expect([code, stderr]).toEqual([78, expect.stringContaining("isn't a regular file")]);
});
