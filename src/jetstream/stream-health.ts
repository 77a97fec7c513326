import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import type { Cluster } from './connect.ts';
import {
  configFault,
  configWarnings,
  groupFault,
  seenOf,
  type StreamSeen,
  VIEWS,
} from './inspect.ts';
import { isNotFound } from './stream.ts';

interface HealthOptions {
  readonly cluster: Cluster;
  readonly manager: JetStreamManager;
  readonly stream: string;
  /** What the operator asked for. */
  readonly replicas: number | undefined;
  readonly log: Log;
}

const LOOK_MS = 1_000;
const PROBE_TIMEOUT_MS = 1_000;
const SILENCE_MAX_MS = 5_000;
/** How long a stream that has refused a view counts as one that does. */
const REFUSING_MS = 5_000;

const NOT_CONNECTED = 'there is no connection to the cluster';
const NO_ANSWER = 'the cluster does not answer';
const ACKNOWLEDGES_NOTHING = 'the cluster acknowledges nothing';
const REFUSES = 'the stream does not take it';

/**
 * Knows whether the stream takes views, so that none is published to wait in vain.
 *
 * Every second it asks the stream how it is. A stream that looks sound may still acknowledge
 * nothing; then a message that it must refuse is sent every second as a probe. Once that is
 * answered, one view is tried at a time, until one is acknowledged.
 */
export class StreamHealth {
  readonly #options: HealthOptions;
  readonly #timer: ReturnType<typeof setInterval>;
  #isLooking = false;
  /** When the stream was last known to take views. */
  #aliveMs = performance.now();
  /** When the stream last answered a view. */
  #answeredMs = -Infinity;
  #fault: string | undefined;
  #silence: 'none' | 'silent' | 'answers' | 'trying' = 'none';
  #refusing: { readonly why: string; readonly untilMs: number } | undefined;
  #told: string | undefined;
  seen: StreamSeen;
  warnings: readonly string[];

  constructor(options: HealthOptions, info: StreamInfo) {
    this.#options = options;
    this.seen = seenOf(info);
    this.warnings = configWarnings(info.config, options.replicas);
    for (const warning of this.warnings) options.log.warn(warning);
    this.#fault = groupFault(this.seen);
    this.#tell();
    options.cluster.onChange(() => {
      // Another server may do better.
      this.#aliveMs = performance.now();
      this.#silence = 'none';
      this.#tell();
      void this.#look();
    });
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Why no view is published now. */
  get unavailable(): string | undefined {
    if (this.#options.cluster.server === undefined) return NOT_CONNECTED;
    const isSilent = this.#silence === 'silent' || this.#silence === 'trying';
    return this.#fault ?? (isSilent ? ACKNOWLEDGES_NOTHING : undefined);
  }

  /** Why views are refused now: the same, or because the stream has just refused one. */
  get trouble(): string | undefined {
    const isRefusing = performance.now() < (this.#refusing?.untilMs ?? 0);
    return this.unavailable ?? (isRefusing ? REFUSES : undefined);
  }

  /** A view is published. */
  published(): void {
    if (this.#silence === 'answers') this.#silence = 'trying';
  }

  /** The stream has acknowledged a view. */
  acknowledged(): void {
    this.#answered();
    this.#alive();
    if (this.#refusing === undefined) return;
    this.#refusing = undefined;
    this.#options.log.info(`Stream ${this.#options.stream} takes views again`);
  }

  /** The stream has answered that it does not take a view. */
  refused(detail: string | undefined): void {
    this.#answered();
    const { log, stream } = this.#options;
    const why = printable(detail ?? '');
    if (why !== this.#refusing?.why) log.error(`Stream ${stream} refuses views: ${why}`);
    this.#refusing = { why, untilMs: performance.now() + REFUSING_MS };
  }

  /** A view has got no answer from the stream. */
  unanswered(): void {
    const isSilent = performance.now() - this.#answeredMs >= SILENCE_MAX_MS;
    if (this.#silence === 'none' && !isSilent) return;
    this.#silence = 'silent';
    this.#tell();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #answered(): void {
    this.#answeredMs = performance.now();
    this.#silence = 'none';
    this.#tell();
  }

  #alive(): void {
    this.#aliveMs = performance.now();
    this.#fault = undefined;
    this.#tell();
  }

  async #look(): Promise<void> {
    // Questions to a server that hangs must not pile up.
    if (this.#isLooking || this.#options.cluster.server === undefined) return;
    this.#isLooking = true;
    await Promise.all([this.#inspect(), this.#silence === 'silent' && this.#probe()]);
    this.#isLooking = false;
  }

  async #inspect(): Promise<void> {
    const { cluster, manager, stream, replicas } = this.#options;
    const sinceMs = performance.now();
    let fault: string | undefined;
    try {
      const info = await manager.streams.info(stream);
      this.seen = seenOf(info);
      this.warnings = configWarnings(info.config, replicas);
      fault = groupFault(this.seen) ?? configFault(info.config);
    } catch (error) {
      if (isNotFound(error, cluster)) fault = 'the stream is gone';
      else if (performance.now() - this.#aliveMs > SILENCE_MAX_MS) fault = NO_ANSWER;
      else return;
    }
    if (fault === undefined) return this.#alive();
    // The answer to a view is newer than that.
    if (this.#aliveMs >= sinceMs) return;
    this.#fault = fault;
    this.#tell();
  }

  async #probe(): Promise<void> {
    const { cluster, stream } = this.#options;
    const headers = cluster.client.headers();
    // The stream has another name, so it answers that it does not take the message.
    headers.set('Nats-Expected-Stream', `${stream}_`);
    try {
      const options = { headers, timeout: PROBE_TIMEOUT_MS };
      await cluster.connection.request(`${VIEWS}.probe`, '', options);
      if (this.#silence === 'silent') this.#silence = 'answers';
    } catch {
      // Nobody answers.
    }
  }

  /** Logs when views begin to be refused, and when they are taken again. */
  #tell(): void {
    const fault = this.#fault ?? (this.#silence === 'none' ? undefined : ACKNOWLEDGES_NOTHING);
    if (fault === this.#told) return;
    const { log, stream } = this.#options;
    if (fault === undefined) log.info(`Stream ${stream} takes views again`);
    else log.error(`Refusing views: ${fault} (${stream})`);
    this.#told = fault;
  }
}
