// Views in a NATS JetStream stream: one message a view, published once.
//
// Any number of writers. Collectors share the stream and know nothing of each other, so ids ascend
// within a collector, not within the stream.
//
// Durable. `append` resolves to an id once the stream has acknowledged the message: a quorum of the
// servers that keep it has it. Whether each of them has synced it to its disk by then is a setting
// of theirs.
//
// Not acknowledged. Nobody answers within 5 seconds, the connection is lost, or the stream has no
// leader or refuses: so is the view refused, and not published again. It may be stored all the same.
//
// While the stream is known to take none, or has acknowledged nothing for 5 seconds, views are refused
// at once: what is published meanwhile would only gather somewhere. A look at it, and where it looks
// sound a probe, every second tells when it is back.
import { formatSize } from '../../base/format.ts';
import { EXIT, Fatal } from '../../base/exit.ts';
import type { Cluster } from '../../jetstream/connect.ts';
import { configFault, type StreamSeen, VIEWS } from '../../jetstream/inspect.ts';
import { type Failure, type FailureKind, Publisher } from '../../jetstream/publisher.ts';
import { managerOf, prepareStream } from '../../jetstream/stream.ts';
import { Silence } from '../../jetstream/silence.ts';
import { StreamWatch } from '../../jetstream/stream-watch.ts';
import type { Description } from '../../base/description.ts';
import type { Log } from '../../base/log.ts';
import { printable } from '../../base/text.ts';
import { headOf, linesOf } from '../../view/line.ts';
import { createStamper, type Stamp } from '../stamp.ts';
import type { Appended, StoreState, ViewStore, WatchedStore } from '../store.ts';
import { describeStream } from './describe-stream.ts';

export interface StreamStoreOptions {
  readonly cluster: Cluster;
  readonly stream: string;
  /** `undefined`: 3 where there are as many servers, else 1. */
  readonly replicas: number | undefined;
  /** Largest line, its newline included. */
  readonly viewBytesMax: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}

/** Of the stream beside what every store tells. */
export interface StreamStoreState extends StoreState {
  readonly stream: {
    readonly name: string;
    /** The server that viewlog is connected to, as `host:port`. */
    readonly server: string | undefined;
    readonly disconnectedSinceMs: number | undefined;
    readonly connectionLosses: number;
    /** Views that were not acknowledged. */
    readonly failures: Readonly<Record<FailureKind, number>>;
    readonly seen: StreamSeen;
    readonly warnings: readonly string[];
  };
}

const ACK_TIMEOUT_MS = 5_000;
/** How long a stream that has refused a view counts as one that does. */
const REFUSING_MS = 5_000;
/** Ids are there for what reads the stream; none is published twice, so they need not be kept. */
const DUPLICATE_WINDOW_NS = 5e9;
const HEADER_BYTES = 128;

/**
 * Finds the stream, or makes it.
 * @throws {Fatal} exit 69 where the cluster does not answer, 78 where views must not go there.
 */
export async function createStreamStore(options: StreamStoreOptions): Promise<StreamStore> {
  const { cluster, stream, replicas, viewBytesMax, log } = options;
  const payloadMax = cluster.connection.info?.max_payload ?? Infinity;
  if (viewBytesMax + HEADER_BYTES > payloadMax) {
    throw new Fatal(
      EXIT.badConfiguration,
      `The NATS servers take messages of ${formatSize(payloadMax)} at most (max_payload), ` +
        `too little for --max-view ${formatSize(viewBytesMax)}`,
    );
  }
  const info = await prepareStream(options, {
    name: stream,
    subjects: [`${VIEWS}.>`],
    storage: 'file',
    retention: 'limits',
    // Should it be given a limit one day: better refuse views than drop those acknowledged.
    discard: 'new',
    duplicate_window: DUPLICATE_WINDOW_NS,
  });
  const fault = configFault(info.config);
  if (fault !== undefined) {
    throw new Fatal(EXIT.badConfiguration, `Stream ${stream} cannot keep views: ${fault}`);
  }
  const manager = await managerOf(cluster);
  const watch = new StreamWatch({ cluster, manager, stream, replicas, log }, info);
  return new StreamStore(options, watch);
}

