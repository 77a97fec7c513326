import { LIMITS } from '../base/limits.ts';
import { printable } from '../base/text.ts';

interface Row {
  readonly status: number;
  readonly title: string;
  /** Header fields of its answer beyond those of every refusal. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the view goes to the file of refused views, because its cause can be fixed. */
  readonly isKept?: true;
}

/** Every reason to refuse a view. */
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
  'rate-limited': { status: 429, title: 'The project is over its limit of views per minute' },
  overloaded: { status: 503, title: 'Too many views are in progress' },
  'storage-unavailable': { status: 503, title: 'The view may not be stored' },
} as const satisfies Record<string, Row>;

export type RefusalCode = keyof typeof REFUSALS;

/** Returns what all refusals of a code have in common. */
export const rowOf = (code: RefusalCode): Row => REFUSALS[code];

/** One fault of a view. `field` is a dotted path (`mv.vt`, `mp.p[3]`), empty for the view itself. */
export interface Issue {
  readonly field: string;
  readonly message: string;
  readonly expected: string;
  readonly received: string;
}

/** Why a view was refused: a value, because clients cause it. */
export interface Refusal {
  readonly code: RefusalCode;
  /** What is wrong and what to do, for the page's developer. */
  readonly detail: string;
  readonly issues?: readonly Issue[];
  readonly retryAfterSeconds?: number;
  /** The size of the body or line that is too large. */
  readonly bytes?: number;
  /** The project that the view names, if that is an id. */
  readonly project?: string;
}

export const isRefusal = (value: object): value is Refusal => 'code' in value && 'detail' in value;

/**
 * Returns a refusal as problem details (RFC 9457): `type`, `title`, `status`, `code`, `detail`, and
 * `issues` if there are any.
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

/** @param found what the request has instead of plain JSON in UTF-8, as a sentence. */
export const unsupported = (found: string): Refusal => ({
  code: 'unsupported-media-type',
  detail:
    `${found} Send the view with Content-Type: application/json; with navigator.sendBeacon, ` +
    'as a Blob of that type.',
});

/** Returns the refusal of a body, or of the line it would become, that exceeds the limit. */
export const tooLarge = (size: string, bytesMax: number, what = 'The body'): Refusal => ({
  code: 'view-too-large',
  detail: `${what} is ${size}; at most ${bytesMax} bytes are accepted.`,
});

/** Returns the refusal of a body of so many bytes; `undefined` if they are not too many. */
export const sizeFault = (bytes: number, bytesMax: number): Refusal | undefined =>
  bytes > bytesMax ? { ...tooLarge(`${bytes} bytes`, bytesMax), bytes } : undefined;

export const tooManyPieces = (piecesMax: number): Refusal => ({
  code: 'view-too-large',
  detail: `The body arrived in more than ${piecesMax} pieces; send it in one piece.`,
});

export const INCOMPLETE: Refusal = {
  code: 'request-timeout',
  detail: `The body was not complete after ${LIMITS.bodyTimeoutMs / 1000} seconds.`,
};

export const OVERLOADED: Refusal = {
  code: 'overloaded',
  detail: 'Too many views are in progress; send this one again later.',
  retryAfterSeconds: 1,
};

/** @param detail where the text stops being JSON, as a sentence. */
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
    `Project ${id} accepts views only from the origins that its operator listed; ` +
    (origin === undefined
      ? 'the request has no Origin header.'
      : `"${printable(origin)}" is not one of them.`),
});

export const rateLimited = (id: string, waitSeconds: number): Refusal => ({
  code: 'rate-limited',
  project: id,
  detail: `Project ${id} is over its limit of views per minute; send this view again in ${waitSeconds} s.`,
  retryAfterSeconds: waitSeconds,
});

export const lineTooLarge = (id: string, lineBytes: number, bytesMax: number): Refusal => ({
  ...tooLarge(`${lineBytes} bytes`, bytesMax, 'The line it would become'),
  bytes: lineBytes,
  project: id,
});

/** @param project the id that the view names, if the view was read. */
export const unavailable = (reason: string, project?: string): Refusal => ({
  code: 'storage-unavailable',
  detail: `The view may not be stored: ${reason}. Try again later; that may store it twice.`,
  retryAfterSeconds: LIMITS.retryAfterSeconds,
  ...(project !== undefined && { project }),
});

export const UNEXPECTED = unavailable('viewlog had an unexpected error, which is in its log');
