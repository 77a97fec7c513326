import { chmodSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  type Installation,
  plainPath,
  readInstallation,
} from '../../../src/commands/example/installation.ts';
import { printable } from '../../../src/base/text.ts';
import { VALUES } from '../../../src/commands/example/values.ts';
import { example } from '../../../src/commands/example.ts';
import { readCommand } from '../../../src/commands/command.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { readArguments } from '../../../src/settings.ts';

// Tests the values that fill in templates for given options of `serve`.

const DATA = '/srv/viewlog';

async function valueOf(name: string, options: string, here: Partial<Installation> = {}) {
  const args = ['example', '--data', DATA, ...options.split(' ').filter(Boolean)];
  const { flags } = readArguments(args);
  const given = flags.filter((flag) => !options.includes('--store') || flag.value !== DATA);
  const line = { command: 'example', flags: given, operands: [] };
  const { settings, self } = readCommand(example, line, () => undefined);
  const installation = await readInstallation(settings, self);
  const program = { program: '/opt/viewlog.mjs', runtime: '/usr/bin/node', owner: undefined };
  return VALUES[name]!({ ...installation, ...program, ...here }, 'vector');
}

const PROGRAMS = {
  'on Node': {},
  'on Deno': { runtime: '/usr/bin/deno' },
  'as an executable': { runtime: undefined, program: '/usr/bin/viewlog' },
  'at a path with a space': { program: '/opt/a b' },
};
const STREAM = '--store nats://u:s3cret@host --projects /srv/viewlog/projects.json';

type Row<T> = [name: string, options: string, outcome: T, how?: keyof typeof PROGRAMS];

/** Returns each row with its options and program in words, for the test's name. */
const described = <T>(rows: Row<T>[]) =>
  rows.map(([name, options, outcome, how = 'on Node']) => {
    const given = options.replace(STREAM, '--store nats://…') || 'no options';
    const what = how === 'on Node' ? given : `${given}, ${how}`;
    const text = [outcome].flat().join(' ').trim() || 'nothing';
    const shown = text.length > 40 ? `${text.slice(0, 39)}…` : text;
    return [name, what, shown, how, options, outcome] as const;
  });

const COMPUTED = described<unknown>([
  ['address', '--host 0.0.0.0', '127.0.0.1:8080'],
  ['address', '--host :: --port 9000', '[::1]:9000'],
  ['address', '--host [::] --port 9000', '[::1]:9000'],
  ['directories', '', DATA],
  ['directories', '--projects /etc/v/p.json --status-token-file /run/t', `${DATA} /etc/v /run`],
  ['directories', `${STREAM} --nats-creds /etc/c`, `${DATA} /etc`],
  ['socketAddress', '--host :: --port 9000', '[::]:9000'],
  ['socketAddress', '--host localhost', '127.0.0.1:8080'],
  ['statusAddress', '--status 0.0.0.0:9000', '127.0.0.1:9000'],
  ['tokenFile', '--status-token-file /run/t', '/run/t'],
  ['caddyHealthPort', '', 8081],
  ['caddyHealthPort', '--status off', ''],
  ['caddyHealthPort', '--host 10.0.0.5', ''],
  ['caddyHealthPort', '--host 10.0.0.5 --status 0.0.0.0:81', 81],
  ['caddyHealthPort', '--host 0.0.0.0', 8081],
  [
    'serveFlags',
    '--keep-days 30 --max-view 65536B',
    ` --data ${DATA} --max-view 65536B --keep-days 30`,
  ],
  ['serveFlags', STREAM, ` --projects ${DATA}/projects.json`],
  ['secrets', '--status 0.0.0.0:8081', ['VIEWLOG_STATUS_TOKEN=TOKEN']],
  ['secrets', STREAM, ['VIEWLOG_STORE=nats://USER:PASSWORD@HOST:4222']],
  ['secrets', '--status 0.0.0.0:8081 --status-token-file t', ''],
  ['secrets', `${STREAM} --nats-creds /etc/c`, ['VIEWLOG_STORE=nats://HOST:4222']],
  ['isWildcard', '', ''],
  ['isWildcard', '--status 0.0.0.0:9000', 'yes'],
  ['joinGroup', '', 'sudo usermod --append --groups viewlog vector'],
  ['writable', STREAM, ''],
  ['socketCommand', '', '', 'on Deno'],
  ['protectHome', '', 'yes'],
  ['protectHome', '--data /home/me/viewlog', 'read-only'],
  ['protectHome', '--projects /root/p.json', 'read-only'],
  ['privateTmp', '--data /var/tmp/viewlog', 'no'],
  ['capability', '--status 127.0.0.1:81', 'CAP_NET_BIND_SERVICE'],
  ['publishedPorts', '--status off', ['127.0.0.1:8080:8080']],
  ['publishedPorts', '--host ::1 --status 10.0.0.1:1', ['[::1]:8080:8080', '10.0.0.1:1:1']],
  // rsyslog splits longer lines; its own minimum is 8 KiB.
  ['messageBytesMax', '--max-view 1KiB', 8192],
  ['messageBytesMax', '--max-view 16KiB', 16_384],
  ['bufferKiB', '--max-view 16KiB', 64],
  ['chunkKiB', '--max-view 1MiB', 512],
  ['bufferKiB', '--max-view 1MiB', 2048],
  [
    'settingsInside',
    `${STREAM} --nats-creds /srv/viewlog/c --status off`,
    [
      'VIEWLOG_HOST=0.0.0.0',
      'VIEWLOG_PROJECTS=/data/projects.json',
      'VIEWLOG_NATS_CREDS=/data/c',
      'VIEWLOG_STATUS=off',
    ],
  ],
  [
    'run',
    '--projects /etc/p.json',
    `/usr/bin/deno run --no-prompt --allow-net --allow-env --allow-sys=statfs --allow-read=${DATA},/etc --allow-write=${DATA} /opt/viewlog.mjs`,
    'on Deno',
  ],
  ['run', '', '/usr/bin/viewlog', 'as an executable'],
  ['programName', '', 'viewlog', 'as an executable'],
]);

