import type { Log } from '../base/log.ts';
import { backOff, type RetryTiming, sleep } from '../base/time.ts';
import type { Blocked } from '../disk/trouble.ts';

interface UntilRoomOptions {
  readonly log: Log;
  readonly timing: RetryTiming;
  /** Ends the waiting, not what needs none. */
  readonly stop: AbortSignal;
}

/** What was waited for had not come when the process was told to stop. */
export class StoppedWaiting extends Error {
  override readonly name = 'StoppedWaiting';
}

/** Does what a full disk may keep from being done, as soon as it can be. */
export class UntilRoom {
  readonly #options: UntilRoomOptions;
  #blocked: Blocked | undefined;

  constructor(options: UntilRoomOptions) {
    this.#options = options;
  }

  /** What is waited for now. */
  get reason(): string | undefined {
    return this.#blocked?.reason;
  }

  /**
   * Attempts it, ever more slowly, until nothing blocks it any more.
   * @throws {StoppedWaiting} where it is blocked and `stop` is given.
   */
  async succeeds(attempt: () => Promise<Blocked | undefined>): Promise<void> {
    const { timing, stop } = this.#options;
    for (const waitMs of backOff(timing)) {
      this.#set(await attempt());
      if (this.#blocked === undefined) return;
      if (stop.aborted) throw new StoppedWaiting(this.#blocked.message);
      await sleep(waitMs, stop);
    }
  }

  #set(blocked: Blocked | undefined): void {
    const before = this.#blocked;
    this.#blocked = blocked;
    const { log } = this.#options;
    if (blocked !== undefined && blocked.message !== before?.message) {
      log.error(`${blocked.message}; waiting until it succeeds`);
    } else if (blocked === undefined && before !== undefined) {
      log.info('It succeeds again; going on');
    }
  }
}
