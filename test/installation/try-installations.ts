import { Random } from '../simulation/random.ts';
import { Place, planOf } from '../support/installations.ts';
import { FAULTS, expectHealthy } from './faults.ts';

/** The number of faults that happen at the same time, each to a separate installation. */
const AT_ONCE = 4;

/**
 * Causes faults in installations that the seed determines. Nine seeds in a row try every fault.
 * `INSTALLATION_FAULT` names the faults to try.
 */
export async function tryInstallations(seed: number): Promise<void> {
  const names = Object.keys(FAULTS).filter((name) =>
    name.includes(process.env['INSTALLATION_FAULT'] ?? ''),
  );
  const tries = Array.from({ length: AT_ONCE }, (_, i) => seed * AT_ONCE + i).map(async (i) => {
    const name = names[i % names.length]!;
    const fault = FAULTS[name]!;
    const plan = planOf(new Random(i), fault.only);
    try {
      const place = await Place.create(plan);
      await fault.happen(place);
      await expectHealthy(place, fault);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      throw new Error(`${name}, ${JSON.stringify(plan)}\n${cause}`, { cause: error });
    }
  });
  // Waits for all installations, because the end of the test removes their files.
  const failed = (await Promise.allSettled(tries)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
