import { createHash, timingSafeEqual } from 'node:crypto';

/** The host listened on, and its token. */
export interface GuardOptions {
  readonly host: string;
  readonly token: string | undefined;
}

/** A refusal with its reason; `open`: anyone may ask; `token`: the request has the token. */
export type Access = { readonly refused: 403 | 401; readonly reason: string } | 'open' | 'trusted';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** Returns whether an address to listen on is this machine's own. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/**
 * On loopback, a page of any site could ask through the operator's own browser, under a name that
 * the site points at this machine (DNS rebinding). So the server answers only to the machine's own
 * names. Elsewhere the token protects: a browser sends it only to viewlog. A request without a Host
 * doesn't come from a browser.
 */
export function createGuard({
  host,
  token,
}: GuardOptions): (request: Request, path: string) => Access {
  const isLocal = isLoopback(host);
  const names = new Set(['localhost', '127.0.0.1', '[::1]', host.toLowerCase()]);
  const digest = token === undefined ? undefined : sha256(token);
  return ({ headers }, path) => {
    const named = headers.get('host') ?? '';
    const isPlainCheck = named === '' && HEALTH_PATHS.has(path);
    const name = named.replace(/:\d{1,5}$/, '').toLowerCase();
    if (isLocal && !isPlainCheck && !names.has(name)) {
      return refused(403, STATUS_REFUSALS.host);
    }
    if (isCrossSite(headers, named)) return refused(403, STATUS_REFUSALS.site);
    if (digest === undefined) return isPlainCheck ? 'open' : 'trusted';
    const given = tokenOf(headers.get('authorization') ?? '');
    if (given !== undefined && timingSafeEqual(sha256(given), digest)) return 'trusted';
    if (HEALTH_PATHS.has(path)) return 'open';
    return refused(401, STATUS_REFUSALS.token);
  };
}

/** Load balancers ask for them without a token or even a Host; they then learn no reasons. */
const HEALTH_PATHS = new Set(['/healthz', '/readyz']);

/** The reasons of refusals. The doctor recognises the status server by them. */
export const STATUS_REFUSALS = {
  host: 'Use the host name localhost, 127.0.0.1 or [::1].',
  site: 'Another site sent you here: enter the address in a new tab instead.',
  token: 'Send the token, as a Bearer token or as the password, with any user name.',
};

const refused = (status: 403 | 401, reason: string): Access => ({ refused: status, reason });

function isCrossSite(headers: Headers, named: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null && site !== 'same-origin' && site !== 'none') return true;
  const origin = headers.get('origin');
  return origin !== null && origin.replace(/^https?:\/\//, '') !== named;
}

function tokenOf(authorization: string): string | undefined {
  const [, scheme = '', credentials = ''] = /^(\w+) +(\S+)$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() === 'bearer') return credentials;
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const pair = Buffer.from(credentials, 'base64').toString();
  const colon = pair.indexOf(':');
  return colon < 0 ? undefined : pair.slice(colon + 1);
}

/** Hashes have equal length, so the time of a comparison reveals nothing. */
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
