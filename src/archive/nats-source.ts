import type { Consumer, ConsumerMessages, JetStreamManager } from '@nats-io/jetstream';
import { EXIT, Fatal } from '../base/exit.ts';
import { MiB } from '../base/format.ts';
import { sleep } from '../base/time.ts';
import type { Cluster } from '../jetstream/connect.ts';
import { VIEWS } from '../jetstream/inspect.ts';
import { cannotUse, findStream, managerOf } from '../jetstream/stream.ts';
import type { StreamEnds, StreamMessage, StreamSource } from './stream-source.ts';

/** The bytes of messages per batch. Larger batches take more memory but are hardly faster. */
const BATCH_BYTES = 2 * MiB;
const FETCH_FIRST = 20;
const FETCH_MAX = 2_000;
/** How long a fetch waits for messages. */
const FETCH_MS = 1_000;
/** The servers delete a consumer that no archive has read from for this long. */
const CONSUMER_IDLE_MS = 30_000;
/** A cluster that has just started may not know all of its streams yet. */
const FIND_TIMES = 4;
const FIND_EVERY_MS = 500;
const CONNECTED_EVERY_MS = 100;
const TODO = 'start a collector with --store to create it, or name another with --nats-stream';

/** A stream of a NATS cluster, read with the client's ordered consumer. */
export class NatsSource implements StreamSource {
  readonly name: string;
  readonly #cluster: Cluster;
  readonly #manager: JetStreamManager;
  readonly #stop: AbortSignal;
  #fetching: ConsumerMessages | undefined;

  constructor(name: string, cluster: Cluster, manager: JetStreamManager, stop: AbortSignal) {
    this.name = name;
    this.#cluster = cluster;
    this.#manager = manager;
    this.#stop = stop;
    const end = (): void => this.#fetching?.stop();
    cluster.onChange(end);
    stop.addEventListener('abort', end);
  }

  /** @throws {Fatal} exit 78 if there is no such stream, 69 if the cluster doesn't answer. */
  static async find(name: string, cluster: Cluster, stop: AbortSignal): Promise<NatsSource> {
    for (let time = 1; ; time++) {
      const found = await findStream(cluster, name).catch((error: unknown) => {
        cluster.refuseDenied(error);
        return cannotUse(error, { name }, cluster);
      });
      if (found !== undefined && !(found instanceof Fatal)) {
        return new NatsSource(name, cluster, await managerOf(cluster), stop);
      }
      if (time === FIND_TIMES || stop.aborted) {
        throw found ?? new Fatal(EXIT.badConfiguration, `There is no stream "${name}"; ${TODO}`);
      }
      await sleep(FIND_EVERY_MS, stop);
    }
  }

  async ends(): Promise<StreamEnds> {
    // Logs nothing, because `Cluster` logs that there is no connection.
    while (this.#cluster.server === undefined && !this.#stop.aborted) {
      await sleep(CONNECTED_EVERY_MS, this.#stop);
    }
    if (this.#stop.aborted) throw new Error('stopped');
    const { created, state } = await this.#allowed(this.#manager.streams.info(this.name));
    return { created, first: state.first_seq, last: state.last_seq };
  }

  async next(sequence: number): Promise<StreamMessage | undefined> {
    const query = { seq: sequence, next_by_subj: `${VIEWS}.>` };
    const found = await this.#allowed(this.#manager.streams.getMessage(this.name, query));
    if (found === null) return undefined;
    return { sequence: found.seq, subject: found.subject, data: found.data };
  }

  /** @throws {Fatal} exit 78 if the call fails because the servers don't permit it. */
  async #allowed<T>(call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      this.#cluster.refuseDenied(error);
      throw error;
    }
  }

  async *read(after: number): AsyncGenerator<readonly StreamMessage[]> {
    const { losses } = this.#cluster;
    const isReading = (): boolean => this.#cluster.losses === losses && !this.#stop.aborted;
    let position = after;
    let count = FETCH_FIRST;
    try {
      while (isReading()) {
        const consumer = await this.#allowed(
          this.#manager.jetstream().consumers.get(this.name, {
            opt_start_seq: position + 1,
            inactive_threshold: CONSUMER_IDLE_MS,
          }),
        );
        const { name } = await this.#allowed(consumer.info(true));
        for (let isCut = false; !isCut && isReading();) {
          const batch = await this.#fetch(consumer, name, count);
          yield batch.messages;
          position = batch.messages.at(-1)?.sequence ?? position;
          // After a cut, a new consumer reads the messages that were still on their way.
          isCut = batch.bytes > BATCH_BYTES;
          const largest = Math.max(BATCH_BYTES / FETCH_MAX, batch.largest);
          count = Math.max(1, Math.floor(BATCH_BYTES / largest));
        }
      }
    } finally {
      this.#fetching?.stop();
    }
  }

  /** Reads up to `count` messages; fewer if their bytes exceed the limit of a batch. */
  async #fetch(consumer: Consumer, name: string, count: number) {
    const batch = { messages: [] as StreamMessage[], bytes: 0, largest: 0 };
    this.#fetching = await consumer.fetch({ max_messages: count, expires: FETCH_MS });
    for await (const { info, seq, subject, data } of this.#fetching) {
      // The client replaces a consumer that the servers have lost. Such servers may have lost
      // messages too.
      if (info.consumer !== name) throw new Error("the servers have lost the archive's consumer");
      batch.messages.push({ sequence: seq, subject, data });
      batch.bytes += data.length;
      batch.largest = Math.max(batch.largest, data.length);
      if (batch.bytes > BATCH_BYTES) this.#fetching.stop();
    }
    return batch;
  }
}
