import type { Cluster } from '../jetstream/connect.ts';
import { listen } from '../http/listen.ts';
import type { Address } from '../http/listener.ts';
import { operatorApp, json, reply, unreadable } from '../status/app.ts';
import { counter, gauge, METRICS_TYPE, processState, writing } from '../status/metrics.ts';
import type { StatusListener } from '../status/open-status.ts';
import { VERSION } from '../base/version.ts';
import type { Archiver } from './archiver.ts';
import type { StreamReader } from './reader.ts';

/** What the listener looks at. It only looks. */
export interface ArchiveSource {
  /** The stream's. */
  readonly name: string;
  readonly archiver: Pick<Archiver, 'state'>;
  readonly reader: Pick<StreamReader, 'end' | 'trouble'>;
  readonly cluster: Pick<Cluster, 'server'>;
  readonly isStopping: () => boolean;
}

const STOP_TIMEOUT_MS = 100;

/**
 * Opens the operator's listener of an archive: health, metrics, and a page of text.
 * @throws {Fatal} exit 69 where the address cannot be listened on.
 */
export async function openArchiveStatus(
  { host, port }: Address,
  token: string | undefined,
  source: ArchiveSource,
): Promise<StatusListener> {
  const handler = operatorApp(
    {
      '/healthz': () => json({ status: 'alive' }),
      '/readyz': (mayKnowWhy) => readiness(source, mayKnowWhy),
      '/metrics': () => reply(200, METRICS_TYPE, metricsOf(source)),
      '/': () => reply(200, 'text/plain; charset=utf-8', pageOf(source)),
    },
    { host, token },
  );
  const listener = await listen({ host, port, handler, unreadable, flag: '--status' });
  return { url: listener.url, stop: () => listener.stop(STOP_TIMEOUT_MS) };
}

/** Why nothing is archived now. */
function reasonsOf({ archiver, reader, cluster, isStopping }: ArchiveSource): string[] {
  if (isStopping()) return ['shutting down'];
  const { unavailable } = archiver.state();
  const lost = cluster.server === undefined ? 'no connection to the cluster' : undefined;
  return [unavailable, lost ?? reader.trouble].filter((reason) => reason !== undefined);
}

function readiness(source: ArchiveSource, mayKnowWhy: boolean): Response {
  const reasons = reasonsOf(source);
  const status = reasons.length === 0 ? 'ready' : 'not ready';
  const code = reasons.length === 0 ? 200 : 503;
  return json(mayKnowWhy ? { status, reasons, warnings: [] } : { status }, code);
}

const lagOf = ({ archiver, reader }: ArchiveSource): number =>
  Math.max(0, reader.end - archiver.state().sequence);

function metricsOf(source: ArchiveSource): string {
  const now = source.archiver.state();
  const connected = source.cluster.server === undefined ? 0 : 1;
  return [
    ...gauge('viewlog_archive_sequence', 'The last message archived.', [[now.sequence]]),
    ...gauge('viewlog_archive_lag_messages', 'Messages of the stream not yet archived.', [
      [lagOf(source)],
    ]),
    ...counter('viewlog_archive_skipped_total', 'Messages that no collector wrote.', [
      [now.skipped],
    ]),
    ...counter('viewlog_archive_lost_total', 'Messages removed before they were archived.', [
      [now.lost],
    ]),
    ...gauge('viewlog_archive_connected', 'Whether there is a connection to the cluster.', [
      [connected],
    ]),
    ...counter('viewlog_written_lines_total', 'Lines archived.', [[now.lines]]),
    ...counter('viewlog_written_bytes_total', 'Bytes archived.', [[now.bytes]]),
    ...writing(now),
    ...gauge('viewlog_ready', 'Whether messages are archived (1) or not (0).', [
      [reasonsOf(source).length === 0 ? 1 : 0],
    ]),
    ...gauge('viewlog_build_info', 'The version, as a label.', [[1, { version: VERSION }]]),
    ...processState(),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function pageOf(source: ArchiveSource): string {
  const now = source.archiver.state();
  const reasons = reasonsOf(source);
  const rows: [string, string | number][] = [
    ['state', reasons.length === 0 ? 'archiving' : reasons.join('; ')],
    ['server', source.cluster.server ?? 'none'],
    ['stream', source.name],
    ['archived up to', now.sequence],
    ['messages behind', lagOf(source)],
    ['views since the start', now.lines],
    ['skipped, no views', now.skipped],
    ['lost, removed too early', now.lost],
    ['files being written', now.paths.join(', ') || 'none'],
    ['free disk bytes', now.freeBytes ?? 'unknown'],
  ];
  return rows.map(([name, value]) => `${name.padEnd(24)} ${value}\n`).join('');
}
