import type { StreamInfo } from '@nats-io/jetstream';
import type { Log } from '../base/log.ts';
import { printable } from '../base/text.ts';
import {
  configFault,
  configWarnings,
  groupFault,
  hasSpaceFor,
  seenOf,
  type StreamNeeds,
  type StreamSeen,
  VIEWS,
  withStreamFix,
} from './inspect.ts';
import { findStream, probe } from './stream.ts';
import type { Cluster } from './connect.ts';
import type { Failure } from './publisher.ts';
import {
  type HealthEvent,
  type HealthState,
  initialHealth,
  needsProbe,
  next,
  publicReason,
  refusalReason,
} from './stream-health.ts';

interface WatchOptions {
  readonly cluster: Cluster;
  readonly stream: string;
  readonly needs: () => StreamNeeds;
  readonly log: Log;
}

/** Watches a stream, so that no view is published only to time out. */
export class StreamWatch {
  readonly #options: WatchOptions;
  #isChecking = false;
  #health: HealthState;
  #loggedDetail = '';
  seen: StreamSeen;
  warnings: readonly string[] = [];

  constructor(options: WatchOptions, info: StreamInfo) {
    this.#options = options;
    const nowMs = performance.now();
    this.#health = initialHealth(nowMs);
    this.seen = seenOf(info);
    this.#inspected(info, nowMs);
  }

  /** Why views are refused now; for the operator. */
  get trouble(): string | undefined {
    return refusalReason(this.#health);
  }

  /** Why views are refused now, without names of streams or subjects: for clients. */
  get unavailable(): string | undefined {
    return publicReason(this.#health);
  }

  acknowledged(): void {
    this.#receive({ type: 'acknowledged' });
  }

  /** Records that a published view wasn't acknowledged. */
  failed(failure: Failure): void {
    const { kind, scope, detail = '' } = failure;
    if (scope === 'view' && kind === 'refused' && detail !== this.#loggedDetail) {
      this.#loggedDetail = detail;
      this.#options.log.error(
        `Stream ${this.#options.stream} refuses a view: ${printable(detail)}`,
      );
    }
    this.#receive({ type: 'failed', failure }, detail);
  }

  /** Asks for the stream's state. Call it every second and when the connection changes. */
  async check(): Promise<void> {
    const { cluster, stream } = this.#options;
    const isConnected = cluster.server !== undefined;
    if (isConnected !== this.#health.isConnected) {
      this.#receive({ type: isConnected ? 'connected' : 'disconnected' });
    }
    // Questions to a server that hangs must not pile up.
    if (this.#isChecking || !isConnected) return;
    this.#isChecking = true;
    try {
      const askedMs = performance.now();
      this.#inspected(await findStream(cluster, stream), askedMs);
    } catch {
      this.#receive({ type: 'unanswered' });
    }
    const askedMs = performance.now();
    const mustProbe = !this.#hasFault && needsProbe(this.#health);
    const isAnswered = mustProbe && (await probe(cluster, stream, VIEWS).then(...TRUE_OR_FALSE));
    if (isAnswered) this.#receive({ type: 'probed', askedMs });
    this.#isChecking = false;
  }

  /** True: the stream's last known state had a fault. */
  #hasFault = false;

  #inspected(info: StreamInfo | undefined, askedMs: number): void {
    const { needs, log } = this.#options;
    let fault: Inspected['fault'] = { kind: 'down', text: GONE };
    let hasSpace = false;
    if (info !== undefined) {
      this.seen = seenOf(info);
      const before = this.warnings;
      this.warnings = configWarnings(info, needs());
      for (const warning of this.warnings) if (!before.includes(warning)) log.warn(warning);
      const [down, unfit] = [groupFault(this.seen), configFault(info.config)];
      if (down !== undefined) fault = { kind: 'down', text: down };
      else fault = unfit === undefined ? undefined : { kind: 'unfit', text: withStreamFix(unfit) };
      hasSpace = hasSpaceFor(info, needs().viewBytesMax);
    }
    this.#hasFault = fault !== undefined;
    this.#receive({ type: 'inspected', askedMs, fault, hasSpace });
  }

  /** True: the log doesn't say yet whether views are accepted. */
  #isUnsaid = false;

  /**
   * Logs when views begin to be refused and when they are accepted again. `Cluster` logs that the
   * connection is lost.
   * @param detail the server's own reason, if it has refused a view.
   */
  #receive(event: HealthEvent, detail = ''): void {
    const { log, stream } = this.#options;
    const before = this.#health;
    this.#health = next(before, event, performance.now());
    const { fault, isConnected } = this.#health;
    if (refusalReason(this.#health) !== refusalReason(before)) this.#isUnsaid = true;
    if (!this.#isUnsaid || !isConnected) return;
    // A connection alone doesn't show that the stream still exists.
    if (fault === undefined && !ANSWERS.has(event.type)) return;
    this.#isUnsaid = false;
    if (fault === undefined) {
      this.#loggedDetail = '';
      return log.info(`Stream ${stream} accepts views again`);
    }
    const why = detail === '' ? fault.text : `${fault.text} (${printable(detail)})`;
    const fix = fault.kind === 'full' ? `; raise its limits: nats stream edit ${stream}` : '';
    log.error(`Refusing views, because stream ${stream} can't store them: ${why}${fix}`);
  }
}

const ANSWERS: ReadonlySet<HealthEvent['type']> = new Set(['acknowledged', 'inspected', 'probed']);

type Inspected = Extract<HealthEvent, { type: 'inspected' }>;

const GONE =
  'the stream is gone; restore it from a backup, or start viewlog again to create an empty one';
const TRUE_OR_FALSE = [() => true, () => false] as const;
