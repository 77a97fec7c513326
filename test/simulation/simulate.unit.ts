// Runs the real storage code on a simulated disk, clock and operator. A seed decides everything
// that happens, so the same seed is always the same run, to the last step.
//
//   npx vitest run --config test/vitest.config.ts --project unit simulate  200 seeds
//   SIM_SEEDS=100000 npx vitest …                                          more seeds
//   SIM_SEED=1234 npx vitest …                                             one seed, with its trace
//   node test/simulation/planted.mjs                                       finds planted faults
//
// `world.ts`: what happens, to collectors (`collector-world.ts`) and to archives
// (`archive-world.ts`). `process.ts`, `archive-process.ts`: one process of each. `disk.ts`,
// `syscalls.ts`: what a disk does and keeps. `time.ts`: timers and clocks. `ledger.ts`,
// `removals.ts`: what must hold.
import { expect, test } from 'vitest';
import { simulate, simulateAll } from './simulate.ts';

const ONLY = process.env['SIM_SEED'];

if (ONLY === undefined) {
  test(
    'whatever happens, every acknowledged view and every view in a stream is stored once',
    {
      timeout: 0,
    },
    () => simulateAll(1, Number(process.env['SIM_SEEDS'] ?? 200)),
  );

  test('the same seed leads to the same run every time', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      expect((await simulate(seed)).trace).toEqual((await simulate(seed)).trace);
    }
  });
} else {
  test('the run of SIM_SEED passes every check', async () => {
    const { trace, violation } = await simulate(Number(ONLY));
    console.log(trace.join('\n'));
    expect(violation).toBeUndefined();
  });
}
