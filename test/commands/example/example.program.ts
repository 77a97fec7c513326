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

describe('example', () => {
  it('lists the names, and lists them again for an unknown name', async () => {
    const { code, stdout } = await run(['example']);
    const names = Array.from(stdout.matchAll(/^ {2}([a-z-]+) +\S.*$/gm), ([, name]) => name);
    expect([code, names]).toStrictEqual([0, NAMES]);
    const stderr = `error: Unknown example "filebeet"; choose one of ${NAMES.join(', ')}\n`;
    expect(await run(['example', 'filebeet'])).toMatchObject({ code: 64, stdout: '', stderr });
  });

  it("refuses port 0, which another program can't know", async () => {
    expect(await run(['example', 'nginx', '--port', '0'])).toMatchObject({
      code: 64,
      stdout: '',
      stderr: 'error: Give --port a fixed port: port 0 means a different free port at each start\n',
    });
  });

  it.each(NAMES)('fills in each line of %s', async (name) => {
    const lines = (await exampleOf(name)).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(5);
    const wrong = /undefined|\[object|NaN|<<|>>|\s$/;
    expect(lines.filter((line) => wrong.test(line))).toStrictEqual([]);
  });

  it.each(['systemd', 'archive', 'dockerfile', 'compose'])(
    '%s warns about the user',
    async (name) => {
      const args = (data: string) => ['example', name, '--data', data];
      const missing = await start(args('/var/lib/no-such'), tempDir(), {}).ended;
      expect([missing.code, missing.stderr]).toStrictEqual([
        0,
        'warning: "/var/lib/no-such" doesn\'t exist. The file runs viewlog as the user ' +
          `${/^(dockerfile|compose)$/.test(name) ? 'with uid 1000' : 'viewlog'}; create the directory for that user first\n`,
      ]);
      const ofRoot = await start(args('/'), tempDir(), {}).ended;
      expect(ofRoot.stderr).toMatch(
        /^warning: "\/" belongs to root, so the file runs viewlog as root; give the directory /,
      );
    },
  );

  it('systemd warns about the options of the last start that the unit lacks', async () => {
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

  it.each([...SERVERS, ...METRICS])('never contains a secret: %s', async (name) => {
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

// clickhouse.world.ts runs it with ClickHouse's own engine.
it('the table for ClickHouse has a column for each field of a line, in its order', async () => {
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
  expect(sql).toContain(`INSERT INTO view_lines FROM INFILE '${data}/views-*.ndjson'`);
});
