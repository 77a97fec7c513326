import type { ArchiveState } from '../archive/archive.ts';
import type { Service } from './app.ts';
import type { Metric } from './metrics.ts';

/** An archive, as its status reads it. */
interface ArchiveSource {
  readonly state: () => ArchiveState;
  /** The server that it is connected to. */
  readonly server: () => string | undefined;
  readonly isStopping: () => boolean;
}

/** Returns the service of an archive. Its page shows the facts as text. */
export const archiveStatus = (source: ArchiveSource): Service => ({
  health: () => ({ reasons: reasonsOf(source), warnings: [] }),
  metrics: () => metricsOf(source),
  pages: { '/': (context) => context.text(pageOf(source)) },
});

/** Returns why nothing is archived now. */
function reasonsOf({ state, server, isStopping }: ArchiveSource): string[] {
  if (isStopping()) return ['shutting down'];
  const { unavailable, unreadable } = state();
  const lost = server() === undefined ? 'no connection to the cluster' : unreadable;
  return [unavailable, lost].filter((reason) => reason !== undefined);
}

/** Returns a line for each fact and for each metric. */
function pageOf(source: ArchiveSource): string {
  const { stream, path = 'none' } = source.state();
  const reasons = reasonsOf(source);
  const facts = [
    ['State:', reasons.length === 0 ? 'archiving' : reasons.join('; ')],
    ['Server:', source.server() ?? 'none'],
    ['Stream:', stream],
    ['File being written:', path],
    ...metricsOf(source).map(([, help, value]) => [help, String(value ?? 'unknown')]),
  ];
  return facts.map(([name = '', value]) => `${name.padEnd(48)} ${value}\n`).join('');
}

function metricsOf(source: ArchiveSource): Metric[] {
  const { sequence, lag, skipped, lost, lines, bytes, freeBytes } = source.state();
  const isConnected = Number(source.server() !== undefined);
  const isReady = Number(reasonsOf(source).length === 0);
  return [
    ['viewlog_archive_sequence', 'The last message archived.', sequence],
    ['viewlog_archive_lag_messages', 'Messages of the stream not yet archived.', lag],
    ['viewlog_archive_skipped_total', 'Messages that no collector wrote.', skipped],
    ['viewlog_archive_lost_total', 'Messages removed before they were archived.', lost],
    ['viewlog_archive_connected', '1 if a NATS server is connected, else 0.', isConnected],
    ['viewlog_written_lines_total', 'Lines archived.', lines],
    ['viewlog_written_bytes_total', 'Bytes archived.', bytes],
    ['viewlog_disk_free_bytes', 'Free disk space at the data directory.', freeBytes],
    ['viewlog_ready', '1 if messages are archived, else 0.', isReady],
  ];
}
