import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/base/time.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import type { ProjectsFile } from '../../src/projects/projects-schema.ts';
import type { CollectorSource, Known } from '../../src/status/collector-source.ts';
import { Counts } from '../../src/status/counts.ts';
import { daysAt } from '../../src/status/days.ts';
import { viewsPerDay } from '../../src/status/shown-activity.ts';
import { rankedProjects, shownProjects } from '../../src/status/shown-projects.ts';
import type { RefusalCode } from '../../src/view/refusal.ts';

// What the page is told of listed projects.

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const ORIGIN = 'https://shop.example.com';

function sourceOf(projects: ProjectsFile['projects'], known: Partial<Known> = {}) {
  const counts = new Counts({ now: () => NOW, isListed: () => true });
  const list = (entries: ProjectsFile['projects']) => new ProjectList({ projects: entries });
  const source = {
    counts,
    known: { sinceMs: NOW - 3 * DAY_MS, isReading: false, ...known },
    projects: list(projects),
    installation: { projectsPath: '/d/projects.json', dataDir: '/d', account: undefined },
  } as unknown as CollectorSource;
  const refuse = (project: string, code: RefusalCode, origin?: string): void =>
    counts.refused({ code, detail: '', project }, origin, '{}');
  const withProjects = (entries: ProjectsFile['projects']): CollectorSource => ({
    ...source,
    projects: list(entries),
  });
  return { source, counts, refuse, withProjects };
}

const shown = (source: CollectorSource) =>
  shownProjects(rankedProjects(source, NOW, false), source, NOW);

const commands = (source: CollectorSource): unknown[] =>
  shown(source).flatMap(({ refusals }) =>
    refusals.flatMap(({ command, origins }) => [command, ...origins.map((o) => o.command)]),
  );

describe('a refusal', () => {
  it('has the command that mends it, for each plain origin, until it is mended', () => {
    const listed = { id: '1', origins: ['https://www.example.com'] };
    const { source, refuse, withProjects } = sourceOf([listed]);
    refuse('1', 'origin-not-allowed', ORIGIN);
    refuse('1', 'origin-not-allowed', 'https://a.example;reboot');
    refuse('1', 'origin-not-allowed');
    const command = `viewlog activate 1 --origin ${ORIGIN} --projects /d/projects.json`;
    expect(commands(source)).toStrictEqual([undefined, command, undefined, undefined]);
    const mended = withProjects([{ id: '1', origins: [ORIGIN] }]);
    expect(commands(mended)).toStrictEqual([undefined, undefined, undefined, undefined]);
  });

  it('of an inactive project has the command that activates it, until it is active', () => {
    const { source, refuse, withProjects } = sourceOf([{ id: '1', active: false }]);
    refuse('1', 'project-not-activated', ORIGIN);
    expect(commands(source)).toStrictEqual([
      'viewlog activate 1 --projects /d/projects.json',
      undefined,
    ]);
    expect(commands(withProjects([{ id: '1' }]))).toStrictEqual([undefined, undefined]);
  });

  it('for a limit has the command that doubles it, where the project is active', () => {
    const { source, refuse, withProjects } = sourceOf([{ id: '1', maxViewsPerMinute: 60 }]);
    refuse('1', 'rate-limited');
    expect(commands(source)[0]).toBe(
      'viewlog activate 1 --projects /d/projects.json --max-views-per-minute 120',
    );
    expect(commands(withProjects([{ id: '1' }]))[0]).toBeUndefined();
    const inactive = { id: '1', maxViewsPerMinute: 60, active: false };
    expect(commands(withProjects([inactive]))[0]).toBeUndefined();
  });

  it('of very many has a sample as long as there is room, and its count always', () => {
    const ids = Array.from({ length: 150 }, (_, i) => ({ id: String(i + 1) }));
    const { source, refuse } = sourceOf(ids);
    for (const { id } of ids) refuse(id, 'invalid-view', ORIGIN);
    const groups = shown(source).flatMap(({ refusals }) => refusals);
    expect(groups.map(({ count }) => count)).toStrictEqual(Array(150).fill(1));
    expect(groups.filter(({ latest }) => latest !== undefined)).toHaveLength(50);
  });
});

