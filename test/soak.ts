import { describe, expect, it } from 'vitest';
import { FAULTS, randomFrom, withstand } from './support/faults.ts';
import type { Figures } from './support/trial.ts';
import { WAYS } from './support/attacker.ts';
import { canRunNats } from './support/nats-server.ts';
import { BUN, DENO, isPresent, NEWEST_DENO, NODE, type Runtime } from './support/runtimes.ts';
import { simulate } from './simulation/simulate.ts';
import { chaos } from './support/stream-faults.ts';

// Every fault on every runtime, over and over, and thousands of simulated runs of the storage:
// SOAK_MINUTES=60 SOAK_SEED=7 npm run soak

const minutes = Number(process.env['SOAK_MINUTES'] ?? 5);
const seed = Number(process.env['SOAK_SEED'] ?? Math.floor(Math.random() * 1e9));

type Fault = (runtime: Runtime, random: () => number) => Promise<Figures>;

const EVERYWHERE: Record<string, Fault> = {
  ...FAULTS,
  ...Object.fromEntries(
    Object.keys(WAYS).map((way) => [
      `a stranger ${way}`,
      (runtime: Runtime) =>
        withstand(runtime === DENO ? NEWEST_DENO : runtime, [way], { clients: 20, ms: 3_000 }),
    ]),
  ),
};
/** Faults that do not depend on a runtime. */
const ONCE: Record<string, Fault> = {
  // With a collector on each runtime at the same time, and an archive.
  ...(canRunNats() && { 'cluster chaos': (_, random) => chaos(runtimes, random, 8) }),
};
const runtimes = [NODE, DENO, BUN].filter(isPresent);
const totals = new Map<string, Figures>();

function add(name: string, figures: Figures): void {
  const total = totals.get(name) ?? { times: 0 };
  total['times'] = (total['times'] ?? 0) + 1;
  for (const [key, value] of Object.entries(figures)) total[key] = (total[key] ?? 0) + value;
  totals.set(name, total);
}

it(`storage, simulated for a tenth of that time from seed ${seed}`, async () => {
  const deadline = Date.now() + minutes * 6_000;
  let runs = 0;
  for (; Date.now() < deadline; runs++) {
    const { violation, trace } = await simulate(seed + runs);
    if (violation === undefined) continue;
    throw new Error(`SIM_SEED=${seed + runs}: ${violation}\n${trace.slice(-60).join('\n')}`);
  }
  console.log(`${runs} simulated runs`);
  expect(runs).toBeGreaterThan(0);
});

describe(`faults for ${minutes} minutes from seed ${seed}`, () => {
  const deadline = Date.now() + minutes * 60_000;
  // Each round is a test of its own, which cleans up behind it.
  const ROUNDS_MAX = Math.ceil(minutes * 4) + 1;

  it.each(Array.from({ length: ROUNDS_MAX }, (_, i) => seed + i))('round %i', async (roundSeed) => {
    for (const [fault, happen] of Object.entries({ ...EVERYWHERE, ...ONCE })) {
      for (const runtime of fault in ONCE ? [NODE] : runtimes) {
        if (Date.now() > deadline) return;
        add(`${fault}, ${runtime.name}`, await happen(runtime, randomFrom(roundSeed)));
      }
    }
  });

  it('tried every fault', () => {
    console.table(Object.fromEntries(totals));
    expect(totals.size).toBeGreaterThan(0);
  });
});
