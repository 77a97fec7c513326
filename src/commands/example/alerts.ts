import { type Installation, metricsAddress } from './installation.ts';
import { JOB } from './prometheus.ts';

/** Rules for Prometheus. */
export function alerts({ settings }: Installation): string {
  metricsAddress(settings); // or there is nothing to watch
  const rules = [...RULES, ...(settings.store === undefined ? disk(settings['min-free']) : STREAM)];
  return `# What to be told of viewlog: viewlog-alerts.yml, among Prometheus' rule_files.
groups:
  - name: viewlog
    rules:
${rules.map(ruleText).join('\n')}`;
}

interface Rule {
  readonly why: string;
  readonly alert: string;
  /** Metrics as \`{}\`: of this job. */
  readonly expr: string;
  readonly for?: string;
  readonly summary: string;
}

const MINE = `{job="${JOB}"}`;

const RULES: readonly Rule[] = [
  {
    why: 'Down, or every view is refused: the disk is full or failing, or the cluster is away.',
    alert: 'ViewlogNotTakingViews',
    expr: `up${MINE} == 0 or viewlog_ready${MINE} == 0`,
    for: '1m',
    summary: 'viewlog on {{ $labels.instance }} takes no views',
  },
  {
    why: 'A site that sent views sends none: its script, its origins or its policy has changed.',
    alert: 'ViewlogProjectQuiet',
    expr: `sum by (project) (increase(viewlog_views_accepted_total${MINE}[30m])) == 0
          and sum by (project) (increase(viewlog_views_accepted_total${MINE}[1d] offset 30m)) > 100`,
    summary: 'Project {{ $labels.project }} has sent no view for half an hour',
  },
  {
    why: 'One in ten, of enough to tell. The status page has the reason, and what mends it.',
    alert: 'ViewlogRefusing',
    expr: `sum(increase(viewlog_views_refused_total${MINE}[1h]))
          > 0.1 * sum(increase(viewlog_views_received_total${MINE}[1h])) > 10`,
    summary: 'viewlog refused {{ printf "%.0f" $value }} requests within an hour',
  },
  {
    why: 'The last good list stays in force, so nobody would notice.',
    alert: 'ViewlogProjectsFileFaulty',
    expr: `viewlog_projects_file_ok${MINE} == 0`,
    for: '5m',
    summary: 'The projects file on {{ $labels.instance }} is faulty: viewlog check',
  },
];

const STREAM: readonly Rule[] = [
  {
    why: 'One more server lost may cost the quorum.',
    alert: 'ViewlogReplicasLagging',
    expr: `viewlog_stream_replicas{job="${JOB}", state="lagging"} > 0`,
    for: '5m',
    summary: '{{ $value }} of the servers that keep the views are down or behind',
  },
];

const disk = (minFreeBytes: number): Rule[] => [
  {
    why: 'Within two days --min-free is reached, and every view refused.',
    alert: 'ViewlogDiskFilling',
    expr: `predict_linear(viewlog_disk_free_bytes${MINE}[6h], 2 * 86400) < ${minFreeBytes}`,
    for: '1h',
    summary: 'The disk of viewlog on {{ $labels.instance }} is full within two days',
  },
];

const ruleText = ({ why, alert, expr, for: time, summary }: Rule): string => `      # ${why}
      - alert: ${alert}
        expr: >
          ${expr}
${time === undefined ? '' : `        for: ${time}\n`}        annotations:
          summary: '${summary}'`;
