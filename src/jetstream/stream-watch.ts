import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { Log } from '../base/log.ts';
import type { Cluster } from './connect.ts';
import { configFault, configWarnings, groupFault, seenOf, type StreamSeen } from './inspect.ts';
import { isNotFound } from './stream.ts';

interface WatchOptions {
  readonly cluster: Cluster;
  readonly manager: JetStreamManager;
  readonly stream: string;
  /** What the operator asked for. */
  readonly replicas: number | undefined;
  readonly log: Log;
}

const LOOK_MS = 1_000;
const SILENCE_MAX_MS = 5_000;

/** Looks at the stream every second, so that it is known whether it takes views when none come. */
export class StreamWatch {
  readonly #options: WatchOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  #looking = false;
  /** When it was last known to take views. */
  #signMs = performance.now();
  #fault: string | undefined;
  seen: StreamSeen;
  warnings: readonly string[];

  constructor(options: WatchOptions, info: StreamInfo) {
    this.#options = options;
    this.seen = seenOf(info);
    this.warnings = configWarnings(info.config, options.replicas);
    for (const warning of this.warnings) options.log.warn(warning);
    this.#setFault(groupFault(this.seen));
    options.cluster.onChange(() => {
      this.#signMs = performance.now();
      void this.#look();
    });
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Why the stream takes no views now. */
  get unavailable(): string | undefined {
    return this.#options.cluster.server === undefined ? NOT_CONNECTED : this.#fault;
  }

  /** It has acknowledged a view. */
  sign(): void {
    this.#signMs = performance.now();
    if (this.#fault !== undefined) this.#setFault(undefined);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { cluster, manager, stream, replicas } = this.#options;
    // One that hangs must not gather questions.
    if (this.#looking || cluster.server === undefined) return;
    this.#looking = true;
    const sinceMs = performance.now();
    try {
      const info = await manager.streams.info(stream);
      this.seen = seenOf(info);
      this.warnings = configWarnings(info.config, replicas);
      this.#judge(groupFault(this.seen) ?? configFault(info.config), sinceMs);
    } catch (error) {
      if (isNotFound(error, cluster)) this.#judge('the stream is gone', sinceMs);
      else if (performance.now() - this.#signMs > SILENCE_MAX_MS) this.#setFault(NO_ANSWER);
    } finally {
      this.#looking = false;
    }
  }

  #judge(fault: string | undefined, sinceMs: number): void {
    if (fault === undefined) this.sign();
    // What a view was told meanwhile is newer.
    else if (this.#signMs < sinceMs) this.#setFault(fault);
  }

  #setFault(fault: string | undefined): void {
    if (fault === this.#fault) return;
    const { log, stream } = this.#options;
    if (fault === undefined) log.info(`Stream ${stream} takes views again`);
    else log.error(`Refusing views: ${fault} (${stream})`);
    this.#fault = fault;
  }
}

const NOT_CONNECTED = 'there is no connection to the cluster';
const NO_ANSWER = 'the cluster does not answer';
