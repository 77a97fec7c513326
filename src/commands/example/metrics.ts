import { readEnv } from '../../base/env.ts';
import { isLoopback } from '../../status/guard.ts';
import { TOKEN_ENV } from '../../status/token.ts';
import { type Installation, metricsAddress } from './read-installation.ts';
import { hostAndPort } from './serve-flags.ts';
import { fill, quoted } from './templates.ts';

// Prometheus: where the metrics are, and alerts.

export function prometheus({ settings }: Installation): string {
  const address = hostAndPort(metricsAddress(settings));
  const { status, 'status-token-file': file } = settings;
  const isOpen = status !== 'off' && !isLoopback(status.host);
  const isAsked = isOpen || readEnv(TOKEN_ENV) !== undefined;
  const token = file ?? (isAsked ? '/etc/prometheus/viewlog-token' : undefined);
  const authorization =
    token === undefined ? '' : fill('prometheus-token', { file: quoted(token) });
  return fill('prometheus', { address, authorization });
}

export function alerts({ settings }: Installation): string {
  metricsAddress(settings); // throws if there are no metrics
  const ofStore =
    settings.store === undefined
      ? fill('alerts-of-files', { minFreeBytes: settings['min-free'] })
      : fill('alerts-of-stream', {});
  return fill('alerts', { ofStore });
}
