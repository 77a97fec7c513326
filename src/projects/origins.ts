// Origins as browsers send them: scheme, host and port. Both sides of a comparison go through the
// runtime's URL parser, because of letter case, default ports and international names.

const SHAPE = /^https?:\/\/[^\s/?#@\\]+$/i;
const WILDCARD = /^(https?:\/\/)\*\.(?=[^.:])/i;
/** One or more whole labels of a host name. */
const LABELS = /^[\w-]+(?:\.[\w-]+)*$/;
const EXAMPLE = '"https://www.example.com"';

type Rule = { exact: string } | { prefix: string; suffix: string };

/** Returns what is wrong with an origin of the projects file, as "must …"; `undefined` if it is correct. */
export function originFault(text: string): string | undefined {
  if (parseRule(text) !== undefined) return undefined;
  if (text === 'null') return 'must not be "null", which sandboxed pages of any site send';
  if (text === '*') return 'must be one origin (to accept every origin, leave "origins" out)';
  const scheme = /^https?:\/\//i.exec(text)?.[0];
  if (scheme === undefined) return `must start with https:// or http://, as in ${EXAMPLE}`;
  const [host = ''] = text.slice(scheme.length).split(/[/?#\\]/, 1);
  if (host.includes('@')) return `must not name a user; expected one such as ${EXAMPLE}`;
  if (scheme.length + host.length < text.length && parseRule(scheme + host) !== undefined) {
    return `must end after its host and port, as in "${scheme}${host}"`;
  }
  if (host.includes('*')) {
    return 'may have "*" only as its whole first label, as in "https://*.example.org"';
  }
  return `must be a scheme, a host and, if it is not the usual one, a port, as in ${EXAMPLE}`;
}

/**
 * Returns a test for `Origin` headers against a project's list, whose origins have no fault.
 * Browsers send the canonical form, which is found without being parsed.
 */
export function originTest(list: readonly string[]): (origin: string) => boolean {
  const exact = new Set<string>();
  const wildcards: { prefix: string; suffix: string }[] = [];
  for (const text of list) {
    const rule = parseRule(text);
    if (rule === undefined) continue;
    if ('exact' in rule) exact.add(rule.exact);
    else wildcards.push(rule);
  }
  const matches = (origin: string): boolean => {
    if (exact.has(origin)) return true;
    for (const { prefix, suffix } of wildcards) {
      if (!origin.startsWith(prefix) || !origin.endsWith(suffix)) continue;
      if (LABELS.test(origin.slice(prefix.length, -suffix.length))) return true;
    }
    return false;
  };
  return (origin) => {
    if (matches(origin)) return true;
    const canonical = canonicalOrigin(origin);
    return canonical !== undefined && matches(canonical);
  };
}

/** Returns a text that is equal for two origins of the projects file that allow the same. */
export function originKey(text: string): string {
  const rule = parseRule(text);
  if (rule === undefined) return text;
  return 'exact' in rule ? rule.exact : `${rule.prefix}*${rule.suffix}`;
}

/** Returns an origin in the form in which browsers send it; `undefined` if `text` is none. */
function canonicalOrigin(text: string): string | undefined {
  return SHAPE.test(text) && URL.canParse(text) ? new URL(text).origin : undefined;
}

function parseRule(text: string): Rule | undefined {
  // A label replaces the wildcard, so that the rest is checked as a host name.
  const origin = canonicalOrigin(text.replace(WILDCARD, '$1x.'));
  if (origin === undefined || origin.includes('*')) return undefined;
  if (!WILDCARD.test(text)) return { exact: origin };
  const host = origin.indexOf('://') + 3;
  return { prefix: origin.slice(0, host), suffix: origin.slice(host + 1) };
}
