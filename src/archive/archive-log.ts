import { errorText } from '../base/exit.ts';
import { formatCount, plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import type { Run } from './stream-source.ts';

/** A smaller lag isn't logged, because under load the archive is always some messages behind. */
const LAG_MIN = 10_000;
const SKIPPED_NAMED_MAX = 10;

/** Logs and counts gaps, foreign messages and errors of the stream. */
export class ArchiveLog {
  readonly #log: Log;
  readonly #stream: string;
  #loggedLag = 0;
  /** Messages that aren't views. */
  skipped = 0;
  /** Messages that the stream removed before they were archived. */
  lost = 0;
  /** Messages that the archive read as missing, although the leader has them. */
  leftOut = 0;
  /** Why the stream can't be read now. */
  unreadable: string | undefined;

  constructor(log: Log, stream: string) {
    this.#log = log;
    this.#stream = stream;
  }

  /** Logs one line for a batch, so that foreign messages can't flood the log. */
  skip(messages: readonly number[]): void {
    if (messages.length === 0) return;
    this.skipped += messages.length;
    const what = `${plural(messages.length, 'message')} that no collector wrote`;
    this.#log.error(`Skipped ${what}: ${messages.slice(0, SKIPPED_NAMED_MAX).join(', ')}`);
  }

  /**
   * Logs one line for all runs that the stream no longer has, because a stream can delete many
   * single messages.
   */
  gaps(runs: readonly Run[]): void {
    if (runs.length === 0) return;
    const count = runs.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    this.lost += count;
    const places = runs.length === 1 ? '' : `in ${plural(runs.length, 'place')}, `;
    this.#log.warn(
      `${plural(count, 'message')} ${count === 1 ? 'was' : 'were'} deleted or expired (${places}${runs[0]![0]} to ` +
        `${runs.at(-1)![1]}) before the archive read ${count === 1 ? 'it' : 'them'}`,
    );
  }

  /** Logs and counts messages that the leader has in a run that the archive read as missing. */
  foundMissing([from, to]: Run, count: number): void {
    this.leftOut += count;
    this.#log.error(
      `Messages ${from} to ${to} of stream "${this.#stream}" were missing from what the archive ` +
        `read, but the stream's leader has ${formatCount(count)} of them, which are now archived`,
    );
  }

  failed(error: unknown): void {
    const reason = printable(errorText(error));
    if (reason !== this.unreadable) {
      this.#log.warn(`Can't read stream "${this.#stream}": ${reason}; retrying`);
    }
    this.unreadable = reason;
  }

  succeeded(): void {
    if (this.unreadable === undefined) return;
    this.#log.info(`Reading stream "${this.#stream}" again`);
    this.unreadable = undefined;
  }

  /** Logs how many messages the archive is behind whenever that number has doubled. */
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
