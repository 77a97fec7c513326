import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReplayWorld } from './replay-world.ts';

/** The number of simulations that run side by side, because they mostly wait. */
export const SEEDS_AT_ONCE = 50;

/** Runs a seed. Returns the trace, and the violated promise, if any. */
export async function simulate(seed: number) {
  const dir = mkdtempSync(join(tmpdir(), 'viewlog-replays-'));
  try {
    const world = new ReplayWorld(seed, dir);
    return { violation: await world.run(), trace: world.trace };
  } finally {
    rmSync(dir, { recursive: true });
  }
}
