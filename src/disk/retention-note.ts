import * as fs from 'node:fs';
import { isDay } from '../base/time.ts';
import { RETENTION_NOTE } from './names.ts';
import type { FileOps } from './ops.ts';
import { replaceFile } from './replace-file.ts';

/** What the clock was when viewlog last ran in the directory. */
export interface RetentionNote {
  readonly seenMs: number;
  /** Of the daily files that were there. */
  readonly newestDay?: string | undefined;
  /** For how long viewlog had run since the clock's last jump; Infinity where none is known. */
  readonly steadyMs: number;
}

const pathOf = (dir: string): string => `${dir}/${RETENTION_NOTE}`;

/** The note, as far as there is a sound one. */
export function readNote(dir: string): RetentionNote | undefined {
  try {
    const note = JSON.parse(fs.readFileSync(pathOf(dir), 'utf8')) as Record<string, unknown>;
    const { seen, newestDay, steadyMs = Infinity } = note;
    const seenMs = Date.parse(String(seen));
    if (Number.isNaN(seenMs) || typeof steadyMs !== 'number' || !(steadyMs >= 0)) return undefined;
    const isNewest = typeof newestDay === 'string' && isDay(newestDay);
    return { seenMs, steadyMs, newestDay: isNewest ? newestDay : undefined };
  } catch {
    return undefined;
  }
}

/** Rejects with the system's error, or a Fatal; the old one stands then. */
export function writeNote(files: FileOps, dir: string, note: RetentionNote): Promise<void> {
  const { seenMs, newestDay, steadyMs } = note;
  const text = JSON.stringify({
    seen: new Date(seenMs).toISOString(),
    newestDay,
    steadyMs: steadyMs === Infinity ? undefined : Math.floor(steadyMs),
  });
  return replaceFile(files, pathOf(dir), `${text}\n`);
}
