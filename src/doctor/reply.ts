import type { Reply, RequestOptions } from '../base/fetch-once.ts';
import { printable } from '../base/text.ts';

/** The system's codes for a refused connection, and for an address that doesn't exist. */
const NOBODY = new Set(
  'ECONNREFUSED EADDRNOTAVAIL ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH'.split(' '),
);

/** Returns whether nothing listens at the address. */
export const isNobodyThere = (reply: Reply): boolean =>
  'code' in reply && NOBODY.has(reply.code ?? '');

/**
 * Returns the request that a browser sends before a page of that origin may post JSON. viewlog
 * doesn't count this request.
 */
export const preflightFrom = (origin: string): RequestOptions => ({
  method: 'OPTIONS',
  headers: {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'content-type',
  },
});

/** Returns whether viewlog itself answered a preflight. */
export const isFromViewlog = (reply: Reply): boolean =>
  'status' in reply &&
  reply.status === 204 &&
  reply.headers.get('access-control-max-age') === '86400' &&
  reply.headers.get('access-control-expose-headers') === 'Retry-After';

/** Returns the fields of the JSON object in the answer; none if the body isn't a JSON object. */
export function replyFields(reply: Reply): Readonly<Record<string, unknown>> {
  try {
    return 'failure' in reply ? {} : { ...(JSON.parse(reply.body) as object) };
  } catch {
    return {};
  }
}

/** Returns the code and detail of a refusal by viewlog; `undefined` for any other answer. */
export function refusalIn(reply: Reply): { code: string; detail: string } | undefined {
  const { type, code, detail } = replyFields(reply);
  if (type !== `urn:viewlog:problem:${String(code)}`) return undefined;
  return { code: String(code), detail: printable(String(detail)).replace(/\.$/, '') };
}

/** `status 502 from nginx/1.22.1`, `no answer in 5 s` */
export function described(reply: Reply): string {
  if ('failure' in reply) return reply.failure;
  const { status, headers } = reply;
  const server = headers.get('server');
  const location = headers.get('location');
  const from = server === null ? '' : ` from ${printable(server, 64)}`;
  return `status ${status}${from}${location === null ? '' : `, a redirect to ${printable(location)}`}`;
}
