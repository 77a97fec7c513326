import { formatCount, plural } from '../base/format.ts';

interface RefusalRow {
  readonly status: number;
  readonly title: string;
  /** Header fields that the answer has besides those of every refusal. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True: the view goes to the refused file, because the cause of the refusal can be fixed. */
  readonly isStored?: true;
}

/** Every reason to refuse a view. */
const ROWS = {
  'malformed-json': { status: 400, title: "The body isn't JSON" },
  'project-not-activated': { status: 403, title: "The project isn't activated", isStored: true },
  'origin-not-allowed': { status: 403, title: "The origin isn't allowed", isStored: true },
  'not-found': { status: 404, title: 'There is nothing at this path' },
  'method-not-allowed': {
    status: 405,
    title: "This method isn't allowed here",
    headers: { Allow: 'POST, OPTIONS' },
  },
  'request-timeout': { status: 408, title: "The body didn't arrive whole" },
  'view-too-large': { status: 413, title: 'The view is too large' },
  'unsupported-media-type': {
    status: 415,
    title: 'The body must be sent as application/json',
    headers: { 'Accept-Post': 'application/json' },
  },
  'invalid-view': { status: 422, title: "The view isn't valid", isStored: true },
  'rate-limited': { status: 429, title: 'The project is over its limit of views per minute' },
  overloaded: { status: 503, title: 'Too many requests are in flight' },
  // A 503 never claims that the view wasn't stored: viewlog can't know that.
  'storage-unavailable': { status: 503, title: 'The view may not have been stored' },
} as const satisfies Record<string, RefusalRow>;

export type RefusalCode = keyof typeof ROWS;

/** The status and title that all refusals of a code share. */
export const REFUSALS: Readonly<Record<RefusalCode, RefusalRow>> = ROWS;

/** A fault of a view. `field` is a dotted path (`mv.vt`, `mp.p[3]`), empty for the view itself. */
export interface Issue {
  readonly field: string;
  readonly message: string;
  readonly expected: string;
  readonly received: string;
}

/** The reason for refusing a view: a value, because clients cause refusals. */
export interface Refusal {
  readonly code: RefusalCode;
  /** The fault and its fix, for the page's developer. */
  readonly detail: string;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number;
  /**
   * The size, if known, of a body or line that is too large, or of the part of a body that arrived.
   */
  readonly bytes?: number;
  /** The project's limit of views per minute, if the limit is the reason. */
  readonly limit?: number;
  /** The project that the view names, if `p` has the form of an id. */
  readonly project?: string;
}

export const isRefusal = (value: object): value is Refusal => 'code' in value && 'detail' in value;

export const refusal = (code: RefusalCode, detail: string, more?: Partial<Refusal>): Refusal => ({
  code,
  detail,
  ...more,
});

/**
 * Returns the refusal of a body, or of the line it would become, that exceeds the limit.
 * @param bytes the size; `undefined` if the body wasn't read to its end.
 * @param largest a sentence about the largest field, and a space.
 */
export const tooLarge = (
  bytes: number | undefined,
  bytesMax: number,
  what = 'body is',
  largest = '',
): Refusal => {
  const size =
    bytes === undefined
      ? `body is larger than the limit of ${formatCount(bytesMax)} bytes`
      : `${what} ${plural(bytes, 'byte')}; the limit is ${formatCount(bytesMax)}`;
  return refusal(
    'view-too-large',
    `The ${size}. ${largest}Send a smaller view or ask the operator to raise --max-view.`,
    bytes === undefined ? {} : { bytes },
  );
};
