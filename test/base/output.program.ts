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

/** Runs a line of the shell, in which `"$@"` stands for the command. */
function inShell(line: string, args: readonly string[], runtime: Runtime, data = filled()) {
  const command = (path: string): [string, ...string[]] => [
    ...(['sh', '-c', line, 'sh'] as const),
    ...runtime.command(path),
  ];
  return start(args, data, { runtime: { ...runtime, command } }).ended;
}

/** These commands represent all, because every command prints through the same code. */
const COMMANDS = ['version', 'help serve', 'check --data .', `verify ${VIEWS} ${VIEWS}`];

describe.each(RUNTIMES)('on %s', (runtime) => {
  it("a command exits with code 74 if its output can't be written, and with code 0 if its pipe is closed", async () => {
    const noSpace = /^error: Can't write to stdout: [^\n]*no space left[^\n]*\n$/i;
    for (const line of COMMANDS) {
      const full = await inShell('"$@" > /dev/full', line.split(' '), runtime);
      expect(full).toMatchObject({ code: 74, stderr: expect.stringMatching(noSpace) });
      const closed = await inShell('{ "$@"; echo "code $?" >&2; } | :', line.split(' '), runtime);
      expect([line, closed.stderr]).toStrictEqual([line, 'code 0\n']);
    }
  });

  it('a slow reader gets the whole output', async () => {
    const data = filled(2000);
    const args = ['report', '--data', '.', '--top', '1000'];
    const { stdout } = await inShell('"$@" | { sleep 1; cat; }', args, runtime, data);
    await inShell('"$@" > out', args, runtime, data);
    expect(stdout.length).toBeGreaterThan(70_000);
    expect(stdout).toBe(readFileSync(join(data, 'out'), 'utf8'));
  });

  it('a collector keeps running after its stdout and stderr are closed', async () => {
    const viewlog = await startViewlog({ runtime });
    viewlog.child.stdout.destroy();
    viewlog.child.stderr.destroy();
    // viewlog logs each of these steps.
    viewlog.child.kill('SIGUSR2');
    writeFileSync(join(viewlog.data, 'projects.json'), '{');
    viewlog.child.kill('SIGHUP');
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    expect(await viewlog.signal('SIGTERM')).toMatchObject({ code: 0, signal: null });
  });

  it("report exits with code 73 if its page can't be created, and with code 74 if it can't be written", async () => {
    const page = (path: string) =>
      inShell('"$@"', ['report', '--data', '.', '--html', path], runtime);
    const cannot = /^error: Can't write "no\/where.html": [^\n]*\n$/;
    const nowhere = await page('no/where.html');
    expect(nowhere).toMatchObject({ code: 73, stderr: expect.stringMatching(cannot) });
    // Deno writes to devices only with all permissions.
    if (runtime === DENO) return;
    const noSpace = /^error: Can't write to "\/dev\/full": [^\n]*no space left[^\n]*\n$/i;
    const full = await page('/dev/full');
    expect(full).toMatchObject({ code: 74, stdout: '', stderr: expect.stringMatching(noSpace) });
  });
});

it('serve with --log json writes only JSON, from its start to its end', async () => {
  const levelsOf = (text: string) =>
    Array.from(text.trimEnd().split('\n'), (line) => (JSON.parse(line) as { level: string }).level);
  const { stdout } = await (await startViewlog({ args: ['--log=json'] })).signal('SIGTERM');
  expect(levelsOf(stdout)).toStrictEqual(['info', 'info']);
  const data = dataDirectory({ projects: [{ id: 1 }, { di: '2' }] });
  const failed = await run(['serve', '--log=json', '--status=off'], { data });
  expect(failed.code).toBe(78);
  expect(new Set(levelsOf(failed.stderr))).toStrictEqual(new Set(['error']));
});
