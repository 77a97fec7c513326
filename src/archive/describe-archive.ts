import { counter, type Description, gauge, type Fact, type Metric } from '../base/description.ts';
import type { Cluster } from '../jetstream/connect.ts';
import { writingMetrics } from '../store/files/describe-files.ts';
import type { Archiver, ArchiverState } from './archiver.ts';
import type { StreamReader } from './reader.ts';

/** What is looked at of an archive. */
interface ArchiveParts {
  /** The stream's. */
  readonly name: string;
  readonly archiver: Pick<Archiver, 'state'>;
  readonly reader: Pick<StreamReader, 'end' | 'trouble'>;
  readonly cluster: Pick<Cluster, 'server'>;
  readonly isStopping: () => boolean;
}

interface ArchiveDescription extends Description {
  /** Why nothing is archived now. */
  readonly reasons: readonly string[];
}

/** What an archive tells its operator. */
export function describeArchive(parts: ArchiveParts): ArchiveDescription {
  const { name, archiver, reader, cluster } = parts;
  const state = archiver.state();
  const reasons = reasonsOf(parts, state);
  const lag = Math.max(0, reader.end - state.sequence);
  const { server } = cluster;
  const facts: Fact[] = [
    ['state', reasons.length === 0 ? 'archiving' : reasons.join('; ')],
    ['server', server ?? 'none'],
    ['stream', name],
    ['archived up to', String(state.sequence)],
    ['messages behind', String(lag)],
    ['views since the start', String(state.lines)],
    ['skipped, no views', String(state.skipped)],
    ['lost, removed too early', String(state.lost)],
    ['files being written', state.paths.join(', ') || 'none'],
    ['free disk bytes', String(state.freeBytes ?? 'unknown')],
  ];
  const isConnected = server !== undefined;
  const isReady = reasons.length === 0;
  return { reasons, warnings: [], facts, metrics: metricsOf(state, lag, isConnected, isReady) };
}

function reasonsOf(
  { reader, cluster, isStopping }: ArchiveParts,
  { unavailable }: ArchiverState,
): string[] {
  if (isStopping()) return ['shutting down'];
  const lost = cluster.server === undefined ? 'no connection to the cluster' : undefined;
  return [unavailable, lost ?? reader.trouble].filter((reason) => reason !== undefined);
}

const metricsOf = (
  state: ArchiverState,
  lag: number,
  isConnected: boolean,
  isReady: boolean,
): Metric[] => [
  gauge('viewlog_archive_sequence', 'The last message archived.', [[state.sequence]]),
  gauge('viewlog_archive_lag_messages', 'Messages of the stream not yet archived.', [[lag]]),
  counter('viewlog_archive_skipped_total', 'Messages that no collector wrote.', [[state.skipped]]),
  counter('viewlog_archive_lost_total', 'Messages removed before they were archived.', [
    [state.lost],
  ]),
  gauge('viewlog_archive_connected', 'Whether there is a connection to the cluster.', [
    [isConnected ? 1 : 0],
  ]),
  counter('viewlog_written_lines_total', 'Lines archived.', [[state.lines]]),
  counter('viewlog_written_bytes_total', 'Bytes archived.', [[state.bytes]]),
  ...writingMetrics(state),
  gauge('viewlog_ready', 'Whether messages are archived (1) or not (0).', [[isReady ? 1 : 0]]),
];
