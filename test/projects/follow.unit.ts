import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openProjects, type FollowedProjects } from '../../src/projects/follow.ts';
import { type Content, FILE_BYTES_MAX, readContent } from '../../src/projects/projects-file.ts';
import { tempDir } from '../support/temp-dir.ts';

const PATH = 'projects.json';
const listOf = (...ids: string[]): string =>
  JSON.stringify({ projects: ids.map((id) => ({ id })) });

/** Follows a file that holds `disk.text`; `undefined` if it is missing. */
async function followed(text = listOf('1')) {
  const disk: { text: string | undefined } = { text };
  const read = async (): Promise<Content> =>
    disk.text === undefined
      ? { fault: 'Cannot read: it does not exist', isMissing: true }
      : { bytes: Buffer.from(disk.text) };
  return { disk, ...(await open(PATH, read)) };
}

async function open(path: string, read = readContent) {
  const logged: string[] = [];
  const log = {
    info: (message: string) => void logged.push(`info: ${message}`),
    warn: (message: string) => void logged.push(`warn: ${message}`),
    error: (message: string) => void logged.push(`error: ${message}`),
  };
  let nowMs = 1_000;
  const projects = await openProjects({ path, log, read, now: () => nowMs++ });
  onTestFinished(() => projects.close());
  return { projects, logged };
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
    expect(idsOf(projects)).toBe('1,2');
    expect(projects.operator).toBe('a@b');
    expect(projects.find('1')?.active).toBe(false);
    expect(projects.find('2')?.active).toBe(true);
    await pass(10_000);
    expect(logged).toEqual(['info: Projects file reloaded: 2 projects, 1 active']);
  });

  test('a faulty file changes nothing, is logged once, and shows until it is fixed', async () => {
    const { disk, projects, logged } = await followed();
    disk.text = '{"projects":[{"id":"7"},{"id":2},\n{"id":3}]}';
    await pass(2_500);
    expect(idsOf(projects)).toBe('1');
    expect(projects.fault).toEqual({
      message: expect.stringMatching(/^The last good projects file stays active: .*1 more fault/),
      first: expect.stringMatching(/^projects\.json:1:31: projects\[1\]\.id .* number 2$/),
      place: { line: 1, column: 31 },
      sinceMs: 1_000,
      idsInFile: new Set(['7']),
    });
    const { message } = projects.fault!;
    await pass(10_000);
    expect(logged).toEqual([`warn: ${message}`]);
    disk.text = listOf('2');
    await pass(2_000);
    expect([projects.fault, idsOf(projects)]).toEqual([undefined, '2']);
    expect(logged.slice(1)).toEqual(['info: Projects file fixed: 1 project, 1 active']);
  });

  test('another fault is logged again', async () => {
    const { disk, projects, logged } = await followed();
    disk.text = '[]';
    await pass(2_500);
    expect(projects.fault?.first).toContain('found an empty list');
    disk.text = 'null';
    await pass(2_500);
    expect(projects.fault?.first).toContain('found null');
    expect(projects.fault?.sinceMs).toBe(1_000);
    expect(logged).toHaveLength(2);
  });

  test.each(['{', undefined])(
    'a file that was %j is fixed by the text before, too',
    async (text) => {
      const { disk, projects, logged } = await followed();
      disk.text = text;
      await pass(2_500);
      expect(projects.fault).toBeDefined();
      expect(idsOf(projects)).toBe('1');
      disk.text = listOf('1');
      await pass(2_000);
      expect(projects.fault).toBeUndefined();
      expect(logged.at(-1)).toBe('info: Projects file fixed: 1 project, 1 active');
    },
  );

  test('a file that is only half saved is no fault', async () => {
    const { disk, projects, logged } = await followed();
    // Longer than a poll, in steps shorter than the wait for the second look.
    for (let length = 0; length < 10; length++) {
      disk.text = listOf('2').slice(0, length);
      await pass(250);
    }
    disk.text = listOf('2');
    await pass(2_000);
    expect(idsOf(projects)).toBe('2');
    expect(logged).toEqual(['info: Projects file reloaded: 1 project, 1 active']);
  });

  test('nothing more happens after close', async () => {
    const { disk, projects, logged } = await followed();
    projects.close();
    disk.text = listOf('2');
    await pass(10_000);
    await projects.reload();
    expect([idsOf(projects), logged]).toEqual(['1', []]);
  });
});

