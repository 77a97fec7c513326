import type { StreamInfo } from '@nats-io/jetstream';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import { configFault, configWarnings, groupFault, seenOf, type StreamSeen } from './inspect.ts';
import type { Failure } from './publisher.ts';

interface HealthOptions {
  readonly stream: string;
  /** The operator's setting. */
  readonly replicas: number | undefined;
  readonly isConnected: () => boolean;
  /**
   * Asks for the stream's state. Resolves to `undefined` if there is no such stream; rejects if no
   * server answers.
   */
  readonly inspect: () => Promise<StreamInfo | undefined>;
  /** Resolves once the stream has answered a message; rejects if it does not. */
  readonly probe: () => Promise<unknown>;
  /** Returns monotonic time in milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/** Without an acknowledgement for this long, views are refused at once. */
const SILENCE_MAX_MS = 5_000;
/** A stream that has refused a view counts as refusing for this long. */
const REFUSING_MS = 5_000;

const SILENT = 'the cluster acknowledges nothing';

/** Knows whether the stream accepts views, so that none is published only to time out. */
export class StreamHealth {
  readonly #options: HealthOptions;
  #isLooking = false;
  /** When the stream last acknowledged a view, and when it last answered anything. */
  #acknowledgedMs = -Infinity;
  #answeredMs: number;
  /** Why the cluster stores nothing, although there may be a connection. */
  #fault: string | undefined;
  #refusing: { readonly why: string; readonly untilMs: number } | undefined;
  seen: StreamSeen;
  warnings: readonly string[];

  constructor(options: HealthOptions, info: StreamInfo) {
    this.#options = options;
    this.#answeredMs = options.now();
    this.seen = seenOf(info);
    this.warnings = configWarnings(info.config, options.replicas);
    for (const warning of this.warnings) options.log.warn(warning);
    this.#set(groupFault(this.seen));
  }

  /** Why no view is published now. */
  get unavailable(): string | undefined {
    return this.#options.isConnected() ? this.#fault : 'there is no connection to the cluster';
  }

  /** Why views are refused now: the same, or because the stream has just refused one. */
  get trouble(): string | undefined {
    const isRefusing = this.#options.now() < (this.#refusing?.untilMs ?? 0);
    return this.unavailable ?? (isRefusing ? 'the stream does not accept it' : undefined);
  }

  /** The stream has acknowledged a view. */
  acknowledged(): void {
    const { now, log, stream } = this.#options;
    this.#acknowledgedMs = this.#answeredMs = now();
    this.#set(undefined);
    if (this.#refusing !== undefined) log.info(`Stream ${stream} accepts views again`);
    this.#refusing = undefined;
  }

  /** A view was published, and not acknowledged. */
  failed({ kind, detail = '' }: Failure): void {
    const { now, log, stream } = this.#options;
    if (kind === 'refused') {
      const why = printable(detail);
      if (why !== this.#refusing?.why) log.error(`Stream ${stream} refuses views: ${why}`);
      this.#refusing = { why, untilMs: now() + REFUSING_MS };
    } else if (kind !== 'disconnected' && now() - this.#acknowledgedMs >= SILENCE_MAX_MS) {
      this.#set(this.#fault ?? SILENT);
    }
  }

  /** Asks for the stream's state. To be called every second, and when the connection changes. */
  async look(): Promise<void> {
    const { isConnected, now } = this.#options;
    // The next server gets its own time to answer.
    if (!isConnected()) this.#answeredMs = now();
    // Questions to a server that hangs must not pile up.
    if (this.#isLooking || !isConnected()) return;
    this.#isLooking = true;
    const sinceMs = now();
    const fault = await this.#inspect();
    // An acknowledgement that came meanwhile is newer.
    if (this.#acknowledgedMs < sinceMs) this.#set(fault);
    this.#isLooking = false;
  }

  /** Returns the stream's fault. A fault is over once the stream answers a message again. */
  async #inspect(): Promise<string | undefined> {
    const { inspect, probe, replicas, now } = this.#options;
    let fault: string | undefined;
    try {
      const info = await inspect();
      this.#answeredMs = now();
      if (info === undefined) return 'the stream is gone';
      this.seen = seenOf(info);
      this.warnings = configWarnings(info.config, replicas);
      fault = groupFault(this.seen) ?? configFault(info.config);
    } catch {
      const isLate = now() - this.#answeredMs > SILENCE_MAX_MS;
      return isLate ? 'the cluster does not answer' : this.#fault;
    }
    if (fault !== undefined || this.#fault === undefined) return fault;
    return probe().then(
      () => undefined,
      () => SILENT,
    );
  }

  /** Logs when views begin to be refused, and when they are accepted again. */
  #set(fault: string | undefined): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    const { log, stream } = this.#options;
    if (fault === undefined) log.info(`Stream ${stream} accepts views again`);
    else log.error(`Refusing views: ${fault} (${stream})`);
  }
}
