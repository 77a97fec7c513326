// Origins as browsers send them: scheme, host and port, nothing else. Both sides of a comparison
// go through the runtime's URL parser: letter case, default ports, international names.

const SHAPE = /^https?:\/\/[^\s/?#@\\]+$/i;
const WILDCARD = /^(https?:\/\/)\*\.(?=[^.:])/i;
const EXAMPLE = '"https://www.example.com"';

type Rule = { exact: string } | { prefix: string; suffix: string };

/** What is wrong with an origin of the projects file, as "must …"; `undefined` where nothing is. */
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
  return `must be a scheme, a host and, where it is not the usual one, a port, as in ${EXAMPLE}`;
}

/**
 * A test for `Origin` headers against a project's list, whose origins have no fault. What browsers
 * send is in canonical form already, and is found without being parsed.
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
      if (origin.startsWith(prefix) && origin.endsWith(suffix)) {
        if (isLabels(origin, prefix.length, origin.length - suffix.length)) return true;
      }
    }
    return false;
  };
  return (origin) => {
    if (matches(origin)) return true;
    const canonical = canonicalOrigin(origin);
    return canonical !== undefined && canonical !== origin && matches(canonical);
  };
}

/** Equal for two origins of the projects file that allow the same. */
export function originKey(text: string): string {
  const rule = parseRule(text);
  if (rule === undefined) return text;
  return 'exact' in rule ? rule.exact : `${rule.prefix}*${rule.suffix}`;
}

/** The form in which browsers send an origin; `undefined` where `text` is none. */
function canonicalOrigin(text: string): string | undefined {
  if (!SHAPE.test(text)) return undefined;
  try {
    return new URL(text).origin;
  } catch {
    return undefined;
  }
}

function parseRule(text: string): Rule | undefined {
  // A label stands in for the wildcard, so that the rest is checked as the host name it is.
  const origin = canonicalOrigin(text.replace(WILDCARD, '$1x.'));
  if (origin === undefined || origin.includes('*')) return undefined;
  if (!WILDCARD.test(text)) return { exact: origin };
  const host = origin.indexOf('://') + 3;
  return { prefix: origin.slice(0, host), suffix: origin.slice(host + 1) };
}

/** Whether `text` from `start` to `end` is one or more whole labels of a canonical host name. */
function isLabels(text: string, start: number, end: number): boolean {
  let inLabel = false;
  for (let i = start; i < end; i++) {
    const c = text.charCodeAt(i);
    const isDot = c === 0x2e;
    const isLabel =
      (c >= 0x61 && c <= 0x7a) || (c >= 0x30 && c <= 0x39) || c === 0x2d || c === 0x5f;
    if (!isLabel && !(isDot && inLabel)) return false;
    inLabel = isLabel;
  }
  return inLabel;
}
