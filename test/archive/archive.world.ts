import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Archive, archiveAll, makeStream, publish, startArchive } from '../support/archive.ts';
import { recordIn } from '../support/archived.ts';
import { canRunNats, type NatsNode, startNats, startNatsCluster } from '../support/nats-server.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { storedLines } from '../support/stored-lines.ts';
import { linesOfDays } from '../support/stream.ts';
import { tempDir } from '../support/temp-dir.ts';
import { run, until } from '../support/viewlog.ts';

const PAGE = fs.readFileSync(new URL('../../src/manual/archiving.md', import.meta.url), 'utf8');
const DAYS = ['2026-02-28', '2026-03-01', '2026-03-02'];
const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** Starts a server with a stream of these lines. */
async function streamOf(lines: readonly string[], change: object = {}) {
  const nats = await startNats();
  await makeStream(nats, change);
  const connection = await nats.connect();
  await publish(connection, lines);
  return { nats, connection, url: nats.url, data: tempDir() };
}

const read = (data: string, day: string): string =>
  fs.readFileSync(join(data, `views-${day}.ndjson`), 'utf8');
const hasRecorded = (data: string, sequence: number) => () => recordIn(data)?.sequence === sequence;

describe.skipIf(!canRunNats()).each([NODE, DENO, BUN].filter(isPresent))(
  'an archive on %s',
  (runtime) => {
    it('turns a stream into view files, follows the stream and continues where it stopped', async () => {
      const lines = linesOfDays(DAYS, 1000);
      const { nats, connection, url, data } = await streamOf(lines.slice(0, 2000));
      const archive = startArchive({ runtime, url, data });
      await until(hasRecorded(data, 2000));
      void publish(connection, lines.slice(2000)).catch(() => {});
      // A collector acts on these signals; an archive ignores them.
      archive.child.kill('SIGHUP');
      archive.child.kill('SIGUSR2');
      const { code, stderr } = await archive.signal('SIGTERM');
      expect([code, stderr.replace(/.*min-free is off.*\n/, '')]).toStrictEqual([0, '']);
      await until(async () => (await nats.stream('VIEWS')).state.last_seq === lines.length);
      const { stdout } = await archiveAll({ runtime, url, data });
      expect(stdout).toContain(`viewlog archiving stream "VIEWS" to "${data}"\n`);
      expect(stdout).toMatch(/Archived [\d,]+ views, up to message 3000\n/);
      for (const day of DAYS) expect(read(data, day)).toBe(text(storedLines(day, 1000)));
      expect(recordIn(data)).toMatchObject({ stream: 'VIEWS', sequence: 3000 });
      const files = DAYS.map((day) => join(data, `views-${day}.ndjson`));
      expect((await run(['verify', ...files], { data, runtime })).code).toBe(0);
      // The stream has no new messages.
      expect((await archiveAll({ runtime, url, data })).stdout).toContain('Archived 0 views');
    });
  },
);

