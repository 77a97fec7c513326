import { KiB } from '../../base/size.ts';
import { fromOwnMachine } from '../../http/own-address.ts';
import { type Installation, reachable, type ServeSettings } from './read-installation.ts';
import { hostAndPort } from './serve-flags.ts';
import { fill } from './templates.ts';

export function caddy({ settings }: Installation): string {
  const port = healthPort(settings);
  return fill('caddy', {
    address: hostAndPort(reachable(settings, '--port')),
    health: port === undefined ? '' : fill('caddy-health', { port }),
  });
}

/** Caddy asks for health at the host that views go to; elsewhere nobody would answer. */
function healthPort({ host, status }: ServeSettings): number | undefined {
  if (status === 'off') return undefined;
  const isSame = ['0.0.0.0', '::', host].includes(status.host);
  const isThere = isSame || fromOwnMachine(host) === fromOwnMachine(status.host);
  return isThere ? reachable(status, '--status with port').port : undefined;
}

/** nginx passes on this much more than --max-view, so that viewlog can refuse it with a reason. */
const REFUSED_KIB = 64;

export const nginx = ({ settings }: Installation): string =>
  fill('nginx', {
    address: hostAndPort(reachable(settings, '--port')),
    bodyKiB: Math.ceil(settings['max-view'] / KiB) + REFUSED_KIB,
  });
