import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import type { Refusal } from '../../src/view/refusal.ts';
import { activationOf, reportOf, snippetOf } from '../../src/status/shell-commands.ts';
import { nearestIds } from '../../src/status/unlisted-ids.ts';
import { daysAt } from '../../src/status/days.ts';
import { Periods } from '../../src/status/periods.ts';
import { QUARTER_MS, Timeline } from '../../src/status/timeline.ts';
import { Counts } from '../../src/status/counts.ts';

const unlisted = (project: string): Refusal => ({
  code: 'project-not-activated',
  detail: `Project ${project} is not activated.`,
  project,
});

/** A sample that takes some 2.5 KB, of a body of which it keeps a part. */
const faulty = (project: string, body = 'x'.repeat(1000)): Parameters<Counts['refused']> => [
  { code: 'invalid-view', detail: 'The view has 1 fault.', project },
  'https://www.example.com',
  body,
];

function counting(): { counts: Counts; at: (ms: number) => void } {
  let now = 0;
  const isListed = (id: string): boolean => id === '1000001';
  return { counts: new Counts({ now: () => now, isListed }), at: (ms) => (now = ms) };
}

const MINUTES = 180;

describe('counts by the minute', () => {
  const newMinutes = (): Periods => new Periods(MINUTE_MS, MINUTES);
  const counted = (minutes: Periods, nowMs: number): number[] => minutes.list(nowMs).slice(-4);

  it('stand in the minute they came in, the running one last', () => {
    const minutes = newMinutes();
    for (const ms of [0, 1, 59_999, 60_000, 180_000]) minutes.add(60e9 + ms);
    expect(counted(minutes, 60e9 + 180_000)).toStrictEqual([3, 1, 0, 1]);
    expect(counted(minutes, 60e9 + 300_000)).toStrictEqual([0, 1, 0, 0]);
    expect(minutes.list(60e9 + 300_000)).toHaveLength(MINUTES);
  });

  it('go after three hours, and not a minute before', () => {
    const minutes = newMinutes();
    minutes.add(0);
    expect(minutes.list((MINUTES - 1) * MINUTE_MS)[0]).toBe(1);
    expect(minutes.list(MINUTES * MINUTE_MS)).not.toContain(1);
    minutes.add(10 * MINUTES * MINUTE_MS);
    expect(minutes.list(10 * MINUTES * MINUTE_MS).at(-1)).toBe(1);
  });

  it('outlast a clock that steps back a little, and follow one that steps back far', () => {
    const minutes = newMinutes();
    minutes.add(100 * MINUTE_MS);
    minutes.add(97 * MINUTE_MS);
    expect(counted(minutes, 97 * MINUTE_MS)).toStrictEqual([0, 0, 0, 2]);
    minutes.add(10 * MINUTE_MS);
    expect(counted(minutes, 10 * MINUTE_MS)).toStrictEqual([0, 0, 0, 1]);
  });
});

describe('a timeline', () => {
  const NOW = 60e9 + QUARTER_MS / 2;

  it('takes what came before in any order, among what comes now', () => {
    const timeline = new Timeline();
    timeline.addEarlier(NOW - 2 * QUARTER_MS, NOW);
    timeline.add(NOW);
    timeline.addEarlier(NOW - QUARTER_MS, NOW);
    timeline.addEarlier(NOW - 2 * QUARTER_MS, NOW);
    expect(timeline.day(NOW).slice(-4)).toStrictEqual([0, 2, 1, 1]);
    expect(timeline.lastHour(NOW)).toBe(4);
    timeline.addEarlier(NOW - 3 * DAY_MS, NOW);
    timeline.addEarlier(NOW + QUARTER_MS, NOW);
    expect(timeline.between(0, NOW + DAY_MS, NOW)).toBe(4);
  });

  it('keeps a minute for an hour, and a quarter of an hour for two days', () => {
    const timeline = new Timeline();
    timeline.add(NOW);
    expect(timeline.lastHour(NOW + 59 * MINUTE_MS)).toBe(1);
    expect(timeline.lastHour(NOW + HOUR_MS)).toBe(0);
    const [from, to] = [NOW - QUARTER_MS, NOW + 1];
    expect(timeline.between(from, to, NOW + 2 * DAY_MS)).toBe(1);
    expect(timeline.between(from, to, NOW + 2 * DAY_MS + 2 * HOUR_MS)).toBe(0);
  });

  it('tells the first minute of the last hour that had one', () => {
    const timeline = new Timeline();
    expect(timeline.firstMinute(NOW)).toBeUndefined();
    timeline.addEarlier(NOW - 70 * MINUTE_MS, NOW);
    timeline.addEarlier(NOW - 59 * MINUTE_MS, NOW);
    timeline.add(NOW + 1);
    const minute = Math.floor(NOW / MINUTE_MS) * MINUTE_MS;
    expect(timeline.firstMinute(NOW + 2)).toBe(minute - 59 * MINUTE_MS);
    expect(timeline.firstMinute(NOW + 30 * MINUTE_MS)).toBe(minute);
  });
});

