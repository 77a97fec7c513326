import { parseUrl } from '../base/url.ts';

// Origins as browsers send them: scheme, host and port. Both sides of a comparison go through the
// runtime's URL parser, because of letter case, default ports and international names.

/** A URL parser accepts more characters in a host than a host name can have: `https://a,b`. */
const SHAPE = /^https?:\/\/[^\s/?#@\\!"$%&'()+,;=`{|}~<>^]+$/i;
const WILDCARD = /^(https?:\/\/)\*\.(?=[^.:])/i;
/** One or more whole labels of a host name. */
const LABELS = /^[\w-]+(?:\.[\w-]+)*$/;
/** Longer than the origin of any host name, with a port. */
const ORIGIN_LENGTH_MAX = 300;

/** The rule for an origin. */
export const ORIGIN_SHAPE = 'must be http://host or https://host, with or without a port';

/** The rule for an origin in the file. */
export const ORIGIN_EXPECTED =
  `${ORIGIN_SHAPE}, such as ` +
  '"https://www.example.com" or "https://*.example.org" (to accept every origin, leave "origins" out)';

/** Returns the origin that an address with a path or without a scheme was probably meant to be. */
export function originMeant(text: string): string | undefined {
  if (/^\.[^.]/.test(text)) return originMeant(`*${text}`);
  if (/^localhost(:|$)/i.test(text)) return originMeant(`http://${text}`);
  const hasScheme = /^https?:/i.test(text);
  const origin = parseUrl(hasScheme ? text : `https://${text}`)?.origin ?? '';
  return (hasScheme || origin.includes('.')) && isOrigin(origin) ? origin : undefined;
}

/** Returns the origin that an `Origin` header was probably meant to be, if it isn't one. */
export const correctedOrigin = (header: string): string | undefined =>
  isOrigin(header) ? undefined : originMeant(header);

/** Returns whether a project can list this origin. */
export const isOrigin = (text: string): boolean => ruleOf(text) !== undefined;

/**
 * Returns a test for `Origin` headers against a project's list of origins, which must be valid.
 * Browsers send the canonical form, which is found without being parsed.
 */
export function originTest(list: readonly string[]): (origin: string) => boolean {
  const keys = list.map(originKey);
  const exact = new Set(keys.filter((key) => !key.includes('*')));
  const parents = new Set(
    keys.filter((key) => key.includes('*')).map((key) => key.replace('*', '')),
  );
  const allows = (origin: string): boolean => exact.has(origin) || isBelow(origin, parents);
  return (origin) => allows(origin) || allows(canonicalOrigin(origin) ?? '');
}

/** @param parents such as `https://.example.org`, for the hosts below it. */
function isBelow(origin: string, parents: ReadonlySet<string>): boolean {
  if (parents.size === 0 || origin.length > ORIGIN_LENGTH_MAX) return false;
  const start = origin.indexOf('://') + 3;
  const scheme = origin.slice(0, start);
  for (let dot = origin.indexOf('.'); dot >= 0; dot = origin.indexOf('.', dot + 1)) {
    if (parents.has(scheme + origin.slice(dot))) return LABELS.test(origin.slice(start, dot));
  }
  return false;
}

/** Returns the same text for two listed origins that allow the same pages. */
export const originKey = (text: string): string => ruleOf(text) ?? text;

export function originLike(origin: string, listed: readonly string[] = []): string | undefined {
  const host = parseUrl(origin)?.hostname;
  return listed.find((one) => parseUrl(one)?.hostname === host);
}

/** Returns an origin that a project's pages may have. A wildcard allows any host below it. */
export const exampleOrigin = (listed: string): string => originKey(listed).replace('*', 'www');

/**
 * Returns an origin in the form in which browsers send it; `undefined` if `text` isn't an origin.
 */
function canonicalOrigin(text: string): string | undefined {
  return SHAPE.test(text) ? parseUrl(text)?.origin : undefined;
}

/** Returns an origin of the projects file in its canonical form; `undefined` if it has a fault. */
function ruleOf(text: string): string | undefined {
  // A label replaces the wildcard, so that the rest is checked as a host name.
  const origin = canonicalOrigin(text.replace(WILDCARD, '$1x.'));
  if (origin === undefined || /\*|\/\.|\.\./.test(origin)) return undefined;
  return WILDCARD.test(text) ? origin.replace('://x.', '://*.') : origin;
}
