import { ArchiveWorld } from './archive-world.ts';
import { CollectorWorld } from './collector-world.ts';
import type { World } from './world.ts';

/**
 * Runs the simulations of a seed, of collectors and then of archives. Returns a trace, and the
 * violated check, if any.
 */
export async function simulate(seed: number) {
  const collectors = new CollectorWorld(seed);
  await run(collectors);
  const { trace, violation, sent, acknowledged } = collectors.ledger;
  if (violation !== undefined) return { trace, violation, sent, acknowledged, archived: 0 };
  const archives = new ArchiveWorld(seed);
  await run(archives);
  return {
    trace: [...trace, ...archives.ledger.trace],
    violation: archives.ledger.violation,
    sent,
    acknowledged,
    archived: archives.ledger.stored,
  };
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
