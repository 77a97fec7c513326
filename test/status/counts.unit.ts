import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import { LATEST_MAX } from '../../src/status/counts.ts';
import { CountsFile, slicesOf } from '../../src/status/saved-counts.ts';
import { Timeline } from '../../src/status/timeline.ts';
import type { Refusal } from '../../src/view/refusal.ts';
import { memoryLog } from '../support/memory-log.ts';
import { NOON, Scene } from '../support/status-scene.ts';
import { tempDir } from '../support/temp-dir.ts';

describe('a timeline', () => {
  it('counts an hour by the minute, and two days by quarters of an hour', () => {
    const timeline = new Timeline();
    for (const agoMs of [26 * HOUR_MS, HOUR_MS, 59 * MINUTE_MS, 0]) timeline.add(NOON - agoMs);
    expect(timeline.lastHour(NOON)).toBe(2);
    expect(timeline.lastDay(NOON)).toBe(3);
    expect(timeline.between(NOON - 27 * HOUR_MS, NOON - 25 * HOUR_MS)).toBe(1);
    expect(timeline.hours(NOON)).toStrictEqual([...Array<number>(22).fill(0), 2, 1]);
    expect(timeline.lastHour(NOON + HOUR_MS)).toBe(0);
  });

  it('outlasts a clock that steps back a little, and starts again if it steps back far', () => {
    const timeline = new Timeline();
    timeline.add(NOON);
    timeline.add(NOON - 3 * MINUTE_MS);
    expect(timeline.lastHour(NOON)).toBe(2);
    timeline.add(NOON - HOUR_MS);
    expect(timeline.lastHour(NOON - HOUR_MS)).toBe(1);
  });

  it('is the same after it was saved and restored', () => {
    const timeline = new Timeline();
    for (let i = 0; i < 3000; i++) timeline.add(NOON + ((i * i) % 7) * MINUTE_MS * i);
    const nowMs = NOON + 2999 * 6 * MINUTE_MS;
    const saved = JSON.parse(JSON.stringify(timeline)) as { minutes: number[]; quarters: number[] };
    // Each period is two numbers, and only periods of the last hour or two days are saved.
    expect(saved.minutes.length).toBeLessThanOrEqual(2 * 60);
    const again = new Timeline(saved);
    expect(again.byMinute(nowMs)).toStrictEqual(timeline.byMinute(nowMs));
    expect(again.hours(nowMs)).toStrictEqual(timeline.hours(nowMs));
  });
});

describe('counts', () => {
  it('stay bounded, whatever unknown senders send', () => {
    const ids = Array.from({ length: 400 }, (_, i) => ({ id: String(i + 1) }));
    const scene = new Scene(ids);
    const refuse = (project: string, i: number): void => {
      scene.refuse(1, { code: 'origin-not-allowed', project }, `https://${i}.example`);
    };
    for (let i = 0; i < 20; i++) refuse('1', i);
    expect(scene.counts.activityOf('1').reasons.size).toBe(8);
    for (let i = 0; i < 4_000; i++) {
      refuse(String((i % 400) + 1), i);
      scene.refuse(1, { code: 'project-not-activated', project: String(1_000_000 + i) });
    }
    const { projects, unlistedIds, latestRefused } = scene.counts;
    const reasons = [...projects.values()].map((activity) => activity.reasons.size);
    expect(reasons.reduce((sum, size) => sum + size, 0)).toBe(2_000);
    expect(unlistedIds.size).toBe(100);
    expect(latestRefused).toHaveLength(LATEST_MAX);
    expect(scene.counts.received).toBe(8_020);
  });

  it('keep an unlisted id that sends often when others are made up', () => {
    const scene = new Scene([]);
    const refused = (project: string): Refusal & { code: 'project-not-activated' } => ({
      code: 'project-not-activated',
      detail: '',
      project,
    });
    scene.refuse(2, refused('7'));
    for (let i = 0; i < 300; i++) scene.refuse(1, refused(String(1000 + i)));
    expect(scene.counts.unlistedIds.has('7')).toBe(true);
  });

  it('say since when views are refused, after an hour without a refusal', () => {
    const scene = new Scene([{ id: '1' }]);
    const refuse = (minutes: number): number => {
      scene.nowMs = NOON + minutes * MINUTE_MS;
      scene.refuse(1, { code: 'invalid-view', project: '1' });
      return (scene.counts.activityOf('1').reasons.get('invalid-view')!.sinceMs - NOON) / MINUTE_MS;
    };
    expect([0, 50, 100, 160, 200].map(refuse)).toStrictEqual([0, 0, 0, 160, 160]);
  });

  it('cut the texts of unknown senders', () => {
    const scene = new Scene([{ id: '1' }]);
    const issue = { field: 'x', message: 'x', expected: 'x', received: 'x' };
    const issues = Array.from({ length: 50 }, () => issue);
    const long = 'x'.repeat(100_000);
    scene.refuse(1, { code: 'invalid-view', project: '1', detail: long, issues }, long, long);
    const json = JSON.stringify(scene.counts.latestRefused);
    expect(json.length).toBeLessThan(4_000);
  });
});

