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

/** Runs this many seeds; throws at the first violation, with the end of its trace. */
export async function simulateAll(first: number, count: number): Promise<void> {
  const total = { sent: 0, stored: 0 };
  for (let seed = first; seed < first + count; seed++) {
    const { trace, violation, sent, stored } = await simulate(seed);
    if (violation !== undefined) {
      throw new Error(`SIM_SEED=${seed}: ${violation}\n${trace.slice(-60).join('\n')}`);
    }
    total.sent += sent;
    total.stored += stored;
  }
  // If fewer views are stored, the disk has so many faults that the run tests too little.
  if (total.stored < total.sent / 2) throw new Error(`too few views: ${JSON.stringify(total)}`);
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
