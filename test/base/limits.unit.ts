import { expect, it } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';

it('a stop takes at most 10 s, for the requests in flight, the view files and the refused files together', () => {
  expect(LIMITS.drainTimeoutMs + 2 * LIMITS.closeTimeoutMs).toBeLessThanOrEqual(10_000);
});
