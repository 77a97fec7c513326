import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FILE_BYTES_MAX } from '../../src/projects/projects-file.ts';
import { openProjects, type WatchedProjects } from '../../src/projects/follow.ts';
import { tempDir } from '../support/temp-dir.ts';

// The file is read every 1.6 s; a test that waits for nothing to happen waits this long.
const SEVERAL_POLLS_MS = 3_500;

interface Watched {
  readonly path: string;
  readonly directory: string;
  readonly projects: WatchedProjects;
  /** What was logged, with its level. */
  readonly logged: string[];
}

const listOf = (...ids: string[]): string =>
  JSON.stringify({ projects: ids.map((id) => ({ id })) });

async function open(path: string): Promise<{ projects: WatchedProjects; logged: string[] }> {
  const logged: string[] = [];
  const log = {
    info: (message: string) => void logged.push(`info: ${message}`),
    warn: (message: string) => void logged.push(`warn: ${message}`),
    error: (message: string) => void logged.push(`error: ${message}`),
  };
  const projects = await openProjects({ path, log });
  onTestFinished(() => projects.close());
  return { projects, logged };
}

/** Follows a file that lists project 1. */
async function watched(text = listOf('1')): Promise<Watched> {
  const directory = tempDir();
  const path = `${directory}/projects.json`;
  await writeFile(path, text);
  return { path, directory, ...(await open(path)) };
}

const idsOf = (projects: WatchedProjects): string =>
  projects
    .all()
    .map(({ id }) => id)
    .join();
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 10_000, interval: 20 });
const eventuallyLists = (projects: WatchedProjects, ids: string) =>
  eventually(() => expect(idsOf(projects)).toBe(ids));

async function saveByRename(path: string, text: string): Promise<void> {
  await writeFile(`${path}~`, text);
  await rename(`${path}~`, path);
}

describe('an edit takes effect', () => {
  test('when it is saved in place, and is logged once', async () => {
    const { path, projects, logged } = await watched();
    await writeFile(path, '{"operator":"a@b","projects":[{"id":"1","active":false},{"id":"2"}]}');
    await eventuallyLists(projects, '1,2');
    expect(projects.operator).toBe('a@b');
    expect(projects.find('1')?.active).toBe(false);
    expect(projects.find('2')?.active).toBe(true);
    await sleep(SEVERAL_POLLS_MS);
    expect(logged).toEqual(['info: Projects file reloaded: 2 projects, 1 active']);
  });

  test('when it is saved by rename, and by rename again', async () => {
    const { path, projects } = await watched();
    await saveByRename(path, listOf('2'));
    await saveByRename(path, listOf('3'));
    await eventuallyLists(projects, '3');
    await saveByRename(path, listOf('4'));
    await eventuallyLists(projects, '4');
  });

  test('when neither the size nor the time stamp of the file tells', async () => {
    const { path, projects } = await watched();
    const { atime, mtime } = await stat(path);
    await writeFile(path, listOf('2'));
    await utimes(path, atime, mtime);
    await eventuallyLists(projects, '2');
  });

  test('when the file is a symbolic link that is swapped', async () => {
    const { path, directory } = await watched();
    await rename(path, `${directory}/a.json`);
    await writeFile(`${directory}/b.json`, listOf('2'));
    await symlink('a.json', path);
    const { projects } = await open(path);
    expect(idsOf(projects)).toBe('1');
    await symlink('b.json', `${path}~`);
    await rename(`${path}~`, path);
    await eventuallyLists(projects, '2');
    await writeFile(`${directory}/b.json`, listOf('3'));
    await eventuallyLists(projects, '3');
  });

  test('when a directory link above the file is swapped, as Kubernetes does', async () => {
    const directory = tempDir();
    const publish = async (version: string, ids: string) => {
      await mkdir(`${directory}/${version}`);
      await writeFile(`${directory}/${version}/projects.json`, listOf(ids));
      await symlink(version, `${directory}/..data_tmp`);
      await rename(`${directory}/..data_tmp`, `${directory}/..data`);
    };
    await publish('..1', '1');
    await symlink('..data/projects.json', `${directory}/projects.json`);
    const { projects, logged } = await open(`${directory}/projects.json`);
    await publish('..2', '2');
    await rm(`${directory}/..1`, { recursive: true });
    await eventuallyLists(projects, '2');
    await publish('..3', '3');
    await rm(`${directory}/..2`, { recursive: true });
    await eventuallyLists(projects, '3');
    expect(logged).toEqual(Array(2).fill('info: Projects file reloaded: 1 project, 1 active'));
  });

  test('at once on reload, which says so where nothing changed', async () => {
    const { path, projects, logged } = await watched();
    await writeFile(path, listOf('1', '2'));
    await projects.reload();
    expect(idsOf(projects)).toBe('1,2');
    await projects.reload();
    expect(logged).toEqual([
      'info: Projects file reloaded: 2 projects, 2 active',
      'info: Projects file unchanged: 2 projects, 2 active',
    ]);
  });

  test('no longer after close', async () => {
    const { path, projects, logged } = await watched();
    projects.close();
    await writeFile(path, listOf('2'));
    await sleep(SEVERAL_POLLS_MS);
    await projects.reload();
    expect(idsOf(projects)).toBe('1');
    expect(logged).toEqual([]);
  });
});

