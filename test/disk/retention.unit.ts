import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FileOps, systemFiles } from '../../src/disk/ops.ts';
import { overdueDays, Retention, type RetentionOptions } from '../../src/disk/retention.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';

/** The real files, without threads: every look is over after one turn of the event loop. */
const files: FileOps = {
  ...systemFiles,
  list: async (dir) => fs.readdirSync(dir),
  stat: async (path) => fs.statSync(path),
  lstat: async (path) => fs.lstatSync(path),
  unlink: async (path) => fs.unlinkSync(path),
};

const march = (day: number): string => `2026-03-${String(day).padStart(2, '0')}`;
const HOUR_MS = 3_600_000;
const noon = (day: number): number => Date.parse(`${march(day)}T12:00:00Z`);

describe('overdue days', () => {
  const days = [1, 2, 3, 4, 5].map(march);

  it.each([
    ['more than N days old', 2, `${march(5)}T23:59:59.999Z`, [1, 2]],
    ['none exactly N days old', 4, `${march(5)}T00:00:00.000Z`, []],
    ['all but the newest, however old', 2, '2040-01-01T00:00:00Z', [1, 2, 3, 4]],
    ['none for a clock that is behind', 1, '1970-01-02T00:00:00Z', []],
    ['none with 0', 0, '2040-01-01T00:00:00Z', []],
  ])('are %s', (_, keepDays, now, expected) => {
    expect(overdueDays(days, keepDays, Date.parse(now))).toStrictEqual(expected.map(march));
  });

  it('include those of a site that had views on few days', () => {
    const months = ['2026-01-10', '2026-02-10', '2026-03-10'];
    expect(overdueDays(months, 30, Date.parse('2026-03-11'))).toStrictEqual(['2026-01-10']);
  });
});

describe('retention', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  async function started(names: readonly string[], options: Partial<RetentionOptions> = {}) {
    const dir = tempDir();
    for (const name of names) fs.writeFileSync(join(dir, name), '');
    const log = memoryLog();
    const retention = new Retention({
      dir,
      keepDays: 2,
      keepRefusedDays: 2,
      now: () => noon(6),
      log,
      files,
      hasWritten: () => false,
      isLocked: () => true,
      ...options,
    });
    const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await settle();
    const pass = async (hours: number): Promise<void> => {
      for (let i = 0; i < hours; i++) {
        vi.advanceTimersByTime(HOUR_MS);
        await settle();
      }
    };
    const left = (): string[] => fs.readdirSync(dir).sort();
    return { dir, log, retention, pass, left };
  }
  const views = (...days: number[]): string[] => days.map((day) => `views-${march(day)}.ndjson`);
  const refused = (...days: number[]): string[] =>
    days.map((day) => `refused-${march(day)}.ndjson`);

  it('removes one file of each kind per hour, oldest first, the first after an hour', async () => {
    const { dir, log, pass, left } = await started([...views(1, 2, 3, 5), ...refused(1, 2, 5)]);
    expect(left()).toHaveLength(7);
    await pass(1);
    expect(left()).toStrictEqual([...refused(2, 5), ...views(2, 3, 5)]);
    expect(log.lines).toStrictEqual([
      `info: Removed "${dir}/views-2026-03-01.ndjson", which is more than 2 days old`,
      `info: Removed "${dir}/refused-2026-03-01.ndjson", which is more than 2 days old`,
    ]);
    await pass(5);
    expect(left()).toStrictEqual([...refused(5), ...views(5)]);
  });

  it('never removes the newest file, one that this process has written, or a foreign one', async () => {
    const foreign = ['views-2026-03-01.ndjson.gz', 'notes.txt', 'views-2026-13-01.ndjson'];
    const { pass, left } = await started([...views(1, 2, 3), ...foreign], {
      now: () => Date.parse('2040-01-01'),
      hasWritten: (kind, day) => kind === 'views' && day === march(1),
    });
    await pass(5);
    expect(left()).toStrictEqual([...foreign, ...views(1, 3)].sort());
  });

  it('ignores a directory or a link of that name', async () => {
    const { dir, pass, left, log } = await started(views(2, 3, 4));
    fs.mkdirSync(join(dir, views(1)[0]!));
    fs.symlinkSync('elsewhere', join(dir, 'views-2026-02-01.ndjson'));
    await pass(3);
    expect(left()).toStrictEqual(['views-2026-02-01.ndjson', ...views(1, 4)]);
    expect(log.lines.every((line) => line.startsWith('info: Removed'))).toBe(true);
  });

  it('keeps the newest file, though a directory has a newer name', async () => {
    const { dir, pass, left } = await started(views(1, 2));
    fs.mkdirSync(join(dir, views(3)[0]!));
    await pass(3);
    expect(left()).toStrictEqual(views(2, 3));
  });

  it('removes the record of replayed views with the refused file', async () => {
    const { pass, left } = await started([
      ...refused(1, 5),
      `${refused(1)[0]}.replayed`,
      `${refused(5)[0]}.replayed`,
    ]);
    await pass(1);
    expect(left()).toStrictEqual([...refused(5), `${refused(5)[0]}.replayed`]);
  });

  it('removes nothing while the lock is lost, or after it was stopped', async () => {
    let isLocked = false;
    const { pass, left, retention } = await started(views(1, 2, 5), { isLocked: () => isLocked });
    await pass(2);
    expect(left()).toHaveLength(3);
    isLocked = true;
    retention.stop();
    await pass(2);
    expect(left()).toHaveLength(3);
  });

  it('logs a directory that cannot be read, and goes on', async () => {
    const { dir, pass, left, log } = await started(views(1, 2, 5));
    fs.renameSync(dir, `${dir}-away`);
    await pass(1);
    expect(log.lines).toStrictEqual([
      expect.stringContaining('warn: Cannot remove old files of views'),
      expect.stringContaining('warn: Cannot remove old files of refused'),
    ]);
    fs.renameSync(`${dir}-away`, dir);
    await pass(1);
    expect(left()).toStrictEqual(views(2, 5));
  });
});
