import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUNDLE, DENO, isHere, isPresent, OLDEST_DENO } from './support/runtimes.ts';
import { tempDir } from './support/temp-dir.ts';
import { MINIMAL_VIEW } from './support/views.ts';
import { dataDirectory, run, start, startViewlog, until } from './support/viewlog.ts';

// The commands of the built bundle, as an operator types them.

const refusedLines = (data: string): string[] =>
  readdirSync(data)
    .filter((name) => name.startsWith('refused-'))
    .flatMap((name) => readFileSync(join(data, name), 'utf8').split('\n').slice(0, -1));

describe('explain', () => {
  const explain = (view: unknown, ...args: string[]) =>
    run(['explain', ...args], {
      input: typeof view === 'string' ? view : JSON.stringify(view),
    });

  it('says that a view would be stored, and stores nothing', async () => {
    const data = dataDirectory();
    const { code, stdout } = await run(['explain'], { data, input: JSON.stringify(MINIMAL_VIEW) });
    expect(stdout).toBe('201: the view would be stored, for project 1000001\n');
    expect(code).toBe(0);
    expect(readdirSync(data)).toStrictEqual(['projects.json']);
  });

  it('says what the collector would, for whatever it refuses', async () => {
    const viewlog = await startViewlog();
    const views: [unknown, string?][] = [
      ['{"p":'],
      ['\ufeff{}'],
      ['[]'],
      [{ ...MINIMAL_VIEW, url: 'x', orgReferer: '' }],
      [{ ...MINIMAL_VIEW, p: '1000003' }],
      [{ ...MINIMAL_VIEW, p: '1000003' }, 'https://elsewhere.example'],
      [{ ...MINIMAL_VIEW, pn: 'x'.repeat(17_000) }],
      [{ ...MINIMAL_VIEW, pn: 'x'.repeat(16_280) }],
    ];
    for (const [view, origin] of views) {
      const answer = await viewlog.post(view, origin === undefined ? {} : { origin });
      const problem = (await answer.json()) as Record<string, unknown>;
      const said = await explain(view, ...(origin === undefined ? [] : ['--origin', origin]));
      expect(said.code).toBe(65);
      const [first] = said.stdout.split('\n');
      expect(first).toBe(
        `${answer.status} ${String(problem['code'])}: ${String(problem['detail'])}`,
      );
      // Where "see issues" leads to.
      const [, issues] = said.stdout.split('\nissues:\n');
      expect(issues === undefined).toBe(problem['issues'] === undefined);
      for (const { field } of (problem['issues'] ?? []) as { field: string }[]) {
        expect(`\n${issues}`).toContain(`\n  ${field || 'the view'} `);
      }
    }
  });

  it('tells the operator what would have the view taken, not to ask the operator', async () => {
    const data = dataDirectory();
    const place = `--projects ${data}/projects.json`;
    const said = async (p: string, ...args: string[]) =>
      (await run(['explain', ...args], { data, input: JSON.stringify({ ...MINIMAL_VIEW, p }) }))
        .stdout;
    expect(await said('9')).toBe(
      `403 project-not-activated: Project 9 is not listed.\n  To accept it: viewlog activate 9 ${place}\n`,
    );
    expect(await said('9', '--origin', 'https://a.example')).toContain(
      `\n  To accept it: viewlog activate 9 --origin https://a.example ${place}\n`,
    );
    // It has no origins, so the first one would exclude all others.
    expect(await said('1000002', '--origin', 'https://a.example')).toBe(
      '403 project-not-activated: Project 1000002 is listed, but inactive.\n' +
        `  To accept it: viewlog activate 1000002 ${place}\n`,
    );
    expect(await said('1000003')).toContain(
      '\n  To check it as if a page had sent it, add: --origin https://www.example.com\n',
    );
    expect(await said('1000003', '--origin', 'https://a.example')).toContain(
      `\n  To allow the origin: viewlog activate 1000003 --origin https://a.example ${place}\n`,
    );
    expect(await said('1000003', '--origin', 'https://a;rm')).not.toContain('To ');
    const long = JSON.stringify({ ...MINIMAL_VIEW, pn: 'x'.repeat(17_000) });
    expect((await run(['explain'], { data, input: long })).stdout).toContain(
      '\n  To accept it, start viewlog with: --max-view 32KiB\n',
    );
  });

  it('tells the listed id that an unlisted one is a slip away from, which no answer tells', async () => {
    const viewlog = await startViewlog();
    const { data } = viewlog;
    const said = async (p: string) =>
      (await run(['explain'], { data, input: JSON.stringify({ ...MINIMAL_VIEW, p }) })).stdout;
    expect(await said('100003')).toMatch(
      /^403 project-not-activated: Project 100003 is not listed; did you mean 1000003\?\n/,
    );
    expect(await said('2000')).toMatch(/: Project 2000 is not listed\.\n/);
    const answer = await (await viewlog.post({ ...MINIMAL_VIEW, p: '100003' })).text();
    expect(answer).toContain('Project 100003 is not activated');
    expect(answer).not.toContain('1000003');
  });

  it.skipIf(!isHere('/usr/bin/script'))('says on a terminal that it reads from there', async () => {
    const data = dataDirectory();
    const command = `node ${BUNDLE} explain --data ${data}`;
    const env = { PATH: process.env['PATH'], SHELL: '/bin/sh' };
    const input = `${JSON.stringify(MINIMAL_VIEW)}\n\u0004`;
    const args = ['-qec', command, '/dev/null'];
    const said = spawnSync('/usr/bin/script', args, { encoding: 'utf8', env, input }).stdout;
    expect(said).toContain('Type or paste a view; Ctrl-D on a line of its own ends it.');
    expect(said).toContain('201: the view would be stored');
    expect((await run(['explain'], { data, input: '{}' })).stderr).toBe('');
  });

  it('reads a file, and says which one it cannot read', async () => {
    const data = dataDirectory();
    const file = join(data, 'view.json');
    writeFileSync(file, JSON.stringify(MINIMAL_VIEW));
    expect((await run(['explain', file], { data })).code).toBe(0);
    const { code, stderr } = await run(['explain', `${file}.not`], { data });
    expect(code).toBe(74);
    expect(stderr).toContain(`Cannot read "${file}.not": ENOENT`);
    expect((await run(['explain', file, file], { data })).code).toBe(64);
    const directory = await run(['explain', data], { data });
    expect(directory.stderr).toMatch(/^error: Cannot read ".*": EISDIR: .*; give the names of /);
  });

  it('judges the view of a record of the refused file, by the origin it came from, and says so', async () => {
    const viewlog = await startViewlog();
    const view = { ...MINIMAL_VIEW, p: '1000003', pn: 'x'.repeat(15_000) };
    await viewlog.post(view, { origin: 'https://elsewhere.example' });
    await viewlog.post({ ...view, p: '9' });
    const { data } = viewlog;
    await until(() => refusedLines(data).length === 2);
    const [record = '', other] = refusedLines(data);
    const said = (input: string, ...args: string[]) => run(['explain', ...args], { data, input });
    const judged = await said(`${record}\n`);
    expect(judged.code).toBe(65);
    expect(judged.stdout).toMatch(
      /^403 origin-not-allowed: .*"https:\/\/elsewhere\.example" is not one of them\.\n {2}To allow the origin: /,
    );
    expect(judged.stderr).toMatch(
      /^This is a kept view, refused with origin-not-allowed at \S+Z; what follows is of the view in it, from https:\/\/elsewhere\.example \(its own\)\n$/,
    );
    const again = await said(JSON.stringify(JSON.parse(record), null, 2));
    expect(again).toStrictEqual(judged);
    const mended = await said(record, '--origin', 'https://www.example.com');
    expect([mended.code, mended.stderr]).toStrictEqual([
      0,
      expect.stringMatching(/, from https:\/\/www\.example\.com \(--origin\)\n$/),
    ]);
    expect((await said(other!)).stderr).toMatch(/view in it, without an Origin\n$/);
    expect((await said(JSON.stringify({ id: 'x', code: 'y', view }))).stderr).toBe('');
  });

  it('shows what strangers sent without obeying it', async () => {
    const { stdout } = await explain({ ...MINIMAL_VIEW, '\u001b[2J\u202e': '\u0007' });
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(stdout).toContain(String.raw`\u001b[2J\u202e is not a field of a view`);
  });
});

