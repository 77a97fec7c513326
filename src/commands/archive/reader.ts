import type { Consumer } from '@nats-io/jetstream';
import { Fatal, reasonOf } from '../../fatal.ts';
import type { Log } from '../../log.ts';
import { sleep } from '../../store/waiting.ts';
import type { StreamMessage } from './message.ts';
import type { Known, Stream } from './stream.ts';

interface ReaderOptions {
  readonly stream: Stream;
  /** The last message that is not to be read again. */
  readonly after: number;
  /** What is recorded by now. */
  readonly known: () => Known;
  readonly log: Log;
}

/** Read and not yet taken; one fetch more may be under way. */
const QUEUE_BYTES_MAX = 16 * 1024 * 1024;
const FETCH_BYTES = 8 * 1024 * 1024;
const FETCH_MIN = 20;
const FETCH_MAX = 2_000;
/** How long a fetch waits for messages, and how often the server says that it is still there. */
const FETCH_MS = 5_000;
const HEARTBEAT_MS = 1_000;
const RETRY_MS = 500;

/**
 * Reads a stream in its order, ahead of who takes the messages. Whatever happens to the servers it
 * begins anew behind the last message that it got; what does not follow that is not believed.
 */
export class StreamReader {
  readonly #options: ReaderOptions;
  readonly #closed = new AbortController();
  #queue: StreamMessage[] = [];
  #queueBytes = 0;
  /** The last message that was read. */
  #sequence: number;
  /** The stream's last message, as far as known. */
  #end = 0;
  #averageBytes = 1_000;
  #failure: Fatal | undefined;
  #wakeTaker: (() => void) | undefined;
  #wakeReader: (() => void) | undefined;
  /** Why nothing can be read now. */
  trouble: string | undefined;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#sequence = options.after;
    void this.#read();
  }

  /** Reads no further. Who waits in `take` gets what there is. */
  close(): void {
    this.#closed.abort();
    this.#wakeTaker?.();
    this.#wakeReader?.();
  }

  get end(): number {
    return Math.max(this.#end, this.#sequence);
  }

  /**
   * All messages that have been read and not been taken; none where there are none for `waitMs`.
   * @throws {Fatal} where the stream is not the recorded one any more.
   */
  async take(waitMs: number): Promise<StreamMessage[]> {
    if (this.#queue.length === 0 && this.#failure === undefined) await this.#wait(waitMs);
    if (this.#failure !== undefined) throw this.#failure;
    const messages = this.#queue;
    this.#queue = [];
    this.#queueBytes = 0;
    this.#wakeReader?.();
    return messages;
  }

  async #wait(ms: number): Promise<void> {
    if (this.#closed.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wakeTaker = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wakeTaker = undefined;
  }

  async #read(): Promise<void> {
    const { stream, known, log } = this.#options;
    const stop = this.#closed.signal;
    while (!stop.aborted) {
      try {
        const recorded = known();
        const reached = Math.max(recorded.reached, this.#sequence);
        const { last } = await stream.verify({ ...recorded, reached });
        this.#end = last;
        const info = await stream.consumerFrom(this.#sequence + 1);
        if (info.num_pending === 0 && last > this.#sequence) await this.#passOver(last);
        const { client, connection } = stream.cluster;
        await this.#fetchAll(client.jetstream(connection).consumers.getConsumerFromInfo(info));
      } catch (error) {
        if (stop.aborted) return;
        if (error instanceof Fatal) {
          this.#failure = error;
          this.#wakeTaker?.();
          return;
        }
        const trouble = reasonOf(error);
        if (this.trouble === undefined) {
          log.warn(`Cannot read stream "${stream.name}": ${trouble}; trying until it succeeds`);
        }
        this.trouble = trouble;
        await sleep(RETRY_MS, stop);
      }
    }
  }

  /** Until something is wrong with the consumer; then rejects. */
  async #fetchAll(consumer: Consumer): Promise<void> {
    const stop = this.#closed.signal;
    let delivered = 0;
    while (!stop.aborted) {
      while (this.#queueBytes >= QUEUE_BYTES_MAX && !stop.aborted) {
        await new Promise<void>((resolve) => (this.#wakeReader = resolve));
      }
      const before = delivered;
      const most = Math.round(FETCH_BYTES / this.#averageBytes);
      const messages = await consumer.fetch({
        max_messages: Math.min(Math.max(most, FETCH_MIN), FETCH_MAX),
        expires: FETCH_MS,
        idle_heartbeat: HEARTBEAT_MS,
        bind: true,
      });
      for await (const { info, data } of messages) {
        delivered += 1;
        // One was lost on the way, or the consumer is not the same any more.
        if (info.deliverySequence !== delivered) throw new Error('messages have been missed');
        await this.#add(info.streamSequence, data, info.pending);
      }
      if (delivered === before) await this.#lookForMore();
      this.#ok();
    }
  }

  async #add(sequence: number, payload: Uint8Array, pending: number): Promise<void> {
    if (sequence <= this.#sequence) throw new Error('messages have come twice');
    if (sequence > this.#sequence + 1) await this.#confirmGap(this.#sequence + 1, sequence - 1);
    this.#sequence = sequence;
    this.#end = Math.max(this.#end, sequence + pending);
    this.#averageBytes += (payload.length - this.#averageBytes) / 100;
    this.#queueBytes += payload.length;
    this.#queue.push({ sequence, payload });
    this.#ok();
    this.#wakeTaker?.();
  }

  /** Passing over messages is for ever: only those that the stream says it has no more. */
  async #confirmGap(from: number, to: number): Promise<void> {
    const { stream } = this.#options;
    if ((await stream.isGone(from)) && (await stream.isGone(to))) return;
    throw new Error(`messages ${from} to ${to} have been missed`);
  }

  /** The end of the stream has been removed: no message will come to tell of the gap. */
  async #passOver(last: number): Promise<void> {
    await this.#confirmGap(this.#sequence + 1, last);
    this.#sequence = last;
    this.#queue.push({ sequence: last, payload: undefined });
    this.#wakeTaker?.();
  }

  /** A fetch that brought nothing: because there is nothing, or because the consumer is stuck. */
  async #lookForMore(): Promise<void> {
    const last = await this.#options.stream.last();
    this.#end = last;
    if (last > this.#sequence) throw new Error('its messages do not come');
  }

  #ok(): void {
    if (this.trouble === undefined) return;
    this.trouble = undefined;
    const { log, stream } = this.#options;
    log.info(`Reading stream "${stream.name}" again`);
  }
}
