// The contract of a store. The collector depends on neither files nor servers, and a store doesn't
// depend on HTTP.

export interface ViewStore {
  /**
   * Gives a view its `ts` and `id` and queues its line; both happen before the call returns.
   * @param fields the view's fields as JSON text in UTF-8, one object on one line. The caller must
   *   not change them afterwards.
   * @param project the view's `p`.
   * @returns resolves once the line is as durable as promised, or storing it has failed. Never
   *   rejects.
   */
  append(fields: Uint8Array, project: string): Promise<Appended>;
}

/** The id of the stored line or why viewlog can't promise that the line is stored. */
export type Appended = { readonly id: string } | { readonly unavailable: string };

/** Why a store that is closing refuses views. */
export const STOPPING = 'viewlog is stopping';

/** Stores refused views for the operator, outside the accept path. */
export interface RefusedStore {
  /**
   * Queues the view and returns immediately, whatever the disk does.
   * @param onDropped is called if the view won't be stored.
   */
  keep(view: RefusedView, onDropped?: (why: Dropped) => void): void;
}

/**
 * The reason why a refused view isn't stored: it isn't an object, `--max-refused` is 0 or was
 * reached, too little disk space is free, too many came together, or the write failed.
 */
export const DROPPED = ['no-object', 'off', 'full', 'little-space', 'too-many', 'failed'] as const;
export type Dropped = (typeof DROPPED)[number];

/** A refused view to store. */
export interface RefusedView {
  readonly code: string;
  readonly issues?: readonly unknown[] | undefined;
  /** The request's `Origin`, if it has one. */
  readonly origin?: string | undefined;
  /** The view's `p`, if it is a project id (1 to 20 digits). */
  readonly project?: string | undefined;
  /** The request's body: the text of one JSON object. */
  readonly text: string;
}
