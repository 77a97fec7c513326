import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRecord } from '../../src/archive/archive-record.ts';
import { type Archive, archiveAll, makeStream, publish, startArchive } from '../support/archive.ts';
import { canRunNats, type NatsNode, startNats, startNatsCluster } from '../support/nats-server.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import { storedLines } from '../support/stored-lines.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/viewlog.ts';

// Servers that come back without messages that they had delivered, and give their numbers to
// others: real servers, whose directories are put back to what they were.

const FIRST = storedLines('2026-02-28', 10);
const LOST = storedLines('2026-03-01', 10);
const FRESH = storedLines('2026-03-02', 15);
const MiB = 1024 * 1024;

/** Servers whose stream has the first lines, and a way back to there. */
async function scene(startServers = startNats) {
  const nats = await startServers();
  await makeStream(nats);
  const connection = await nats.connect();
  await publish(connection, FIRST);
  const copies = tempDir();
  const each = async (work: (node: NatsNode) => unknown): Promise<void> => {
    await Promise.all(nats.nodes.map((node) => work(node)));
  };
  /** Does something to their directories while they are down. */
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
    /** What is published then is there before the archive looks. */
    goBack: async (archive: Archive, lines: readonly string[]): Promise<void> => {
      archive.child.kill('SIGSTOP');
      await whileDown((dir, copy) => {
        fs.rmSync(dir, { recursive: true });
        fs.cpSync(copy, dir, { recursive: true });
      });
      expect((await nats.stream('VIEWS')).state.last_seq).toBe(FIRST.length);
      await publish(connection, lines);
      archive.child.kill('SIGCONT');
    },
  };
}

const hasRecorded = (data: string, sequence: number) => () =>
  fs.existsSync(join(data, 'archive.json')) && readRecord(data)!.sequence === sequence;

describe.skipIf(!canRunNats())('archive of servers that have lost messages', () => {
  it.each([
    ['one server', startNats],
    ['a cluster of three', startNatsCluster],
  ])(
    'keeps what it has archived, and goes on with what is in its place: %s',
    { timeout: 90_000 },
    async (_, start) => {
      const { url, publish, goBack } = await scene(start);
      const data = tempDir();
      const archive = startArchive({ url, data });
      await publish(LOST);
      await until(hasRecorded(data, 20));
      // One of them comes again, under another number.
      await goBack(archive, [LOST[3]!, ...FRESH]);
      await until(() => archive.lines().includes(FRESH.at(-1)!));
      await until(hasRecorded(data, 26));
      const { code, stderr } = await archive.signal('SIGTERM');
      expect(archive.lines()).toStrictEqual([...FIRST, ...LOST, ...FRESH]);
      expect(code).toBe(0);
      const errors = stderr.split('\n').filter((line) => line.startsWith('error: '));
      expect(errors.at(-1)).toContain('The servers have lost messages 11 to 20 of the stream');
      expect(errors.slice(0, -1).every((line) => line.endsWith('is lost; connecting again'))).toBe(
        true,
      );
      expect((await archiveAll({ url, data })).stdout).toContain('Archived 0 views');
    },
  );

  it('writes none again that comes back, killed or not in between', async () => {
    const { url, publish, goBack } = await scene();
    const data = tempDir();
    const archive = startArchive({ url, data });
    await publish(LOST);
    await until(hasRecorded(data, 20));
    await goBack(archive, []);
    await until(hasRecorded(data, 10));
    await publish(LOST.slice(0, 5));
    await until(hasRecorded(data, 15));
    await archive.signal('SIGKILL');
    await publish([...LOST.slice(5), ...FRESH]);
    await archiveAll({ url, data });
    expect(archive.lines()).toStrictEqual([...FIRST, ...LOST, ...FRESH]);
  });

  it.each([
    ['others in their place', [LOST[3]!, ...FRESH]],
    ['nothing in their place', []],
  ])(
    'knows from its files what it has, if it was not there then: %s',
    { timeout: 90_000 },
    async (_, lines) => {
      const { url, publish, goBack } = await scene();
      const data = tempDir();
      await publish(LOST);
      const archive = await archiveAll({ url, data }).then(() => startArchive({ url, data }));
      await until(() => archive.stdout().includes('viewlog archiving'));
      await archive.signal('SIGKILL');
      await goBack(archive, lines);
      const { stderr } = await archiveAll({ url, data });
      expect(stderr).toMatch(
        /^error: The servers have lost messages .*, 20 the last of them; going on/m,
      );
      if (lines.length === 0) await publish([...FRESH.slice(0, 3), LOST[5]!, ...FRESH.slice(3)]);
      await archiveAll({ url, data });
      expect(archive.lines()).toStrictEqual([...FIRST, ...LOST, ...FRESH]);
    },
  );

  it.skipIf(!canMount())('goes on with those in the place of what it had only read', async () => {
    const { url, publish, goBack } = await scene();
    const data = smallDisk(4 * MiB);
    const args = ['--min-free=2MiB', '--status=127.0.0.1:0'];
    const archive = startArchive({ url, data, args });
    const [, status] = await until(() => /^status page on (\S+)\/$/m.exec(archive.stdout()));
    const metrics = async (): Promise<string> => (await fetch(`${status}/metrics`)).text();
    await until(hasRecorded(data, 10));
    fs.writeFileSync(join(data, 'filler'), Buffer.alloc(3 * MiB));
    await until(async () => (await metrics()).includes('\nviewlog_ready 0\n'));
    await publish(LOST);
    await until(async () => (await metrics()).includes('\nviewlog_archive_lag_messages 10\n'));
    expect(archive.lines()).toStrictEqual(FIRST);
    await goBack(archive, FRESH);
    await until(async () => (await metrics()).includes('\nviewlog_archive_connected 1\n'));
    fs.rmSync(join(data, 'filler'));
    await until(() => archive.lines().includes(FRESH.at(-1)!));
    expect(archive.lines()).toStrictEqual([...FIRST, ...LOST, ...FRESH]);
    await until(hasRecorded(data, 25));
    expect((await archive.signal('SIGTERM')).code).toBe(0);
  });
});
