import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { removeOldFiles, startRetention } from '../../src/disk/retention.ts';
import { clockAt } from '../support/clock.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';

const march = (day: number): string => `2026-03-${String(day).padStart(2, '0')}`;
const viewFiles = (...days: number[]): string[] => days.map((day) => `views-${march(day)}.ndjson`);
const refusedFiles = (...days: number[]): string[] =>
  days.map((day) => `refused-${march(day)}.ndjson`);

function dirWith(names: readonly string[]): string {
  const dir = tempDir();
  for (const name of names) fs.writeFileSync(join(dir, name), '');
  return dir;
}

function removeIn(
  dir: string,
  options: { keepDays?: number; keepRefusedDays?: number; at: string },
) {
  const { keepDays = 0, keepRefusedDays = 0, at } = options;
  const log = memoryLog();
  removeOldFiles({ dir, keepDays, keepRefusedDays, now: clockAt(at).now, log });
  return { left: fs.readdirSync(dir).sort(), log };
}

describe('a view file', () => {
  test('goes when it is more than N days old and N newer ones exist', () => {
    const dir = dirWith(viewFiles(1, 2, 3, 4, 5));
    const { left, log } = removeIn(dir, { keepDays: 2, at: `${march(5)}T23:59:59.999Z` });
    expect(left).toEqual(viewFiles(3, 4, 5));
    expect(log.lines).toEqual([`info: Removed 2 views files from "${dir}", up to 2026-03-02`]);
  });

  test('stays as long as fewer than N newer ones exist', () => {
    const dir = dirWith(viewFiles(1, 2, 3));
    const { left } = removeIn(dir, { keepDays: 2, at: '2026-12-31T12:00:00Z' });
    expect(left).toEqual(viewFiles(2, 3));
  });

  test('stays when a clock that is years ahead makes it look old', () => {
    const dir = dirWith(viewFiles(1, 2, 3));
    const { left, log } = removeIn(dir, { keepDays: 3, at: '2040-01-01T00:00:00Z' });
    expect(left).toEqual(viewFiles(1, 2, 3));
    expect(log.lines).toEqual([]);
  });

  test('stays when a clock that is years behind makes it look new', () => {
    const dir = dirWith(viewFiles(1, 2, 3));
    expect(removeIn(dir, { keepDays: 1, at: '1970-01-02T00:00:00Z' }).left).toHaveLength(3);
  });

  test('stays for ever with 0', () => {
    const dir = dirWith(viewFiles(1, 2, 3));
    expect(removeIn(dir, { keepDays: 0, at: '2040-01-01T00:00:00Z' }).left).toHaveLength(3);
  });
});

describe('a refused file', () => {
  test('goes when it is more than N days old, however few there are', () => {
    const records = refusedFiles(1, 2).map((name) => `${name}.replayed`);
    const dir = dirWith([...refusedFiles(1, 2, 3), ...records, ...viewFiles(1)]);
    const { left } = removeIn(dir, { keepRefusedDays: 2, at: `${march(4)}T00:00:00Z` });
    expect(left).toEqual([...refusedFiles(2, 3), records[1]!, ...viewFiles(1)].sort());
  });
});

test('foreign files are never touched', () => {
  const foreign = [
    'views-2020-01-01.ndjson.gz',
    'views-2020-01-01.ndjson~',
    'views-2020-1-1.ndjson',
    'views-2020-02-30.ndjson',
    'views-2020-13-01.ndjson',
    'old-views-2020-01-01.ndjson',
    'VIEWS-2020-01-01.ndjson',
    'views-2020-01-01.ndjson\n',
    'projects.json',
  ];
  const dir = dirWith([...foreign, ...viewFiles(1, 2, 3)]);
  fs.mkdirSync(join(dir, 'views-2020-01-02.ndjson'));
  fs.symlinkSync('projects.json', join(dir, 'views-2020-01-03.ndjson'));
  const { left, log } = removeIn(dir, { keepDays: 1, keepRefusedDays: 1, at: '2026-12-31T00:00Z' });
  expect(left).toEqual(
    [...foreign, 'views-2020-01-02.ndjson', 'views-2020-01-03.ndjson', ...viewFiles(3)].sort(),
  );
  expect(log.lines).toHaveLength(1);
});

test('a directory that cannot be read is said, and ends nothing', () => {
  const log = memoryLog();
  const dir = join(tempDir(), 'missing');
  removeOldFiles({ dir, keepDays: 1, keepRefusedDays: 1, now: Date.now, log });
  expect(log.lines[0]).toMatch(/^warn: Cannot look for old files in ".*missing": ENOENT/);
});

describe('retention', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('runs at the start and within a minute of each new day', async () => {
    const dir = dirWith(viewFiles(1, 2, 3, 4));
    const clock = clockAt(`${march(4)}T23:59:30Z`);
    const options = { dir, keepDays: 2, keepRefusedDays: 0, now: clock.now, log: memoryLog() };
    const retention = startRetention(options);
    expect(fs.readdirSync(dir).sort()).toEqual(viewFiles(2, 3, 4));
    vi.advanceTimersByTime(60_000);
    expect(fs.readdirSync(dir).sort()).toEqual(viewFiles(2, 3, 4));
    clock.ms += 60_000;
    vi.advanceTimersByTime(60_000);
    expect(fs.readdirSync(dir).sort()).toEqual(viewFiles(3, 4));
    await retention.stop();
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('nothing to remove: the note is kept, so that a later start knows that the clock is right', async () => {
  const dir = dirWith([]);
  const clock = clockAt(`${march(9)}T12:00:00Z`);
  const options = { dir, keepRefusedDays: 0, now: clock.now, log: memoryLog() };
  const first = startRetention({ ...options, keepDays: 0 });
  for (const name of viewFiles(1, 2, 3)) fs.writeFileSync(join(dir, name), '');
  await first.stop();
  await startRetention({ ...options, keepDays: 2 }).stop();
  expect(fs.readdirSync(dir).sort()).toEqual(['retention.json', ...viewFiles(2, 3)]);
});
