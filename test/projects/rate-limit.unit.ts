import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from '../../src/projects/rate-limit.ts';

/** How many tokens can be taken in one instant. */
function drain(bucket: TokenBucket, nowMs: number): number {
  let taken = 0;
  while (bucket.take(nowMs) === 0) taken++;
  return taken;
}

test('a bucket starts full: as many views as the limit, and not one more', () => {
  const bucket = new TokenBucket(3);
  expect([0, 0, 0, 0].map(() => bucket.take(1_000))).toEqual([0, 0, 0, 20]);
});

test('it is refilled evenly: one view comes back after its share of the minute', () => {
  const bucket = new TokenBucket(3);
  drain(bucket, 0);
  expect(bucket.take(19_999)).toBe(1);
  expect(bucket.take(20_000)).toBe(0);
  expect(bucket.take(20_000)).toBe(20);
});

test('the wait is whole seconds, at least one', () => {
  const fast = new TokenBucket(6000);
  drain(fast, 0);
  expect(fast.take(0)).toBe(1);
  const slow = new TokenBucket(1);
  expect([slow.take(0), slow.take(0), slow.take(500)]).toEqual([0, 60, 60]);
});

test('it never holds more than a minute of views', () => {
  const bucket = new TokenBucket(5);
  bucket.take(0);
  expect(drain(bucket, 86_400_000)).toBe(5);
});

test('a clock that steps back neither drains nor floods it', () => {
  const bucket = new TokenBucket(60);
  expect(bucket.take(10_000_000)).toBe(0);
  expect(drain(bucket, 0)).toBe(59);
  expect(bucket.take(0)).toBe(1);
  expect(bucket.take(1_000)).toBe(0);
  expect(bucket.take(1_000)).toBe(1);
});

test('who waits as long as told is served, whatever the limit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.nat(1e12), (limit, nowMs) => {
      const bucket = new TokenBucket(limit);
      drain(bucket, nowMs);
      const waitSeconds = bucket.take(nowMs);
      expect(bucket.take(nowMs + waitSeconds * 1000)).toBe(0);
    }),
  );
});

test('whatever the clock does, no more is given than the bucket held and time refilled', () => {
  const steps = fc.array(fc.integer({ min: -120_000, max: 5_000 }), { maxLength: 300 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), steps, (limit, stepsMs) => {
      const bucket = new TokenBucket(limit);
      let nowMs = 1e9;
      let forwardMs = 0;
      let taken = 0;
      for (const stepMs of stepsMs) {
        nowMs += stepMs;
        forwardMs += Math.max(0, stepMs);
        if (bucket.take(nowMs) === 0) taken++;
      }
      expect(taken).toBeLessThanOrEqual(limit + (forwardMs * limit) / 60_000);
    }),
  );
});

test('another limit holds at once, and what was spent stays spent', () => {
  const bucket = new TokenBucket(10);
  for (let i = 0; i < 4; i++) bucket.take(0);
  bucket.resize(20);
  expect(drain(bucket, 0)).toBe(16);
  bucket.resize(5);
  expect(bucket.take(0)).toBe(12);
  expect(bucket.take(12_000)).toBe(0);
});
