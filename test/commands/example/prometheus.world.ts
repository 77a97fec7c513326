import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exampleOf, fileOf } from '../../support/examples.ts';
import { canRunNats, startNats } from '../../support/nats-server.ts';
import { isHere } from '../../support/runtimes.ts';
import { type Metrics, startWatched } from '../../support/status.ts';
import { dataDirectory, run } from '../../support/viewlog.ts';
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

describe.skipIf(!isHere('/usr/bin/promtool'))('Prometheus takes', () => {
  it('the scrape, with a token and without', async () => {
    const data = dataDirectory();
    writeFileSync(join(data, `it's: #1`), 'a-token-of-32-characters-or-more');
    for (const args of [[], [`--status-token-file=it's: #1`]]) {
      // oxlint-disable-next-line no-await-in-loop
      const config = fileOf('prometheus.yml', await exampleOf('prometheus', args, { data }));
      expect(promtool('check', 'config', config)).toContain('is valid prometheus config file');
    }
  });

  it('the alerts beside it, where its head says', async () => {
    const config = fileOf('prometheus.yml', '');
    const text = await exampleOf('prometheus');
    const [, files = ''] = /^# (rule_files: .*)$/m.exec(text) ?? [];
    writeFileSync(config, `${text}\n${files}\n`);
    const [, name = ''] = /\[(.*)\]/.exec(files) ?? [];
    writeFileSync(join(dirname(config), name), await exampleOf('alerts'));
    expect(promtool('check', 'config', config)).toContain('SUCCESS: 1 rule files found');
  });

  it.each([
    ['files', [], 5],
    ['a stream', ['--store', 'nats://host'], 5],
  ])('the alerts for %s', async (_, args, count) => {
    const rules = fileOf('rules.yml', await exampleOf('alerts', args));
    expect(promtool('check', 'rules', rules)).toContain(`SUCCESS: ${count} rules found`);
  });

  it('and fires each when it should, and only then', async () => {
    const rules = fileOf('viewlog-alerts.yml', await exampleOf('alerts', ['--min-free=1GiB']));
    const test = join(dirname(rules), 'test.yml');
    writeFileSync(
      test,
      JSON.stringify({ rule_files: [rules], evaluation_interval: '5m', tests: TESTS }),
    );
    expect(promtool('test', 'rules', test)).toContain('SUCCESS');
  });
});

const series = (name: string, values: string, labels = ''): object => ({
  series: `${name}{job="viewlog",instance="a"${labels}}`,
  values,
});
const here = { job: 'viewlog', instance: 'a' };
const OF_PROJECT = ',project="1"';
/** A day of a view a minute, and an hour of what comes then. */
const day = (then: string): string => `0+1x1440 ${then}`;
const fires = (alertname: string, summary?: string, exp_labels: object = here): object => ({
  eval_time: '25h',
  alertname,
  exp_alerts: summary === undefined ? [] : [{ exp_labels, exp_annotations: { summary } }],
});

/** What Prometheus sees, in a collector's troubles and without any. */
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
      // 1 GiB is left to be used for a day.
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

describe('every metric that an alert names is one of a collector’s', () => {
  function expectNamed(alerts: string, metrics: Metrics): void {
    const named = rulesIn(alerts).flatMap(({ expr }) => expr.match(/viewlog_\w+/g) ?? []);
    const known = new Set(Object.keys(metrics).map((one) => one.replace(/\{.*/, '')));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.has(name))).toStrictEqual([]);
  }

  it('of files', async () => {
    const viewlog = await startWatched();
    expect((await viewlog.post({ ...MINIMAL_VIEW, url: 'x' })).status).toBe(422);
    expectNamed(await exampleOf('alerts'), await viewlog.metrics());
  });

  it.skipIf(!canRunNats())('of a stream', async () => {
    const nats = await startNats();
    const viewlog = await startWatched({ env: { VIEWLOG_STORE: nats.url } });
    const alerts = await exampleOf('alerts', ['--store', nats.url]);
    const metrics = await viewlog.metrics();
    expectNamed(alerts, metrics);
    expect(metrics).toHaveProperty(['viewlog_stream_replicas{state="lagging"}']);
  });

  it('and is watched by the name that the scrape gives it', async () => {
    const { job_name: job } = scrapeIn(await exampleOf('prometheus')) as { job_name: string };
    for (const { expr } of rulesIn(await exampleOf('alerts'))) {
      for (const [, labels] of expr.matchAll(/\b(?:up|viewlog_\w+)(\{[^}]*\})?/g)) {
        expect([expr, labels]).toStrictEqual([expr, expect.stringContaining(`job="${job}"`)]);
      }
    }
  });
});

describe('the scrape', () => {
  it.each([
    [[], '127.0.0.1:8081', undefined],
    [['--status=0.0.0.0:9000'], '127.0.0.1:9000', '/etc/prometheus/viewlog-token'],
    [['--status=[::1]:9000'], '[::1]:9000', undefined],
    [['--status-token-file=/run/t: #1'], '127.0.0.1:8081', '/run/t: #1'],
  ])('of %s', async (args, target, file) => {
    const authorization = file === undefined ? {} : { authorization: { credentials_file: file } };
    expect(scrapeIn(await exampleOf('prometheus', args))).toStrictEqual({
      job_name: 'viewlog',
      static_configs: [{ targets: [target] }],
      ...authorization,
    });
  });

  it('reads a copy of the token that is in the environment', async () => {
    const env = { VIEWLOG_STATUS_TOKEN: 'a-secret-of-the-operator' };
    const text = await exampleOf('prometheus', [], { env });
    expect(text).toContain("credentials_file: '/etc/prometheus/viewlog-token'");
    expect(text).not.toContain('a-secret');
  });

  it.each(['prometheus', 'alerts'])('is of nothing with --status off: %s', async (name) => {
    const { code, stdout, stderr } = await run(['example', name, '--status', 'off']);
    expect([code, stdout, stderr]).toStrictEqual([
      64,
      '',
      'error: --status off has no metrics; give --status an address\n',
    ]);
  });
});
