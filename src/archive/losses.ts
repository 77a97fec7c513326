import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import type { Gap, Skipped } from './archive-batch.ts';

const NAMED_MAX = 10;

/** Counts and tells the messages that did not become lines. */
export class Losses {
  readonly #log: Log;
  /** Messages that no collector wrote. */
  skipped = 0;
  /** Messages that the stream had no more. */
  lost = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  /** One line for a batch, however many somebody publishes. */
  addSkipped(skipped: readonly Skipped[]): void {
    if (skipped.length === 0) return;
    this.skipped += skipped.length;
    const some = skipped.slice(0, NAMED_MAX).map(({ sequence, why }) => `${sequence} (${why})`);
    const more = skipped.length > NAMED_MAX ? ', …' : '';
    const what = `${plural(skipped.length, 'message')} of the stream that no collector wrote`;
    this.#log.error(`Skipped ${what}: ${some.join(', ')}${more}`);
  }

  addLost({ from, to }: Gap): void {
    const count = to - from + 1;
    this.lost += count;
    this.#log.error(
      `${plural(count, 'message')} (${from} to ${to}) of the stream had been removed before the ` +
        'archive got them, so they are lost to it; have the stream keep messages for longer',
    );
  }
}
