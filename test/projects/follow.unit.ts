import { writeFileSync } from 'node:fs';
import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { followProjects } from '../../src/projects/follow.ts';
import type { ProjectList } from '../../src/projects/project-list.ts';
import { FILE_BYTES_MAX } from '../../src/projects/projects-file.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';

const listOf = (...ids: string[]): string =>
  JSON.stringify({ projects: ids.map((id) => ({ id })) });

/** Follows a file with this text. */
async function followed(
  text = listOf('1'),
  path = `${tempDir()}/projects.json`,
  sending: readonly string[] = [],
) {
  await writeFile(path, text);
  const log = memoryLog();
  const { close, ...following } = await followProjects({ projects: path }, log, (id) =>
    sending.includes(id),
  );
  onTestFinished(close);
  return { path, ...following, logged: log.lines, save: (saved: string) => writeFile(path, saved) };
}

const idsOf = (projects: ProjectList): string =>
  projects
    .all()
    .map(({ id }) => id)
    .join();

test('an edit of the projects file takes effect within 2 seconds', async () => {
  vi.useFakeTimers();
  const { save, projects, logged } = await followed();
  await save('{"operator":"a@b","projects":[{"id":"1","active":false},{"id":"2"}]}');
  vi.advanceTimersByTime(2_000);
  vi.useRealTimers();
  await expect.poll(() => projects.operator).toBe('a@b');
  expect(projects.all().map(({ id, active }) => [id, active])).toEqual([
    ['1', false],
    ['2', true],
  ]);
  expect(logged).toEqual([
    'info: Projects file reloaded: 2 projects, 1 active; added: project 2; changed: project 1',
  ]);
});

test('viewlog ignores an invalid projects file, logs the error once and shows it until it is corrected', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { path, save, projects, logged } = await followed();
  await save('{"projects":[{"id":"7"},{"id":2},\n{"id":3}]}');
  const first = `${path}:1:31: projects[1].id must be a string of 1 to 20 digits, such as "1000001"; found 2 (and 1 more fault)`;
  const list =
    /viewlog continues with the last good list, but a restart would lose it and fail; to list every fault, run: .* check --data \S+$/;
  const message = expect.stringMatching(list) as string;
  /** Waits until one of several checks has found the expected state. */
  const found = (check: () => void) => {
    vi.advanceTimersByTime(10_000);
    return vi.waitFor(check);
  };
  await found(() => expect(projects.fault).toMatchObject({ message, first }));
  const { sinceMs } = projects.fault!;
  await rm(path);
  await found(() => expect(projects.fault).toMatchObject({ loss: 'missing' }));
  // The page says since when the file has been missing, not since when it was invalid.
  expect(projects.fault!.sinceMs).toBeGreaterThan(sinceMs);
  expect(idsOf(projects)).toBe('1');
  // Restores the text that the file had before its faults.
  await save(listOf('1'));
  await found(() => expect(projects.fault).toBeUndefined());
  expect(logged).toEqual([
    message,
    `warn: Can't read projects file "${path}": it no longer exists. viewlog continues with the last good list, but a restart would lose it and fail; if its disk isn't mounted, mount it; otherwise, restore the file from a backup, or list every project in it again`,
    'info: Projects file fixed: 1 project, 1 active',
  ]);
});

test.each([
  ['no bytes', ''],
  ['white space', ' \n'],
  ['a byte order mark', '\ufeff'],
])('viewlog says that a projects file with only %s must be restored', async (_, text) => {
  const { path, save, projects, reload, logged } = await followed();
  await save(text);
  await reload();
  const fact = `Projects file "${path}" is empty`;
  const fix = 'restore the file from a backup, or list every project in it again';
  expect(logged).toEqual([
    `warn: ${fact}. viewlog continues with the last good list, but a restart would lose it and fail; ${fix}`,
  ]);
  expect(projects.fault).toMatchObject({ first: fact, loss: 'empty', line: undefined });
  await expect(followed(text, path)).rejects.toThrow(`${fact}; ${fix}`);
});

test("viewlog warns of an edit that removes the operator's address", async () => {
  const { save, reload, logged } = await followed('{"operator":"a@b","projects":[{"id":"1"}]}');
  await save(listOf('1'));
  await reload();
  expect(logged.at(-1)).toBe(
    "warn: The projects file no longer has the operator's address, a@b, so refusals no longer name it",
  );
});

test('a reload applies an edit immediately and is logged even if nothing changed', async () => {
  const { save, projects, reload, logged } = await followed();
  await save(listOf('1', '2'));
  await reload();
  expect(idsOf(projects)).toBe('1,2');
  await reload();
  await save('{');
  await reload();
  await reload();
  expect(logged.map((line) => line.slice(0, 40))).toEqual([
    'info: Projects file reloaded: 2 projects',
    'info: Projects file unchanged: 2 project',
    expect.stringMatching(/^warn: .*projects/),
    expect.stringMatching(/^warn: .*projects/),
  ]);
});

test('the log names the projects that are no longer listed', async () => {
  const { path, save, reload, logged } = await followed(listOf('1', '2', '3'));
  await rm(path);
  await reload();
  await save(listOf('1'));
  await reload();
  await save(listOf());
  await reload();
  await save(listOf('1', '2'));
  await reload();
  await save(listOf('1', '3', '4', '5', '6', '7', '8'));
  await reload();
  await save(listOf());
  await reload();
  expect(logged.slice(1)).toEqual([
    'info: Projects file fixed: 1 project, 1 active; no longer listed: projects 2 and 3',
    'info: Projects file reloaded: 0 projects, 0 active; no longer listed: project 1',
    'info: Projects file reloaded: 2 projects, 2 active; added: projects 1 and 2',
    'info: Projects file reloaded: 7 projects, 7 active; added: projects 3, 4, 5, 6, 7 and 1 more; no longer listed: project 2',
    'info: Projects file reloaded: 0 projects, 0 active; no longer listed: projects 1, 3, 4, 5, 6 and 2 more',
  ]);
});