describe('the counts', () => {
  it('tells views of today from those of yesterday', () => {
    const { counts, at } = counting();
    const { todayMs, yesterdayMs } = daysAt(Date.parse('2026-11-21T12:00:00.000Z'));
    expect(todayMs - yesterdayMs).toBe(DAY_MS);
    for (const ms of [todayMs - 1, todayMs, todayMs + 1]) {
      at(ms);
      counts.accepted('1000001', Buffer.from('{}'));
    }
    const { acceptedIn } = counts.total;
    expect(acceptedIn.between(yesterdayMs, todayMs, todayMs + 1)).toBe(1);
    expect(acceptedIn.between(todayMs, todayMs + 2, todayMs + 1)).toBe(2);
    expect(counts.total.accepted).toBe(3);
  });

  it('holds a bounded part of what strangers make up, and the ids that come again', () => {
    const { counts, at } = counting();
    for (let i = 0; i < 5_000; i++) {
      at(i);
      counts.refused(unlisted(String(i)), `https://${i}.example`, 'x'.repeat(16_384));
      if (i % 20 === 0) counts.refused(unlisted('1000009'), 'https://www.example.com');
      counts.refused({ code: 'not-found', detail: '' }, `https://${i}.example`);
    }
    const unlistedIds = counts.unlistedIds.list(() => false, 5_000);
    expect(unlistedIds).toHaveLength(100);
    expect(unlistedIds[0]).toMatchObject({ id: '1000009', count: 250 });
    expect(counts.projects.size).toBe(0);
    const [stray] = counts.beforeProject.list(0);
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
    expect(counts.unlistedIds.list((id) => id === '7', 0)).toStrictEqual([]);
    expect(counts.unlistedIds.list(() => false, 0)).toStrictEqual([]);
  });

  it('counts what came for an unlisted id in the same 24 hours as the table, and hour', () => {
    const { counts, at } = counting();
    const startMs = Date.parse('2026-11-21T12:00:00.000Z');
    at(startMs);
    for (const agoMs of [0, 2 * HOUR_MS, 25 * HOUR_MS]) {
      counts.refusedEarlier(unlisted('7'), undefined, '{}', startMs - agoMs);
    }
    counts.refusedEarlier(unlisted('8'), undefined, '{}', startMs - 25 * HOUR_MS);
    const listed = counts.unlistedIds.list(() => false, startMs);
    expect(listed).toMatchObject([{ id: '7', count: 2, lastHour: 1 }]);
    expect(counts.unlisted.refusedIn!.day(startMs).reduce((sum, n) => sum + n)).toBe(2);
    expect(counts.unlistedIds.list(() => false, startMs + HOUR_MS)[0]!.lastHour).toBe(0);
  });
});