describe('projects in trouble', () => {
  it('stand in the order of what they lose in an hour, red before amber', () => {
    const names = ['few', 'many', 'silent', 'some', 'well'];
    const { source, counts, refuse } = sourceOf(names.map((name, i) => ({ id: String(i), name })));
    const add = (id: string, agoMs: number, count: number): void => {
      for (let i = 0; i < count; i++)
        counts.acceptedEarlier(id, NOW - agoMs, () => Buffer.from('{}'));
    };
    refuse('0', 'invalid-view');
    for (let i = 0; i < 50; i++) refuse('1', 'invalid-view');
    add('1', 60_000, 1);
    add('2', DAY_MS + HOUR_MS / 2, 30);
    for (let i = 0; i < 29; i++) refuse('3', 'invalid-view');
    add('3', 60_000, 29);
    add('4', 60_000, 1000);
    expect(shown(source).map(({ name }) => name)).toStrictEqual([
      'many',
      'few',
      'silent',
      'some',
      'well',
    ]);
    refuse('3', 'invalid-view');
    refuse('3', 'invalid-view');
    expect(shown(source)[2]!.name).toBe('some');
  });
});

describe('of projects in trouble', () => {
  it('those that are inactive come after others that lose less', () => {
    const { source, refuse } = sourceOf([{ id: '1', active: false }, { id: '2' }]);
    for (let i = 0; i < 9; i++) refuse('1', 'project-not-activated');
    refuse('2', 'invalid-view');
    expect(shown(source).map(({ id }) => id)).toStrictEqual(['2', '1']);
  });

  it('the cause is the most frequent reason of the last hour', () => {
    const { source, counts, refuse } = sourceOf([{ id: '1' }]);
    const refusal = { code: 'origin-not-allowed', detail: '', project: '1' } as const;
    for (let i = 0; i < 9; i++) counts.refusedEarlier(refusal, undefined, '{}', NOW - HOUR_MS);
    refuse('1', 'origin-not-allowed');
    refuse('1', 'invalid-view');
    refuse('1', 'invalid-view');
    const [project] = shown(source);
    expect(project!.causes).toStrictEqual(['invalid-view', 'origin-not-allowed']);
    expect(project!.refusals.map(({ code, count, lastHour }) => [code, count, lastHour])).toEqual([
      ['origin-not-allowed', 10, 1],
      ['invalid-view', 2, 2],
    ]);
  });

  it('the cause is not the disk while that is full', () => {
    const { source, refuse } = sourceOf([{ id: '1' }, { id: '2' }]);
    for (let i = 0; i < 9; i++) refuse('1', 'storage-unavailable');
    refuse('2', 'storage-unavailable');
    refuse('2', 'invalid-view');
    const judged = (isOutage: boolean) =>
      rankedProjects(source, NOW, isOutage).map(({ id, state, causes }) => [id, state, ...causes]);
    expect(judged(true)).toStrictEqual([
      ['2', 'some-refused', 'invalid-view'],
      ['1', 'not-stored'],
    ]);
    expect(judged(false)).toStrictEqual([
      ['1', 'all-refused', 'storage-unavailable'],
      ['2', 'all-refused', 'storage-unavailable', 'invalid-view'],
    ]);
  });
});