describe('a faulty file', () => {
  test('changes nothing, is logged once, and shows until it is mended', async () => {
    const { path, projects, logged } = await watched();
    await writeFile(path, '{"projects":[{"id":2},\n{"id":3}]}');
    await eventually(() => expect(projects.fault).toBeDefined());
    const fault =
      `The last good projects file stays in force: ${path}:1:20: projects[0].id must be a string ` +
      'of 1 to 20 digits, such as "1000001"; found the number 2 (and 1 more fault: see "viewlog check")';
    expect(projects.fault).toBe(fault);
    expect(idsOf(projects)).toBe('1');
    await sleep(SEVERAL_POLLS_MS);
    expect(logged).toEqual([`warn: ${fault}`]);
    await writeFile(path, listOf('2'));
    await eventuallyLists(projects, '2');
    expect(projects.fault).toBeUndefined();
    await sleep(SEVERAL_POLLS_MS);
    expect(logged.slice(1)).toEqual(['info: Projects file mended: 1 project, 1 active']);
  });

  test('is logged again when it becomes another fault', async () => {
    const { path, projects, logged } = await watched();
    await writeFile(path, '[]');
    await eventually(() => expect(projects.fault).toContain('found an empty list'));
    await writeFile(path, 'null');
    await eventually(() => expect(projects.fault).toContain('found null'));
    expect(logged).toHaveLength(2);
  });

  test('is mended by what it was before, too', async () => {
    const { path, projects, logged } = await watched();
    await writeFile(path, '{');
    await eventually(() => expect(projects.fault).toBeDefined());
    await writeFile(path, listOf('1'));
    await eventually(() => expect(projects.fault).toBeUndefined());
    expect(logged.at(-1)).toBe('info: Projects file mended: 1 project, 1 active');
  });

  test('is no fault while it is only half saved', async () => {
    const { path, projects, logged } = await watched();
    for (const id of ['2', '3', '4']) {
      // The file was looked at a moment ago, and is again in the middle of this save.
      await sleep(300);
      await writeFile(path, '');
      await sleep(100);
      await writeFile(path, listOf(id).slice(0, 10));
      await sleep(200);
      await writeFile(path, listOf(id));
      await eventuallyLists(projects, id);
    }
    expect(logged.filter((line) => line.startsWith('warn'))).toEqual([]);
  });

  test('is believed at once on reload', async () => {
    const { path, projects, logged } = await watched();
    await writeFile(path, '{');
    await projects.reload();
    expect(projects.fault).toContain(`${path}:1:2: expected "}"`);
    await sleep(SEVERAL_POLLS_MS);
    expect(logged).toHaveLength(1);
  });
});

