import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as net from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { explain as explainCommand } from '../src/commands/explain.ts';
import { fileOf } from './support/examples.ts';
import { post, speak } from './support/raw.ts';
import { runCommand } from './support/run-command.ts';
import { tempDir } from './support/temp-dir.ts';
import { MINIMAL_VIEW } from './support/views.ts';
import { dataDirectory, run, startViewlog, until } from './support/viewlog.ts';

// The commands of the built bundle, as an operator types them.

describe('explain', () => {
  const explain = (view: unknown, ...args: string[]) =>
    run(['explain', ...args], { input: typeof view === 'string' ? view : JSON.stringify(view) });

  it("reads stdin or a file, stores nothing and names a file that it can't read", async () => {
    const data = dataDirectory();
    const input = JSON.stringify(MINIMAL_VIEW);
    const stdout = '201: the view would be stored, for project 1000001\n';
    expect(await run(['explain'], { data, input })).toMatchObject({ code: 0, stdout });
    expect(readdirSync(data)).toStrictEqual(['projects.json']);
    const file = join(data, 'view.json');
    writeFileSync(file, input);
    expect(await run(['explain', file], { data })).toMatchObject({ code: 0, stdout });
    const missing = await run(['explain', `${file}.not`], { data });
    expect(missing.code).toBe(74);
    expect(missing.stderr).toContain(
      `Can't read "${file}.not": it doesn't exist; check the path\n`,
    );
    const stderr =
      'error: explain takes at most one FILE; also found "b". A value that contains spaces needs quotes\n';
    expect(await run(['explain', file, 'b'], { data })).toMatchObject({ code: 64, stderr });
  });

  it('recognises the line of an accepted or refused view, also if jq has formatted the line', async () => {
    const stamp = { ts: '2026-01-31T12:00:00.000Z', id: '019c13ec-9f5a-7a3c-9d2f-6b8e0c4d1a75' };
    const formatted = (line: object): string => JSON.stringify(line, undefined, 2);
    const accepted =
      'error: This line is a stored view, which was accepted; explain takes a view as a page sends it\n';
    const stored = { ...stamp, ...MINIMAL_VIEW };
    for (const input of [`${JSON.stringify(stored)}\n`, formatted(stored)]) {
      expect(await run(['explain'], { input })).toMatchObject({ code: 64, stderr: accepted });
    }
    const view = { ...MINIMAL_VIEW, url: 'x' };
    const refused = { ...stamp, code: 'invalid-view', origin: null, view };
    const { stdout } = await explain(formatted(refused));
    expect(stdout).toMatch(
      /^422 invalid-view: .*\nissues:\n {2}"url" must be a string [^]*\nCorrect the page/,
    );
    const input = JSON.stringify(refused).slice(0, -1);
    const damaged =
      'error: This line of a refused view is damaged or incomplete; explain takes the whole line\n';
    expect(await run(['explain'], { input })).toMatchObject({ code: 64, stderr: damaged });
  });

  it('refuses an origin that no page has', async () => {
    const of = async (origin: string) => (await explain(MINIMAL_VIEW, '--origin', origin)).stderr;
    expect(await of('www.example.com')).toBe(
      'error: --origin must be http://host or https://host, with or without a port; found "www.example.com". Did you mean https://www.example.com?\n',
    );
    expect(await of('null')).toBe('');
  });

  it('refuses a file of several views', async () => {
    const file = `${tempDir()}/refused-2026-01-31.ndjson`;
    const id = '01a21edc-9171-7000-bba7-f2c4b1967cf6';
    const line = JSON.stringify({ ts: '', id, code: 'invalid-view', origin: null, view: {} });
    writeFileSync(file, `${line}\n${line}\n`);
    const explained = await run(['explain', file]);
    const [, command = ''] =
      /^error: The file has 2 lines, but explain takes one view\. For the last one, run: (.*)\n$/.exec(
        explained.stderr,
      ) ?? [];
    expect(explained.code).toBe(64);
    const pasted = spawnSync('sh', ['-c', command], { cwd: '/', encoding: 'utf8' });
    expect(pasted.stdout).toContain('422 invalid-view: ');
    writeFileSync(`${file}.gz`, gzipSync(`${line}\n`));
    const packed = (await run(['explain', `${file}.gz`])).stderr;
    const [, unpack = ''] = /^error: The file is compressed\. For its last line, run: (.*)\n$/.exec(
      packed,
    )!;
    expect(spawnSync('sh', ['-c', unpack], { cwd: '/', encoding: 'utf8' }).stdout).toContain(
      '422 ',
    );
    const head = `{"ts":"2026-01-31T00:00:00.000Z","id":"${id}","p":"7"}\n`;
    const stored = await run(['explain'], { input: head + head });
    expect(stored.stderr).toContain('These lines are stored views, which were accepted; explain ');
    for (const command of ['verify', 'report']) {
      const { code, stderr: refused } = await run([command, file]);
      const what = `is named like a file of refused views; ${command} reads only files of accepted views\n`;
      expect([code, refused]).toStrictEqual([64, expect.stringContaining(what)]);
    }
  });

  it('refuses empty input', async () => {
    const { code, stderr } = await run(['explain'], { input: '' });
    expect([code, stderr]).toStrictEqual([
      64,
      expect.stringMatching(
        /^error: stdin is empty, but explain takes one view\. For example: tail -n 1 FILE \| .* explain --data .*\n$/,
      ),
    ]);
  });

  it('prints the command that pipes in a view that was passed as an operand', async () => {
    const view = '{"p":"it\'s"}';
    const { code, stderr } = await run(['explain', view, '--origin=https://a.example']);
    const [, command = ''] = /^error: explain takes a FILE, .* pipe the view: (.*)\n$/.exec(
      stderr,
    )!;
    expect([code, command]).toStrictEqual([
      64,
      expect.stringMatching(/--origin https:..a.example$/),
    ]);
    const { stdout } = spawnSync('sh', ['-c', command], { cwd: '/', encoding: 'utf8' });
    expect(stdout).toContain('  "p" must be a string of 1 to 20 digits (received "it\'s")');
  });

  it('says that an unfinished view must be completed, without advice about a proxy', async () => {
    const { stdout } = await explain('{\n  "p": "1",\n');
    const [, hint] = stdout.split('\n');
    expect(hint).toBe('Complete the view: its JSON ends without the closing "}".');
  });

  it('applies the --max-view of the last start', async () => {
    const { post, data } = await startViewlog({ args: ['--max-view=32KiB'] });
    const view = { ...MINIMAL_VIEW, pn: 'x'.repeat(17_000) };
    expect((await post(view)).status).toBe(201);
    const file = fileOf('view.json', JSON.stringify(view));
    const explained = (...args: string[]) =>
      runCommand(explainCommand, [file, `--data=${data}`, ...args]);
    expect((await explained()).code).toBe(0);
    expect((await explained('--max-view=16KiB')).out).toContain('the limit is 16,384');
  });

  it('answers each refused view as the collector does', async () => {
    const viewlog = await startViewlog();
    const views: [unknown, string?][] = [
      ['{"p":'],
      ['\ufeff{}'],
      ['[]'],
      [{ ...MINIMAL_VIEW, url: 'x', orgReferer: '' }],
      [{ ...MINIMAL_VIEW, p: '9' }],
      [{ ...MINIMAL_VIEW, p: '1000003' }],
      [{ ...MINIMAL_VIEW, p: '1000003' }, 'https://elsewhere.example'],
      [{ ...MINIMAL_VIEW, pn: 'x'.repeat(17_000) }],
      [{ ...MINIMAL_VIEW, pn: 'x'.repeat(16_280) }],
    ];
    for (const [view, origin] of views) {
      const answer = await viewlog.post(view, origin === undefined ? {} : { origin });
      const problem = (await answer.json()) as Record<string, unknown>;
      // In this process, because a process for each takes long.
      const file = fileOf('view.json', typeof view === 'string' ? view : JSON.stringify(view));
      const origins = origin === undefined ? [] : ['--origin', origin];
      const said = await runCommand(explainCommand, [file, '--data', viewlog.data, ...origins]);
      expect(said.code).toBe(65);
      const [first] = said.out.split('\n');
      expect(first).toBe(
        `${answer.status} ${String(problem['code'])}: ${String(problem['detail'])}`,
      );
      // The detail may refer to "issues", so explain prints all of them.
      const [, issues = ''] = said.out.split('\nissues:');
      for (const { field } of (problem['issues'] ?? []) as { field: string }[]) {
        expect(issues).toContain(`\n  ${field === '' ? 'the view' : `"${field}"`} `);
      }
    }
  });

  it.each([
    [
      'an unlisted id',
      { p: '9' },
      'https://a.example',
      /viewlog\.mjs activate 9 --data \S+ --origin https:\/\/a\.example$/m,
    ],
    [
      'a missing Origin',
      { p: '1000003' },
      '',
      'as if a page had sent it, add: --origin https://www.example.com\n',
    ],
    [
      'an origin that no command contains',
      { p: '1000003' },
      'https://a_b.example',
      /^To read about this: .*viewlog\.mjs help [a-z-]+$/m,
    ],
    [
      'an id that is one typo away from a listed one',
      { p: '1000013' },
      'https://www.example.com',
      /^1000013 is one typo away from 1000003\..* Otherwise, to count /m,
    ],
    ['an invalid view', { url: 'x' }, 'https://a.example', 'Correct the page that sent this view.'],
    [
      'a view that is too large',
      { pn: 'x'.repeat(17_000) },
      'https://a.example',
      'restart viewlog with --max-view 32KiB.',
    ],
  ])('tells the operator what to do about %s', async (_, part, origin, fix) => {
    const args = origin === '' ? [] : ['--origin', origin];
    const { stdout } = await explain({ ...MINIMAL_VIEW, ...part }, ...args);
    expect(stdout).toMatch(fix);
  });

  it.each([
    [
      'its id may be wrong, or its project would accept views from every site',
      [],
      / wrong, correct it in the script of the page\. To count the page under this id, activate the project, which then accepts views from every site: /,
    ],
    [
      'its project refuses views without an Origin header even once it is active',
      [{ id: MINIMAL_VIEW.p, active: false, origins: ['https://a.example'] }],
      /^Once the project is active, it will still refuse such views, because they have no Origin header\..* To activate the project: /m,
    ],
  ])('says of a view without an Origin that %s', async (_, projects, advice) => {
    const data = dataDirectory({ projects });
    const { stdout } = await run(['explain'], { data, input: JSON.stringify(MINIMAL_VIEW) });
    expect(stdout).toMatch(advice);
  });

  it('prints how to list a project again that was removed', async () => {
    const entry = { id: MINIMAL_VIEW.p, name: 'Shop', origins: ['https://a.example'] };
    const viewlog = await startViewlog({ data: dataDirectory({ projects: [entry] }) });
    const { data } = viewlog;
    await until(() => existsSync(join(data, 'last-projects.json')));
    await viewlog.signal('SIGTERM');
    writeFileSync(join(data, 'projects.json'), '{"projects":[]}');
    const input = JSON.stringify({ ...MINIMAL_VIEW, mb: 'x' });
    expect((await run(['explain'], { data, input })).stdout).toMatch(/\nCorrect the page .*\n$/);
    const { stdout } = await run(['explain'], { data, input: JSON.stringify(MINIMAL_VIEW) });
    const [, again = 'false'] =
      / was removed from .* To list the project again: (.*)/.exec(stdout) ?? [];
    execFileSync('sh', ['-c', again], { cwd: '/' });
    expect(JSON.parse(readFileSync(join(data, 'projects.json'), 'utf8'))).toStrictEqual({
      projects: [{ ...entry, active: true }],
    });
  });

  it('judges a stored refused view by its own origin unless --origin names another', async () => {
    const viewlog = await startViewlog();
    const view = { ...MINIMAL_VIEW, p: '1000003', pn: 'x'.repeat(15_000) };
    await viewlog.post(view, { origin: 'https://elsewhere.example' });
    const { data } = viewlog;
    const record = await until(() => viewlog.refusedLines()[0]);
    const said = (...args: string[]) => run(['explain', ...args], { data, input: `${record}\n` });
    const judged = await said();
    expect([judged.code, judged.stdout]).toStrictEqual([
      65,
      expect.stringMatching(/^403 origin-not-allowed: .*"https:\/\/elsewhere\.example"/),
    ]);
    expect((await said('--origin', 'https://www.example.com')).code).toBe(0);
  });

  it('escapes text from unknown senders', async () => {
    const { stdout } = await explain({ ...MINIMAL_VIEW, '\u001b[2J\u202e': '\u0007' });
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(stdout).toContain(String.raw`"\u001b[2J\u202e" isn't a field of a view`);
  });
});

