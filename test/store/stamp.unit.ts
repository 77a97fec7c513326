import { expect, it } from 'vitest';
import { createStamper } from '../../src/store/stamp.ts';

const NOON = Date.parse('2026-03-01T12:00:00.000Z');

it('gives the time as RFC 3339, the day, and a UUIDv7 of that time', () => {
  const { ts, id, day } = createStamper(() => NOON)();
  expect(ts).toBe('2026-03-01T12:00:00.000Z');
  expect(day).toBe('2026-03-01');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(NOON);
});

it('gives ids that ascend and differ: within a millisecond, and with a clock that goes anywhere', () => {
  let ms = NOON;
  const stamp = createStamper(() => ms);
  const ids = Array.from({ length: 30_000 }, (_, i) => {
    if (i % 10_000 === 0) ms += i === 10_000 ? -86_400_000 : 5;
    return stamp().id;
  });
  expect(ids).toStrictEqual([...new Set(ids)].toSorted());
});

it('gives times and days that follow the clock, back too', () => {
  let ms = NOON;
  const stamp = createStamper(() => ms);
  stamp();
  ms -= 86_400_000;
  expect(stamp()).toMatchObject({ ts: '2026-02-28T12:00:00.000Z', day: '2026-02-28' });
});

it('draws ids from random bits that two processes do not share', () => {
  const one = createStamper(() => NOON)();
  const other = createStamper(() => NOON)();
  expect(one.id.slice(19)).not.toBe(other.id.slice(19));
});
