import { errorText } from '../base/exit.ts';
import { formatCount, plural } from '../base/format.ts';
import type { Log } from '../base/log.ts';
import { capitalised, printable } from '../base/text.ts';
import type { Run } from './stream-source.ts';

/** A smaller lag isn't logged, because under load the archive is always some messages behind. */
const LAG_MIN = 10_000;
const SKIPPED_NAMED_MAX = 10;

/** Logs and counts gaps, foreign messages and errors of the stream. */
export class ArchiveLog {
  readonly #log: Log;
  readonly #stream: string;
  readonly #ofStream: string;
  #loggedLag = 0;
  /** Messages that aren't views. */
  skipped = 0;
  /** Messages that the stream removed before they were archived. */
  lost = 0;
  /** Messages that the archive found missing, although the leader has them. */
  leftOut = 0;
  /** Why the stream can't be read now. */
  unreadable: string | undefined;

  constructor(log: Log, stream: string) {
    this.#log = log;
    this.#stream = stream;
    this.#ofStream = `of stream "${stream}"`;
  }

  /** Logs one line for a batch, so that foreign messages can't flood the log. */
  skip(messages: readonly number[]): void {
    if (messages.length === 0) return;
    this.skipped += messages.length;
    const isOne = messages.length === 1;
    const what = isOne
      ? "a message that isn't a view"
      : `${plural(messages.length, 'message')} that aren't views`;
    const more = messages.length - SKIPPED_NAMED_MAX;
    const rest = more > 0 ? ` and ${formatCount(more)} more` : '';
    const named = messages.slice(0, SKIPPED_NAMED_MAX).join(', ');
    const where = `in stream "${this.#stream}" (number${isOne ? '' : 's'} ${named}${rest})`;
    this.#log.error(`Skipped ${what} ${where}; another program publishes there`);
  }

  /**
   * Logs one line for all runs that the stream no longer has, because a stream can delete many
   * single messages.
   */
  gaps(runs: readonly Run[]): void {
    if (runs.length === 0) return;
    const count = runs.reduce((sum, [from, to]) => sum + to - from + 1, 0);
    this.lost += count;
    const [first, last] = [runs[0]![0], runs.at(-1)![1]];
    const which =
      runs.length === 1
        ? `${capitalised(rangeText(runs[0]!))} ${this.#ofStream} ${count === 1 ? 'was' : 'were'}`
        : `${plural(count, 'message')} ${this.#ofStream} between ${first} and ${last}, in ${plural(runs.length, 'range')}, were`;
    const read = count === 1 ? 'it' : 'them';
    this.#log.warn(`${which} deleted or expired before the archive read ${read}`);
  }

  /** Logs and counts messages that the leader has in a run that the archive found missing. */
  foundMissing(run: Run, count: number): void {
    this.leftOut += count;
    const found = run[0] === run[1] ? 'it' : `${formatCount(count)} of them`;
    this.#log.error(
      `The archive missed ${rangeText(run)} ${this.#ofStream}; the stream's leader had ${found}, ` +
        `and ${count === 1 ? 'it is' : 'they are'} now archived. To check the replicas, run: ` +
        `nats stream info ${this.#stream}`,
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
      const few = `fewer than ${formatCount(LAG_MIN)} messages`;
      this.#log.info(`The archive is ${few} behind the end of the stream again`);
    }
  }
}

/** `message 5`, `messages 5 to 7` */
const rangeText = ([from, to]: Run): string =>
  from === to ? `message ${from}` : `messages ${from} to ${to}`;
