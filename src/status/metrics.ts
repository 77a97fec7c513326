// Metrics in Prometheus's text format. viewlog counts in plain numbers, which are read here when
// somebody asks. prom-client works on every runtime, but looks a labelled series up for every view.
// That takes 80 to 150 ns; adding to a number takes 5 ns.
import { VERSION } from '../base/built.ts';
import { type CollectorState, healthOf, isReady, isStream } from './health.ts';
import type { FilesSeen } from './look-around.ts';
import type { ViewStoreState } from '../store/files/view-store.ts';
import type { StreamStoreState } from '../store/stream/stream-store.ts';

/**
 * One value or one for each label. A value that is unknown is left out. Counters have names that
 * end in `_total` and start at zero with the process.
 */
export type Metric = readonly [
  name: string,
  help: string,
  value: number | undefined | readonly Labelled[],
];
/** The label, `project="1"`: its value is digits or one of viewlog's own words. */
type Labelled = readonly [label: string, value: number];

/** Returns the metrics as text, followed by those of the process. */
export const metricsText = (metrics: readonly Metric[]): string =>
  [...metrics, ...processMetrics()].map(metricText).join('');

function metricText([name, help, value]: Metric): string {
  const type = name.endsWith('_total') ? 'counter' : 'gauge';
  const head = `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
  if (value === undefined) return head;
  if (typeof value === 'number') return `${head}${name} ${value}\n`;
  return head + value.map(([label, one]) => `${name}{${label}} ${one}\n`).join('');
}

function processMetrics(): Metric[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    ['viewlog_build_info', 'The version, as a label.', [[`version="${VERSION}"`, 1]]],
    ['process_resident_memory_bytes', 'Resident memory.', rss],
    ['viewlog_heap_used_bytes', 'JavaScript heap in use.', heapUsed],
    ['process_cpu_seconds_total', 'CPU time.', (user + system) / 1e6],
  ];
}

const by = (label: string, values: Readonly<Record<string, number>>): Labelled[] =>
  Object.entries(values).map(([name, value]) => [`${label}="${name}"`, value]);

/**
 * Returns a collector's metrics. The number of series is bounded: only ids that are listed, or were
 * when their views were accepted, become labels. `viewlog_views_received_total` is always the sum
 * of the accepted and the refused views.
 */
export function collectorMetrics(state: CollectorState, files: FilesSeen): Metric[] {
  const { counts, projects, queue, refused, store } = state;
  const { total } = counts;
  const all = projects.all();
  // Starts at 0 even for a project that has sent nothing yet, so that Prometheus sees an increase.
  const accepted = Object.fromEntries(all.map(({ id }) => [id, 0]));
  const refusedViews = { ...accepted };
  for (const [id, one] of counts.projects) {
    const views = one.accepted - one.acceptedEarlier;
    // An alert adds the two series, so a removed id has both. After a day without accepted views,
    // only its series of accepted views remains.
    const isShown = projects.find(id) !== undefined || counts.isSending(id);
    if (isShown || views > 0) accepted[id] = views;
    if (isShown) refusedViews[id] = one.refused - one.refusedEarlier;
  }
  const lastSeconds = total.lastAcceptedMs && total.lastAcceptedMs / 1000;
  const active = all.filter((project) => project.active).length;
  const listed = by('state', { active, inactive: all.length - active });
  const isValid = projects.fault === undefined;
  const ready = Number(isReady(healthOf(state)));
  return [
    ['viewlog_views_received_total', 'Requests answered, preflights excluded.', counts.received],
    ['viewlog_views_accepted_total', 'Views stored and acknowledged.', by('project', accepted)],
    ['viewlog_views_refused_total', 'Requests refused.', by('code', counts.refusedByCode)],
    [
      'viewlog_project_refused_total',
      'Refused views of listed projects and removed ids.',
      by('project', refusedViews),
    ],
    ['viewlog_last_accepted_timestamp_seconds', 'When the last view was accepted.', lastSeconds],
    ['viewlog_refused_kept_total', 'Refused views stored for replay.', refused.storedLines],
    ['viewlog_refused_kept_bytes_total', 'Bytes of refused views stored.', refused.storedBytes],
    [
      'viewlog_refused_dropped_total',
      "Views refused with 403 or 422 that couldn't be stored.",
      refused.droppedLines,
    ],
    ['viewlog_written_bytes_total', 'Bytes of views stored.', store.bytes],
    ['viewlog_written_lines_total', 'Lines stored.', store.lines],
    ...(isStream(store) ? streamMetrics(store) : fileMetrics(store, files)),
    ['viewlog_ready', '0 if views are refused or a stop is near; else 1.', ready],
    ['viewlog_queue_bytes', 'Memory of requests in flight, in bytes.', queue.bytes],
    ['viewlog_queue_limit_bytes', '--max-queue.', queue.bytesMax],
    ['viewlog_queue_lines', 'Lines waiting to be written.', store.queuedLines],
    ['viewlog_projects', 'Projects listed.', listed],
    ['viewlog_projects_file_ok', '0 if the projects file is invalid, else 1.', Number(isValid)],
    ['viewlog_start_timestamp_seconds', 'When counting began.', counts.startMs / 1000],
  ];
}

const fileMetrics = (store: ViewStoreState, { closedDirectory }: FilesSeen): Metric[] => [
  [
    'viewlog_directory_ok',
    "0 if viewlog can't create files in its data directory, else 1.",
    Number(closedDirectory === undefined),
  ],
  ['viewlog_written_batches_total', 'Batches of lines written and synced together.', store.batches],
  ['viewlog_sync_seconds_total', 'Time spent making lines durable.', store.syncSeconds],
  ['viewlog_sealed_fragments_total', 'Fragments sealed.', store.sealedFragments],
  ['viewlog_disk_free_bytes', 'Free disk space at the data directory.', store.freeBytes],
  ['viewlog_file_bytes', 'Size of the view file being written.', store.fileBytes],
];

function streamMetrics({ stream }: StreamStoreState): Metric[] {
  const { connectionLosses, failures, seen } = stream;
  const lagging = seen.lagging.length;
  const hasLeader = Number(seen.leader !== undefined);
  const connected = Number(stream.server !== undefined);
  const replicas = by('state', { current: seen.replicas - lagging, lagging });
  return [
    ['viewlog_nats_connected', '1 if a NATS server is connected, else 0.', connected],
    ['viewlog_nats_connection_losses_total', 'Connections to NATS lost.', connectionLosses],
    ['viewlog_publish_failures_total', 'Views not acknowledged.', by('reason', failures)],
    ['viewlog_stream_has_leader', '1 if a server leads the stream, else 0.', hasLeader],
    ['viewlog_stream_replicas', 'Servers that store the stream.', replicas],
    ['viewlog_stream_messages', 'Messages in the stream.', seen.messages],
    ['viewlog_stream_bytes', 'Bytes in the stream.', seen.bytes],
  ];
}
