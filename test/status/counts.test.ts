import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../src/base/time.ts';
import type { Refusal } from '../../src/view/refusal.ts';
import { activationOf } from '../../src/status/activation.ts';
import { nearestIds } from '../../src/status/unlisted-ids.ts';
import { Minutes, MINUTES } from '../../src/status/minutes.ts';
import { Counts } from '../../src/status/counts.ts';

const unlisted = (project: string): Refusal => ({
  code: 'project-not-activated',
  detail: `Project ${project} is not activated.`,
  project,
});

function counting(): { counts: Counts; at: (ms: number) => void } {
  let now = 0;
  const isListed = (id: string): boolean => id === '1000001';
  return { counts: new Counts({ now: () => now, isListed }), at: (ms) => (now = ms) };
}

describe('counts by the minute', () => {
  const counted = (minutes: Minutes, nowMs: number): number[] => minutes.list(nowMs).slice(-4);

  it('stand in the minute they came in, the running one last', () => {
    const minutes = new Minutes();
    for (const ms of [0, 1, 59_999, 60_000, 180_000]) minutes.add(60e9 + ms);
    expect(counted(minutes, 60e9 + 180_000)).toStrictEqual([3, 1, 0, 1]);
    expect(counted(minutes, 60e9 + 300_000)).toStrictEqual([0, 1, 0, 0]);
    expect(minutes.list(60e9 + 300_000)).toHaveLength(MINUTES);
  });

  it('go after three hours, and not a minute before', () => {
    const minutes = new Minutes();
    minutes.add(0);
    expect(minutes.list((MINUTES - 1) * MINUTE_MS)[0]).toBe(1);
    expect(minutes.list(MINUTES * MINUTE_MS)).not.toContain(1);
    minutes.add(10 * MINUTES * MINUTE_MS);
    expect(minutes.list(10 * MINUTES * MINUTE_MS).at(-1)).toBe(1);
  });

  it('outlast a clock that steps back a little, and follow one that steps back far', () => {
    const minutes = new Minutes();
    minutes.add(100 * MINUTE_MS);
    minutes.add(97 * MINUTE_MS);
    expect(counted(minutes, 97 * MINUTE_MS)).toStrictEqual([0, 0, 0, 2]);
    minutes.add(10 * MINUTE_MS);
    expect(counted(minutes, 10 * MINUTE_MS)).toStrictEqual([0, 0, 0, 1]);
  });
});

describe('the counts', () => {
  it('tells views of today from those of yesterday', () => {
    const { counts, at } = counting();
    at(Date.parse('2026-11-20T23:59:59.999Z'));
    counts.accepted('1000001', '{}');
    expect(counts.acceptedToday()).toBe(1);
    at(Date.parse('2026-11-21T00:00:00.000Z'));
    expect(counts.acceptedToday()).toBe(0);
    expect(counts.total.accepted).toBe(1);
  });

  it('holds a bounded part of what strangers make up, and the ids that come again', () => {
    const { counts, at } = counting();
    for (let i = 0; i < 5_000; i++) {
      at(i);
      counts.refused(unlisted(String(i)), `https://${i}.example`, 'x'.repeat(16_384));
      if (i % 20 === 0) counts.refused(unlisted('1000009'), 'https://www.example.com');
      counts.refused({ code: 'not-found', detail: '' }, `https://${i}.example`);
    }
    const unlistedIds = counts.unlistedIds.list(() => false);
    expect(unlistedIds).toHaveLength(100);
    expect(unlistedIds[0]).toMatchObject({ id: '1000009', count: 250 });
    expect(counts.projects.size).toBe(0);
    const [stray] = counts.beforeProject.list();
    expect(stray).toMatchObject({ code: 'not-found', count: 5_000 });
    expect(stray!.origins).toHaveLength(8);
    expect(counts.total.refused).toBe(10_250);
    expect(counts.latestRefused.list()).toHaveLength(20);
    expect(counts.latestRefused.list()[1]!.item.project).toBe('4999');
    expect(JSON.stringify([unlistedIds, counts.latestRefused.list()]).length).toBeLessThan(200_000);
  });

  it('forgets an unlisted id once it is listed', () => {
    const { counts } = counting();
    counts.refused(unlisted('7'), undefined);
    expect(counts.unlistedIds.list((id) => id === '7')).toStrictEqual([]);
    expect(counts.unlistedIds.list(() => false)).toStrictEqual([]);
  });
});

it('a slip is found among listed ids, also after the list has changed', () => {
  const nearestId = nearestIds();
  expect(nearestId('1000010', [{ id: '1000001' }, { id: '2' }])).toBe('1000001');
  expect(nearestId('1000010', [{ id: '2' }])).toBe('');
});

describe('the command that activates', () => {
  it.each([
    ['https://www.example.com', ' --origin https://www.example.com'],
    ['http://localhost:3000', ' --origin http://localhost:3000'],
    [undefined, ''],
    ['null', ''],
    ['https://a.example;reboot', ''],
    ['https://a.example\nreboot', ''],
    ['https://a.example$(reboot)', ''],
    ["https://a.example'", ''],
    ['https://a.example/`reboot`', ''],
    ['https://A.example', ''],
    ['x https://a.example', ''],
    ['https://a.example:80 --data /', ''],
  ])('takes of the origin %j only what no shell reads', (origin, shown) => {
    expect(activationOf('7', origin, '/d/projects.json')).toBe(
      `viewlog activate 7${shown} --projects /d/projects.json`,
    );
  });

  it('quotes a path that needs it', () => {
    expect(activationOf('7', undefined, "/it's $here/p.json")).toBe(
      String.raw`viewlog activate 7 --projects '/it'\''s $here/p.json'`,
    );
  });
});
