import { describe, it } from 'vitest';
import { Random } from './simulation/random.ts';
import { FAULTS } from './support/faults.ts';
import { BUN, DENO, isPresent, NODE } from './support/runtimes.ts';

// Runs every fault once on every runtime; `npm run soak` repeats the faults.

const seed = Number(process.env['VIEWLOG_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
console.log(`faults from seed ${seed}; repeat them with VIEWLOG_TEST_SEED=${seed}`);

describe.each([NODE, DENO, BUN].filter(isPresent))('viewlog on %s', (on) => {
  it.each(Object.entries(FAULTS))('keeps its promises after %s', async (_, happen) => {
    await happen(on, new Random(seed));
  });
});
