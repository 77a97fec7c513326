import { describe, expect, it } from 'vitest';
import { Fatal } from '../src/base/exit.ts';
import type { Command } from '../src/commands/command.ts';
import { doctor } from '../src/commands/doctor.ts';
import { report } from '../src/commands/report.ts';
import { archive, serve } from '../src/commands/serve.ts';
import { helpCommand } from '../src/installation/commands.ts';
import {
  envName,
  type OptionName,
  OPTIONS,
  readArguments,
  readSettings,
  strayVariables,
} from '../src/settings.ts';

const ALL = Object.keys(OPTIONS) as OptionName[];
/** Every option except those with a flag that means something else in another command. */
const DISTINCT = ALL.filter((name) => !/-day$|^probe-project$/.test(name));
type Env = Record<string, string>;

const readOf = <K extends OptionName>(names: readonly K[], args: string[], env: Env = {}) =>
  readSettings(readArguments(args).flags, names, (name) => env[name]);
const read = (args: string[], env: Env = {}) => readOf(DISTINCT, args, env);

function usageError(args: string[], env: Env = {}): string {
  try {
    read(args, env);
  } catch (error) {
    if (error instanceof Fatal && error.exitCode === 64) return error.message;
    throw error;
  }
  throw new Error(`accepted: ${args.join(' ')}`);
}