export class StreamStore implements ViewStore, WatchedStore {
  readonly #options: StreamStoreOptions;
  readonly #watch: StreamWatch;
  readonly #silence: Silence;
  readonly #publisher: Publisher;
  readonly #stamp: () => Stamp;
  readonly #failures = { disconnected: 0, timeout: 0, 'no-leader': 0, refused: 0 };
  #lines = 0;
  #bytes = 0;
  #lastAcceptedMs: number | undefined;
  #refusing: { readonly why: string; readonly untilMs: number } | undefined;
  #closing = false;

  constructor(options: StreamStoreOptions, watch: StreamWatch) {
    const { cluster, stream, now, log } = options;
    this.#options = options;
    this.#watch = watch;
    const timeoutMs = ACK_TIMEOUT_MS;
    this.#silence = new Silence({ cluster, stream, timeoutMs, log });
    const onLate = (): void => this.#answered();
    this.#publisher = new Publisher({ cluster, stream, timeoutMs, onLate });
    this.#stamp = createStamper(now);
  }

  append(fields: Uint8Array, project: string): Promise<Appended> {
    const unavailable = this.#unavailable();
    if (unavailable !== undefined) return Promise.resolve({ unavailable });
    const { ts, id } = this.#stamp();
    const line = linesOf(headOf(ts, id), [fields]).subarray(0, -1); // without its newline
    this.#silence.published();
    return new Promise((resolve) => {
      this.#publisher.publish(`${VIEWS}.${project}`, line, id, (failure, bytes) => {
        if (failure === undefined) this.#stored(bytes);
        else this.#failed(failure);
        resolve(failure === undefined ? { id } : { unavailable: REASONS[failure.kind] });
      });
    });
  }

  /** Refuses new views, and those that are not acknowledged by now. */
  close(): void {
    this.#closing = true;
    this.#publisher.close();
    this.#watch.stop();
    this.#silence.stop();
  }

  state(): StreamStoreState {
    const { cluster, stream } = this.#options;
    const isRefusing = performance.now() < (this.#refusing?.untilMs ?? 0);
    return {
      lines: this.#lines,
      bytes: this.#bytes,
      lastAcceptedMs: this.#lastAcceptedMs,
      unavailable: this.#unavailable() ?? (isRefusing ? REASONS.refused : undefined),
      unavailableSinceMs: cluster.disconnectedSinceMs,
      queuedLines: this.#publisher.waiting,
      queuedBytes: this.#publisher.bytes,
      stream: {
        name: stream,
        server: cluster.server,
        disconnectedSinceMs: cluster.disconnectedSinceMs,
        connectionLosses: cluster.losses,
        failures: { ...this.#failures },
        seen: this.#watch.seen,
        warnings: this.#watch.warnings,
      },
    };
  }

  describe(): Description {
    return describeStream(this.state(), this.#options.now());
  }

  #unavailable(): string | undefined {
    if (this.#closing) return SHUTTING_DOWN;
    return this.#watch.unavailable ?? this.#silence.unavailable;
  }

  #answered(): void {
    this.#watch.sign();
    this.#silence.answered();
  }

  #stored(bytes: number): void {
    this.#lines += 1;
    this.#bytes += bytes;
    this.#lastAcceptedMs = this.#options.now();
    this.#answered();
    if (this.#refusing === undefined) return;
    this.#refusing = undefined;
    this.#options.log.info(`Stream ${this.#options.stream} takes views again`);
  }

  #failed({ kind, detail }: Failure): void {
    this.#failures[kind] += 1;
    if (kind === 'refused') this.#refused(detail);
    else if (kind !== 'disconnected') this.#silence.unanswered();
  }

  #refused(detail: string | undefined): void {
    this.#silence.answered();
    const why = printable(detail ?? '');
    const { log, stream } = this.#options;
    if (why !== this.#refusing?.why) log.error(`Stream ${stream} refuses views: ${why}`);
    this.#refusing = { why, untilMs: performance.now() + REFUSING_MS };
  }
}

const SHUTTING_DOWN = 'shutting down';

const REASONS: Record<FailureKind, string> = {
  disconnected: 'the connection to the cluster was lost',
  timeout: 'the cluster has not acknowledged it in time',
  'no-leader': 'the stream has no leader',
  refused: 'the stream does not take it',
};
