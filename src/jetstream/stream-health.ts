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

/** Knows whether the stream accepts views, so that none is published only to time out. */
export class StreamHealth {
  readonly #options: HealthOptions;
  #isLooking = false;
  /** When the stream last acknowledged a view, and when it last answered anything. */
  #acknowledgedMs = -Infinity;
  #answeredMs: number;
  #fault: string | undefined;
  /** True: views get no answer, although the stream's own state may look sound. */
  #isSilent = false;
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
    if (!this.#options.isConnected()) return 'there is no connection to the cluster';
    return this.#why;
  }

  /** Why views are refused now: the same, or because the stream has just refused one. */
  get trouble(): string | undefined {
    const isRefusing = this.#options.now() < (this.#refusing?.untilMs ?? 0);
    return this.unavailable ?? (isRefusing ? 'the stream does not accept it' : undefined);
  }

  /** Why the cluster stores nothing, although there may be a connection. */
  get #why(): string | undefined {
    return this.#fault ?? (this.#isSilent ? 'the cluster acknowledges nothing' : undefined);
  }

  /** The stream has acknowledged a view. */
  acknowledged(): void {
    const { now, log, stream } = this.#options;
    this.#acknowledgedMs = this.#answeredMs = now();
    this.#set(undefined, false);
    if (this.#refusing !== undefined) log.info(`Stream ${stream} accepts views again`);
    this.#refusing = undefined;
  }

  /** A view was published, and not acknowledged. */
  failed({ kind, detail = '' }: Failure): void {
    const { now, log, stream } = this.#options;
    if (kind === 'refused') {
      this.#set(this.#fault, false);
      const why = printable(detail);
      if (why !== this.#refusing?.why) log.error(`Stream ${stream} refuses views: ${why}`);
      this.#refusing = { why, untilMs: now() + REFUSING_MS };
    } else if (kind !== 'disconnected' && now() - this.#acknowledgedMs >= SILENCE_MAX_MS) {
      this.#set(this.#fault, true);
    }
  }

  /** Called when the connection is lost or made again; another server may do better. */
  reconnected(): void {
    this.#answeredMs = this.#options.now();
    this.#set(this.#fault, false);
  }

  /**
   * Asks for the stream's state and, if the stream acknowledges nothing, whether it answers at all.
   * To be called every second.
   */
  async look(): Promise<void> {
    // Questions to a server that hangs must not pile up.
    if (this.#isLooking || !this.#options.isConnected()) return;
    this.#isLooking = true;
    await Promise.all([this.#inspect(), this.#isSilent && this.#probe()]);
    this.#isLooking = false;
  }

  async #inspect(): Promise<void> {
    const { inspect, replicas, now } = this.#options;
    const sinceMs = now();
    let fault: string | undefined = 'the stream is gone';
    try {
      const info = await inspect();
      this.#answeredMs = now();
      if (info !== undefined) {
        this.seen = seenOf(info);
        this.warnings = configWarnings(info.config, replicas);
        fault = groupFault(this.seen) ?? configFault(info.config);
      }
    } catch {
      if (now() - this.#answeredMs <= SILENCE_MAX_MS) return;
      fault = 'the cluster does not answer';
    }
    // An acknowledgement that came meanwhile is newer.
    if (this.#acknowledgedMs < sinceMs) this.#set(fault);
  }

  async #probe(): Promise<void> {
    try {
      await this.#options.probe();
      this.#set(this.#fault, false);
    } catch {
      // The next look tries again.
    }
  }

  /** Logs when views begin to be refused, and when they are accepted again. */
  #set(fault: string | undefined, isSilent = this.#isSilent): void {
    const before = this.#why;
    this.#fault = fault;
    this.#isSilent = isSilent;
    const why = this.#why;
    if (why === before) return;
    const { log, stream } = this.#options;
    if (why === undefined) log.info(`Stream ${stream} accepts views again`);
    else log.error(`Refusing views: ${why} (${stream})`);
  }
}