test('a file that is removed changes nothing, and may return', async () => {
  const { path, projects, logged } = await watched();
  await rm(path);
  await eventually(() => expect(projects.fault).toContain('it does not exist'));
  expect(idsOf(projects)).toBe('1');
  await writeFile(path, listOf('2'));
  await eventuallyLists(projects, '2');
  expect(projects.fault).toBeUndefined();
  expect(logged).toHaveLength(2);
});

test('what a project has spent stays spent when the file changes, whatever its new limit', async () => {
  const limited = (limit: number, name: string) =>
    JSON.stringify({ projects: [{ id: '1', name, maxViewsPerMinute: limit }] });
  const { path, projects } = await watched(limited(2, 'a'));
  const take = () => projects.find('1')!.takeToken(0);
  expect([take(), take(), take()]).toEqual([0, 0, 30]);
  await writeFile(path, limited(2, 'b'));
  await projects.reload();
  expect(projects.find('1')?.name).toBe('b');
  expect(take()).toBe(30);
  await writeFile(path, limited(3, 'c'));
  await projects.reload();
  expect([take(), take()]).toEqual([0, 20]);
  await writeFile(path, listOf('1'));
  await projects.reload();
  expect([take(), take(), take(), take()]).toEqual([0, 0, 0, 0]);
});

describe('at the start', () => {
  const log = { info: () => {}, warn: () => {}, error: () => {} };

  test('a missing file ends it, naming the command that makes one', async () => {
    const path = `${tempDir()}/projects.json`;
    await expect(openProjects({ path, log })).rejects.toMatchObject({
      exitCode: 78,
      message: `Cannot read projects file "${path}": it does not exist; "viewlog activate ID --projects ${path}" makes it`,
    });
  });

  test('a faulty file ends it, with every fault on its line', async () => {
    const path = `${tempDir()}/projects.json`;
    await writeFile(path, '{"projects":["a",\n"b"]}');
    const must = 'must be an object, such as { "id": "1000001" }';
    await expect(openProjects({ path, log })).rejects.toMatchObject({
      exitCode: 78,
      message: `${path}:1:14: projects[0] ${must}; found "a"\n${path}:2:1: projects[1] ${must}; found "b"`,
    });
  });

  test('what is not a file ends it: a directory, a pipe', async () => {
    const directory = tempDir();
    execFileSync('sh', ['-c', 'mkfifo "$0"', `${directory}/pipe`]);
    for (const path of [directory, `${directory}/pipe`]) {
      await expect(openProjects({ path, log })).rejects.toMatchObject({
        exitCode: 78,
        message: `Cannot read projects file "${path}": it is not a file`,
      });
    }
  });

  test('a file is read up to its limit, and not one byte more', async () => {
    const { path, projects } = await watched(listOf('1').padEnd(FILE_BYTES_MAX));
    expect(idsOf(projects)).toBe('1');
    await writeFile(path, listOf('1').padEnd(FILE_BYTES_MAX + 1));
    await expect(openProjects({ path, log })).rejects.toMatchObject({
      exitCode: 78,
      message: `Cannot read projects file "${path}": it is too large (4194305 bytes, over 4 MiB)`,
    });
  });
});

test('a project without origins allows any request, one with origins only theirs', async () => {
  const { projects } = await watched(
    '{"projects":[{"id":"1"},{"id":"2","origins":["https://a.com"],"maxViewsPerMinute":1}]}',
  );
  const [open, closed] = projects.all();
  expect([undefined, 'null', 'https://b.com'].map((o) => open!.allowsOrigin(o))).toEqual([
    true,
    true,
    true,
  ]);
  expect([undefined, 'null', 'https://b.com'].map((o) => closed!.allowsOrigin(o))).toEqual([
    false,
    false,
    false,
  ]);
  expect(closed!.allowsOrigin('https://a.com')).toBe(true);
  expect(projects.find('3')).toBeUndefined();
  expect(projects.find('__proto__')).toBeUndefined();
});
