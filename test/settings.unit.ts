import { formatSize } from '../src/base/format.ts';
import { describe, expect, it } from 'vitest';
import { Fatal } from '../src/base/exit.ts';
import {
  commandOf,
  envName,
  type OptionName,
  OPTIONS,
  readSettings,
  strayVariables,
} from '../src/settings.ts';

const ALL = Object.keys(OPTIONS) as OptionName[];
const read = (args: string[], env: Record<string, string> = {}) =>
  readSettings(args, ALL, (name) => env[name]);

function usageError(args: string[], env: Record<string, string> = {}): string {
  try {
    read(args, env);
  } catch (error) {
    if (error instanceof Fatal && error.exitCode === 64) return error.message;
    throw error;
  }
  throw new Error(`accepted: ${args.join(' ')}`);
}

describe('settings', () => {
  it('have these defaults', () => {
    expect(read([]).settings).toStrictEqual({
      host: '127.0.0.1',
      port: 8080,
      data: './data',
      projects: './data/projects.json',
      durability: 'disk',
      'max-view': 16 * 1024,
      'max-queue': 32 * 1024 * 1024,
      'min-free': 64 * 1024 * 1024,
      'max-refused': 64 * 1024 * 1024,
      'keep-refused-days': 14,
      'keep-days': 0,
      store: undefined,
      'nats-stream': 'VIEWS',
      'nats-replicas': undefined,
      'nats-creds': undefined,
      status: { host: '127.0.0.1', port: 8081 },
      'status-token-file': undefined,
      log: 'text',
      origin: [],
      'remove-origin': [],
      'max-views-per-minute': undefined,
      contact: undefined,
      operator: undefined,
      name: undefined,
      'archive-from': undefined,
      once: false,
      'replay-to': undefined,
      project: undefined,
      'from-day': undefined,
      'to-day': undefined,
      last: undefined,
      query: false,
      'time-zone': undefined,
      top: 10,
      html: undefined,
      json: false,
      campaigns: false,
      url: undefined,
    });
  });

  it('are read from the environment under the name of each flag, and flags win', () => {
    const env = { VIEWLOG_PORT: '1', VIEWLOG_MAX_VIEW: '2KiB', VIEWLOG_KEEP_REFUSED_DAYS: '3' };
    expect(read([], env).settings).toMatchObject({
      port: 1,
      'max-view': 2048,
      'keep-refused-days': 3,
    });
    expect(read(['--port', '4'], env).settings.port).toBe(4);
    expect(usageError([], { VIEWLOG_PORT: 'x' })).toBe(
      'VIEWLOG_PORT must be a whole number from 0 to 65535, not "x"',
    );
    for (const name of ALL) expect(envName(name)).toMatch(/^VIEWLOG_[A-Z]+(_[A-Z]+)*$/);
  });

  it('are exactly those that a command names, and no other is read', () => {
    const asked: string[] = [];
    const env = (name: string): string | undefined => {
      asked.push(name);
      return name === 'VIEWLOG_TOP' ? 'abc' : undefined;
    };
    const { settings } = readSettings([], ['port', 'origin', 'from-day'], env);
    expect(settings).toStrictEqual({ port: 8080, origin: [], 'from-day': undefined });
    expect(asked).toStrictEqual(['VIEWLOG_PORT', 'VIEWLOG_ORIGIN', 'VIEWLOG_FROM_DAY']);
  });

  it.each(ALL)('are read from the environment, --%s too', (name) => {
    const asked: string[] = [];
    readSettings([], [name], (variable) => void asked.push(variable));
    expect(asked).toContain(envName(name));
  });

  it('take several from one variable where a flag may come several times', () => {
    const env = {
      VIEWLOG_ORIGIN: ' https://a.example  https://b.example',
      VIEWLOG_NAME: 'My site',
    };
    const { settings } = read([], env);
    expect(settings.origin).toStrictEqual(['https://a.example', 'https://b.example']);
    expect(settings.name).toBe('My site');
    expect(read(['--origin=c', '--name=d'], env).settings).toMatchObject({
      origin: ['c'],
      name: 'd',
    });
  });

  it('of one flag mean what the command at hand means by it', () => {
    const { settings } = readSettings(['--from', 'nats://a'], ['archive-from'], () => undefined);
    expect(settings['archive-from']).toMatchObject({ servers: expect.anything() });
    const days = readSettings(['--from=2026-01-01', '--to=2026-01-02'], ['from-day', 'to-day']);
    expect(days.settings).toStrictEqual({ 'from-day': '2026-01-01', 'to-day': '2026-01-02' });
  });

  it('pass over a link to a service that has the name of a setting', () => {
    const env = { VIEWLOG_PORT: 'tcp://10.0.0.1:8080' };
    expect(read([], env).settings.port).toBe(8080);
    expect(usageError([], { VIEWLOG_PORT: 'http://10.0.0.1' })).toContain('VIEWLOG_PORT must be');
  });

  it('find the projects file in the data directory, unless it is named', () => {
    expect(read(['--data', '/d/']).settings.projects).toBe('/d/projects.json');
    expect(read(['--data', '/']).settings.projects).toBe('//projects.json');
    expect(read(['--data', '/d', '--projects', 'p.json']).settings.projects).toBe('p.json');
  });

  it('take the last of a repeated flag, and every --origin', () => {
    const { settings } = read(['--port=1', '--port=2', '--origin', 'a', '--origin=b']);
    expect(settings.port).toBe(2);
    expect(settings.origin).toStrictEqual(['a', 'b']);
  });

  it('leave what is no flag to the command', () => {
    expect(read(['a', '--port', '1', '-', '--', '--b']).operands).toStrictEqual(['a', '-', '--b']);
  });

  it.each([
    ['off', 'off'],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:8081', { host: '::1', port: 8081 }],
    ['status.example:65535', { host: 'status.example', port: 65535 }],
  ])('take the status address %s', (text, address) => {
    expect(read(['--status', text]).settings.status).toStrictEqual(address);
  });

  it.each([
    ['1024', 1024],
    ['1KiB', 1024],
    ['512kib', 512 * 1024],
    ['1MiB', 1024 * 1024],
  ])('take the size %s', (text, bytes) => {
    expect(read(['--max-view', text]).settings['max-view']).toBe(bytes);
  });

  it.each([
    ['--max-view', '1023', 'a size from 1 KiB to 1 MiB, such as 16KiB or 512KiB'],
    ['--max-view', '1025KiB', 'a size from 1 KiB to 1 MiB, such as 16KiB or 512KiB'],
    ['--max-view', '1.5KiB', 'a size from 1 KiB to 1 MiB, such as 16KiB or 512KiB'],
    ['--max-view', '16KB', 'a size from 1 KiB to 1 MiB, such as 16KiB or 512KiB'],
    ['--min-free', '2048TiB', 'a size from 0 bytes to 1024 TiB, such as 512KiB or 64MiB'],
    ['--port', '65536', 'a whole number from 0 to 65535'],
    ['--port', '-1', 'a whole number from 0 to 65535'],
    ['--port', '', 'a whole number from 0 to 65535'],
    ['--keep-days', '36501', 'a whole number from 0 to 36500'],
    ['--durability', 'memory', 'disk or os'],
    ['--data', '', 'some text'],
    ['--status', '8081', 'an address and a port, such as 127.0.0.1:8081, or off'],
    ['--status', '127.0.0.1', 'an address and a port, such as 127.0.0.1:8081, or off'],
    ['--status', '::1:8081', 'an address and a port, such as 127.0.0.1:8081, or off'],
    ['--status', '127.0.0.1:65536', 'an address and a port, such as 127.0.0.1:8081, or off'],
    ['--log', 'xml', 'text or json'],
  ])('refuse %s %j', (flag, value, expected) => {
    expect(usageError([`${flag}=${value}`])).toBe(`${flag} must be ${expected}, not "${value}"`);
  });

  it('are refused without telling a password that stands in a wrong place', () => {
    for (const args of [['--port=nats://u:secret@h'], ['--nats://u:secret@h']]) {
      expect(usageError(args)).toContain('…@h');
      expect(usageError(args)).not.toContain('secret');
    }
  });

  it.each(['--data=d', '--durability=os', '--min-free=1', '--keep-days=1'])(
    'refuse %s with a stream, which has no use for it',
    (flag) => {
      const name = flag.replace(/=.*/, '');
      for (const [args, env] of [
        [['--store=nats://a', flag], {}],
        [[flag], { VIEWLOG_STORE: 'nats://a' }],
      ] as const) {
        expect(usageError([...args], env)).toContain(`${name} is of no use with --store`);
      }
      // The environment may be set for other commands.
      const env = { VIEWLOG_DATA: '/d', VIEWLOG_KEEP_DAYS: '1' };
      expect(read(['--store=nats://a'], env).settings.projects).toBe('/d/projects.json');
    },
  );

  it.each(['--nats-stream=A', '--nats-replicas=3', '--nats-creds=f'])(
    'refuse %s without a stream',
    (flag) => {
      const name = flag.replace(/=.*/, '');
      expect(usageError([flag])).toBe(`${name} is of no use without --store nats://…`);
      expect(() => read([flag], { VIEWLOG_STORE: 'nats://a' })).not.toThrow();
    },
  );

  it.each(['A.B', 'A B', 'A*', '>', '../A', 'A\nB', ''])('refuse the stream %j', (name) => {
    expect(usageError(['--store=nats://a', '--nats-stream', name])).toContain(
      '--nats-stream must be letters, digits, _ and -',
    );
  });

  it('repeat nothing of an address that may have a password in it', () => {
    const address = 'nats://user:s3cret@host:99999';
    for (const said of [
      usageError(['--store', address]),
      usageError([], { VIEWLOG_STORE: address }),
    ]) {
      expect(said).toMatch(/must be an address such as nats:\/\/host:4222,host2:4222$/);
    }
  });

  it('say what a flag lacks, or what it probably was', () => {
    expect(usageError(['--port'])).toBe('--port needs a value: --port PORT');
    expect(usageError(['--data', '--port', '1'])).toBe(
      '--data needs a value, not the flag --port: --data DIR',
    );
    expect(usageError(['--html', '--data=d'])).toBe(
      '--html needs a value, not the flag --data: --html FILE',
    );
    expect(read(['--name=--port', '--html', '--zzz']).settings).toMatchObject({
      name: '--port',
      html: '--zzz',
    });
    expect(usageError(['--maxview', '1'])).toBe(
      'Unknown option --maxview; did you mean --max-view?',
    );
    expect(usageError(['--zzzzzz'])).toBe('Unknown option --zzzzzz; see --help');
    expect(usageError(['-p', '1'])).toBe('Unknown option -p; see --help');
    expect(usageError(['--\u001b[2J'])).toBe(String.raw`Unknown option --\u001b[2J; see --help`);
  });
});

