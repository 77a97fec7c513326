import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createStamper } from '../../src/store/stamp.ts';
import { dayOf } from '../../src/base/time.ts';
import { STAMP_BYTES } from '../../src/view/line.ts';
import { memoryLog } from '../support/memory-log.ts';

const NOON = Date.parse('2026-03-01T12:00:00.000Z');
const MINUTE = 60_000;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function stamperAt(startMs: number, lastIds: Record<string, string> = {}) {
  const log = memoryLog();
  const clock = { ms: startMs };
  const asked: string[] = [];
  const lastIdOf = (day: string): string | undefined => {
    asked.push(day);
    return lastIds[day];
  };
  return { clock, log, asked, stamp: createStamper({ now: () => clock.ms, lastIdOf, log }) };
}

const msOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

describe('a stamp', () => {
  test('has the time to the millisecond, a UUIDv7 of that time, and the UTC day', () => {
    const { stamp } = stamperAt(Date.parse('2026-03-01T23:59:59.007Z'));
    const { ts, id, day } = stamp();
    expect(ts).toBe('2026-03-01T23:59:59.007Z');
    expect(id).toMatch(UUID_V7);
    expect(msOf(id)).toBe(Date.parse(ts));
    expect(day).toBe('2026-03-01');
  });

  test('adds STAMP_BYTES to a view', () => {
    const { ts, id } = stamperAt(NOON).stamp();
    const fields = '{"p":"1"}';
    expect(`{"ts":"${ts}","id":"${id}",${fields.slice(1)}\n`).toHaveLength(
      fields.length + STAMP_BYTES,
    );
  });

  test('ids are all different and ascend, however many a millisecond brings', () => {
    const { stamp } = stamperAt(NOON);
    let last = '';
    for (let i = 0; i < 20_000; i++) {
      const { id, ts } = stamp();
      if (!UUID_V7.test(id) || id <= last) throw new Error(`${id} after ${last}`);
      expect(ts).toBe('2026-03-01T12:00:00.000Z');
      last = id;
    }
    // The counter ran over into the next milliseconds, no further than it had to.
    expect(msOf(last) - NOON).toBeLessThanOrEqual(5);
  });

  test('variant and version stay what they are over many pools of random bits', () => {
    const { stamp, clock } = stamperAt(NOON);
    const seen = new Set<string>();
    for (let i = 0; i < 5000; i++) {
      clock.ms += 1;
      const { id } = stamp();
      expect(id).toMatch(UUID_V7);
      seen.add(id.slice(19));
    }
    expect(seen.size).toBe(5000);
  });
});

describe('a clock that goes back', () => {
  test('by up to 5 minutes: the last ts is repeated, and nothing is logged', () => {
    const { stamp, clock, log } = stamperAt(NOON);
    const first = stamp();
    clock.ms = NOON - 5 * MINUTE;
    const second = stamp();
    expect(second.ts).toBe(first.ts);
    expect(second.id > first.id).toBe(true);
    clock.ms = NOON + 1;
    expect(stamp().ts).toBe('2026-03-01T12:00:00.001Z');
    expect(log.lines).toEqual([]);
  });

  test('by more: it is followed, logged once, and ids still ascend', () => {
    const { stamp, clock, log } = stamperAt(NOON);
    const first = stamp();
    clock.ms = NOON - 5 * MINUTE - 1;
    const second = stamp();
    const third = stamp();
    expect(second.ts).toBe('2026-03-01T11:54:59.999Z');
    expect(second.id > first.id && third.id > second.id).toBe(true);
    expect(log.lines).toEqual([
      'warn: The clock has gone back from 2026-03-01T12:00:00.000Z to 2026-03-01T11:54:59.999Z; ' +
        'following it',
    ]);
  });

  test('into the day before: that day is taken up where it was left', () => {
    const { stamp, clock, asked } = stamperAt(NOON);
    const before = stamp();
    clock.ms += 24 * 60 * MINUTE;
    const next = stamp();
    clock.ms = NOON - 60 * MINUTE;
    const again = stamp();
    expect([before.day, next.day, again.day]).toEqual(['2026-03-01', '2026-03-02', '2026-03-01']);
    expect(again.id > before.id).toBe(true);
    clock.ms = NOON + 25 * 60 * MINUTE;
    expect(stamp().id > next.id).toBe(true);
    // What is queued is in no file yet, so the files are asked only about days not yet seen.
    expect(asked).toEqual(['2026-03-01', '2026-03-02']);
  });

  test('by up to 5 minutes over midnight: the day is repeated too', () => {
    const midnight = Date.parse('2026-03-02T00:00:00.000Z');
    const { stamp, clock } = stamperAt(midnight);
    stamp();
    clock.ms = midnight - MINUTE;
    expect(stamp()).toMatchObject({ day: '2026-03-02', ts: '2026-03-02T00:00:00.000Z' });
  });
});

describe('a restart', () => {
  const idAt = (ms: number): string => stamperAt(ms).stamp().id;

  test('within the millisecond goes on after the last id of the file', () => {
    const last = idAt(NOON);
    const { id, ts } = stamperAt(NOON, { '2026-03-01': last }).stamp();
    expect(id > last).toBe(true);
    expect(ts).toBe('2026-03-01T12:00:00.000Z');
  });

  test('with a clock up to 5 minutes behind the file repeats the last ts', () => {
    const last = idAt(NOON);
    const { stamp } = stamperAt(NOON - 5 * MINUTE, { '2026-03-01': last });
    const { id, ts } = stamp();
    expect(ts).toBe('2026-03-01T12:00:00.000Z');
    expect(id > last).toBe(true);
    expect(stamp().id > id).toBe(true);
  });

  test('with a clock further behind follows the clock; ids ascend', () => {
    const last = idAt(NOON);
    const { id, ts } = stamperAt(NOON - 6 * MINUTE, { '2026-03-01': last }).stamp();
    expect(ts).toBe('2026-03-01T11:54:00.000Z');
    expect(id > last).toBe(true);
  });

  test('after an id whose counter is full takes the next millisecond', () => {
    const last = `${idAt(NOON).slice(0, 15)}fff${idAt(NOON).slice(18)}`;
    const { id } = stamperAt(NOON, { '2026-03-01': last }).stamp();
    expect(id > last).toBe(true);
    expect(id).toMatch(UUID_V7);
  });
});

test('whatever the clock does, and however often it restarts, ids ascend within a day', () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: -10, max: 10 }) }),
    fc.record({ add: fc.integer({ min: -400_000, max: 400_000 }) }),
    fc.record({ add: fc.integer({ min: -200_000_000, max: 200_000_000 }) }),
    fc.constant({ add: 0, restart: true }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const lastIds: Record<string, string> = {};
      const clock = { ms: NOON };
      const create = () =>
        createStamper({ now: () => clock.ms, lastIdOf: (day) => lastIds[day], log: memoryLog() });
      let stamp = create();
      for (const { add, ...rest } of steps) {
        clock.ms += add;
        if ('restart' in rest) stamp = create();
        const { ts, id, day } = stamp();
        expect(dayOf(Date.parse(ts))).toBe(day);
        expect(id > (lastIds[day] ?? '')).toBe(true);
        expect(id).toMatch(UUID_V7);
        lastIds[day] = id;
      }
    }),
  );
});
