import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { daysIn } from '../../src/disk/directory.ts';
import { type FileOps, systemFiles } from '../../src/disk/ops.ts';
import { overdueFiles, startRetention } from '../../src/disk/retention.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';

// The log lines and the real file system. The simulator tests which files are removed, and when.

const march = (day: number): string => `2026-03-${String(day).padStart(2, '0')}`;
const HOUR_MS = 3_600_000;

/** The real files, without threads: every check ends within one turn of the event loop. */
const files: FileOps = {
  ...systemFiles,
  list: async (dir) => fs.readdirSync(dir),
  unlink: async (path) => fs.unlinkSync(path),
};

function started(names: readonly string[]) {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const dir = tempDir();
  for (const name of names) fs.writeFileSync(join(dir, name), '');
  const log = memoryLog();
  const may = { remove: true };
  startRetention({
    dir,
    keepDays: { views: 2, refused: 2 },
    now: () => Date.parse(`${march(6)}T12:00:00Z`),
    log,
    files,
    isInUse: (kind, day) => kind === 'views' && day === march(1),
    isLocked: () => may.remove,
  });
  const pass = async (hours: number): Promise<void> => {
    for (let i = 0; i < hours; i++) {
      vi.advanceTimersByTime(HOUR_MS);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const left = (): string[] => fs.readdirSync(dir).sort();
  return { dir, log, may, pass, left };
}

const views = (...days: number[]): string[] => days.map((day) => `views-${march(day)}.ndjson`);
const refused = (...days: number[]): string[] => days.map((day) => `refused-${march(day)}.ndjson`);
const record = (day: number): string => `${refused(day)[0]}.replayed`;

it('per hour, retention removes all files of one day of each kind and logs each file', async () => {
  const compressed = [`${views(2)[0]}.gz`, `${refused(1)[0]}.gz`];
  const foreign = [`${views(1)[0]}.bak`, `${views(2)[0]}.replayed`, `old-${views(2)[0]}`];
  const own = [...views(1, 2, 3, 5), ...refused(1, 2, 5), record(1), record(5)];
  const names = [...own, ...compressed, ...foreign].sort();
  const { dir, log, may, pass, left } = started(names);
  fs.renameSync(dir, `${dir}-away`);
  await pass(1);
  expect(log.lines.splice(0)).toStrictEqual([
    expect.stringContaining("warn: Can't remove old views-* files from"),
    expect.stringContaining("warn: Can't remove old refused-* files from"),
  ]);
  fs.renameSync(`${dir}-away`, dir);
  may.remove = false;
  await pass(2);
  expect(left()).toStrictEqual(names);
  may.remove = true;
  await pass(1);
  const kept = [...refused(5), record(5), ...views(1, 5), ...foreign];
  expect(left()).toStrictEqual([...kept, ...refused(2), ...views(3)].sort());
  const removed = [...views(2), compressed[0], ...refused(1), compressed[1], record(1)];
  expect(log.lines).toStrictEqual(
    removed.map((name) => `info: Removed "${dir}/${name}", which is more than 2 days old`),
  );
  await pass(5);
  expect(left()).toStrictEqual(kept.sort());
});

it("retention names a file that it can't remove, and removes no later one", async () => {
  const { dir, log, pass, left } = started(refused(2, 5, 6));
  const [stuck, ...later] = left();
  fs.rmSync(join(dir, stuck!));
  fs.mkdirSync(join(dir, stuck!));
  await pass(2);
  const warning = `warn: Can't remove "${dir}/${stuck}", which is more than 2 days old: `;
  expect(log.lines).toStrictEqual([
    expect.stringContaining(warning),
    expect.stringMatching(
      /; remove it, because viewlog removes no later file of this kind before it$/,
    ),
  ]);
  expect(left()).toStrictEqual([stuck, ...later]);
});

it('files are overdue once retention has had two hours to remove them', () => {
  const names = [...views(1, 2, 5), `${views(1)[0]}.gz`, ...refused(1, 2, 3), record(2)];
  const overdueAt = (time: string, keepDays = { views: 2, refused: 2 }): readonly string[] =>
    overdueFiles(names, keepDays, Date.parse(`${time}:00Z`));
  expect(overdueAt('2026-03-04T01:59')).toStrictEqual([]);
  const first = [...views(1), `${views(1)[0]}.gz`];
  expect(overdueAt('2026-03-04T02:00')).toStrictEqual([...first, ...refused(1)]);
  const second = [...first, ...views(2), ...refused(1, 2), record(2)];
  expect(overdueAt('2027-01-01T00:00')).toStrictEqual(second);
  expect(overdueAt('2027-01-01T00:00', { views: 0, refused: 0 })).toStrictEqual([]);
});

it('only regular files can be overdue', async () => {
  const dir = tempDir();
  fs.mkdirSync(join(dir, views(4)[0]!));
  fs.symlinkSync('elsewhere', join(dir, views(1)[0]!));
  fs.writeFileSync(join(dir, views(2)[0]!), '');
  expect(await daysIn(systemFiles, dir, 'views')).toStrictEqual([march(2)]);
});