it('sizes are shown in the largest unit that does not round', () => {
  expect([0, 1023, 1024, 1536, 1024 ** 2, 3 * 1024 ** 4].map(formatSize)).toStrictEqual([
    '0 bytes',
    '1023 bytes',
    '1 KiB',
    '1536 bytes',
    '1 MiB',
    '3 TiB',
  ]);
});

describe('a command line', () => {
  it.each([
    [[], undefined, []],
    [['--port', '0'], undefined, ['--port', '0']],
    [['serve', '--port', '0'], 'serve', ['--port', '0']],
    [['--port', '0', 'serve'], 'serve', ['--port', '0']],
    [['--port=0', 'serve', '--data', 'd'], 'serve', ['--port=0', '--data', 'd']],
    [['--json', 'report', 'a', 'b'], 'report', ['--json', 'a', 'b']],
    [['--data', 'report'], undefined, ['--data', 'report']],
    [['--', 'report'], undefined, ['--', 'report']],
    [['verify', '--', '--help'], 'verify', ['--', '--help']],
    [['help'], 'help', []],
    [['help', 'serve'], 'help', ['serve']],
    [['help', '--data', 'd', 'serve'], 'help', ['serve']],
    [['-h'], 'help', []],
    [['--help', 'serve'], 'help', ['serve']],
    [['serve', 'x', '--zzz', '-h'], 'help', ['serve']],
    [['version'], 'version', []],
    [['version', '--data', 'd'], 'version', []],
    [['-v'], 'version', []],
    [['serve', '--version'], 'version', []],
  ])('%j names the command %s', (args, name, rest) => {
    expect(commandOf(args)).toStrictEqual({ name, rest });
  });

  it.each([
    [['--prot', '80', 'serve'], 'Unknown option --prot; did you mean --port?'],
    [['--html', '--data', 'd', 'report'], '--html needs a value, not the flag --data: --html FILE'],
    [['--port'], '--port needs a value: --port PORT'],
  ])('%j is refused before a command is looked for', (args, message) => {
    expect(() => commandOf(args)).toThrow(new Fatal(64, message));
  });
});

