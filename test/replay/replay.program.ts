import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { Random } from '../simulation/random.ts';
import { tempDir } from '../support/temp-dir.ts';
import { dataDirectory, run, start, startViewlog, until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// Kills a real replay and its collector often and replays one file under several names. The
// simulator tries more. REPLAY_SEED=n chooses a different order of events.

const SEED = Number(process.env['REPLAY_SEED'] ?? 1);
const COUNT = 60;
const KILLS = 6;

interface Refused {
  readonly id: string;
  readonly view: { readonly pid: string };
}

/** Copies the only file of refused views; returns the paths of the file, its `.gz` and its copy. */
function refusedPaths(data: string): readonly string[] {
  const file = join(
    data,
    readdirSync(data).find((name) => name.startsWith('refused-'))!,
  );
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)));
  copyFileSync(file, join(data, 'copy'));
  return [file, `${file}.gz`, join(data, 'copy')];
}

it('a replay that is killed at any point stores each view once or lists it with an unknown outcome', async () => {
  const random = new Random(SEED);
  const data = dataDirectory({ projects: [] });
  let viewlog = await startViewlog({ data });
  for (let n = 0; n < COUNT; n++) {
    const { status } = await viewlog.post({ ...MINIMAL_VIEW, pid: String(n) });
    expect(status).toBe(403);
  }
  await until(() => viewlog.refusedLines().length === COUNT);
  const refused = viewlog.refusedLines().map((line) => JSON.parse(line) as Refused);
  const names = refusedPaths(data);
  const stored = (): string[] =>
    viewlog.lines().flatMap((line) => (line.endsWith('}') ? [JSON.parse(line).pid as string] : []));
  const replay = () =>
    start(['replay', random.pick(names), `--port=${viewlog.port}`, `--data=${data}`], data);
  writeFileSync(join(data, 'projects.json'), '{"projects":[{"id":"1000001"}]}');
  const trace: string[] = [];
  for (let kills = 0; kills < KILLS; kills++) {
    const { child, ended } = replay();
    const enough = stored().length + random.below(8);
    await until(() => stored().length > enough || child.exitCode !== null);
    const victim = random.pick(['replay', 'collector']);
    if (victim === 'replay') child.kill('SIGKILL');
    else {
      await viewlog.signal(random.pick(['SIGKILL', 'SIGTERM']));
      viewlog = await startViewlog({ data });
    }
    const { code, signal } = await ended;
    trace.push(`${victim}: ${signal ?? code}, ${stored().length} stored`);
  }
  const { stdout, code } = await replay().ended;
  const [, ids = ''] = /may be stored: (.*)/.exec(stdout) ?? [];
  const unknown = ids.split(' ').filter(Boolean);
  const found = stored();
  const lost = refused.filter(({ id, view }) => !found.includes(view.pid) && !unknown.includes(id));
  const said = trace.join('\n');
  expect(code, said).toBe(unknown.length === 0 ? 0 : 65);
  expect(unknown.length, said).toBeLessThanOrEqual(KILLS);
  expect(new Set(found).size, said).toBe(found.length);
  expect(lost, said).toStrictEqual([]);
});

