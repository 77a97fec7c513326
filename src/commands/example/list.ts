import { alerts } from './alerts.ts';
import { caddy } from './caddy.ts';
import { clickhouse } from './clickhouse.ts';
import { compose } from './compose.ts';
import { dockerfile } from './dockerfile.ts';
import { filebeat } from './filebeat.ts';
import { fluentBit } from './fluent-bit.ts';
import type { Installation } from './installation.ts';
import { nginx } from './nginx.ts';
import { prometheus } from './prometheus.ts';
import { rsyslog } from './rsyslog.ts';
import { type Shipped, shippedBy } from './shipped.ts';
import { systemd } from './systemd.ts';
import { vector } from './vector.ts';

interface Example {
  readonly summary: string;
  /** @throws {Fatal} where there is none for these settings. */
  readonly textFor: (installation: Installation) => string;
}

const of = (summary: string, textFor: Example['textFor']): Example => ({ summary, textFor });

/** One that reads the view files. */
const shipping = (summary: string, textOf: (shipped: Shipped) => string): Example =>
  of(summary, ({ settings }) => textOf(shippedBy(settings)));

/** What `viewlog example` prints, by name. */
export const EXAMPLES: ReadonlyMap<string, Example> = new Map([
  ['systemd', of('a unit that keeps it running, reloads and restarts it', systemd)],
  ['caddy', of('a site of Caddy with viewlog behind it', caddy)],
  ['nginx', of('a site of nginx with viewlog behind it', nginx)],
  ['dockerfile', of('an image', dockerfile)],
  ['compose', of('that image as a service of Docker Compose', compose)],
  ['prometheus', of('where Prometheus finds the metrics', prometheus)],
  ['alerts', of('rules by which Prometheus tells what needs you', alerts)],
  ['fluent-bit', shipping('Fluent Bit 3.2 or later ships the views', fluentBit)],
  ['vector', shipping('Vector 0.30 or later ships the views', vector)],
  ['filebeat', shipping('Filebeat 8.15 or later ships the views', filebeat)],
  ['rsyslog', shipping('rsyslog 8.2006 or later ships the views', rsyslog)],
  ['clickhouse', shipping('a table for the views, and what fills it', clickhouse)],
]);
