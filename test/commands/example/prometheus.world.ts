import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exampleOf, fileOf } from '../../support/examples.ts';
import { canRunNats, startNats } from '../../support/nats-server.ts';
import { isHere } from '../../support/runtimes.ts';
import { startWatched, type Watched } from '../../support/status.ts';
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

const scrapeIn = (text: string): unknown =>
  (parse(text, { strict: true }) as { scrape_configs: unknown[] }).scrape_configs[0];

describe.skipIf(!isHere('/usr/bin/promtool'))('Prometheus accepts', () => {
  it.each([[[]], [['--status-token-file=token']]])('the scrape, with %s', async (args) => {
    const data = dataDirectory();
    writeFileSync(join(data, 'token'), 'a-token-of-32-characters-or-more');
    const text = await exampleOf('prometheus', args, { data });
    const config = fileOf('prometheus.yml', text);
    // The alerts are in a file beside it, with the name in its first line.
    const [, rules = '', name = ''] = /^# (rule_files: \[(.*)\])$/m.exec(text) ?? [];
    writeFileSync(config, `${text}\n${rules}\n`);
    writeFileSync(join(dirname(config), name), await exampleOf('alerts'));
    expect(promtool('check', 'config', config)).toContain('SUCCESS: 1 rule files found');
  });

  it('the alerts for a stream', async () => {
    const rules = fileOf('rules.yml', await exampleOf('alerts', ['--store', 'nats://host']));
    expect(promtool('check', 'rules', rules)).toContain('SUCCESS: 5 rules found');
  });

  it('the alerts, and fires each when it should, and only then', async () => {
    const rules = fileOf('viewlog-alerts.yml', await exampleOf('alerts', ['--min-free=1GiB']));
    const test = join(dirname(rules), 'test.yml');
    const tests = { rule_files: [rules], evaluation_interval: '5m', tests: TESTS };
    writeFileSync(test, JSON.stringify(tests));
    expect(promtool('test', 'rules', test)).toContain('SUCCESS');
  });
});

const series = (name: string, values: string, labels = ''): object => ({
  series: `${name}{job="viewlog",instance="a"${labels}}`,
  values,
});
const here = { job: 'viewlog', instance: 'a' };
const OF_PROJECT = ',project="1"';
/** A day with a view per minute, followed by an hour of `then`. */
const day = (then: string): string => `0+1x1440 ${then}`;
const fires = (alertname: string, summary?: string, exp_labels: object = here): object => ({
  eval_time: '25h',
  alertname,
  exp_alerts: summary === undefined ? [] : [{ exp_labels, exp_annotations: { summary } }],
});

/** Metrics of a collector with problems and without any, and the alerts that fire. */
const TESTS = [
  {
    interval: '1m',
    input_series: [
      series('up', '1x1500'),
      series('viewlog_ready', '1x1500'),
      series('viewlog_projects_file_ok', '1x1500'),
      series('viewlog_views_accepted_total', '0+1x1500', OF_PROJECT),
      series('viewlog_views_received_total', '0+2x1500'),
      series('viewlog_views_refused_total', '0+0.1x1500', ',code="invalid-view"'),
      series('viewlog_disk_free_bytes', '1e11-1e6x1500'),
    ],
    alert_rule_test: [
      fires('ViewlogNotAcceptingViews'),
      fires('ViewlogProjectQuiet'),
      fires('ViewlogRefusing'),
      fires('ViewlogProjectsFileFaulty'),
      fires('ViewlogDiskFilling'),
    ],
  },
  {
    interval: '1m',
    input_series: [
      series('viewlog_ready', '0x1500'),
      series('viewlog_projects_file_ok', '0x1500'),
      series('viewlog_views_accepted_total', day('1440x60'), OF_PROJECT),
      series('viewlog_views_received_total', '0+1x1500'),
      series('viewlog_views_refused_total', '0+0.5x1500', ',code="invalid-view"'),
      // 1 GiB lasts less than a day.
      series('viewlog_disk_free_bytes', '3.6e9-1e6x1500'),
    ],
    alert_rule_test: [
      fires('ViewlogNotAcceptingViews', 'viewlog on a accepts no views'),
      fires('ViewlogProjectQuiet', 'Project 1 has sent no views for half an hour', {
        project: '1',
      }),
      fires('ViewlogRefusing', 'viewlog refused 30 requests within an hour', {}),
      fires('ViewlogProjectsFileFaulty', 'The projects file on a is faulty: viewlog check'),
      fires('ViewlogDiskFilling', 'The disk of viewlog on a will be full within two days'),
    ],
  },
  {
    interval: '1m',
    input_series: [series('up', '0x1500')],
    alert_rule_test: [fires('ViewlogNotAcceptingViews', 'viewlog on a accepts no views')],
  },
];

describe('every metric that an alert names is of the job of the scrape, and of a collector of', () => {
  async function expectKnown(alerts: string, viewlog: Watched): Promise<void> {
    const { job_name: job } = scrapeIn(await exampleOf('prometheus')) as { job_name: string };
    const metrics = Object.keys(await viewlog.metrics()).map((metric) =>
      metric.replace(/\{.*/, ''),
    );
    const expressions = rulesIn(alerts).map(({ expr }) => expr);
    const named = expressions.join(' ').matchAll(/\b(up|viewlog_\w+)(\{[^}]*\})?/g);
    for (const [, name, labels] of named) {
      expect(['up', ...metrics]).toContain(name);
      expect([name, labels]).toStrictEqual([name, expect.stringContaining(`job="${job}"`)]);
    }
  }

  it('files', async () => {
    const viewlog = await startWatched();
    expect((await viewlog.post({ ...MINIMAL_VIEW, url: 'x' })).status).toBe(422);
    await expectKnown(await exampleOf('alerts'), viewlog);
  });

  it.skipIf(!canRunNats())('a stream', async () => {
    const nats = await startNats();
    const viewlog = await startWatched({ env: { VIEWLOG_STORE: nats.url } });
    await expectKnown(await exampleOf('alerts', ['--store', nats.url]), viewlog);
    expect(await viewlog.metrics()).toHaveProperty(['viewlog_stream_replicas{state="lagging"}']);
  });
});

it('the scrape has a token if the status server has one', async () => {
  const env = { VIEWLOG_STATUS_TOKEN: 'x' };
  const target = { job_name: 'viewlog', static_configs: [{ targets: ['127.0.0.1:8081'] }] };
  expect(scrapeIn(await exampleOf('prometheus'))).toStrictEqual(target);
  expect(scrapeIn(await exampleOf('prometheus', [], { env }))).toStrictEqual({
    ...target,
    authorization: { credentials_file: '/etc/prometheus/viewlog-token' },
  });
});