describe('variables that are no settings', () => {
  const warnings = (env: Record<string, string>): string[] =>
    strayVariables(Object.keys(env), (name) => env[name]);

  it('are warned of, with the nearest that is one', () => {
    expect(
      warnings({ VIEWLOG_MAXVIEW: '1', VIEWLOG_XYZ: '2', 'VIEWLOG_\u001b': '' }),
    ).toStrictEqual([
      'Nothing reads the environment variable VIEWLOG_MAXVIEW; did you mean VIEWLOG_MAX_VIEW?',
      'Nothing reads the environment variable VIEWLOG_XYZ; see viewlog help COMMAND',
      String.raw`Nothing reads the environment variable VIEWLOG_\u001b; see viewlog help COMMAND`,
    ]);
  });

  it('are not the settings of any command, and not others’', () => {
    const env = Object.fromEntries(ALL.map((name) => [envName(name), 'x']));
    expect(warnings({ ...env, VIEWLOG_STATUS_TOKEN: 'x', VIEWLOGX: '', PATH: '' })).toStrictEqual(
      [],
    );
  });

  it('are passed over where they are links to services', () => {
    const env = {
      VIEWLOG_SERVICE_HOST: '10.0.0.1',
      VIEWLOG_SERVICE_PORT: '8080',
      VIEWLOG_SERVICE_PORT_HTTP: '8080',
      VIEWLOG_PORT: 'tcp://10.0.0.1:8080',
      VIEWLOG_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      VIEWLOG_PORT_8080_TCP_PROTO: 'tcp',
      VIEWLOG_PORT_8080_TCP_PORT: '8080',
      VIEWLOG_PORT_8080_TCP_ADDR: '10.0.0.1',
      VIEWLOG_STATUS_SERVICE_HOST: '10.0.0.1',
      VIEWLOG_STATUS_PORT: 'tcp://10.0.0.1:8081',
      VIEWLOG_STATUS_PORT_8081_TCP_ADDR: '10.0.0.1',
    };
    expect(warnings(env)).toStrictEqual([]);
    expect(warnings({ VIEWLOG_STATUS_PORT: '8081' })).toHaveLength(1);
  });
});
