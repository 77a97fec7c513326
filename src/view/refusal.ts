/** Every reason not to take a view: its HTTP status and its title. */
export const REFUSALS = {
  'malformed-json': { status: 400, title: 'The body is not JSON' },
  'project-not-activated': { status: 403, title: 'The project is not activated' },
  'origin-not-allowed': { status: 403, title: "The page's origin is not allowed for this project" },
  'not-found': { status: 404, title: 'There is nothing at this path' },
  'method-not-allowed': { status: 405, title: 'This method is not allowed here' },
  'request-timeout': { status: 408, title: 'The body did not arrive in time' },
  'view-too-large': { status: 413, title: 'The view is too large' },
  'unsupported-media-type': { status: 415, title: 'The body must be sent as application/json' },
  'invalid-view': { status: 422, title: 'The view is not valid' },
  'rate-limited': { status: 429, title: "The project's limit of views is reached" },
  overloaded: { status: 503, title: 'Too many views are under way' },
  'storage-unavailable': { status: 503, title: 'The view could not be stored' },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** One fault of a view. `field` is a dotted path (`mv.vt`, `mp.p[3]`), empty for the view itself. */
export interface Issue {
  readonly field: string;
  readonly message: string;
  readonly expected: string;
  readonly received: string;
}

/** Why a view was not taken: a value, for what a client can cause. */
export interface Refusal {
  readonly code: RefusalCode;
  /** What happened to what, and what to do; for the page's developer. */
  readonly detail: string;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number;
  /** The project that the view names, where that is an id. */
  readonly project?: string;
}

export const isRefusal = (value: object): value is Refusal => 'code' in value && 'detail' in value;

/**
 * A refusal as problem details (RFC 9457): `type`, `title`, `status`, `code`, `detail`, and
 * `issues` where there are any.
 */
export function problemDetails({ code, detail, issues }: Refusal): object {
  const { status, title } = REFUSALS[code];
  return {
    type: `urn:viewlog:problem:${code}`,
    title,
    status,
    code,
    detail,
    ...(issues && { issues }),
  };
}
