import { execFile, execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { loadProjects } from '../../src/projects/project-list.ts';
import { BUNDLE } from '../support/runtimes.ts';
import { tempDir } from '../support/temp-dir.ts';
import { startWatched } from '../support/status.ts';
import { dataDirectory, run, startViewlog, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

test("simultaneous edits lose no project, and a umask of 077 doesn't close the files to their group", async () => {
  const data = `${tempDir()}/data`;
  const ids = Array.from({ length: 12 }, (_, i) => String(i + 1));
  const command = ['umask 077; exec "$@"', 'sh', process.execPath, BUNDLE, 'activate'];
  const activate = (id: string) =>
    promisify(execFile)('sh', ['-c', ...command, id, '--data', data]);
  const edits = await Promise.allSettled(ids.map(activate));
  // The other edits exit with code 73 and change nothing.
  const done = ids.filter((_, i) => edits[i]!.status === 'fulfilled');
  const failed = edits.flatMap((edit) => (edit.status === 'rejected' ? [edit.reason.code] : []));
  expect(new Set([73, ...failed])).toEqual(new Set([73]));
  const listed = (await loadProjects(`${data}/projects.json`)).all().map(({ id }) => id);
  expect(listed.sort((a, b) => Number(a) - Number(b))).toEqual(done);
  expect(fs.readdirSync(data)).toEqual(['projects.json', 'projects.schema.json']);
  const schema = new URL('../../data/projects.schema.json', import.meta.url);
  expect(fs.readFileSync(`${data}/projects.schema.json`)).toEqual(fs.readFileSync(schema));
  expect(fs.statSync(data).mode & 0o777).toBe(0o750);
  expect(fs.statSync(`${data}/projects.json`).mode & 0o777).toBe(0o640);
});

test('viewlog refuses a named pipe in place of the projects file, without waiting for a writer', async () => {
  const pipe = `${tempDir()}/pipe`;
  execFileSync('mkfifo', [pipe]);
  const { code, stderr } = await run(['check', '--projects', pipe]);
  expect([code, stderr]).toEqual([78, expect.stringContaining("isn't a regular file")]);
  const directory = await run(['check', '--projects', '/etc']);
  expect(directory.stderr).toContain(
    'it is a directory; name a file, such as /etc/projects.json\n',
  );
});

test('a start names the projects that were removed or opened to every site since the last one, and the status page prints how to undo that', async () => {
  const data = dataDirectory({
    projects: [
      { id: '1000001', name: 'A', origins: ['https://a.b'] },
      { id: '7', origins: ['https://c.d'] },
      { id: '1000011', name: 'N', contact: 'n@example.com' },
    ],
  });
  const first = await stored(data);
  await first.post(MINIMAL_VIEW, { origin: 'https://a.b' });
  await first.signal('SIGTERM');
  dataDirectory({ projects: [{ id: '7' }] }, data);
  const activate = () => run(['activate', '1000001'], { data });
  const refused = {
    code: 64,
    stderr: expect.stringMatching(
      / was listed before, with these rules: https:\/\/a\.b, no limit\. .* --name A --origin https:\/\/a\.b\n$/,
    ),
  };
  // Without origins, the entry has nothing to lose: its name, contact and limit come back.
  const back = await run(['activate', '1000011'], { data });
  expect(back).toMatchObject({ code: 0, stderr: '' });
  expect(back.stdout).toContain(': any origin, no limit.');
  expect(JSON.parse(fs.readFileSync(`${data}/projects.json`, 'utf8'))).toMatchObject({
    projects: [{ id: '7' }, { id: '1000011', name: 'N', contact: 'n@example.com' }],
  });
  // viewlog hasn't seen the removal yet.
  expect(await activate()).toMatchObject(refused);
  const script = await run(['snippet', '1000001', '--url', 'https://a.b'], { data });
  expect(script.stderr).toMatch(/ isn't listed .* activate 1000001 .* --origin https:\/\/a\.b$/m);
  // Only this process has seen it, and it counts nothing.
  const second = await startViewlog({ data });
  await second.says(
    /^warning: Views of project 1000001 \(A\) were accepted .*; if that is a mistake, run: .* activate 1000001 .* --name A --origin https:\/\/a\.b$/m,
  );
  await until(() => fs.readFileSync(`${data}/last-projects.json`, 'utf8').includes('"7"'));
  await second.signal('SIGKILL');
  expect(await activate()).toMatchObject(refused);
  const viewlog = await startWatched({ data });
  expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(403);
  const page = await (await fetch(`${viewlog.statusUrl}/status.txt`)).text();
  expect(page).toMatch(
    / Project 1000001 was in the projects file[.;] .* add the entry again:\n {4}.* activate 1000001 .* --name A --origin https:\/\/a\.b\n/,
  );
  expect(page).toMatch(
    /^Project 7 no longer lists origins.*\n.*\n {4}.* activate 7 .* --origin https:\/\/c\.d$/m,
  );
  // So does whoever activates it.
  const opened = await run(['activate', '7'], { data });
  expect(opened.stderr).toMatch(
    /^warning: Project 7 no longer lists origins.* --origin https:\/\/c\.d$/m,
  );
});

/** Starts viewlog and waits until it has saved the list of projects. */
async function stored(data: string) {
  const viewlog = await startViewlog({ data });
  await until(() => fs.existsSync(`${data}/last-projects.json`));
  return viewlog;
}

test('once viewlog has started, no command replaces a deleted projects file with one that lists a single project', async () => {
  const data = dataDirectory();
  const path = `${data}/projects.json`;
  if (process.getuid?.() === 0) {
    for (const name of [data, path]) fs.chownSync(name, 4711, 4712);
  }
  const viewlog = await startViewlog({ data });
  await until(() => fs.existsSync(`${data}/last-start.json`));
  await until(() => fs.existsSync(`${data}/last-projects.json`));
  fs.rmSync(`${data}/last-projects.json`);
  fs.rmSync(path);
  const restore =
    `Can't read projects file "${path}": it doesn't exist; restore the file from a backup, ` +
    'or list every project in it again';
  const refused = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await run(args, { data });
    expect([args, code, stderr]).toEqual([args, 78, expect.stringContaining(restore)]);
    expect(fs.existsSync(path)).toBe(false);
    return stderr;
  };
  for (const command of ['check', 'projects', 'serve']) {
    expect(await refused(command)).not.toMatch(/create the| activate ID|tee/);
  }
  // The running collector is enough, for example if its disk was full at the start.
  fs.renameSync(`${data}/last-start.json`, `${data}/moved`);
  await refused('activate', '1000001');
  fs.renameSync(`${data}/moved`, `${data}/last-start.json`);
  await viewlog.signal('SIGTERM');
  const stderr = await refused('activate', '1000001', '--name', "Jo's");
  const [, command = ''] = /To begin an empty list instead, .*: (echo .*)$/m.exec(stderr) ?? [];
  execFileSync('sh', ['-c', command], { cwd: '/' });
  expect(fs.readFileSync(path, 'utf8')).toBe('{"projects": []}\n');
  const { code, stdout } = await run(['activate', '1000001'], { data });
  expect([code, stdout]).toEqual([0, expect.stringContaining('Added project 1000001 to ')]);
});

/** More projects than the status page lists, with every field. */
const LIST = {
  operator: 'you@example.com',
  projects: Array.from({ length: 250 }, (_, i) => ({
    id: String(i + 1),
    name: `Site ${i}`,
    origins: ['https://www.example.com'],
    maxViewsPerMinute: 300 + i,
    contact: 'me@example.com',
  })),
};

const SERVE = ['serve', '--port=0', '--status=off'];

describe.each([
  ['empty', (path: string) => fs.writeFileSync(path, ' \n')],
  ['missing', (path: string) => fs.rmSync(path)],
])('if the projects file is %s', (what, lose) => {
  it('every message about the file prints the command that restores the last good list', async () => {
    const data = dataDirectory(LIST);
    const [path, copy] = [`${data}/projects.json`, `${data}/last-projects.json`];
    const viewlog = await startWatched({ data });
    const text = JSON.stringify({ ...LIST, operator: 'new@example.com' }, null, 3);
    fs.writeFileSync(path, text);
    await until(() => fs.existsSync(copy) && fs.readFileSync(copy, 'utf8') === text);
    expect(fs.statSync(copy).mode & 0o777).toBe(0o640);
    lose(path);
    const [, command = ''] = await viewlog.says(
      /^warning: .*\. viewlog continues with the last good list, saved in ".*", but a restart would fail; to restore it, run: (.*)$/m,
    );
    const page = await (await fetch(`${viewlog.statusUrl}/status.txt`)).text();
    expect(page).toMatch(
      new RegExp(
        `^The projects file is ${what}\n[^]*\nThe projects file ".*" has been ${what} since `,
      ),
    );
    expect(page).toContain(`\n  To restore it:\n    ${command}\n`);
    const doctor = (await run(['doctor'], { data })).stdout;
    expect(doctor).toMatch(/To restore the last good list \(250 projects\):\s/);
    expect(doctor).toContain(`${command}\n`);
    const restores = (): void => {
      execFileSync('sh', ['-c', command], { cwd: '/' });
      expect(fs.readFileSync(path, 'utf8')).toBe(text);
    };
    const isTold = async (...args: string[]): Promise<void> => {
      const { code, stderr } = await run(args, { data });
      expect([code, stderr]).toEqual([
        78,
        expect.stringMatching(/; to restore the last good list, run: .*\n$/),
      ]);
      expect(stderr.endsWith(`${command}\n`)).toBe(true);
    };
    await isTold('activate', '7');
    await isTold('check');
    restores();
    await viewlog.says(/^Projects file fixed: 250 projects, 250 active$/m);
    lose(path);
    await viewlog.signal('SIGTERM');
    await isTold(...SERVE);
    restores();
    await startViewlog({ data });
  });
});

test('every message about a projects file that was cut short prints the command that restores the last good list', async () => {
  const data = dataDirectory(LIST);
  const [path, copy] = [`${data}/projects.json`, `${data}/last-projects.json`];
  const viewlog = await startWatched({ data });
  const text = fs.readFileSync(path, 'utf8');
  await until(() => fs.existsSync(copy));
  fs.writeFileSync(path, text.slice(0, text.indexOf('https', 9_000) + 3));
  await viewlog.says(
    /expected a closing double quote after "htt"; found the end of the text\. viewlog continues with the last good list, saved in ".*\/last-projects\.json", but a restart would fail; correct the file or, if parts of it are missing, run: cp /m,
  );
  const page = await (await fetch(`${viewlog.statusUrl}/status.txt`)).text();
  const [, command = ''] =
    /\n {2}If parts of the file are missing, restore the last good list \(\d+ projects?\) instead:\n {4}(.*)\n/.exec(
      page,
    )!;
  const saved = `; correct the file or, if parts of it are missing, restore the last good list (250 projects): ${command}`;
  const doctor = (await run(['doctor'], { data })).stdout;
  expect(doctor.replaceAll(/\s+/g, ' ')).toContain(
    `If parts of the file are missing, restore the last good list (250 projects): ${command} Otherwise, correct the file. To check it again, run:`,
  );
  await viewlog.signal('SIGTERM');
  for (const args of [['check'], SERVE]) {
    const { code, stderr } = await run(args, { data });
    expect([code, stderr.endsWith(`${saved}\n`)]).toEqual([78, true]);
  }
  execFileSync('sh', ['-c', command], { cwd: '/' });
  expect(fs.readFileSync(path, 'utf8')).toBe(text);
  // A damaged copy can't be restored.
  fs.writeFileSync(copy, '{');
  expect((await run(['check'], { data })).stderr).not.toContain(copy);
});

test("no command is printed that copies the list into the projects file's missing directory", async () => {
  const data = tempDir();
  const path = `${dataDirectory(LIST)}/projects.json`;
  const viewlog = await startWatched({ data, args: ['--projects', path] });
  await until(() => fs.existsSync(`${data}/last-projects.json`));
  fs.renameSync(dirname(path), `${dirname(path)}-moved`);
  const saved = `saved in "${data}/last-projects.json"`;
  await viewlog.says(
    new RegExp(
      `its directory doesn't exist\\. viewlog continues with the last good list, ${saved}, but a restart would fail; move the directory back, or mount its disk$`,
      'm',
    ),
  );
  const page = await (await fetch(`${viewlog.statusUrl}/status.txt`)).text();
  expect(page).toMatch(/^The projects file is missing\n/);
  expect(page).toContain(
    `${saved}, but a restart would fail.\n  Move its directory back, or mount its disk.\n`,
  );
  const doctor = (await run(['doctor', '--projects', path], { data })).stdout;
  expect(doctor).toMatch(
    /its directory doesn't exist[^]*? {9}Move the directory back, or mount its disk\.\n/,
  );
  await viewlog.signal('SIGTERM');
  for (const args of [['check'], ['activate', '7'], SERVE]) {
    const { code, stderr } = await run([...args, '--projects', path], { data });
    expect([code, stderr]).toEqual([
      78,
      expect.stringMatching(
        /: its directory doesn't exist; move the directory back, or mount its disk\n$/,
      ),
    ]);
  }
});

test('no command is printed that restores an empty list', async () => {
  const viewlog = await startWatched();
  const path = `${viewlog.data}/projects.json`;
  fs.writeFileSync(path, '{"projects":[]}');
  const saved = `${viewlog.data}/last-projects.json`;
  await until(() => fs.existsSync(saved) && fs.readFileSync(saved, 'utf8') === '{"projects":[]}');
  fs.writeFileSync(path, '{"projects":[{"id":"1');
  await viewlog.says(/but a restart would lose it and fail; correct the file$/m);
  expect(await (await fetch(`${viewlog.statusUrl}/status.txt`)).text()).not.toContain(saved);
});

test('a projects file outside the data directory can be restored too', async () => {
  const data = tempDir();
  const path = `${dataDirectory(LIST)}/projects.json`;
  const viewlog = await startViewlog({ data, args: ['--projects', path] });
  await until(() => fs.existsSync(`${data}/last-projects.json`));
  fs.rmSync(path);
  const [, command = ''] = await viewlog.says(/mount it; otherwise, to restore it, run: (.*)$/m);
  for (const args of [['check'], ['activate', '7']]) {
    const { code, stderr } = await run([...args, '--projects', path], { data });
    expect([code, stderr.endsWith(`${command}\n`)]).toEqual([78, true]);
  }
  execFileSync('sh', ['-c', command], { cwd: '/' });
  await viewlog.says(/^Projects file fixed: 250 projects, 250 active$/m);
});

test("viewlog removes an old copy of the projects file that it can't replace", async () => {
  const data = dataDirectory();
  const [path, copy] = [`${data}/projects.json`, `${data}/last-projects.json`];
  const viewlog = await startViewlog({ data });
  await until(() => fs.existsSync(copy));
  fs.mkdirSync(`${copy}.new`);
  fs.writeFileSync(path, '{"projects":[{"id":"7"},{"id":"8"}]}');
  await until(() => !fs.existsSync(copy));
  fs.writeFileSync(path, '');
  await viewlog.says(
    / is empty\. viewlog continues with the last good list, but a restart would lose it and fail; restore /,
  );
});

test('the log warns about an edit that drops a project whose views still arrive, and the status page prints the command that restores the entry', async () => {
  const entry = {
    id: '1000001',
    name: "Jo's site",
    origins: ['https://a.example', 'https://*.a.example'],
    maxViewsPerMinute: 500,
    contact: 'jo@a.example',
  };
  const data = dataDirectory({ projects: [entry, { id: '7' }, { id: '8' }] });
  const viewlog = await startWatched({ data });
  const sent = async (): Promise<number> =>
    (await viewlog.post(MINIMAL_VIEW, { origin: 'https://a.example' })).status;
  expect(await sent()).toBe(201);
  const write = (...ids: string[]): void =>
    fs.writeFileSync(
      `${data}/projects.json`,
      JSON.stringify({ projects: ids.map((id) => ({ id })) }),
    );
  fs.writeFileSync(`${data}/projects.json`, JSON.stringify({ projects: [entry, { id: '8' }] }));
  await viewlog.says(/^Projects file reloaded: .*; no longer listed: project 7$/m);
  write('8');
  await viewlog.says(/^warning: Views of project 1000001 \(Jo's site\) were accepted in /m);
  expect(await sent()).toBe(403);
  const page = await (await fetch(`${viewlog.statusUrl}/status.txt`)).text();
  const [, command = ''] = / add the entry again:\n {4}(.*)\n/.exec(page)!;
  execFileSync('sh', ['-c', command], { cwd: '/' });
  const { projects } = JSON.parse(fs.readFileSync(`${data}/projects.json`, 'utf8')) as {
    projects: unknown[];
  };
  expect(projects).toContainEqual({ ...entry, active: true });
  await until(async () => (await sent()) === 201);
});

test('on a first start without a projects file, the printed command creates one', async () => {
  const data = `${tempDir()}/data with $`;
  fs.mkdirSync(data);
  for (let i = 0; i < 2; i++) {
    const { code, stderr } = await run(['serve', '--port=0', '--status=off'], { data });
    const [, command = ''] =
      /doesn't exist\. If the directory was moved, move it back; if its disk isn't mounted, mount it\. Otherwise, check --data or --projects, or create the file \(replace ID with a project's id\): (.*)$/m.exec(
        stderr,
      ) ?? [];
    expect([code, command]).toEqual([78, expect.stringContaining(' activate ID --data ')]);
    if (i === 1) execFileSync('sh', ['-c', command.replace(' ID ', ' 7 ')], { cwd: '/' });
  }
  expect((await startViewlog({ data })).url).toContain('http');
});

test('activate creates a projects file in the data directory of a collector that uses another projects file', async () => {
  const data = tempDir();
  const elsewhere = dataDirectory();
  const args = ['--projects', `${elsewhere}/projects.json`];
  await startViewlog({ data, args });
  await until(() => fs.existsSync(`${data}/last-start.json`));
  expect(await run(['activate', '7'], { data })).toMatchObject({ code: 0 });
});

test('activate and snippet say that the viewlog at the printed address uses another data directory', async () => {
  const { port } = await startViewlog({ data: dataDirectory() });
  const data = dataDirectory();
  const other = new RegExp(
    `:${port} uses another data directory; give its --data\\. To list the data directories of running viewlogs, run: ss -xl \\| grep -F /viewlog\\.lock$`,
    'm',
  );
  for (const words of ['activate 7', 'snippet 8']) {
    const args = [...words.split(' '), '--port', String(port)];
    const { code, stdout, stderr } = await run(args, { data });
    expect([code, stderr]).toStrictEqual([0, expect.stringMatching(other)]);
    // That viewlog would refuse the test view.
    expect(stdout).not.toContain('curl');
    // It may list the project.
    expect(stderr).not.toContain("isn't listed");
  }
});
