import * as fc from 'fast-check';
import { describe, it } from 'vitest';
import { WAYS } from './support/attacker.ts';
import { withstand } from './support/faults.ts';
import { BUN, isPresent, NEWEST_DENO, NODE } from './support/runtimes.ts';

const schedule = fc.record({
  ways: fc.subarray(Object.keys(WAYS), { minLength: 1, maxLength: 4 }),
  clients: fc.integer({ min: 1, max: 12 }),
});

describe.each([NODE, NEWEST_DENO, BUN].filter(isPresent))(
  'strangers who mean harm, on $name',
  (runtime) => {
    it('leave memory bounded, and views beside them answered', async () => {
      await fc.assert(
        fc.asyncProperty(schedule, async ({ ways, clients }) => {
          await withstand(runtime, ways, { clients, ms: 1_000 });
        }),
        // None is tried again smaller: what they do to a server is no function of the schedule alone.
        { numRuns: 2, endOnFailure: true },
      );
    }, 120_000);
  },
);

// The dearest: Node makes an object of each chunk of a read, 11,000 where each has one byte.
it('strangers who send by the byte leave nothing of a read on Node', async () => {
  await withstand(NODE, ['sends a body by the byte, in chunks'], { clients: 20, ms: 3_000 });
}, 120_000);
