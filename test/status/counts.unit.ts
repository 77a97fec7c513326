import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import { LATEST_MAX } from '../../src/status/counts.ts';
import { collectorMetrics } from '../../src/status/metrics.ts';
import { CountsFile, lastEntryOf, slicesOf } from '../../src/status/saved-counts.ts';
import { Timeline } from '../../src/status/timeline.ts';
import { refusedLine } from '../../src/store/refused/refused-line.ts';
import { createStamper } from '../../src/store/stamp.ts';
import { refusal, type RefusalCode } from '../../src/view/refusal.ts';
import { memoryLog } from '../support/memory-log.ts';
import { ProjectList } from '../../src/projects/project-list.ts';
import { NOON, Scene } from '../support/status-scene.ts';
import { tempDir } from '../support/temp-dir.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

describe('a timeline', () => {
  it('counts an hour in minutes and two days in quarter-hours, even once it is restored', () => {
    const first = new Timeline();
    for (const agoMs of [26 * HOUR_MS, HOUR_MS, 59 * MINUTE_MS, 0]) first.add(NOON - agoMs);
    const saved = JSON.parse(JSON.stringify(first)) as { minutes: number[]; quarters: number[] };
    for (const timeline of [first, new Timeline(saved)]) {
      expect(timeline.lastHour(NOON)).toBe(2);
      expect(timeline.byMinute(NOON)).toStrictEqual([1, ...Array<number>(58).fill(0), 1]);
      expect(timeline.lastDay(NOON)).toBe(3);
      expect(timeline.between(NOON - 27 * HOUR_MS, NOON - 25 * HOUR_MS)).toBe(1);
      expect(timeline.hours(NOON)).toStrictEqual([...Array<number>(22).fill(0), 2, 1]);
      expect(timeline.lastHour(NOON + HOUR_MS)).toBe(0);
    }
  });

  it('continues if the clock steps back a little but starts again if it steps back a long way', () => {
    const timeline = new Timeline();
    timeline.add(NOON);
    timeline.add(NOON - 3 * MINUTE_MS);
    expect(timeline.lastHour(NOON)).toBe(2);
    timeline.add(NOON - HOUR_MS);
    expect(timeline.lastHour(NOON - HOUR_MS)).toBe(1);
  });
});

describe('counts', () => {
  it('stay bounded whatever unknown senders send, but keep an unlisted id that sends often', () => {
    const ids = Array.from({ length: 400 }, (_, i) => ({ id: String(i + 1) }));
    const scene = new Scene(ids);
    const refuse = (project: string, i: number): void => {
      scene.refuse(1, { code: 'origin-not-allowed', project }, `https://${i}.example`);
    };
    for (let i = 0; i < 20; i++) refuse('1', i);
    expect(scene.counts.activityOf('1').reasons.size).toBe(9);
    // The page counts every refusal and names the latest origin.
    expect(scene.text()).toContain('Project 1: all 20 views in the last hour were refused');
    expect(scene.text()).toContain(
      '12 views from other origins were refused in the last 24 hours, most recently on 2026-11-22 14:00 UTC from https://19.example',
    );
    const { projects, latestRefused } = scene.counts;
    scene.refuse(2, { code: 'project-not-activated', project: '777' });
    for (let i = 0; i < 4_000; i++) {
      scene.refuse(1, { code: 'project-not-activated', project: String(1_000_000 + i) });
    }
    expect([projects.size, projects.get('777')?.reasons.size]).toStrictEqual([101, 1]);
    for (let i = 0; i < 4_000; i++) refuse(String((i % 400) + 1), i);
    const reasons = [...projects.values()].map((activity) => activity.reasons.size);
    expect(reasons.reduce((sum, size) => sum + size, 0)).toBe(2_000);
    expect(latestRefused).toHaveLength(LATEST_MAX);
    expect(scene.counts.received).toBe(8_022);
  });

  it('date the start of refusals from the first refusal after an hour without any', () => {
    const scene = new Scene([{ id: '1' }]);
    const refuse = (minutes: number): number => {
      scene.nowMs = NOON + minutes * MINUTE_MS;
      scene.refuse(1, { code: 'invalid-view', project: '1' });
      return (scene.counts.activityOf('1').reasons.get('invalid-view')!.sinceMs - NOON) / MINUTE_MS;
    };
    expect([0, 50, 100, 160, 200].map(refuse)).toStrictEqual([0, 0, 0, 160, 160]);
  });

  it('include a refused replay only in the metrics, because no page sent that request', () => {
    const scene = new Scene([{ id: '1' }]);
    const before = scene.text();
    scene.counts.refusedAgain(refusal('origin-not-allowed', 'x', { project: '1' }));
    const { refusedByCode, received, latestRefused } = scene.counts;
    expect([refusedByCode['origin-not-allowed'], received]).toStrictEqual([1, 1]);
    expect([latestRefused, scene.text()]).toStrictEqual([[], before]);
  });

  it('shorten texts from unknown senders', () => {
    const scene = new Scene([{ id: '1' }]);
    const issue = { field: 'x', message: 'x', expected: 'x', received: 'x' };
    const issues = Array.from({ length: 50 }, () => issue);
    const long = 'x'.repeat(100_000);
    scene.refuse(1, { code: 'invalid-view', project: '1', detail: long, issues }, long, long);
    expect(JSON.stringify(scene.counts.latestRefused).length).toBeLessThan(4_000);
  });
});

