import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { archiveAll, makeStream, publish, startArchive } from '../support/archive.ts';
import { canRunNats, startNats } from '../support/nats-server.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import { storedLines } from '../support/stored-lines.ts';
import { linesOfDays } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';
import { run, startViewlog, until } from '../support/viewlog.ts';

const PAGE = fs.readFileSync(new URL('../../src/manual/cluster.md', import.meta.url), 'utf8');
const DAYS = ['2026-02-28', '2026-03-01', '2026-03-02'];
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** A server with a stream of these lines. */
async function streamOf(lines: readonly string[], change: object = {}) {
  const nats = await startNats();
  await makeStream(nats, change);
  const connection = await nats.connect();
  await publish(connection, lines);
  return { nats, connection, url: nats.url, data: tempDir() };
}

const read = (data: string, day: string): string =>
  fs.readFileSync(join(data, `views-${day}.ndjson`), 'utf8');
const record = (data: string): Record<string, unknown> =>
  JSON.parse(fs.readFileSync(join(data, 'archive.json'), 'utf8')) as Record<string, unknown>;

/** Changes the record by hand, as an operator might. */
const edit = (data: string, change: object): void =>
  fs.writeFileSync(join(data, 'archive.json'), JSON.stringify({ ...record(data), ...change }));

describe.skipIf(!canRunNats()).each([NODE, DENO, BUN].filter(isPresent))(
  'archive on $name',
  (runtime) => {
    it('turns a stream into view files, and goes on where it was', async () => {
      const lines = linesOfDays(DAYS, 1000);
      const { connection, url, data } = await streamOf(lines.slice(0, 2000));
      await archiveAll({ runtime, url, data });
      await publish(connection, lines.slice(2000));
      const { stdout } = await archiveAll({ runtime, url, data });
      expect(stdout).toContain(`viewlog archiving "VIEWS" to "${data}", from message 2001 on\n`);
      expect(stdout).toContain('Archived 1000 views, up to message 3000\n');
      for (const day of DAYS) expect(read(data, day)).toBe(text(storedLines(day, 1000)));
      expect(record(data)).toMatchObject({ stream: 'VIEWS', sequence: 3000 });
      const files = DAYS.map((day) => join(data, `views-${day}.ndjson`));
      expect((await run(['verify', ...files], { data, runtime })).code).toBe(0);
      // Nothing is left to do.
      expect((await archiveAll({ runtime, url, data })).stdout).toContain('Archived 0 views');
    });

    it('follows the stream, and stops between two batches', async () => {
      const { connection, url, data } = await streamOf([]);
      const archive = startArchive({ runtime, url, data });
      const lines = storedLines(DAYS[0]!, 500);
      await publish(connection, lines.slice(0, 100));
      await until(
        () => fs.existsSync(join(data, 'archive.json')) && record(data)['sequence'] === 100,
      );
      void publish(connection, lines.slice(100)).catch(() => {});
      // What a collector is told, and an archive has no use for.
      archive.child.kill('SIGHUP');
      archive.child.kill('SIGUSR2');
      const ended = await archive.signal('SIGTERM');
      expect([ended.code, ended.stderr.replace(/.*min-free is off.*\n/, '')]).toStrictEqual([
        0,
        '',
      ]);
      const { sequence, writing } = record(data) as { sequence: number; writing?: object };
      expect(writing).toBeUndefined();
      expect(read(data, DAYS[0]!)).toBe(text(lines.slice(0, sequence)));
    });
  },
);