describe('activate', () => {
  it('prints the address of the last start if no collector runs', async () => {
    const viewlog = await startViewlog();
    const { data, url } = viewlog;
    expect((await run(['activate', '8'], { data })).stdout).toMatch(
      /\. viewlog accepts the project's views within 2 seconds\.\n/,
    );
    await viewlog.signal('SIGTERM');
    const { stdout } = await run(['activate', '9'], { data });
    expect(stdout).toMatch(/\. viewlog accepts the project's views once it is running\.\n/);
    expect(stdout).toContain(`\n  curl ${url}/view -H `);
    expect((await run(['activate', '9', '--port', '7'], { data })).stdout).toContain(
      'curl http://127.0.0.1:7/view',
    );
  });

  it("says that viewlog may be running if the collector doesn't answer", async () => {
    const { data, child } = await startViewlog();
    child.kill('SIGSTOP');
    const { stdout } = await run(['activate', '8'], { data });
    child.kill('SIGCONT');
    expect(stdout).toContain(" If viewlog is running, it accepts the project's views within 2 s");
    expect(stdout).toContain('To send a test view, if viewlog is running (it counts');
  });

  it.each([
    ['any origin', [], undefined],
    ['one origin', ['--origin', 'https://www.example.com'], 'https://www.example.com'],
    [
      'a pattern and an origin',
      ['--origin', 'https://*.example.com', '--origin', 'https://a.example'],
      'https://a.example',
    ],
  ])(
    'prints a script and a curl command that work, for a project with %s',
    async (_, origins, site) => {
      const data = dataDirectory({ projects: [] });
      const viewlog = await startViewlog({ data });
      const printed = async (...args: string[]) =>
        (await run(['activate', '7', ...origins, ...args], { data })).stdout.split('\n');
      // activate prints the address of the running collector, not of the options.
      const [, , command = '', title, curl = ''] = await printed('--port', '1');
      const url = site ?? viewlog.url;
      // The commands work in any directory.
      const shell = (text: string) =>
        spawnSync('sh', ['-c', text], { cwd: '/', encoding: 'utf8' }).stdout;
      expect(shell(command)).toContain(`"${url}/view"`);
      expect(title).toBe(
        'To send a test view to the running viewlog (it counts like any other view):',
      );
      viewlog.child.kill('SIGHUP');
      await viewlog.says(/1 active/);
      expect(shell(`${curl} -sS`)).toMatch(/^\{"id":"/);
      await viewlog.signal('SIGTERM');
      expect((await printed('--port', '8090')).slice(-3)).toStrictEqual([
        'To send a test view, once viewlog is running (it counts like any other view):',
        expect.stringContaining(' http://127.0.0.1:8090/view '),
        '',
      ]);
    },
  );
});

describe('an invalid projects file', () => {
  it('makes every command that reads it print the same list of errors', async () => {
    const data = dataDirectory({ projects: [{ id: 7 }, { id: '8', nmae: 'x' }] });
    const path = join(data, 'projects.json');
    const text = readFileSync(path, 'utf8');
    const commands = 'check,projects,serve --port=0,activate 1,deactivate 8,explain'.split(',');
    for (const command of commands) {
      const { code, stdout, stderr } = await run(command.split(' '), { data });
      expect([command, code, stdout]).toStrictEqual([command, 78, '']);
      expect(stderr.trimEnd().split('\n')).toStrictEqual([
        expect.stringMatching(/^error: .*projects\[0\]\.id must be a string/),
        expect.stringMatching(/^error: .*unknown key "nmae" \(did you mean "name"\?\)$/),
      ]);
    }
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

describe('an unknown environment variable', () => {
  it('causes a warning in the format of the log', async () => {
    const stray =
      'No command reads the environment variable VIEWLOG_MAXVIEW. Did you mean VIEWLOG_MAX_VIEW?';
    // Another command's variable is ignored.
    const env = { VIEWLOG_MAXVIEW: '1KiB', VIEWLOG_SERVICE_HOST: '10.0.0.1', VIEWLOG_TOP: 'abc' };
    const checked = await run(['check'], { env });
    expect([checked.code, checked.stderr]).toStrictEqual([0, `warning: ${stray}\n`]);
    const viewlog = await startViewlog({ env, args: ['--log', 'json'] });
    const [line] = await viewlog.says(/^.*VIEWLOG_MAXVIEW.*$/m);
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', message: stray });
    expect((await run(['report'], { env })).stderr).toMatch(/error: VIEWLOG_TOP must be/);
  });
});

it.each([
  ['serve', '--max-view', '(default: 16KiB)'],
  ['archive', '--from', 'tls://… (variable: VIEWLOG_ARCHIVE_FROM)'],
  ['archive', '--min-free', 'wait while less than this much disk space is free'],
  ['serve', '--min-free', 'refuse views while less than this much disk space is free'],
  ['report', '--from', 'yesterday (variable: VIEWLOG_FROM_DAY)'],
  ['doctor', '--project', 'which is stored (variable: none)'],
  [
    'doctor',
    '--max-view',
    "uses that collector's options. If one ran there, its options replace the defaults above.",
  ],
])("viewlog help %s describes that command's own %s", async (command, _, words) => {
  expect((await run(['help', command])).stdout.replaceAll(/\s+/g, ' ')).toContain(words);
});

it.each([
  [
    '--min-free',
    /^ {2}serve, .* refuse views [^]*\n {2}archive .* wait [^]* help trouble 'Disk full'\n/m,
  ],
  ['--from', /^ {2}report [^]*\n {2}archive [^]* help looking 'Which days'\n/m],
  ['--help', /^viewlog help \[/],
  ['-- --url', /^ {2}doctor [^]*\n {2}snippet [^]* help send\n/m],
  ["error: --data can't be used with --store", /^ {2}--data\n/],
  ['what does --keep-days do', /^## Retention\n/],
])('viewlog help %s finds the help on the option', async (asked, words) => {
  // A pasted error is one argument.
  const args = asked.startsWith('error') ? [asked] : asked.split(' ');
  expect(await run(['help', ...args])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(words),
  });
});

it("replay names a file that it can't read before it asks for a collector", async () => {
  const { code, stderr } = await run(['replay', '-', 'no.ndjson'], { input: '' });
  const message = `error: Can't read "no.ndjson": it doesn't exist; check the path\n`;
  expect([code, stderr]).toStrictEqual([74, message]);
});

it('viewlog -v prints the version and, if built in a checkout, the commit', async () => {
  const version = (await run(['-v'])).stdout;
  expect(version).toMatch(/^viewlog \d+\.\d+\.\d+( \([0-9a-f]{7,}(-dirty)?\))?\n$/);
  expect(version.includes('(')).toBe(existsSync(new URL('../.git', import.meta.url)));
});

it.each([
  'serve nats://user:secret@host',
  'nats://user:secret@host',
  'archive nats://user:secret@host',
  'activate 1000001 --origin=https://user:secret@host/path',
  'replay nats://user:secret@host --to=http://user:secret@host/path',
  'example nats://user:secret@host',
])('the error about "viewlog %s" hides the password', async (line) => {
  const { code, stdout, stderr } = await run(line.split(' '));
  expect([code, stdout, stderr]).toStrictEqual([
    64,
    '',
    expect.stringMatching(/^(?!.*secret).*…@host/s),
  ]);
});

it('a second signal ends the collector immediately', async () => {
  const viewlog = await startViewlog();
  // A body that never ends delays the stop. It has begun to arrive once the view before it is
  // stored.
  const pieces = [post(JSON.stringify(MINIMAL_VIEW)) + post('{', { 'Content-Length': '100' })];
  void speak(viewlog.port, { pieces }, 20_000);
  await until(() => viewlog.lines().length === 1);
  viewlog.child.kill('SIGTERM');
  await viewlog.says(/stopping/);
  expect((await viewlog.signal('SIGTERM')).code).toBe(143);
});

it('a collector exits with code 73 if another process takes its lock while it stops', async () => {
  const viewlog = await startViewlog();
  const client = net.connect(viewlog.port, '127.0.0.1').on('error', () => {});
  // As above, the second body has begun to arrive once the first view is stored.
  client.write(post(JSON.stringify(MINIMAL_VIEW)) + post('{', { 'Content-Length': '100' }));
  await until(() => viewlog.lines().length === 1);
  let isAsked = false;
  const holder = net.createServer((connection) => {
    isAsked = true;
    connection.end(`${JSON.stringify({ pid: process.pid, sinceMs: Date.now() })}\n`);
  });
  let hasEnded = false;
  void viewlog.ended.then(() => (hasEnded = true));
  viewlog.child.kill('SIGTERM');
  await viewlog.says(/stopping/);
  const lock = join(viewlog.data, 'viewlog.lock');
  rmSync(lock);
  holder.listen(lock);
  await until(() => isAsked || hasEnded);
  // Waits long enough for viewlog to have read the answer: nothing shows from outside that viewlog
  // has lost the lock.
  await sleep(1_000);
  client.destroy();
  const stderr = expect.stringContaining(`process ${process.pid}, running since`);
  expect(await viewlog.ended).toMatchObject({ code: 73, stderr });
  holder.close();
});

it.each([
  ['status', /^error: Unknown command "status"\. To read about it: \S+ \S+ help status\n$/],
  ['stop', /^error: Unknown command "stop"\. To read about it: \S+ \S+ help stop\n$/],
  ['verfy', /^error: Unknown command "verfy"\. Did you mean verify\?\n$/],
  ['nonsense', /^error: Unknown command "nonsense"\. To list all commands: \S+ \S+ help\n$/],
])('viewlog %s points to the command or to the help that was meant', async (word, error) => {
  const { code, stderr } = await run([word]);
  expect([code, stderr]).toStrictEqual([64, expect.stringMatching(error)]);
});
