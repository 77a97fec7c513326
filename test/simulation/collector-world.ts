import { Process } from './process.ts';
import { World } from './world.ts';

/** Collectors on one data directory. */
export class CollectorWorld extends World<Process> {
  protected newProcess(): Process {
    return new Process(this);
  }

  protected sendFew(): void {
    this.process.append(3);
    this.process.keep(3);
  }

  protected async burst(): Promise<void> {
    const { random, process } = this;
    for (let n = random.below(12); n >= 0; n--) {
      process.append(random.chance(0.05) ? random.below(3000) : random.below(30));
      if (random.chance(0.15)) process.keep(random.below(400));
    }
    await this.time.advance(random.pick([0, 1, 3, 10, 50]));
  }
}
