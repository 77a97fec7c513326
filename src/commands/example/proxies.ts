import { KiB } from '../../base/size.ts';
import { fromOwnMachine } from '../../http/own-address.ts';
import { hostAndPort, type Installation, reachable, type ServeSettings } from './installation.ts';
import { fill } from './templates.ts';

export const caddy = ({ settings }: Installation): string =>
  fill('caddy', {
    address: hostAndPort(reachable(settings)),
    healthPort: healthPort(settings),
  });

/** Caddy asks for health at the host that views go to; at another one nobody would answer. */
function healthPort({ host, status }: ServeSettings): number | '' {
  if (status === 'off') return '';
  const isSame = ['0.0.0.0', '::', host].includes(status.host);
  const isThere = isSame || fromOwnMachine(host) === fromOwnMachine(status.host);
  return isThere ? reachable(status, '--status with port').port : '';
}

/** nginx accepts this much more than --max-view, so that viewlog can refuse it with a reason. */
const REFUSED_KIB = 64;

export const nginx = ({ settings }: Installation): string =>
  fill('nginx', {
    address: hostAndPort(reachable(settings)),
    bodyKiB: Math.ceil(settings['max-view'] / KiB) + REFUSED_KIB,
  });
