import type { StreamInfo } from '@nats-io/jetstream';
import { reasonOf } from '../../base/exit.ts';
import { DAY_MS } from '../../base/time.ts';
import type { Cluster } from '../../jetstream/connect.ts';
import { type Failure, Publisher } from '../../jetstream/publisher.ts';
import { managerOf, prepareStream } from '../../jetstream/stream.ts';
import type { Description } from '../../base/description.ts';
import type { Log } from '../../base/log.ts';
import { printable } from '../../base/text.ts';
import { describeRefused } from './describe-refused.ts';
import { RefusedIntake } from './refused-intake.ts';
import type { LocalRefusedStore, RefusedState } from './refused-files.ts';
import type { RefusedView } from '../store.ts';

interface RefusedStreamOptions {
  readonly cluster: Cluster;
  readonly stream: string;
  readonly replicas: number;
  /** 0: keep none. */
  readonly maxBytes: number;
  /** 0: for ever. */
  readonly keepDays: number;
  readonly isListed: (projectId: string) => boolean;
  readonly now: () => number;
  readonly log: Log;
}

const ACK_TIMEOUT_MS = 5_000;
const DAY_NS = DAY_MS * 1e6;
const DUPLICATE_WINDOW_NS = 5e9;

/**
 * Keeps refused views in a stream of their own, `refused.<project>` or, for all that are not
 * listed, `refused.unlisted`. The stream is bounded, and drops its oldest. Best effort: no error
 * reaches a client or ends the process; what is dropped is counted.
 */
export async function createRefusedStream(
  options: RefusedStreamOptions,
): Promise<LocalRefusedStore> {
  const { maxBytes, log, stream } = options;
  const store = new RefusedStream(options);
  if (maxBytes === 0) return store;
  try {
    await makeStream(options);
  } catch (error) {
    log.warn(`Cannot keep refused views in stream ${stream}: ${printable(reasonOf(error))}`);
  }
  return store;
}

/** Made where there is none; else given the limits that were asked for, if it has others. */
async function makeStream(options: RefusedStreamOptions): Promise<void> {
  const { cluster, stream, maxBytes, keepDays } = options;
  const limits = { max_bytes: maxBytes, max_age: keepDays * DAY_NS };
  const { config }: StreamInfo = await prepareStream(options, {
    name: stream,
    subjects: ['refused.>'],
    storage: 'file',
    discard: 'old',
    duplicate_window: DUPLICATE_WINDOW_NS,
    ...limits,
  });
  if (config.max_bytes === limits.max_bytes && config.max_age === limits.max_age) return;
  await (await managerOf(cluster)).streams.update(stream, { ...config, ...limits });
}

class RefusedStream implements LocalRefusedStore {
  readonly #options: RefusedStreamOptions;
  readonly #intake: RefusedIntake;
  readonly #publisher: Publisher;
  #failing = false;
  #closing = false;
  #keptLines = 0;
  #keptBytes = 0;

  constructor(options: RefusedStreamOptions) {
    const { cluster, stream, maxBytes } = options;
    this.#options = options;
    // What is in the stream the collectors share; each gives a day's strangers half of it.
    this.#intake = new RefusedIntake({
      ...options,
      maxBytesPerDay: maxBytes,
      bytesOf: () => 0,
    });
    this.#publisher = new Publisher({ cluster, stream, timeoutMs: ACK_TIMEOUT_MS });
  }

  keep(view: RefusedView): void {
    const { dropped } = this.#intake;
    if (this.#closing || this.#options.cluster.server === undefined) {
      return void (dropped.writeFailed += 1);
    }
    const line = this.#intake.take(view, this.#publisher.bytes);
    if (line === undefined) return;
    const subject = `refused.${line.isListed ? view.project : 'unlisted'}`;
    const text = line.bytes.subarray(0, -1);
    this.#publisher.publish(subject, text, line.id, (failure, bytes) => this.#told(failure, bytes));
  }

  /** What is sent arrives before the connection ends; only the count is not told any more. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#publisher.close();
  }

  state(): RefusedState {
    return {
      keptLines: this.#keptLines,
      keptBytes: this.#keptBytes,
      droppedLines: Object.values(this.#intake.dropped).reduce((sum, count) => sum + count, 0),
    };
  }

  describe(): Description {
    return describeRefused(this.state());
  }

  #told(failure: Failure | undefined, bytes: number): void {
    if (this.#closing) return;
    const { log } = this.#options;
    if (failure === undefined) {
      this.#keptLines += 1;
      this.#keptBytes += bytes;
      if (this.#failing) log.info('Keeping refused views again');
      this.#failing = false;
      return;
    }
    this.#intake.dropped.writeFailed += 1;
    if (!this.#failing) {
      log.warn(`Cannot keep refused views: ${printable(failure.detail ?? failure.kind)}`);
    }
    this.#failing = true;
  }
}
