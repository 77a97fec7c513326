import * as fc from 'fast-check';
import { describe, it } from 'vitest';
import { WAYS } from './support/attacker.ts';
import { withstand } from './support/faults.ts';
import { BUN, DENO, DENO_2_5, isPresent, NODE } from './support/runtimes.ts';

const schedule = fc.record({
  ways: fc.subarray(Object.keys(WAYS), { minLength: 1, maxLength: 4 }),
  clients: fc.integer({ min: 1, max: 12 }),
});

describe.each([NODE, DENO, DENO_2_5, BUN].filter(isPresent))('attackers on %s', (runtime) => {
  it('neither exhaust memory nor keep viewlog from answering honest views', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async ({ ways, clients }) => {
        await withstand(runtime, ways, { clients, ms: 1_000 });
      }),
      // Doesn't shrink a failed schedule, because the outcome depends on more than the schedule.
      { numRuns: 2, endOnFailure: true },
    );
  }, 300_000);

  // Refusals are answered at once, so no wait for the disk gives honest views their turn.
  it("don't delay honest views with refusals, chunks of one byte and incomplete bodies", async () => {
    const ways = [
      "pipelines refusals and doesn't read",
      'sends a body by the byte, in chunks',
      'sends a megabyte without its end and stalls',
    ];
    await withstand(runtime, ways, { clients: 9, ms: 3_000 });
  }, 300_000);

  it.each([
    ['16KiB', 3_500, 'sends an incomplete body and stalls'],
    ['16KiB', 4_000, 'is refused and stalls'],
    ['1MiB', 4_000, 'sends the first byte of a body and stalls'],
    ['1MiB', 700, 'sends a megabyte without its end and stalls'],
    ['1MiB', 700, 'sends a megabyte in chunks without its end and stalls'],
  ])(
    "don't exhaust memory with --max-view %s if each of %d clients %s",
    async (max, clients, way) => {
      await withstand(runtime, [way], { clients, ms: 3_000, args: ['--max-view', max] });
    },
  );

  // Node creates an object per chunk of a read: 11,000 objects for chunks of one byte. Deno's own
  // reader would allocate 64 KiB per chunk, which needs 200 to 400 MiB.
  it.each(['16KiB', '1MiB'])(
    "don't exhaust memory with bodies in chunks of one byte and --max-view %s",
    async (max) => {
      const args = ['--max-view', max];
      const ways = ['sends a body by the byte, in chunks'];
      const growthMiB = runtime === DENO ? 150 : undefined;
      await withstand(runtime, ways, { clients: 20, ms: 3_000, args, growthMiB });
    },
    300_000,
  );
});
