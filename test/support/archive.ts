import { randomUUID } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { NatsCluster } from './nats-server.ts';
import { type Ended, start, type StartOptions } from './viewlog.ts';

type ArchiveOptions = StartOptions & { readonly data: string; readonly url: string };

export type Archive = ReturnType<typeof startArchive>;

/** Starts the built bundle's archive. */
export function startArchive({ data, url, args = [], ...options }: ArchiveOptions) {
  return start(['archive', '--from', url, '--data', data, '--status=off', ...args], data, options);
}

/** Archives the stream to its end and expects success. */
export async function archiveAll(options: ArchiveOptions): Promise<Ended> {
  const ended = await startArchive({ ...options, args: ['--once'] }).ended;
  if (ended.code !== 0) throw new Error(`archive --once: ${ended.code}\n${ended.stderr}`);
  return ended;
}

/** Creates the stream as a collector does, if it is missing. */
export async function makeStream(nats: NatsCluster, change: object = {}): Promise<void> {
  const manager = await nats.manager();
  await manager.streams.add({
    name: 'VIEWS',
    subjects: ['views.*'],
    storage: 'file',
    num_replicas: nats.nodes.length,
    ...change,
  });
}

/** Publishes lines in order; resolves when all are acknowledged. */
export async function publish(nats: NatsConnection, lines: readonly string[]): Promise<void> {
  const js = jetstream(nats);
  const send = (line: string) =>
    js.publish('views.1000001', line, { msgID: randomUUID(), retries: RETRIES });
  // Servers that have just started may know the stream's leader before it accepts messages. The
  // first line therefore goes alone: later ones could overtake it.
  await Promise.all(lines.slice(0, 1).map(send));
  for (let i = 1; i < lines.length; i += AT_ONCE) {
    await Promise.all(lines.slice(i, i + AT_ONCE).map(send));
  }
}

const AT_ONCE = 256;
/** The client's waits between these retries add up to about 10 s. */
const RETRIES = 8;
