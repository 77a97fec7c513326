import { fetchFailure } from '../base/exit.ts';
import { KiB } from '../base/size.ts';
import { printable } from '../base/text.ts';

const TIMEOUT_MS = 5_000;
const BODY_BYTES_MAX = 64 * KiB;

/** What came of a request: an answer, whoever gave it, or why there was none. */
export type Reply =
  | { readonly status: number; readonly headers: Headers; readonly body: string }
  | { readonly failure: string };

/**
 * Asks once, follows no redirect, and waits 5 s at most. Never rejects.
 * @param bytesMax of the answer; what is more is left out.
 */
export async function ask(
  url: string,
  init: RequestInit,
  bytesMax = BODY_BYTES_MAX,
): Promise<Reply> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    const { status, headers } = response;
    return { status, headers, body: await startOf(response, bytesMax) };
  } catch (error) {
    if (signal.aborted) return { failure: `no answer in ${TIMEOUT_MS / 1000} s` };
    return { failure: fetchFailure(error) };
  }
}

async function startOf({ body }: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (body === null) return '';
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) break;
  }
  return Buffer.concat(chunks).toString();
}

export const isRefused = (failure: string): boolean => /refused|unable to connect/i.test(failure);

/** What an address allows, which viewlog tells of its own without counting who asks. */
export const OPTIONS: RequestInit = { method: 'OPTIONS' };

export const isViewlogs = (reply: Reply): boolean =>
  'status' in reply &&
  reply.status === 204 &&
  reply.headers.get('allow') === 'POST, OPTIONS' &&
  reply.headers.get('access-control-expose-headers') === 'Retry-After';

/** As a browser asks before a page of that origin may post JSON, on whatever path. */
export const preflightFrom = (origin: string): RequestInit => ({
  method: 'OPTIONS',
  headers: {
    Origin: origin,
    'Access-Control-Request-Method': 'POST',
    'Access-Control-Request-Headers': 'content-type',
  },
});

export const isPreflightOfViewlog = (reply: Reply): boolean =>
  'status' in reply &&
  reply.status === 204 &&
  reply.headers.get('access-control-max-age') === '86400' &&
  reply.headers.get('access-control-expose-headers') === 'Retry-After';

/** As a page sends it. */
export const posted = (origin: string, body: string): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Origin: origin },
  body,
});

/** The code and detail of a refusal that viewlog has given; undefined where somebody else answered. */
export function refusalIn(reply: Reply): { code: string; detail: string } | undefined {
  if ('failure' in reply) return undefined;
  try {
    const { type, code, detail } = JSON.parse(reply.body) as Record<string, unknown>;
    if (type !== `urn:viewlog:problem:${String(code)}`) return undefined;
    return { code: String(code), detail: printable(String(detail)).replace(/\.$/, '') };
  } catch {
    return undefined;
  }
}

/** `502 from nginx/1.22.1 ("502 Bad Gateway")`, `no answer in 5 s` */
export function told(reply: Reply): string {
  if ('failure' in reply) return reply.failure;
  const server = reply.headers.get('server');
  const from = server === null ? '' : ` from ${printable(server, 64)}`;
  const [, title] = /<title>([^<]*)/i.exec(reply.body) ?? [];
  const text = printable((title ?? reply.body).trim(), 64);
  return `${reply.status}${from}${text === '' ? '' : ` ("${text}")`}`;
}
