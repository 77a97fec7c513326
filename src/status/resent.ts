// Finds out from the records of `replay` which refused views were sent again.
import { stat } from 'node:fs/promises';
import { errorText } from '../base/exit.ts';
import { dayOf, DAY_MS } from '../base/time.ts';
import { fileNameOf, replayRecordOf } from '../disk/names.ts';
import { readReplayed, type Replayed } from '../replay/replay-record.ts';
import type { RefusalCode } from '../view/refusal.ts';
import { reasonKey } from './reasons.ts';
import { Timeline } from './timeline.ts';

/** When replayed views were first refused, by outcome, project and reason: `resentKey`. */
export type Resent = ReadonlyMap<string, Timeline>;

export const resentKey = (state: Replayed['state'], project: string, reason: string): string =>
  `${state} ${project} ${reason}`;

/** @param sinceMs when counting began: the page knows nothing of views refused before. */
export function resentIn(replayed: readonly Replayed[], sinceMs: number): Resent {
  const resent = new Map<string, Timeline>();
  for (const { state, project, code, origin, refusedMs } of replayed) {
    const key = resentKey(state, project, reasonKey(code as RefusalCode, origin));
    const timeline = resent.get(key) ?? new Timeline();
    for (const ms of refusedMs) if (ms >= sinceMs) timeline.add(ms);
    resent.set(key, timeline);
  }
  return resent;
}

/** The facts in the records of replays, and why one of them can't be read. */
export interface RecordsSeen {
  readonly resent: Resent;
  readonly recordFault: string | undefined;
}

/**
 * Returns a function that finds which refused views of the last 24 hours were sent again. The
 * function never rejects. It reads the records of a data directory if they have changed.
 */
export function replayRecords(
  dir: string,
): (nowMs: number, sinceMs: number) => Promise<RecordsSeen> {
  let last: RecordsSeen = { resent: new Map(), recordFault: undefined };
  let seen = '';
  return async (nowMs, sinceMs) => {
    const days = [nowMs - DAY_MS, nowMs].map(dayOf);
    const paths = days.map((day) => replayRecordOf(`${dir}/${fileNameOf('refused', day)}`));
    const stats = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
    const found = stats.map((one) => `${one?.size} ${one?.mtimeMs}`).join();
    if (found === seen) return last;
    let recordFault: string | undefined;
    const fail = (error: unknown): [] => {
      recordFault = errorText(error);
      return [];
    };
    // Views of a record that can't be read count as not sent again.
    const sent = await Promise.all(days.map((day) => readReplayed(dir, day).catch(fail)));
    last = { resent: resentIn(sent.flat(), sinceMs), recordFault };
    seen = found;
    return last;
  };
}
