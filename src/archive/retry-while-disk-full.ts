import type { Log } from '../base/log.ts';
import { backOff, type RetryTiming, sleep } from '../base/time.ts';
import type { Blocked } from '../disk/day-writer.ts';

interface RetryOptions {
  readonly log: Log;
  readonly timing: RetryTiming;
  /** Ends the waiting; what needs no waiting is still done. */
  readonly stop: AbortSignal;
}

/** The process was told to stop while it waited. */
export class StoppedWaiting extends Error {
  override readonly name = 'StoppedWaiting';
}

/** Repeats what a full disk prevents until it succeeds. */
export class RetryWhileDiskFull {
  readonly #options: RetryOptions;
  #blocked: Blocked | undefined;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** What it waits for now. */
  get reason(): string | undefined {
    return this.#blocked?.reason;
  }

  /** @throws {StoppedWaiting} if the attempt is blocked and `stop` is given. */
  async run(attempt: () => Promise<Blocked | undefined>): Promise<void> {
    const { log, timing, stop } = this.#options;
    for (const waitMs of backOff(timing)) {
      const blocked = await attempt();
      const before = this.#blocked;
      this.#blocked = blocked;
      if (blocked === undefined) {
        if (before !== undefined) log.info('The archive writes again');
        return;
      }
      if (blocked.message !== before?.message) log.error(`${blocked.message}; retrying`);
      if (stop.aborted) throw new StoppedWaiting(blocked.message);
      await sleep(waitMs, stop);
    }
  }
}
