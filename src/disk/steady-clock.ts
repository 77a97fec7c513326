import { DAY_MS } from '../base/time.ts';

/** A clock that is set by more than this is not trusted with the age of files for a while. */
export const JUMP_MS = 2 * DAY_MS;

interface SteadyClockOptions {
  /** Milliseconds since the epoch, as the system has it: it may be set at any time. */
  readonly now: () => number;
  /** Milliseconds that pass evenly, since whenever. */
  readonly monotonic: () => number;
  /** How long it had run without a jump, before; Infinity where no jump is known. */
  readonly steadyMs: number;
  readonly onJump: (fromMs: number, toMs: number) => void;
}

/** The system's clock, and for how long it has run without a jump. */
export class SteadyClock {
  readonly #options: SteadyClockOptions;
  #wallMs: number;
  #monotonicMs: number;
  #steadyMs: number;

  constructor(options: SteadyClockOptions) {
    const { now, monotonic, steadyMs } = options;
    this.#options = options;
    this.#wallMs = now();
    this.#monotonicMs = monotonic();
    this.#steadyMs = steadyMs;
  }

  /**
   * Milliseconds since the epoch. Whatever names a file by the time asks here: no time that is in a
   * name goes by unnoticed, however soon the clock is set back.
   */
  readonly now = (): number => {
    const { now, monotonic, onJump } = this.#options;
    const wallMs = now();
    // Asked for every view: most come in the same millisecond as another.
    if (wallMs === this.#wallMs) return wallMs;
    const monotonicMs = monotonic();
    const ranMs = monotonicMs - this.#monotonicMs;
    const fromMs = this.#wallMs + ranMs;
    this.#wallMs = wallMs;
    this.#monotonicMs = monotonicMs;
    this.#steadyMs += ranMs;
    if (Math.abs(wallMs - fromMs) > JUMP_MS) {
      this.#steadyMs = 0;
      onJump(fromMs, wallMs);
    }
    return wallMs;
  };

  /** For how long viewlog has run since the last jump, in milliseconds; as of the last `now`. */
  get steadyMs(): number {
    return this.#steadyMs;
  }
}
