import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Archive, type ArchiveOptions } from '../../src/archive/archive.ts';
import type { ArchiveRecord } from '../../src/archive/archive-record.ts';
import { systemFiles } from '../../src/disk/ops.ts';
import { memoryLog } from './memory-log.ts';
import type { SimulatedStream } from './stream.ts';
import { tempDir } from './temp-dir.ts';
import { linesOf } from './viewlog.ts';

/** Starts an archive of the simulated stream, as one process runs it. */
export function archiveOf(
  source: SimulatedStream,
  options: Pick<ArchiveOptions, 'dir'> & Partial<ArchiveOptions>,
) {
  const log = memoryLog();
  const archive = new Archive({
    source,
    files: systemFiles,
    minFreeBytes: 0,
    keepDays: 0,
    isLocked: () => true,
    once: true,
    now: Date.now,
    log,
    stop: new AbortController().signal,
    waitMsMax: 2,
    ...options,
  });
  return { archive, log, running: archive.run() };
}

/** Archives to the stream's end and returns the log. */
export async function archiveAll(source: SimulatedStream, dir = tempDir()): Promise<string[]> {
  const { running, log } = archiveOf(source, { dir });
  await running;
  return log.lines;
}

export const recordPath = (dir: string): string => join(dir, 'archive.json');

/** Returns the archive's record, if there is one. */
export function recordIn(dir: string): ArchiveRecord | undefined {
  if (!existsSync(recordPath(dir))) return undefined;
  return JSON.parse(readFileSync(recordPath(dir), 'utf8')) as ArchiveRecord;
}

/** Expects these lines in the files, each once, and no more than this many fragments. */
export function expectArchived(dir: string, lines: readonly string[], fragments = 0): void {
  const found = linesOf(dir, 'views');
  const whole = found.filter((line) => line.startsWith('{') && line.endsWith('}'));
  expect(whole.toSorted()).toStrictEqual([...lines].toSorted());
  expect(found.length - whole.length).toBeLessThanOrEqual(fragments);
  for (const name of readdirSync(dir).filter((one) => one.startsWith('views-'))) {
    expect(readFileSync(join(dir, name), 'utf8').endsWith('\n')).toBe(true);
  }
}
