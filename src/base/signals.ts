import { constants } from 'node:os';

const SIGNALS = ['SIGHUP', 'SIGUSR2', 'SIGTERM', 'SIGINT'] as const;
type Signal = (typeof SIGNALS)[number];

/**
 * The signals of a service. After `install`, none of them ends the process, except a second SIGTERM
 * or SIGINT, which ends it immediately. If nothing can act on a signal yet, it is remembered and
 * acted on as soon as possible.
 */
class Signals {
  readonly #acts = new Map<Signal, () => void>();
  /** Signals that nothing has acted on yet. */
  readonly #remembered = new Set<Signal>();
  readonly #listeners = SIGNALS.map((signal) => [signal, () => this.#heard(signal)] as const);
  #stops = 0;

  install(): void {
    // Not `once`: on Deno, a listener that is added while another one runs gets the same signal.
    for (const [signal, listener] of this.#listeners) process.on(signal, listener);
  }

  /**
   * For a command that isn't a service: gives every signal, remembered or not, its usual effect.
   */
  release(): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
    for (const signal of this.#remembered) endBy(signal);
  }

  /** Calls `act` for each of these signals; immediately for a remembered signal. */
  on(signal: Signal, act: () => void): void {
    this.#acts.set(signal, act);
    if (this.#remembered.delete(signal)) act();
  }

  /** Calls `stop` at the first SIGTERM or SIGINT. */
  onStop(stop: () => void): void {
    this.on('SIGTERM', stop);
    this.on('SIGINT', stop);
  }

  #heard(signal: Signal): void {
    if (signal === 'SIGTERM' || signal === 'SIGINT') this.#stops += 1;
    if (this.#stops > 1) endBy(signal);
    const act = this.#acts.get(signal);
    if (act === undefined) this.#remembered.add(signal);
    else act();
  }
}

/** Exits with the code that a shell reports for a process that was ended by this signal. */
const endBy = (signal: Signal): never => process.exit(128 + constants.signals[signal]);

export const signals = new Signals();