describe.skipIf(!canRunNats())('archive', () => {
  it('and a collector do not write to the same directory', async () => {
    const { url, data } = await streamOf([]);
    const archive = startArchive({ url, data });
    await until(() => archive.stdout().includes('archiving'));
    const second = await startArchive({ url, data }).ended;
    expect(second.code).toBe(73);
    expect(second.stderr).toContain(`"${data}": process ${archive.child.pid}, running`);
    const viewlog = await startViewlog();
    const third = await startArchive({ url, data: viewlog.data }).ended;
    expect([third.code, third.stderr]).toStrictEqual([
      73,
      expect.stringContaining(`process ${viewlog.child.pid}`),
    ]);
  });

  it('needs a cluster and a stream, and says which it lacks', async () => {
    const data = tempDir();
    expect(await run(['archive', '--status=off'], { data })).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('archive needs --from'),
    });
    const nowhere = await startArchive({ url: 'nats://127.0.0.1:9', data }).ended;
    expect(nowhere.code).toBe(69);
    expect(nowhere.stderr).toMatch(/^error: Cannot reach the NATS cluster at 127.0.0.1:9: .*\n$/);
    const { url } = await startNats();
    const missing = await startArchive({ url, data }).ended;
    expect(missing.code).toBe(78);
    expect(missing.stderr).toMatch(/^error: There is no stream "VIEWS"; .*--nats-stream.*\n$/);
  });

  it('does not go on with a stream that is not the one it has archived', async () => {
    const { nats, connection, url, data } = await streamOf(storedLines(DAYS[0]!, 10));
    await archiveAll({ url, data });
    const before = record(data);

    const other = await startArchive({ url, data, args: ['--nats-stream=OTHER'] }).ended;
    expect([other.code, other.stderr]).toStrictEqual([78, expect.stringContaining('"OTHER"')]);
    await makeStream(nats, { name: 'OTHER', subjects: ['other'] });
    const wrong = await startArchive({ url, data, args: ['--nats-stream=OTHER'] }).ended;
    expect([wrong.code, wrong.stderr]).toStrictEqual([
      65,
      expect.stringContaining('is the archive of stream "VIEWS", not of "OTHER"'),
    ]);

    edit(data, { sequence: 12 });
    const behind = await startArchive({ url, data }).ended;
    expect(behind.code).toBe(65);
    expect(behind.stderr).toMatch(
      /ends at message 10, though 12 is archived.*set "sequence" in ".*archive.json" to 10/,
    );

    edit(data, { sequence: 9 });
    const forked = await startArchive({ url, data }).ended;
    expect(forked.code).toBe(65);
    expect(forked.stderr).toContain('Message 9 of stream "VIEWS" is not the archived one');

    fs.writeFileSync(join(data, 'archive.json'), JSON.stringify({ ...before, sequence: -1 }));
    const faulty = await startArchive({ url, data }).ended;
    expect([faulty.code, faulty.stderr]).toStrictEqual([
      65,
      expect.stringContaining("is not an archive's record: sequence: "),
    ]);

    fs.writeFileSync(join(data, 'archive.json'), JSON.stringify(before));
    await (await nats.manager()).streams.delete('VIEWS');
    await makeStream(nats);
    await publish(connection, storedLines(DAYS[1]!, 20));
    const anew = await startArchive({ url, data }).ended;
    expect(anew.code).toBe(65);
    expect(anew.stderr).toMatch(/another of that name; move ".*archive.json" away/);
    // As it says.
    fs.renameSync(join(data, 'archive.json'), join(data, 'old.json'));
    await archiveAll({ url, data });
    expect(read(data, DAYS[1]!)).toBe(text(storedLines(DAYS[1]!, 20)));
  });

  it.each([
    ['set back', { sequence: 300, id: undefined }],
    ['set back to its start', { sequence: 0, id: undefined }],
    ['removed', undefined],
  ])('writes no view twice when its record is %s', async (_, change) => {
    const lines = linesOfDays(DAYS, 400);
    const { connection, url, data } = await streamOf(lines.slice(0, 1000));
    await archiveAll({ url, data });
    if (change === undefined) fs.rmSync(join(data, 'archive.json'));
    else edit(data, change);
    await publish(connection, lines.slice(1000));
    const { stdout } = await archiveAll({ url, data });
    expect(stdout).toContain('Archived 200 views, up to message 1200\n');
    for (const day of DAYS) expect(read(data, day)).toBe(text(storedLines(day, 400)));
    expect(record(data)).not.toHaveProperty('doubtfulTo');
  });

  it('stops when the stream is deleted under it', async () => {
    const { nats, connection, url, data } = await streamOf(storedLines(DAYS[0]!, 10));
    const archive = startArchive({ url, data });
    await until(() => fs.existsSync(join(data, 'archive.json')) && record(data)['sequence'] === 10);
    await (await nats.manager()).streams.delete('VIEWS');
    await makeStream(nats);
    await publish(connection, storedLines(DAYS[1]!, 20));
    const { code, stderr } = await archive.ended;
    expect([code, stderr]).toStrictEqual([65, expect.stringContaining('another of that name')]);
    expect(fs.existsSync(join(data, `views-${DAYS[1]!}.ndjson`))).toBe(false);
  });

  it('tells once that its server is gone, and that it is back', async () => {
    const { nats, url, data } = await streamOf([]);
    const archive = startArchive({ url, data });
    await until(() => archive.stdout().includes('archiving'));
    await nats.nodes[0]!.stop('SIGKILL');
    await until(() => archive.stderr().includes('is lost'));
    await nats.nodes[0]!.start();
    await publish(await nats.connect(), storedLines(DAYS[0]!, 10));
    await until(() => archive.lines().length === 10);
    const { stdout, stderr } = await archive.signal('SIGTERM');
    expect(stderr).toMatch(/^error: The connection to NATS server \S+ is lost; .*\n$/);
    expect(stdout.match(/Connected to|again/g)).toStrictEqual(['Connected to']);
  });

  it('removes files that are older than --keep-days, of those with newer ones', async () => {
    const { url, data } = await streamOf(linesOfDays(DAYS, 1));
    await archiveAll({ url, data });
    const args = ['--keep-days=2'];
    expect((await archiveAll({ url, data, args })).stdout).toContain('Removed 1 views file from');
    expect(fs.readdirSync(data).filter((name) => name.startsWith('views-'))).toStrictEqual(
      DAYS.slice(1).map((day) => `views-${day}.ndjson`),
    );
  });

  it('tells in its help what its options do here', async () => {
    const { stdout } = await run(['archive', '--help']);
    expect(stdout).toMatch(/--nats-stream NAME +the stream to archive \(VIEWS\)\n/);
    expect(stdout).toMatch(/--min-free SIZE +wait below this much free disk \(64MiB\)\n/);
    expect((await run(['serve', '--help'])).stdout).toContain('refuse views below');
  });

  it('tells what the stream has lost, and what is no view, and goes on', async () => {
    const lines = storedLines(DAYS[0]!, 50);
    const some = [...lines.slice(0, 30), 'no view', ...lines.slice(30)];
    const { nats, url, data } = await streamOf(some, { max_msgs: 40, discard: 'old' });
    await (await nats.manager()).streams.deleteMessage('VIEWS', 20);
    const { stderr, stdout } = await archiveAll({ url, data });
    expect(stderr).toContain('11 messages (1 to 11) of the stream had been removed before');
    expect(stderr).toContain('1 message (20 to 20) of the stream had been removed');
    expect(stderr).toContain('no collector wrote: 31 (does not start with ts and id)\n');
    expect(stdout).toContain('Archived 38 views, up to message 51');
    expect(read(data, DAYS[0]!)).toBe(text([...lines.slice(11, 19), ...lines.slice(20)]));
  });

  it('comes to the end of a stream whose last messages were removed', async () => {
    const { nats, url, data } = await streamOf(storedLines(DAYS[0]!, 10));
    await (await nats.manager()).streams.purge('VIEWS');
    const { stderr, stdout } = await archiveAll({ url, data });
    expect(stderr).toContain('10 messages (1 to 10) of the stream had been removed before');
    expect(stdout).toContain('Archived 0 views, up to message 10\n');
    expect(record(data)['sequence']).toBe(10);
  });

  it('needs no more rights on the servers than the manual gives it', async () => {
    const [, rights = ''] = /^user: archive.*\n(permissions: \{.*?\n\})$/ms.exec(PAGE) ?? [];
    const config = `authorization { users: [
      { user: test, password: test, permissions: { publish: ">", subscribe: ">" } }
      { user: archive, password: "se/cret", ${rights} }
    ] }`;
    const nats = await startNats({ config, login: { user: 'test', pass: 'test' } });
    await makeStream(nats);
    await publish(await nats.connect(), ['no view', ...storedLines(DAYS[0]!, 10)]);
    await (await nats.manager()).streams.deleteMessage('VIEWS', 3);
    const data = tempDir();
    const login = 'archive:se%2Fcret';
    const url = nats.url.replace('nats://', `nats://${login}@`);
    for (const views of [9, 0]) {
      const { stdout, stderr } = await archiveAll({ url, data });
      expect(stdout).toContain(`Archived ${views} views, up to message 11\n`);
      expect(stdout + stderr).not.toMatch(/cret|ermission/);
    }
  });

  it('shows how it is on the operator’s listener', async () => {
    const { nats, url, data } = await streamOf([...storedLines(DAYS[0]!, 100), 'no view']);
    const archive = startArchive({ url, data, args: ['--status=127.0.0.1:0'] });
    const [, status] = await until(() => /^status page on (\S+)\/$/m.exec(archive.stdout()));
    await until(
      () => fs.existsSync(join(data, 'archive.json')) && record(data)['sequence'] === 101,
    );
    const get = (path: string, init = {}) => fetch(`${status}${path}`, init);
    expect((await get('/healthz')).status).toBe(200);
    expect(await (await get('/readyz')).json()).toStrictEqual({
      status: 'ready',
      reasons: [],
      warnings: [],
    });
    const metrics = await (await get('/metrics')).text();
    expect(metrics).toContain('\nviewlog_archive_sequence 101\n');
    expect(metrics).toContain('\nviewlog_archive_lag_messages 0\n');
    expect(metrics).toContain('\nviewlog_archive_skipped_total 1\n');
    expect(metrics).toContain('\nviewlog_written_lines_total 100\n');
    const page = await (await get('/')).text();
    expect(page).toMatch(/^state +archiving\n/);
    expect(page).toMatch(/\narchived up to +101\n/);
    expect((await get('/', { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    await nats.nodes[0]!.stop('SIGKILL');
    await until(async () => (await get('/readyz')).status === 503);
    expect(await (await get('/readyz')).text()).toContain('no connection to the cluster');
    expect((await archive.signal('SIGTERM')).code).toBe(0);
  });

  it.skipIf(!canMount())('waits on a full disk, and completes what it wrote there', async () => {
    const lines = storedLines(DAYS[0]!, 4000);
    const { url } = await streamOf(lines);
    const data = smallDisk(1024 * 1024);
    const args = ['--min-free=0'];
    const archive = startArchive({ url, data, args });
    await until(() => archive.stderr().includes('no space left on device'));
    const stopped = await archive.signal('SIGTERM');
    expect([stopped.code, stopped.stderr]).toStrictEqual([
      74,
      expect.stringContaining(
        'ends in half a line, since the disk is full; the next start completes',
      ),
    ]);
    const half = read(data, DAYS[0]!);
    expect(half.endsWith('\n')).toBe(false);
    const again = startArchive({ url, data, args });
    await until(() => again.stderr().includes('no space left on device'));
    expect((await again.signal('SIGKILL')).code).toBe(null);
    execFileSync('mount', ['-o', 'remount,size=16m', data]);
    await archiveAll({ url, data, args });
    expect(read(data, DAYS[0]!)).toBe(text(lines));
  });
});
