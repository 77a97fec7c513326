import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openProjects, type FollowedProjects } from '../../src/projects/follow.ts';
import { FILE_BYTES_MAX, readContent } from '../../src/projects/projects-file.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';

const listOf = (...ids: string[]): string =>
  JSON.stringify({ projects: ids.map((id) => ({ id })) });

/** Follows a file that holds `disk.text`; `undefined` if it is missing. */
async function followed(text = listOf('1')) {
  const disk: { text: string | undefined } = { text };
  const read = async () => (disk.text === undefined ? undefined : Buffer.from(disk.text));
  return { disk, ...(await open('projects.json', read)) };
}

async function open(path: string, read = readContent) {
  const log = memoryLog();
  let nowMs = 1_000;
  const projects = await openProjects({ path, log, read, now: () => nowMs++ });
  onTestFinished(() => projects.close());
  return { projects, logged: log.lines };
}

const idsOf = (projects: FollowedProjects): string =>
  projects
    .all()
    .map(({ id }) => id)
    .join();

describe('by polling', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  test('an edit takes effect within 2 seconds, and is logged once', async () => {
    const { disk, projects, logged } = await followed();
    disk.text = '{"operator":"a@b","projects":[{"id":"1","active":false},{"id":"2"}]}';
    await pass(2_000);
    expect(projects.operator).toBe('a@b');
    expect(projects.all().map(({ id, active }) => [id, active])).toEqual([
      ['1', false],
      ['2', true],
    ]);
    await pass(10_000);
    expect(logged).toEqual(['info: Projects file reloaded: 2 projects, 1 active']);
  });

  test('a faulty file changes nothing, each fault is logged once, and shows until fixed', async () => {
    const { disk, projects, logged } = await followed();
    disk.text = '{"projects":[{"id":"7"},{"id":2},\n{"id":3}]}';
    await pass(2_000);
    const first =
      'projects.json:1:31: projects[1].id must be a string of 1 to 20 digits, such as "1000001"; found the number 2';
    const message = `The last good projects file stays active: ${first} (and 1 more fault: viewlog check --projects projects.json)`;
    const fault = { message, first, sinceMs: 1_000, isMissing: false };
    expect([idsOf(projects), projects.fault]).toEqual(['1', fault]);
    await pass(10_000);
    expect(logged.splice(0)).toEqual([`warn: ${message}`]);
    disk.text = undefined;
    await pass(2_000);
    expect([idsOf(projects), projects.fault?.sinceMs]).toEqual(['1', 1_000]);
    expect(logged.splice(0)).toEqual([
      'warn: The last good projects file stays active: Cannot read projects file "projects.json": it doesn\'t exist any more; restore it, with every project',
    ]);
    // The text that it had before its faults.
    disk.text = listOf('1');
    await pass(2_000);
    expect([idsOf(projects), projects.fault]).toEqual(['1', undefined]);
    expect(logged).toEqual(['info: Projects file fixed: 1 project, 1 active']);
  });
});

test('a reload acts at once, and says so even if nothing changed', async () => {
  const { disk, projects, logged } = await followed();
  disk.text = listOf('1', '2');
  await projects.reload();
  expect(idsOf(projects)).toBe('1,2');
  await projects.reload();
  disk.text = '{';
  await projects.reload();
  await projects.reload();
  expect(logged.map((line) => line.slice(0, 40))).toEqual([
    'info: Projects file reloaded: 2 projects',
    'info: Projects file unchanged: 2 project',
    'warn: The last good projects file stays ',
    'warn: The last good projects file stays ',
  ]);
});

test('a new limit does not give a project its spent views back', async () => {
  const { disk, projects } = await followed('{"projects":[{"id":"1","maxViewsPerMinute":2}]}');
  const take = () => projects.find('1')!.takeToken(0);
  expect([take(), take(), take()]).toEqual([0, 0, 30]);
  for (const [limit, waits] of [
    [3, [0, 20]],
    [1, [60, 60]],
    [undefined, [0, 0]],
  ] as const) {
    disk.text = JSON.stringify({ projects: [{ id: '1', maxViewsPerMinute: limit }] });
    await projects.reload();
    expect([take(), take()]).toEqual(waits);
  }
});

test('a file is followed through links that are swapped, whatever its size and time', async () => {
  const directory = tempDir();
  const publish = async (version: string) => {
    await mkdir(`${directory}/${version}`);
    await writeFile(`${directory}/${version}/projects.json`, listOf(version));
    await utimes(`${directory}/${version}/projects.json`, 0, 0);
    await symlink(version, `${directory}/..data_tmp`);
    await rename(`${directory}/..data_tmp`, `${directory}/..data`);
  };
  await publish('1');
  await symlink('..data/projects.json', `${directory}/projects.json`);
  const { projects } = await open(`${directory}/projects.json`);
  await publish('2');
  await rm(`${directory}/1`, { recursive: true });
  await projects.reload();
  expect(idsOf(projects)).toBe('2');
});

test('a file may have 4 MiB, and no byte more', async () => {
  const path = `${tempDir()}/projects.json`;
  await writeFile(path, listOf('1').padEnd(FILE_BYTES_MAX));
  expect(idsOf((await open(path)).projects)).toBe('1');
  await writeFile(path, listOf('1').padEnd(FILE_BYTES_MAX + 1));
  const message = expect.stringContaining('it is too large (4194305 bytes, over 4 MiB)');
  await expect(open(path)).rejects.toMatchObject({ exitCode: 78, message });
});
