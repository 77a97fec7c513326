import { randomFillSync } from 'node:crypto';
import type { Log } from '../base/log.ts';
import { dayOf } from '../base/time.ts';

export interface Stamp {
  /** RFC 3339, UTC, milliseconds. */
  readonly ts: string;
  /** UUIDv7. */
  readonly id: string;
  /** The UTC day of `ts`, `YYYY-MM-DD`: which file the line belongs to. */
  readonly day: string;
}

interface StamperOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The last id in the day's file, where it has one; asked once whenever the day changes. */
  readonly lastIdOf: (day: string) => string | undefined;
  readonly log: Log;
}

/** NTP slews and small corrections stay below; beyond it somebody has set the clock. */
const STEP_BACK_MAX_MS = 5 * 60_000;
const COUNTER_MAX = 0xfff;
/** Days whose last id is remembered: a clock that swings between days finds its place again. */
const DAYS_MAX = 8;

/**
 * Stamps lines. Ids are UUIDv7 by method 1 of RFC 9562, section 6.2: a 12-bit counter in rand_a,
 * which starts at a random value below 2,048 each millisecond, and 62 random bits in rand_b. A
 * counter that runs over takes the next millisecond. So ids ascend within a file, across restarts
 * and backward clocks too; there the id's time stays at the last id's until the clock has caught
 * up.
 */
export function createStamper({ now, lastIdOf, log }: StamperOptions): () => Stamp {
  const random = createRandomPool();
  const lastIds = new Map<string, string>();
  let tsMs = Number.NEGATIVE_INFINITY;
  let ts = '';
  let day = '';
  let id = '';
  let idMs = 0;
  let counter = 0;
  let idHead = '';

  function turnTo(ms: number): void {
    const nextTs = new Date(ms).toISOString();
    const nextDay = nextTs.slice(0, 10);
    if (nextDay !== day) {
      if (day !== '') remember(lastIds, day, id);
      const lastId = lastIds.get(nextDay) ?? lastIdOf(nextDay);
      const started = day !== '';
      day = nextDay;
      [idMs, counter] = lastId === undefined ? [0, 0] : placeOf(lastId);
      idHead = headOf(idMs);
      // Started within 5 minutes of a line from the future of the clock: a small step back.
      if (!started && idMs > ms && isSmallStep(idMs - ms) && dayOf(idMs) === day) {
        turnTo(idMs);
        return;
      }
    }
    tsMs = ms;
    ts = nextTs;
  }

  return () => {
    const ms = now();
    if (ms > tsMs) {
      turnTo(ms);
    } else if (ms < tsMs && !isSmallStep(tsMs - ms)) {
      log.warn(`The clock has gone back from ${ts} to ${new Date(ms).toISOString()}; following it`);
      turnTo(ms);
    }
    if (tsMs > idMs) {
      idMs = tsMs;
      counter = random.counterStart();
      idHead = headOf(idMs);
    } else if (++counter > COUNTER_MAX) {
      idMs += 1;
      counter = 0;
      idHead = headOf(idMs);
    }
    id = idHead + HEX3[counter] + random.tail();
    return { ts, id, day };
  };
}

const isSmallStep = (ms: number): boolean => ms <= STEP_BACK_MAX_MS;

const HEX3 = Array.from({ length: COUNTER_MAX + 1 }, (_, n) => n.toString(16).padStart(3, '0'));

/** An id's first 15 characters: its milliseconds and the version. */
function headOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7`;
}

/** The milliseconds and the counter of an id. */
function placeOf(id: string): [number, number] {
  return [
    Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16),
    Number.parseInt(id.slice(15, 18), 16),
  ];
}

function remember(lastIds: Map<string, string>, day: string, id: string): void {
  lastIds.delete(day);
  lastIds.set(day, id);
  const oldest = lastIds.keys().next().value;
  if (lastIds.size > DAYS_MAX && oldest !== undefined) lastIds.delete(oldest);
}

const ID_BYTES = 8;
const POOL_IDS = 512;

/** Random bits by the pool, as hex text: a call into the system's generator costs a microsecond. */
function createRandomPool() {
  const bytes = Buffer.alloc(POOL_IDS * ID_BYTES);
  let hex = '';
  let at = 0;
  return {
    /** `-vrrr-rrrrrrrrrrrr`: the variant and 62 random bits. */
    tail(): string {
      if (at === hex.length) {
        randomFillSync(bytes);
        for (let i = 0; i < bytes.length; i += ID_BYTES) bytes[i] = (bytes[i]! & 0x3f) | 0x80;
        hex = bytes.toString('hex');
        at = 0;
      }
      const from = at;
      at += 2 * ID_BYTES;
      return `-${hex.slice(from, from + 4)}-${hex.slice(from + 4, at)}`;
    },
    /** Not a secret, only a start that leaves half of the counter's range free. */
    counterStart: (): number => (Math.random() * ((COUNTER_MAX + 1) / 2)) | 0,
  };
}
