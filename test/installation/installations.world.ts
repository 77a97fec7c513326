import { afterAll, beforeAll, describe, it } from 'vitest';
import { Random } from '../simulation/random.ts';
import {
  canInstall,
  createAccounts,
  Place,
  planOf,
  removeAccounts,
} from '../support/installations.ts';
import { FAULTS } from './faults.ts';

// `INSTALLATION_SEED=n` repeats a seed, `INSTALLATION_SEEDS=n` tries n seeds from there.

const first = Number(process.env['INSTALLATION_SEED'] ?? 1);
const isRepeated = process.env['INSTALLATION_SEED'] !== undefined;
const count = Number(process.env['INSTALLATION_SEEDS'] ?? (isRepeated ? 1 : 8));
const seeds = Array.from({ length: count }, (_, i) => first + i);

describe.skipIf(!canInstall())('whatever the installation, a printed command works', () => {
  beforeAll(createAccounts);
  afterAll(removeAccounts);
  it.each(seeds)('seed %i', tryInstallations);
});

/** Faults that happen at the same time, each to an installation of its own. */
const AT_ONCE = 3;

/** Eight seeds try nearly every fault; later seeds try them on other installations. */
async function tryInstallations(seed: number): Promise<void> {
  const names = Object.keys(FAULTS).filter((name) =>
    name.includes(process.env['INSTALLATION_FAULT'] ?? ''),
  );
  const tries = Array.from({ length: AT_ONCE }, (_, i) => seed * AT_ONCE + i).map(async (i) => {
    const name = names[i % names.length]!;
    const { only, happen } = FAULTS[name]!;
    const plan = planOf(new Random(i), only);
    try {
      await happen(await Place.create(plan));
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      throw new Error(`${name}, ${JSON.stringify(plan)}\n${cause}`, { cause: error });
    }
  });
  await Promise.all(tries);
}
