import { describe, expect, it } from 'vitest';
import type { ShownActivity } from '../../src/status/shown-activity.ts';
import type { ShownUnlistedId, Snapshot } from '../../src/status/snapshot.ts';
import { plainOf } from '../../src/status/status-text.ts';
import { figuresOf, slipWords, unlistedWords } from '../../src/status/status-words.ts';
import { troublesOf } from '../../src/status/trouble-words.ts';

// What is said of a snapshot, where that depends on more than a test should wait for.

describe('the figures', () => {
  const todayOf = (total: Partial<ShownActivity>): unknown => {
    const counted = {
      lastHour: 0,
      refusedLastHour: 0,
      lastTenMinutes: 5,
      refusedLastTenMinutes: 2,
      ...total,
    };
    const figures = figuresOf({ total: counted, facts: [] } as unknown as Snapshot);
    expect(figures[1]).toStrictEqual(['Last 10 minutes', '5 taken, 2 refused']);
    return figures.slice(2);
  };

  it('compare today with yesterday by now, in one', () => {
    expect(todayOf({ today: 656, yesterdayByNow: 1703 })).toStrictEqual([
      ['Today', '656: 1,047 fewer than yesterday by now (1,703)'],
    ]);
    expect(todayOf({ today: 656, yesterdayByNow: 0 })).toStrictEqual([
      ['Today', '656: 656 more than yesterday by now (0)'],
    ]);
    expect(todayOf({ today: 0, yesterdayByNow: 0 })).toStrictEqual([['Today', 'none']]);
    expect(todayOf({ today: 1656 })).toStrictEqual([['Today', '1,656']]);
  });
});

describe('projects in trouble', () => {
  it('stand behind the others where they are inactive, whatever is refused of them', () => {
    const project = (id: string, active: boolean, lastHour: number) => ({
      id,
      name: id,
      active,
      state: 'all-refused',
      causes: ['project-not-activated'],
      loss: lastHour,
      activity: { lastHour: 0, refusedByQuarter: [] },
      refusals: [
        {
          code: 'invalid-view',
          lastHour,
          origins: [],
          latest: { issues: [{ field: id, received: '1' }] },
        },
      ],
    });
    const projects = [project('a', true, 3), project('b', false, 50), project('c', true, 4)];
    const { told } = troublesOf({ projects, nowMs: 0 } as unknown as Snapshot);
    expect(told.map(({ id }) => id)).toStrictEqual(['c', 'a', 'b']);
  });

  it('say since which minute, where it is of the last hour', () => {
    const nowMs = Date.UTC(2026, 0, 31, 12, 10);
    const since = (quarters: number, refusedFromMs: number): string => {
      const refusedByQuarter = Array.from({ length: quarters }, () => 2);
      const activity = { lastHour: 0, refusedLastHour: 2, refusedByQuarter, refusedFromMs };
      const refusals = [{ code: 'invalid-view', lastHour: 2, origins: [] }];
      const project = {
        id: '1',
        name: '1',
        active: true,
        state: 'all-refused',
        activity,
        refusals,
      };
      const snapshot = { projects: [{ ...project, causes: [], loss: 2 }], nowMs };
      return plainOf(troublesOf(snapshot as unknown as Snapshot).told[0]!.extent);
    };
    expect(since(1, nowMs - 6 * 60_000)).toMatch(/^refused since \d\d:04, /);
    expect(since(6, nowMs - 59 * 60_000)).toMatch(/^refused since about \d\d:45, /);
  });
});

describe('unknown ids', () => {
  const wordsOf = (unlistedLastHour: number, left: number): unknown => {
    const unlistedIds = ['1', '2', '3', '4'].map((id) => ({ id, nearest: '' }));
    const given = { unlistedIds, unlistedIdsLeftOut: left, unlistedLastHour };
    const { many, ids } = unlistedWords(given as unknown as Snapshot);
    return many + plainOf(ids);
  };

  it('are told by what was refused of them in the last hour, or before', () => {
    expect(wordsOf(1018, 0)).toBe(
      '4 unknown ids send: 1,018 views refused in the last hour; ids 1, 2, 3, 1 more.',
    );
    expect(wordsOf(0, 0)).toBe(
      '4 unknown ids sent views in the last 24 hours, none in the last one; ids 1, 2, 3, 1 more.',
    );
    expect(wordsOf(1, 96)).toMatch(/^100 unknown ids or more send: 1 view refused in/);
  });

  it('that look like a listed one name its project, as text of its own direction', () => {
    const slip = { id: '1000010', nearest: '1000001', nearestName: 'Mine', origin: 'https://a' };
    const given = { unlistedIds: [slip, { id: '77', nearest: '' }], unlistedIdsLeftOut: 0 };
    const { ids } = unlistedWords({ ...given, unlistedLastHour: 1 } as unknown as Snapshot);
    expect(plainOf(ids)).toBe('; ids 1000010 (looks like 1000001 of Mine), 77.');
    expect(ids).toContainEqual({ name: 'Mine' });
    const words = slipWords(slip as unknown as ShownUnlistedId);
    expect(plainOf(words)).toBe(
      'Perhaps 1000001 (Mine) is meant: then change it in the page of https://a.',
    );
    expect(words).toContainEqual({ name: 'https://a' });
  });
});
