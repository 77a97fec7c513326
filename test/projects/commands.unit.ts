import { writeFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { activate, deactivate } from '../../src/commands/activate.ts';
import type { Command } from '../../src/commands/command.ts';
import { check, projects } from '../../src/commands/projects.ts';
import { editProject } from '../../src/projects/edit.ts';
import { runCommand } from '../support/run-command.ts';
import { tempDir } from '../support/temp-dir.ts';

const isRoot = process.getuid?.() === 0;
const COMMANDS = { activate, deactivate, check };

/**
 * Creates a projects file with this text and returns functions that run commands on it and read
 * it.
 */
async function file(text?: string) {
  const directory = tempDir();
  const path = `${directory}/projects.json`;
  if (text !== undefined) await fs.writeFile(path, text);
  const run = (command: Command, ...args: string[]) =>
    runCommand(command, ['--projects', path, ...args]);
  return { directory, path, run, read: () => fs.readFile(path, 'utf8') };
}

test('activate creates the file and its directory', async () => {
  const { directory, run } = await file();
  const path = `${directory}/a/b/projects.json`;
  const { out } = await run(activate, '1000001', '--name', 'My "site"', '--projects', path);
  expect(out.split('\n')[0]).toBe(`Created the directory ${directory}/a/b`);
  expect(out).toContain(
    `Added project 1000001 to the new file ${path}: any origin, at most 6,000 views per minute. viewlog accepts the project's views once it is running.\n`,
  );
  expect(out).toContain(
    'To show your e-mail address in refusals, run this command again with --operator',
  );
  const project = { id: '1000001', name: 'My "site"', active: true, maxViewsPerMinute: 6000 };
  const created = { $schema: './projects.schema.json', projects: [project] };
  expect(await fs.readFile(path, 'utf8')).toBe(`${JSON.stringify(created, null, 2)}\n`);
  expect((await fs.stat(path)).mode & 0o777).toBe(0o640);
  expect((await fs.stat(`${directory}/a/b`)).mode & 0o777).toBe(0o750);
});

/**
 * Each row has a name, a file (⏎ is a line break), a command, the file after it, and the command's
 * words about the project.
 */
const EDITS = `
activate adds a project with the spacing of the others
{ "projects":  [⏎{ "id":"1",   "name" :"a" }  ]⏎}
activate 2 --origin https://*.b.com --origin https://b.com
{ "projects":  [⏎{ "id":"1",   "name" :"a" },⏎{ "id": "2",   "origins": ["https://*.b.com", "https://b.com"],   "active": true,   "maxViewsPerMinute": 6000 }  ]⏎}
Added project 2 to FILE: https://*.b.com, https://b.com, at most 6,000 views per minute. viewlog accepts the project's views once it is running.

activate sets an inactive project to active
{"projects":[{"id":"1","active":false,"name":"x"},{"id":"2","active":false}]}
activate 2
{"projects":[{"id":"1","active":false,"name":"x"},{"id":"2","active":true}]}
Activated project 2 in FILE: any origin, no limit. viewlog accepts the project's views once it is running.

activate adds a name and the missing origins
{"projects": [{"id": "1", "name": "a", "origins": ["https://a.com",  "https://b.com"]}]}
activate 1 --origin HTTPS://A.com:443 --origin https://c.com --origin https://C.com --name b
{"projects": [{"id": "1", "name": "b", "origins": ["https://a.com",  "https://b.com",  "https://c.com"]}]}
Changed the name and origins of project 1 in FILE: active, https://a.com, https://b.com, https://c.com, no limit. viewlog applies the change once it is running.

activate replaces the only origin
{"projects": [{"id": "1", "origins": ["https://b.com"]}]}
activate 1 --remove-origin HTTPS://b.com:443 --origin https://c.com
{"projects": [{"id": "1", "origins": ["https://c.com"]}]}
Changed the origins of project 1 in FILE: active, https://c.com, no limit. viewlog applies the change once it is running.

activate removes one of two origins
{ "projects": [ { "origins": [⏎  "https://a.com",⏎  "https://b.com"⏎ ], "id": "1" } ] }
activate 1 --remove-origin https://a.com
{ "projects": [ { "origins": [⏎  "https://b.com"⏎ ], "id": "1" } ] }
Changed the origins of project 1 in FILE: active, https://b.com, no limit. viewlog applies the change once it is running.

activate sets a limit, a contact and the operator
{ "operator": "me@a.com", "projects": [ {"id": "1",   "maxViewsPerMinute": 60},⏎ {"id": "2"} ] }
activate 1 --contact jo --max-views-per-minute 90 --operator you@a.com
{ "operator": "you@a.com", "projects": [ {"id": "1",   "maxViewsPerMinute": 90,   "contact": "jo"},⏎ {"id": "2"} ] }
Changed the contact and limit of project 1 in FILE: active, any origin, at most 90 views per minute. viewlog applies the change once it is running.

activate changes only the operator
{"operator":"me@a.com","projects":[{"id":"1"}]}
activate 1 --operator you@a.com
{"operator":"you@a.com","projects":[{"id":"1"}]}
Project 1 is unchanged in FILE: active, any origin, no limit

activate would only spell values differently
{"projects":[{"id":"1","origins":["https:\\/\\/a.com"]}],"operator":"me@a.com"}
activate 1 --origin https://a.com:443 --operator me@a.com
{"projects":[{"id":"1","origins":["https:\\/\\/a.com"]}],"operator":"me@a.com"}
Project 1 is unchanged in FILE: active, https://a.com, no limit

deactivate sets a project to inactive
{"projects": [{"id": "1"}, {"id": "2", "active": true}]}
deactivate 2
{"projects": [{"id": "1"}, {"id": "2", "active": false}]}
Deactivated project 2 in FILE. If viewlog is running, it refuses the project's views within 2 seconds.

deactivate finds the project inactive
{"projects": [{"id": "2", "active": false}]}
deactivate 2
{"projects": [{"id": "2", "active": false}]}
Project 2 is unchanged in FILE: inactive, so its views are refused`;

test.each(
  EDITS.replaceAll('⏎', '\r\n')
    .split('\n\n')
    .map((row) => row.trimStart().split(/(?<!\r)\n/)),
)(
  'the rest of the file stays the same, byte for byte, when %s',
  async (_, before = '', command = '', after = '', said = '') => {
    const { path, run, read } = await file(`\ufeff${before}`);
    const { ino, mtimeMs } = await fs.stat(path);
    const [name, ...args] = command.split(' ') as ['activate', string];
    const { code, out, err } = await run(COMMANDS[name], ...args);
    expect([code, err, await read()]).toEqual([0, '', `\ufeff${after}`]);
    const isUnchanged = before === after;
    expect(out.split('\n')[0]).toBe(said.replace('FILE', path));
    const saved = await fs.stat(path);
    if (isUnchanged) expect(saved).toMatchObject({ ino, mtimeMs });
    // An edit replaces the file, so that nobody reads half an edit.
    else expect(saved.ino).not.toBe(ino);
  },
);

test.each([
  [
    'warns that a first origin shuts out the other sites',
    '1 --origin https://b.com',
    /^Project 1 accepted .* every site; it now accepts them only from the listed ones and refuses programs that send no Origin header$/,
  ],
  ["doesn't warn about a first origin of an inactive project", '2 --origin https://b.com', /^$/],
  [
    'warns that 100001 is one typo away from 1000001',
    '100001',
    /^Project 100001 is new and one typo away from 1000001\. If 1000001 is the typo, correct the projects file\. If 100001 is the typo, deactivate it: .* deactivate 100001 --p/,
  ],
  [
    'warns that another active project lists the origin',
    '3 --origin https://www.kelp.example:443',
    /^https:\/\/www\.kelp\.example:443 is an origin of project 4 \(Kelp\), too; a view counts /,
  ],
  ['warns that 1000301 is one typo away from 1000001', '1000301', /one typo away/],
  ["doesn't warn about 1000345, which is several typos away", '1000345', /^$/],
  // Sites often have consecutive ids.
  ["doesn't warn about a consecutive id", '1000002', /^$/],
])('activate makes the change and %s', async (_, args, warning) => {
  const kelp = '"name":"Kelp","origins":["https://www.kelp.example"]';
  const listed = `{"id":"1"},{"id":"2","active":false},{"id":"4",${kelp}}`;
  const { run, read } = await file(`{"projects":[${listed},{"id":"1000001"}]}`);
  const err = expect.stringMatching(warning);
  expect(await run(activate, ...args.split(' '))).toMatchObject({ code: 0, err });
  expect(await read()).toContain(`"${args.split(' ')[0]}"`);
});

test('projects lists the projects and escapes untrusted text', async () => {
  const listed = [
    { id: '1000001', name: 'Ours\u001b[2J', origins: ['https://a.com', 'https://*.b.com'] },
    { id: '2', active: false, maxViewsPerMinute: 60, contact: 'jo@a.com' },
  ];
  const { run } = await file(JSON.stringify({ projects: listed }));
  expect((await run(projects)).out.split('\n')).toEqual([
    'ID       ACTIVE  NAME           ORIGINS                        VIEWS/MINUTE  CONTACT',
    '1000001  yes     Ours\\u001b[2J  https://a.com https://*.b.com  no limit      -',
    '2        no      -              any                            60            jo@a.com',
  ]);
  const { path, run: runOnNone } = await file('{"projects":[]}');
  const { out } = await runOnNone(projects);
  expect(out).toContain(
    `No projects in ${path}; to add one, replace ID with its id: ${process.execPath} `,
  );
  expect(out).toMatch(new RegExp(` activate ID --projects ${path}$`));
});

test.each([
  ['activate', 'activate needs a project ID. For example: viewlog activate 1000001 '],
  [
    'activate 1 2',
    /^activate takes only one ID; also found "2"\. A value that contains spaces needs quotes$/,
  ],
  [
    'activate 1 --origin https://a.com https://b.com',
    /^activate takes only one ID; also found "https:\/\/b\.com"\. Give --origin once per origin$/,
  ],
  ['activate --name My site 1', /also found "site"\. A value/],
  ['deactivate', 'deactivate needs a project ID. For example: '],
  [
    'deactivate 2',
    /^Project 2 isn't listed in \/.*\/projects.json, so its views are already refused$/,
  ],
  ['deactivate 12', /are already refused\. If you meant 1, run: .* deactivate 1 --projects \S+$/],
  ['activate x1', 'such as 1000001; found "x1"'],
  [`activate ${'1'.repeat(21)}`, 'A project ID must be 1 to 20 digits'],
  ['activate 1 --origin https://b.com/', 'found "https://b.com/". Did you mean https://b.com?'],
  ['activate 1 --origin .b.com', /Did you mean 'https:\/\/\*\.b\.com'\?$/],
  ['activate 1 --origin http://localhost:81/', / Did you mean http:\/\/localhost:81\?$/],
  ['activate 1 --origin https://a.com,https://b.com', /"\. Give --origin once per origin$/],
  ['activate 1 --origin *', /"\*"\. To accept every origin, leave the project without origins$/],
  ['activate 1 --origin https://b.com/*', /Did you mean https:\/\/b\.com\?$/],
  [
    'activate 1 --origin https://b.com --remove-origin https://B.com:443',
    '--origin and --remove-origin both name https://b.com',
  ],
  ['activate 1 --origin *.b.com:81/x', /Did you mean 'https:\/\/\*\.b\.com:81'\?$/],
  [
    'activate 1 --origin https://me:1234@b.com',
    /found "https:\/\/…@b\.com". Did you mean https:\/\/b\.com\?$/,
  ],
  ['activate 1 --origin localhost:3000', /Did you mean http:\/\/localhost:3000\?$/],
  ['activate 1 --origin https://www.*.com', /For example: --origin https:\/\/\*\.example\.org$/],
  ['activate 1 --origin ftp://b.com', 'found "ftp://b.com". For example: --origin https://'],
  ['activate 1 --remove-origin b.com', '--remove-origin must be http:'],
  ['activate 1 --remove-origin https://c.com', 'no origin left'],
  ['activate 1 --operator me', '--operator must be an e-mail address'],
  ['activate 1 --max-views-per-minute 0', 'must be a whole number from 1'],
  ['check x', 'check takes no arguments; found "x"'],
])('"%s" is refused and changes nothing', async (line, why) => {
  const text = '{"projects": [{"id": "1", "origins": ["https://c.com"]}]}';
  const { run, read } = await file(text);
  const err = expect.stringMatching(why);
  const [name, ...args] = line.split(' ') as [keyof typeof COMMANDS, ...string[]];
  expect(await run(COMMANDS[name], ...args)).toEqual({ code: 64, out: '', err });
  expect(await read()).toBe(text);
});

test('activate suggests an origin without the spaces that were copied with it', async () => {
  const { run } = await file('{"projects":[]}');
  const { code, err } = await run(activate, '1', '--origin', ' https://a.com ');
  expect([code, err]).toEqual([64, expect.stringMatching(/ Did you mean https:\/\/a\.com\?$/)]);
});

test("the error about a file that can't be read or written names the file", async () => {
  const { directory, path, run } = await file('{"projects":[]}');
  await fs.symlink('elsewhere.json', `${directory}/link`);
  for (const [command, name, code, err] of [
    [
      activate,
      `${path}/p.json`,
      78,
      /^Can't read projects file ".*": a part of this path is a file; check --data or --projects/,
    ],
    [activate, `${directory}/${'x'.repeat(252)}`, 73, /^Can't write .*x": ENAMETOOLONG/],
    [activate, `${directory}/link`, 73, /^Can't write projects file ".*link": ENOENT/],
    [deactivate, `${directory}/none`, 78, /it doesn't exist; check --data or --projects$/],
  ] as const) {
    const message = { code, err: expect.stringMatching(err) };
    expect(await run(command, '1', '--projects', name)).toMatchObject(message);
  }
  expect(await fs.readdir(directory)).toEqual(['link', 'projects.json']);
});

test.each([
  [
    'missing',
    '/none',
    ". If the directory was moved, move it back; if its disk isn't mounted, mount it. Otherwise,",
  ],
  [
    'empty',
    '',
    ". If the directory was moved, move it back; if its disk isn't mounted, mount it. Otherwise,",
  ],
  ['in use', '', ';'],
])(
  'the error about a missing projects file asks for a lost directory first if the directory is missing or empty, not if it is in use: %s',
  async (what, name, words) => {
    const { directory, run } = await file();
    if (what === 'in use') await fs.writeFile(`${directory}/views-2026-11-22.ndjson`, '');
    const { code, err } = await run(check, '--projects', `${directory}${name}/projects.json`);
    expect([code, err]).toEqual([
      78,
      expect.stringContaining(
        `it doesn't exist${words} check --data or --projects, or create the file (replace ID with a project's id): `,
      ),
    ]);
  },
);

test('activate leaves an empty file unchanged and prints a command that begins a new list', async () => {
  const { path, read, run } = await file('\n');
  const { code, err } = await run(activate, '1');
  expect([code, await read()]).toEqual([78, '\n']);
  expect(err).toMatch(
    /^Projects file ".*" is empty; restore the file from a backup, .*\. To begin an empty list instead, first run the following; .*: /,
  );
  expect(err.endsWith(`: echo '{"projects": []}' | tee ${path}`)).toBe(true);
});

describe.runIf(isRoot)('activate as another user', () => {
  const PERSON = 65_534;
  const AS_4711 = '#4711: sudo setpriv --reuid=4711 --regid=';
  afterEach(() => {
    process.seteuid!(0);
    process.setegid!(0);
  });

  test.each<
    [
      what: string,
      owner: [uid: number, gid: number],
      mode: number,
      in_: number,
      who: string,
      directoryOwner?: number,
    ]
  >([
    ["can't write in the directory", [0, 0], 0o644, 0o755, 'root: sudo '],
    ["can't read the file", [0, 0], 0o600, 0o755, 'root: sudo '],
    ["can't enter the directory", [4711, 4712], 0o640, 0o700, 'root: sudo '],
    ["can't write in root's directory", [4711, 4712], 0o644, 0o755, 'root: sudo ', 0],
    ['is in the group', [4711, PERSON], 0o660, 0o770, `${AS_4711}${PERSON} --clear-groups -- `],
    [
      "can write but can't give the file away",
      [4711, 4712],
      0o664,
      0o777,
      `${AS_4711}4712 --clear-groups -- `,
    ],
    ["owns the file but isn't in its group", [PERSON, 4712], 0o640, 0o770, 'root: sudo '],
  ])(
    'changes nothing and prints a command that works if the user %s',
    async (_, owner, mode, dirMode, who, directoryOwner = 4711) => {
      const { directory, path, run, read } = await file('{"projects":[]}');
      await fs.chown(path, ...owner);
      await fs.chmod(path, mode);
      await fs.chown(directory, owner[0] === PERSON ? PERSON : directoryOwner, PERSON);
      await fs.chmod(directory, dirMode);
      const before = await fs.stat(path);
      process.setegid!(PERSON);
      process.seteuid!(PERSON);
      const { code, err } = await run(activate, '2', '--name', "Jo's");
      process.seteuid!(0);
      expect([code, err]).toStrictEqual([
        73,
        expect.stringContaining(`; run the command as ${who}${process.execPath} `),
      ]);
      expect(err).toContain(String.raw` activate 2 --name 'Jo'\''s' --projects ${path}`);
      expect([await read(), await fs.readdir(directory)]).toStrictEqual([
        '{"projects":[]}',
        ['projects.json'],
      ]);
      expect(await fs.stat(path)).toMatchObject({
        ino: before.ino,
        uid: before.uid,
        gid: before.gid,
        mode: before.mode,
      });
    },
  );

  test("creates the file in root's directory if every user can write there", async () => {
    const { directory, path, run } = await file();
    await fs.chmod(directory, 0o777);
    process.setegid!(PERSON);
    process.seteuid!(PERSON);
    expect(await run(activate, '1')).toMatchObject({ code: 0 });
    expect(await fs.stat(path)).toMatchObject({ uid: PERSON, gid: PERSON });
  });
});

describe('an edit', () => {
  test.runIf(isRoot)("gives a new file its directory's owner", async () => {
    const { directory, path, run } = await file();
    await fs.chown(directory, 3456, 4567);
    await run(activate, '1');
    for (const name of [path, `${directory}/projects.schema.json`]) {
      expect(await fs.stat(name)).toMatchObject({ uid: 3456, gid: 4567 });
    }
  });

  test.runIf(isRoot)("lets the owner of the data directory read root's new file", async () => {
    const [{ path, run }, data] = [await file(), tempDir()];
    await fs.chown(data, 3456, 4567);
    await run(activate, '1', '--data', data);
    const { mode, uid, gid } = await fs.stat(path);
    expect([uid, gid, mode & 0o777]).toStrictEqual([0, 4567, 0o640]);
  });

  test.runIf(isRoot)(
    "keeps the group of the directory if the data directory is root's",
    async () => {
      const [{ directory, path, run }, data] = [await file(), tempDir()];
      await fs.chown(directory, 0, 4567);
      await run(activate, '1', '--data', data);
      expect((await fs.stat(path)).gid).toBe(4567);
    },
  );

  test('keeps the mode, the owner and symbolic links to files and directories', async () => {
    const { directory, path, run } = await file();
    const target = `${directory}/..1/projects.json`;
    await fs.mkdir(`${directory}/..1`);
    await fs.writeFile(target, '{"projects":[]}');
    await fs.chmod(target, 0o604);
    if (isRoot) await fs.chown(target, 1234, 2345);
    await fs.symlink('..1', `${directory}/..data`);
    await fs.symlink('..data/projects.json', path);
    expect((await run(activate, '7')).code).toBe(0);
    expect(await fs.readlink(path)).toBe('..data/projects.json');
    expect(await fs.readlink(`${directory}/..data`)).toBe('..1');
    expect(await fs.readFile(target, 'utf8')).toContain('"7"');
    const { mode, uid, gid } = await fs.stat(target);
    expect([mode & 0o7777, uid, gid]).toEqual([0o604, ...(isRoot ? [1234, 2345] : [uid, gid])]);
    expect(await fs.readdir(`${directory}/..1`)).toEqual(['projects.json']);
  });

  test('is refused if another program saves the file meanwhile', async () => {
    const { directory, path, read } = await file('{"projects":[{"id":"1"}]}');
    const saved = '{"projects":[{"id":"2"}]}';
    const change = () => {
      writeFileSync(path, saved);
      return { id: '1', active: false };
    };
    const message = expect.stringContaining('another program has just saved it');
    const edit = editProject({ path, data: directory, id: '1', change, asOwner: () => undefined });
    await expect(edit).rejects.toMatchObject({ exitCode: 73, message });
    expect([await read(), await fs.readdir(directory)]).toEqual([saved, ['projects.json']]);
  });

  test('is refused while a draft exists, even one that a killed edit has left', async () => {
    const { path, run, read } = await file('{"projects":[]}');
    await fs.writeFile(`${path}.draft`, 'half');
    const err = expect.stringContaining(`"${path}.draft" exists`);
    expect(await run(activate, '1')).toMatchObject({ code: 73, err });
    expect([await read(), await fs.readFile(`${path}.draft`, 'utf8')]).toEqual([
      '{"projects":[]}',
      'half',
    ]);
  });
});
