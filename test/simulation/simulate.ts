import { World } from './world.ts';

/** Runs the simulation of a seed. Returns what happened, and what did not hold, if anything. */
export async function simulate(seed: number) {
  const world = new World(seed);
  world.time.install();
  try {
    await world.run();
  } catch (error) {
    world.ledger.fail(String((error as Error).stack));
  } finally {
    world.time.uninstall();
  }
  const { trace, violation, sent, acknowledged } = world.ledger;
  return { trace, violation, sent, acknowledged };
}
