import { describe, expect, it } from 'vitest';
import { Fatal } from '../src/base/exit.ts';
import { envName, type OptionName, OPTIONS, readSettings } from '../src/settings.ts';
import { formatSize } from '../src/base/size.ts';

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
      name: undefined,
      'archive-from': undefined,
      once: false,
      'replay-to': undefined,
      project: undefined,
      'from-day': undefined,
      'to-day': undefined,
      'time-zone': undefined,
      top: 10,
      html: undefined,
      json: false,
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
    ['--max-view', '1023', 'a size from 1 KiB to 1 MiB, such as 512KiB or 64MiB'],
    ['--max-view', '1025KiB', 'a size from 1 KiB to 1 MiB, such as 512KiB or 64MiB'],
    ['--max-view', '1.5KiB', 'a size from 1 KiB to 1 MiB, such as 512KiB or 64MiB'],
    ['--max-view', '16KB', 'a size from 1 KiB to 1 MiB, such as 512KiB or 64MiB'],
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
