import { reasonOf } from '../base/exit.ts';
import { plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';

/** Under load, the archive is always some messages behind. */
const LAG_MIN = 10_000;
const SKIPPED_NAMED_MAX = 10;

/** Logs and counts gaps, foreign messages and errors of the stream. */
export class ArchiveLog {
  readonly #log: Log;
  readonly #stream: string;
  #loggedLag = 0;
  /** Messages that are not views. */
  skipped = 0;
  /** Messages that the stream removed before they were archived. */
  lost = 0;
  /** Why the stream cannot be read now. */
  unreadable: string | undefined;

  constructor(log: Log, stream: string) {
    this.#log = log;
    this.#stream = stream;
  }

  /** Logs one line for a batch, so that foreign messages cannot flood the log. */
  skip(messages: readonly number[]): void {
    if (messages.length === 0) return;
    this.skipped += messages.length;
    const what = `${plural(messages.length, 'message')} of the stream that no collector wrote`;
    this.#log.error(`Skipped ${what}: ${messages.slice(0, SKIPPED_NAMED_MAX).join(', ')}`);
  }

  gap(from: number, to: number): void {
    const count = to - from + 1;
    this.lost += count;
    this.#log.error(
      `${plural(count, 'message')} (${from} to ${to}) of the stream had been removed before the ` +
        'archive read them; let the stream keep messages for longer',
    );
  }

  failed(error: unknown): void {
    const reason = printable(reasonOf(error));
    if (reason !== this.unreadable) {
      this.#log.warn(`Cannot read stream "${this.#stream}": ${reason}; retrying`);
    }
    this.unreadable = reason;
  }

  succeeded(): void {
    if (this.unreadable === undefined) return;
    this.#log.info(`Reading stream "${this.#stream}" again`);
    this.unreadable = undefined;
  }

  /** Logs how many messages the archive is behind, each time the number has doubled. */
  lag(messages: number): void {
    if (messages >= Math.max(LAG_MIN, 2 * this.#loggedLag)) {
      this.#loggedLag = messages;
      this.#log.warn(`The archive is ${plural(messages, 'message')} behind the end of the stream`);
    } else if (messages < LAG_MIN && this.#loggedLag > 0) {
      this.#loggedLag = 0;
      this.#log.info('The archive has caught up with the stream');
    }
  }
}