describe('a project that has fallen silent', () => {
  const look = (origins: string[] | undefined, hasOthers: boolean) => {
    const { source, counts } = sourceOf([{ id: '1', ...(origins && { origins }) }, { id: '2' }]);
    for (let i = 0; i < 20; i++)
      counts.acceptedEarlier('1', NOW - DAY_MS - HOUR_MS, () => Buffer.from('{}'));
    if (hasOthers) counts.acceptedEarlier('2', NOW - 60_000, () => Buffer.from('{}'));
    return shown(source).find(({ id }) => id === '1')!.look;
  };

  it('has the command that looks for its script, on an address that is plain', () => {
    expect(look(['https://*.example.com', ORIGIN], true)).toStrictEqual({
      text: 'This prints the line of its page that has the script; where there is none, put it back:',
      command: `curl -sSL ${ORIGIN}/ | grep 1`,
    });
  });

  it('says what to fill in where no address of it is known', () => {
    for (const origins of [['https://*.example.com'], undefined]) {
      expect(look(origins, true)).toStrictEqual({
        text:
          'With its address in place of ADDRESS, this prints the line of its page that has the ' +
          'script; where there is none, put it back:',
        command: 'curl -sSL https://ADDRESS/ | grep 1',
      });
    }
  });

  it('has the doctor where no project has views', () => {
    const { text, command } = look(undefined, false)!;
    expect(text).toContain('whether browsers reach viewlog');
    expect(command).toBe('viewlog doctor --data /d --url https://views.example.com');
  });
});

describe('of more projects than can be shown', () => {
  it('those in trouble are, and those heard of last', () => {
    const ids = Array.from({ length: 500 }, (_, i) => ({ id: String(i + 1) }));
    const { source, counts, refuse } = sourceOf(ids);
    for (let id = 1; id <= 300; id++) {
      counts.acceptedEarlier(String(id), NOW - id * 1000 - 2 * HOUR_MS, () => Buffer.from('{}'));
    }
    refuse('400', 'invalid-view');
    const all = shown(source).map(({ id }) => id);
    expect(all).toHaveLength(200);
    expect(all[0]).toBe('400');
    expect(all.slice(1)).toStrictEqual(Array.from({ length: 199 }, (_, i) => String(i + 1)));
  });
});

describe('yesterday by now', () => {
  const byNow = (source: CollectorSource) => shown(source)[0]!.activity.yesterdayByNow;

  it('ends at this time of day, the running quarter of an hour by its share', () => {
    const { source, counts } = sourceOf([{ id: '1' }]);
    const { todayMs, yesterdayMs } = daysAt(NOW);
    const nowMs = NOW + 5 * 60_000;
    const add = (atMs: number, count: number): void => {
      for (let i = 0; i < count; i++) counts.acceptedEarlier('1', atMs, () => Buffer.from('{}'));
    };
    add(todayMs + 1, 50);
    add(yesterdayMs, 2);
    add(NOW - DAY_MS - 1, 3);
    add(NOW - DAY_MS, 30);
    add(NOW - DAY_MS + 15 * 60_000, 100);
    add(yesterdayMs - 1, 1000);
    expect(byNow(source)).toBe(5);
    expect(
      shownProjects(rankedProjects(source, nowMs, false), source, nowMs)[0]!.activity,
    ).toMatchObject({
      yesterdayByNow: 15,
      yesterday: 135,
    });
  });

  it('is not shown where yesterday is not known whole', () => {
    const { yesterdayMs } = daysAt(NOW);
    const since = (sinceMs: number) => byNow(sourceOf([{ id: '1' }], { sinceMs }).source);
    expect(since(yesterdayMs)).toBe(0);
    expect(since(yesterdayMs + 1)).toBeUndefined();
  });
});

describe('what is not known', () => {
  it('of yesterday is not shown as none', () => {
    const { todayMs } = daysAt(NOW);
    const yesterday = (sinceMs: number) =>
      shown(sourceOf([{ id: '1' }], { sinceMs }).source)[0]!.activity.yesterday;
    expect(yesterday(todayMs)).toBeUndefined();
    expect(yesterday(todayMs - 1)).toBe(0);
  });

  it('of a day is reckoned from the last hour', () => {
    const { source, counts } = sourceOf([{ id: '1' }]);
    for (let i = 1; i <= 59; i++)
      counts.acceptedEarlier('1', NOW - i * 60_000, () => Buffer.from('{}'));
    expect(viewsPerDay(source, NOW)).toBe(59);
    const known = { sinceMs: NOW - HOUR_MS, isReading: false };
    expect(viewsPerDay({ ...source, known }, NOW)).toBe(1440);
    expect(viewsPerDay({ ...source, known: { ...known, sinceMs: NOW } }, NOW)).toBeUndefined();
  });
});
