import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { expect } from 'vitest';
import { readRecord } from '../../src/archive/archive-record.ts';
import { archiveAll, makeStream, startArchive, type ArchiveOptions } from './archive.ts';
import type { Figures } from './faults.ts';
import { type NatsCluster, startNats, startNatsCluster } from './nats-server.ts';
import { NODE, type Runtime } from './runtimes.ts';
import { tempDir } from './temp-dir.ts';
import { FULL_VIEW } from './views.ts';
import { disturb, startLoaded } from './stream-faults.ts';
import { linesOf, run, until } from './viewlog.ts';

// What can happen to an archive and its servers, done to the real ones, while views come in.

const DAYS = ['2026-02-28', '2026-03-01'];
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A view of one day or the other, unlike any other. */
function lineOf(number: number): string {
  const day = DAYS[number % DAYS.length]!;
  const id = `019ca6b1-0000-7000-8000-${String(number).padStart(12, '0')}`;
  return JSON.stringify({ ts: `${day}T12:00:00.000Z`, id, ...FULL_VIEW });
}

/** Publishes some thousand views a second until it is told to stop, whatever happens to the servers. */
async function startPublisher(nats: NatsCluster) {
  const js = jetstream(await nats.connect());
  const acknowledged: string[] = [];
  let isStopped = false;
  const work = async (): Promise<void> => {
    for (let number = 0; !isStopped; number += 50) {
      const lines = Array.from({ length: 50 }, (_, i) => lineOf(number + i));
      // What is not acknowledged is not sent again; a collector does not either.
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

/** Thousands of lines: where they part says more than all of them. */
function expectSame(files: readonly string[], stream: readonly string[]): void {
  const at = files.findIndex((line, i) => line !== stream[i]);
  if (at < 0 && files.length === stream.length) return;
  const [inFiles, inStream] = [new Set(files), new Set(stream)];
  const only = {
    inFiles: files.filter((line) => !inStream.has(line)).length,
    inStream: stream.filter((line) => !inFiles.has(line)).length,
    twice: files.length - inFiles.size,
  };
  const ids = (lines: readonly string[]): string[] =>
    lines.slice(Math.max(0, at - 3), at + 20).map((line) => line.slice(62, 74));
  throw new Error(
    `The files part from the stream at line ${at + 1} of ${files.length} and ${stream.length}: ` +
      JSON.stringify({ only, files: ids(files), stream: ids(stream) }),
  );
}

async function expectVerified(data: string): Promise<void> {
  const names = readdirSync(data).filter((name) => name.startsWith('views-'));
  const { code, stdout } = await run(['verify', ...names.map((name) => join(data, name))], {
    data,
  });
  expect([code, stdout]).toStrictEqual([0, expect.not.stringContaining('fragment')]);
}

/**
 * All that is in the stream is in the files, once, and all that was acknowledged. It is nothing else
 * and in the stream's order unless the servers have lost what they had delivered.
 */
async function expectArchived(
  nats: NatsCluster,
  options: ArchiveOptions,
  acknowledged: readonly string[],
  hasLosses = false,
): Promise<number> {
  const { data } = options;
  await archiveAll(options);
  const stream = (await nats.messages('VIEWS')).map(({ text }) => text);
  const files = linesOf(data, 'views');
  const archived = new Set(files);
  if (hasLosses) {
    expect(stream.filter((line) => !archived.has(line))).toStrictEqual([]);
    expect(archived.size).toBe(files.length);
  } else {
    for (const day of DAYS) {
      const isOfDay = (line: string): boolean => line.startsWith(`{"ts":"${day}`);
      expectSame(files.filter(isOfDay), stream.filter(isOfDay));
    }
    expect(files).toHaveLength(stream.length);
  }
  expect(acknowledged.filter((line) => !archived.has(line))).toStrictEqual([]);
  await expectVerified(data);
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
  const archived = await expectArchived(nats, options, acknowledged, losses > 0);
  return { rounds, losses, archived, acknowledged: acknowledged.length };
}

/**
 * Views from pages to files: collectors, a cluster of three and an archive, each of which is
 * killed, in any order, while the views come in.
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
  // One that was just started has to be there first: it is to stop, not to be ended by the signal.
  await until(() => archive.stdout().includes('archiving'));
  expect((await archive.signal('SIGTERM')).code).toBe(0);
  await archiveAll(options);
  const lines = linesOf(options.data, 'views');
  const ids = new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
  const acknowledged = collectors.flatMap((collector) => collector.acknowledged);
  expect(acknowledged.filter((id) => !ids.has(id))).toStrictEqual([]);
  expect(ids.size).toBe(lines.length);
  await expectVerified(options.data);
  return { kills, archived: lines.length, acknowledged: acknowledged.length };
}
