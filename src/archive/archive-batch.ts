import { isUtf8 } from 'node:buffer';
import { isJson } from '../base/json.ts';
import { isDay } from '../base/time.ts';
import { VIEWS } from '../jetstream/inspect.ts';
import { HEAD_BYTES, LARGEST_MAX_VIEW_BYTES, readHead } from '../view/line.ts';
import type { Run, StreamMessage } from './stream-source.ts';

/** A view to be archived. */
export type ArchiveLine = NonNullable<ReturnType<typeof readMessage>>;

/**
 * Returns the messages after `after` as a batch, to be recorded as a whole. Ignores messages with
 * other subjects.
 */
export function batchOf(messages: readonly StreamMessage[], after: number) {
  /** Lines in the stream's order. */
  const days = new Map<string, ArchiveLine[]>();
  /** The sequences of messages that aren't views. */
  const skipped: number[] = [];
  /** Messages that weren't sent: the stream no longer has them, or a server left them out. */
  const gaps: Run[] = [];
  /** The sequence of the last message. */
  let to = after;
  /** If the stream later has another message there, it has lost this one. */
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
 * Reads a line that a collector wrote; `undefined` for any other text. Doesn't check the fields, so
 * views of newer collectors are archived too.
 */
export function readMessage(data: Uint8Array) {
  // The archive will add a newline. A collector's --max-view may be larger than the archive's
  // limit.
  if (data.length >= LARGEST_MAX_VIEW_BYTES || !isUtf8(data)) return undefined;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const text = bytes.toString('utf8');
  // Copies the id: a remembered part of the text would keep the whole text in memory.
  const head = readHead(bytes.toString('latin1', 0, HEAD_BYTES));
  if (head === undefined || /[\r\n]/.test(text)) return undefined;
  if (!text.endsWith('}') || !isJson(text)) return undefined;
  const day = head.ts.slice(0, 10);
  return isDay(day) ? { day, id: head.id, data } : undefined;
}
