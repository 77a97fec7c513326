import type { RefusalCode } from '../view/refusal.ts';
import type { MeasuredSample, RefusedSample } from './refused-samples.ts';
import type { SampleBudget, SampleHolder } from './sample-budget.ts';

const ORIGINS_MAX = 8;
/** Of an origin's entry in its map. */
const ENTRY_BYTES = 64;

/** Refusals for one reason: how many, from where, and the latest of them. */
export interface RefusalGroup {
  readonly code: RefusalCode;
  readonly count: number;
  readonly lastMs: number;
  /** `undefined` where there was no memory left for it. */
  readonly latest?: RefusedSample | undefined;
  /** Of the first few origins that were seen. */
  readonly origins: readonly { readonly origin: string; readonly count: number }[];
}

/** Refusals by their code, so that their number is bounded whatever strangers send. */
export class RefusalGroups {
  readonly #budget: SampleBudget;
  readonly #byCode = new Map<RefusalCode, Group>();

  /** @param budget shared by all: where it is full, samples and origins go, counts stay. */
  constructor(budget: SampleBudget) {
    this.#budget = budget;
  }

  add(measured: MeasuredSample): void {
    const { code } = measured.sample;
    let group = this.#byCode.get(code);
    if (group === undefined) {
      group = new Group();
      this.#byCode.set(code, group);
    }
    this.#budget.hold(group, group.add(measured));
  }

  /** The most frequent first. */
  list(): RefusalGroup[] {
    return Array.from(this.#byCode, ([code, { count, lastMs, latest, origins }]) => ({
      code,
      count,
      lastMs,
      latest,
      origins: Array.from(origins ?? [], ([origin, count]) => ({ origin, count })),
    })).toSorted((a, b) => b.count - a.count);
  }
}

class Group implements SampleHolder {
  count = 0;
  lastMs = 0;
  latest: RefusedSample | undefined;
  origins: Map<string, number> | undefined;
  heldBytes = 0;
  #originsBytes = 0;

  /** @returns what it keeps now, in bytes. */
  add({ sample, bytes }: MeasuredSample): number {
    this.count += 1;
    this.lastMs = sample.atMs;
    this.latest = sample;
    this.origins ??= new Map();
    const origin = sample.origin ?? '';
    const seen = this.origins.get(origin);
    if (seen === undefined && this.origins.size < ORIGINS_MAX) {
      this.#originsBytes += 2 * origin.length + ENTRY_BYTES;
    }
    if (seen !== undefined || this.origins.size < ORIGINS_MAX) {
      this.origins.set(origin, (seen ?? 0) + 1);
    }
    return bytes + this.#originsBytes;
  }

  forget(): void {
    this.latest = undefined;
    this.origins = undefined;
    this.#originsBytes = 0;
  }
}
