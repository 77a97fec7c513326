import type { ArchiveState } from '../archive/archive.ts';
import { shortenedText } from '../archive/damage.ts';
import { STOPPING } from '../store/store.ts';
import type { Service } from './app.ts';
import type { Metric } from './metrics.ts';

/** An archive's current state and the server that it is connected to. */
type ArchiveFacts = ArchiveState & {
  readonly server: string | undefined;
  readonly isStopping: boolean;
};

/** Returns the service of an archive. Its page shows the metrics as text. */
export const archiveStatus = (look: () => ArchiveFacts): Service => ({
  health: () => ({ reasons: reasonsOf(look()), warnings: look().warnings }),
  metrics: () => metricsOf(look()),
  pages: { '/': (context) => context.text(pageOf(look())) },
});

/** Returns why nothing is archived now or which archived files have changed. */
function reasonsOf(facts: ArchiveFacts): string[] {
  const { unavailable, unreadable, server, isStopping, shortened } = facts;
  if (isStopping) return [STOPPING];
  const lost = server === undefined ? 'no connection to the cluster' : unreadable;
  const reasons = [unavailable, lost, ...shortened.map(shortenedText)];
  return reasons.filter((reason) => reason !== undefined);
}

/** Returns a line for the state and for each metric. */
function pageOf(facts: ArchiveFacts): string {
  const state = reasonsOf(facts).join('; ') || 'archiving';
  const warnings = facts.warnings.map((warning) => ['Warning:', warning]);
  const metrics = metricsOf(facts).map(([, help, value]) => [help, String(value ?? 'unknown')]);
  return [['State:', state], ...warnings, ...metrics]
    .map(([name = '', value]) => `${name.padEnd(48)} ${value}\n`)
    .join('');
}

function metricsOf(facts: ArchiveFacts): Metric[] {
  const { sequence, lag, skipped, lost, leftOut, shortened, lines, bytes, freeBytes, server } =
    facts;
  const isConnected = Number(server !== undefined);
  const isReady = Number(reasonsOf(facts).length === 0);
  return [
    ['viewlog_archive_sequence', 'The last message archived.', sequence],
    ['viewlog_archive_lag_messages', 'Messages of the stream not yet archived.', lag],
    ['viewlog_archive_skipped_total', 'Messages that no collector wrote.', skipped],
    ['viewlog_archive_lost_total', 'Messages removed before they were archived.', lost],
    ['viewlog_archive_left_out_total', 'Messages that a server left out, archived later.', leftOut],
    ['viewlog_archive_shortened_files', 'View files that were cut short.', shortened.length],
    ['viewlog_archive_connected', '1 if a NATS server is connected, else 0.', isConnected],
    ['viewlog_written_lines_total', 'Lines archived.', lines],
    ['viewlog_written_bytes_total', 'Bytes archived.', bytes],
    ['viewlog_disk_free_bytes', 'Free disk space at the data directory.', freeBytes],
    ['viewlog_ready', '1 if messages are archived and no file is cut short.', isReady],
  ];
}
