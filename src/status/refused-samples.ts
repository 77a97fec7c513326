import type { Issue, Refusal, RefusalCode } from '../view/refusal.ts';
import { clip } from '../base/text.ts';

const TEXT_LENGTH_MAX = 1000;
const ORIGIN_LENGTH_MAX = 200;
const ORIGINS_MAX = 8;

/** What is shown of one refused request. */
export interface RefusedSample {
  readonly atMs: number;
  readonly code: RefusalCode;
  readonly project: string | undefined;
  readonly origin: string | undefined;
  readonly detail: string;
  readonly issues: readonly Issue[];
  /** The body, clipped, where it was read. */
  readonly text: string | undefined;
}

export function sampleOf(
  { code, detail, issues = [], project }: Refusal,
  origin: string | undefined,
  text: string | undefined,
  atMs: number,
): RefusedSample {
  return {
    atMs,
    code,
    project,
    origin: origin && clip(origin, ORIGIN_LENGTH_MAX),
    detail,
    issues,
    text: text && clip(text, TEXT_LENGTH_MAX),
  };
}

/** Refusals for one reason: how many, from where, and the latest of them. */
export interface RefusalGroup {
  readonly code: RefusalCode;
  readonly count: number;
  readonly latest: RefusedSample;
  /** Of the first few origins that were seen. */
  readonly origins: readonly { readonly origin: string; readonly count: number }[];
}

/** Refusals by their code, so that their number is bounded whatever strangers send. */
export class RefusalGroups {
  readonly #byCode = new Map<RefusalCode, Group>();

  add(sample: RefusedSample): void {
    let group = this.#byCode.get(sample.code);
    if (group === undefined) {
      group = { count: 0, latest: sample, origins: new Map() };
      this.#byCode.set(sample.code, group);
    }
    group.count += 1;
    group.latest = sample;
    const { origins } = group;
    const origin = sample.origin ?? '';
    const seen = origins.get(origin);
    if (seen !== undefined || origins.size < ORIGINS_MAX) origins.set(origin, (seen ?? 0) + 1);
  }

  /** The most frequent first. */
  list(): RefusalGroup[] {
    return Array.from(this.#byCode, ([code, { count, latest, origins }]) => ({
      code,
      count,
      latest,
      origins: Array.from(origins, ([origin, count]) => ({ origin, count })),
    })).toSorted((a, b) => b.count - a.count);
  }
}

interface Group {
  count: number;
  latest: RefusedSample;
  readonly origins: Map<string, number>;
}
