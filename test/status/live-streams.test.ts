import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLiveStreams } from '../../src/status/live-streams.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched() {
  const taken = { snapshots: 0 };
  const snapshot = (): string => `{"n":${(taken.snapshots += 1)}}`;
  return { taken, streams: createLiveStreams({ streamsMax: 3, intervalMs: 1_000, snapshot }) };
}

const textOf = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> =>
  new TextDecoder().decode((await reader.read()).value);

describe('live streams', () => {
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
