import { fromOwnMachine } from '../own-address.ts';
import { type Installation, reachable, type ServeSettings } from './installation.ts';
import { hostAndPort } from './serve-flags.ts';

/** For Caddy 2.6 or later. */
export function caddy({ settings }: Installation): string {
  const port = healthPort(settings);
  return `# viewlog behind Caddy 2.6 or later, which gets the site its certificate: /etc/caddy/Caddyfile
# ---- Put your site's name and its pages' directory here. ----
www.example.com {
	# No limit of the body's size: viewlog refuses a large one at once, and says why.
	reverse_proxy /view ${hostAndPort(reachable(settings, '--port'))} {
		# A restart is bridged: no view is refused while viewlog is away.
		lb_try_duration 15s
		lb_try_interval 50ms
		lb_retry_match {
			method POST
		}
${port === undefined ? '' : health(port)}	}
	root * /srv/www
	file_server
}`;
}

const health = (
  port: number,
): string => `		# Views wait while it is not ready, instead of finding that out.
		health_uri /readyz
		health_port ${port}
		health_interval 100ms
`;

/** Caddy asks for it at the host that views go to; elsewhere it would find nobody, ever. */
function healthPort({ host, status }: ServeSettings): number | undefined {
  if (status === 'off') return undefined;
  const isSame = ['0.0.0.0', '::', host].includes(status.host);
  const isThere = isSame || fromOwnMachine(host) === fromOwnMachine(status.host);
  return isThere ? reachable(status, '--status with port').port : undefined;
}
