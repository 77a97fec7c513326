// The start of a line: the clock's time, and an id. Ids are UUIDv7 (RFC 9562, section 5.7, with
// the counter of section 6.2, method 1): the time in milliseconds, a 12-bit counter, 62 random bits.
// They ascend within a process, also when the clock is set back: the id's time then stays at the
// last id's until the clock has caught up.
import { randomFillSync } from 'node:crypto';

export interface Stamp {
  /** RFC 3339, UTC, milliseconds. */
  readonly ts: string;
  /** UUIDv7. */
  readonly id: string;
  /** The UTC day of `ts`, `YYYY-MM-DD`, which chooses the line's file. */
  readonly day: string;
}

const COUNTER_MAX = 0xfff;
const HEX3 = Array.from({ length: COUNTER_MAX + 1 }, (_, n) => n.toString(16).padStart(3, '0'));

/** @param now milliseconds since the epoch. */
export function createStamper(now: () => number): () => Stamp {
  const nextTail = randomTails();
  let tsMs = Number.NaN;
  let ts = '';
  let day = '';
  let idMs = -1;
  let counter = 0;
  let idHead = '';

  return () => {
    const ms = now();
    if (ms !== tsMs) {
      tsMs = ms;
      ts = new Date(ms).toISOString();
      day = ts.slice(0, 10);
    }
    if (ms > idMs) {
      idMs = ms;
      idHead = headOf(idMs);
      // Leaves at least half of the counter's range for the rest of the millisecond.
      counter = (Math.random() * ((COUNTER_MAX + 1) / 2)) | 0;
    } else if (++counter > COUNTER_MAX) {
      idMs += 1;
      idHead = headOf(idMs);
      counter = 0;
    }
    return { ts, id: idHead + HEX3[counter] + nextTail(), day };
  };
}

/** Returns an id's first 15 characters: its milliseconds and the version. */
function headOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
}

const ID_BYTES = 8;
const POOL_IDS = 512;

/**
 * Returns a function that makes an id's end, `-vrrr-rrrrrrrrrrrr`: the variant and 62 random bits.
 * The bits come from a pool, because a call to the system's generator takes a microsecond.
 */
function randomTails(): () => string {
  const bytes = Buffer.alloc(POOL_IDS * ID_BYTES);
  let hex = '';
  let at = 0;
  return () => {
    if (at === hex.length) {
      randomFillSync(bytes);
      for (let i = 0; i < bytes.length; i += ID_BYTES) bytes[i] = (bytes[i]! & 0x3f) | 0x80;
      hex = bytes.toString('hex');
      at = 0;
    }
    const from = at;
    at += 2 * ID_BYTES;
    return `-${hex.slice(from, from + 4)}-${hex.slice(from + 4, at)}`;
  };
}
