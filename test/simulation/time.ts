// Simulated time. Time doesn't pass while code runs and jumps to the next timer when no code
// runs, so a simulated hour takes milliseconds. While installed, it replaces the timers and the
// monotonic clock that the storage code uses.

import type { Fatal } from '../../src/base/exit.ts';
import { HOUR_MS } from '../../src/base/time.ts';

interface Timer {
  dueMs: number;
  readonly run: () => void;
  /** The period of an interval. */
  readonly everyMs?: number | undefined;
  /** True: the timer belongs to the simulated process and ends with it. */
  readonly ofProcess: boolean;
  /** True: the timer settles no promise. */
  readonly isSilent: boolean;
  unref(): Timer;
}

const real = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };

/** Lets every promise that can settle do so: microtasks run before the next tick. */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

export class SimulatedTime {
  /** Milliseconds since the simulation began; never goes back. */
  nowMs = 0;
  /** When the process last resumed. */
  resumedMs = 0;
  /** How often more than an hour passed in one step: hourly work was then done only once. */
  hours = 0;
  #processStartMs = 0;
  /** Milliseconds from `nowMs` to the wall clock's time. */
  #wallOffsetMs: number;
  #timers: Timer[] = [];

  constructor(wallMs: number) {
    this.#wallOffsetMs = wallMs;
  }

  /** The wall clock: whole milliseconds since the epoch. */
  readonly wallMs = (): number => Math.floor(this.nowMs + this.#wallOffsetMs);

  setWall(wallMs: number): void {
    this.#wallOffsetMs = wallMs - this.nowMs;
  }

  /**
   * Calls `run` later, whether or not the process lives.
   * @param isSilent `run` settles no promise.
   */
  after(ms: number, run: () => void, isSilent = false): void {
    const dueMs = this.nowMs + ms;
    const timer = { dueMs, run, ofProcess: false, isSilent, unref: () => timer };
    this.#insert(timer);
  }

  /**
   * Begins a new process: its monotonic clock starts at zero, and the old process's timers are
   * gone.
   */
  restartProcess(): void {
    this.#timers = this.#timers.filter((timer) => !timer.ofProcess);
    this.#processStartMs = this.nowMs;
    this.resumedMs = this.nowMs;
  }

  async advance(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    await this.runUntil(() => false, ms);
    this.nowMs = Math.max(this.nowMs, endMs);
  }

  /**
   * Runs timers until the condition holds or the time has passed. Returns whether the condition
   * holds.
   */
  async runUntil(condition: () => boolean, ms: number): Promise<boolean> {
    const endMs = this.nowMs + ms;
    await settled();
    while (!condition()) {
      const timer = this.#timers[0];
      if (timer === undefined || timer.dueMs > endMs) return false;
      this.#timers.shift();
      this.nowMs = Math.max(this.nowMs, timer.dueMs);
      if (timer.everyMs !== undefined) {
        timer.dueMs = this.nowMs + timer.everyMs;
        this.#insert(timer);
      }
      timer.run();
      if (!timer.isSilent) await settled();
    }
    return true;
  }

  /**
   * Waits, up to a limit. Returns `done`, the exit code and message of a Fatal, or `undefined` at
   * the limit.
   */
  async outcomeOf(promise: Promise<unknown>, ms: number): Promise<string | undefined> {
    let outcome: string | undefined;
    promise.then(
      () => (outcome = 'done'),
      (error: Fatal) => (outcome = `${error.exitCode}: ${error.message}`),
    );
    await this.runUntil(() => outcome !== undefined, ms);
    return outcome;
  }

  /** Lets time pass while the process is stopped by a signal, or its machine is paused. */
  async suspend(ms: number): Promise<void> {
    this.nowMs += ms;
    if (ms > 1.01 * HOUR_MS) this.hours += 1;
    this.resumedMs = this.nowMs;
    await this.advance(1);
  }

  install(): void {
    const cancel = (timer?: Timer): void => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 1) => this.#add(Math.max(1, ms), run),
      setInterval: (run: () => void, ms: number) => this.#add(ms, run, ms),
      setImmediate: (run: () => void) => this.#add(0, run),
      clearTimeout: cancel,
      clearInterval: cancel,
      clearImmediate: cancel,
    });
    performance.now = () => this.nowMs - this.#processStartMs;
  }

  uninstall(): void {
    Object.assign(globalThis, real);
    Reflect.deleteProperty(performance, 'now');
  }

  #add(ms: number, run: () => void, everyMs?: number): Timer {
    const dueMs = this.nowMs + ms;
    const timer = { dueMs, run, everyMs, ofProcess: true, isSilent: false, unref: () => timer };
    this.#insert(timer);
    return timer;
  }

  #insert(timer: Timer): void {
    const before = this.#timers.findLastIndex((other) => other.dueMs <= timer.dueMs);
    this.#timers.splice(before + 1, 0, timer);
  }
}
