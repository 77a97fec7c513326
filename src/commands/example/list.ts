import { clickhouse } from './clickhouse.ts';
import { compose } from './compose.ts';
import { dockerfile } from './dockerfile.ts';
import type { Installation } from './read-installation.ts';
import { alerts, prometheus } from './metrics.ts';
import { caddy, nginx } from './proxies.ts';
import { shipper } from './shipped.ts';
import { systemd } from './systemd.ts';

interface Example {
  readonly summary: string;
  /** @throws {Fatal} where there is none for these settings. */
  readonly textFor: (installation: Installation) => string;
}

const of = (summary: string, textFor: Example['textFor']): Example => ({ summary, textFor });

/** What `viewlog example` prints, by name. */
export const EXAMPLES: ReadonlyMap<string, Example> = new Map([
  ['systemd', of('a unit that keeps it running, reloads and restarts it', systemd)],
  ['caddy', of('a site of Caddy with viewlog behind it', caddy)],
  ['nginx', of('a site of nginx with viewlog behind it', nginx)],
  ['dockerfile', of('an image', dockerfile)],
  ['compose', of('that image as a service of Docker Compose', compose)],
  ['prometheus', of('where Prometheus finds the metrics', prometheus)],
  ['alerts', of('rules by which Prometheus tells what needs you', alerts)],
  ['fluent-bit', of('Fluent Bit 3.2 or later ships the views', shipper('fluent-bit'))],
  ['vector', of('Vector 0.30 or later ships the views', shipper('vector'))],
  ['filebeat', of('Filebeat 8.15 or later ships the views', shipper('filebeat'))],
  ['rsyslog', of('rsyslog 8.2006 or later ships the views', shipper('rsyslog', 'syslog'))],
  ['clickhouse', of('a table for the views, and what fills it', clickhouse)],
]);
