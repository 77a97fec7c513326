// Finds out from the records of `replay` which refused views were sent again.
import { stat } from 'node:fs/promises';
import { dayOf, DAY_MS } from '../base/time.ts';
import { fileNameOf, replayRecordOf } from '../disk/names.ts';
import { readReplayed } from '../replay/replay-record.ts';
import type { RefusalCode } from '../view/refusal.ts';
import { reasonKey } from './reasons.ts';
import { Timeline } from './timeline.ts';

/** When views that were sent again had been refused, by project and reason: `resentKey`. */
export type Resent = ReadonlyMap<string, Timeline>;

export const resentKey = (project: string, reason: string): string => `${project} ${reason}`;

/**
 * Returns a function that finds which refused views of the last 24 hours were sent again. The
 * function never rejects. It reads the records of a data directory if they have changed.
 */
export function replayRecords(dir: string): (nowMs: number) => Promise<Resent> {
  let resent = new Map<string, Timeline>();
  let seen = '';
  return async (nowMs) => {
    const days = [nowMs - DAY_MS, nowMs].map(dayOf);
    const paths = days.map((day) => replayRecordOf(`${dir}/${fileNameOf('refused', day)}`));
    const stats = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
    const found = stats.map((one) => `${one?.size} ${one?.mtimeMs}`).join();
    if (found === seen) return resent;
    // Views of a record that can't be read count as not sent again.
    const sent = await Promise.all(days.map((day) => readReplayed(dir, day).catch(() => [])));
    const counts = new Map<string, Timeline>();
    for (const { project, code, origin, refusedMs } of sent.flat()) {
      const key = resentKey(project, reasonKey(code as RefusalCode, origin));
      const timeline = counts.get(key) ?? new Timeline();
      for (const ms of refusedMs) timeline.add(ms);
      counts.set(key, timeline);
    }
    [resent, seen] = [counts, found];
    return resent;
  };
}