describe('settings', () => {
  it('have the expected defaults', () => {
    const set = Object.entries(readOf(ALL, [])).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(set)).toStrictEqual({
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
      'nats-stream': 'VIEWS',
      status: { host: '127.0.0.1', port: 8081 },
      log: 'text',
      origin: [],
      'remove-origin': [],
      receipt: false,
      once: false,
      query: false,
      top: 10,
      json: false,
      campaigns: false,
      licenses: false,
    });
  });

  it('are read from the environment unless options set them', () => {
    const env = { VIEWLOG_PORT: '1', VIEWLOG_MAX_VIEW: '2KiB', VIEWLOG_KEEP_REFUSED_DAYS: '3' };
    expect(read([], env)).toMatchObject({ port: 1, 'max-view': 2048, 'keep-refused-days': 3 });
    expect(read(['--port', '4'], env).port).toBe(4);
    expect(usageError([], { VIEWLOG_PORT: 'x' })).toBe(
      'VIEWLOG_PORT must be a whole number from 0 to 65535; found "x". For example: VIEWLOG_PORT=8080',
    );
  });

  it('prefer a status token in a variable to the file that another variable names', () => {
    const env = { VIEWLOG_STATUS_TOKEN_FILE: '/data/t', VIEWLOG_STATUS_TOKEN: 'x'.repeat(32) };
    const fileOf = (args: string[], variables: Env) => read(args, variables)['status-token-file'];
    expect(fileOf([], env)).toBeUndefined();
    expect(fileOf([], { ...env, VIEWLOG_STATUS_TOKEN: '' })).toBe('/data/t');
    expect(fileOf(['--status-token-file=/t'], env)).toBe('/t');
  });

  it('each have a variable, except the project to which the doctor sends a real view', () => {
    for (const name of ALL.filter((one) => one !== 'probe-project')) {
      const asked: string[] = [];
      readSettings([], [name], (variable) => void asked.push(variable));
      expect(envName(name)).toMatch(/^VIEWLOG_[A-Z]+(_[A-Z]+)*$/);
      expect(asked).toContain(envName(name));
    }
    const env = { VIEWLOG_PROJECT: '7', VIEWLOG_PROBE_PROJECT: '7' };
    expect(readOf(['probe-project'], [], env)).toStrictEqual({ 'probe-project': undefined });
    expect(readOf(['probe-project'], ['--project=8'], env)['probe-project']).toBe('8');
    expect(readOf(['project'], [], env).project).toBe('7');
    expect(doctor.options).toContain('probe-project');
    expect(doctor.options).not.toContain('project');
  });

  it('take several values from a repeated flag or from one variable', () => {
    const env = { VIEWLOG_ORIGIN: ' https://a.com  https://b.com', VIEWLOG_NAME: 'My site' };
    const origin = ['https://a.com', 'https://b.com'];
    expect(read([], env)).toMatchObject({ origin, name: 'My site' });
    const flags = ['--origin=c', '--origin', 'd', '--port=1', '--port=2'];
    expect(read(flags, env)).toMatchObject({ origin: ['c', 'd'], port: 2 });
  });

  it('include two --from options, one for archive and one for report', () => {
    const archive = readOf(['archive-from'], ['--from', 'nats://a']);
    expect(archive['archive-from']).toMatchObject({ servers: expect.anything() });
    expect(readOf(['from-day'], ['--from=2026-01-01'])['from-day']).toBe('2026-01-01');
  });

  it.each([
    ['accept off for --status', ['--status=off'], 'status', 'off'],
    [
      'accept an IPv6 address for --status',
      ['--status=[::1]:8081'],
      'status',
      { host: '::1', port: 8081 },
    ],
    ['accept an IPv6 address for --host', ['--host=::1'], 'host', '::1'],
    ['accept a scoped IPv6 address for --host', ['--host=fe80::1%eth0'], 'host', 'fe80::1%eth0'],
    ['accept an IPv6 address in brackets for --host', ['--host=[::1]'], 'host', '::1'],
    ['accept 0 without a unit', ['--min-free=0'], 'min-free', 0],
    ['accept a unit in lower case', ['--min-free=512kib'], 'min-free', 512 * 1024],
    ['accept a space before a unit', ['--min-free', '1 MiB'], 'min-free', 1024 * 1024],
    ['expect the projects file in --data', ['--data=/d/'], 'projects', '/d/projects.json'],
    ['accept a projects file elsewhere', ['--data=/d', '--projects=p.json'], 'projects', 'p.json'],
  ] as const)('%s', (_, args, name, value) => {
    expect(read([...args])[name]).toStrictEqual(value);
  });

  const STATUS = 'an address with a port, or off';
  const VIEW = 'a size with a unit, from 1 KiB to 1 MiB';
  const SPACE = 'a size with a unit, from 0 bytes to 1024 TiB';
  const PORT = 'a whole number from 0 to 65535';
  const HOST = 'an address or a host name, without a port';
  it.each([
    ['--min-free', '16', SPACE, 'Did you mean 16MiB?'],
    // Earlier builds took bytes.
    ['--min-free', '16777216', SPACE, 'Did you mean 16MiB?'],
    ['--min-free', '2 gb', SPACE, 'Did you mean 2GiB?'],
    ['--max-view', '16', VIEW, 'Did you mean 16KiB?'],
    ['--max-view', '16k', VIEW, 'Did you mean 16KiB?'],
    ['--max-view', '2M', VIEW, 'For example: --max-view 16KiB'],
    ['--max-view', '1023B', VIEW, 'For example: --max-view 16KiB'],
    ['--max-view', '1025KiB', VIEW, 'For example: --max-view 16KiB'],
    ['--port', '65536', PORT, 'For example: --port 8080'],
    ['--keep-days', '36501', 'a whole number from 0 to 36,500', 'For example: --keep-days 30'],
    ['--json', 'on', 'yes or no', 'For example: --json=yes'],
    ['--time-zone', 'New York', 'the name of a time zone', 'Did you mean America/New_York?'],
    ['--status', '8081', STATUS, 'For example: --status 127.0.0.1:8081'],
    ['--status', '::1:8081', STATUS, 'For example: --status 127.0.0.1:8081'],
    ['--status', '127.0.0.1:65536', STATUS, 'For example: --status 127.0.0.1:8081'],
    ['--host', 'localhost:8103', HOST, 'Did you mean localhost, with --port 8103?'],
    ['--host', '[::1]:8103', HOST, 'Did you mean [::1], with --port 8103?'],
    ['--host', 'http://127.0.0.1', HOST, 'Did you mean 127.0.0.1?'],
    ['--host', 'a b', HOST, 'For example: --host 127.0.0.1'],
  ])('refuse %s %j', (flag, value, expected, hint) => {
    expect(usageError([`${flag}=${value}`])).toBe(
      `${flag} must be ${expected}; found "${value}". ${hint}`,
    );
  });

  it.each([
    ['--name=', '--name must not be empty'],
    ['--data=', '--data must not be empty'],
    ['--host=', '--host must not be empty'],
    ['--origin=', '--origin must not be empty'],
    ['--nats-stream=', '--nats-stream must not be empty'],
    ['--durability=', '--durability must be disk or os; found ""'],
    ['--durability=maybe', '--durability must be disk or os; found "maybe"'],
    [
      '--nats-stream=../A',
      '--nats-stream must be 1 to 200 letters, digits, _ or -; found "../A". For example: --nats-stream VIEWS',
    ],
    ['--project=x', '--project must be 1 to 20 digits; found "x". For example: --project 1000001'],
    [
      '--max-views-per-minute=0',
      '--max-views-per-minute must be a whole number from 1 to 1,000,000,000; found "0". For example: --max-views-per-minute 6000',
    ],
  ])('refuse %s and name the broken rule', (arg, message) => {
    expect(usageError([arg])).toBe(message);
  });

  it('each have a valid example', () => {
    for (const name of ALL) {
      const { read: parse, example } = OPTIONS[name].parser;
      expect([name, parse(example)]).not.toStrictEqual([name, undefined]);
    }
  });

  it.each([
    [
      '--data=d',
      "--data can't be used with VIEWLOG_STORE; leave it out, and name the projects file with --projects",
      'nats://a',
    ],
    ['--keep-days=1', '--keep-days has no effect with VIEWLOG_STORE; leave it out', 'nats://a'],
    [
      '--nats-creds=3',
      '--nats-creds has no effect without --store; leave it out, or add --store nats://host:4222',
      '',
    ],
  ])('refuse %s, which viewlog would ignore', (flag, message, store) => {
    expect(usageError([flag], { VIEWLOG_STORE: store })).toBe(message);
  });

  it('require a --max-queue of at least twice --max-view', () => {
    expect(() => read(['--max-view', '1MiB', '--max-queue', '2MiB'])).not.toThrow();
    expect(() => read(['--max-view', '1MiB'], { VIEWLOG_MAX_QUEUE: '2097151B' })).toThrow(
      expect.objectContaining({
        exitCode: 78,
        message:
          '--max-queue 2097151B is too small for --max-view 1MiB; set --max-queue to 2MiB or more',
      }),
    );
  });

  it('leave an address that may contain a password out of errors', () => {
    const address = 'nats://user:s3cret@host:99999';
    const expected = 'must be the address of one or more NATS servers (nats:// or tls://)';
    const example = 'nats://host:4222,host2:4222';
    expect(usageError(['--store', address])).toBe(
      `--store ${expected}. For example: --store ${example}`,
    );
    expect(usageError([], { VIEWLOG_STORE: address })).toBe(
      `VIEWLOG_STORE ${expected}. For example: VIEWLOG_STORE=${example}`,
    );
    for (const args of [['--port=nats://u:s3cret@h'], ['--nats://u:s3cret@h']]) {
      expect(usageError(args)).toMatch(/^(?!.*s3cret).*…@h/);
    }
  });
});

