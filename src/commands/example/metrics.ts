import { readEnv } from '../../base/env.ts';
import { isLoopback } from '../../status/guard.ts';
import { TOKEN_ENV } from '../../status/token.ts';
import { hostAndPort, type Installation, statusAddress } from './installation.ts';
import { fill } from './templates.ts';

/** Returns a scrape configuration for Prometheus. */
export function prometheus({ settings }: Installation): string {
  const { status, 'status-token-file': file } = settings;
  const isOpen = status !== 'off' && !isLoopback(status.host);
  const needsToken = isOpen || readEnv(TOKEN_ENV) !== undefined;
  return fill('prometheus', {
    address: hostAndPort(statusAddress(settings)),
    tokenFile: file ?? (needsToken ? '/etc/prometheus/viewlog-token' : ''),
  });
}

/** Returns alerting rules for Prometheus. */
export function alerts({ settings }: Installation): string {
  statusAddress(settings); // throws if there are no metrics
  const isStream = settings.store !== undefined;
  return fill('alerts', {
    minFreeBytes: isStream ? '' : settings['min-free'],
    stream: isStream ? 'yes' : '',
  });
}
