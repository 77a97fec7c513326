import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../src/base/time.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import type { ProjectsFile } from '../../src/projects/projects-schema.ts';
import type { CollectorSource, Known } from '../../src/status/collector-source.ts';
import { Counts } from '../../src/status/counts.ts';
import { daysAt } from '../../src/status/days.ts';
import { rankedProjects, shownProjects, viewsPerDay } from '../../src/status/shown-projects.ts';
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

const shown = (source: CollectorSource) => shownProjects(rankedProjects(source, NOW), source, NOW);

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

  it('of very many has a sample as long as there is room, and its count always', () => {
    const ids = Array.from({ length: 150 }, (_, i) => ({ id: String(i + 1) }));
    const { source, refuse } = sourceOf(ids);
    for (const { id } of ids) refuse(id, 'invalid-view', ORIGIN);
    const groups = shown(source).flatMap(({ refusals }) => refusals);
    expect(groups.map(({ count }) => count)).toStrictEqual(Array(150).fill(1));
    expect(groups.filter(({ latest }) => latest !== undefined)).toHaveLength(50);
  });
});

describe('of more projects than can be shown', () => {
  it('those in trouble are, and those heard of last', () => {
    const ids = Array.from({ length: 500 }, (_, i) => ({ id: String(i + 1) }));
    const { source, counts, refuse } = sourceOf(ids);
    for (let id = 1; id <= 300; id++) {
      counts.acceptedEarlier(String(id), NOW - id * 1000 - 2 * HOUR_MS, () => '{}');
    }
    refuse('400', 'invalid-view');
    const all = shown(source).map(({ id }) => id);
    expect(all).toHaveLength(200);
    expect(all[0]).toBe('400');
    expect(all.slice(1)).toStrictEqual(Array.from({ length: 199 }, (_, i) => String(i + 1)));
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
    for (let i = 1; i <= 59; i++) counts.acceptedEarlier('1', NOW - i * 60_000, () => '{}');
    expect(viewsPerDay(source, NOW)).toBe(59);
    const known = { sinceMs: NOW - HOUR_MS, isReading: false };
    expect(viewsPerDay({ ...source, known }, NOW)).toBe(1440);
    expect(viewsPerDay({ ...source, known: { ...known, sinceMs: NOW } }, NOW)).toBeUndefined();
  });
});
