import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from '../../src/projects/rate-limit.ts';

function takeWithin(limit: number) {
  const bucket = new TokenBucket();
  return (nowMs: number, spend?: boolean): number => bucket.take(limit, nowMs, spend);
}

/** Spends all tokens at one instant; returns their number. */
function emptyBucket(take: (nowMs: number) => number, nowMs: number): number {
  let spent = 0;
  while (take(nowMs) === 0) spent++;
  return spent;
}

test('a bucket starts full and refills evenly, up to one minute of views', () => {
  const take = takeWithin(3);
  expect(emptyBucket(take, 0)).toBe(3);
  expect([0, 19_999, 20_000, 20_000].map((ms) => take(ms))).toEqual([20, 1, 0, 20]);
  expect(emptyBucket(take, 86_400_000)).toBe(3);
});

test('a bucket spends nothing if the caller only asks how long to wait', () => {
  const take = takeWithin(1);
  expect([false, false, true, false].map((spend) => take(0, spend))).toEqual([0, 0, 0, 60]);
});

test("a bucket refunds only the token of a view that wasn't stored", () => {
  const bucket = new TokenBucket();
  expect([bucket.take(1, 0), bucket.take(1, 0)]).toEqual([0, 60]);
  bucket.giveBack();
  expect(bucket.take(1, 0)).toBe(0);
  for (let n = 0; n < 3; n++) bucket.giveBack();
  expect([bucket.take(1, 0), bucket.take(1, 0)]).toEqual([0, 60]);
});

test('a bucket returns a wait of at least a second, after which it has a token', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.nat(1e12), (limit, nowMs) => {
      const take = takeWithin(limit);
      emptyBucket(take, nowMs);
      const waitSeconds = take(nowMs);
      expect(waitSeconds).toBe(Math.max(1, Math.ceil(60 / limit)));
      expect(take(nowMs + waitSeconds * 1000)).toBe(0);
    }),
  );
});

test('a bucket spends all its initial tokens and then only as many as were refilled, whatever the clock does', () => {
  const steps = fc.array(fc.integer({ min: -120_000, max: 5_000 }), { maxLength: 300 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), steps, (limit, stepsMs) => {
      const take = takeWithin(limit);
      let nowMs = 1e9;
      let forwardMs = 0;
      let spent = 0;
      for (const stepMs of stepsMs) {
        nowMs += stepMs;
        forwardMs += Math.max(0, stepMs);
        if (take(nowMs) === 0) spent++;
      }
      expect(spent).toBeLessThanOrEqual(limit + (forwardMs * limit) / 60_000);
      expect(spent).toBeGreaterThanOrEqual(Math.min(limit, stepsMs.length));
    }),
  );
});
