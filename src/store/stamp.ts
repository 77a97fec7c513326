// The start of a line: the clock's time and an id. Ids are UUIDv7 (RFC 9562, section 5.7, with the
// counter of section 6.2, method 1): the time in milliseconds, a 12-bit counter, 62 random bits.
// Ids ascend within a process, even when the clock is set back: the id's time then stays at the
// last id's until the clock has caught up.
import { randomUUID } from 'node:crypto';
import { dayOf, isDay } from '../base/time.ts';

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
  let tsMs = Number.NaN;
  let ts = '';
  let day = '';
  let idMs = -1;
  let counter = 0;
  let idPrefix = '';

  return () => {
    const ms = now();
    if (ms !== tsMs) {
      tsMs = ms;
      ts = new Date(ms).toISOString();
      day = ts.slice(0, 10);
    }
    if (ms > idMs || ++counter > COUNTER_MAX) {
      idMs = Math.max(ms, idMs + 1);
      idPrefix = idPrefixOf(idMs);
      counter = 0;
    }
    // A random UUID ends with the same variant and 62 random bits. The runtimes draw its bits from
    // a pool.
    return { ts, id: idPrefix + HEX3[counter] + randomUUID().slice(18), day };
  };
}

/** Returns an id's first 15 characters: its milliseconds and the version. */
function idPrefixOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Returns the time in a UUIDv7, in milliseconds since the epoch. */
export const msOfId = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Returns the UTC day of an id's time, `YYYY-MM-DD`; `undefined` if the text isn't such an id. */
export function dayOfId(id: string): string | undefined {
  if (!UUID_V7.test(id)) return undefined;
  const day = dayOf(msOfId(id));
  // An id can have a time up to the year 10889, which `YYYY` can't express.
  return isDay(day) ? day : undefined;
}