describe('the projects file, from nothing', () => {
  it('is made, listed, checked and edited, and a running collector follows', async () => {
    const data = join(tempDir(), 'data');
    mkdirSync(data);
    expect((await run(['check'], { data })).code).toBe(78);
    const activated = await run(['activate', '1000001', '--name', 'My site'], { data });
    expect(activated.code).toBe(0);
    const made = JSON.parse(readFileSync(join(data, 'projects.json'), 'utf8')) as object;
    expect(made).toMatchObject({
      $schema: './projects.schema.json',
      projects: [{ id: '1000001', name: 'My site', maxViewsPerMinute: 6000 }],
    });
    expect(readdirSync(data)).toContain('projects.schema.json');
    const checked = await run(['check'], { data });
    expect([checked.code, checked.stdout]).toStrictEqual([
      0,
      `${join(data, 'projects.json')}: 1 project, 1 active\n`,
    ]);
    expect((await run(['projects'], { data })).stdout).toMatch(/1000001.*My site/);

    const viewlog = await startViewlog({ data });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    expect((await run(['deactivate', '1000001'], { data })).code).toBe(0);
    await until(async () => (await viewlog.post(MINIMAL_VIEW)).status === 403);
    expect((await run(['activate', '1000001'], { data })).code).toBe(0);
    await until(async () => (await viewlog.post(MINIMAL_VIEW)).status === 201);
    expect((await run(['activate', 'x1'], { data })).code).toBe(64);
    expect(
      (await run(['activate', '1', '--origin', 'https://a.example/path'], { data })).code,
    ).toBe(64);
  });

  it.skipIf(!isPresent(OLDEST_DENO))('is made by the oldest Deno too', async () => {
    const data = join(tempDir(), 'data');
    mkdirSync(data);
    const { code, stderr } = await run(['activate', '7'], { data, runtime: OLDEST_DENO });
    expect([code, stderr]).toStrictEqual([0, '']);
    expect(readdirSync(data)).toStrictEqual(['projects.json', 'projects.schema.json']);
  });

  it('with faults is reported with each of them', async () => {
    const data = dataDirectory({ projects: [{ id: 7 }, { id: '8', nmae: 'x' }] });
    const { code, stderr } = await run(['check'], { data });
    expect(code).toBe(78);
    expect(stderr).toContain('projects[0].id must be a string of 1 to 20 digits');
    expect(stderr).toContain('unknown key "nmae"; did you mean "name"?');
    const started = await run(['serve', '--port', '0'], { data });
    expect(started.code).toBe(78);
    expect(started.stderr).toContain('projects[0].id');
  });
});