it('replay sends views only to the collector that holds the data directory', async () => {
  const data = dataDirectory({ projects: [] });
  const viewlog = await startViewlog({ data });
  await viewlog.post(MINIMAL_VIEW);
  await until(() => viewlog.refusedLines().length === 1);
  writeFileSync(join(data, 'projects.json'), '{"projects":[{"id":"1000001"}]}');
  const again = ['replay', refusedPaths(data)[0]!, `--data=${data}`];
  expect(await start(again, data).ended).toMatchObject({ code: 0 });
  expect(viewlog.lines()).toHaveLength(1);
  chmodSync(join(data, 'viewlog.lock'), 0);
  // Root may connect to every socket.
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? { user: { uid: 1, gid: 1 } } : {};
  expect(await start(again, '/', user).ended).toMatchObject({
    code: 74,
    stderr: expect.stringMatching(/refused-.*: permission denied; run the command as /),
  });
  expect(await start(['replay', '-', `--data=${data}`], '/', user).ended).toMatchObject({
    code: 69,
    stderr: expect.stringMatching(
      isRoot
        ? /This user isn't allowed to ask which collector is writing to ".*"; run the command as root/
        : /; give the collector's address with --to$/m,
    ),
  });
  if (isRoot) {
    chmodSync(data, 0o755);
    chmodSync(join(data, 'projects.json'), 0o644);
    const to = ['replay', '-', `--data=${data}`, `--to=http://127.0.0.1:${viewlog.port}`];
    expect(await start(to, '/', user).ended).toMatchObject({
      code: 73,
      stderr: expect.stringMatching(
        /replay\.lock": permission denied; run the command as root: .* replay - /,
      ),
    });
  }
  await viewlog.signal('SIGTERM');
  const { code, stderr } = await start(again, data).ended;
  expect([code, stderr]).toStrictEqual([
    69,
    expect.stringContaining('No collector is writing to '),
  ]);
  expect(await start(['replay', '-', '--data=/nowhere'], '/').ended).toMatchObject({
    code: 73,
    stderr: expect.stringContaining('There is no directory "/nowhere"; give the collector'),
  });
  const [, doctor = 'false'] = /To check this directory: (.*)/.exec(stderr) ?? [];
  expect(execFileSync('sh', ['-c', doctor], { encoding: 'utf8' })).toMatch(
    / Start viewlog:\n.* serve /,
  );
});

it("replay finds the collector by the data directory, not by the projects file's directory", async () => {
  const [data, other] = [dataDirectory({ projects: [] }), dataDirectory({ projects: [] })];
  const projects = `--projects=${join(other, 'projects.json')}`;
  const viewlog = await startViewlog({ data, args: [projects] });
  const second = await startViewlog({ data: other });
  await viewlog.post(MINIMAL_VIEW);
  await until(() => viewlog.refusedLines().length === 1);
  writeFileSync(join(other, 'projects.json'), '{"projects":[{"id":"1000001"}]}');
  const again = ['replay', refusedPaths(data)[0]!, `--data=${data}`, projects];
  expect(await start(again, data).ended).toMatchObject({ code: 0 });
  expect([viewlog.lines().length, second.lines().length]).toStrictEqual([1, 0]);
});

it("replay refuses a file in a collector's data directory with another --data, and --to with the default one", async () => {
  const viewlog = await startViewlog({ data: dataDirectory({ projects: [] }) });
  await viewlog.post(MINIMAL_VIEW);
  await until(() => viewlog.refusedLines().length === 1);
  const projects = '{"projects":[{"id":"1000001"}]}';
  writeFileSync(join(viewlog.data, 'projects.json'), projects);
  const [file = ''] = refusedPaths(viewlog.data);
  const own = `--data=${viewlog.data}`;
  expect(await start(['replay', file, own], '/').ended).toMatchObject({ code: 0 });
  const cwd = tempDir();
  mkdirSync(join(cwd, 'data'));
  writeFileSync(join(cwd, 'data/projects.json'), projects);
  const to = ['--to', viewlog.url];
  for (const isRunning of [true, false]) {
    if (!isRunning) await viewlog.signal('SIGTERM');
    const wrong = await start(['replay', file, ...to], cwd).ended;
    expect([wrong.code, wrong.stderr]).toStrictEqual([
      64,
      expect.stringContaining(`give that directory: --data ${viewlog.data}\n`),
    ]);
  }
  const copy = join(cwd, 'copy.ndjson');
  copyFileSync(file, copy);
  const elsewhere = await start(['replay', copy, ...to], cwd).ended;
  expect([elsewhere.code, elsewhere.stderr]).toStrictEqual([
    69,
    expect.stringContaining(
      'No collector is writing to "./data"; start the collector, or give the --data of ',
    ),
  ]);
  expect(viewlog.lines()).toHaveLength(1);
});

it('replay refuses a file of accepted views', async () => {
  const { code, stderr } = await run(['replay', 'views-2026-03-01.ndjson']);
  expect([code, stderr]).toStrictEqual([
    64,
    'error: "views-2026-03-01.ndjson" is named like a file of accepted views; replay needs a ' +
      'file of refused views, such as refused-2026-01-31.ndjson\n',
  ]);
});
