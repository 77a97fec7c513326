import { clickhouse } from './clickhouse.ts';
import { compose, dockerfile } from './containers.ts';
import type { Installation } from './read-installation.ts';
import { alerts, prometheus } from './metrics.ts';
import { caddy, nginx } from './proxies.ts';
import { shipper } from './shipped.ts';
import { systemd, systemdSocket } from './systemd.ts';

interface Example {
  readonly summary: string;
  /** @throws {Fatal} if these settings have no such file. */
  readonly textFor: (installation: Installation) => string;
}

const of = (summary: string, textFor: Example['textFor']): Example => ({ summary, textFor });

/** What `viewlog example` can print, by name. */
export const EXAMPLES: ReadonlyMap<string, Example> = new Map([
  ['systemd', of('a systemd service that runs, reloads and restarts viewlog', systemd)],
  ['systemd-socket', of('a systemd socket, so that restarts refuse no view', systemdSocket)],
  ['caddy', of('a Caddy site with viewlog behind it', caddy)],
  ['nginx', of('an nginx site with viewlog behind it', nginx)],
  ['dockerfile', of('a container image', dockerfile)],
  ['compose', of('a Docker Compose service of that image', compose)],
  ['prometheus', of('a Prometheus scrape configuration', prometheus)],
  ['alerts', of('Prometheus alerting rules', alerts)],
  ['fluent-bit', of('a shipper configuration for Fluent Bit 3.2 or later', shipper('fluent-bit'))],
  ['vector', of('a shipper configuration for Vector 0.30 or later', shipper('vector'))],
  ['filebeat', of('a shipper configuration for Filebeat 8.15 or later', shipper('filebeat'))],
  [
    'rsyslog',
    of('a shipper configuration for rsyslog 8.2006 or later', shipper('rsyslog', 'syslog')),
  ],
  ['clickhouse', of('a ClickHouse table for the views, and how to load it', clickhouse)],
]);
