import { writeFileSync } from 'node:fs';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
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

/** Runs a command that has to succeed on a file with the text `before`. */
async function edited(before: string, command: Command, ...args: string[]) {
  const { run, read } = await file(before);
  const { code, out, err } = await run(command, ...args);
  expect([code, err]).toEqual([0, '']);
  return { text: await read(), said: out.split('\n')[0]!.replace(/ in \S+:/, ':') };
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
    expect(err.split('\n').map((line) => line.split(' ', 2).join(' '))).toEqual([
      `${path}:1:14: projects[0]`,
      `${path}:1:16: projects[1].id`,
    ]);
  });

  test('names the command that creates a missing file', async () => {
    const { path, run } = await file();
    const { code, err } = await run(check);
    expect([code, err]).toEqual([
      78,
      `Cannot read projects file "${path}": it doesn't exist; create it: viewlog activate ID --projects ${path}`,
    ]);
  });
});

describe('activate', () => {
  test('creates the file, its schema and its directory', async () => {
    const { directory, run } = await file();
    const path = `${directory}/a/b/projects.json`;
    const { code, out, err } = await run(
      activate,
      '1000001',
      '--name',
      'My "site"',
      '--projects',
      path,
    );
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
    expect(await readFile(`${directory}/a/b/projects.schema.json`, 'utf8')).toBe(
      await readFile(schema, 'utf8'),
    );
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect((await stat(`${directory}/a/b`)).mode & 0o777).toBe(0o750);
    expect(await readdir(`${directory}/a/b`)).toEqual(['projects.json', 'projects.schema.json']);
  });

  test('adds a project, and touches nothing else', async () => {
    const before = '\ufeff{ "projects":  [\r\n{ "id":"1",   "name" :"a" }  ]\r\n}';
    const origins = ['--origin', 'https://*.b.com', '--origin', 'https://b.com'];
    const { text, said } = await edited(before, activate, '2', ...origins);
    expect(said).toBe(
      `Project 2 added: active, https://*.b.com https://b.com, at most 6,000 views a minute${SOON}`,
    );
    const project =
      '{ "id": "2",   "origins": ["https://*.b.com", "https://b.com"],   "active": true,   "maxViewsPerMinute": 6000 }';
    expect(text).toBe(before.replace(' }  ]', ` },\r\n${project}  ]`));
  });

  test('sets an inactive project active, and leaves its limit alone', async () => {
    const before = '{"projects":[{"id":"1","active":false,"name":"x"},{"id":"2","active":false}]}';
    const { text, said } = await edited(before, activate, '2');
    expect(said).toBe(`Project 2 activated: active, any origin, no limit${SOON}`);
    expect(text).toBe(before.replace('"2","active":false', '"2","active":true'));
  });

  test('adds origins that are not listed yet, and sets the name', async () => {
    const before = '{"projects": [{"id": "1", "name": "a", "origins": ["https://a.com"]}]}';
    const origins = ['HTTPS://A.com:443', 'https://b.com', 'https://B.com', 'https://*.a.com'];
    const args = origins.flatMap((origin) => ['--origin', origin]);
    expect((await edited(before, activate, '1', '--name', 'b', ...args)).text).toBe(
      before
        .replace('"https://a.com"', '"https://a.com", "https://b.com", "https://*.a.com"')
        .replace('"a"', '"b"'),
    );
  });

  test('sets limit, contact and operator, and touches nothing else', async () => {
    const before =
      '{ "projects": [ {"id": "1",   "maxViewsPerMinute": 60, "name": "a"},\n {"id": "2"} ] }';
    const args = ['--contact', 'jo', '--operator', 'me@a.com', '--max-views-per-minute', '90'];
    const { text } = await edited(before, activate, '1', ...args);
    expect(text).toBe(
      '{ "projects": [ {"id": "1",   "maxViewsPerMinute": 90, "name": "a", "contact": "jo"},\n {"id": "2"} ], "operator": "me@a.com" }',
    );
    const again = await edited(text, activate, '1', '--operator', 'you@a.com');
    expect(again.text).toBe(text.replace('me@', 'you@'));
  });

  test('warns that the first origin closes a project that was open to all', async () => {
    const { run } = await file('{"projects": [{"id": "1"}, {"id": "2", "active": false}]}');
    const { code, err } = await run(activate, '1', '--origin', 'https://a.com');
    expect([code, err]).toEqual([
      0,
      'Project 1 accepted views from every site; now it refuses other origins',
    ]);
    for (const id of ['1', '2', '34567']) {
      expect(await run(activate, id, '--origin', 'https://b.com')).toMatchObject({
        code: 0,
        err: '',
      });
    }
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

  test('removes origins, but not the last one', async () => {
    const before = '{"projects": [{"id": "1", "origins": ["https://a.com",  "https://b.com"]}]}';
    const { run, read } = await file(before);
    await run(activate, '1', '--remove-origin', 'HTTPS://b.com:443', '--origin', 'https://c.com');
    expect(await read()).toBe(before.replace('b.com', 'c.com'));
    await run(activate, '1', '--remove-origin', 'https://a.com');
    const one = '{"projects": [{"id": "1", "origins": ["https://c.com"]}]}';
    expect(await read()).toBe(one);
    const last = await run(activate, '1', '--remove-origin', 'https://c.com');
    expect(last).toEqual({ code: 64, out: '', err: expect.stringContaining('no origin left') });
    expect(await read()).toBe(one);
    await run(activate, '1', '--remove-origin', 'https://c.com', '--origin', 'https://d.com');
    expect(await read()).toBe(one.replace('c.com', 'd.com'));
  });

  test.each(['100001', '10000001', '1000010', '1000301'])(
    'warns of the new id %s, one typo away from a listed one, and adds it',
    async (id) => {
      const { path, run, read } = await file('{"projects": [{"id": "1000001"}]}');
      expect(await run(activate, id)).toMatchObject({
        code: 0,
        err: `Project ${id} is new, and one typo away from 1000001; to undo it: viewlog deactivate ${id} --projects ${path}`,
      });
      expect(await read()).toContain(`"${id}"`);
      for (const other of [id, '1000345', '1000002']) {
        expect(await run(activate, other)).toMatchObject({ code: 0, err: '' });
      }
    },
  );

  test('does not touch a file that says so already', async () => {
    const { path, run } = await file('{"projects":[{"id":"1","origins":["https://a.com"]}]}');
    const before = await stat(path);
    const { out } = await run(activate, '1', '--origin', 'https://a.com:443');
    expect(out).toContain(`Project 1 unchanged in ${path}: active, https://a.com, no limit\n`);
    expect(await stat(path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  });
});

describe('deactivate', () => {
  test('sets a project inactive, and touches nothing else', async () => {
    const before = '{"projects": [{"id": "1"}, {"id": "2", "active": true}]}';
    const second = await edited(before, deactivate, '2');
    expect(second.said).toBe(`Project 2 deactivated: inactive, its views are refused${SOON}`);
    const { text } = await edited(second.text, deactivate, '1');
    expect(text).toBe('{"projects": [{"id": "1", "active": false}, {"id": "2", "active": false}]}');
    const again = await edited(text, deactivate, '1');
    expect(again).toEqual({ text, said: 'Project 1 unchanged: inactive, its views are refused' });
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

describe('projects', () => {
  test('lists what is in the file, as text that is safe to show', async () => {
    const { run } = await file(
      JSON.stringify({
        projects: [
          { id: '1000001', name: 'Ours\u001b[2J', origins: ['https://a.com', 'https://*.b.com'] },
          { id: '2', active: false, maxViewsPerMinute: 60, contact: 'jo@a.com' },
          { id: '3', name: '日本語サイト' },
        ],
      }),
    );
    expect((await run(projects)).out.split('\n')).toEqual([
      'ID       ACTIVE  NAME           ORIGINS                        VIEWS/MINUTE  CONTACT',
      '1000001  yes     Ours\\u001b[2J  https://a.com https://*.b.com  no limit      -',
      '2        no      -              any                            60            jo@a.com',
      '3        yes     日本語サイト   any                            no limit      -',
    ]);
  });

  test('says how to add the first', async () => {
    const { path, run } = await file('{"projects":[]}');
    const { code, out } = await run(projects);
    expect([code, out]).toEqual([
      0,
      `No projects in ${path}; add one: viewlog activate ID --projects ${path}`,
    ]);
  });
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
  ])('$name $1', async (command, args, err) => {
    const { run, read } = await file('{"projects":[]}');
    expect(await run(command, ...args)).toEqual({
      code: 64,
      out: '',
      err: expect.stringContaining(err),
    });
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

  test('activate in a link to a file that does not exist, which a new file would replace', async () => {
    const { path, run } = await file();
    await symlink('elsewhere.json', path);
    const { code, err } = await run(activate, '1');
    expect([code, err]).toEqual([73, expect.stringContaining('is a symbolic link to a file')]);
    expect(await readlink(path)).toBe('elsewhere.json');
  });

  test('activate in a file that cannot be read or written', async () => {
    const { directory, path, run } = await file('{"projects":[]}');
    const below = await run(activate, '1', '--projects', `${path}/projects.json`);
    expect(below.code).toBe(78);
    expect(below.err).toMatch(/^Cannot read projects file ".*": ENOTDIR: not a directory/);
    const beside = await run(activate, '1', '--projects', `${directory}/${'x'.repeat(252)}`);
    expect(beside.code).toBe(73);
    expect(beside.err).toMatch(/^Cannot write projects file ".*x": ENAMETOOLONG/);
  });
});

describe('an edit', () => {
  /** A file of this size, with project 1. */
  const sized = (bytes: number): string => {
    const text = '{"projects":[{"id":"1","name":""}]}';
    return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`);
  };

  test('makes no file that is too large for a collector', async () => {
    const growth = (await edited(sized(1000), deactivate, '1')).text.length - 1000;
    const largest = await edited(sized(FILE_BYTES_MAX - growth), deactivate, '1');
    expect(largest.text).toHaveLength(FILE_BYTES_MAX);
    const before = sized(FILE_BYTES_MAX - growth + 1);
    const { directory, run, read } = await file(before);
    const { code, err } = await run(deactivate, '1');
    expect([code, err]).toEqual([73, expect.stringContaining('(4194305 bytes, over 4 MiB)')]);
    expect(await read()).toBe(before);
    expect(await readdir(directory)).toEqual(['projects.json']);
  });

  test('keeps the mode of the file', async () => {
    const { path, run } = await file('{"projects":[]}');
    await chmod(path, 0o604);
    await run(activate, '1');
    expect((await stat(path)).mode & 0o7777).toBe(0o604);
  });

  test.runIf(isRoot)(
    "keeps the owner of the file, and gives a new one its directory's",
    async () => {
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
    },
  );

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

  test('gives way to an editor that saves the file meanwhile', async () => {
    const { directory, path, read } = await file('{"projects":[{"id":"1"}]}');
    const change = (text: string): string => {
      writeFileSync(path, '{"projects":[{"id":"2"}]}');
      return setValue(text, ['projects', 0, 'active'], false);
    };
    await expect(editProjectsFile({ path, canCreate: false, change })).rejects.toMatchObject({
      exitCode: 73,
      message: expect.stringContaining('another program changed it meanwhile'),
    });
    expect(await read()).toBe('{"projects":[{"id":"2"}]}');
    expect(await readdir(directory)).toEqual(['projects.json']);
  });

  test('waits for another edit', async () => {
    const { path, run, read } = await file('{"projects":[]}');
    await writeFile(`${path}.draft`, 'half');
    const edit = run(activate, '1');
    await sleep(300);
    expect(await read()).toBe('{"projects":[]}');
    await writeFile(path, '{"projects":[{"id":"2"}]}');
    await rm(`${path}.draft`);
    expect((await edit).code).toBe(0);
    expect(JSON.parse(await read()).projects).toMatchObject([{ id: '2' }, { id: '1' }]);
  });

  test('names the draft that a killed one left, and leaves it alone', async () => {
    const { path, run } = await file('{"projects":[]}');
    await writeFile(`${path}.draft`, 'half');
    const { code, err } = await run(activate, '1');
    expect([code, err]).toEqual([73, expect.stringContaining(`"${path}.draft" exists`)]);
    expect(await readFile(`${path}.draft`, 'utf8')).toBe('half');
  });
});
