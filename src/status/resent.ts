// Finds out which refused views `replay` has sent again: its records have the ids, and the files of
// refused views have the project and the reason of each id.
import { readFile, stat } from 'node:fs/promises';
import { dayOf, DAY_MS } from '../base/time.ts';
import { readBlocks } from '../disk/lines.ts';
import { fileNameOf, replayRecordOf } from '../disk/names.ts';
import { readRefusedLine } from '../store/refused/refused-line.ts';
import type { RefusalCode } from '../view/refusal.ts';
import { PROJECT_ID } from '../view/view-schema.ts';
import { reasonKey } from './reasons.ts';
import { Timeline } from './timeline.ts';

/** When views that were sent again had been refused, by project and reason: `resentKey`. */
export type Resent = ReadonlyMap<string, Timeline>;

export const resentKey = (project: string, reason: string): string => `${project} ${reason}`;

/** While a replay runs, its record changes all the time: reading it takes this share of a core. */
const READING_SHARE = 1 / 20;

/**
 * Returns a function that reads the records of a data directory, if they have changed, and returns
 * what was sent again of the views of the last 24 hours. It never rejects.
 */
export function replayRecords(dir: string): (nowMs: number) => Promise<Resent> {
  let resent = new Map<string, Timeline>();
  let [seen, notBeforeMs] = ['', 0];
  let reading = Promise.resolve();
  const update = async (nowMs: number): Promise<void> => {
    const startMs = performance.now();
    if (startMs < notBeforeMs) return;
    const days = [nowMs - DAY_MS, nowMs].map(dayOf);
    const files = days.map((day) => `${dir}/${fileNameOf('refused', day)}`);
    const stats = await Promise.all(
      files.map((file) => stat(replayRecordOf(file)).catch(() => {})),
    );
    const found = stats.map((one) => `${one?.size} ${one?.mtimeMs}`).join();
    if (found === seen) return;
    const counts = new Map<string, Timeline>();
    // What cannot be read was not sent again, as far as is known.
    for (const file of files) await addSent(file, counts).catch(() => {});
    [resent, seen] = [counts, found];
    const endMs = performance.now();
    notBeforeMs = endMs + (endMs - startMs) / READING_SHARE;
  };
  return async (nowMs) => {
    await (reading = reading.then(() => update(nowMs)));
    return resent;
  };
}

async function addSent(file: string, counts: Map<string, Timeline>): Promise<void> {
  const record = await readFile(replayRecordOf(file), 'latin1');
  const states = new Map(record.split('\n').map((line) => [line.slice(0, ID_LENGTH), line.at(-1)]));
  for await (const { lines } of readBlocks(file)) {
    for (const line of lines) {
      // A head has a fixed length.
      if (states.get(line.slice(ID_AT, ID_AT + ID_LENGTH)) !== '+') continue;
      const { ts, code, origin, text } = readRefusedLine(line)!;
      const { p } = JSON.parse(text) as { p?: unknown };
      const project = typeof p === 'string' && PROJECT_ID.test(p) ? p : '';
      const key = resentKey(project, reasonKey(code as RefusalCode, origin));
      const timeline = counts.get(key) ?? new Timeline();
      timeline.add(Date.parse(String(ts)));
      counts.set(key, timeline);
    }
  }
}

const ID_AT = '{"ts":"2026-01-31T12:00:00.000Z","id":"'.length;
const ID_LENGTH = 36;
