import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  BUN,
  DENO,
  EXECUTABLE,
  isPresent,
  NODE,
  OLDEST_DENO,
  type Runtime,
} from '../support/runtimes.ts';
import { storedLines } from '../support/stored-lines.ts';
import { MINIMAL_VIEW } from '../support/views.ts';
import { dataDirectory, type Ended, start, startViewlog } from '../support/viewlog.ts';

const RUNTIMES = [NODE, DENO, BUN, EXECUTABLE].filter(isPresent);
const DAY = '2026-03-01';
const VIEWS = `views-${DAY}.ndjson`;
const REFUSED = `refused-${DAY}.ndjson`;

function filled(views = 3): string {
  const data = dataDirectory();
  const lines = Array.from({ length: views }, (_, i) =>
    storedLines(DAY, 1, { url: `/${i}`.padEnd(70, 'x'), pn: `Page ${i}` }).join(''),
  );
  writeFileSync(join(data, VIEWS), `${lines.join('\n')}\n`);
  writeFileSync(join(data, REFUSED), '');
  // An edit of the projects file is waited for.
  utimesSync(join(data, 'projects.json'), 0, 0);
  return data;
}

/** Runs a command in a line of the shell, in which `"$@"` is the command. */
function inShell(line: string, args: readonly string[], runtime: Runtime, data: string) {
  const command = (path: string): [string, ...string[]] => [
    ...(['sh', '-c', line, 'sh'] as const),
    ...runtime.command(path),
  ];
  const input = JSON.stringify(MINIMAL_VIEW);
  return start(args, data, { runtime: { ...runtime, command }, input }).ended;
}

const COMMANDS = [
  ['help'],
  ['help', 'serve'],
  ['--help'],
  ['version'],
  ['check', '--data', '.'],
  ['projects', '--data', '.'],
  ['explain', '--data', '.'],
  ['activate', '1000009', '--data', '.'],
  ['deactivate', '1000001', '--data', '.'],
  ['doctor', '--data', '.', '--port=0', '--status=off'],
  ['verify', VIEWS],
  ['verify', VIEWS, VIEWS, VIEWS],
  ['report', '--data', '.'],
  ['report', '--data', '.', '--json'],
  ['example', 'vector', '--data', '/var/lib/viewlog'],
].map((args) => ({ args, line: args.join(' ') }));

/** On other runtimes than Node a few stand for all: every command prints in one place. */
const commandsOn = (runtime: Runtime) =>
  runtime === NODE
    ? COMMANDS
    : COMMANDS.filter(({ args: [name] }) => ['version', 'verify'].includes(name!));

const notWritten = /^error: Cannot write to stdout: [^\n]*no space left[^\n]*\n$/i;
const CLOSED = '{ "$@"; echo "code $?" >&2; } | :';

describe.each(RUNTIMES)('on $name', (runtime) => {
  it.each(commandsOn(runtime))(
    'output that cannot be written is an error of 74: $line',
    async ({ args }) => {
      const { code, stderr } = await inShell('"$@" > /dev/full', args, runtime, filled());
      expect([code, stderr]).toStrictEqual([74, expect.stringMatching(notWritten)]);
    },
  );

  it('output that cannot be written is an error of 74: replay', async () => {
    const viewlog = await startViewlog();
    const args = ['replay', REFUSED, '--data', '.', '--to', viewlog.url];
    const { code, stderr } = await inShell('"$@" > /dev/full', args, runtime, filled());
    expect([code, stderr]).toStrictEqual([74, expect.stringMatching(notWritten)]);
  });

  it.each(commandsOn(runtime))(
    'a pipe that nobody reads is a quiet end: $line',
    async ({ args }) => {
      const { stderr } = await inShell(CLOSED, args, runtime, filled());
      expect(stderr).toBe('code 0\n');
    },
  );

  it('one who reads slowly gets it all', async () => {
    const data = filled(2000);
    const args = ['report', '--data', '.', '--top', '1000'];
    const { stdout } = await inShell('"$@" | { sleep 1; cat; }', args, runtime, data);
    await inShell('"$@" > out', args, runtime, data);
    expect(stdout.length).toBeGreaterThan(70_000);
    expect(stdout).toBe(readFileSync(join(data, 'out'), 'utf8'));
  });

  it('a collector outlives those who read its log', async () => {
    const viewlog = await startViewlog({ runtime });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    viewlog.child.stdout!.destroy();
    viewlog.child.stderr!.destroy();
    // Each is logged.
    viewlog.child.kill('SIGUSR2');
    writeFileSync(join(viewlog.data, 'projects.json'), '{');
    viewlog.child.kill('SIGHUP');
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    expect(await viewlog.signal('SIGTERM')).toMatchObject({ code: 0, signal: null });
  });
});

// Deno lets nobody write to a device who may not do everything.
describe.each(RUNTIMES.filter((runtime) => runtime !== DENO))('on $name, a page', (runtime) => {
  const page = (path: string, line = '"$@"'): Promise<Ended> =>
    inShell(line, ['report', '--data', '.', '--html', path], runtime, filled());

  it('that cannot be written is an error of 74, of 73 where it cannot be made', async () => {
    const full = await page('/dev/full');
    expect([full.code, full.stdout, full.stderr]).toStrictEqual([
      74,
      '',
      expect.stringMatching(/^error: Cannot write to "\/dev\/full": [^\n]*no space left[^\n]*\n$/i),
    ]);
    const nowhere = await page('no/where.html');
    expect([nowhere.code, nowhere.stderr]).toStrictEqual([
      73,
      expect.stringMatching(/^error: Cannot write "no\/where.html": [^\n]*\n$/),
    ]);
  });

  it('goes into a pipe too, and ends with it', async () => {
    expect((await page('/dev/stdout', '"$@" | cat')).stdout).toMatch(/^<!doctype html>/i);
    expect((await page('/dev/stdout', '"$@" | :')).stderr).toBe('');
  });
});

it.skipIf(!isPresent(OLDEST_DENO))('both ends are the same where errors have no code', async () => {
  const full = await inShell('"$@" > /dev/full', ['help'], OLDEST_DENO, filled());
  expect([full.code, full.stderr]).toStrictEqual([74, expect.stringMatching(notWritten)]);
  expect((await inShell(CLOSED, ['help'], OLDEST_DENO, filled())).stderr).toBe('code 0\n');
});
