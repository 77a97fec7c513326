import { counter, gauge, type Metric, type Sample, samplesBy } from '../base/description.ts';
import type { Projects } from '../projects/project-list.ts';
import type { Counts } from './counts.ts';
import { isStream, type WatchedState } from './store-facts.ts';

/** What the refused views' store has done since the start. */
export interface RefusedCounts {
  readonly keptLines: number;
  readonly keptBytes: number;
  readonly droppedLines?: number;
  /** By reason. */
  readonly dropped?: Readonly<Record<string, number>>;
}

interface MetricsInput {
  readonly counts: Counts;
  readonly projects: Projects;
  readonly store: WatchedState;
  readonly refused: RefusedCounts;
  readonly queue: { readonly bytes: number; readonly bytesMax: number };
  readonly isReady: boolean;
}

/**
 * A collector's metrics. The number of series is bounded: only listed ids become labels. Received
 * is the sum of accepted and refused, whenever it is read.
 */
export const collectorMetrics = (input: MetricsInput): Metric[] => [
  ...viewMetrics(input),
  ...storeMetrics(input.store),
  ...refusedMetrics(input.refused),
  ...stateMetrics(input),
];

function viewMetrics({ counts, projects: listed }: MetricsInput): Metric[] {
  const { total, projects, refusedByCode } = counts;
  // From 0, also for a project that has sent nothing yet: an increase has to start somewhere.
  const ids = new Set([...listed.all().map(({ id }) => id), ...projects.keys()]);
  const accepted = Array.from(ids, (project): Sample => {
    return [projects.get(project)?.accepted ?? 0, { project }];
  });
  const lastSeconds = total.lastAcceptedMs === undefined ? undefined : total.lastAcceptedMs / 1000;
  return [
    counter('viewlog_views_received_total', 'Requests answered, preflights excluded.', [
      [total.accepted + total.refused],
    ]),
    counter('viewlog_views_accepted_total', 'Views stored and acknowledged.', accepted),
    counter(
      'viewlog_views_refused_total',
      'Requests refused, by reason.',
      samplesBy('code', refusedByCode),
    ),
    gauge('viewlog_last_accepted_timestamp_seconds', 'When the last view was accepted.', [
      [lastSeconds],
    ]),
  ];
}

function storeMetrics(state: WatchedState): Metric[] {
  const lines = [
    counter('viewlog_written_bytes_total', 'Bytes of views stored.', [[state.bytes]]),
    counter('viewlog_written_lines_total', 'Lines stored; divided by batches, the batch size.', [
      [state.lines],
    ]),
  ];
  return [...lines, ...(isStream(state) ? streamMetrics(state.stream) : fileMetrics(state))];
}

type FileState = Exclude<WatchedState, { stream: unknown }>;

const fileMetrics = (state: FileState): Metric[] => [
  ...writingMetrics(state),
  gauge('viewlog_file_bytes', 'Size of the view file being written.', [[state.fileBytes]]),
];

/** For everything that writes view files: a collector or an archive. */
export const writingMetrics = (
  state: Pick<FileState, 'batches' | 'syncSeconds' | 'sealedFragments' | 'freeBytes'>,
): Metric[] => [
  counter('viewlog_written_batches_total', 'Batches of lines written and synced together.', [
    [state.batches],
  ]),
  counter('viewlog_sync_seconds_total', 'Time until what was written was durable.', [
    [state.syncSeconds],
  ]),
  counter('viewlog_sealed_fragments_total', 'Half lines, left by crashes, that were ended.', [
    [state.sealedFragments],
  ]),
  gauge('viewlog_disk_free_bytes', 'Free disk space at the data directory.', [[state.freeBytes]]),
];

function streamMetrics(stream: Extract<WatchedState, { stream: unknown }>['stream']): Metric[] {
  const { server, connectionLosses, failures, seen } = stream;
  const { leader, replicas, lagging, messages, bytes } = seen;
  return [
    gauge('viewlog_nats_connected', 'Whether there is a connection to a NATS server.', [
      [server === undefined ? 0 : 1],
    ]),
    counter('viewlog_nats_connection_losses_total', 'Connections to NATS servers lost.', [
      [connectionLosses],
    ]),
    counter(
      'viewlog_publish_failures_total',
      'Views not acknowledged, by reason.',
      samplesBy('reason', failures),
    ),
    gauge('viewlog_stream_has_leader', 'Whether a server leads the stream.', [
      [leader === undefined ? 0 : 1],
    ]),
    gauge('viewlog_stream_replicas', 'Servers that keep the stream.', [
      [replicas - lagging.length, { state: 'current' }],
      [lagging.length, { state: 'lagging' }],
    ]),
    gauge('viewlog_stream_messages', 'Messages in the stream.', [[messages]]),
    gauge('viewlog_stream_bytes', 'Bytes in the stream.', [[bytes]]),
  ];
}

const refusedMetrics = ({ keptLines, keptBytes, ...lost }: RefusedCounts): Metric[] => [
  counter('viewlog_refused_kept_total', 'Refused views kept to be replayed.', [[keptLines]]),
  counter('viewlog_refused_kept_bytes_total', 'Bytes of refused views kept.', [[keptBytes]]),
  counter('viewlog_refused_dropped_total', 'Refused views that were not kept.', [
    [lost.droppedLines ?? Object.values(lost.dropped ?? {}).reduce((sum, n) => sum + n, 0)],
  ]),
];

function stateMetrics({ projects, queue, store, counts, isReady }: MetricsInput): Metric[] {
  const all = projects.all();
  const active = all.filter((project) => project.active).length;
  return [
    gauge(
      'viewlog_ready',
      'Whether requests should be sent here (1), or views would be refused or a stop is near (0).',
      [[isReady ? 1 : 0]],
    ),
    gauge('viewlog_queue_bytes', 'Bytes of views in flight.', [[queue.bytes]]),
    gauge('viewlog_queue_limit_bytes', '--max-queue.', [[queue.bytesMax]]),
    gauge('viewlog_queue_lines', 'Lines that wait to be written.', [[store.queuedLines]]),
    gauge('viewlog_projects', 'Projects listed.', [
      [active, { state: 'active' }],
      [all.length - active, { state: 'inactive' }],
    ]),
    gauge('viewlog_projects_file_ok', 'Whether the projects file is correct (1) or faulty (0).', [
      [projects.fault === undefined ? 1 : 0],
    ]),
    gauge('viewlog_start_timestamp_seconds', 'When counting began.', [[counts.startMs / 1000]]),
  ];
}
