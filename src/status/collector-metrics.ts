import { counter, gauge, type Metric, type Sample, samplesBy } from '../base/description.ts';
import type { Projects } from '../projects/project-list.ts';
import type { CollectorSource } from './collector-source.ts';
import { healthOf, isReady } from './health.ts';

/**
 * A collector's metrics. The number of series is bounded: of projects only ids that the operator
 * has listed become labels. Received is the sum of accepted and refused, whenever it is read.
 */
export const collectorMetrics = (source: CollectorSource): Metric[] => [
  ...views(source),
  ...source.store.describe(undefined).metrics,
  ...source.refused.describe().metrics,
  ...state(source),
];

function views({ counts, projects: listed }: CollectorSource): Metric[] {
  const { total, projects, refusedByCode } = counts;
  // From 0 on, also for a project that has sent nothing yet: an increase has to start somewhere.
  const ids = new Set([...listed.all().map(({ id }) => id), ...projects.keys()]);
  const accepted = Array.from(ids, (project): Sample => {
    return [projects.get(project)?.accepted ?? 0, { project }];
  });
  const refused = samplesBy('code', refusedByCode);
  const lastSeconds = total.lastAcceptedMs === undefined ? undefined : total.lastAcceptedMs / 1000;
  return [
    counter('viewlog_views_received_total', 'Requests answered, preflights excluded.', [
      [total.accepted + total.refused],
    ]),
    counter('viewlog_views_accepted_total', 'Views stored and acknowledged.', accepted),
    counter('viewlog_views_refused_total', 'Requests refused, by reason.', refused),
    gauge('viewlog_last_accepted_timestamp_seconds', 'When the last view was taken.', [
      [lastSeconds],
    ]),
  ];
}

function state(source: CollectorSource): Metric[] {
  const { projects, queue, queueBytesMax, store, counts } = source;
  return [
    gauge('viewlog_ready', 'Whether views are taken (1) or all refused (0).', [
      [isReady(healthOf(source)) ? 1 : 0],
    ]),
    gauge('viewlog_queue_bytes', 'Bytes of views under way.', [[queue.bytes]]),
    gauge('viewlog_queue_limit_bytes', '--max-queue.', [[queueBytesMax]]),
    gauge('viewlog_queue_lines', 'Lines that wait to be written.', [[store.state().queuedLines]]),
    gauge('viewlog_projects', 'Projects listed.', projectStates(projects)),
    gauge('viewlog_projects_file_ok', 'Whether the projects file is sound (1) or faulty (0).', [
      [projects.fault === undefined ? 1 : 0],
    ]),
    gauge('viewlog_start_timestamp_seconds', 'Since when is counted.', [[counts.sinceMs / 1000]]),
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
