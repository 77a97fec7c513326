import { rmSync, writeFileSync } from 'node:fs';
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
  utimes,
  writeFile,
} from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { activate } from '../../src/commands/activate.ts';
import { check } from '../../src/commands/check.ts';
import type { Command } from '../../src/commands/command.ts';
import { deactivate } from '../../src/commands/deactivate.ts';
import { projects } from '../../src/commands/projects.ts';
import { editProjectsFile } from '../../src/projects/edit.ts';
import { FILE_BYTES_MAX } from '../../src/projects/projects-file.ts';
import { setValue } from '../../src/projects/json-edit.ts';
import { tempDir } from '../support/temp-dir.ts';
import { runCommand } from '../support/run-command.ts';

const SOON = 'a running viewlog takes it up within 2 seconds';
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

/** An output that begins with these lines; how to go on from there follows. */
const first = (lines: string): unknown =>
  expect.stringMatching(
    new RegExp(
      `^${lines.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)}\nThe script for its pages:`,
    ),
  );

describe('check', () => {
  test('says how many projects there are', async () => {
    const { path, run } = await file('{"projects":[{"id":"1"},{"id":"2","active":false}]}');
    expect(await run(check)).toEqual({
      code: 0,
      out: `${path}: 2 projects, 1 active`,
      err: '',
    });
  });

  test('says every fault, and nothing else', async () => {
    const { path, run } = await file('{"projects":[1,{}]}');
    const result = await run(check);
    expect(result).toMatchObject({ code: 78, out: '' });
    expect(result.err.split('\n').map((line) => line.split(' ', 2).join(' '))).toEqual([
      `${path}:1:14: projects[0]`,
      `${path}:1:16: projects[1].id`,
    ]);
  });

  test('says what makes a missing file', async () => {
    const { path, run } = await file();
    expect(await run(check)).toMatchObject({
      code: 78,
      err: `Cannot read projects file "${path}": it does not exist; "viewlog activate ID --projects ${path}" makes it`,
    });
  });
});