describe('readArguments', () => {
  it.each([
    ['accepts options without a command', ['--port', '0'], undefined, ['port=0'], []],
    [
      'accepts options before and after the command',
      ['--port=0', 'serve', '--data', 'd'],
      'serve',
      ['port=0', 'data=d'],
      [],
    ],
    [
      'accepts options before the command',
      ['--json', 'report', 'a', '-'],
      'report',
      ['json=yes'],
      ['a', '-'],
    ],
    [
      'accepts operands that begin with dashes after --',
      ['verify', '--', '--help', '\u2014last'],
      'verify',
      [],
      ['--help', '\u2014last'],
    ],
    [
      'accepts values that begin with dashes',
      ['check', '--name=--port', '--html', '--zzz'],
      'check',
      ['name=--port', 'html=--zzz'],
      [],
    ],
    ['accepts -h for help', ['-h'], 'help', [], []],
    ['accepts --help before a command', ['--help', 'serve'], 'help', [], ['serve']],
    ['accepts -h after an unknown option', ['serve', 'x', '--zzz', '-h'], 'help', [], ['serve']],
    ['accepts -v for version', ['-v'], 'version', [], []],
    ['accepts -V for version', ['-V'], 'version', [], []],
    ['accepts --version after a command', ['serve', '--version'], 'version', [], []],
  ])('%s', (_, args, command, flags, operands) => {
    const line = readArguments(args);
    const given = line.flags.map(({ name, value }) => `${name}=${value}`);
    expect({ ...line, flags: given }).toStrictEqual({ command, flags, operands });
  });

  const LIST = `To list all commands: ${helpCommand()}`;
  const DASH = 'Options begin with two hyphens (--); found';
  const NONE = 'serve has no option --no-status';
  const PORT = 'a whole number from 0 to 65535. For example: --port 8080';
  const DAY = 'a valid date (YYYY-MM-DD), today or yesterday. For example: --from 2026-01-31';
  it.each([
    [
      'an unknown option before the command',
      ['--prot', '80', 'serve'],
      'Unknown option --prot. Did you mean --port?',
    ],
    ['an unknown option of one letter', ['-p', '1'], `Unknown option -p. ${LIST}`],
    ['an option with one hyphen', ['-port', '1'], 'Unknown option -port. Did you mean --port?'],
    ['-host, which begins like -h', ['-host=a'], 'serve has no option -host. Did you mean --host?'],
    ['an em dash', ['\u2014port', '1'], `${DASH} "\u2014port". Did you mean --port?`],
    ['an en dash', ['report', '\u2013last=7'], `${DASH} "\u2013last". Did you mean --last?`],
    ['an en dash and a hyphen', ['\u2013-zzzz'], `${DASH} "\u2013-zzzz". ${LIST}`],
    [
      '--no-status, instead of --status off',
      ['--no-status'],
      `${NONE}. Did you mean --status off?`,
    ],
    ['an option of help', ['help', 'serve', '--zz'], 'help takes no options; leave out --zz'],
    [
      'an unknown option with an escape sequence',
      ['--\u001b[2J', 'x'],
      String.raw`Unknown option --\u001b[2J. ${LIST}`,
    ],
    ['a misspelt option', ['--maxview'], 'serve has no option --maxview. Did you mean --max-view?'],
    [
      'an option with a capital letter',
      ['--Version'],
      'serve has no option --Version. Did you mean --version?',
    ],
    [
      'an option of another command',
      ['--json'],
      `serve has no option --json. To list its options: ${helpCommand('serve')}`,
    ],
    [
      'a misspelt option that has a value',
      ['report', '--tob=1'],
      'report has no option --tob. Did you mean --to?',
    ],
    [
      'a collector option given to archive',
      ['archive', '--store=nats://a'],
      'archive has no option --store. Did you mean --from?',
    ],
    [
      'an option without its value, which must be one of several words',
      ['--durability'],
      '--durability needs a value: disk or os',
    ],
    ['an option without its value', ['--port'], `--port needs a value: ${PORT}`],
    [
      'an option without its value before another option',
      ['--port', '--data=d'],
      '--port needs a value: a whole number from 0 to 65535; found --data. For example: --port 8080',
    ],
    [
      'an option without its value after the command',
      ['report', '--from'],
      `--from needs a value: ${DAY}`,
    ],
  ])('refuses %s', (_, args, message) => {
    const commands: readonly Command[] = [serve, archive, report];
    const optionsOf = (name = 'serve') =>
      name === 'help' ? [] : commands.find((one) => one.name === name)?.options;
    expect(() => readArguments(args, optionsOf)).toThrow(new Fatal(64, message));
  });
});

