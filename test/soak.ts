import { describe, expect, it } from 'vitest';
import { FAULTS, randomFrom, withstand } from './support/faults.ts';
import type { Figures } from './support/trial.ts';
import { WAYS } from './support/attacker.ts';
import { canRunNats } from './support/nats-server.ts';
import { BUN, DENO, isPresent, NEWEST_DENO, NODE } from './support/runtimes.ts';
import { simulate } from './simulation/simulate.ts';
import { chaos } from './support/stream-faults.ts';

// The simulator, and every fault on every runtime, over and over: SOAK_MINUTES=60 SOAK_SEED=7 npm run soak

const minutes = Number(process.env['SOAK_MINUTES'] ?? 5);
const seed = Number(process.env['SOAK_SEED'] ?? Math.floor(Math.random() * 1e9));
const runtimes = [NODE, DENO, BUN].filter(isPresent);

const RUNS = 500;

async function simulated(random: () => number): Promise<Figures> {
  const first = Math.floor(random() * 1e9);
  for (let simSeed = first; simSeed < first + RUNS; simSeed++) {
    const { violation, trace } = await simulate(simSeed);
    if (violation === undefined) continue;
    throw new Error(`SIM_SEED=${simSeed}: ${violation}\n${trace.slice(-60).join('\n')}`);
  }
  return { runs: RUNS };
}

const faults: Record<string, (random: () => number) => Promise<Figures>> = { simulated };
// With a collector on each runtime at the same time, and an archive.
if (canRunNats()) faults['cluster chaos'] = (random) => chaos(runtimes, random, 8);
for (const runtime of runtimes) {
  for (const [fault, happen] of Object.entries(FAULTS)) {
    faults[`${fault}, ${runtime.name}`] = (random) => happen(runtime, random);
  }
  const attacked = runtime === DENO ? NEWEST_DENO : runtime;
  for (const way of Object.keys(WAYS)) {
    faults[`a stranger ${way}, ${attacked.name}`] = () =>
      withstand(attacked, [way], { clients: 20, ms: 3_000 });
  }
}
const totals: Record<string, Figures> = {};

function add(name: string, figures: Figures): void {
  const total = (totals[name] ??= { times: 0 });
  for (const [key, value] of Object.entries({ times: 1, ...figures })) {
    total[key] = (total[key] ?? 0) + value;
  }
}

describe(`faults for ${minutes} minutes from seed ${seed}`, () => {
  const deadline = Date.now() + minutes * 60_000;
  // Each round is a test of its own, which cleans up behind it.
  const ROUNDS_MAX = Math.ceil(minutes * 4) + 1;

  it.each(Array.from({ length: ROUNDS_MAX }, (_, i) => seed + i))('round %i', async (roundSeed) => {
    for (const [name, happen] of Object.entries(faults)) {
      if (Date.now() > deadline) return;
      add(name, await happen(randomFrom(roundSeed)));
    }
  });

  it('tried every fault', () => {
    console.table(totals);
    expect(Object.keys(totals)).not.toHaveLength(0);
  });
});