describe('activate', () => {
  test('makes the file, its schema and its directory, where there is none', async () => {
    const { directory, run } = await file();
    const path = `${directory}/a/b/projects.json`;
    const result = await run(activate, '1000001', '--name', 'Our "site"', '--projects', path);
    expect(result).toEqual({
      code: 0,
      out: first(
        `Project 1000001 added in ${path}: active, any origin, at most 6000 views a minute; ${SOON}\n` +
          `Add your address to ${path}, as "operator": sites are told to write to it`,
      ),
      err: '',
    });
    expect(await readFile(path, 'utf8')).toBe(`{
  "$schema": "./projects.schema.json",
  "projects": [
    {
      "id": "1000001",
      "name": "Our \\"site\\"",
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
    const { path, run, read } = await file(before);
    const result = await run(
      activate,
      '2',
      '--origin',
      'https://*.b.com',
      '--origin',
      'https://b.com',
    );
    expect(result).toMatchObject({
      code: 0,
      out: first(
        `Project 2 added in ${path}: active, https://*.b.com https://b.com, at most 6000 views a minute; ${SOON}`,
      ),
    });
    const project =
      '{ "id": "2",   "origins": ["https://*.b.com", "https://b.com"],   "active": true,   "maxViewsPerMinute": 6000 }';
    expect(await read()).toBe(before.replace(' }  ]', ` },\r\n${project}  ]`));
  });

  test('sets an inactive project active, and leaves its limit alone', async () => {
    const before = '{"projects":[{"id":"1","active":false,"name":"x"},{"id":"2","active":false}]}';
    const { path, run, read } = await file(before);
    expect(await run(activate, '2')).toMatchObject({
      code: 0,
      out: first(`Project 2 activated in ${path}: active, any origin, no limit; ${SOON}`),
    });
    expect(await read()).toBe(before.replace('"2","active":false', '"2","active":true'));
  });

  test('adds origins that are not listed yet, and sets the name', async () => {
    const before =
      '{"projects": [{"id": "1", "name": "a", "origins": ["https://a.com"], "maxViewsPerMinute": 1}]}';
    const { path, run, read } = await file(before);
    const origins = ['HTTPS://A.com:443', 'https://b.com', 'https://B.com', 'https://*.a.com'];
    const args = origins.flatMap((origin) => ['--origin', origin]);
    expect(await run(activate, '1', '--name', 'b', ...args)).toMatchObject({
      code: 0,
      out: first(
        `Project 1 changed in ${path}: active, https://a.com https://b.com https://*.a.com, at most 1 view a minute; ${SOON}`,
      ),
    });
    expect(await read()).toBe(
      before
        .replace('"https://a.com"', '"https://a.com", "https://b.com", "https://*.a.com"')
        .replace('"a"', '"b"'),
    );
  });

  test('sets limit, contact and operator, and touches nothing else', async () => {
    const before =
      '{ "projects": [ {"id": "1",   "maxViewsPerMinute": 60, "name": "a"},\n {"id": "2"} ] }';
    const { path, run, read } = await file(before);
    const args = ['--contact', 'jo', '--operator', 'me@a.com', '--max-views-per-minute', '90'];
    expect(await run(activate, '1', ...args)).toMatchObject({
      code: 0,
      out: first(
        `Project 1 changed in ${path}: active, any origin, at most 90 views a minute; ${SOON}`,
      ),
      err: '',
    });
    expect(await read()).toBe(
      '{ "projects": [ {"id": "1",   "maxViewsPerMinute": 90, "name": "a", "contact": "jo"},\n {"id": "2"} ], "operator": "me@a.com" }',
    );
    await run(activate, '1', '--operator', 'you@a.com');
    expect(await read()).toContain('"operator": "you@a.com"');
  });

  test('makes a file with all of that in it', async () => {
    const { path, run, read } = await file();
    const args = ['--contact', 'jo', '--operator', 'me@a.com', '--max-views-per-minute', '9'];
    const { out } = await run(activate, '1', ...args);
    expect(out).not.toContain('Add your address');
    expect(JSON.parse(await read())).toEqual({
      $schema: './projects.schema.json',
      projects: [{ id: '1', active: true, maxViewsPerMinute: 9, contact: 'jo' }],
      operator: 'me@a.com',
    });
    expect((await run(check)).out).toBe(`${path}: 1 project, 1 active`);
  });

  test('says that the first origin closes a project that was open to all', async () => {
    const { run } = await file('{"projects": [{"id": "1"}, {"id": "2", "active": false}]}');
    const args = ['--origin', 'https://a.com'];
    expect(await run(activate, '1', ...args)).toMatchObject({
      code: 0,
      err: 'Project 1 took views from every site until now; from all but the origins listed now they are refused with 403',
    });
    for (const id of ['1', '2', '34567']) {
      const origin = ['--origin', 'https://b.com'];
      expect(await run(activate, id, ...origin)).toMatchObject({ code: 0, err: '' });
    }
  });

  test('names the address that pages post to: their own origin, or the collector', async () => {
    const { path, run } = await file();
    const told = async (...args: string[]): Promise<unknown> =>
      (await run(activate, '1', ...args)).out
        .split('\n')
        .find((line) => /^ .* snippet /.test(line));
    const command = (url: string): string => `  viewlog snippet 1 --url ${url} --projects ${path}`;
    expect(await told('--port', '8090')).toBe(command('http://127.0.0.1:8090'));
    const wild = ['--origin', 'https://*.a.com', '--origin', 'http://localhost:3000'];
    expect(await told(...wild)).toBe(command('http://127.0.0.1:8080'));
    expect(await told('--origin', 'HTTPS://www.a.com:443')).toBe(command('https://www.a.com'));
  });

  test('takes origins off the list, but not the last', async () => {
    const before = '{"projects": [{"id": "1", "origins": ["https://a.com",  "https://b.com"]}]}';
    const { run, read } = await file(before);
    await run(activate, '1', '--remove-origin', 'HTTPS://b.com:443', '--origin', 'https://c.com');
    expect(await read()).toBe(before.replace('b.com', 'c.com'));
    await run(activate, '1', '--remove-origin', 'https://a.com');
    expect(await read()).toBe('{"projects": [{"id": "1", "origins": ["https://c.com"]}]}');
    expect(await run(activate, '1', '--remove-origin', 'https://c.com')).toEqual({
      code: 64,
      out: '',
      err: 'Project 1 would have no origin left; give the new one with --origin in the same command, or delete "origins" from the file to let every site send, or "viewlog deactivate 1" to let none',
    });
    expect(await read()).toBe('{"projects": [{"id": "1", "origins": ["https://c.com"]}]}');
    const moved = ['--remove-origin', 'https://c.com', '--origin', 'https://d.com'];
    expect((await run(activate, '1', ...moved)).code).toBe(0);
    expect(await read()).toBe('{"projects": [{"id": "1", "origins": ["https://d.com"]}]}');
  });

  test('says of an origin to remove that it is not listed', async () => {
    const { run } = await file('{"projects": [{"id": "1", "origins": ["https://a.com"]}]}');
    const { code, err } = await run(activate, '1', '--remove-origin', 'https://b.com');
    expect([code, err]).toEqual([
      0,
      '--remove-origin https://b.com: project 1 does not list it; it lists https://a.com',
    ]);
  });

  test.each(['100001', '10000001', '1000010', '1000301'])(
    'warns of the new id %s, a slip away from a listed one, and adds it',
    async (id) => {
      const { run, read } = await file('{"projects": [{"id": "1000001"}]}');
      expect(await run(activate, id)).toMatchObject({
        code: 0,
        err: `Project ${id} is new, and a slip away from 1000001; if that one was meant, "viewlog deactivate ${id}"`,
      });
      expect(await read()).toContain(`"${id}"`);
      expect(await run(activate, id)).toMatchObject({ code: 0, err: '' });
      for (const far of ['1000345', '1000002']) {
        expect(await run(activate, far)).toMatchObject({ code: 0, err: '' });
      }
    },
  );

  test('does not touch a file that says so already', async () => {
    const { path, run } = await file('{"projects":[{"id":"1","origins":["https://a.com"]}]}');
    const before = await stat(path);
    expect(await run(activate, '1', '--origin', 'https://a.com:443')).toMatchObject({
      code: 0,
      out: first(`Project 1 as it was in ${path}: active, https://a.com, no limit`),
    });
    expect(await stat(path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  });
});

