import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { loadProjects } from '../../src/projects/project-list.ts';
import { bundleCommands } from '../support/bundle-commands.ts';
import { tempDir } from '../support/temp-dir.ts';

const run = promisify(execFile);
const DENO = fileURLToPath(new URL('../../node_modules/.bin/deno', import.meta.url));

async function bundled(): Promise<{ directory: string; bundle: string; path: string }> {
  const directory = tempDir();
  const bundle = `${directory}/commands.mjs`;
  await bundleCommands(bundle);
  return { directory, bundle, path: `${directory}/data/projects.json` };
}

test('no edit is lost when several run at once, and no umask hides the files', async () => {
  const { directory, bundle, path } = await bundled();
  const ids = Array.from({ length: 12 }, (_, i) => String(i + 1));
  const command = ['umask 077; exec "$@"', 'sh', process.execPath, bundle, 'activate', path];
  await Promise.all(ids.map((id) => run('sh', ['-c', ...command, id])));
  const listed = (await loadProjects(path)).all().map(({ id }) => id);
  expect(listed.sort((a, b) => Number(a) - Number(b))).toEqual(ids);
  expect(await readdir(`${directory}/data`)).toEqual(['projects.json', 'projects.schema.json']);
  expect((await stat(`${directory}/data`)).mode & 0o777).toBe(0o750);
  expect((await stat(path)).mode & 0o777).toBe(0o640);
});

test('a killed edit leaves the old file or the new one', async () => {
  const { bundle, path } = await bundled();
  let count = 0;
  for (let round = 0; round < 10; round++) {
    const child = spawn(process.execPath, [bundle, 'activate-all', path, String(count + 1)]);
    await once(child.stdout, 'data');
    await sleep(Math.random() * 40);
    child.kill('SIGKILL');
    await once(child, 'close');
    const listed = (await loadProjects(path)).all();
    expect(listed.length).toBeGreaterThan(count);
    expect(listed.map(({ id }) => id)).toEqual(listed.map((_, i) => String(i + 1)));
    count = listed.length;
    await rm(`${path}.draft`, { force: true });
  }
});

test('a named pipe in the place of the file is refused, not waited for', async () => {
  const { directory, bundle } = await bundled();
  await run('mkfifo', [`${directory}/pipe`]);
  await expect(
    run(process.execPath, [bundle, 'check', `${directory}/pipe`], { timeout: 20_000 }),
  ).rejects.toMatchObject({ code: 78, stderr: expect.stringContaining("isn't a regular file") });
});

test.runIf(process.getuid?.() === 0)('without permission, it says whom to run as', async () => {
  const { directory, bundle, path } = await bundled();
  await run(process.execPath, [bundle, 'activate', path, '1']);
  await chmod(directory, 0o755);
  await chmod(`${directory}/data`, 0o755);
  const because = "permission denied; run viewlog as the file's owner";
  const says = (...args: string[]) =>
    run(process.execPath, [bundle, ...args], { uid: 65_534, gid: 65_534 }).catch(
      ({ code, stderr }) => [code, stderr],
    );
  const read = `Cannot read projects file "${path}": ${because}\n`;
  expect(await says('check', path)).toEqual([78, read]);
  await chmod(path, 0o644);
  const write = `Cannot write projects file "${path}": ${because}\n`;
  expect(await says('activate', path, '2')).toEqual([73, write]);
});

test('following the file does not keep the process alive', async () => {
  const { bundle, directory } = await bundled();
  const path = `${directory}/projects.json`;
  await writeFile(path, '{"projects":[{"id":"1"}]}');
  const { stdout } = await run(process.execPath, [bundle, 'open', path], { timeout: 20_000 });
  expect(stdout).toBe('1\n');
});

test('Deno needs no more than the data directory', async () => {
  const { directory, bundle, path } = await bundled();
  await mkdir(`${directory}/data`);
  const deno = (command: string, ...args: string[]) => {
    const allowed = ['--allow-read=data', '--allow-write=data'];
    const options = ['run', '--no-prompt', '--no-lock', ...allowed, bundle];
    return run(DENO, [...options, command, './data/projects.json', ...args], { cwd: directory });
  };
  await expect(deno('check')).rejects.toMatchObject({ code: 78 });
  await deno('activate', '1', 'https://a.com');
  await deno('activate', '2');
  await deno('deactivate', '1');
  expect((await deno('check')).stdout).toBe('./data/projects.json: 2 projects, 1 active\n');
  expect((await deno('projects')).stdout).toContain('https://a.com');
  expect((await deno('open')).stdout).toBe('2\n');

  // A link that leaves the data directory can be followed for reading, not for writing.
  await rename(path, `${directory}/out.json`);
  await symlink('../out.json', path);
  expect((await deno('check')).stdout).toBe('./data/projects.json: 2 projects, 1 active\n');
  const denied = /^Cannot write projects file ".\/data\/projects.json": Requires \w+ access to "/;
  await expect(deno('activate', '3')).rejects.toMatchObject({
    code: 73,
    stderr: expect.stringMatching(denied),
  });
});
