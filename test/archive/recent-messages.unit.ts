import { describe, expect, it } from 'vitest';
import { RecentMessages, RECENT_MAX } from '../../src/archive/recent-messages.ts';

function recentTo(count: number): RecentMessages {
  const recent = new RecentMessages();
  for (let sequence = 1; sequence <= count; sequence++) recent.add({ sequence, id: `${sequence}` });
  return recent;
}

describe('what was read last', () => {
  it.each([1, 2, 3, 499, 500, 999, 1000])('tells that it is the same up to %d', async (last) => {
    const recent = recentTo(1000);
    let asked = 0;
    const position = await recent.lastSame(recent.last!, async ({ sequence }) => {
      asked += 1;
      return sequence <= last;
    });
    expect(position).toStrictEqual({ sequence: last, id: `${last}` });
    expect(asked).toBeLessThan(12);
    expect(recent.goBack(position!)).toHaveLength(1000 - last);
    expect(recent.last).toBe(position);
  });

  it('tells that nothing of it is the same', async () => {
    const recent = recentTo(1000);
    expect(await recent.lastSame(recent.last!, async () => false)).toBeUndefined();
  });

  it('looks no further than told: what was read since is of the other stream', async () => {
    const recent = recentTo(10);
    const until = recent.last!;
    for (let sequence = 11; sequence <= 30; sequence++) recent.add({ sequence, id: 'other' });
    const isSame = async ({ sequence }: { sequence: number }) => sequence < 9 || sequence > 10;
    const position = await recent.lastSame(until, isSame);
    expect(position?.sequence).toBe(8);
    expect(recent.goBack(position!).slice(0, 3)).toStrictEqual(['9', '10', 'other']);
  });

  it('is not remembered for ever', async () => {
    const recent = recentTo(10 * RECENT_MAX);
    const first = RECENT_MAX * 8;
    const position = await recent.lastSame(recent.last!, async ({ sequence }) => sequence <= first);
    expect(position).toBeUndefined();
  });
});
