import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { read } from '../../support/documents.ts';
import { exampleOf, fileOf } from '../../support/examples.ts';
import { canRunNats, startNats } from '../../support/nats-server.ts';
import { isHere } from '../../support/runtimes.ts';
import { startWatched } from '../../support/status.ts';
import { dataDirectory } from '../../support/viewlog.ts';
import { MINIMAL_VIEW } from '../../support/views.ts';

const promtool = (...args: string[]): string =>
  execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' });

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

const rulesIn = (text: string): Rule[] =>
  (parse(text, { strict: true }) as { groups: [{ rules: Rule[] }] }).groups[0].rules;

describe.skipIf(!isHere('/usr/bin/promtool'))('Prometheus', () => {
  it.each([
    ['without a token', []],
    ['with a token', ['--status-token-file=token']],
  ])('accepts the scrape configuration %s', async (_, args) => {
    const data = dataDirectory();
    writeFileSync(join(data, 'token'), 'a-token-of-32-characters-or-more');
    const text = await exampleOf('prometheus', args, { data });
    const config = fileOf('prometheus.yml', text);
    // The alerts go to a file beside the configuration.
    const [, name = ''] = /^rule_files: \[(.*)\]$/m.exec(text) ?? [];
    writeFileSync(join(dirname(config), name), await exampleOf('alerts'));
    expect(promtool('check', 'config', config)).toContain('SUCCESS: 1 rule files found');
  });

  it('accepts the alerts for a stream', async () => {
    const rules = fileOf('rules.yml', await exampleOf('alerts', ['--store', 'nats://host']));
    expect(promtool('check', 'rules', rules)).toContain('SUCCESS: 8 rules found');
  });

  it('accepts the alerts and fires each only for its problem', async () => {
    const rules = fileOf('viewlog-alerts.yml', await exampleOf('alerts', ['--min-free=1GiB']));
    const test = join(dirname(rules), 'test.yml');
    const tests = { rule_files: [rules], evaluation_interval: '5m', tests: TESTS };
    writeFileSync(test, JSON.stringify(tests));
    expect(promtool('test', 'rules', test)).toContain('SUCCESS');
  });
});

/** One view per minute for 24 hours, then none. */
const SILENT = '0+1x1440 1440x1060';
/**
 * A site without views at night: 12 hours with one view per minute, 12 hours without, and so on.
 */
const NIGHTLY = '0+1x720 720x720 720+1x720 1440x340';
/** Metrics, with their values on a healthy collector and on a collector with the problem. */
const SERIES = [
  ['up', '', '1x2500', ''],
  ['viewlog_ready', '', '1x2500', '0x2500'],
  ['viewlog_projects_file_ok', '', '1x2500', '0x2500'],
  ['viewlog_directory_ok', '', '1x2500', '0x2500'],
  ['viewlog_project_refused_total', ',project="1"', '0+0.01x2500', '0+0.5x2500'],
  ['viewlog_views_accepted_total', ',project="1"', '0+1x2500', SILENT],
  ['viewlog_views_accepted_total', ',project="2"', NIGHTLY, ''],
  ['viewlog_start_timestamp_seconds', '', '0x2500', '0x2500'],
  ['viewlog_views_received_total', '', '0+2x2500', '0+1x2500'],
  ['viewlog_views_refused_total', ',code="invalid-view"', '0+0.1x2500', '0+0.5x2500'],
  // 1 GiB lasts less than a day.
  ['viewlog_disk_free_bytes', '', '1e11-1e6x2500', '3.6e9-1e6x2500'],
] as const;

const here = { job: 'viewlog', instance: 'a' };
const NOT_ACCEPTING = [
  'NotAcceptingViews',
  "viewlog on a is down, unreachable or can't store views",
  here,
] as const;
const ALERTS = [
  NOT_ACCEPTING,
  [
    'ProjectSilent',
    'Project 1 is silent: no views for three hours, unlike yesterday',
    { project: '1' },
  ],
  ['Refusing', 'viewlog refused 30 requests in the last hour', {}],
  ['ProjectRefused', 'viewlog refused 30 views of project 1 in the last hour', { project: '1' }],
  [
    'DirectoryClosed',
    "viewlog on a can't create files in its data directory; run viewlog doctor",
    here,
  ],
  ['ProjectsFileInvalid', 'The projects file on a is invalid; run viewlog check', here],
  [
    'DiskFilling',
    'The free disk space of viewlog on a will fall below --min-free within two days',
    here,
  ],
] as const;

const testOf = (valuesBy: (series: (typeof SERIES)[number]) => string, fires: boolean) => ({
  interval: '1m',
  input_series: SERIES.map((one) => ({
    series: `${one[0]}{job="viewlog",instance="a"${one[1]}}`,
    values: valuesBy(one),
  })).filter(({ values }) => values !== ''),
  alert_rule_test: ALERTS.map(([name, summary, exp_labels]) => ({
    eval_time: '40h',
    alertname: `Viewlog${name}`,
    exp_alerts: fires ? [{ exp_labels, exp_annotations: { summary } }] : [],
  })),
});

const TESTS = [testOf((one) => one[2], false), testOf((one) => one[3], true)];

it.each([
  ['files', true],
  ['a stream', canRunNats()],
])('with %s, the scrape has every metric that an alert names', async (store, isHere) => {
  if (!isHere) return;
  const env = store === 'files' ? {} : { VIEWLOG_STORE: (await startNats()).url };
  const viewlog = await startWatched({ env });
  expect((await viewlog.post({ ...MINIMAL_VIEW, url: 'x' })).status).toBe(422);
  const metrics = Object.keys(await viewlog.metrics());
  const names = ['up', ...metrics.map((metric) => metric.replace(/\{.*/, ''))];
  expect(await exampleOf('prometheus')).toContain('job_name: viewlog\n');
  const expressions = rulesIn(await exampleOf('alerts', [], { env })).map(({ expr }) => expr);
  for (const [, name, labels] of expressions
    .join(' ')
    .matchAll(/\b(up|viewlog_\w+)(\{[^}]*\})?/g)) {
    // Prometheus scrapes an archive in a separate job.
    if (name!.startsWith('viewlog_archive_')) {
      expect(read('src/status/archive-status.ts')).toContain(`['${name}', `);
      continue;
    }
    expect(names).toContain(name);
    expect([name, labels]).toStrictEqual([name, expect.stringContaining('job="viewlog"')]);
  }
  if (store === 'a stream') expect(metrics).toContain('viewlog_stream_replicas{state="lagging"}');
});

it('the scrape configuration has a token if the status server has one', async () => {
  const env = { VIEWLOG_STATUS_TOKEN: 'x' };
  const credentials = "credentials_file: '/etc/prometheus/viewlog-token'";
  expect(await exampleOf('prometheus')).not.toContain('credentials');
  expect(await exampleOf('prometheus', [], { env })).toContain(credentials);
});
