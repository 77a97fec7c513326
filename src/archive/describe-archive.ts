import { counter, type Description, type Fact, gauge } from '../base/description.ts';
import type { ArchiveState } from './archive.ts';

interface ArchiveDescription extends Description {
  /** Why nothing is archived now. */
  readonly reasons: readonly string[];
}

/** What an archive tells its operator. */
export function describeArchive(
  state: ArchiveState,
  server: string | undefined,
  isStopping: boolean,
): ArchiveDescription {
  const lost = server === undefined ? 'no connection to the cluster' : undefined;
  const reasons = isStopping
    ? ['shutting down']
    : [state.unavailable, lost ?? state.unreadable].filter((reason) => reason !== undefined);
  const { stream, sequence, lag } = state;
  const facts: Fact[] = [
    ['state', reasons.length === 0 ? 'archiving' : reasons.join('; ')],
    ['server', server ?? 'none'],
    ['stream', stream],
    ['archived up to', String(sequence)],
    ['messages behind', String(lag)],
    ['views since the start', String(state.lines)],
    ['skipped, no views', String(state.skipped)],
    ['lost, removed too early', String(state.lost)],
    ['file being written', state.path ?? 'none'],
    ['free disk bytes', String(state.freeBytes ?? 'unknown')],
  ];
  const isReady = reasons.length === 0 ? 1 : 0;
  const isConnected = server === undefined ? 0 : 1;
  const metrics = [
    gauge('viewlog_archive_sequence', 'The last message archived.', [[sequence]]),
    gauge('viewlog_archive_lag_messages', 'Messages of the stream not yet archived.', [[lag]]),
    counter('viewlog_archive_skipped_total', 'Messages that no collector wrote.', [
      [state.skipped],
    ]),
    counter('viewlog_archive_lost_total', 'Messages removed before they were archived.', [
      [state.lost],
    ]),
    gauge('viewlog_archive_connected', 'Whether there is a connection to the cluster.', [
      [isConnected],
    ]),
    counter('viewlog_written_lines_total', 'Lines archived.', [[state.lines]]),
    counter('viewlog_written_bytes_total', 'Bytes archived.', [[state.bytes]]),
    gauge('viewlog_disk_free_bytes', 'Free disk space at the data directory.', [[state.freeBytes]]),
    gauge('viewlog_ready', 'Whether messages are archived (1) or not (0).', [[isReady]]),
  ];
  return { reasons, warnings: [], facts, metrics };
}
