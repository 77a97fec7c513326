// The answers of the operator's listener, with the headers that keep a browser from doing more with
// them than to show them.

export const json = (value: unknown, status = 200): Response =>
  reply(status, 'application/json', JSON.stringify(value));

export const plain = (
  status: number,
  text: string,
  headers: Record<string, string> = {},
): Response => reply(status, 'text/plain; charset=utf-8', `${text}\n`, headers);

/** To a client that the guard has not let in. */
export const refusal = (status: 401 | 403, reason: string): Response =>
  plain(status, reason, {
    ...(status === 401 && { 'WWW-Authenticate': 'Basic realm="viewlog", charset="UTF-8"' }),
  });

/** To a request whose target the server cannot read. */
export const unreadable = (): Response => plain(400, 'This address cannot be read.');

/** Trusted types keep the page from ever making markup of text, also by mistake. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export function reply(
  status: number,
  type: string,
  body: string | ReadableStream | null,
  headers: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: {
      'Content-Type': type,
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      ...headers,
    },
  });
}
