// Views in a NATS JetStream stream: one message for each view, published once.
//
// Any number of collectors share the stream and know nothing of each other.
//
// Durable: `append` resolves to an id once the stream has acknowledged the message, so a quorum of
// the stream's servers has it. A setting of the servers decides whether they have synced the view.
//
// Not acknowledged: the view is refused and not published again if no answer comes within 5
// seconds, if the connection is lost, or if the stream has no leader or refuses the message. It may
// be stored nevertheless.
//
// While the stream is known to accept no views, the store refuses them immediately. Each second it
// asks for the stream's state. A stream that looks healthy may still acknowledge nothing: after 5
// seconds without an acknowledgement views are refused too. While views are refused and the stream
// looks healthy, the store sends a probe every second, a message that the stream must refuse. Once
// the stream answers the probe, views are published again. A full stream gets views again when its
// state shows space for the largest one.
import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import { EXIT, Fatal } from '../../base/exit.ts';
import { every } from '../../base/time.ts';
import {
  configFault,
  limitFault,
  type StreamNeeds,
  VIEWS,
  withStreamFix,
} from '../../jetstream/inspect.ts';
import { FAILURES, Publisher } from '../../jetstream/publisher.ts';
import { StreamWatch } from '../../jetstream/stream-watch.ts';
import { type PrepareOptions, prepareStream, probe } from '../../jetstream/stream.ts';
import { lineHeadOf, linesOf } from '../../view/line.ts';
import { createStamper, type Stamp } from '../stamp.ts';
import { type Appended, STOPPING, type ViewStore } from '../store.ts';

interface StreamStoreOptions extends PrepareOptions {
  readonly stream: string;
  /** Largest line, its newline included. */
  readonly viewBytesMax: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The stream's figures, for the status page and the metrics. */
export type StreamStoreState = ReturnType<StreamStore['state']>;

const CHECK_MS = 1_000;

/**
 * Finds or creates the stream.
 * @throws {Fatal} exit 69 if the cluster doesn't answer, 78 if views must not go there.
 */
export async function createStreamStore(options: StreamStoreOptions): Promise<StreamStore> {
  const { cluster, stream } = options;
  refuseSmall({ name: stream }, options);
  const info = await prepareStream(options, {
    name: stream,
    subjects: [`${VIEWS}.>`],
    retention: 'limits',
    // If an operator limits the stream later, it refuses new views instead of dropping stored ones.
    discard: 'new',
  });
  const fault = configFault(info.config);
  if (fault !== undefined) {
    throw new Fatal(
      EXIT.badConfiguration,
      `Stream ${stream} can't store views: ${withStreamFix(fault)}`,
    );
  }
  refuseSmall(info.config, options);
  // Finds out whether viewlog may publish views. The stream may have no leader yet.
  await probe(cluster, stream, VIEWS).catch((error: unknown) => cluster.refuseDenied(error));
  return new StreamStore(options, info);
}

function refuseSmall(config: Partial<StreamConfig>, options: StreamStoreOptions): void {
  const fault = limitFault(config, needsOf(options));
  if (fault !== undefined) throw new Fatal(EXIT.badConfiguration, fault);
}

const needsOf = ({ cluster, replicas, viewBytesMax }: StreamStoreOptions): StreamNeeds => ({
  replicas,
  viewBytesMax,
  payloadMax: cluster.connection.info?.max_payload ?? Infinity,
});

export class StreamStore implements ViewStore {
  readonly #options: StreamStoreOptions;
  readonly #watch: StreamWatch;
  readonly #endChecks: () => void;
  readonly #publisher: Publisher;
  readonly #stamp: () => Stamp;
  readonly #failures = { disconnected: 0, timeout: 0, 'no-leader': 0, refused: 0 };
  readonly #counts = { lines: 0, bytes: 0 };
  #isClosing = false;

  constructor(options: StreamStoreOptions, info: StreamInfo) {
    const { cluster, stream, now } = options;
    this.#options = options;
    this.#publisher = new Publisher(cluster, stream);
    this.#stamp = createStamper(now);
    const watch = new StreamWatch({ ...options, needs: () => needsOf(options) }, info);
    this.#watch = watch;
    cluster.onChange(() => void watch.check());
    this.#endChecks = every(CHECK_MS, () => void watch.check());
  }

  async append(fields: Uint8Array, project: string): Promise<Appended> {
    const unavailable = this.#isClosing ? STOPPING : this.#watch.unavailable;
    if (unavailable !== undefined) return { unavailable };
    const { ts, id } = this.#stamp();
    const line = linesOf(lineHeadOf(ts, id), [fields]).subarray(0, -1); // without its newline
    const failure = await this.#publisher.publish(`${VIEWS}.${project}`, line, id);
    if (failure !== undefined) {
      this.#failures[failure.kind] += 1;
      this.#watch.failed(failure);
      return { unavailable: FAILURES[failure.kind] };
    }
    this.#counts.lines += 1;
    this.#counts.bytes += line.length;
    this.#watch.acknowledged();
    return { id };
  }

  /** Refuses new views and those that aren't acknowledged yet. */
  close(): void {
    this.#isClosing = true;
    this.#endChecks();
    this.#publisher.close();
  }

  state() {
    const { cluster, stream } = this.#options;
    const { seen, warnings, trouble } = this.#watch;
    return {
      ...this.#counts,
      unavailable: this.#isClosing ? STOPPING : trouble,
      unavailableSinceMs: cluster.disconnectedSinceMs,
      queuedLines: this.#publisher.waiting,
      stream: {
        name: stream,
        /** The server that viewlog is connected to, as `host:port`. */
        server: cluster.server,
        connectionLosses: cluster.losses,
        /** Views that weren't acknowledged. */
        failures: { ...this.#failures },
        /** The stream when it was last seen: its size, leader and replicas. */
        seen,
        warnings: [...cluster.warnings, ...warnings],
      },
    };
  }
}
