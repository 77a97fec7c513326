import type { Refusal } from '../view/refusal.ts';

/**
 * Counts the requests that the collector answers, except preflights. Called for every view, so it
 * must cost next to nothing and never throw.
 */
export interface RequestCounts {
  /** @param fields the view's fields as JSON text in UTF-8. */
  accepted(project: string, fields: Uint8Array): void;
  /**
   * @param origin the request's `Origin`, if it has one.
   * @param text the request's body, if it was read.
   */
  refused(refusal: Refusal, origin: string | undefined, text?: string): void;
}