it('example adds no user to the group root', async () => {
  expect(await valueOf('joinGroup', '', { gid: 0, group: 'root' })).not.toContain('usermod');
});

it.each(COMPUTED)(
  'example computes "%s" from %s: %s',
  async (name, _, _shown, how, options, value) => {
    expect(await valueOf(name, options, PROGRAMS[how])).toStrictEqual(value);
  },
);

const REFUSED = described<string>([
  ['statusAddress', '--status off', "The collector's --status is off, so"],
  ['viewsDir', STREAM, 'A stream has no files to read'],
  [
    'mountedDir',
    '--projects /etc/p.json',
    `"/etc/p.json" isn't in "${DATA}", the only directory that the container sees`,
  ],
  ['settingsInside', '--status-token-file /etc/t', `"/etc/t" isn't in "${DATA}"`],
  ['socketAddress', '', "Deno and Bun can't use a socket from systemd", 'on Deno'],
  ['address', '--port 0', 'Give --port a fixed port: port 0 means'],
  ['socketAddress', '--port 0', 'Give --port a fixed port'],
  ['socketAddress', '--host views.internal', 'needs an IP address; found --host "views.internal"'],
  ['statusAddress', '--status 127.0.0.1:0', 'Give --status a fixed port'],
  ['publishedPorts', '--status 127.0.0.1:0', 'Give --status a fixed port'],
  ['run', '', 'Can\'t put "/opt/a b" into a configuration file', 'at a path with a space'],
]);

it.each(REFUSED)(
  'example refuses to compute "%s" from %s: %s',
  async (name, _, _shown, how, options, reason) => {
    await expect(valueOf(name, options, PROGRAMS[how])).rejects.toThrow(reason);
  },
);

it.each(
  [' ', '"', "'", '$', '%', '*', '\\', '\n', ',', '#', '\u202e'].map((odd) => [
    printable(odd),
    odd,
  ]),
)('example refuses a path with "%s", which some programs interpret', (_, odd = '') => {
  expect(() => plainPath(`/etc/a${odd}b`)).toThrow(
    `into a configuration file, where the character "${printable(odd)}" has a special meaning; use`,
  );
  expect(plainPath('/srv/Ærlig_1.2-x@y+z=:')).toBe('/srv/Ærlig_1.2-x@y+z=:');
});

it.each([
  ['shop.example', [['https://shop.example']]],
  ['shop.example', [['https://shop.example', 'http://shop.example']]],
  ['shop.example', [['https://shop.example:8443', 'http://localhost:3000']]],
  ['shop.example', [['https://shop.example'], ['http://127.0.0.1:5173', 'http://a.localhost']]],
  ['xn--blbr-roah.example', [['https://Blåbær.example']]],
  ['192.168.1.5', [['http://192.168.1.5:3000']]],
  ['www.example.com', [['https://*.shop.example']]],
  ['www.example.com', [['https://www.shop.example', 'https://*.shop.example']]],
  ['www.example.com', [['https://a.example'], ['https://b.example']]],
  ['www.example.com', [['http://localhost:3000']]],
  ['www.example.com', [['http://[::1]:3000', 'http://*.localhost']]],
  ['www.example.com', []],
])('an example names the site %s if the projects list %j', async (expected, origins) => {
  const path = `${tempDir()}/projects.json`;
  const projects = origins.map((list, i) => ({ id: `${i}`, origins: list }));
  writeFileSync(path, JSON.stringify({ projects }));
  expect(await valueOf('site', `--projects ${path}`)).toBe(expected);
  expect(await valueOf('site', '')).toBe('www.example.com');
});

it.runIf(process.getuid?.() === 0)(
  "example refuses to print a service that its user can't start",
  async () => {
    const [home, data] = [tempDir(), tempDir()];
    chmodSync(home, 0o700);
    chmodSync(data, 0o755);
    const owner = { uid: 998, gid: 997, name: 'viewlog' };
    const program = `${home}/viewlog.mjs`;
    const run = (here: Partial<Installation>) => valueOf('run', `--data ${data}/d`, here);
    await expect(run({ owner, program })).rejects.toThrow(
      `The service can't run: user viewlog can't enter "${home}"`,
    );
    chmodSync(home, 0o755);
    expect(await run({ owner, program })).toContain(program);
  },
);
