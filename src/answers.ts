import { problemDetails, type Refusal, REFUSALS } from './refusal.ts';
import type { ViewRequest } from './request/request.ts';

// Every answer that the public app gives, with the headers that let a page of any origin read it.

/** An answer, for whichever server is to give it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | ReadableStream | null;
}

/** The answer as the Fetch API has it. */
export const responseOf = ({ status, headers, body }: Answer): Response =>
  new Response(body, { status, headers });

const COMMON_HEADERS = {
  // navigator.sendBeacon always sends in credentials mode; there are no cookies to protect.
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Expose-Headers': 'Retry-After',
  Vary: 'Origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

const CREATED_HEADERS = { 'Content-Type': 'application/json', ...COMMON_HEADERS };

/** A view is stored under this id. Made for every view, so with as little as can be. */
export function created(id: string, origin: string | undefined): Answer {
  const headers =
    origin === undefined
      ? CREATED_HEADERS
      : { ...CREATED_HEADERS, 'Access-Control-Allow-Origin': origin };
  return { status: 201, headers, body: `{"id":"${id}"}` };
}

/** @param linger makes the body of an answer to a request that is still being sent. */
export function problem(
  refusal: Refusal,
  origin: string | undefined,
  linger?: (answer: string) => string | ReadableStream,
): Answer {
  const { status } = REFUSALS[refusal.code];
  const text = JSON.stringify(problemDetails(refusal));
  return answer(status, linger === undefined ? text : linger(text), origin, {
    'Content-Type': 'application/problem+json',
    ...(status === 405 && { Allow: 'POST, OPTIONS' }),
    ...(status === 415 && { 'Accept-Post': 'application/json' }),
    ...(refusal.retryAfterSeconds && { 'Retry-After': String(refusal.retryAfterSeconds) }),
    ...(linger && { Connection: 'close' }),
  });
}

/**
 * Every preflight is granted, on any path, so that the request itself gets through to its 404, 405
 * or 415 and the page's developer sees that instead of "CORS error".
 */
export function preflight(request: ViewRequest): Answer {
  const wanted = request.header('access-control-request-headers');
  return answer(204, null, request.header('origin'), {
    'Access-Control-Allow-Methods': request.header('access-control-request-method') ?? 'POST',
    ...(wanted !== undefined && { 'Access-Control-Allow-Headers': wanted }),
    'Access-Control-Max-Age': '86400',
  });
}

/** What `OPTIONS /view` answers to who asks for no preflight. */
export const allowed = (request: ViewRequest): Answer =>
  answer(204, null, request.header('origin'), { Allow: 'POST, OPTIONS' });

function answer(
  status: number,
  body: string | ReadableStream | null,
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
