import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Archive, archiveAll, makeStream, publish, startArchive } from '../support/archive.ts';
import { recordIn } from '../support/archived.ts';
import { canRunNats, type NatsNode, startNats, startNatsCluster } from '../support/nats-server.ts';
import { storedLines } from '../support/stored-lines.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/viewlog.ts';

// Servers that come back without messages that they had delivered, and give their numbers to
// others: real servers, with an earlier copy of their directories.

const FIRST = storedLines('2026-02-28', 10);
const LOST = storedLines('2026-03-01', 10);
const FRESH = storedLines('2026-03-02', 15);

/** Starts servers with a stream of the first lines, and returns a way back to that state. */
async function scene(startServers = startNats) {
  const nats = await startServers();
  await makeStream(nats);
  const connection = await nats.connect();
  await publish(connection, FIRST);
  const copies = tempDir();
  const each = async (work: (node: NatsNode) => unknown): Promise<void> => {
    await Promise.all(nats.nodes.map((node) => work(node)));
  };
  /** Changes their directories while they are down. */
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
    /** Publishes these lines before the archive looks again. */
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

const hasRecorded = (data: string, sequence: number) => () => recordIn(data)?.sequence === sequence;

describe.skipIf(!canRunNats())('archive of servers that have lost messages', () => {
  it.each([
    ['one server', startNats],
    ['a cluster of three', startNatsCluster],
  ])('while it runs keeps what it has, and archives what is in its place: %s', async (_, start) => {
    const { url, publish, goBack } = await scene(start);
    const data = tempDir();
    const archive = startArchive({ url, data });
    await publish(LOST);
    await until(hasRecorded(data, 20));
    // One of the lost messages comes again, with another number.
    await goBack([LOST[3]!, ...FRESH], archive);
    await until(hasRecorded(data, 26));
    const { code, stderr } = await archive.signal('SIGTERM');
    expect(archive.lines()).toStrictEqual([...FIRST, ...LOST, ...FRESH]);
    expect(code).toBe(0);
    expect(stderr).toContain('error: The servers have lost messages of stream "VIEWS" that are');
    expect((await archiveAll({ url, data })).stdout).toContain('Archived 0 views');
  });
});
