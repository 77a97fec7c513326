/**
 * Returns the parsed address; `undefined` if it isn't one. Not by `URL.canParse`: once Node 20 or
 * 22 has optimised it, it refuses names with letters such as å.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
