import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BUN, DENO, isPresent, NODE, type Runtime } from '../support/runtimes.ts';
import { storedLines } from '../support/stored-lines.ts';
import { dataDirectory, run, start, startViewlog } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

const RUNTIMES = [NODE, DENO, BUN].filter(isPresent);
const DAY = '2026-03-01';
const VIEWS = `views-${DAY}.ndjson`;

function filled(views = 3): string {
  const data = dataDirectory();
  const lines = Array.from({ length: views }, (_, i) =>
    storedLines(DAY, 1, { url: `/${i}`.padEnd(70, 'x'), pn: `Page ${i}` }).join(''),
  );
  writeFileSync(join(data, VIEWS), `${lines.join('\n')}\n`);
  return data;
}

/** Runs a command in a line of the shell, in which `"$@"` is the command. */
function inShell(line: string, args: readonly string[], runtime: Runtime, data = filled()) {
  const command = (path: string): [string, ...string[]] => [
    ...(['sh', '-c', line, 'sh'] as const),
    ...runtime.command(path),
  ];
  const input = JSON.stringify(MINIMAL_VIEW);
  return start(args, data, { runtime: { ...runtime, command }, input }).ended;
}

/** They stand for all commands, because every command prints in one place. */
const COMMANDS = ['version', 'help serve', 'check --data .', `verify ${VIEWS} ${VIEWS}`];
const CASES = RUNTIMES.flatMap((runtime) => COMMANDS.map((line) => [line, runtime] as const));

const notWritten = /^error: Cannot write to stdout: [^\n]*no space left[^\n]*\n$/i;
const CLOSED = '{ "$@"; echo "code $?" >&2; } | :';

it.each(CASES)('%s: output that cannot be written is exit 74, on $name', async (line, runtime) => {
  const { code, stderr } = await inShell('"$@" > /dev/full', line.split(' '), runtime);
  expect([code, stderr]).toStrictEqual([74, expect.stringMatching(notWritten)]);
});

it.each(CASES)('%s: a pipe that nobody reads ends it quietly, on $name', async (line, runtime) => {
  const { stderr } = await inShell(CLOSED, line.split(' '), runtime);
  expect(stderr).toBe('code 0\n');
});

describe.each(RUNTIMES)('on $name', (runtime) => {
  it('a slow reader gets all the output', async () => {
    const data = filled(2000);
    const args = ['report', '--data', '.', '--top', '1000'];
    const { stdout } = await inShell('"$@" | { sleep 1; cat; }', args, runtime, data);
    await inShell('"$@" > out', args, runtime, data);
    expect(stdout.length).toBeGreaterThan(70_000);
    expect(stdout).toBe(readFileSync(join(data, 'out'), 'utf8'));
  });

  it('a collector outlives the readers of its log', async () => {
    const viewlog = await startViewlog({ runtime });
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

// Deno writes to devices only with all permissions.
describe.each(RUNTIMES.filter((runtime) => runtime !== DENO))('a page, on $name', (runtime) => {
  const page = (path: string, line = '"$@"') =>
    inShell(line, ['report', '--data', '.', '--html', path], runtime);

  it('that cannot be written is exit 74, or 73 if it cannot be created', async () => {
    const full = await page('/dev/full');
    const noSpace = /^error: Cannot write to "\/dev\/full": [^\n]*no space left[^\n]*\n$/i;
    expect(full).toMatchObject({ code: 74, stdout: '', stderr: expect.stringMatching(noSpace) });
    const nowhere = await page('no/where.html');
    const cannot = /^error: Cannot write "no\/where.html": [^\n]*\n$/;
    expect(nowhere).toMatchObject({ code: 73, stderr: expect.stringMatching(cannot) });
  });

  it('goes into a pipe too, and ends with it', async () => {
    expect((await page('/dev/stdout', '"$@" | cat')).stdout).toMatch(/^<!doctype html>/i);
    expect((await page('/dev/stdout', '"$@" | :')).stderr).toBe('');
  });
});

it('--log json writes nothing but JSON, to the end', async () => {
  const parsed = (text: string) =>
    Array.from(text.trimEnd().split('\n'), (line) => JSON.parse(line));
  const viewlog = await startViewlog({ args: ['--log=json'] });
  const { stdout, stderr } = await viewlog.signal('SIGTERM');
  expect(parsed(stdout)).toMatchObject([
    { level: 'info', message: `viewlog listening on ${viewlog.url}` },
    { level: 'info', message: 'viewlog stopping' },
  ]);
  expect(stderr).toBe('');
  const data = dataDirectory({ projects: [{ id: 1 }, { di: '2' }] });
  const failed = await run(['serve', '--log=json', '--status=off'], { data });
  expect(failed.code).toBe(78);
  expect(parsed(failed.stderr).length).toBeGreaterThan(1);
});
