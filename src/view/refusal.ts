import { LIMITS } from '../base/limits.ts';
import { printable } from '../base/text.ts';

interface Row {
  readonly status: number;
  readonly title: string;
  /** Header fields that its answer has beside those of every refusal. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A view that its operator can still make good is kept in the file of refused views. */
  readonly isKept?: true;
}

/** Every reason not to take a view. */
export const REFUSALS = {
  'malformed-json': { status: 400, title: 'The body is not JSON' },
  'project-not-activated': { status: 403, title: 'The project is not activated', isKept: true },
  'origin-not-allowed': {
    status: 403,
    title: "The page's origin is not allowed for this project",
    isKept: true,
  },
  'not-found': { status: 404, title: 'There is nothing at this path' },
  'method-not-allowed': {
    status: 405,
    title: 'This method is not allowed here',
    headers: { Allow: 'POST, OPTIONS' },
  },
  'request-timeout': { status: 408, title: 'The body did not arrive in time' },
  'view-too-large': { status: 413, title: 'The view is too large' },
  'unsupported-media-type': {
    status: 415,
    title: 'The body must be sent as application/json',
    headers: { 'Accept-Post': 'application/json' },
  },
  'invalid-view': { status: 422, title: 'The view is not valid', isKept: true },
  'rate-limited': { status: 429, title: "The project's limit of views is reached" },
  overloaded: { status: 503, title: 'Too many views are under way' },
  'storage-unavailable': { status: 503, title: 'The view could not be stored' },
} as const satisfies Record<string, Row>;

export type RefusalCode = keyof typeof REFUSALS;

/** What holds for every refusal of this code. */
export const rowOf = (code: RefusalCode): Row => REFUSALS[code];

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
  /** The size of the body or line that is too large. */
  readonly bytes?: number;
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

export const notFound = (path: string): Refusal => ({
  code: 'not-found',
  detail: `There is nothing at ${printable(path)}; views are sent to /view.`,
});

export const methodNotAllowed = (method: string): Refusal => ({
  code: 'method-not-allowed',
  detail: `${printable(method, 32)} is not allowed on /view; views are sent with POST.`,
});

/** @param found what the request has in place of plain JSON in UTF-8, as a sentence. */
export const unsupported = (found: string): Refusal => ({
  code: 'unsupported-media-type',
  detail:
    `${found} Send the view with Content-Type: application/json; with navigator.sendBeacon, ` +
    'as a Blob of that type.',
});

/** The refusal of a body, or of the line it would become, that is over the limit. */
export const tooLarge = (size: string, bytesMax: number, what = 'The body'): Refusal => ({
  code: 'view-too-large',
  detail: `${what} is ${size}; at most ${bytesMax} bytes are taken.`,
});

/** The refusal of a body of so many bytes, where they are too many. */
export const sizeFault = (bytes: number, bytesMax: number): Refusal | undefined =>
  bytes > bytesMax ? { ...tooLarge(`${bytes} bytes`, bytesMax), bytes } : undefined;

export const tooManyPieces = (piecesMax: number): Refusal => ({
  code: 'view-too-large',
  detail: `The body came in more than ${piecesMax} pieces; send it in one.`,
});

export const INCOMPLETE: Refusal = {
  code: 'request-timeout',
  detail: `The body was not complete after ${LIMITS.bodyTimeoutMs / 1000} seconds.`,
};

export const OVERLOADED: Refusal = {
  code: 'overloaded',
  detail: 'Too many views are under way; send this one again later.',
  retryAfterSeconds: 1,
};

/** @param detail where the text stops being JSON. */
export const malformed = (detail: string): Refusal => ({ code: 'malformed-json', detail });

export const notActivated = (id: string, operator: string | undefined): Refusal => ({
  code: 'project-not-activated',
  project: id,
  detail:
    `Project ${id} is not activated. ` +
    (operator === undefined
      ? 'Ask the operator of this collector to activate it.'
      : `Ask ${operator} to activate it.`),
});

export const originNotAllowed = (id: string, origin: string | undefined): Refusal => ({
  code: 'origin-not-allowed',
  project: id,
  detail:
    `Project ${id} takes views only from the origins its operator listed, and ` +
    (origin === undefined
      ? 'the request names none: it has no Origin header.'
      : `"${printable(origin)}" is none of them.`),
});

export const rateLimited = (id: string, waitSeconds: number): Refusal => ({
  code: 'rate-limited',
  project: id,
  detail: `Project ${id} has used up its views for now; send this one again in ${waitSeconds} s.`,
  retryAfterSeconds: waitSeconds,
});

export const lineTooLarge = (id: string, lineBytes: number, bytesMax: number): Refusal => ({
  ...tooLarge(`${lineBytes} bytes`, bytesMax, 'The line it would become'),
  bytes: lineBytes,
  project: id,
});

/** @param project of the view, where it was read that far. */
export const unavailable = (reason: string, project?: string): Refusal => ({
  code: 'storage-unavailable',
  detail: `The view is not stored: ${reason}. Send it again later.`,
  retryAfterSeconds: LIMITS.retryAfterSeconds,
  ...(project !== undefined && { project }),
});

export const UNEXPECTED = unavailable('an unexpected error, which the log tells');
