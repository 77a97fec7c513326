import { isUtf8 } from 'node:buffer';
import { isJson } from '../base/json.ts';
import { isDay } from '../base/time.ts';
import { LARGEST_MAX_VIEW_BYTES, readHead } from '../view/line.ts';
import type { StreamMessage } from './stream-source.ts';

/** A view to be archived. */
export interface ArchiveLine {
  readonly day: string;
  readonly id: string;
  /** Without its newline. */
  readonly data: Uint8Array;
}

/** Makes a batch, to be recorded as a whole, of messages that come after the message `after`. */
export function batchOf(messages: readonly StreamMessage[], after: number) {
  /** Lines in the stream's order. */
  const days = new Map<string, ArchiveLine[]>();
  /** Messages that are not views: `7 (is not UTF-8)`. */
  const skipped: string[] = [];
  /** Messages that the stream no longer has: first and last sequence of each gap. */
  const gaps: [from: number, to: number][] = [];
  /** The sequence of the last message, and the id of its view. */
  let to = after;
  let id: string | undefined;
  for (const { sequence, data } of messages) {
    const line = readMessage(data);
    id = typeof line === 'string' ? undefined : line.id;
    if (typeof line === 'string') skipped.push(`${sequence} (${line})`);
    else if (days.get(line.day)?.push(line) === undefined) days.set(line.day, [line]);
    if (sequence > to + 1) gaps.push([to + 1, sequence - 1]);
    to = sequence;
  }
  return { to, id, days, skipped, gaps };
}

/**
 * Reads a line that a collector wrote. Its fields are not checked, so that views of a newer
 * collector are archived too.
 * @returns the line, or why the message isn't one.
 */
export function readMessage(data: Uint8Array): ArchiveLine | string {
  // The archive will add a newline. A collector's --max-view may be larger than the archive's
  // limit.
  if (data.length >= LARGEST_MAX_VIEW_BYTES) return `has ${data.length} bytes`;
  if (!isUtf8(data)) return 'is not UTF-8';
  const text = Buffer.from(data.buffer, data.byteOffset, data.length).toString('utf8');
  if (/[\r\n]/.test(text)) return 'has a line break';
  const head = readHead(text);
  if (head === undefined) return 'does not start with ts and id';
  const day = head.ts.slice(0, 10);
  if (!isDay(day)) return 'has no valid ts';
  return text.endsWith('}') && isJson(text) ? { day, id: head.id, data } : 'is not JSON';
}
