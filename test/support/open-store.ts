import * as fs from 'node:fs';
import { join } from 'node:path';
import { prepareDirectory } from '../../src/disk/directory.ts';
import { systemFiles } from '../../src/disk/ops.ts';
import type { Fatal } from '../../src/base/exit.ts';
import { LocalViewStore, type ViewStoreOptions } from '../../src/store/files/view-store.ts';
import { clockAt } from './clock.ts';
import { memoryLog } from './memory-log.ts';
import { tempDir } from './temp-dir.ts';

/** Opens a store at noon of 2026-03-01, in a new directory unless one is given. */
export async function openStore(options: Partial<ViewStoreOptions> = {}) {
  const dir = options.dir ?? join(tempDir(), 'data');
  await prepareDirectory(dir, options.files ?? systemFiles);
  const clock = clockAt('2026-03-01T12:00:00.000Z');
  const log = memoryLog();
  const fatals: Fatal[] = [];
  const store = new LocalViewStore({
    dir,
    files: systemFiles,
    durability: 'disk',
    minFreeBytes: 0,
    now: clock.now,
    log,
    onFatal: (fatal) => fatals.push(fatal),
    ...options,
  });
  await store.start();
  /** Returns the day's file as text. */
  const text = (day = '2026-03-01'): string =>
    fs.readFileSync(join(dir, `views-${day}.ndjson`), 'utf8');
  /** Returns the file's lines without newlines; throws if the last line has no newline. */
  const lines = (day?: string): string[] => {
    const whole = text(day);
    if (whole !== '' && !whole.endsWith('\n')) throw new Error(`a fragment: ${whole}`);
    return whole.split('\n').slice(0, -1);
  };
  return { dir, clock, log, fatals, store, text, lines };
}

/** Returns a view's fields, as the collector passes them. */
export const view = (n: number): Buffer => Buffer.from(JSON.stringify({ p: '1', n }));
