import { expect, it } from 'vitest';
import { LIMITS } from '../../src/base/limits.ts';

it('a stop takes at most 10 s: the requests in flight, then the view files and the refused files', () => {
  expect(LIMITS.drainTimeoutMs + 2 * LIMITS.closeTimeoutMs).toBeLessThanOrEqual(10_000);
});
