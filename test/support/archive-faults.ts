import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { expect } from 'vitest';
import { isFragment } from '../../src/verify/fragment.ts';
import { archiveAll, makeStream, startArchive, type ArchiveOptions } from './archive.ts';
import type { Figures } from './trial.ts';
import { type NatsCluster, startNats, startNatsCluster } from './nats-server.ts';
import { NODE, type Runtime } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { FULL_VIEW } from './views.ts';
import { disturb, startLoaded } from './stream-faults.ts';
import { linesOf, run, until } from './viewlog.ts';

// Faults of a real archive and its real servers while views come in.

const DAYS = ['2026-02-28', '2026-03-01'];
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A view of one day or the other, unlike any other. */
function lineOf(number: number): string {
  const day = DAYS[number % DAYS.length]!;
  const id = `019ca6b1-0000-7000-8000-${String(number).padStart(12, '0')}`;
  return JSON.stringify({ ts: `${day}T12:00:00.000Z`, id, ...FULL_VIEW });
}

/** Publishes some thousand views per second until `stop`, whatever happens to the servers. */
async function startPublisher(nats: NatsCluster) {
  const js = jetstream(await nats.connect());
  const acknowledged: string[] = [];
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (let number = 0; !isStopped; number += 50) {
      const lines = Array.from({ length: 50 }, (_, i) => lineOf(number + i));
      // As in a collector, a message without an acknowledgement is not sent again.
      const options = { timeout: 1_000, retries: 0 };
      const answers = await Promise.allSettled(
        lines.map((line) => js.publish('views.1000001', line, options)),
      );
      acknowledged.push(...lines.filter((_, i) => answers[i]!.status === 'fulfilled'));
      await sleep(10);
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

const bytesOf = (data: string): number =>
  readdirSync(data)
    .filter((name) => name.startsWith('views-'))
    .reduce((bytes, name) => bytes + statSync(join(data, name)).size, 0);

/** Returns whole lines. kill -9 may leave a fragment, which ends with a newline. */
async function verifiedLines(data: string): Promise<string[]> {
  const names = readdirSync(data).filter((name) => name.startsWith('views-'));
  const paths = names.map((name) => join(data, name));
  expect((await run(['verify', ...paths], { data })).code).toBe(0);
  return linesOf(data, 'views').filter((line) => !isFragment(line));
}

/** Expects every message of the stream, and every acknowledged view, to be in the files once. */
async function expectArchived(
  nats: NatsCluster,
  options: ArchiveOptions,
  acknowledged: readonly string[],
): Promise<number> {
  await archiveAll(options);
  const files = await verifiedLines(options.data);
  const archived = new Set(files);
  expect(archived.size).toBe(files.length);
  const stream = (await nats.messages('VIEWS')).map(({ text }) => text);
  expect([...stream, ...acknowledged].filter((line) => !archived.has(line))).toStrictEqual([]);
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
  const publisher = await startPublisher(nats);
  for (let kill = 0; kill < kills; kill++) {
    const archive = startArchive(options);
    await until(() => archive.stdout().includes('archiving'));
    await sleep(random() * 300);
    await archive.signal('SIGKILL');
  }
  await publisher.stop();
  const archived = await expectArchived(nats, options, publisher.acknowledged);
  return { kills, archived };
}

/** Kills the servers of a cluster, one after the other and all at once, while it archives. */
export async function killServers(random: () => number, rounds: number): Promise<Figures> {
  const nats = await startNatsCluster();
  await makeStream(nats);
  const options = { runtime: NODE, url: nats.url, data: tempDir() };
  const publisher = await startPublisher(nats);
  const archive = startArchive(options);
  await until(() => bytesOf(options.data) > 0);
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
    const bytes = bytesOf(options.data);
    await until(() => bytesOf(options.data) > bytes);
    expect(archive.child.exitCode).toBe(null);
  }
  await publisher.stop();
  const { code, stderr } = await archive.signal('SIGTERM');
  expect(code).toBe(0);
  const losses = stderr.match(/servers have lost messages/g)?.length ?? 0;
  const acknowledged = publisher.acknowledged;
  const archived = await expectArchived(nats, options, acknowledged);
  return { rounds, losses, archived, acknowledged: acknowledged.length };
}

/**
 * Kills collectors, servers of a cluster of three, and an archive, in any order, while views go
 * from pages to files.
 */
export async function killAnything(
  runtimes: readonly Runtime[],
  random: () => number,
  kills: number,
): Promise<Figures> {
  const { nats, collectors } = await startLoaded(runtimes);
  const options = { runtime: runtimes[0]!, url: nats.url, data: tempDir() };
  let archive = startArchive(options);
  for (let kill = 0; kill < kills; kill++) {
    await sleep(random() * 500);
    const which = Math.floor(random() * 3);
    if (which === 0) {
      await archive.signal('SIGKILL');
      archive = startArchive(options);
    } else if (which === 1) {
      const collector = collectors[Math.floor(random() * collectors.length)]!;
      await collector.stop('SIGKILL');
      await collector.start();
    } else {
      const node = nats.nodes[Math.floor(random() * nats.nodes.length)]!;
      await disturb(collectors, async () => {
        await node.stop('SIGKILL');
        await node.start();
      });
      await nats.ready();
    }
  }
  for (const collector of collectors) await collector.stop('SIGTERM');
  // An archive that has just started must handle signals first, or SIGTERM would end it.
  await until(() => archive.stdout().includes('archiving'));
  expect((await archive.signal('SIGTERM')).code).toBe(0);
  await archiveAll(options);
  const lines = await verifiedLines(options.data);
  const ids = new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
  const acknowledged = collectors.flatMap((collector) => collector.acknowledged);
  expect(acknowledged.filter((id) => !ids.has(id))).toStrictEqual([]);
  expect(ids.size).toBe(lines.length);
  return { kills, archived: lines.length, acknowledged: acknowledged.length };
}
