import type { Answer, Exchange } from '../http/exchange.ts';
import { problemDetails, type Refusal, rowOf } from '../view/refusal.ts';

// Every answer that the public app gives, with the headers that let a page of any origin read it.

/** Those of every answer but a 201. */
const COMMON_HEADERS = {
  // navigator.sendBeacon always sends in credentials mode; there are no cookies to protect.
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Expose-Headers': 'Retry-After',
  Vary: 'Origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

const CREATED_HEADERS = { 'Content-Type': 'application/json', Vary: 'Origin' };

/**
 * A view is stored under this id. Made for every view, so it has only the headers without which a
 * page could not read it: nobody caches the answer to a POST, and each costs every view.
 */
export function created(id: string, origin: string | undefined): Answer {
  const body = `{"id":"${id}"}`;
  if (origin === undefined) return { status: 201, headers: CREATED_HEADERS, body };
  // Spelt out: where V8 copies an object and adds to it, Node pays 10 % of all speed.
  const headers = {
    'Content-Type': 'application/json',
    Vary: 'Origin',
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
  };
  return { status: 201, headers, body };
}

export function problem(refusal: Refusal, origin: string | undefined): Answer {
  const { status, headers } = rowOf(refusal.code);
  return answer(status, JSON.stringify(problemDetails(refusal)), origin, {
    'Content-Type': 'application/problem+json',
    ...headers,
    ...(refusal.retryAfterSeconds && { 'Retry-After': String(refusal.retryAfterSeconds) }),
  });
}

/**
 * Every preflight is granted, on any path, so that the request itself gets through to its 404, 405
 * or 415 and the page's developer sees that instead of "CORS error".
 */
export function preflight(request: Exchange): Answer {
  const wanted = request.header('access-control-request-headers');
  return answer(204, null, request.header('origin'), {
    'Access-Control-Allow-Methods': request.header('access-control-request-method') ?? 'POST',
    ...(wanted !== undefined && { 'Access-Control-Allow-Headers': wanted }),
    'Access-Control-Max-Age': '86400',
  });
}

/** What `OPTIONS /view` answers to a request that is no preflight. */
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
