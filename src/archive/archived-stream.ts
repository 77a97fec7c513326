import type { ConsumerInfo, JetStreamManager } from '@nats-io/jetstream';
import { EXIT, Fatal, reasonOf } from '../base/exit.ts';
import type { Cluster } from '../jetstream/connect.ts';
import { isNotFound, managerOf } from '../jetstream/stream.ts';
import { archiveRecordOf } from '../disk/names.ts';
import { sleep } from '../base/time.ts';
import { idOf } from './message.ts';
import type { Position } from './recent-messages.ts';

/** What is recorded of a stream, and must be true of it. */
export interface Known extends Position {
  readonly created: string;
  /** The last message of which anything may have been written. */
  readonly reached: number;
}

/** The stream as its leader tells it. */
export interface StreamEnds {
  readonly created: string;
  readonly first: number;
  readonly last: number;
}

/** It is the recorded stream, but without messages that it has had, or with others in their place. */
export class MessagesLost extends Fatal {}

/** The server forgets the consumer of an archive that is gone after this time. */
const CONSUMER_IDLE_MS = 30_000;
/**
 * What ends the archive is believed when it is told so many times: a cluster that has just been
 * started may not know all of its streams yet.
 */
const TOLD_TIMES = 4;
const TOLD_EVERY_MS = 500;

/** Asks the cluster about one stream. Rejects with the client's errors where it does not answer. */
export class ArchivedStream {
  readonly name: string;
  readonly #dir: string;
  readonly cluster: Cluster;
  readonly #manager: JetStreamManager;
  readonly #stop: AbortSignal;

  private constructor(
    name: string,
    dir: string,
    cluster: Cluster,
    manager: JetStreamManager,
    stop: AbortSignal,
  ) {
    this.name = name;
    this.#dir = dir;
    this.cluster = cluster;
    this.#manager = manager;
    this.#stop = stop;
  }

  /** @param dir the data directory, to tell the operator what to mend there. */
  static async of(
    name: string,
    dir: string,
    cluster: Cluster,
    stop: AbortSignal,
  ): Promise<ArchivedStream> {
    return new ArchivedStream(name, dir, cluster, await managerOf(cluster), stop);
  }

  /**
   * The stream's ends at the start of the archive.
   * @throws {Fatal} exit 78 where there is no such stream, 69 where the cluster does not tell.
   */
  async find(): Promise<StreamEnds> {
    try {
      return await this.#repeated(() => this.ends());
    } catch (error) {
      const name = `"${this.name}"`;
      if (!isNotFound(error, this.cluster)) {
        throw new Fatal(EXIT.unavailable, `Cannot read stream ${name}: ${reasonOf(error)}`);
      }
      throw new Fatal(
        EXIT.badConfiguration,
        `There is no stream ${name}; a collector that is started with --store makes it, ` +
          '--nats-stream names another',
      );
    }
  }

  /**
   * Whether it is still the stream that is recorded.
   * @throws {Fatal} exit 65 where it is not, with what to do; a `MessagesLost` where it once was.
   */
  verify(known: Known): Promise<StreamEnds> {
    return this.#repeated(async () => {
      const ends = await this.ends();
      if (ends.created !== known.created) throw this.#otherStream(ends, known);
      if (ends.last < known.reached) throw this.#goneBack(ends, known);
      const { sequence, id } = known;
      if (id === undefined || sequence < ends.first) return ends;
      const message = await this.#manager.streams.getMessage(this.name, { seq: sequence });
      if (message !== null && idOf(message.data) !== id) throw this.#forked(known);
      return ends;
    });
  }

  /** Whether the message is in the stream and, by its id, what it was. */
  async has({ sequence, id }: Position): Promise<boolean> {
    const message = await this.#manager.streams.getMessage(this.name, { seq: sequence });
    return message !== null && idOf(message.data) === id;
  }

  /** The message's text; `undefined` where the stream has it no more. */
  async payloadOf(sequence: number): Promise<Uint8Array | undefined> {
    return (await this.#manager.streams.getMessage(this.name, { seq: sequence }))?.data;
  }

  /** Whether the stream has this message no more. */
  async isGone(sequence: number): Promise<boolean> {
    return (await this.#manager.streams.getMessage(this.name, { seq: sequence })) === null;
  }

  /**
   * A consumer from `sequence` on, known to one server only and soon forgotten: what counts is
   * recorded here.
   */
  consumerFrom(sequence: number): Promise<ConsumerInfo> {
    return this.#manager.consumers.add(this.name, {
      deliver_policy: 'by_start_sequence',
      opt_start_seq: sequence,
      ack_policy: 'none',
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: CONSUMER_IDLE_MS * 1e6,
    });
  }

  async ends(): Promise<StreamEnds> {
    const { created, state } = await this.#manager.streams.info(this.name);
    return { created, first: state.first_seq, last: state.last_seq };
  }

  /** An error only where it is met every time. */
  async #repeated(ask: () => Promise<StreamEnds>): Promise<StreamEnds> {
    for (let time = 1; ; time++) {
      try {
        return await ask();
      } catch (error) {
        if (time === TOLD_TIMES || this.#stop.aborted) throw error;
        await sleep(TOLD_EVERY_MS, this.#stop);
      }
    }
  }

  #otherStream({ created }: StreamEnds, known: Known): Fatal {
    return new Fatal(
      EXIT.badData,
      `Stream "${this.name}" was made ${created}, not ${known.created} as the archived one: it is ` +
        `another of that name; move "${archiveRecordOf(this.#dir)}" away to archive it from its start`,
    );
  }

  #goneBack({ last }: StreamEnds, { reached }: Known): Fatal {
    return new MessagesLost(
      EXIT.badData,
      `Stream "${this.name}" ends at message ${last}, though ${reached} is archived already: ` +
        `its servers have lost messages, or have been restored; ${this.#advice(`${last}`)}`,
    );
  }

  #forked({ sequence, id }: Known): Fatal {
    return new MessagesLost(
      EXIT.badData,
      `Message ${sequence} of stream "${this.name}" is not the archived one (id ${id}): its ` +
        'servers have lost messages, or have been restored, and numbered new ones like them; ' +
        this.#advice('the last message that is the same'),
    );
  }

  #advice(sequence: string): string {
    const path = archiveRecordOf(this.#dir);
    return `to go on, set "sequence" in "${path}" to ${sequence}, without "id" and "writing"`;
  }
}
