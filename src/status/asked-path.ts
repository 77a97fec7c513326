/** What a host and its port consist of; `URL.canParse` decides whether it is one. */
const HOST = /^[\w.:[\]-]+$/;

/**
 * Returns the path and query that a request asks for; `undefined` if its target or its Host cannot
 * be part of a URL. Without a Host (HTTP/1.0), or with an odd one, runtimes differ: Bun's request
 * has a bare path for its URL, Deno's a URL that cannot be parsed.
 */
export function askedPath({ url, headers }: Request): string | undefined {
  const host = headers.get('host') ?? '';
  if (host !== '' && !(HOST.test(host) && URL.canParse(`http://${host}`))) return undefined;
  const whole = url.startsWith('/') ? `http://localhost${url}` : url;
  if (!URL.canParse(whole)) return undefined;
  const { pathname, search } = new URL(whole);
  return pathname + search;
}
