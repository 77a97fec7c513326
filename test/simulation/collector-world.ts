import { Process } from './process.ts';
import { type Event, World } from './world.ts';

/** Collectors on one data directory. */
export class CollectorWorld extends World<Process> {
  protected newProcess(): Process {
    return new Process(this);
  }

  protected events(): readonly Event[] {
    return [[30, 'views arrive', () => this.burst()], ...this.commonEvents()];
  }

  protected async workInPeace(): Promise<void> {
    for (const ms of [10_000, 1_000, 10_000]) {
      this.process.append(3);
      this.process.keep(3);
      await this.time.advance(ms);
      this.process.check();
    }
  }

  protected async burst(): Promise<void> {
    const { random, process } = this;
    for (let n = random.below(12); n >= 0; n--) {
      process.append(random.chance(0.05) ? random.below(3000) : random.below(30));
      if (random.chance(0.15)) process.keep(random.below(400));
    }
    await this.time.advance(random.pick([0, 1, 3, 10, 50]));
  }

  protected async stop(): Promise<void> {
    await this.burst();
    this.process.append(1);
    await this.process.stop();
  }
}
