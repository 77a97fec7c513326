import { clip } from '../base/text.ts';
import type { Issue, Refusal, RefusalCode } from '../view/refusal.ts';

const TEXT_LENGTH_MAX = 1000;
const ORIGIN_LENGTH_MAX = 200;

/** What is shown of one refused request. */
export interface RefusedSample {
  readonly atMs: number;
  readonly code: RefusalCode;
  readonly project?: string;
  readonly origin?: string;
  readonly detail: string;
  readonly issues: readonly Issue[];
  /** The body, clipped, where it was read. */
  readonly text?: string;
}

/** A sample, and what it takes of the memory, in bytes; rather too many. */
export interface MeasuredSample {
  readonly sample: RefusedSample;
  readonly bytes: number;
}

/** Of the objects that a sample consists of. */
const OBJECTS_BYTES = 512;

export function sampleOf(
  { code, detail, issues = [], project }: Refusal,
  origin: string | undefined,
  text: string | undefined,
  atMs: number,
): MeasuredSample {
  // Written and read again, for engines make a part of a text a window on the whole of it: a few
  // clipped words would keep each body in memory.
  const json = JSON.stringify({
    atMs,
    code,
    project,
    origin: origin && clip(origin, ORIGIN_LENGTH_MAX),
    detail: clip(detail, TEXT_LENGTH_MAX),
    issues,
    text: text && clip(text, TEXT_LENGTH_MAX),
  });
  return { sample: JSON.parse(json) as RefusedSample, bytes: 2 * json.length + OBJECTS_BYTES };
}
