import { describe, expect, it } from 'vitest';
import { exampleOf } from '../../support/examples.ts';
import { BUN, isPresent } from '../../support/runtimes.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { dataDirectory, run, start } from '../../support/viewlog.ts';

// The command itself; what it prints is tried by the programs that it is for, in files of their own.

const NAMES = [
  'systemd',
  'systemd-socket',
  'caddy',
  'nginx',
  'dockerfile',
  'compose',
  'prometheus',
  'alerts',
  'fluent-bit',
  'vector',
  'filebeat',
  'rsyslog',
  'clickhouse',
];

const namesIn = (list: string): string[] =>
  list
    .trimEnd()
    .split('\n')
    .map((line) => /^([a-z-]+) +\S.*\S$/.exec(line)?.[1] ?? line);

describe('example', () => {
  it('lists its names without one, each with a line', async () => {
    const { code, stdout, stderr } = await run(['example']);
    expect([code, stderr]).toStrictEqual([0, '']);
    expect(namesIn(stdout)).toStrictEqual(NAMES);
  });

  it('lists them for one that is none, and says which was probably meant', async () => {
    const { code, stdout, stderr } = await run(['example', 'filebeet']);
    expect([code, stdout]).toStrictEqual([64, '']);
    const lines = stderr.trimEnd().split('\n');
    expect(lines.at(-1)).toBe('error: There is no example "filebeet"; did you mean filebeat?');
    expect(namesIn(lines.slice(0, -1).join('\n'))).toStrictEqual(NAMES);
    expect((await run(['example', 'constructor'])).code).toBe(64);
    expect((await run(['example', 'caddy', 'nginx'])).code).toBe(64);
  });

  const printed = /^(?!.*(?:undefined|\[object|NaN|<<|>>)).*\S$|^$/;

  it.each(NAMES)('prints %s, each of its lines filled in', async (name) => {
    const lines = (await exampleOf(name)).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(5);
    expect(lines.filter((line) => !printed.test(line))).toStrictEqual([]);
  });

  it('refuses a path that would end the line that it stands on', async () => {
    const data = `${dataDirectory()}\nExecStartPre=evil`;
    const { code, stdout, stderr } = await run(['example', 'systemd'], {
      data: dataDirectory(),
      env: { VIEWLOG_PROJECTS: data },
    });
    expect([code, stdout]).toStrictEqual([64, '']);
    expect(stderr).toMatch(
      /^error: ".*\\u000aExecStartPre=evil" has characters that no configuration file can contain; rename it\n$/,
    );
  });

  it.each(['systemd-socket', 'caddy', 'nginx', 'dockerfile', 'compose'])(
    'needs a port that is known beforehand: %s',
    async (name) => {
      const { code, stderr } = await run(['example', name, '--port', '0']);
      expect([code, stderr]).toStrictEqual([
        64,
        'error: --port 0 means any free port; give the one to connect to\n',
      ]);
    },
  );

  it('warns about a data directory that does not exist, and one that belongs to root', async () => {
    const args = ['example', 'systemd', '--data', '/var/lib/no-such'];
    const { code, stdout, stderr } = await start(args, tempDir(), {}).ended;
    expect(code).toBe(0);
    expect(stdout).toContain('\nUser=viewlog\nGroup=viewlog\n');
    expect(stderr).toBe(
      'warning: "/var/lib/no-such" does not exist yet; the file runs viewlog as user viewlog (1000), so create it for that user\n',
    );
    const ofRoot = await start(['example', 'compose', '--data', '/'], tempDir(), {}).ended;
    expect(ofRoot.stderr).toMatch(
      /^warning: "\/" belongs to root, so the file runs viewlog as root; /,
    );
  });

  it('prints a socket unit for Node, which can take it over, and not for others', async () => {
    const args = ['--port', '9000', '--host', '::1'];
    expect(await exampleOf('systemd-socket', args)).toContain('\nListenStream=[::1]:9000\n');
    if (!isPresent(BUN)) return;
    const { code, stderr } = await run(['example', 'systemd-socket'], { runtime: BUN });
    expect([code, stderr]).toStrictEqual([
      64,
      'error: Deno and Bun cannot take over a socket of systemd; run viewlog on Node, or as a single executable\n',
    ]);
  });

  it.each(NAMES.slice(0, 8))('never prints a secret: %s', async (name) => {
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
