import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/base/time.ts';
import { Counts, LATEST_MAX } from '../../src/status/counts.ts';
import { CountsSaver, openCounts } from '../../src/status/saved-counts.ts';
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
    expect(timeline.between(NOON - 27 * HOUR_MS, NOON - 25 * HOUR_MS, NOON)).toBe(1);
    expect(timeline.hours(NOON)).toStrictEqual([...Array<number>(22).fill(0), 2, 1]);
    expect(timeline.lastHour(NOON + HOUR_MS)).toBe(0);
    expect(timeline.between(0, NOON + 9 * DAY_MS, NOON + 3 * DAY_MS)).toBe(0);
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
    const saved = JSON.parse(JSON.stringify(timeline)) as ReturnType<Timeline['toJSON']>;
    const again = Timeline.restored(saved);
    expect(again.minutes(nowMs)).toStrictEqual(timeline.minutes(nowMs));
    expect(again.hours(nowMs)).toStrictEqual(timeline.hours(nowMs));
  });
});

describe('counts', () => {
  it('stay bounded, whatever strangers send', () => {
    const ids = Array.from({ length: 500 }, (_, i) => ({ id: String(i + 1) }));
    const scene = new Scene(ids);
    for (let i = 0; i < 4_000; i++) {
      const project = String((i % 500) + 1);
      scene.refuse(1, { code: 'origin-not-allowed', project }, `https://${i}.example`);
      scene.refuse(1, { code: 'project-not-activated', project: String(1_000_000 + i) });
    }
    const { projects, unlistedIds, latestRefused } = scene.counts;
    const reasons = [...projects.values()].map((activity) => activity.reasons.size);
    expect(reasons.reduce((sum, size) => sum + size, 0)).toBe(2_000);
    expect(Math.max(...reasons)).toBeLessThanOrEqual(8);
    expect(unlistedIds.size).toBe(100);
    expect(latestRefused).toHaveLength(LATEST_MAX);
    expect(scene.counts.total.refused).toBe(8_000);
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

  it('cut what strangers send', () => {
    const scene = new Scene([{ id: '1' }]);
    const issues = Array.from({ length: 50 }, () => ({
      field: 'x',
      message: 'x',
      expected: 'x',
      received: 'x',
    }));
    const long = 'x'.repeat(100_000);
    scene.refuse(1, { code: 'invalid-view', project: '1', detail: long, issues }, long, long);
    const json = JSON.stringify(scene.counts.latestRefused);
    expect(json.length).toBeLessThan(4_000);
  });
});

describe('saved counts', () => {
  async function reopened(dir: string, scene: Scene) {
    const log = memoryLog();
    const now = (): number => scene.nowMs;
    const { counts } = await openCounts(
      { dir, isLocked: () => true },
      { projects: scene.projects, now, log },
    );
    const again = new Scene([]);
    Object.assign(again, { projects: scene.projects, counts, nowMs: scene.nowMs });
    return { again, log };
  }

  function saverOf(scene: Scene, dir: string, isLocked = true) {
    const log = memoryLog();
    const now = (): number => scene.nowMs;
    const saver = new CountsSaver({
      dir,
      counts: scene.counts,
      now,
      log,
      isLocked: () => isLocked,
    });
    return { saver, log };
  }

  it('show after a restart what was there before', async () => {
    const dir = tempDir();
    const scene = new Scene([
      { id: '1', origins: ['https://a.example'] },
      { id: '2' },
      { id: '3' },
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
    await saverOf(scene, dir).saver.save();
    const { again, log } = await reopened(dir, scene);
    expect(log.lines).toStrictEqual([]);
    expect(again.text()).toBe(
      scene.text().replace('Counted since 14:00', 'Running since 14:01, counted since 14:00'),
    );
    const { projects, total, unlisted } = scene.model();
    expect(again.model()).toMatchObject({ projects, total, unlisted });
    expect(again.model().fixed.map(({ id }) => id)).toStrictEqual(['3']);
    expect([again.counts.total.accepted, again.counts.total.refused]).toStrictEqual([0, 0]);
    expect(again.model().latestAccepted).toStrictEqual([]);
  });

  it.each([
    ['no JSON', '{'],
    ['another version', '{"version":2}'],
    ['anything else', '{"version":1,"total":7}'],
  ])('that are %s are ignored with a warning', async (_, text) => {
    const dir = tempDir();
    writeFileSync(join(dir, 'status.json'), text);
    const { again, log } = await reopened(dir, new Scene([{ id: '1' }]));
    expect(log.lines).toStrictEqual([
      expect.stringMatching(/^warn: Cannot read ".*status\.json": .*counts from this start$/),
    ]);
    expect(again.model()).toMatchObject({ headline: { about: 'first-view' }, sinceMs: NOON });
  });

  it('are not written without the lock, nor if nothing was counted', async () => {
    const dir = tempDir();
    const scene = new Scene([{ id: '1' }]);
    const path = join(dir, 'status.json');
    await saverOf(scene, dir).saver.save();
    expect(() => readFileSync(path)).toThrow('ENOENT');
    scene.accept();
    await saverOf(scene, dir, false).saver.save();
    expect(() => readFileSync(path)).toThrow('ENOENT');
    await saverOf(scene, dir).saver.save();
    expect(readFileSync(path, 'utf8')).toMatch(/^\{"version":1,/);
  });

  it('that cannot be written are warned of once', async () => {
    const scene = new Scene([{ id: '1' }]);
    const { saver, log } = saverOf(scene, join(tempDir(), 'gone'));
    scene.accept();
    await saver.save();
    await saver.saveLast();
    expect(log.lines).toStrictEqual([
      expect.stringMatching(/^warn: Cannot write ".*ENOENT|no such/),
    ]);
  });

  it('let views have their turn while they are saved', async () => {
    const ids = Array.from({ length: 1_000 }, (_, i) => ({ id: String(i + 1) }));
    const scene = new Scene(ids);
    for (const { id } of ids) scene.accept(1, id, 0);
    let turns = 0;
    const turn = (): void => {
      turns += 1;
      if (turns < 1_000) setImmediate(turn);
    };
    turn();
    await saverOf(scene, tempDir()).saver.save();
    expect(turns).toBeGreaterThan(ids.length / 100);
    turns = 1_000;
  });
});

it('an earlier process’s project that is no longer listed is forgotten', async () => {
  const dir = tempDir();
  const scene = new Scene([{ id: '1' }]);
  scene.accept();
  const log = memoryLog();
  const now = (): number => scene.nowMs;
  await new CountsSaver({
    dir,
    counts: scene.counts,
    isLocked: () => true,
    now,
    log,
  }).save();
  const projects = { find: () => undefined };
  const directory = { dir, isLocked: () => true };
  const { counts } = await openCounts(directory, { projects, now, log });
  expect(counts).toBeInstanceOf(Counts);
  expect([...counts.projects.keys()]).toStrictEqual([]);
});
