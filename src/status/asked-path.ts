/** What a host and its port consist of; whether it is one, the URL that it makes tells. */
const HOST = /^[\w.:[\]-]+$/;

/**
 * The path that a request asks for; `undefined` where its target or its Host is no part of a URL.
 * Without a Host (HTTP/1.0), or with an odd one, runtimes differ: Bun's request has a bare path for
 * its URL, Deno's a URL that cannot be read.
 */
export function askedPath({ url, headers }: Request): string | undefined {
  const host = headers.get('host') ?? '';
  if (host !== '' && !(HOST.test(host) && URL.canParse(`http://${host}`))) return undefined;
  const whole = url.startsWith('/') ? `http://localhost${url}` : url;
  return URL.canParse(whole) ? new URL(whole).pathname : undefined;
}
