import { readEnv } from '../../base/env.ts';
import { EXIT, Fatal } from '../../base/exit.ts';
import { KiB } from '../../base/size.ts';
import { fromOwnMachine } from '../../http/listener.ts';
import type { ServeSettings } from '../../settings.ts';
import { isLoopback } from '../../status/guard.ts';
import { TOKEN_ENV } from '../../status/token.ts';
import { hostAndPort, type Installation, reachable, statusAddress } from './installation.ts';
import { fill } from './templates.ts';

// Files for the programs around viewlog: proxies in front of it, Prometheus, shippers of its files.

export const caddy = ({ settings }: Installation): string =>
  fill('caddy', {
    address: hostAndPort(reachable(settings)),
    healthPort: healthPort(settings),
  });

/** Caddy asks for health at the host that views go to; no other host would answer. */
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

/** @throws {Fatal} exit 64 if there are no files. */
export function directoryToRead({ store, data }: ServeSettings): string {
  if (store === undefined) return data;
  const hint = "leave out --store, and give the archive's --data";
  throw new Fatal(EXIT.usage, `A stream has no files to read; ${hint}`);
}

/** rsyslog's own default. */
const MESSAGE_BYTES_MIN = 8192;

/**
 * Returns a function that makes a shipper's configuration.
 * @param user the user that its package creates for it.
 */
export const shipper =
  (name: string, user = name) =>
  ({ settings }: Installation): string => {
    const dir = directoryToRead(settings);
    const lineBytesMax = settings['max-view'];
    // Fluent Bit's buffer also holds the start of the next line.
    const bufferKiB = Math.max(64, Math.ceil((2 * lineBytesMax) / KiB));
    return fill(name, {
      access: fill('access', { dir, user }),
      dir,
      lineBytesMax,
      chunkKiB: Math.min(bufferKiB, 512),
      bufferKiB,
      messageBytesMax: Math.max(MESSAGE_BYTES_MIN, lineBytesMax),
    });
  };
