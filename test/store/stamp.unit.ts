import { expect, it } from 'vitest';
import { createStamper } from '../../src/store/stamp.ts';

const NOON = Date.parse('2026-03-01T12:00:00.000Z');

it('a stamp has the time as RFC 3339, the day and a UUIDv7 of that time', () => {
  const { ts, id, day } = createStamper(() => NOON)();
  expect(ts).toBe('2026-03-01T12:00:00.000Z');
  expect(day).toBe('2026-03-01');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(NOON);
});

it("two processes don't share the random bits of their ids", () => {
  const one = createStamper(() => NOON)();
  const other = createStamper(() => NOON)();
  expect(one.id.slice(19)).not.toBe(other.id.slice(19));
});
