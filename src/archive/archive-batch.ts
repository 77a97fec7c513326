import { MiB } from '../base/size.ts';
import { DAYS_MAX } from './day-files.ts';
import { checkMessage, type StreamMessage } from './message.ts';

/** Messages that are no longer in the stream, both ends included. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A message that is no view, and why not. */
export interface Skipped {
  readonly sequence: number;
  readonly why: string;
}

/** Messages that are written, synced and recorded together. */
export interface ArchiveBatch {
  /** The sequence of the last of them. */
  readonly to: number;
  /** Its id, where it is a view. */
  readonly lastId: string | undefined;
  /** Whole lines, in the stream's order, by day. */
  readonly days: ReadonlyMap<string, Buffer>;
  readonly lines: number;
  readonly bytes: number;
  readonly skipped: readonly Skipped[];
  readonly gaps: readonly Gap[];
}

const BYTES_MAX = 8 * MiB;
export const ALL = { bytesMax: Infinity, daysMax: Infinity };
const NEWLINE = Buffer.from('\n');

/**
 * Takes as many of the messages as are written well together, at least one. What is not after
 * `after` is passed over, and so are the lines of the views `kept`, which are in the files.
 * @param limits of a batch; `ALL` for none.
 * @returns the batch, and how many messages it took.
 */
export function batchOf(
  messages: readonly StreamMessage[],
  after: number,
  kept: ReadonlySet<string>,
  limits = { bytesMax: BYTES_MAX, daysMax: DAYS_MAX },
): { readonly batch: ArchiveBatch; readonly used: number } {
  const parts = new Map<string, Uint8Array[]>();
  const skipped: Skipped[] = [];
  const gaps: Gap[] = [];
  let [to, lines, bytes, used] = [after, 0, 0, 0];
  let lastId: string | undefined;
  for (const { sequence, payload } of messages) {
    if (bytes >= limits.bytesMax) break;
    if (sequence > to && payload === undefined) {
      gaps.push({ from: to + 1, to: sequence });
      to = sequence;
      lastId = undefined;
    } else if (sequence > to && payload !== undefined) {
      const head = checkMessage(payload);
      const isView = typeof head === 'object';
      const isNew = isView && !kept.has(head.id);
      if (isNew && parts.size >= limits.daysMax && !parts.has(head.day)) break;
      if (sequence > to + 1) gaps.push({ from: to + 1, to: sequence - 1 });
      to = sequence;
      lastId = isView ? head.id : undefined;
      if (isNew) {
        const part = parts.get(head.day);
        if (part === undefined) parts.set(head.day, [payload, NEWLINE]);
        else part.push(payload, NEWLINE);
        lines += 1;
        bytes += payload.length + 1;
      } else if (!isView) skipped.push({ sequence, why: head });
    }
    used += 1;
  }
  const days = new Map(Array.from(parts, ([day, chunks]) => [day, Buffer.concat(chunks)]));
  return { batch: { to, lastId, days, lines, bytes, skipped, gaps }, used };
}
