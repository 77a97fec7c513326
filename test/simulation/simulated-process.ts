import type { Log } from '../../src/base/log.ts';
import type { Inode } from './disk.ts';
import { Removals } from './removals.ts';
import { Syscalls } from './syscalls.ts';
import type { World } from './world.ts';

/** Records what one process has done. */
export class Life {
  /** The files that it has written. */
  readonly written = new Set<Inode>();
  readonly lines = { views: 0, refused: 0 };
  readonly bytes = { views: 0, refused: 0 };
  /** Writes that began a batch. */
  batches = 0;
  seals = 0;
  /** Writes that failed because the disk is full. */
  diskFull = 0;
  readonly last = { views: { n: -1, id: '' }, refused: { n: -1, id: '' } };
}

/** A process of viewlog that writes files, from its start until it stops, fails or is killed. */
export abstract class SimulatedProcess {
  readonly syscalls: Syscalls;
  readonly removals: Removals;
  protected readonly world: World;
  protected readonly log: Log;
  /** How the process ended, unless it was killed. */
  protected outcome: string | undefined;

  constructor(world: World) {
    this.world = world;
    this.removals = new Removals(world);
    this.syscalls = new Syscalls(world, this.removals);
    const note = (message: string): void => {
      if (!this.syscalls.isDead) world.ledger.note(`log: ${message}`);
    };
    this.log = { info: note, warn: note, error: note };
  }

  get hasEnded(): boolean {
    return this.syscalls.isDead || this.outcome !== undefined;
  }

  /** Starts the process; returns false if it ended immediately. */
  start(): Promise<boolean> {
    const { time, ledger } = this.world;
    time.restartProcess();
    this.syscalls.troubleMs = time.nowMs;
    ledger.life = new Life();
    return this.run();
  }

  protected abstract run(): Promise<boolean>;

  /** Checks what must hold at any time, and what the process reports. */
  abstract check(): void;

  /** Stops the process as SIGTERM does. */
  abstract stop(): Promise<void>;

  /** Ends the process, whatever it did before. */
  async end(): Promise<void> {
    this.kill();
  }

  kill(): void {
    if (this.syscalls.isDead) return;
    this.syscalls.kill();
    this.world.ledger.processEnded();
  }

  /** Returns whether neither the disk nor the operator has changed anything for a while. */
  protected isQuiet(forMs: number): boolean {
    const { time, ledger, disk } = this.world;
    if (this.hasEnded || disk.spaceBytes < 100_000) return false;
    const troubleMs = Math.max(this.syscalls.troubleMs, time.resumedMs, ledger.operatorMs);
    return time.nowMs - troubleMs > forMs;
  }

  protected async checkClosed(): Promise<void> {
    await this.world.time.advance(100);
    const left = this.syscalls.openFiles.map(({ name }) => name);
    this.world.ledger.check(left.length === 0, `${left.join()} was left open`);
  }
}
