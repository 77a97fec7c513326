import { PORT_MAX } from '../base/limits.ts';

/** The servers of a NATS cluster and the login. The login is secret: log only the `servers`. */
export type ClusterAddress = NonNullable<ReturnType<typeof parseClusterAddress>>;

type Login = { readonly user: string; readonly pass: string } | { readonly token: string };

const PORT = 4222;
const SERVER = /^(\[[\da-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i;

/**
 * Reads `nats://host:4222,host2:4222` or `tls://…`, with `user:password@` or `token@` before the
 * first or every host; the scheme may be repeated too. Returns `undefined` for any other text.
 */
export function parseClusterAddress(text: string) {
  const scheme = /^(nats|tls):\/\//.exec(text)?.[0];
  if (scheme === undefined) return undefined;
  const logins: string[] = [];
  const servers: string[] = [];
  for (const part of text.slice(scheme.length).split(',')) {
    const address = part.startsWith(scheme) ? part.slice(scheme.length) : part;
    const at = address.lastIndexOf('@');
    if (at >= 0) logins.push(address.slice(0, at));
    const [, host, port = PORT] = SERVER.exec(address.slice(at + 1).replace(/\/$/, '')) ?? [];
    if (host === undefined || Number(port) > PORT_MAX) return undefined;
    servers.push(`${host}:${port}`);
  }
  // The client has one login for all servers.
  if (new Set(logins).size > 1) return undefined;
  const login = logins[0] === undefined ? undefined : parseLogin(logins[0]);
  if (logins.length > 0 && login === undefined) return undefined;
  return { servers, isTls: scheme === 'tls://', login };
}

function parseLogin(text: string): Login | undefined {
  try {
    const [user = '', ...pass] = text.split(':');
    if (user === '') return undefined;
    if (pass.length === 0) return { token: decodeURIComponent(user) };
    return { user: decodeURIComponent(user), pass: decodeURIComponent(pass.join(':')) };
  } catch {
    return undefined;
  }
}
