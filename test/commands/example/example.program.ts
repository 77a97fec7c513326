import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FULL_VIEW } from '../../support/views.ts';
import { exampleOf } from '../../support/examples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { dataDirectory, run, start, startViewlog } from '../../support/viewlog.ts';

// The command itself. In other files, real programs read the printed files.

const SERVERS = ['systemd', 'archive', 'systemd-socket', 'caddy', 'nginx', 'dockerfile', 'compose'];
const METRICS = ['prometheus', 'alerts'];
const READERS = ['fluent-bit', 'vector', 'filebeat', 'rsyslog', 'clickhouse'];
const NAMES = [...SERVERS, ...METRICS, ...READERS];

/** Stores a last start with these options in a data directory; returns the directory. */
function lastStarted(options: Readonly<Record<string, string>>, data = dataDirectory()): string {
  const chosen = Object.fromEntries(
    Object.entries(options).map(([name, text]) => [name, { text, from: 'flag' }]),
  );
  const start = { pid: 1, sinceMs: 0, role: 'collector', data, chosen };
  fs.writeFileSync(`${data}/last-start.json`, JSON.stringify(start));
  return data;
}

describe('example', () => {
  it('lists the examples, also in the error about an unknown example', async () => {
    const { code, stdout } = await run(['example']);
    const names = Array.from(stdout.matchAll(/^ {2}([a-z-]+) +\S.*$/gm), ([, name]) => name);
    expect([code, names]).toStrictEqual([0, NAMES]);
    const stderr = `error: Unknown example "apache". Choose one of ${NAMES.join(', ')}\n`;
    expect(await run(['example', 'apache'])).toMatchObject({ code: 64, stdout: '', stderr });
    const typo = {
      code: 64,
      stderr: 'error: Unknown example "filebeet". Did you mean filebeat?\n',
    };
    expect(await run(['example', 'filebeet'])).toMatchObject(typo);
  });

  it('archive prints the stream and the credentials, which need no --store', async () => {
    const data = tempDir();
    const args = ['example', 'archive', '--data', data, '--nats-creds', '/etc/viewlog.creds'];
    const env = { VIEWLOG_NATS_STREAM: 'PAGES' };
    const flags = ` archive --data ${data} --nats-stream PAGES --nats-creds /etc/viewlog.creds\n`;
    const { stdout } = await start(args, data, { env }).ended;
    expect(stdout).toContain(flags);
    expect(await start([...args, '--nats-stream', 'PAGES'], data).ended).toMatchObject({ stdout });
    expect((await start(['example', 'systemd', '--nats-stream', 'X'], data).ended).code).toBe(64);
  });

  it('archive prints the same where VIEWLOG_STORE is set for a collector', async () => {
    const data = dataDirectory();
    const env = { VIEWLOG_STORE: 'nats://localhost:4222' };
    const text = await exampleOf('archive', [], { data });
    expect(text).toContain(`ReadWritePaths=${data}\n`);
    expect(await start(['example', 'archive', '--data', data], data, { env }).ended).toMatchObject({
      stdout: text,
    });
  });

  it.each(
    ['systemd', 'compose', 'dockerfile', 'prometheus'].flatMap((name) => [
      [name, '--status=127.0.0.1:9001', /900[01]/],
      [name, '--store nats://user:s3cret@localhost:4222', /store|STORE|cluster|ListenStream/],
    ]),
  )(
    '%s names the command that prints its other file, with the same options, %s',
    async (...row) => {
      const [name, option, words] = row;
      const data = dataDirectory();
      const text = await exampleOf(name, ['--port=9000', ...option.split(' ')], { data });
      expect(text).not.toContain('s3cret');
      const [, command = ''] = /:\n# {3}(.* example .*)$/m.exec(text)!;
      const printed = spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
      expect(printed).toMatchObject({ status: 0, stdout: expect.stringMatching(words) });
    },
  );

  it.each(NAMES)('fills in every value in %s', async (name) => {
    const lines = (await exampleOf(name)).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(5);
    const wrong = /undefined|\[object|NaN|<<|>>|\s$/;
    expect(lines.filter((line) => wrong.test(line))).toStrictEqual([]);
  });

  it.each(['systemd', 'archive', 'dockerfile', 'compose'])(
    '%s warns if the data directory is missing or belongs to root',
    async (name) => {
      const args = (data: string) => ['example', name, '--data', data];
      const missing = await start(args('/var/lib/no-such'), tempDir(), {}).ended;
      expect([missing.code, missing.stderr]).toStrictEqual([
        0,
        'warning: "/var/lib/no-such" doesn\'t exist; before you use this file, create the directory for the user ' +
          `${/^(dockerfile|compose)$/.test(name) ? 'with uid 1000' : 'viewlog'}\n`,
      ]);
      const creates = / install -d -o \w+ -g \w+ -m 750 \/var\/lib\/no-such$/m;
      expect(creates.test(missing.stdout)).toBe(name !== 'dockerfile');
      const ofRoot = await start(args('/'), tempDir(), {}).ended;
      expect(ofRoot.stdout).not.toContain('useradd');
      expect(ofRoot.stderr).toMatch(
        /^warning: "\/" belongs to root, so the service would run as root\. To give the directory .*: (sudo )?chown -R USER: \/$/m,
      );
    },
  );

  it('systemd warns about options of the last start that the unit lacks', async () => {
    const projects = join(tempDir(), 'p.json');
    fs.writeFileSync(projects, '{"projects":[]}');
    const chosen = ['--min-free=65536KiB', '--max-view=20KiB', `--projects=${projects}`];
    const { data } = await startViewlog({ args: chosen });
    const args = ['example', 'systemd', '--host=::1', '--max-view=9KiB'];
    const { code, stderr } = await run(args, { data });
    const [, command = ''] = /^warning: The last start in ".*" had .*: (.*)$/m.exec(stderr) ?? [];
    expect([code, command]).toStrictEqual([0, expect.stringMatching(/ example systemd --data /)]);
    const flags = command.replace(/^.* systemd /, '').split(' ');
    const all = `--host ::1 --max-view 9KiB --min-free 65536KiB --port 0 --projects ${projects} --status off`;
    expect(flags.slice(2).toSorted()).toStrictEqual(all.split(' ').toSorted());
    const { stderr: again } = await run(['example', 'systemd', ...flags], { data });
    expect(again).not.toContain('last start');
  });

  it("uses the last start's addresses in the files that contain them, unless the options are given", async () => {
    const data = lastStarted({ port: '9007', status: '127.0.0.1:9017' });
    const print = (name: string, port: number, status: number) =>
      run(['example', name, `--port=${port}`, `--status=127.0.0.1:${status}`], { data });
    // An archive's unit uses no option of a collector.
    const names = NAMES.filter((name) => name !== 'archive');
    const used = names.map(async (name) => {
      const printed = await run(['example', name], { data });
      const { stdout } = await print(name, 9007, 9017);
      expect(printed).toMatchObject({ code: 0, stdout });
      expect(printed.stderr).not.toContain('last start');
      const other = await print(name, 9008, 9018);
      expect(other.stdout.replaceAll(/90([01])8/g, '90$17')).toBe(stdout);
      return ['9007', '9017'].map((port) => (stdout.includes(port) ? [name] : []));
    });
    const both = await Promise.all(used);
    expect([0, 1].map((i) => both.flatMap((one) => one[i]!))).toStrictEqual([
      ['systemd', 'systemd-socket', 'caddy', 'nginx', 'dockerfile', 'compose', 'prometheus'],
      ['systemd', 'caddy', 'dockerfile', 'compose', 'prometheus', 'alerts'],
    ]);
  });

  it("warns about the last start's other options only for files that would contain them", async () => {
    const data = lastStarted({ 'max-view': '20KiB', 'min-free': '1GiB' });
    const warning = (stderr: string) => / had options that this file lacks.*: (.*)$/m.exec(stderr);
    const warned = NAMES.map(async (name) => {
      const { stdout, stderr } = await run(['example', name], { data });
      const [, command = ''] = warning(stderr) ?? [];
      if (command === '') return [];
      const [, words = ''] = /viewlog.mjs (.*)/.exec(command) ?? [];
      const again = await start(words.split(' '), data).ended;
      expect([again.code, warning(again.stderr)]).toStrictEqual([0, null]);
      expect(again.stdout).not.toBe(stdout);
      return words.replace(` --data ${data}`, '');
    });
    expect((await Promise.all(warned)).flat()).toStrictEqual([
      'example systemd --max-view 20KiB --min-free 1GiB',
      'example nginx --max-view 20KiB',
      'example dockerfile --max-view 20KiB --min-free 1GiB',
      'example alerts --min-free 1GiB',
      'example fluent-bit --max-view 20KiB',
      'example vector --max-view 20KiB',
      'example filebeat --max-view 20KiB',
      'example rsyslog --max-view 20KiB',
    ]);
  });

  it('uses the addresses of the running collector, not those of the last start', async () => {
    const { data } = await startViewlog({ args: ['--host=127.0.0.2'] });
    lastStarted({ host: '127.0.0.3' }, data);
    const { stdout, stderr } = await run(['example', 'nginx', '--port=9007'], { data });
    expect(stdout).toContain('server 127.0.0.2:9007;');
    expect(stderr).not.toContain('last start');
  });

  it.each([
    ['the addresses inside a container', { host: '0.0.0.0' }, '/data'],
    ['text that could end a line', { host: '::1\nExecStartPre=id' }, undefined],
  ])('never copies %s from the last start', async (_, options, inside) => {
    const data = lastStarted(options);
    const file = `${data}/last-start.json`;
    const start = { ...JSON.parse(fs.readFileSync(file, 'utf8')), data: inside ?? data };
    fs.writeFileSync(file, JSON.stringify(start));
    const { code, stdout } = await run(['example', 'systemd'], { data });
    expect([code, stdout.includes('--host')]).toStrictEqual([0, false]);
  });

  it('prints no request to a status server that was off at the last start', async () => {
    const data = lastStarted({ status: 'off' });
    const site = await exampleOf('caddy', [], { data });
    expect(site).not.toContain('health');
    expect(site).toBe(await exampleOf('caddy', ['--status=off'], { data }));
    expect(await exampleOf('caddy', ['--status=127.0.0.1:81'], { data })).toContain(
      'health_port 81',
    );
    const refusals = METRICS.map((name) => run(['example', name], { data }));
    for (const { code, stdout, stderr } of await Promise.all(refusals)) {
      expect([code, stdout]).toStrictEqual([64, '']);
      expect(stderr).toContain("error: The collector's --status is off, so it has no metrics");
    }
  });

  it.runIf(process.getuid?.() === 0)("warns a user who can't read the last start", async () => {
    const data = lastStarted({ port: '9007' });
    fs.chmodSync(data, 0o750);
    fs.chownSync(data, 4711, 4712);
    const stderrOf = async (name: string) =>
      (await start(['example', name, '--data', data], '/', { user: { uid: 1, gid: 1 } }).ended)
        .stderr;
    const [options, projects] = [`"${data}/last-start.json"`, `"${data}/projects.json"`];
    const warning = (files: string) =>
      `This user can't read ${files}, so the printed file contains defaults; run`;
    expect(await stderrOf('nginx')).toContain(warning(`${options} or ${projects}`));
    expect(await stderrOf('alerts')).toContain(warning(options));
    expect(await stderrOf('clickhouse')).toBe('');
  });

  it.each([...SERVERS, ...METRICS])('never prints a secret in %s', async (name) => {
    const env = {
      VIEWLOG_STATUS_TOKEN: 'a-secret-of-the-operator',
      VIEWLOG_STORE: 'nats://user:s3cret@nats-1.example.com',
      VIEWLOG_STATUS: '0.0.0.0:8081',
    };
    const { code, stdout, stderr } = await run(['example', name], { env });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toMatch(/a-secret|s3cret|nats-1/);
  });
});

// clickhouse.world.ts runs the SQL in ClickHouse's own engine.
it('the table for ClickHouse has a column for each field of a line, in the same order', async () => {
  const data = dataDirectory();
  const sql = await exampleOf('clickhouse', [], { data });
  const [, table = ''] = /TABLE IF NOT EXISTS views \((.*?)\n\)/s.exec(sql) ?? [];
  const columns = Array.from(table.matchAll(/^ {2}(\w+) (.+?),?$/gm), ([, ...column]) => column);
  const names = columns.map(([name]) => name);
  expect(names).toStrictEqual(['ts', 'id', ...Object.keys(FULL_VIEW)]);
  expect(Object.fromEntries(columns)).toMatchObject({
    ts: "DateTime64(3, 'UTC')",
    id: 'UUID',
    p: 'String',
    mb: 'Int64',
    mv: 'Tuple(vt Int64, v30 Int64, dlv Int64)',
    mp: 'Tuple(p Array(String))',
    cf: 'String',
    hc: 'Bool',
  });
  const values = sql.matchAll(/^ {2}\S.*\(line, '(\w+)'.*\) AS (\w+),?$/gm);
  expect(Array.from(values, ([, ...of]) => of)).toStrictEqual(names.map((name) => [name, name]));
  expect(sql).toContain(`INSERT INTO view_lines FROM INFILE '${data}/views-*.ndjson*'`);
});
