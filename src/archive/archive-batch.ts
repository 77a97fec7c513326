import { isUtf8 } from 'node:buffer';
import { isJson } from '../base/json.ts';
import { isDay } from '../base/time.ts';
import { VIEWS } from '../jetstream/inspect.ts';
import { HEAD_BYTES, LARGEST_MAX_VIEW_BYTES, readHead } from '../view/line.ts';
import type { Run, StreamMessage } from './stream-source.ts';

/** A view to archive. */
export type ArchiveLine = NonNullable<ReturnType<typeof readMessage>>;

/**
 * Returns the messages that follow sequence `after` as a batch, which is recorded as a whole.
 * Ignores messages whose subject doesn't begin with `views.`.
 */
export function batchOf(messages: readonly StreamMessage[], after: number) {
  /** The lines of each day, in the stream's order. */
  const days = new Map<string, ArchiveLine[]>();
  /** The sequences of messages that aren't views. */
  const skipped: number[] = [];
  /**
   * Runs of messages that didn't arrive: the stream no longer has them, or a server left them out.
   */
  const gaps: Run[] = [];
  /** The sequence of the last message. */
  let to = after;
  /** If the stream later has another message at this sequence, the servers have lost this view. */
  let lastView: { readonly sequence: number; readonly id: string } | undefined;
  for (const { sequence, subject, data } of messages) {
    const isOther = !subject.startsWith(`${VIEWS}.`);
    const line = isOther ? undefined : readMessage(data);
    if (line !== undefined) {
      lastView = { sequence, id: line.id };
      if (days.get(line.day)?.push(line) === undefined) days.set(line.day, [line]);
    } else if (!isOther) skipped.push(sequence);
    if (sequence > to + 1) gaps.push([to + 1, sequence - 1]);
    to = sequence;
  }
  return { to, lastView, days, skipped, gaps };
}

/**
 * Returns the line that a collector wrote; `undefined` for any other data. The fields aren't
 * checked, so that views of newer collectors are archived too.
 */
export function readMessage(data: Uint8Array) {
  // `>=`, because the archive adds a newline. No collector of this version stores a longer line.
  if (data.length >= LARGEST_MAX_VIEW_BYTES || !isUtf8(data)) return undefined;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const text = bytes.toString('utf8');
  // Decodes the head separately: an id cut from `text` would keep the whole text in memory.
  const head = readHead(bytes.toString('latin1', 0, HEAD_BYTES));
  if (head === undefined || /[\r\n]/.test(text)) return undefined;
  if (!text.endsWith('}') || !isJson(text)) return undefined;
  const day = head.ts.slice(0, 10);
  return isDay(day) ? { day, id: head.id, data } : undefined;
}
