import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLiveStreams } from '../../src/status/live-streams.ts';
import { bundle } from '../support/bundle.ts';
import { startChild } from '../support/child.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { until } from '../support/viewlog.ts';

function watched(lifeMs = 60_000) {
  const taken = { snapshots: 0 };
  const snapshot = (): string => `{"n":${(taken.snapshots += 1)}}`;
  return {
    taken,
    streams: createLiveStreams({ streamsMax: 3, intervalMs: 1_000, lifeMs, snapshot }),
  };
}

const textOf = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> =>
  new TextDecoder().decode((await reader.read()).value);

describe('live streams', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('cost nothing while nobody looks, and one snapshot a second however many do', async () => {
    const { taken, streams } = watched();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(taken.snapshots).toBe(0);
    const readers = [streams.open()!.getReader(), streams.open()!.getReader()];
    expect(await textOf(readers[0]!)).toBe('retry: 1000\ndata: {"n":1}\n\n');
    await textOf(readers[1]!);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(readers.map(textOf))).toStrictEqual(
      Array(2).fill('data: {"n":3}\n\n'),
    );
    for (const reader of readers) await reader.cancel();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([taken.snapshots, streams.count]).toStrictEqual([3, 0]);
  });

  it('are dropped when they fall behind; the others go on', async () => {
    const { streams } = watched();
    const slow = streams.open()!.getReader();
    const good = streams.open()!.getReader();
    for (let second = 0; second < 8; second++) {
      await textOf(good);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(streams.count).toBe(1);
    await expect(slow.read()).rejects.toThrow('too slow');
    expect(await textOf(good)).toContain('data: ');
  });

  it('end after their time, and say that whoever still looks shall come again', async () => {
    const { streams } = watched(3_000);
    const reader = streams.open()!.getReader();
    const texts = [await textOf(reader)];
    await vi.advanceTimersByTimeAsync(1_500);
    const later = streams.open()!.getReader();
    for (let i = 0; i < 3; i++) {
      await vi.advanceTimersByTimeAsync(500);
      await textOf(later);
    }
    expect(streams.count).toBe(1);
    while (texts.at(-1) !== 'event: renew\ndata:\n\n') texts.push(await textOf(reader));
    expect(texts.slice(1, -1)).toStrictEqual([2, 4].map((n) => `data: {"n":${n}}\n\n`));
    expect((await reader.read()).done).toBe(true);
  });

  it('are no more than may be, and end when they are closed', async () => {
    const { streams } = watched();
    const readers = [1, 2, 3].map(() => streams.open()!.getReader());
    expect(streams.open()).toBeUndefined();
    streams.close();
    await textOf(readers[0]!);
    expect((await readers[0]!.read()).done).toBe(true);
    expect(streams.count).toBe(0);
  });
});

/** Opens live streams on `port` and reads nothing of them. */
async function blindStreams(port: number, count: number): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ port, host: '127.0.0.1' });
      onTestFinished(() => void socket.destroy());
      socket.on('error', () => {});
      socket.pause();
      socket.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await new Promise((resolve) => socket.once('connect', resolve));
      return socket;
    }),
  );
}

describe.each([NODE, DENO, BUN].filter(isPresent))(
  'a client that does not read its live stream, on $name',
  (runtime) => {
    async function start(intervalMs: number, lifeMs: number, eventBytes: number) {
      const file = bundle('listener-process');
      const args = [intervalMs, lifeMs, eventBytes].map(String);
      const child = startChild([...runtime.command('/nowhere', file), ...args]);
      const { port } = (await child.next()) as { port: number };
      const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
      const isCount = async (count: number): Promise<boolean> =>
        Number(await (await get('/count')).text()) === count;
      return { port, get, isCount, child };
    }

    it('loses its place once the buffers on the way are full, and its connection', async () => {
      const { port, isCount, child } = await start(200, 600_000, 300_000);
      const sockets = await blindStreams(port, 2);
      await until(() => isCount(2));
      await until(() => isCount(0));
      const closed = sockets.map(
        (socket) => new Promise((resolve) => socket.resume().once('close', resolve)),
      );
      await Promise.all(closed);
      // Others are let in, and nothing was said of it.
      const abort = new AbortController();
      const next = await fetch(`http://127.0.0.1:${port}/live`, { signal: abort.signal });
      expect(next.status).toBe(200);
      abort.abort();
      expect(child.stderr()).toBe('');
    });

    it('loses its place after a while also where events are small', async () => {
      const { port, isCount, child } = await start(100, 3_000, 10);
      await blindStreams(port, 2);
      await until(() => isCount(2));
      await until(() => isCount(0));
      expect(child.stderr()).toBe('');
    });

    it('an error in the listener is answered and logged without a stack', async () => {
      const { get, child } = await start(1_000, 600_000, 10);
      const answer = await get('/throws');
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(await answer.text()).not.toMatch(/secret|listener-process|<html/);
      expect(child.stderr()).toBe('');
    });
  },
);