describe('samples of refusals', () => {
  const START = 1e12;
  const latestOf = (counts: Counts, project: string) =>
    counts.projects.get(project)?.refusals.list(START)[0];

  it('are all kept up to their budget; beyond it the longest unseen goes, its count stays', () => {
    const isListed = (): boolean => true;
    let now = START;
    const first = new Counts({ now: () => now, isListed });
    for (const id of ['1', '2', '3']) first.refused(...faulty(id));
    const fits = new Counts({ now: () => now, isListed, samplesBytesMax: first.samples.bytes });
    const lacksOne = new Counts({
      now: () => now,
      isListed,
      samplesBytesMax: first.samples.bytes - 1,
    });
    for (const counts of [fits, lacksOne]) {
      for (const id of ['1', '2', '3']) counts.refused(...faulty(id));
    }
    for (const id of ['1', '2', '3']) expect(latestOf(fits, id)?.latest).toBeDefined();
    expect(latestOf(lacksOne, '1')).toStrictEqual({
      code: 'invalid-view',
      count: 1,
      lastHour: 1,
      lastMs: START,
      latest: undefined,
      origins: [],
    });
    expect(latestOf(lacksOne, '2')?.latest?.project).toBe('2');
    // What is brought up to date is the last to go.
    now = START + 1;
    fits.refused(...faulty('1'));
    fits.refused(...faulty('4'));
    expect(latestOf(fits, '1')).toMatchObject({
      count: 2,
      lastMs: START + 1,
      latest: { atMs: START + 1 },
    });
    expect(latestOf(fits, '2')?.latest).toBeUndefined();
    fits.refused(...faulty('2'));
    expect(latestOf(fits, '2')).toMatchObject({ count: 2, latest: { project: '2' } });
  });

  it('of thousands of projects take 16 MiB, not their bodies', () => {
    const counts = new Counts({ now: () => 0, isListed: () => true });
    const codes = ['invalid-view', 'origin-not-allowed', 'view-too-large'] as const;
    const collect = garbageCollector();
    const before = collect();
    for (let i = 0; i < 6_000; i++) {
      for (const code of codes) {
        // Made as a body is: one flat text, which a part of it could keep.
        const body = Buffer.from(`${i}${code}${'x'.repeat(16_000)}`).toString();
        const project = body.slice(0, String(i).length);
        const issues = [
          { field: 'mb', message: 'must be', expected: 'integer', received: body.slice(9, 70) },
        ];
        counts.refused({ code, detail: body.slice(0, 300), project, issues }, undefined, body);
      }
    }
    const grownMiB = (collect() - before) / 2 ** 20;
    expect(counts.samples.bytes).toBeLessThanOrEqual(15 * 2 ** 20);
    expect(counts.samples.bytes).toBeGreaterThan(14 * 2 ** 20);
    // Beside the samples it is the counts of 6,000 projects.
    expect(grownMiB).toBeLessThan(40);
    expect(counts.total.refused).toBe(18_000);
  });
});

/** A function that collects garbage, and tells the size of the heap, in bytes. */
function garbageCollector(): () => number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
}

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

describe('commands for an installation', () => {
  const installation = {
    projectsPath: '/var/lib/viewlog/projects.json',
    dataDir: '/var/lib/viewlog',
    account: 'viewlog',
  };

  it('run as the account that the files belong to', () => {
    const { projectsPath, account } = installation;
    expect(activationOf('7', undefined, projectsPath, account)).toBe(
      'sudo -u viewlog viewlog activate 7 --projects /var/lib/viewlog/projects.json',
    );
    expect(activationOf('7', undefined, projectsPath, '#998')).toMatch(/^sudo -u '#998' viewlog /);
    expect(snippetOf('7', installation)).toMatch(
      /^sudo -u viewlog viewlog snippet 7 --url \S+ --pro/,
    );
  });

  it('make the report of the data directory, and name the projects file where it is elsewhere', () => {
    expect(reportOf(installation)).toBe(
      'sudo -u viewlog viewlog report --data /var/lib/viewlog --last 7 --html report.html',
    );
    expect(reportOf({ projectsPath: '/etc/p.json', dataDir: '/d d', account: undefined })).toBe(
      "viewlog report --data '/d d' --projects /etc/p.json --last 7 --html report.html",
    );
    expect(reportOf({ ...installation, dataDir: undefined })).toBeUndefined();
  });
});