describe('a file that collectors read', () => {
  /** A sound file of this size, with project 1. */
  const sized = (bytes: number): string => {
    const text = '{"projects":[{"id":"1","name":""}]}';
    return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`);
  };

  test.each([
    [activate, '2'],
    [deactivate, '1'],
  ])('has at most 4 MiB, also after an edit: $name', async (command, id) => {
    const bytes = 1000;
    const small = await file(sized(bytes));
    await small.run(command, id);
    const growth = Buffer.byteLength(await small.read()) - bytes;
    expect(growth).toBeGreaterThan(0);

    const largest = await file(sized(FILE_BYTES_MAX - growth));
    expect(await largest.run(command, id)).toMatchObject({ code: 0, err: '' });
    expect((await stat(largest.path)).size).toBe(FILE_BYTES_MAX);
    expect((await largest.run(check)).code).toBe(0);

    const before = sized(FILE_BYTES_MAX - growth + 1);
    const { directory, path, run, read } = await file(before);
    expect(await run(command, id)).toEqual({
      code: 73,
      out: '',
      err: `Cannot write projects file "${path}": it would be too large (4194305 bytes, over 4 MiB)`,
    });
    expect(await read()).toBe(before);
    expect(await readdir(directory)).toEqual(['projects.json']);
  });
});

describe('deactivate', () => {
  test('sets a project inactive, and touches nothing else', async () => {
    const before = '{"projects": [{"id": "1"}, {"id": "2", "active": true}]}';
    const { path, run, read } = await file(before);
    const out = `in ${path}: inactive, its views refused`;
    expect(await run(deactivate, '2')).toMatchObject({
      code: 0,
      out: `Project 2 deactivated ${out}; ${SOON}`,
    });
    expect(await run(deactivate, '1')).toMatchObject({ code: 0 });
    expect(await run(deactivate, '1')).toMatchObject({
      code: 0,
      out: `Project 1 as it was ${out}`,
    });
    expect(await read()).toBe(
      '{"projects": [{"id": "1", "active": false}, {"id": "2", "active": false}]}',
    );
  });

  test('refuses a project that is not listed, and makes no file', async () => {
    const { directory, path, run } = await file('{"projects":[{"id":"1"}]}');
    expect(await run(deactivate, '2')).toMatchObject({
      code: 64,
      err: `Project 2 is not listed in ${path}`,
    });
    expect(await readdir(directory)).toEqual(['projects.json']);
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
        ],
      }),
    );
    expect((await run(projects)).out.split('\n')).toEqual([
      'ID       ACTIVE  NAME           ORIGINS                        VIEWS/MINUTE  CONTACT',
      '1000001  yes     Ours\\u001b[2J  https://a.com https://*.b.com  no limit      -',
      '2        no      -              any                            60            jo@a.com',
    ]);
  });

  test('has its columns under one another, however wide the names are', async () => {
    const names = ['日本語サイト', 'Cafe\u0301', '👍', 'Ours'];
    const { run } = await file(
      JSON.stringify({ projects: names.map((name, i) => ({ id: String(i), name })) }),
    );
    expect((await run(projects)).out.split('\n').slice(1)).toEqual([
      '0   yes     日本語サイト  any      no limit      -',
      '1   yes     Cafe\u0301          any      no limit      -',
      '2   yes     👍            any      no limit      -',
      '3   yes     Ours          any      no limit      -',
    ]);
  });

  test('says how to add the first', async () => {
    const { path, run } = await file('{"projects":[]}');
    expect(await run(projects)).toMatchObject({
      code: 0,
      out: `No projects in ${path}; "viewlog activate ID" adds one`,
    });
  });

  test('says every fault of a faulty file', async () => {
    const { run } = await file('{"projects":[1,2]}');
    const { code, err } = await run(projects);
    expect([code, err.split('\n').length]).toEqual([78, 2]);
  });
});

describe('what is refused', () => {
  const oneId = (command: string) =>
    `${command} takes one project id, as in "viewlog ${command} 1000001"`;
  const id = 'A project id must be a string of 1 to 20 digits, such as "1000001"; found';
  test.each([
    [activate, [], oneId('activate')],
    [activate, ['1', '2'], oneId('activate')],
    [deactivate, [], oneId('deactivate')],
    [deactivate, ['1', '2'], oneId('deactivate')],
    [activate, ['x1'], `${id} "x1"`],
    [activate, ['1'.repeat(21)], `${id} "${'1'.repeat(21)}"`],
    [deactivate, [''], `${id} ""`],
    [
      activate,
      ['1', '--origin', 'https://a.com', '--origin', 'https://b.com/'],
      '--origin must end after its host and port, as in "https://b.com"; found "https://b.com/"',
    ],
    [
      activate,
      ['1', '--remove-origin', 'b.com'],
      '--remove-origin must start with https:// or http://, as in "https://www.example.com"; found "b.com"',
    ],
    [
      activate,
      ['1', '--operator', 'me'],
      '--operator must be an e-mail address, such as views@example.com, not "me"',
    ],
    [
      activate,
      ['1', '--max-views-per-minute', '0'],
      '--max-views-per-minute must be a whole number from 1 to 9007199254740991, not "0"',
    ],
    [check, ['x'], 'check takes no argument, not "x"'],
    [projects, ['x'], 'projects takes no argument, not "x"'],
  ])('$name $1', async (command, args, err) => {
    const text = '{"projects":[]}';
    const { run, read } = await file(text);
    expect(await run(command, ...args)).toEqual({ code: 64, out: '', err });
    expect(await read()).toBe(text);
  });

  test.each([activate, deactivate])('an edit of a faulty file: $name', async (command) => {
    const text = '{"projects":[{"id":"1"},{"id":2},3]}';
    const { directory, path, run, read } = await file(text);
    const { code, err } = await run(command, '1');
    expect(code).toBe(78);
    expect(err.split('\n')).toEqual([
      expect.stringMatching(/:1:31: projects\[1\]\.id .*found the number 2$/),
      expect.stringMatching(/:1:34: projects\[2\] .*found the number 3$/),
    ]);
    expect(err).toContain(path);
    expect(await read()).toBe(text);
    expect(await readdir(directory)).toEqual(['projects.json']);
  });

  test('a link to a file that does not exist, which a new file would replace', async () => {
    const { path, run } = await file();
    await symlink('elsewhere.json', path);
    expect(await run(activate, '1')).toMatchObject({
      code: 73,
      err: `"${path}" is a symbolic link to a file that does not exist`,
    });
    expect(await readlink(path)).toBe('elsewhere.json');
  });

  test('a file that can not be read or written', async () => {
    const { directory, path, run } = await file('{"projects":[]}');
    const below = await run(activate, '1', '--projects', `${path}/projects.json`);
    expect(below.code).toBe(78);
    expect(below.err).toMatch(/^Cannot read projects file ".*": ENOTDIR: not a directory/);
    const long = `${directory}/${'x'.repeat(252)}`;
    const beside = await run(activate, '1', '--projects', long);
    expect(beside.code).toBe(73);
    expect(beside.err).toMatch(/^Cannot write projects file ".*x": ENAMETOOLONG/);
  });
});

describe('an edit keeps', () => {
  test('the mode of the file', async () => {
    const { path, run } = await file('{"projects":[]}');
    await chmod(path, 0o604);
    await run(activate, '1');
    expect((await stat(path)).mode & 0o7777).toBe(0o604);
  });

  test.runIf(isRoot)("the owner of the file, and gives a new one its directory's", async () => {
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

  test('symbolic links, to files and to directories', async () => {
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
});

test('an edit is made anew when an editor saves the file meanwhile', async () => {
  const { path, read } = await file('{"projects":[{"id":"1"}]}');
  let attempts = 0;
  const edited = await editProjectsFile({
    path,
    canCreate: false,
    warn: () => {},
    change: (text) => {
      attempts++;
      if (attempts === 1) writeFileSync(path, '{"projects":[{"id":"2"}]}');
      return setValue(text, ['projects', 0, 'active'], false);
    },
  });
  expect([edited, attempts]).toEqual(['changed', 2]);
  expect(await read()).toBe('{"projects":[{"id":"2","active":false}]}');
});

describe('the lock of an edit', () => {
  test('makes another edit wait until it is gone', async () => {
    const { path, run, read } = await file('{"projects":[]}');
    await writeFile(`${path}.lock`, 'half');
    const edit = run(activate, '1');
    await sleep(500);
    expect(await read()).toBe('{"projects":[]}');
    await writeFile(path, '{"projects":[{"id":"2"}]}');

    await rm(`${path}.lock`);
    expect((await edit).code).toBe(0);
    expect(JSON.parse(await read()).projects).toMatchObject([{ id: '2' }, { id: '1' }]);
  });

  test('is not what takes the place of the file once somebody else has taken it', async () => {
    const { path, read } = await file('{"projects":[{"id":"1"}]}');
    let attempts = 0;
    const edited = await editProjectsFile({
      path,
      canCreate: false,
      warn: () => {},
      change: (text) => {
        attempts++;
        if (attempts === 1) {
          rmSync(`${path}.lock`);
          writeFileSync(`${path}.lock`, 'theirs');
          setTimeout(() => rmSync(`${path}.lock`), 300);
        }
        return setValue(text, ['projects', 0, 'active'], false);
      },
    });
    expect([edited, attempts]).toEqual(['changed', 2]);
    expect(await read()).toBe('{"projects":[{"id":"1","active":false}]}');
  });

  test('is taken over when it was left behind', async () => {
    const { directory, path, run, read } = await file('{"projects":[]}');
    await writeFile(`${path}.lock`, 'half');
    const minuteAgo = Date.now() / 1000 - 60;
    await utimes(`${path}.lock`, minuteAgo, minuteAgo);
    expect((await run(activate, '1')).code).toBe(0);
    expect(JSON.parse(await read()).projects).toMatchObject([{ id: '1' }]);
    expect(await readdir(directory)).toEqual(['projects.json']);
  });
});