describe('settings from the environment', () => {
  it('are followed, and flags win', async () => {
    const viewlog = await startViewlog({ env: { VIEWLOG_MAX_VIEW: '1KiB', VIEWLOG_PORT: '1' } });
    const view = { ...MINIMAL_VIEW, pn: 'x'.repeat(1000) };
    expect((await viewlog.post(view)).status).toBe(413);
    const { code, stderr } = await run(['serve'], { env: { VIEWLOG_DURABILITY: 'none' } });
    expect([code, stderr]).toStrictEqual([
      64,
      'error: VIEWLOG_DURABILITY must be disk or os, not "none"\n',
    ]);
  });
});

describe('the environment', () => {
  const STRAY =
    'Nothing reads the environment variable VIEWLOG_MAXVIEW; did you mean VIEWLOG_MAX_VIEW?';

  it('of other commands is not looked at', async () => {
    const env = { VIEWLOG_TOP: 'abc', VIEWLOG_ONCE: 'perhaps', VIEWLOG_FROM_DAY: 'x' };
    const viewlog = await startViewlog({ env });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    expect(viewlog.stderr()).toBe('');
    const { code, stderr } = await run(['report'], { env });
    expect([code, stderr]).toStrictEqual([
      64,
      expect.stringMatching(/^error: VIEWLOG_\w+ must be/),
    ]);
  });

  it('gives the name and the origins of a project too', async () => {
    const data = dataDirectory();
    const env = { VIEWLOG_NAME: 'Mine', VIEWLOG_ORIGIN: 'https://a.example https://b.example' };
    expect((await run(['activate', '7'], { data, env })).code).toBe(0);
    const made = JSON.parse(readFileSync(join(data, 'projects.json'), 'utf8')) as object;
    const origins = ['https://a.example', 'https://b.example'];
    expect(made).toMatchObject({
      projects: expect.arrayContaining([
        expect.objectContaining({ id: '7', name: 'Mine', origins }),
      ]),
    });
  });

  it('is warned of where it has what nothing reads, as the log is written', async () => {
    const env = { VIEWLOG_MAXVIEW: '1KiB', VIEWLOG_SERVICE_HOST: '10.0.0.1' };
    const checked = await run(['check'], { env });
    expect([checked.code, checked.stderr]).toStrictEqual([0, `warning: ${STRAY}\n`]);
    const viewlog = await startViewlog({ env, args: ['--log', 'json'] });
    expect(JSON.parse(viewlog.stderr())).toMatchObject({ level: 'warn', message: STRAY });
  });

  it.skipIf(!isPresent(DENO))('that Deno does not show is not spoken of', async () => {
    const env = { VIEWLOG_MAXVIEW: '1KiB', VIEWLOG_TOP: 'abc' };
    const { code, stderr } = await run(['report'], { env, runtime: DENO });
    expect([code, stderr]).toStrictEqual([0, '']);
  });
});

