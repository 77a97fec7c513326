import { describe, expect, it } from 'vitest';
import { FAULTS, randomFrom } from './support/faults.ts';
import { BUN, DENO, isPresent, NODE } from './support/runtimes.ts';

// Every fault once on every runtime; `npm run soak` repeats them.

const seed = Number(process.env['VIEWLOG_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
console.log(`faults from seed ${seed}; repeat them with VIEWLOG_TEST_SEED=${seed}`);

describe.each([NODE, DENO, BUN].filter(isPresent))('viewlog on $name keeps its promises', (on) => {
  it.each(Object.entries(FAULTS))('after %s', async (_, happen) => {
    expect(Object.values(await happen(on, randomFrom(seed)))).not.toContain(NaN);
  });
});
