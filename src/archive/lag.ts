import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';

/** Fewer than these are behind whenever there is load. */
const LAG_MIN = 10_000;

/**
 * Tells how far the archive is behind the stream's end: each time that this has doubled or halved,
 * and when it has caught up; so a few lines a night, and none while it keeps up.
 */
export class LagLog {
  readonly #log: Log;
  #told = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  tell(lag: number): void {
    const [before, log] = [this.#told, this.#log];
    if (before > 0 && lag < LAG_MIN) {
      this.#told = 0;
      log.info('The archive has caught up with the stream');
    } else if (lag >= Math.max(LAG_MIN, 2 * before)) {
      this.#told = lag;
      log.warn(`The archive is ${plural(lag, 'message')} behind the end of the stream`);
    } else if (lag >= LAG_MIN && lag <= before / 2) {
      this.#told = lag;
      log.info(`The archive is ${plural(lag, 'message')} behind the end of the stream, and gains`);
    }
  }
}
