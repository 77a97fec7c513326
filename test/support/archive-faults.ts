import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readRecord } from '../../src/commands/archive/record.ts';
import { archiveAll, makeStream, publish, startArchive, type ArchiveOptions } from './archive.ts';
import type { Figures } from './faults.ts';
import { type NatsCluster, startNats, startNatsCluster } from './nats-server.ts';
import { NODE, type Runtime } from './runtimes.ts';
import { linesOfDays } from './stream.ts';
import { tempDir } from './temp-dir.ts';
import { linesOf, run, until } from './viewlog.ts';

// What can happen to an archive and its servers, done to the real ones, while views come in.

const DAYS = ['2026-02-28', '2026-03-01'];
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Publishes until it is told to stop, whatever happens to the servers. */
async function startPublisher(nats: NatsCluster, total: number) {
  const connection = await nats.connect();
  const lines = linesOfDays(DAYS, total / DAYS.length);
  const acknowledged: string[] = [];
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (let at = 0; at < lines.length && !isStopped; at += 50) {
      await Promise.all(
        lines.slice(at, at + 50).map((line) =>
          // One that is not acknowledged is not sent again, as a collector does.
          publish(connection, [line], 2_000).then(
            () => acknowledged.push(line),
            () => {},
          ),
        ),
      );
    }
  };
  const ended = work();
  return {
    acknowledged,
    async stop(): Promise<void> {
      isStopped = true;
      await ended;
    },
  };
}

/** All that is in the stream is in the files, once and in its order, and all that was acknowledged. */
async function expectArchived(
  nats: NatsCluster,
  options: ArchiveOptions,
  acknowledged: readonly string[],
): Promise<number> {
  const { data } = options;
  await archiveAll(options);
  const stream = (await nats.messages('VIEWS')).map(({ text }) => text);
  const files = linesOf(data, 'views');
  for (const day of DAYS) {
    const isOfDay = (line: string): boolean => line.startsWith(`{"ts":"${day}`);
    expect(files.filter(isOfDay)).toStrictEqual(stream.filter(isOfDay));
  }
  expect(files).toHaveLength(stream.length);
  const archived = new Set(files);
  expect(acknowledged.filter((line) => !archived.has(line))).toStrictEqual([]);
  const names = readdirSync(data).filter((name) => name.startsWith('views-'));
  const { code, stdout } = await run(['verify', ...names.map((name) => join(data, name))], {
    data,
  });
  expect([code, stdout]).toStrictEqual([0, expect.not.stringContaining('fragment')]);
  return files.length;
}

/** Kills the archive under load, again and again. */
export async function killArchive(
  runtime: Runtime,
  random: () => number,
  kills: number,
): Promise<Figures> {
  const nats = await startNats();
  await makeStream(nats);
  const options = { runtime, url: nats.url, data: tempDir() };
  const publisher = await startPublisher(nats, 200_000);
  let interrupted = 0;
  for (let kill = 0; kill < kills; kill++) {
    const archive = startArchive(options);
    await until(() => archive.stdout().includes('archiving'));
    await sleep(random() * 300);
    await archive.signal('SIGKILL');
    if (readRecord(options.data)?.writing !== undefined) interrupted += 1;
  }
  await publisher.stop();
  const archived = await expectArchived(nats, options, publisher.acknowledged);
  return { kills, interrupted, archived };
}

/** Kills the servers of a cluster, one after the other and all at once, while it archives. */
export async function killServers(random: () => number, rounds: number): Promise<Figures> {
  const nats = await startNatsCluster();
  await makeStream(nats);
  const options = { runtime: NODE, url: nats.url, data: tempDir() };
  const publisher = await startPublisher(nats, 400_000);
  const archive = startArchive(options);
  await until(() => archive.lines().length > 100);
  for (let round = 0; round < rounds; round++) {
    const leader = await nats.leaderOf('VIEWS');
    const others = nats.nodes.filter((node) => node !== leader);
    const killed = [nats.nodes, [leader], [others[Math.floor(random() * 2)]!]][round % 3]!;
    await Promise.all(killed.map((node) => node.stop('SIGKILL')));
    await sleep(random() * 500);
    await Promise.all(killed.map((node) => node.start()));
    await nats.ready();
    const before = publisher.acknowledged.length;
    await until(() => publisher.acknowledged.length > before + 100);
    const told = archive.lines().length;
    await until(() => archive.lines().length > told);
    expect(archive.child.exitCode).toBe(null);
  }
  await publisher.stop();
  expect((await archive.signal('SIGTERM')).code).toBe(0);
  const archived = await expectArchived(nats, options, publisher.acknowledged);
  return { rounds, archived, acknowledged: publisher.acknowledged.length };
}