describe('variables that no command reads', () => {
  const warnings = (env: Env): string[] => strayVariables(Object.keys(env), (name) => env[name]);

  it('cause a warning with the nearest name', () => {
    const env = { VIEWLOG_MAXVIEW: '1', VIEWLOG_UID: '2', 'VIEWLOG_\u001b': '' };
    const list = `To list a command's options: ${helpCommand('COMMAND')}`;
    expect(warnings(env)).toStrictEqual([
      'No command reads the environment variable VIEWLOG_MAXVIEW. Did you mean VIEWLOG_MAX_VIEW?',
      `No command reads the environment variable VIEWLOG_UID. ${list}`,
      String.raw`No command reads the environment variable VIEWLOG_\u001b. ${list}`,
    ]);
  });

  it("don't include settings of other commands or variables of other programs", () => {
    const names = [...ALL.flatMap((name) => envName(name) ?? []), 'VIEWLOG_STATUS_TOKEN'];
    expect(strayVariables([...names, 'VIEWLOGX', 'PATH'], () => 'x')).toStrictEqual([]);
  });

  it("don't include service links, which set nothing", () => {
    const env = {
      VIEWLOG_SERVICE_HOST: '10.0.0.1',
      VIEWLOG_SERVICE_PORT_HTTP: '8080',
      VIEWLOG_PORT: 'tcp://10.0.0.1:8080',
      VIEWLOG_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      VIEWLOG_PORT_8080_TCP_ADDR: '10.0.0.1',
      VIEWLOG_STATUS_SERVICE_HOST: '10.0.0.1',
      VIEWLOG_STATUS_PORT: 'tcp://10.0.0.1:8081',
    };
    expect(warnings(env)).toStrictEqual([]);
    expect(read([], env).port).toBe(8080);
    expect(warnings({ VIEWLOG_STATUS_PORT: '8081' })).toHaveLength(1);
    expect(usageError([], { VIEWLOG_PORT: 'http://10.0.0.1' })).toContain('VIEWLOG_PORT must be');
  });
});
