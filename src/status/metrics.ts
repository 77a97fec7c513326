import type { Projects } from '../projects/project-list.ts';
import type { StreamStoreState } from '../store/stream/stream-store.ts';
import type { ViewStoreState } from '../store/files/view-store.ts';
import { healthOf } from './health.ts';
import type { StatusSource } from './source.ts';

// Prometheus' text format, written out. The collector counts in plain numbers, which are read here
// when somebody asks. prom-client works on every runtime, but looks a labelled series up for every
// view: 80 to 150 ns each, where adding to a number takes 5.

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [value: number | undefined, labels?: Labels];

/**
 * The metrics. The number of series is bounded: of projects only ids that the operator has listed
 * become labels. Received is the sum of accepted and refused, whenever it is read.
 */
export function metricsOf(source: StatusSource): string {
  return [...views(source), ...storage(source), ...state(source), ...processState()]
    .map((line) => `${line}\n`)
    .join('');
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

function views({ tally, projects: listed }: StatusSource): string[] {
  const { total, projects, refusedByCode } = tally;
  // From 0 on, also for a project that has sent nothing yet: an increase has to start somewhere.
  const ids = new Set([...listed.all().map(({ id }) => id), ...projects.keys()]);
  const accepted = Array.from(ids, (project): Sample => {
    return [projects.get(project)?.accepted ?? 0, { project }];
  });
  const refused = Object.entries(refusedByCode).map(([code, n]): Sample => [n, { code }]);
  const lastSeconds = total.lastAcceptedMs === undefined ? undefined : total.lastAcceptedMs / 1000;
  return [
    ...counter('viewlog_views_received_total', 'Requests answered, preflights excluded.', [
      [total.accepted + total.refused],
    ]),
    ...counter('viewlog_views_accepted_total', 'Views stored and acknowledged.', accepted),
    ...counter('viewlog_views_refused_total', 'Requests refused, by reason.', refused),
    ...gauge('viewlog_last_accepted_timestamp_seconds', 'When the last view was taken.', [
      [lastSeconds],
    ]),
  ];
}

function storage({ store, refused }: StatusSource): string[] {
  const now = store.state();
  const { keptLines, keptBytes, dropped } = refused.state();
  const reasons = Object.entries(dropped).map(([reason, n]): Sample => [
    n,
    { reason: kebab(reason) },
  ]);
  return [
    ...counter('viewlog_written_bytes_total', 'Bytes of views stored.', [[now.bytes]]),
    ...counter('viewlog_written_lines_total', 'Lines stored; over batches: the batch size.', [
      [now.lines],
    ]),
    ...('stream' in now ? stream(now.stream) : files(now)),
    ...counter('viewlog_refused_kept_total', 'Refused views kept to be replayed.', [[keptLines]]),
    ...counter('viewlog_refused_kept_bytes_total', 'Bytes of refused views kept.', [[keptBytes]]),
    ...counter('viewlog_refused_dropped_total', 'Refused views not kept, by reason.', reasons),
  ];
}

const files = (now: ViewStoreState): string[] => [
  ...writing(now),
  ...gauge('viewlog_file_bytes', 'Size of the view file being written.', [[now.fileBytes]]),
];

/** Of whatever writes view files: a collector, or an archive. */
export const writing = (
  now: Pick<ViewStoreState, 'batches' | 'syncSeconds' | 'sealedFragments' | 'freeBytes'>,
): string[] => [
  ...counter('viewlog_written_batches_total', 'Batches of lines written and synced together.', [
    [now.batches],
  ]),
  ...counter('viewlog_sync_seconds_total', 'Time until what was written was durable.', [
    [now.syncSeconds],
  ]),
  ...counter('viewlog_sealed_fragments_total', 'Half lines, left by crashes, that were ended.', [
    [now.sealedFragments],
  ]),
  ...gauge('viewlog_disk_free_bytes', 'Free disk space at the data directory.', [[now.freeBytes]]),
];

function stream(now: StreamStoreState['stream']): string[] {
  const { server, connectionLosses, failures, seen } = now;
  const reasons = Object.entries(failures).map(([reason, n]): Sample => [n, { reason }]);
  return [
    ...gauge('viewlog_nats_connected', 'Whether there is a connection to a NATS server.', [
      [server === undefined ? 0 : 1],
    ]),
    ...counter('viewlog_nats_connection_losses_total', 'Connections to NATS servers lost.', [
      [connectionLosses],
    ]),
    ...counter('viewlog_publish_failures_total', 'Views not acknowledged, by reason.', reasons),
    ...gauge('viewlog_stream_has_leader', 'Whether a server leads the stream.', [
      [seen.leader === undefined ? 0 : 1],
    ]),
    ...gauge('viewlog_stream_replicas', 'Servers that keep the stream.', [
      [seen.replicas - seen.lagging.length, { state: 'current' }],
      [seen.lagging.length, { state: 'lagging' }],
    ]),
    ...gauge('viewlog_stream_messages', 'Messages in the stream.', [[seen.messages]]),
    ...gauge('viewlog_stream_bytes', 'Bytes in the stream.', [[seen.bytes]]),
  ];
}

function state(source: StatusSource): string[] {
  const { projects, queue, queueBytesMax, store, tally, version } = source;
  return [
    ...gauge('viewlog_ready', 'Whether views are taken (1) or all refused (0).', [
      [healthOf(source).ready ? 1 : 0],
    ]),
    ...gauge('viewlog_queue_bytes', 'Bytes of views under way.', [[queue.bytes]]),
    ...gauge('viewlog_queue_limit_bytes', '--max-queue.', [[queueBytesMax]]),
    ...gauge('viewlog_queue_lines', 'Lines that wait to be written.', [
      [store.state().queuedLines],
    ]),
    ...gauge('viewlog_projects', 'Projects listed.', projectStates(projects)),
    ...gauge('viewlog_projects_file_ok', 'Whether the projects file is sound (1) or faulty (0).', [
      [projects.fault === undefined ? 1 : 0],
    ]),
    ...gauge('viewlog_start_timestamp_seconds', 'Since when is counted.', [[tally.sinceMs / 1000]]),
    ...gauge('viewlog_build_info', 'The version, as a label.', [[1, { version }]]),
  ];
}

function projectStates(projects: Projects): Sample[] {
  const all = projects.all();
  const active = all.filter((project) => project.active).length;
  return [
    [active, { state: 'active' }],
    [all.length - active, { state: 'inactive' }],
  ];
}

export function processState(): string[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    ...gauge('process_resident_memory_bytes', 'Resident memory.', [[rss]]),
    ...gauge('viewlog_heap_used_bytes', 'JavaScript heap in use.', [[heapUsed]]),
    ...counter('process_cpu_seconds_total', 'CPU time.', [[(user + system) / 1e6]]),
  ];
}

export const counter = (name: string, help: string, samples: readonly Sample[]): string[] =>
  family('counter', name, help, samples);

export const gauge = (name: string, help: string, samples: readonly Sample[]): string[] =>
  family('gauge', name, help, samples);

/** A metric and its samples; those without a value are left out. */
function family(type: string, name: string, help: string, samples: readonly Sample[]): string[] {
  const lines = samples
    .filter(([value]) => value !== undefined)
    .map(([value, labels]) => `${name}${labels ? labelled(labels) : ''} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

/** No value needs escaping: project ids are digits, the others our own words. */
const labelled = (labels: Labels): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}}`;

const kebab = (name: string): string => name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`);