describe('saved counts', () => {
  const fileOf = (scene: Scene, dir: string, isLocked = true) => {
    const { counts } = scene;
    const log = memoryLog();
    const file = new CountsFile({
      dir,
      counts,
      lock: { isHeld: () => isLocked },
      log,
    });
    return { file, log };
  };

  /** Returns the counts that another process restores in the directory. */
  async function reopened(dir: string, { projects, nowMs }: Scene) {
    const again = new Scene([], nowMs);
    Object.assign(again, { projects, nowMs });
    const { file, log } = fileOf(again, dir);
    await file.restore();
    return { again, lines: log.lines };
  }

  it('show after a restart what was there before', async () => {
    const dir = tempDir();
    const scene = new Scene([
      { id: '1', origins: ['https://a.example'] },
      { id: '2' },
      { id: '3' },
      { id: '4' },
    ]);
    scene.nowMs = NOON - DAY_MS;
    scene.accept(4, '2');
    scene.nowMs = NOON;
    scene.accept(9, '2');
    scene.refuse(5, { code: 'origin-not-allowed', project: '1' }, 'https://b.example', '{}');
    scene.refuse(2, { code: 'request-timeout' });
    scene.refuse(3, { code: 'project-not-activated', project: '77' });
    scene.refuse(3, { code: 'invalid-view', project: '3' });
    scene.accept(9, '3', 10_000);
    scene.accept(1, '4', 0);
    // Project 4 is removed from the list before the restart.
    scene.list({ id: '1', origins: ['https://a.example'] }, { id: '2' }, { id: '3' });
    await fileOf(scene, dir).file.save();
    const { again, lines } = await reopened(dir, scene);
    expect(lines).toStrictEqual([]);
    expect(again.text()).toBe(
      scene.text().replace('Counted since 14:00', 'Running since 14:01, counted since 14:00'),
    );
    const { projects, total, unlisted } = scene.model();
    expect(again.model()).toMatchObject({ projects, total, unlisted });
    expect(
      again
        .model()
        .problems.filter(({ kind }) => kind === 'green')
        .map(({ id }) => id),
    ).toStrictEqual(['3']);
    expect(again.counts.received).toBe(0);
    // The clock was set back.
    scene.nowMs = NOON - HOUR_MS;
    const earlier = await reopened(dir, scene);
    expect(earlier.again.counts.sinceMs).toBe(scene.nowMs);
    expect(again.model().latestAccepted).toStrictEqual([]);
    expect(again.counts.projects.has('4')).toBe(false);
    const acceptedSince = ({ counts: { beforeProject } }: Scene) =>
      beforeProject.accepted - beforeProject.reasons.get('request-timeout')!.acceptedThen;
    expect([acceptedSince(scene), acceptedSince(again)]).toStrictEqual([16, 16]);
  });

  const ODD: [string, RegExp, string][] = [
    ['no list of projects', /"projects":/, '"sites":'],
    ['a time without a date', /"sinceMs":\d+/, '"sinceMs":8650000000000000'],
    ['a count below zero', /"minutes":\[/, '"minutes":[-'],
    ['a count that is text', /"quarters":\[/, '"quarters":["",'],
    ['an unknown code', /"code":"invalid-view"/, '"code":"valid-view"'],
    ['no JSON', /^\{/, ''],
  ];

  it.each(ODD)('with %s are ignored with a warning', async (_, part, odd) => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1' }]);
    scene.accept();
    scene.refuse(1, { code: 'invalid-view', project: '1' });
    await fileOf(scene, dir).file.save();
    const path = join(dir, 'status.json');
    writeFileSync(path, readFileSync(path, 'utf8').replace(part, odd));
    const { again, lines } = await reopened(dir, scene);
    expect(lines).toStrictEqual([
      expect.stringMatching(/^warn: Cannot read ".*status\.json": .*counts from this start$/),
    ]);
    expect(again.model()).toMatchObject({
      total: { lastAcceptedMs: undefined },
      sinceMs: scene.nowMs,
      projects: [{ figures: { refusedLastDay: 0 } }],
    });
  });

  it('are written only with the lock, and only if something was counted', async () => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1' }]);
    const path = join(dir, 'status.json');
    await fileOf(scene, dir).file.save();
    expect(existsSync(path)).toBe(false);
    scene.accept();
    await fileOf(scene, dir, false).file.save();
    expect(existsSync(path)).toBe(false);
    await fileOf(scene, dir).file.save();
    expect(existsSync(path)).toBe(true);
  });

  it('that cannot be written cause one warning', async () => {
    const scene = new Scene([{ id: '1' }]);
    const { file, log } = fileOf(scene, join(tempDir(), 'gone'));
    scene.accept();
    await file.save();
    await file.save();
    expect(log.lines).toStrictEqual([expect.stringMatching(/^warn: Cannot write ".*ENOENT/)]);
  });

  it('are written in slices, so that views have their turn', () => {
    const ids = Array.from({ length: 4_000 }, (_, i) => ({ id: String(i + 1) }));
    const scene = new Scene(ids);
    for (const { id } of ids) scene.accept(1, id, 0);
    const slices = [...slicesOf(scene.counts)];
    expect(Math.max(...slices.map(({ length }) => length))).toBeLessThan(20_000);
    const { projects } = JSON.parse(slices.join('')) as { projects: unknown[] };
    expect(projects).toHaveLength(4_000);
  });
});
