import { afterAll, beforeAll, it } from 'vitest';
import { tryInstallations } from './installation/try-installations.ts';
import { FAULTS, withstand } from './support/faults.ts';
import { WAYS } from './support/attacker.ts';
import { canInstall, createAccounts, removeAccounts } from './support/installations.ts';
import { canRunNats } from './support/nats-server.ts';
import { BUN, DENO, isPresent, NODE } from './support/runtimes.ts';
import { Random } from './simulation/random.ts';
import { simulateAll } from './simulation/simulate.ts';
import { chaos } from './support/stream-faults.ts';

// Repeats the simulator, and every fault on every runtime: SOAK_MINUTES=60 SOAK_SEED=7 npm run soak

const minutes = Number(process.env['SOAK_MINUTES'] ?? 5);
const seed = Number(process.env['SOAK_SEED'] ?? Math.floor(Math.random() * 1e9));
const runtimes = [NODE, DENO, BUN].filter(isPresent);

const faults: Record<string, (random: Random) => Promise<void>> = {
  simulated: (random) => simulateAll(random.below(1e9), 500),
};
// Runs a collector on each runtime and an archive at the same time.
if (canRunNats()) {
  faults['cluster chaos'] = async (random) => void (await chaos(runtimes, random, 8, 30_000));
}
if (canInstall()) {
  beforeAll(createAccounts);
  afterAll(removeAccounts);
  faults['installations'] = (random) => tryInstallations(random.below(1e6));
}
for (const runtime of runtimes) {
  for (const [fault, happen] of Object.entries(FAULTS)) {
    faults[`${fault}, ${runtime.name}`] = (random) => happen(runtime, random);
  }
  for (const way of Object.keys(WAYS)) {
    faults[`an attacker ${way}, ${runtime.name}`] = () =>
      withstand(runtime, [way], { clients: 20, ms: 3_000 });
  }
}

const deadline = Date.now() + minutes * 60_000;
// Each round is a separate test, which cleans up at its end.
const ROUNDS_MAX = Math.ceil(minutes * 4) + 1;

it.each(Array.from({ length: ROUNDS_MAX }, (_, i) => seed + i))(
  'no promise is broken in the round of seed %i',
  async (roundSeed) => {
    for (const [name, happen] of Object.entries(faults)) {
      if (Date.now() > deadline) return;
      await happen(new Random(roundSeed));
      console.log(`withstood: ${name}`);
    }
  },
);
