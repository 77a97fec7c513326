import { HOUR_MS, MINUTE_MS } from '../base/time.ts';
import type { RefusalCode } from '../view/refusal.ts';
import { Periods } from './periods.ts';
import type { MeasuredSample, RefusedSample } from './refused-samples.ts';
import type { SampleBudget, SampleHolder } from './sample-budget.ts';

const ORIGINS_MAX = 8;
/** Of an origin's entry in its map. */
const ENTRY_BYTES = 64;

/** Refusals for one reason: how many, from where, and the latest of them. */
export interface RefusalGroup {
  readonly code: RefusalCode;
  readonly count: number;
  /** Of those, of the last sixty minutes. */
  readonly lastHour: number;
  readonly lastMs: number;
  /** `undefined` where there was no memory left for it. */
  readonly latest?: RefusedSample | undefined;
  /** The first few origins that were seen. */
  readonly origins: readonly RefusedOrigin[];
}

/** Refusals for one reason and from one origin. */
export interface RefusedOrigin {
  /** Empty: without one. */
  readonly origin: string;
  readonly count: number;
  readonly latest: RefusedSample;
}

/** Refusals by their code, so that their number is bounded whatever strangers send. */
export class RefusalGroups {
  readonly #budget: SampleBudget;
  readonly #byCode = new Map<RefusalCode, Group>();

  /** @param budget shared by all: where it is full, samples and origins go, counts stay. */
  constructor(budget: SampleBudget) {
    this.#budget = budget;
  }

  add(measured: MeasuredSample, nowMs: number): void {
    const { code } = measured.sample;
    let group = this.#byCode.get(code);
    if (group === undefined) {
      group = new Group();
      this.#byCode.set(code, group);
    }
    this.#budget.hold(group, group.add(measured, nowMs));
  }

  /** The most frequent first. */
  list(nowMs: number): RefusalGroup[] {
    return Array.from(this.#byCode, ([code, { count, minutes, lastMs, latest, origins }]) => ({
      code,
      count,
      lastHour: minutes.between(nowMs - HOUR_MS, nowMs + 1, nowMs),
      lastMs,
      latest,
      origins: Array.from(origins ?? [], ([origin, { count, measured }]) => ({
        origin,
        count,
        latest: measured.sample,
      })),
    })).toSorted((a, b) => b.count - a.count);
  }
}

interface OfOrigin {
  count: number;
  measured: MeasuredSample;
}

class Group implements SampleHolder {
  count = 0;
  readonly minutes = new Periods(MINUTE_MS, 60);
  lastMs = 0;
  latest: RefusedSample | undefined;
  origins: Map<string, OfOrigin> | undefined;
  heldBytes = 0;
  #originsBytes = 0;

  /** @returns what it keeps now, in bytes. */
  add(measured: MeasuredSample, nowMs: number): number {
    const { sample, bytes } = measured;
    this.count += 1;
    this.minutes.addEarlier(sample.atMs, nowMs);
    // What came before the start is read newest first.
    if (this.latest === undefined || sample.atMs >= this.lastMs) this.latest = sample;
    this.lastMs = Math.max(this.lastMs, sample.atMs);
    this.#addTo((this.origins ??= new Map()), measured);
    return bytes + this.#originsBytes;
  }

  #addTo(origins: Map<string, OfOrigin>, measured: MeasuredSample): void {
    const { origin = '', atMs } = measured.sample;
    const seen = origins.get(origin);
    if (seen === undefined) {
      if (origins.size >= ORIGINS_MAX) return;
      origins.set(origin, { count: 1, measured });
      this.#originsBytes += 2 * origin.length + ENTRY_BYTES + measured.bytes;
      return;
    }
    seen.count += 1;
    if (atMs < seen.measured.sample.atMs) return;
    this.#originsBytes += measured.bytes - seen.measured.bytes;
    seen.measured = measured;
  }

  forget(): void {
    this.latest = undefined;
    this.origins = undefined;
    this.#originsBytes = 0;
  }
}
