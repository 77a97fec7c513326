import { describe, expect, it } from 'vitest';
import { killAnything, killArchive, killServers } from '../support/archive-faults.ts';
import { randomFrom } from '../support/faults.ts';
import { canRunNats } from '../support/nats-server.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';

// Every fault once; `npm run soak` repeats them for as long as it is told.

const seed = Number(process.env['VIEWLOG_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
console.log(`faults of archives from seed ${seed}; repeat them with VIEWLOG_TEST_SEED=${seed}`);
const random = randomFrom(seed);

describe.skipIf(!canRunNats())('archive', () => {
  it.each([NODE, DENO, BUN].filter(isPresent))(
    'has each view once when it is killed under load, on $name',
    async (runtime) => {
      const { archived } = await killArchive(runtime, random, 5);
      expect(archived).toBeGreaterThan(0);
    },
  );

  it('has all that collectors acknowledged, each once, whatever is killed', async () => {
    const runtimes = [NODE, BUN].filter(isPresent);
    const { archived, acknowledged } = await killAnything(runtimes, random, 3);
    expect(archived).toBeGreaterThanOrEqual(acknowledged!);
  });

  it('has each view once when all its servers are killed and start again', async () => {
    const { archived, acknowledged } = await killServers(random, 1);
    expect(archived).toBeGreaterThanOrEqual(acknowledged!);
  });
});
