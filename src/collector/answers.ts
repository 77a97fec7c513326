import { problemDetails, type Refusal, REFUSALS } from '../view/refusal.ts';
import type { ViewRequest } from '../http/request.ts';

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

/**
 * Those of a 201. Spelt out for each: where V8 copies an object and adds to it, Node pays 10 % of
 * all speed.
 */
const createdHeaders = (origin: string) => ({
  'Content-Type': 'application/json',
  'Content-Length': CREATED_BYTES,
  'Access-Control-Allow-Origin': origin,
  // navigator.sendBeacon always sends in credentials mode; there are no cookies to protect.
  'Access-Control-Allow-Credentials': 'true',
  'Access-Control-Expose-Headers': 'Retry-After',
  Vary: 'Origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
});

const createdBody = (id: string): string => `{"id":"${id}"}`;
const CREATED_BYTES = String(createdBody('00000000-0000-7000-8000-000000000000').length);
const { 'Access-Control-Allow-Origin': _, ...CREATED_HEADERS } = createdHeaders('');
const { 'Content-Type': _type, 'Content-Length': _length, ...COMMON_HEADERS } = CREATED_HEADERS;

/** A view is stored under this id. Made for every view, so with as little as can be. */
export function created(id: string, origin: string | undefined): Answer {
  const headers = origin === undefined ? CREATED_HEADERS : createdHeaders(origin);
  return { status: 201, headers, body: createdBody(id) };
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
    ...(typeof body === 'string' && { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...COMMON_HEADERS,
    ...(origin !== undefined && { 'Access-Control-Allow-Origin': origin }),
    ...extra,
  };
  return { status, headers, body };
}
