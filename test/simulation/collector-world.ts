import type { Inode } from './disk.ts';
import { Process } from './process.ts';
import { type Event, UNLIMITED, World } from './world.ts';

/** Collectors on one data directory. */
export class CollectorWorld extends World<Process> {
  protected newProcess(): Process {
    return new Process(this);
  }

  protected override events(): readonly Event[] {
    const change = (how: 'moved' | 'cut') => () => this.#changeHalfLine(how);
    return [
      ...super.events(),
      [2, 'a file that may end in a fragment is moved', change('moved')],
      [2, 'a file is emptied, or cut off after a line', change('cut')],
    ];
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

  /**
   * Checks that the rest of a cut line goes into a moved file, but not into a file that was cut
   * off.
   */
  async #changeHalfLine(how: 'moved' | 'cut'): Promise<void> {
    const { ledger, operator, process, random, time } = this;
    this.clear(random.chance(0.7) ? random.below(1_000) : UNLIMITED);
    await this.burst();
    await time.advance(500);
    const { syscalls } = process;
    // viewlog can't notice that a file is cut off between its check and its write.
    const isIdle = await time.runUntil(() => process.isIdle && syscalls.isIdle, 100);
    const isSettled = isIdle && syscalls.troubleMs <= time.nowMs && !process.hasEnded;
    const file = process.viewFile;
    if (file === undefined || file.gone !== undefined || !isSettled) return;
    if (how === 'moved') operator.take(file.name, 'moved');
    else ledger.truncate(file, random);
    operator.note(`${file.name} is ${how}`);
    this.setSpace(UNLIMITED);
    const changedMs = time.nowMs;
    await time.advance(3_000);
    if (syscalls.troubleMs > changedMs || process.hasEnded) return;
    ledger.check(isWhole(file), `${file.name} was ${how}, and ends in a fragment`);
  }
}

const isWhole = ({ size, bytes }: Inode): boolean => size === 0 || bytes[size - 1] === 0x0a;
