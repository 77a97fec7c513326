// Runs random replays (`replay-world.ts`).
//
//   npx vitest run --config test/vitest.config.ts --project unit test/replay/simulate  50 seeds
//   SIM_SEEDS=1000 npx vitest …                                            more seeds
//   SIM_SEED=12 npx vitest …                                               one seed, with its trace
//   node test/simulation/planted.mjs '' test/replay                        finds planted faults
import { expect, it } from 'vitest';
import { SEEDS_AT_ONCE, simulate } from './simulate.ts';

const ONLY = process.env['SIM_SEED'];
const SEEDS = Number(process.env['SIM_SEEDS'] ?? SEEDS_AT_ONCE);

it(
  'whatever happens, replays store no view twice, and in the end each view is stored or listed',
  { timeout: 0 },
  async () => {
    const [first, last] = ONLY ? [Number(ONLY), Number(ONLY)] : [1, SEEDS];
    for (let seed = first; seed <= last; seed += SEEDS_AT_ONCE) {
      const count = Math.min(SEEDS_AT_ONCE, last - seed + 1);
      const seeds = Array.from({ length: count }, (_, i) => seed + i);
      const runs = await Promise.all(seeds.map(simulate));
      if (ONLY) console.log(runs[0]!.trace.join('\n'));
      const violations = runs.map(({ violation }, i) => violation && `${seed + i}: ${violation}`);
      expect(violations.filter(Boolean)).toStrictEqual([]);
    }
  },
);
