import type { StreamInfo } from '@nats-io/jetstream';
import { expect, it } from 'vitest';
import { StreamHealth } from '../../src/jetstream/stream-health.ts';
import { memoryLog } from '../support/memory-log.ts';

const SILENT = 'the cluster acknowledges nothing';
const AGAIN = 'info: Stream VIEWS accepts views again';

const info = (change: object = {}, cluster: object = { leader: 'a', replicas: [] }): StreamInfo => {
  const subjects = ['views.>'];
  const config = { name: 'VIEWS', storage: 'file', retention: 'limits', subjects, num_replicas: 1 };
  const state = { messages: 1, bytes: 2 };
  return { config: { ...config, ...change }, state, cluster } as unknown as StreamInfo;
};

/** A collector's knowledge of a stream, and the servers that it asks. */
function scene() {
  const servers = {
    isConnected: true,
    nowMs: 100_000,
    inspect: (): Promise<StreamInfo | undefined> => Promise.resolve(info()),
    probes: 0,
    answersProbes: false,
  };
  const log = memoryLog();
  const health = new StreamHealth(
    {
      stream: 'VIEWS',
      replicas: undefined,
      isConnected: () => servers.isConnected,
      inspect: () => servers.inspect(),
      probe: async () => {
        servers.probes += 1;
        if (!servers.answersProbes) throw new Error('nobody answers');
      },
      now: () => servers.nowMs,
      log,
    },
    info(),
  );
  return { servers, log, health };
}

it('five seconds without any acknowledgement refuse views at once, until a probe is answered', async () => {
  const { servers, log, health } = scene();
  health.acknowledged();
  servers.nowMs += 4_999;
  health.failed({ kind: 'timeout' });
  expect(health.unavailable).toBeUndefined();
  servers.nowMs += 1;
  health.failed({ kind: 'no-leader' });
  expect([health.unavailable, health.trouble]).toStrictEqual([SILENT, SILENT]);
  // The stream's own state looks sound.
  await health.look();
  await health.look();
  expect([servers.probes, health.unavailable]).toStrictEqual([2, SILENT]);
  servers.answersProbes = true;
  await health.look();
  await health.look();
  expect([servers.probes, health.unavailable]).toStrictEqual([3, undefined]);
  expect(log.lines).toStrictEqual([`error: Refusing views: ${SILENT} (VIEWS)`, AGAIN]);
});

it('a lost connection does not count as silence, and refuses views while it lasts', async () => {
  const { servers, health } = scene();
  health.failed({ kind: 'disconnected' });
  expect(health.unavailable).toBeUndefined();
  servers.isConnected = false;
  servers.inspect = () => Promise.reject(new Error('no answer'));
  servers.nowMs += 60_000;
  await health.look();
  expect(health.unavailable).toBe('there is no connection to the cluster');
  // The next server gets its own 5 seconds to answer.
  servers.isConnected = true;
  await health.look();
  expect(health.unavailable).toBeUndefined();
});

it('a refused view makes the stream not ready for five seconds, but the next one is tried', () => {
  const { servers, log, health } = scene();
  health.failed({ kind: 'refused', detail: 'full' });
  health.failed({ kind: 'refused', detail: 'full' });
  expect([health.unavailable, health.trouble]).toStrictEqual([
    undefined,
    'the stream does not accept it',
  ]);
  servers.nowMs += 5_000;
  expect(health.trouble).toBeUndefined();
  health.acknowledged();
  expect(log.lines).toStrictEqual(['error: Stream VIEWS refuses views: full', AGAIN]);
});

it.each<[string, StreamInfo | undefined]>([
  ['the stream is gone', undefined],
  ['the stream has no leader', info({}, { replicas: [] })],
  ['the stream has no quorum', info({ num_replicas: 2 }, { leader: 'a', replicas: [{}] })],
  ['it keeps messages in memory (storage: memory)', info({ storage: 'memory' })],
])('%s: views are refused until a look finds it well', async (fault, found) => {
  const { servers, log, health } = scene();
  servers.inspect = () => Promise.resolve(found);
  await health.look();
  expect(health.unavailable).toBe(fault);
  servers.inspect = () => Promise.resolve(info());
  servers.answersProbes = true;
  await health.look();
  expect(health.unavailable).toBeUndefined();
  expect(log.lines).toStrictEqual([`error: Refusing views: ${fault} (VIEWS)`, AGAIN]);
});

it('an acknowledgement during a look is newer than what the look finds', async () => {
  const { servers, health } = scene();
  servers.inspect = async () => {
    health.acknowledged();
    return undefined;
  };
  await health.look();
  expect(health.unavailable).toBeUndefined();
});

it('looks without an answer are no fault until five seconds have passed', async () => {
  const { servers, health } = scene();
  servers.inspect = () => Promise.reject(new Error('timeout'));
  servers.nowMs += 5_000;
  await health.look();
  expect(health.unavailable).toBeUndefined();
  servers.nowMs += 1;
  await health.look();
  expect(health.unavailable).toBe('the cluster does not answer');
  health.acknowledged();
  expect(health.unavailable).toBeUndefined();
});
