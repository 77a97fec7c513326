import { counter, gauge, type Labels, type Metric } from '../base/description.ts';
import { VERSION } from '../base/version.ts';

// Prometheus' text format, written out. viewlog counts in plain numbers, which are read here when
// somebody asks. prom-client works on every runtime, but looks a labelled series up for every view:
// 80 to 150 ns each, where adding to a number takes 5.

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The metrics as text, and behind them the process's own. */
export const exposition = (metrics: readonly Metric[]): string =>
  [...metrics, ...processMetrics()]
    .flatMap(linesOf)
    .map((line) => `${line}\n`)
    .join('');

function processMetrics(): Metric[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    gauge('viewlog_build_info', 'The version, as a label.', [[1, { version: VERSION }]]),
    gauge('process_resident_memory_bytes', 'Resident memory.', [[rss]]),
    gauge('viewlog_heap_used_bytes', 'JavaScript heap in use.', [[heapUsed]]),
    counter('process_cpu_seconds_total', 'CPU time.', [[(user + system) / 1e6]]),
  ];
}

function linesOf({ type, name, help, samples }: Metric): string[] {
  const lines = samples
    .filter(([value]) => value !== undefined)
    .map(([value, labels]) => `${name}${labels ? labelled(labels) : ''} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

const labelled = (labels: Labels): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}}`;