describe('saved counts', () => {
  const fileOf = ({ counts, projects }: Scene, dir: string, isHeld = true) => {
    const log = memoryLog();
    const lock = { isHeld: () => isHeld };
    return {
      file: new CountsFile({ dir, counts, projects, settle: () => {}, lock, log }),
      log,
    };
  };

  const savedIn = (dir: string): string => readFileSync(join(dir, 'status.json'), 'utf8');

  /** Returns the counts that another process restores in the directory. */
  async function reopened(dir: string, { projects, nowMs }: Scene) {
    const again = new Scene([], nowMs);
    Object.assign(again, { projects, nowMs });
    const { file, log } = fileOf(again, dir);
    await file.restore();
    return { again, lines: log.lines };
  }

  it("keep a removed id's series in the metrics after a restart, but add none for an id that was never listed", async () => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1' }, { id: '2' }]);
    scene.accept(3, '2');
    scene.list({ id: '1' });
    scene.refuse(2, { code: 'project-not-activated', project: '2' });
    scene.refuse(2, { code: 'project-not-activated', project: '77' });
    /** Returns the accepted and the refused views, by project. */
    const seriesOf = (one: Scene) => {
      const metrics = collectorMetrics(one.state(), one.state().files);
      return ['viewlog_views_accepted_total', 'viewlog_project_refused_total'].map((name) => {
        const [, , value] = metrics.find(([of]) => of === name)!;
        return Object.fromEntries(value as [string, number][]);
      });
    };
    expect(seriesOf(scene)).toStrictEqual([
      { 'project="1"': 0, 'project="2"': 3 },
      { 'project="1"': 0, 'project="2"': 2 },
    ]);
    await fileOf(scene, dir).file.save();
    const { again } = await reopened(dir, scene);
    const both = { 'project="1"': 0, 'project="2"': 0 };
    expect(seriesOf(again)).toStrictEqual([both, both]);
    again.nowMs += DAY_MS + HOUR_MS;
    const listed = { 'project="1"': 0 };
    expect(seriesOf(again)).toStrictEqual([listed, listed]);
  });

  it('keep the entry of a removed project', async () => {
    const dir = tempDir();
    const entry = { id: '2', name: 'Shop', active: false, contact: 'shop@example.com' };
    const scene = new Scene([{ id: '1' }, entry]);
    const { file } = fileOf(scene, dir);
    scene.accept(1, '2');
    scene.refuse(1, { code: 'project-not-activated', project: '2' });
    await file.save();
    // No request comes between the removal and the end of the process.
    scene.list({ id: '1' });
    await file.save();
    scene.projects = new ProjectList({ projects: [{ id: '1' }] });
    const { again } = await reopened(dir, scene);
    const text = again.whole();
    expect(text).toContain(
      'Project 2 was in the projects file, but inactive; its last view was accepted on',
    );
    expect(text).toContain(' activate 2 --data /data --name Shop --contact shop@example.com\n');
    expect(text).toContain(': the project was inactive or not listed then.');
    // The entry is saved again, but not for longer than the counts of its id.
    await fileOf(again, dir).file.save();
    again.accept(1, '1');
    const next = fileOf(again, dir).file;
    again.accept(1, '1');
    await next.save();
    expect(savedIn(dir)).toContain('shop@example.com');
    again.nowMs += 3 * DAY_MS;
    again.accept(1, '1');
    again.refuse(1, { code: 'request-timeout' });
    await next.save();
    expect(savedIn(dir)).not.toContain('shop@example.com');
  });

  it('keep the entry of a project that was removed before its first view, for a day', async () => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1', name: 'Kelp', origins: ['https://a.example'] }]);
    scene.list();
    await fileOf(scene, dir).file.save();
    const entry = { id: '1', name: 'Kelp', origins: ['https://a.example'] };
    expect(await lastEntryOf('1', dir)).toMatchObject(entry);
    scene.nowMs += DAY_MS + 1;
    scene.refuse(1, { code: 'not-found' });
    await fileOf(scene, dir).file.save();
    expect(await lastEntryOf('1', dir)).toBeUndefined();
  });

  it('keep the warning about a project that has lost its origins', async () => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1', origins: ['https://a.example'] }]);
    scene.list({ id: '1' });
    await fileOf(scene, dir).file.save();
    scene.projects = new ProjectList({ projects: [{ id: '1' }] });
    const warned =
      /Project 1 accepts views from every site; [^]* activate 1 .* --origin https:\/\/a\.example$/m;
    const { again } = await reopened(dir, scene);
    expect(again.text()).toMatch(warned);
    again.nowMs += HOUR_MS;
    again.accept();
    await fileOf(again, dir).file.save();
    scene.projects = new ProjectList({ projects: [{ id: '1' }] });
    scene.nowMs += HOUR_MS;
    const third = (await reopened(dir, scene)).again;
    expect(third.text()).toMatch(warned);
    // The day began with the edit.
    third.nowMs = NOON + DAY_MS + 1;
    expect(third.text()).not.toContain('every site');
  });

  it('include the refused views that a killed process stored after the last save', async () => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1', origins: ['https://a.example'] }, { id: '2' }]);
    const stored = (code: RefusalCode, fields: object, origin?: string): string => {
      scene.nowMs += 1000;
      const text = JSON.stringify({ ...MINIMAL_VIEW, ...fields });
      const stamp = createStamper(() => scene.nowMs)();
      return refusedLine(stamp, { code, origin, text, project: '1' });
    };
    const path = join(dir, 'refused-2026-11-22.ndjson');
    const counted = stored('invalid-view', { p: '1', url: 'x' });
    scene.refuse(1, { code: 'invalid-view', project: '1' });
    await fileOf(scene, dir).file.save();
    const origin = 'https://b.example';
    const lost = [
      stored('origin-not-allowed', { p: '1' }, origin),
      stored('origin-not-allowed', { p: '1' }, origin),
      stored('invalid-view', { p: '2', url: 'home' }),
    ];
    writeFileSync(path, [counted, ...lost, lost[0]!.slice(0, 200)].join(''));
    scene.nowMs += 1000;
    const { again, lines } = await reopened(dir, scene);
    expect(lines).toStrictEqual([]);
    expect(again.text()).toContain('Project 1: all 3 views in the last hour were refused (origin ');
    expect(again.text()).toContain(`2026-11-22 14:00 UTC from ${origin}: origin not allowed.`);
    expect(again.text()).toContain('"url" must be a string that starts with "/" (received "home")');
    // The counts of earlier builds don't say when they were saved.
    const now = savedIn(dir);
    writeFileSync(join(dir, 'status.json'), now.replace(/"savedMs":\d+,/, ''));
    expect((await reopened(dir, scene)).again.text()).toContain('Project 1: its only view in the ');
    writeFileSync(join(dir, 'status.json'), now);
    // They aren't this process's.
    expect([again.counts.received, again.counts.latestRefused]).toStrictEqual([0, []]);
    await fileOf(again, dir).file.save();
    again.accept();
    await fileOf(again, dir).file.save();
    expect((await reopened(dir, again)).again.text()).toContain('3 of 4 views in the last hour');
  });

  it('are the same after a restart', async () => {
    const dir = tempDir();
    const scene = new Scene([
      { id: '1', origins: ['https://a.example'] },
      { id: '2' },
      { id: '3' },
    ]);
    scene.nowMs = NOON - DAY_MS;
    scene.accept(4, '2');
    scene.accept(1, '3');
    scene.nowMs = NOON;
    scene.refuse(5, { code: 'origin-not-allowed', project: '1' }, 'https://b.example', '{}');
    scene.refuse(2, { code: 'request-timeout' });
    scene.refuse(3, { code: 'project-not-activated', project: '77' });
    scene.refuse(3, { code: 'invalid-view', project: '2' });
    scene.accept(9, '2', 10_000);
    await fileOf(scene, dir).file.save();
    const { again, lines } = await reopened(dir, scene);
    expect(lines).toStrictEqual([]);
    expect(scene.text()).toContain('Project 2: the problem ended on');
    expect(again.text()).toBe(scene.text());
    const { projects, total, unlisted } = scene.model();
    expect(again.model()).toMatchObject({ projects, total, unlisted, latestAccepted: [] });
    expect([unlisted.length, again.counts.received]).toStrictEqual([1, 0]);
    // Sets the clock back.
    scene.nowMs = NOON - HOUR_MS;
    expect((await reopened(dir, scene)).again.counts.sinceMs).toBe(scene.nowMs);
  });

  it("say why a view wasn't stored, in a form that earlier builds can read", async () => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1' }]);
    scene.counts.refused(refusal('invalid-view', 'x', { project: '1' }), undefined)('full');
    await fileOf(scene, dir).file.save();
    expect(savedIn(dir)).toContain(`"dropped":{"atMs":${scene.nowMs},"why":"full"}`);
    const { again, lines } = await reopened(dir, scene);
    expect([lines, again.text()]).toStrictEqual([[], scene.text()]);
  });

  it.each([
    ['lack the list of projects', /"projects":/, '"sites":'],
    ['contain an unknown code', /"code":"invalid-view"/, '"code":"valid-view"'],
    ["aren't JSON", /^\{/, ''],
  ])('are ignored with a warning if they %s', async (_, part, odd) => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1' }]);
    scene.accept();
    scene.refuse(1, { code: 'invalid-view', project: '1' });
    await fileOf(scene, dir).file.save();
    const path = join(dir, 'status.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace(part, odd));
    const { again, lines } = await reopened(dir, scene);
    const warned =
      /^warn: ".*status\.json" doesn't contain viewlog's counts; .* starts counting from zero$/;
    expect(lines).toStrictEqual([expect.stringMatching(warned)]);
    expect(again.model()).toMatchObject({
      total: { lastAcceptedMs: undefined },
      sinceMs: scene.nowMs,
      projects: [{ figures: { refusedLastDay: 0 } }],
    });
  });

  it('are written only with the lock, at first and after a change, and a failure causes one warning', async () => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1' }]);
    await fileOf(scene, dir, false).file.save();
    expect(existsSync(join(dir, 'status.json'))).toBe(false);
    const own = fileOf(scene, dir).file;
    await own.save();
    const first = savedIn(dir);
    scene.nowMs += 1000;
    await own.save();
    expect(savedIn(dir)).toBe(first);
    scene.accept();
    await own.save();
    expect(savedIn(dir)).not.toBe(first);
    const { file, log } = fileOf(scene, join(dir, 'gone'));
    await file.save();
    await file.save();
    expect(log.lines).toStrictEqual([expect.stringMatching(/^warn: Can't write ".*ENOENT/)]);
  });

  it("are written in slices that don't hold up views", () => {
    const ids = Array.from({ length: 4_000 }, (_, i) => ({ id: String(i + 1) }));
    const scene = new Scene(ids);
    for (const { id } of ids) scene.accept(1, id, 0);
    const slices = [...slicesOf(scene.counts)];
    expect(Math.max(...slices.map(({ length }) => length))).toBeLessThan(20_000);
    const { projects } = JSON.parse(slices.join('')) as { projects: unknown[] };
    expect(projects).toHaveLength(4_000);
  });
});
