import { ArchiveWorld } from './archive-world.ts';
import { CollectorWorld } from './collector-world.ts';
import type { World } from './world.ts';

/**
 * Runs the simulations of a seed, of collectors and then of archives. Returns a trace, the violated
 * check, if any, and how many views were sent and stored.
 */
export async function simulate(seed: number) {
  const trace: string[] = [];
  let sent = 0;
  let stored = 0;
  let violation: string | undefined;
  for (const world of [new CollectorWorld(seed), new ArchiveWorld(seed)]) {
    await run(world);
    trace.push(...world.ledger.trace);
    sent += world.ledger.sent;
    stored += world.ledger.stored;
    ({ violation } = world.ledger);
    if (violation !== undefined) break;
  }
  return { trace, violation, sent, stored };
}

async function run(world: World): Promise<void> {
  world.time.install();
  try {
    await world.run();
  } catch (error) {
    world.ledger.fail(String((error as Error).stack));
  } finally {
    world.time.uninstall();
  }
}
