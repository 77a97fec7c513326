import { bytewise, isUtf8 } from '../base/bytes.ts';
import { isDay } from '../base/time.ts';
import { isJson } from '../base/json.ts';
import { HEAD_BYTES, LARGEST_MAX_VIEW_BYTES, readHead } from '../view/line.ts';

/** A message of the stream. */
export interface StreamMessage {
  readonly sequence: number;
  /** None where the stream has neither this message any more nor those that should precede it. */
  readonly payload: Uint8Array | undefined;
}

/** What is told of a line by its first fields. */
export interface LineHead {
  /** The UTC day of `ts`. */
  readonly day: string;
  readonly id: string;
}

const TIME = /^T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;
const LINE_BREAK = /[\r\n]/;

/**
 * Whether the payload is a line that a collector wrote, of this version or another: fields are not
 * looked at, lest a newer collector's views be passed over.
 * @returns its head, or why it is none.
 */
export function checkMessage(payload: Uint8Array): LineHead | string {
  // The newline is still to come. A collector's --max-view may be larger than ours.
  if (payload.length >= LARGEST_MAX_VIEW_BYTES) return `has ${payload.length} bytes`;
  if (!isUtf8(payload)) return 'is not UTF-8';
  const text = Buffer.from(payload.buffer, payload.byteOffset, payload.length).toString('utf8');
  if (LINE_BREAK.test(text)) return 'has a line break';
  const head = readHead(text);
  if (head === undefined) return 'does not start with ts and id';
  const { ts, id } = head;
  const day = ts.slice(0, 10);
  if (!isKnownDay(day) || !TIME.test(ts.slice(10))) return 'has no real ts';
  return text.endsWith('}') && isJson(text) ? { day, id } : 'is not JSON';
}

/** The id of a line's view, by its first fields alone: it is asked of each message that is read. */
export function idOf(payload: Uint8Array): string | undefined {
  return readHead(bytewise(payload.subarray(0, HEAD_BYTES)))?.id;
}

let lastDay = '';

/** Most are of the day of the one before. */
function isKnownDay(day: string): boolean {
  if (day === lastDay) return true;
  if (!isDay(day)) return false;
  lastDay = day;
  return true;
}
