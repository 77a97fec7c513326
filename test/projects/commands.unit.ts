import { writeFileSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { stat, symlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { activate, deactivate } from '../../src/commands/activate.ts';
import type { Command } from '../../src/commands/command.ts';
import { check, projects } from '../../src/commands/projects.ts';
import { editProjectsFile } from '../../src/projects/edit.ts';
import { setValue } from '../../src/projects/json-edit.ts';
import { FILE_BYTES_MAX } from '../../src/projects/projects-file.ts';
import { runCommand } from '../support/run-command.ts';
import { tempDir } from '../support/temp-dir.ts';

const isRoot = process.getuid?.() === 0;

/** A projects file with this text, and commands run on it. */
async function file(text?: string) {
  const directory = tempDir();
  const path = `${directory}/projects.json`;
  if (text !== undefined) await writeFile(path, text);
  const run = (command: Command, ...args: string[]) =>
    runCommand(command, ['--projects', path, ...args]);
  return { directory, path, run, read: () => readFile(path, 'utf8') };
}

const SOON = '; a running viewlog applies it within 2 seconds';

describe('check', () => {
  test('says how many projects there are', async () => {
    const { path, run } = await file('{"projects":[{"id":"1"},{"id":"2","active":false}]}');
    expect(await run(check)).toEqual({ code: 0, out: `${path}: 2 projects, 1 active`, err: '' });
  });

  test.each([check, projects])('$name names every fault, and nothing else', async (command) => {
    const { path, run } = await file('{"projects":[1,{}]}');
    const { code, out, err } = await run(command);
    expect([code, out]).toEqual([78, '']);
    const places = [`${path}:1:14: projects[0]`, `${path}:1:16: projects[1].id`];
    expect(err.split('\n').map((line) => line.split(' ', 2).join(' '))).toEqual(places);
  });
});

test('activate creates the file, its schema and its directory', async () => {
  const { directory, run } = await file();
  const path = `${directory}/a/b/projects.json`;
  const args = ['--name', 'My "site"', '--projects', path];
  const { code, out, err } = await run(activate, '1000001', ...args);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain(
    `Project 1000001 added in ${path}: active, any origin, at most 6,000 views`,
  );
  expect(out).toContain(`Add your address to ${path}, as "operator"`);
  expect(await readFile(path, 'utf8')).toBe(`{
  "$schema": "./projects.schema.json",
  "projects": [
    {
      "id": "1000001",
      "name": "My \\"site\\"",
      "active": true,
      "maxViewsPerMinute": 6000
    }
  ]
}
`);
  const schema = new URL('../../data/projects.schema.json', import.meta.url);
  const created = await readFile(`${directory}/a/b/projects.schema.json`, 'utf8');
  expect(created).toBe(await readFile(schema, 'utf8'));
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  expect((await stat(`${directory}/a/b`)).mode & 0o777).toBe(0o750);
  expect(await readdir(`${directory}/a/b`)).toEqual(['projects.json', 'projects.schema.json']);
});

const ONE =
  '{"projects": [{"id": "1", "name": "a", "origins": ["https://a.com",  "https://b.com"]}]}';
const PAIR = '{"projects":[{"id":"1","active":false,"name":"x"},{"id":"2","active":false}]}';
const ACTIVE = 'any origin, no limit';

// What is replaced by what in the text, and what the command says of the project.
test.each<[before: string, args: string, from: string, to: string, said: string]>([
  [
    '\ufeff{ "projects":  [\r\n{ "id":"1",   "name" :"a" }  ]\r\n}',
    '2 --origin https://*.b.com --origin https://b.com',
    ' }  ]',
    ' },\r\n{ "id": "2",   "origins": ["https://*.b.com", "https://b.com"],   "active": true,   "maxViewsPerMinute": 6000 }  ]',
    'added: active, https://*.b.com https://b.com, at most 6,000 views a minute',
  ],
  [PAIR, '2', '"2","active":false', '"2","active":true', `activated: active, ${ACTIVE}`],
  [
    ONE,
    '1 --origin HTTPS://A.com:443 --origin https://c.com --origin https://C.com --name b',
    '"a", "origins": ["https://a.com",  "https://b.com"]',
    '"b", "origins": ["https://a.com",  "https://b.com",  "https://c.com"]',
    'changed: active, https://a.com https://b.com https://c.com, no limit',
  ],
  [
    ONE,
    '1 --remove-origin HTTPS://b.com:443 --origin https://c.com',
    'b.com',
    'c.com',
    'changed: active, https://a.com https://c.com, no limit',
  ],
  [
    '{ "operator": "me@a.com", "projects": [ {"id": "1",   "maxViewsPerMinute": 60},\n {"id": "2"} ] }',
    '1 --contact jo --max-views-per-minute 90',
    '60}',
    '90,   "contact": "jo"}',
    'changed: active, any origin, at most 90 views a minute',
  ],
  [
    '{ "operator": "me@a.com", "projects": [] }',
    '1 --operator me@a.com',
    '[]',
    '[{"id": "1", "active": true, "maxViewsPerMinute": 6000}]',
    'added: active, any origin, at most 6,000 views a minute',
  ],
])('in %j, activate %s changes nothing else', async (before, args, from, to, said) => {
  const { path, run, read } = await file(before);
  const { code, out, err } = await run(activate, ...args.split(' '));
  expect([code, err]).toEqual([0, '']);
  expect(before).toContain(from);
  expect(await read()).toBe(before.replace(from, to));
  expect(out.split('\n')[0]).toBe(`Project ${args[0]} ${said.replace(':', ` in ${path}:`)}${SOON}`);
});

describe('activate', () => {
  test('sets the operator, and leaves a file alone that says so already', async () => {
    const { path, run, read } = await file('{"projects":[{"id":"1","origins":["https://a.com"]}]}');
    await run(activate, '1', '--operator', 'me@a.com');
    expect(await read()).toMatch(/,"operator":"me@a.com"\}$/);
    const before = await stat(path);
    const { out } = await run(
      activate,
      '1',
      '--origin',
      'https://a.com:443',
      '--operator',
      'me@a.com',
    );
    expect(out).toContain(`Project 1 unchanged in ${path}: active, https://a.com, no limit\n`);
    expect(await stat(path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  });

  test('prints commands for this installation: file, address, an allowed origin', async () => {
    const { path, run } = await file();
    const printed = async (...args: string[]) => {
      const { out } = await run(activate, '1', ...args);
      return out.split('\n').filter((line) => /^ {2}(viewlog|curl) /.test(line));
    };
    const snippet = (url: string): string => `  viewlog snippet 1 --url ${url} --projects ${path}`;
    expect(await printed('--port', '8090')).toEqual([
      snippet('http://127.0.0.1:8090'),
      expect.stringContaining(' http://127.0.0.1:8090/view '),
    ]);
    const wild = ['--origin', 'https://*.a.com', '--origin', 'http://localhost:3000'];
    expect(await printed(...wild)).toEqual([
      snippet('http://127.0.0.1:8080'),
      expect.stringContaining("'Origin: https://www.a.com'"),
    ]);
    const [own] = await printed('--origin', 'HTTPS://www.a.com:443');
    expect(own).toBe(snippet('https://www.a.com'));
  });

  test('removes the last origin only for another', async () => {
    const one = '{"projects": [{"id": "1", "origins": ["https://c.com"]}]}';
    const { run, read } = await file(one);
    const remove = ['1', '--remove-origin', 'https://c.com'];
    const err = expect.stringContaining('no origin left');
    expect(await run(activate, ...remove)).toEqual({ code: 64, out: '', err });
    expect(await read()).toBe(one);
    await run(activate, ...remove, '--origin', 'https://d.com');
    expect(await read()).toBe(one.replace('c.com', 'd.com'));
  });

  test.each([
    [
      '1 --origin https://b.com',
      /^Project 1 accepted views from every site; now it refuses other origins$/,
    ],
    ['2 --origin https://b.com', /^$/],
    [
      '100001',
      /^Project 100001 is new, and one typo away from 1000001; to undo it: viewlog deactivate 100001 --projects /,
    ],
    ['10000001', /one typo away/],
    ['1000010', /one typo away/],
    ['1000301', /one typo away/],
    ['1000345', /^$/],
    ['1000002', /^$/],
  ])('%s warns of what may be a mistake, and does it', async (args, warning) => {
    const listed = '{"id":"1"},{"id":"2","active":false}';
    const { run, read } = await file(`{"projects":[${listed},{"id":"1000001"}]}`);
    const [id = '', ...flags] = args.split(' ');
    expect(await run(activate, id, ...flags)).toMatchObject({
      code: 0,
      err: expect.stringMatching(warning),
    });
    expect(await read()).toContain(`"${id}"`);
  });
});

describe('deactivate', () => {
  test('sets a project inactive, and touches nothing else', async () => {
    const { path, run, read } = await file(
      '{"projects": [{"id": "1"}, {"id": "2", "active": true}]}',
    );
    const says = async (id: string) => (await run(deactivate, id)).out.replace(` in ${path}`, '');
    expect(await says('2')).toBe(`Project 2 deactivated: inactive, its views are refused${SOON}`);
    await says('1');
    const text = '{"projects": [{"id": "1", "active": false}, {"id": "2", "active": false}]}';
    expect(await read()).toBe(text);
    expect(await says('1')).toBe('Project 1 unchanged: inactive, its views are refused');
  });

  test('refuses a project that is not listed, and creates no file', async () => {
    const { directory, path, run } = await file('{"projects":[{"id":"1"}]}');
    const unknown = { code: 64, err: `Project 2 is not listed in ${path}` };
    expect(await run(deactivate, '2')).toMatchObject(unknown);
    const none = `${directory}/none/projects.json`;
    expect(await run(deactivate, '2', '--projects', none)).toMatchObject({ code: 78 });
    expect(await readdir(directory)).toEqual(['projects.json']);
  });
});

test('projects lists what is in the file, as text that is safe to show', async () => {
  const listed = [
    { id: '1000001', name: 'Ours\u001b[2J', origins: ['https://a.com', 'https://*.b.com'] },
    { id: '2', active: false, maxViewsPerMinute: 60, contact: 'jo@a.com' },
    { id: '3', name: '日本語サイト' },
  ];
  const { run } = await file(JSON.stringify({ projects: listed }));
  expect((await run(projects)).out.split('\n')).toEqual([
    'ID       ACTIVE  NAME           ORIGINS                        VIEWS/MINUTE  CONTACT',
    '1000001  yes     Ours\\u001b[2J  https://a.com https://*.b.com  no limit      -',
    '2        no      -              any                            60            jo@a.com',
    '3        yes     日本語サイト   any                            no limit      -',
  ]);
});

test('projects says how to add the first', async () => {
  const { path, run } = await file('{"projects":[]}');
  const { out } = await run(projects);
  expect(out).toBe(`No projects in ${path}; add one: viewlog activate ID --projects ${path}`);
});

describe('a command line is refused, and nothing changes', () => {
  test.each([
    [activate, [], 'activate takes one project id'],
    [activate, ['1', '2'], 'activate takes one project id'],
    [deactivate, [], 'deactivate takes one project id'],
    [activate, ['x1'], 'found "x1"'],
    [activate, ['1'.repeat(21)], 'must be a string of 1 to 20 digits'],
    [deactivate, [''], 'found ""'],
    [activate, ['1', '--origin', 'https://b.com/'], '--origin must end after its host'],
    [activate, ['1', '--remove-origin', 'b.com'], '--remove-origin must start with https://'],
    [activate, ['1', '--operator', 'me'], '--operator must be an e-mail address'],
    [activate, ['1', '--max-views-per-minute', '0'], 'must be a whole number from 1'],
    [check, ['x'], 'check takes no argument, not "x"'],
  ])('$name $1', async (command, args, why) => {
    const { run, read } = await file('{"projects":[]}');
    const err = expect.stringContaining(why);
    expect(await run(command, ...args)).toEqual({ code: 64, out: '', err });
    expect(await read()).toBe('{"projects":[]}');
  });

  test.each([activate, deactivate])('$name of a project in a faulty file', async (command) => {
    const text = '{"projects":[{"id":"1"},{"id":2},3]}';
    const { directory, run, read } = await file(text);
    const { code, err } = await run(command, '1');
    expect(code).toBe(78);
    expect(err).toMatch(/projects\.json:1:31: .*\n.*projects\.json:1:34: [^\n]*$/);
    expect(await read()).toBe(text);
    expect(await readdir(directory)).toEqual(['projects.json']);
  });

  test('activate in a file that cannot be read or written', async () => {
    const { directory, path, run } = await file('{"projects":[]}');
    await symlink('elsewhere.json', `${directory}/link`);
    for (const [name, code, err] of [
      [`${path}/projects.json`, 78, /^Cannot read projects file ".*": ENOTDIR: not a directory/],
      [`${directory}/${'x'.repeat(252)}`, 73, /^Cannot write projects file ".*x": ENAMETOOLONG/],
      [`${directory}/link`, 73, /^Cannot write projects file ".*link": ENOENT/],
    ] as const) {
      const message = { code, err: expect.stringMatching(err) };
      expect(await run(activate, '1', '--projects', name)).toMatchObject(message);
    }
  });
});

describe('an edit', () => {
  test('makes no file that is too large for a collector', async () => {
    // Deactivating the project adds 15 bytes.
    const sized = (bytes: number): string => {
      const text = '{"projects":[{"id":"1","name":""}]}';
      return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`);
    };
    const largest = await file(sized(FILE_BYTES_MAX - 15));
    expect((await largest.run(deactivate, '1')).code).toBe(0);
    expect(await largest.read()).toHaveLength(FILE_BYTES_MAX);
    const { directory, run } = await file(sized(FILE_BYTES_MAX - 14));
    const err = expect.stringContaining('it would be too large (4194305 bytes, over 4 MiB)');
    expect(await run(deactivate, '1')).toMatchObject({ code: 73, err });
    expect(await readdir(directory)).toEqual(['projects.json']);
  });

  test('keeps the mode of the file', async () => {
    const { path, run } = await file('{"projects":[]}');
    await chmod(path, 0o604);
    await run(activate, '1');
    expect((await stat(path)).mode & 0o7777).toBe(0o604);
  });

  test.runIf(isRoot)("keeps the owner, and gives a new file its directory's", async () => {
    const { directory, path, run } = await file('{"projects":[]}');
    await chown(path, 1234, 2345);
    await run(activate, '1');
    expect(await stat(path)).toMatchObject({ uid: 1234, gid: 2345 });
    await mkdir(`${directory}/new`);
    await chown(`${directory}/new`, 3456, 4567);
    await run(activate, '1', '--projects', `${directory}/new/projects.json`);
    for (const name of ['projects.json', 'projects.schema.json']) {
      expect(await stat(`${directory}/new/${name}`)).toMatchObject({ uid: 3456, gid: 4567 });
    }
  });

  test('keeps symbolic links, to files and to directories', async () => {
    const { directory, path, run } = await file();
    await mkdir(`${directory}/..1`);
    await writeFile(`${directory}/..1/projects.json`, '{"projects":[]}');
    await symlink('..1', `${directory}/..data`);
    await symlink('..data/projects.json', path);
    expect((await run(activate, '7')).code).toBe(0);
    expect(await readlink(path)).toBe('..data/projects.json');
    expect(await readlink(`${directory}/..data`)).toBe('..1');
    expect(await readFile(`${directory}/..1/projects.json`, 'utf8')).toContain('"7"');
    expect(await readdir(`${directory}/..1`)).toEqual(['projects.json']);
  });

  test('starts over if an editor saves the file meanwhile', async () => {
    const { directory, path, read } = await file('{"projects":[{"id":"1"}]}');
    const saved = '{"projects":[{"id":"2"}]}';
    let calls = 0;
    const change = (text: string): string => {
      if (++calls === 1) writeFileSync(path, saved);
      return setValue(text, ['projects', 0, 'active'], false);
    };
    expect(await editProjectsFile({ path, canCreate: false, change })).toBe('changed');
    expect([calls, await read()]).toEqual([2, saved.replace('"2"', '"2","active":false')]);
    expect(await readdir(directory)).toEqual(['projects.json']);
  });

  test('waits for another edit, and names the draft that a killed one left', async () => {
    const { path, run, read } = await file('{"projects":[]}');
    await writeFile(`${path}.draft`, 'half');
    const edit = run(activate, '1');
    await sleep(300);
    expect(await read()).toBe('{"projects":[]}');
    await writeFile(path, '{"projects":[{"id":"2"}]}');
    await rm(`${path}.draft`);
    expect((await edit).code).toBe(0);
    expect(JSON.parse(await read()).projects).toMatchObject([{ id: '2' }, { id: '1' }]);
    await writeFile(`${path}.draft`, 'half');
    const err = expect.stringContaining(`"${path}.draft" exists`);
    expect(await run(activate, '3')).toMatchObject({ code: 73, err });
    expect(await readFile(`${path}.draft`, 'utf8')).toBe('half');
  });
});
