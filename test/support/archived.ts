import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Archive } from '../../src/archive/archive.ts';
import { systemFiles, type FileOps } from '../../src/disk/ops.ts';
import { memoryLog } from './memory-log.ts';
import type { SimulatedStream } from './stream.ts';
import { tempDir } from './temp-dir.ts';
import { linesOf } from './viewlog.ts';

interface Life {
  readonly dir: string;
  readonly files?: FileOps;
  readonly once?: boolean;
  readonly stop?: AbortSignal;
}

const NEVER = new AbortController().signal;

/** An archive of the simulated stream, as one process runs it. */
export function archiveOf(
  source: SimulatedStream,
  { dir, files = systemFiles, once = true, stop = NEVER }: Life,
) {
  const log = memoryLog();
  const timing = { retryMs: 1, retryMaxMs: 2 };
  const archive = new Archive({
    source,
    dir,
    files,
    minFreeBytes: 0,
    once,
    now: Date.now,
    keepDays: 0,
    isLocked: () => true,
    log,
    stop,
    timing,
  });
  return { archive, log, running: archive.run() };
}

/** Archives to the stream's end, and returns what was logged. */
export async function archiveAll(source: SimulatedStream, dir = tempDir()): Promise<string[]> {
  const { running, log } = archiveOf(source, { dir });
  await running;
  return log.lines;
}

export const recordPath = (dir: string): string => join(dir, 'archive.json');

/** Expects the files to hold these lines, each once, and so many fragments. */
export function expectArchived(dir: string, lines: readonly string[], fragments = 0): void {
  const found = linesOf(dir, 'views');
  const whole = found.filter((line) => line.startsWith('{') && line.endsWith('}'));
  expect(whole.toSorted()).toStrictEqual([...lines].toSorted());
  expect(found.length - whole.length).toBeLessThanOrEqual(fragments);
  for (const name of fs.readdirSync(dir).filter((one) => one.startsWith('views-'))) {
    expect(fs.readFileSync(join(dir, name), 'utf8').endsWith('\n')).toBe(true);
  }
}