describe('reload', () => {
  test('acts at once, and says so even if nothing changed', async () => {
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

  test('leaves what a project has spent, whatever its new limit', async () => {
    const limited = (limit: number, name: string) =>
      JSON.stringify({ projects: [{ id: '1', name, maxViewsPerMinute: limit }] });
    const { disk, projects } = await followed(limited(2, 'a'));
    const take = () => projects.find('1')!.takeToken(0);
    const reload = async (text: string) => {
      disk.text = text;
      await projects.reload();
    };
    expect([take(), take(), take()]).toEqual([0, 0, 30]);
    await reload(limited(2, 'b'));
    expect([projects.find('1')?.name, take()]).toEqual(['b', 30]);
    await reload(limited(3, 'c'));
    expect([take(), take()]).toEqual([0, 20]);
    await reload(listOf('1'));
    expect([take(), take(), take(), take()]).toEqual([0, 0, 0, 0]);
  });
});

describe('a file on disk is followed', () => {
  test('when neither its size nor its time stamp shows the edit', async () => {
    const path = `${tempDir()}/projects.json`;
    await writeFile(path, listOf('1'));
    const { projects } = await open(path);
    const { atime, mtime } = await stat(path);
    await writeFile(path, listOf('2'));
    await utimes(path, atime, mtime);
    await projects.reload();
    expect(idsOf(projects)).toBe('2');
  });

  test('when a directory link above it is swapped, as Kubernetes does', async () => {
    const directory = tempDir();
    const publish = async (version: string) => {
      await mkdir(`${directory}/${version}`);
      await writeFile(`${directory}/${version}/projects.json`, listOf(version));
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

  test('without a call that holds up the event loop while a file system hangs', () => {
    for (const name of ['follow.ts', 'projects-file.ts', 'parse.ts']) {
      const source = readFileSync(new URL(`../../src/projects/${name}`, import.meta.url), 'utf8');
      expect(source).not.toMatch(/Sync\b|'node:fs'/);
    }
  });
});

describe('at the start', () => {
  test.each([
    ['a missing file', undefined, "it doesn't exist; create it: viewlog activate ID --projects "],
    ['a file with two faults', '{"projects":["a",\n"b"]}', 'json:1:14: projects[0] must be'],
    ['a file with two faults', '{"projects":["a",\n"b"]}', 'json:2:1: projects[1] must be'],
    ['a file over the limit', ' '.repeat(FILE_BYTES_MAX + 1), '(4194305 bytes, over 4 MiB)'],
  ])('%s ends it', async (_, text, message) => {
    const path = `${tempDir()}/projects.json`;
    if (text !== undefined) await writeFile(path, text);
    const fatal = { exitCode: 78, message: expect.stringContaining(message) };
    await expect(open(path)).rejects.toMatchObject(fatal);
  });

  test('a directory ends it', async () => {
    const fatal = { exitCode: 78, message: expect.stringContaining("it isn't a regular file") };
    await expect(open(tempDir())).rejects.toMatchObject(fatal);
  });

  test('a file up to the limit is read', async () => {
    const path = `${tempDir()}/projects.json`;
    await writeFile(path, listOf('1').padEnd(FILE_BYTES_MAX));
    expect(idsOf((await open(path)).projects)).toBe('1');
  });
});

test('a project without origins allows any request, one with origins only theirs', async () => {
  const { projects } = await followed(
    '{"projects":[{"id":"1"},{"id":"2","origins":["https://a.com"],"maxViewsPerMinute":1}]}',
  );
  const [open, closed] = projects.all();
  for (const origin of [undefined, 'null', 'https://b.com']) {
    expect([open!.allowsOrigin(origin), closed!.allowsOrigin(origin)]).toEqual([true, false]);
  }
  expect(closed!.allowsOrigin('https://a.com')).toBe(true);
  expect([projects.find('3'), projects.find('__proto__')]).toEqual([undefined, undefined]);
});
