import type { Answer, Exchange } from '../http/exchange.ts';
import { type Refusal, REFUSALS } from '../view/refusal.ts';

// The collector's answers, with the headers that let a page of any origin read them.

/** The headers of every answer except a 201. */
const COMMON_HEADERS = {
  // navigator.sendBeacon always sends in credentials mode; there are no cookies to protect.
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Expose-Headers': 'Retry-After',
  Vary: 'Origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

const CREATED_HEADERS = { 'Content-Type': 'application/json', Vary: 'Origin' };

// Written out, because copying an object and adding to it is slow on Node.
const createdFor = (origin: string) => ({
  'Content-Type': 'application/json',
  Vary: 'Origin',
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Allow-Credentials': 'true',
});

/** The headers of the last 201 with an Origin; the next one usually has the same. */
let last = { origin: '', headers: createdFor('') };

/**
 * Returns the answer to a view that was stored under this id. Each header slows every view, so the
 * answer has only the headers that a page needs to read it. No cache stores the answer to a POST.
 */
export function created(id: string, origin: string | undefined): Answer {
  const body = `{"id":"${id}"}`;
  if (origin === undefined) return { status: 201, headers: CREATED_HEADERS, body };
  if (last.origin !== origin) last = { origin, headers: createdFor(origin) };
  return { status: 201, headers: last.headers, body };
}

/** Answers with problem details (RFC 9457), with `issues` if there are any. */
export function problem(refusal: Refusal, origin: string | undefined): Answer {
  const { code, detail, issues, retryAfterSeconds } = refusal;
  const { status, title, headers } = REFUSALS[code];
  const type = `urn:viewlog:problem:${code}`;
  return answer(status, JSON.stringify({ type, title, status, code, detail, issues }), origin, {
    'Content-Type': 'application/problem+json',
    ...headers,
    ...(retryAfterSeconds && { 'Retry-After': String(retryAfterSeconds) }),
  });
}

/**
 * Grants every preflight, on any path, so that a page's developer sees the 404, 405 or 415 of the
 * request itself instead of "CORS error".
 */
export function preflight(request: Exchange): Answer {
  const wanted = request.header('access-control-request-headers');
  return answer(204, null, request.header('origin'), {
    'Access-Control-Allow-Methods': request.header('access-control-request-method') ?? 'POST',
    ...(wanted !== undefined && { 'Access-Control-Allow-Headers': wanted }),
    'Access-Control-Max-Age': '86400',
  });
}

/** Answers `OPTIONS /view` that isn't a preflight. */
export const allowed = (request: Exchange): Answer =>
  answer(204, null, request.header('origin'), { Allow: 'POST, OPTIONS' });

function answer(
  status: number,
  body: string | null,
  origin: string | undefined,
  extra: Record<string, string>,
): Answer {
  const headers = {
    ...COMMON_HEADERS,
    ...(origin !== undefined && { 'Access-Control-Allow-Origin': origin }),
    ...extra,
  };
  return { status, headers, body };
}