describe.skipIf(!canRunNats())('an archive', () => {
  it('refuses to start without a cluster or a stream and names the missing one', async () => {
    const data = tempDir();
    expect(await run(['archive', '--status=off'], { data })).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('archive needs --from'),
    });
    const nowhere = await startArchive({ url: 'nats://127.0.0.1:9', data }).ended;
    expect(nowhere.code).toBe(69);
    expect(nowhere.stderr).toMatch(/^error: Can't reach the NATS cluster at 127.0.0.1:9: .*\n$/);
    const { url } = await startNats();
    const missing = await startArchive({ url, data }).ended;
    expect(missing.code).toBe(78);
    expect(missing.stderr).toMatch(/^error: There is no stream "VIEWS"; .*--nats-stream.*\n$/);
  });

  it("doesn't say that views are gone which a restore brings back", async () => {
    const { connection, url, data } = await streamOf(storedLines(DAYS[0]!, 3));
    const archive = startArchive({ url, data });
    await until(hasRecorded(data, 3));
    fs.truncateSync(join(data, `views-${DAYS[0]}.ndjson`));
    await archive.says(/^error: View file ".*" was cut short .* --restore 2026-02-28$/m);
    await publish(connection, storedLines(DAYS[0]!, 4).slice(3));
    await until(hasRecorded(data, 4));
    expect((await archive.signal('SIGTERM')).stderr).not.toContain('gone');
  });

  it('needs only the permissions that the manual lists', async () => {
    const [, rights = ''] = /^user: archive.*\n(permissions: \{.*?\n\})$/ms.exec(PAGE) ?? [];
    const config = `authorization { users: [
      { user: test, password: test, permissions: { publish: ">", subscribe: ">" } }
      { user: archive, password: "se/cret", ${rights} }
    ] }`;
    const nats = await startNats({ config, login: { user: 'test', pass: 'test' } });
    await makeStream(nats);
    await publish(await nats.connect(), ['no view', ...storedLines(DAYS[0]!, 10)]);
    const manager = await nats.manager();
    for (const sequence of [3, 11]) await manager.streams.deleteMessage('VIEWS', sequence);
    const data = tempDir();
    const login = 'archive:se%2Fcret';
    const url = nats.url.replace('nats://', `nats://${login}@`);
    for (const views of [8, 0]) {
      const { stdout, stderr } = await archiveAll({ url, data });
      expect(stdout).toContain(`Archived ${views} views, up to message 11\n`);
      expect(stdout + stderr).not.toMatch(/cret|ermission/);
    }
  });

  it('shows its state on the status server', async () => {
    const { nats, url, data } = await streamOf([...storedLines(DAYS[0]!, 100), 'no view']);
    const archive = startArchive({ url, data, args: ['--status=127.0.0.1:0'] });
    const [, status] = await until(() => /^Status page on (\S+)\/$/m.exec(archive.stdout()));
    await until(hasRecorded(data, 101));
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
    expect(page).toMatch(/^State: +archiving\n/);
    expect(page).toMatch(/\nThe last message archived\. +101\n/);
    expect((await get('/', { headers: { origin: 'https://evil.example' } })).status).toBe(403);
    await nats.nodes[0]!.stop('SIGKILL');
    await until(async () => (await get('/readyz')).status === 503);
    expect(await (await get('/readyz')).text()).toContain('no connection to the cluster');
    expect((await archive.signal('SIGTERM')).code).toBe(0);
  });
});

// Servers that restart with an earlier copy of their directories. They lack messages that they had
// delivered and give the sequences of those messages to other messages.

const FIRST = storedLines('2026-02-28', 10);
const LOST = storedLines('2026-03-01', 10);
const FRESH = storedLines('2026-03-02', 15);

/**
 * Starts servers with a stream of the first lines; returns functions that publish lines and restore
 * that state.
 */
async function scene(startServers = startNats) {
  const nats = await startServers();
  await makeStream(nats);
  const connection = await nats.connect();
  await publish(connection, FIRST);
  const copies = tempDir();
  const each = async (work: (node: NatsNode) => unknown): Promise<void> => {
    await Promise.all(nats.nodes.map((node) => work(node)));
  };
  /** Changes the servers' directories while the servers are down. */
  const whileDown = async (work: (dir: string, copy: string) => void): Promise<void> => {
    await each((node) => node.stop('SIGTERM'));
    await each(({ storeDir, name }) => work(storeDir, join(copies, name)));
    await each((node) => node.start());
    await nats.ready();
    await nats.leaderOf('VIEWS');
  };
  await whileDown((dir, copy) => fs.cpSync(dir, copy, { recursive: true }));
  return {
    url: nats.url,
    publish: (lines: readonly string[]) => publish(connection, lines),
    /** Restores the first state and publishes these lines before the archive reads again. */
    goBack: async (lines: readonly string[], archive?: Archive): Promise<void> => {
      archive?.child.kill('SIGSTOP');
      await whileDown((dir, copy) => {
        fs.rmSync(dir, { recursive: true });
        fs.cpSync(copy, dir, { recursive: true });
      });
      expect((await nats.stream('VIEWS')).state.last_seq).toBe(FIRST.length);
      await publish(connection, lines);
      archive?.child.kill('SIGCONT');
    },
  };
}

describe.skipIf(!canRunNats())('an archive of servers that have lost messages', () => {
  it.each([
    ['one server', startNats],
    ['a cluster of three', startNatsCluster],
  ])('keeps its views, and archives the new messages of %s', async (_, start) => {
    const { url, publish, goBack } = await scene(start);
    const data = tempDir();
    const archive = startArchive({ url, data });
    await publish(LOST);
    await until(hasRecorded(data, 20));
    // One of the lost messages is published again, with another sequence.
    await goBack([LOST[3]!, ...FRESH], archive);
    await until(hasRecorded(data, 26));
    const { code, stderr } = await archive.signal('SIGTERM');
    expect(archive.lines()).toStrictEqual([...FIRST, ...LOST, ...FRESH]);
    expect(code).toBe(0);
    expect(stderr).toContain('error: The servers have lost messages of stream "VIEWS" that are');
    expect((await archiveAll({ url, data })).stdout).toContain('Archived 0 views');
  });
});
