import { Fatal, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { sleep } from '../base/time.ts';
import type { Blocked } from '../disk/day-writer.ts';

/** Repeats what a full disk, or a file that cannot be opened, prevents until it succeeds. */
export class Retry {
  readonly #log: Log;
  readonly #waitMsMax: number;
  readonly #stop: AbortSignal;
  /** The cause that it waits for now. */
  blocked: Blocked | undefined;

  /** @param waitMsMax the longest wait; the first is a tenth of it, and they double. */
  constructor(log: Log, waitMsMax: number, stop: AbortSignal) {
    this.#log = log;
    this.#waitMsMax = waitMsMax;
    this.#stop = stop;
  }

  /**
   * @param path the file that is read or written, for the log.
   * @param attempt may resolve to what blocks it, or throw; a Fatal is not retried.
   * @throws if the attempt is blocked and the process is stopped.
   */
  async run(path: string, attempt: () => Promise<Blocked | void>): Promise<void> {
    const most = this.#waitMsMax;
    for (let waitMs = most / 10; ; waitMs = Math.min(2 * waitMs, most)) {
      const before = this.blocked;
      const blocked = await attempt().catch((error: unknown) => blockedBy(error, path));
      this.blocked = blocked ?? undefined;
      if (this.blocked === undefined) {
        if (before !== undefined) this.#log.info('The archive writes again');
        return;
      }
      const { message } = this.blocked;
      // Low space has been logged.
      const isNew = message !== '' && message !== before?.message;
      if (isNew) this.#log.error(`${message}; retrying`);
      this.#stop.throwIfAborted();
      await sleep(waitMs, this.#stop);
    }
  }
}

/** @throws {Fatal} the error, if it must end the process. */
function blockedBy(error: unknown, path: string): Blocked {
  if (error instanceof Fatal) throw error;
  const message = `Cannot read or write "${path}": ${reasonOf(error)}`;
  return { reason: message, message };
}
