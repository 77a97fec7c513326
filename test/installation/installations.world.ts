import { afterAll, beforeAll, describe, it } from 'vitest';
import { canInstall, createAccounts, removeAccounts } from '../support/installations.ts';
import { tryInstallations } from './try-installations.ts';

// `INSTALLATION_SEED=n` repeats a seed, `INSTALLATION_SEEDS=n` tries n seeds from that seed on.

const first = Number(process.env['INSTALLATION_SEED'] ?? 1);
const isRepeated = process.env['INSTALLATION_SEED'] !== undefined;
const count = Number(process.env['INSTALLATION_SEEDS'] ?? (isRepeated ? 1 : 9));
const seeds = Array.from({ length: count }, (_, i) => first + i);

describe.skipIf(!canInstall())('each printed command', () => {
  beforeAll(createAccounts);
  afterAll(removeAccounts);
  it.each(seeds)('works, whatever the installation: seed %i', tryInstallations);
});
