import type { Refusal } from '../view/refusal.ts';

/**
 * What the collector tells of each request that it answers; preflights are not views. Called for
 * every view, so it must cost next to nothing and never throw.
 */
export interface RequestCounts {
  /** @param fields the view's fields as JSON text in UTF-8. */
  accepted(project: string, fields: Uint8Array): void;
  /**
   * @param origin the request's `Origin`, where it has one.
   * @param text the request's body, where it was read.
   */
  refused(refusal: Refusal, origin: string | undefined, text?: string): void;
}