test('viewlog warns if projects are gone whose views were accepted in the last day', async () => {
  const sending = ['2', '4', '5', '6', '7', '8', '9'];
  const ids = ['1', '2', '3'];
  const { save, reload, logged } = await followed(
    listOf(...ids, ...sending.slice(1)),
    undefined,
    sending,
  );
  await save(listOf('1', ...sending));
  await reload();
  await save(listOf('1', ...sending.slice(1)));
  await reload();
  await save(listOf());
  await reload();
  await save('{"projects":[{"id":"2","active":false}]}');
  await reload();
  await save(listOf());
  await reload();
  const refused = (id: string) =>
    expect.stringMatching(
      `^warn: Views of project ${id} were accepted in the last day and are now refused; if that is a mistake, run: .* activate ${id} `,
    );
  expect(logged).toEqual([
    'info: Projects file reloaded: 8 projects, 8 active; no longer listed: project 3',
    'info: Projects file reloaded: 7 projects, 7 active; no longer listed: project 2',
    refused('2'),
    'info: Projects file reloaded: 0 projects, 0 active; no longer listed: projects 1, 4, 5, 6, 7 and 2 more',
    ...['4', '5', '6', '7', '8'].map(refused),
    'warn: Views of 1 more project were accepted in the last day and are now refused',
    'info: Projects file reloaded: 1 project, 0 active; added: project 2',
    'info: Projects file reloaded: 0 projects, 0 active; no longer listed: project 2',
  ]);
});

test('viewlog logs at its start what an edit changed while it was stopped', async () => {
  const dir = tempDir();
  const path = `${dir}/projects.json`;
  const start = async (projects: object[]) => {
    const { storeIn, logged } = await followed(JSON.stringify({ projects }), path);
    await storeIn(dir, {
      storeProjects: (text) => writeFileSync(`${dir}/last-projects.json`, text),
    });
    return logged;
  };
  const shop = { id: '1', name: 'Shop' };
  expect(await start([shop, { id: '2' }])).toEqual([]);
  expect(await start([{ id: '2' }, shop])).toEqual([]);
  expect(
    await start([
      { ...shop, active: false },
      { id: '3', name: 'Blog' },
    ]),
  ).toEqual([
    'info: The projects file has changed since viewlog last ran; added: project 3 (Blog); changed: project 1 (Shop); no longer listed: project 2',
  ]);
});

test('viewlog warns if an edit opens a project to every site', async () => {
  const origins = ['https://a.b', 'https://*.c'];
  const entry = (id: string, rules: object) => ({ id, ...rules });
  const list = (...projects: object[]): string => JSON.stringify({ projects });
  const { path, save, reload, logged } = await followed(
    list(entry('1', { origins }), entry('2', { origins }), entry('3', {})),
  );
  await save(list(entry('1', {}), entry('2', { active: false }), entry('3', {})));
  await reload();
  await reload();
  expect(logged.slice(1)).toEqual([
    expect.stringMatching(
      new RegExp(
        `^warn: Project 1 no longer lists origins, so it accepts views from every site; if that is a mistake, run: .* activate 1 .*${path}.* --origin https://a\\.b --origin 'https://\\*\\.c'$`,
      ),
    ),
    expect.stringContaining('info: Projects file unchanged'),
  ]);
  // Many lines would hide other ones.
  const ids = ['1', '2', '3', '4', '5', '6', '7'];
  await save(list(...ids.map((id) => entry(id, { origins }))));
  await reload();
  await save(list(...ids.map((id) => entry(id, {}))));
  await reload();
  expect(logged.slice(4)).toHaveLength(7);
  expect(logged.at(-1)).toBe('warn: 2 more projects no longer list origins');
});

test('a change of a limit refunds no spent views', async () => {
  const { save, projects, reload } = await followed(
    '{"projects":[{"id":"1","maxViewsPerMinute":2}]}',
  );
  const take = () => projects.find('1')!.takeToken(0);
  expect([take(), take(), take()]).toEqual([0, 0, 30]);
  for (const [limit, waits] of [
    [3, [0, 20]],
    [1, [60, 60]],
    [undefined, [0, 0]],
  ] as const) {
    await save(JSON.stringify({ projects: [{ id: '1', maxViewsPerMinute: limit }] }));
    await reload();
    expect([take(), take()]).toEqual(waits);
  }
});

test('viewlog reads the projects file again if a link leads to another file, even one with the same size and time', async () => {
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
  const { projects, reload } = await followed(listOf('1'), `${directory}/projects.json`);
  await publish('2');
  await rm(`${directory}/1`, { recursive: true });
  await reload();
  expect(idsOf(projects)).toBe('2');
});

test('viewlog accepts a projects file of 4 MiB but refuses one byte more', async () => {
  expect(idsOf((await followed(listOf('1').padEnd(FILE_BYTES_MAX))).projects)).toBe('1');
  const message = expect.stringContaining(
    'it is too large (4,194,305 bytes; the limit is 4,194,304)',
  );
  const larger = followed(listOf('1').padEnd(FILE_BYTES_MAX + 1));
  await expect(larger).rejects.toMatchObject({ exitCode: 78, message });
});
