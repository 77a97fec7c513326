import { MiB } from '../base/size.ts';
import type { Consumer } from '@nats-io/jetstream';
import { Fatal, reasonOf } from '../base/exit.ts';
import type { Log } from '../base/log.ts';
import { sleep } from '../base/time.ts';
import { idOf, type StreamMessage } from './message.ts';
import { type Loss, type Position, RecentMessages } from './recent-messages.ts';
import {
  type Known,
  MessagesLost,
  type ArchivedStream,
  type StreamEnds,
} from './archived-stream.ts';

interface ReaderOptions {
  readonly stream: ArchivedStream;
  /** What is recorded at the start: what follows its `sequence` is read. */
  readonly known: Known;
  readonly log: Log;
}

/** Read and not yet taken; one fetch more may be under way. */
const QUEUE_BYTES_MAX = 16 * MiB;
const FETCH_BYTES = 8 * MiB;
const FETCH_MIN = 20;
const FETCH_MAX = 2_000;
/** How long a fetch waits for messages, and how often the server says that it is still there. */
const FETCH_MS = 5_000;
const HEARTBEAT_MS = 1_000;
const RETRY_MS = 500;

/**
 * Reads a stream in its order, ahead of who takes the messages. Whatever happens to the servers it
 * begins anew behind the last message that it got; what does not follow that is not believed.
 *
 * Servers that are killed all at once come back without the last messages that they had delivered,
 * and give their numbers to new ones. So what was read last is compared, before and after each
 * fetch; where it is another by now, reading goes back behind the last message that is the same.
 */
export class StreamReader {
  readonly #options: ReaderOptions;
  readonly #closed = new AbortController();
  readonly #recent = new RecentMessages();
  #queue: (StreamMessage | Loss)[] = [];
  #queueBytes = 0;
  /** The last message that was read. */
  #sequence: number;
  /** What an earlier process has seen of the stream, at most. */
  #reached: number;
  /** The stream's last message, as far as known. */
  #end = 0;
  #averageBytes = 1_000;
  #failure: Fatal | undefined;
  #wakeTaker: (() => void) | undefined;
  #wakeReader: (() => void) | undefined;
  /** Why nothing can be read now. */
  trouble: string | undefined;
  #isTroubleTold = false;

  constructor(options: ReaderOptions) {
    const { sequence, id, reached } = options.known;
    this.#options = options;
    this.#sequence = sequence;
    this.#reached = reached;
    if (id !== undefined || sequence === 0) this.#recent.add({ sequence, id });
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
   * All messages that have been read and not been taken, none where there are none for `waitMs`;
   * or, in its place between them, what the servers have lost.
   * @throws {Fatal} where the stream is not the recorded one any more.
   */
  async take(waitMs: number): Promise<StreamMessage[] | Loss> {
    if (this.#queue.length === 0 && this.#failure === undefined) await this.#wait(waitMs);
    if (this.#failure !== undefined) throw this.#failure;
    const taken: StreamMessage[] = [];
    for (const one of this.#queue) {
      if ('position' in one) break;
      taken.push(one);
    }
    const [first] = this.#queue;
    const isLoss = first !== undefined && 'position' in first;
    this.#queue = this.#queue.slice(isLoss ? 1 : taken.length);
    for (const { payload } of taken) this.#queueBytes -= payload?.length ?? 0;
    this.#wakeReader?.();
    return isLoss ? first : taken;
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
    const { stream } = this.#options;
    const stop = this.#closed.signal;
    while (!stop.aborted) {
      const { server, losses } = stream.cluster;
      try {
        const ends = await this.#verified(this.#recent.last);
        if (ends === undefined) continue;
        const { last } = ends;
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
        this.trouble = reasonOf(error);
        await sleep(RETRY_MS, stop);
        // The connection tells of itself.
        const isConnected = server !== undefined && server === stream.cluster.server;
        if (isConnected && losses === stream.cluster.losses) this.#tellTrouble();
      }
    }
  }

  /**
   * Whether the stream is the recorded one and what was read of it is still there.
   * @param read the message to look for.
   * @returns its ends; `undefined` where it was not, and the reader has gone back.
   * @throws {Fatal} where that is not possible.
   */
  async #verified(read: Position | undefined): Promise<StreamEnds | undefined> {
    const { stream, known } = this.#options;
    const reached = Math.max(this.#reached, this.#sequence);
    try {
      const ends = await stream.verify({ ...known, ...read, reached });
      this.#end = ends.last;
      return ends;
    } catch (error) {
      if (error instanceof MessagesLost && (await this.#goBack(read))) return undefined;
      throw error;
    }
  }

  /** @returns whether it is known how far. */
  async #goBack(read: Position | undefined): Promise<boolean> {
    // What another process began to write is known by its numbers only.
    if (read === undefined || this.#sequence < this.#reached) return false;
    const { stream } = this.#options;
    const { first, last } = await stream.ends();
    this.#end = last;
    // What has been removed for its age says nothing.
    const position = await this.#recent.lastSame(
      read,
      async (one) => one.sequence < first || one.sequence === 0 || (await stream.has(one)),
    );
    if (position === undefined) return false;
    const { sequence } = position;
    if (sequence < first && sequence > 0) return false;
    if (sequence === this.#sequence) return true;
    this.#queue.push({ position, to: this.#sequence, ids: this.#recent.goBack(position) });
    this.#sequence = sequence;
    this.#reached = 0;
    this.#wakeTaker?.();
    return true;
  }

  /** Until the reader has gone back, or something is wrong with the consumer; then rejects. */
  async #fetchAll(consumer: Consumer): Promise<void> {
    const stop = this.#closed.signal;
    let delivered = 0;
    while (!stop.aborted) {
      while (this.#queueBytes >= QUEUE_BYTES_MAX && !stop.aborted) {
        await new Promise<void>((resolve) => (this.#wakeReader = resolve));
      }
      const [before, read] = [delivered, this.#recent.last];
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
      const ends = await this.#verified(read);
      if (ends === undefined) return;
      // Because there is nothing, or because the consumer is stuck.
      if (delivered === before && ends.last > this.#sequence) {
        throw new Error('its messages do not come');
      }
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
    const id = idOf(payload);
    if (id !== undefined) this.#recent.add({ sequence, id });
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

  #tellTrouble(): void {
    const { log, stream } = this.#options;
    if (this.#isTroubleTold) return;
    this.#isTroubleTold = true;
    log.warn(`Cannot read stream "${stream.name}": ${this.trouble}; trying until it succeeds`);
  }

  #ok(): void {
    this.trouble = undefined;
    if (!this.#isTroubleTold) return;
    this.#isTroubleTold = false;
    const { log, stream } = this.#options;
    log.info(`Reading stream "${stream.name}" again`);
  }
}
