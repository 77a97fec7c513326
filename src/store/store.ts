import { counter, type Description, type Metric } from '../base/description.ts';

/**
 * What the collector asks of a store, whichever it is. The collector knows no files and no
 * servers; a store knows no HTTP.
 */
export interface ViewStore {
  /**
   * Gives a view its `ts` and `id` and queues its line; both happen before the call returns.
   * @param fields the view's fields as JSON text in UTF-8, one object on one line; not to be changed
   *   from then on.
   * @param project the view's `p`.
   * @returns resolves once the line is as durable as promised, or will not be. Never rejects.
   */
  append(fields: Uint8Array, project: string): Promise<Appended>;
}

/** The id that the stored line carries, or why the line is not promised. */
export type Appended = { readonly id: string } | { readonly unavailable: string };

/** What a refused view leaves behind. */
export interface RefusedView {
  readonly code: string;
  readonly issues?: readonly unknown[];
  /** The request's `Origin`, where it had one. */
  readonly origin?: string;
  /** The view's `p`, where it was a project id (1 to 20 digits). */
  readonly project?: string;
  /** The request's body: the text of one JSON object. */
  readonly text: string;
}

/** What every store tells of itself: plain values; counts since the start. */
export interface StoreState {
  /** Lines stored, and their bytes. */
  readonly lines: number;
  readonly bytes: number;
  readonly lastAcceptedMs: number | undefined;
  /** Why views are refused now. */
  readonly unavailable: string | undefined;
  /** Since when, as far as the store knows. */
  readonly unavailableSinceMs?: number | undefined;
  /** Lines that wait to be stored, and their bytes. */
  readonly queuedLines: number;
  readonly queuedBytes: number;
}

/**
 * How a store is watched: the operator's listener prints what each tells of itself, and knows none
 * of them by name.
 */
export interface WatchedStore {
  state(): StoreState;
  /**
   * @param viewsPerDay at the rate of a day, or of the last hour; `undefined` while not known.
   * @param lineBytes of a view stored before the start, on average.
   */
  describe(viewsPerDay: number | undefined, lineBytes?: number): Description;
}

/** The metrics that every store of views has. */
export const linesMetrics = ({ bytes, lines }: Pick<StoreState, 'bytes' | 'lines'>): Metric[] => [
  counter('viewlog_written_bytes_total', 'Bytes of views stored.', [[bytes]]),
  counter('viewlog_written_lines_total', 'Lines stored; over batches: the batch size.', [[lines]]),
];

/** Keeps refused views for the operator, outside the accept path. */
export interface RefusedStore {
  /** Queues the view; returns at once, whatever the disk does. */
  keep(view: RefusedView): void;
}