describe('help', () => {
  const said = async (...args: string[]) => {
    const { code, stdout, stderr } = await start(args, dataDirectory(), {}).ended;
    expect([args, code, stderr]).toStrictEqual([args, 0, '']);
    return stdout;
  };

  it('is what a stranger asks for in any way', async () => {
    const overview = await said('help');
    expect(overview).toMatch(/^ {2}serve .*\(the default\)$/m);
    for (const args of [['-h'], ['--help'], ['--data', 'd', '-h']]) {
      expect(await said(...args)).toBe(overview);
    }
    const page = await said('help', 'serve');
    expect(page).toMatch(/^ {2}--max-view SIZE .*\(16KiB\)$/m);
    for (const args of [
      ['serve', '-h'],
      ['serve', '--help'],
      ['-h', 'serve'],
      ['--port', '0', 'serve', '-h'],
    ]) {
      expect(await said(...args)).toBe(page);
    }
    const version = await said('version');
    expect([await said('-v'), await said('--version')]).toStrictEqual([version, version]);
  });

  it('says what there is no help on', async () => {
    for (const args of [['help', 'serv'], ['serv', '--help'], ['serv']]) {
      const { code, stderr } = await run(args);
      expect([code, stderr]).toStrictEqual([
        64,
        'error: Unknown command "serv"; did you mean serve?\n',
      ]);
    }
  });

  it('has an example of every command, of options that it has', async () => {
    const [commands = ''] = (await said('help')).split('\nviewlog help COMMAND');
    const names = Array.from(commands.matchAll(/^ {2}([a-z-]+) /gm), ([, name]) => name!);
    expect(names).toContain('version');
    for (const name of names) {
      const [options, examples] = (await said('help', name)).split('\nFor example:\n');
      const [example] = examples!.split('\n');
      expect(example).toMatch(new RegExp(`^  viewlog ${name}\\b`));
      for (const [flag] of example!.matchAll(/--[a-z-]+/g)) expect(options).toContain(`  ${flag} `);
    }
  });

  it('names the variables that are not called as their flags are', async () => {
    expect(await said('help', 'archive')).toContain('--from as VIEWLOG_ARCHIVE_FROM;');
    expect(await said('help', 'report')).toContain('--from as VIEWLOG_FROM_DAY');
  });
});

it('options may stand before the command', async () => {
  const data = dataDirectory();
  const { code, stdout } = await start(['--data', data, 'check'], tempDir(), {}).ended;
  expect([code, stdout]).toStrictEqual([0, expect.stringContaining(`${data}/projects.json: `)]);
});

it('a message has one form, on stderr, whatever the command', async () => {
  const data = dataDirectory({ projects: [{ id: 7 }, { id: '8', nmae: 'x' }] });
  for (const args of [
    ['check'],
    ['projects'],
    ['serve', '--port=0'],
    ['activate', '1'],
    ['explain'],
  ]) {
    const { code, stdout, stderr } = await run(args, { data });
    expect([args, code, stdout]).toStrictEqual([args, 78, '']);
    expect(stderr.trimEnd().split('\n')).toStrictEqual([
      expect.stringMatching(/^error: .*projects\[0\]\.id must be a string/),
      expect.stringMatching(/^error: .*unknown key "nmae"/),
    ]);
  }
});

it.each([
  ['serve', 'nats://user:secret@host'],
  ['nats://user:secret@host'],
  ['archive', 'nats://user:secret@host'],
  ['check', 'nats://user:secret@host'],
  ['projects', 'nats://user:secret@host'],
  ['activate', 'nats://user:secret@host'],
  ['activate', '1000001', '--origin=https://user:secret@host/path'],
  ['replay', 'nats://user:secret@host', '--to=http://user:secret@host/path'],
  ['example', 'nats://user:secret@host'],
])('a password in a wrong place is not told: %s %s', async (...args) => {
  const { code, stdout, stderr } = await run(args);
  expect(code).toBe(64);
  expect(stdout + stderr).toContain('…@host');
  expect(stdout + stderr).not.toContain('secret');
});

it('a second signal ends it at once', async () => {
  const viewlog = await startViewlog();
  // A body that never ends holds up the stop.
  const { port } = viewlog;
  const { speak, post } = await import('./support/raw.ts');
  void speak(port, { pieces: [post('{', { 'Content-Length': '100' })] }, 20_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  viewlog.child.kill('SIGTERM');
  await until(() => viewlog.stdout().includes('stopping'));
  const { code } = await viewlog.signal('SIGTERM');
  expect(code).toBe(143);
});
