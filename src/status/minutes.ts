import { MINUTE_MS } from '../base/time.ts';

/** How far back the status page looks. */
export const MINUTES = 180;

/** A clock that steps back further is followed; what was counted until then is forgotten. */
const STEP_BACK_MINUTES = 5;

/** Counts by the minute, over the last three hours. Adding one costs a few nanoseconds. */
export class Minutes {
  readonly #counts = new Uint32Array(MINUTES);
  #minute = 0;

  add(nowMs: number): void {
    const minute = Math.floor(nowMs / MINUTE_MS);
    if (minute !== this.#minute) this.#turnTo(minute);
    this.#counts[this.#minute % MINUTES]! += 1;
  }

  /** One count a minute, oldest first; the last is of the minute that still runs. */
  list(nowMs: number): number[] {
    this.#turnTo(Math.floor(nowMs / MINUTE_MS));
    const first = this.#minute + 1;
    return Array.from({ length: MINUTES }, (_, i) => this.#counts[(first + i) % MINUTES]!);
  }

  #turnTo(minute: number): void {
    const steps = minute - this.#minute;
    if (steps <= 0 && steps >= -STEP_BACK_MINUTES) return;
    if (steps < 0 || steps >= MINUTES) this.#counts.fill(0);
    else for (let i = 1; i <= steps; i++) this.#counts[(this.#minute + i) % MINUTES] = 0;
    this.#minute = minute;
  }
}
