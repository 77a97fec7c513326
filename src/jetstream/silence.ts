import { VIEWS } from './inspect.ts';
import type { Cluster } from './connect.ts';
import type { Log } from '../base/log.ts';

interface SilenceOptions {
  readonly cluster: Cluster;
  readonly stream: string;
  /** How long a message waits for its acknowledgement. */
  readonly timeoutMs: number;
  readonly log: Log;
}

const PROBE_MS = 1_000;

/**
 * Knows when a stream acknowledges nothing, however sound it says that it is: then no view is
 * published to wait in vain. A probe a second, a message that the stream must refuse to take, tells
 * when it answers again. It is believed when it has acknowledged a view: until then one at a time
 * is published, on trial.
 */
export class Silence {
  readonly #options: SilenceOptions;
  #state: 'none' | 'silent' | 'answers' | 'on trial' = 'none';
  #answeredMs = -Infinity;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: SilenceOptions) {
    this.#options = options;
    // What another server does is another matter.
    options.cluster.onChange(() => this.stop());
  }

  /** Why no view is published now. */
  get unavailable(): string | undefined {
    const isOpen = this.#state === 'none' || this.#state === 'answers';
    return isOpen ? undefined : ACKNOWLEDGES_NOTHING;
  }

  /** A view is published. */
  published(): void {
    if (this.#state === 'answers') this.#state = 'on trial';
  }

  /** The stream has acknowledged a view, be it late, or has said why it does not take it. */
  answered(): void {
    this.#answeredMs = performance.now();
    if (this.#state === 'none') return;
    const { log, stream } = this.#options;
    log.info(`Stream ${stream} acknowledges views again`);
    this.stop();
  }

  /** A view has got no answer from the stream. */
  unanswered(): void {
    const { timeoutMs, stream, log } = this.#options;
    const isSilent = performance.now() - this.#answeredMs >= timeoutMs;
    if (this.#state === 'silent' || (this.#state === 'none' && !isSilent)) return;
    if (this.#state === 'none') log.error(`Refusing views: ${ACKNOWLEDGES_NOTHING} (${stream})`);
    this.#state = 'silent';
    this.#timer ??= setInterval(() => void this.#probe(), PROBE_MS);
    this.#timer.unref();
  }

  stop(): void {
    this.#state = 'none';
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #probe(): Promise<void> {
    const { cluster, stream } = this.#options;
    if (this.#state !== 'silent' || cluster.server === undefined) return;
    const headers = cluster.client.headers();
    // Any other name than its own: so it says that it does not take the message.
    headers.set('Nats-Expected-Stream', `${stream}_`);
    try {
      const options = { headers, timeout: PROBE_MS };
      await cluster.connection.request(`${VIEWS}.probe`, '', options);
      if (this.#state === 'silent') this.#state = 'answers';
    } catch {
      // Nobody answers.
    }
  }
}

const ACKNOWLEDGES_NOTHING = 'the cluster acknowledges nothing';
