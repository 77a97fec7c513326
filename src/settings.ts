import { parseArgs } from 'node:util';
import { isDay } from './base/time.ts';
import { PORT_MAX } from './base/limits.ts';
import { formatSize, KiB, MiB, parseSize } from './base/size.ts';
import { type ReadEnv, readEnv } from './base/env.ts';
import { EXIT, Fatal } from './base/exit.ts';
import { type ClusterAddress, parseClusterAddress } from './jetstream/address.ts';
import { LINE_BYTES_MAX } from './view/line.ts';
import { PROJECT_ID } from './view/project-id.ts';
import { echo, nearest } from './base/text.ts';

// Every flag, its default and its limits; what no flag changes is in `base/limits.ts`.

type Parse<T> = (text: string) => T | Problem;
class Problem {
  readonly expected: string;
  constructor(expected: string) {
    this.expected = expected;
  }
}

interface Option<T> {
  /** What stands for its value in the help; empty for a switch, which has none. */
  readonly value: string;
  readonly help: string;
  readonly fallback: string | undefined;
  readonly parse: Parse<T>;
  /** How it is typed, where that is not its name: commands may each have a `--to` of their own. */
  readonly flag?: string;
}

const option = <T>(
  value: string,
  fallback: string | undefined,
  help: string,
  parse: Parse<T>,
  flag?: string,
): Option<T> => ({ value, fallback, help, parse, ...(flag !== undefined && { flag }) });

const text: Parse<string> = (value) => (value === '' ? new Problem('some text') : value);

const whole =
  (min: number, max: number): Parse<number> =>
  (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max
      ? number
      : new Problem(`a whole number from ${min} to ${max}`);
  };

/** Bytes, or a whole number with KiB, MiB, GiB or TiB. */
const size =
  (min: number, max: number): Parse<number> =>
  (value) => {
    const bytes = parseSize(value);
    return bytes >= min && bytes <= max
      ? bytes
      : new Problem(
          `a size from ${formatSize(min)} to ${formatSize(max)}, such as 512KiB or 64MiB`,
        );
  };

const choice =
  <const T extends string>(...choices: T[]): Parse<T> =>
  (value) =>
    choices.find((name) => name === value) ?? new Problem(choices.join(' or '));

/** `127.0.0.1:8081`, `[::1]:8081`; `off` for none. */
const addressOrOff: Parse<'off' | { readonly host: string; readonly port: number }> = (value) => {
  if (value === 'off') return value;
  const [, ipv6, name, port] = /^(?:\[([\da-f:.]+)\]|([^\s:/]+)):(\d{1,5})$/i.exec(value) ?? [];
  const host = ipv6 ?? name;
  if (host === undefined || Number(port) > PORT_MAX) {
    return new Problem('an address and a port, such as 127.0.0.1:8081, or off');
  }
  return { host, port: Number(port) };
};

const day: Parse<string> = (value) =>
  isDay(value) ? value : new Problem('a day such as 2026-01-31');

const httpUrl: Parse<string> = (value) =>
  /^https?:\/\/[^\s/?#]+\/?$/i.test(value) && URL.canParse(value)
    ? value.replace(/\/$/, '')
    : new Problem('an address such as http://127.0.0.1:8080');

const clusterAddress: Parse<ClusterAddress> = (value) =>
  parseClusterAddress(value) ?? new Problem('an address such as nats://host:4222,host2:4222');

const streamName: Parse<string> = (value) =>
  /^[\w-]{1,200}$/.test(value) ? value : new Problem('letters, digits, _ and -');

const projectId: Parse<string> = (value) =>
  PROJECT_ID.test(value) ? value : new Problem('1 to 20 digits');

const yesOrNo: Parse<boolean> = (value) =>
  ['yes', 'no'].includes(value) ? value === 'yes' : new Problem('yes or no');

const timeZone: Parse<string> = (value) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return new Problem('a time zone such as Europe/Oslo or UTC');
  }
};

const DAYS_MAX = 36_500;
const SIZE_MAX = 1024 * MiB * MiB;

export const OPTIONS = {
  host: option('ADDRESS', '127.0.0.1', 'address to listen on', text),
  port: option('PORT', '8080', 'port to listen on; 0: any free one', whole(0, PORT_MAX)),
  data: option('DIR', './data', 'directory of the view files', text),
  projects: option('FILE', undefined, 'projects file (default: projects.json in --data)', text),
  durability: option(
    'WHEN',
    'disk',
    'acknowledge a view after fdatasync (disk) or after write (os)',
    choice('disk', 'os'),
  ),
  'max-view': option(
    'SIZE',
    '16KiB',
    'largest view, as sent and as stored',
    size(KiB, LINE_BYTES_MAX),
  ),
  'max-queue': option(
    'SIZE',
    '32MiB',
    'largest total of views under way',
    size(64 * KiB, SIZE_MAX),
  ),
  'min-free': option('SIZE', '64MiB', 'refuse views below this much free disk', size(0, SIZE_MAX)),
  'max-refused': option('SIZE', '64MiB', 'refused views kept a day', size(0, SIZE_MAX)),
  'keep-refused-days': option('DAYS', '14', 'keep refused views this long', whole(0, DAYS_MAX)),
  'keep-days': option('DAYS', '0', 'keep view files this long; 0: for ever', whole(0, DAYS_MAX)),
  store: option(
    'URL',
    undefined,
    'keep views in a NATS JetStream stream, nats://HOST[,HOST]… or tls://…, instead of files',
    clusterAddress,
  ),
  'nats-stream': option('NAME', 'VIEWS', 'the stream; made if missing', streamName),
  'nats-replicas': option(
    'COUNT',
    undefined,
    'servers that keep each view (default: 3 where there are as many, else 1)',
    whole(1, 5),
  ),
  'nats-creds': option('FILE', undefined, 'NATS credentials file', text),
  status: option(
    'ADDRESS',
    '127.0.0.1:8081',
    'address of the status page, health and metrics; off: none',
    addressOrOff,
  ),
  'status-token-file': option(
    'FILE',
    undefined,
    'file with the token that --status asks for (or VIEWLOG_STATUS_TOKEN)',
    text,
  ),
  log: option('FORMAT', 'text', 'log lines as text or json', choice('text', 'json')),
  origin: option('ORIGIN', undefined, 'an origin, such as https://www.example.com', text),
  'archive-from': option(
    'URL',
    undefined,
    'NATS servers of the stream, such as nats://host:4222,host2:4222',
    clusterAddress,
    'from',
  ),
  once: option('', 'no', 'end when the stream is archived up to its present end', yesOrNo),
  name: option('NAME', undefined, "the project's name, for your own eyes", text),
  'replay-to': option(
    'URL',
    undefined,
    'the collector to send to (default: the one at --host and --port)',
    httpUrl,
    'to',
  ),
  project: option('ID', undefined, 'this project only', projectId),
  'from-day': option('DAY', undefined, 'first day, such as 2026-01-01', day, 'from'),
  'to-day': option('DAY', undefined, 'last day, such as 2026-01-31', day, 'to'),
  'time-zone': option(
    'ZONE',
    undefined,
    "time zone of days and hours (default: the system's)",
    timeZone,
  ),
  top: option('COUNT', '10', 'length of the lists', whole(1, 1000)),
  html: option('FILE', undefined, 'write a page to FILE instead', text),
  json: option('', 'no', 'print JSON instead', yesOrNo),
} as const;

export type OptionName = keyof typeof OPTIONS;
type Value<T> = T extends Option<infer V> ? V : never;
type Values = { [K in OptionName]: Value<(typeof OPTIONS)[K]> };

/** What the operator chose: sizes in bytes, ages in days. */
export interface Settings extends Omit<Values, 'projects' | 'origin' | Optional> {
  readonly projects: string;
  readonly store: ClusterAddress | undefined;
  readonly 'nats-replicas': number | undefined;
  readonly 'nats-creds': string | undefined;
  readonly 'status-token-file': string | undefined;
  readonly origin: readonly string[];
  readonly name: string | undefined;
  readonly archiveFrom: ClusterAddress | undefined;
  readonly replayTo: string | undefined;
  readonly project: string | undefined;
  readonly fromDay: string | undefined;
  readonly toDay: string | undefined;
  readonly timeZone: string | undefined;
  readonly html: string | undefined;
}

/** Those that have no default, under the names they have in `Settings`. */
type Optional =
  | 'store'
  | 'nats-replicas'
  | 'nats-creds'
  | 'status-token-file'
  | 'name'
  | 'archive-from'
  | 'replay-to'
  | 'project'
  | 'from-day'
  | 'to-day'
  | 'time-zone'
  | 'html';

/** What is typed after `--`. */
export const flagOf = (name: OptionName): string => (OPTIONS[name] as Option<unknown>).flag ?? name;

const isSwitch = (name: OptionName): boolean => OPTIONS[name].value === '';

export const envName = (name: OptionName): string =>
  `VIEWLOG_${name.toUpperCase().replaceAll('-', '_')}`;

/**
 * The settings of a command that takes the options `allowed`: flags, then `VIEWLOG_*`, then
 * defaults. What is not an option is returned as `operands`.
 * @throws {Fatal} exit 64 with what is wrong and what was expected.
 */
export function readSettings(
  args: readonly string[],
  allowed: readonly OptionName[],
  env: ReadEnv = readEnv,
): { settings: Settings; operands: string[] } {
  const { given, operands } = splitArguments(args, allowed);
  if (allowed.includes('store')) {
    checkStore(given, given.has('store') || Boolean(env(envName('store'))));
  }
  const value = <K extends OptionName>(name: K): Values[K] | undefined => {
    const fromFlag = given.get(name)?.at(-1);
    const source = fromFlag === undefined ? envName(name) : `--${flagOf(name)}`;
    const raw = fromFlag ?? (env(envName(name)) || OPTIONS[name].fallback);
    return raw === undefined ? undefined : parsed(name, source, raw);
  };
  const required = <K extends OptionName>(name: K): Values[K] => value(name)!;
  const data = required('data');
  const settings: Settings = {
    host: required('host'),
    port: required('port'),
    data,
    projects: value('projects') ?? `${data.replace(/(?<=.)\/+$/, '')}/projects.json`,
    durability: required('durability'),
    'max-view': required('max-view'),
    'max-queue': required('max-queue'),
    'min-free': required('min-free'),
    'max-refused': required('max-refused'),
    'keep-refused-days': required('keep-refused-days'),
    'keep-days': required('keep-days'),
    store: value('store'),
    'nats-stream': required('nats-stream'),
    'nats-replicas': value('nats-replicas'),
    'nats-creds': value('nats-creds'),
    status: required('status'),
    'status-token-file': value('status-token-file'),
    log: required('log'),
    origin: (given.get('origin') ?? []).map((raw) => parsed('origin', '--origin', raw)),
    name: given.has('name') ? required('name') : undefined,
    archiveFrom: value('archive-from'),
    once: required('once'),
    replayTo: value('replay-to'),
    project: value('project'),
    fromDay: value('from-day'),
    toDay: value('to-day'),
    timeZone: value('time-zone'),
    top: required('top'),
    html: value('html'),
    json: required('json'),
  };
  return { settings, operands };
}

function parsed<K extends OptionName>(name: K, source: string, raw: string): Values[K] {
  const result = (OPTIONS[name].parse as Parse<Values[K]>)(raw);
  if (!(result instanceof Problem)) return result;
  // A password may stand in a cluster's address.
  const found = OPTIONS[name].parse === clusterAddress ? '' : `, not "${echo(raw)}"`;
  throw new Fatal(EXIT.usage, `${source} must be ${result.expected}${found}`);
}

function splitArguments(
  args: readonly string[],
  allowed: readonly OptionName[],
): { given: Map<OptionName, string[]>; operands: string[] } {
  const options = Object.fromEntries(
    allowed.map((name) => [
      flagOf(name),
      { type: isSwitch(name) ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  // Not strict, for messages that say what to do; strict mode's end in a stack trace.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const given = new Map<OptionName, string[]>();
  const operands: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value);
    if (token.kind !== 'option') continue;
    const name = allowed.find((known) => flagOf(known) === token.name);
    if (name === undefined) throw unknownOption(token.rawName, allowed);
    const value = token.value ?? (isSwitch(name) ? 'yes' : undefined);
    if (value === undefined) {
      const flag = `--${flagOf(name)}`;
      throw new Fatal(EXIT.usage, `${flag} needs a value: ${flag} ${OPTIONS[name].value}`);
    }
    given.set(name, [...(given.get(name) ?? []), value]);
  }
  return { given, operands };
}

/** Of `serve`, what only files need, and what only a stream does. */
const FILES_ONLY = ['data', 'durability', 'min-free', 'keep-days'] as const;
const STREAM_ONLY = ['nats-stream', 'nats-replicas', 'nats-creds'] as const;

/** A flag that would mean nothing is a mistake; the environment may be many commands'. */
function checkStore(given: ReadonlyMap<OptionName, unknown>, isStream: boolean): void {
  const idle = (isStream ? FILES_ONLY : STREAM_ONLY).find((name) => given.has(name));
  if (idle === undefined) return;
  const hint = idle === 'data' ? '; name the projects file with --projects' : '';
  const message = isStream
    ? `--${idle} is of no use with --store${hint}`
    : `--${idle} is of no use without --store nats://…`;
  throw new Fatal(EXIT.usage, message);
}

function unknownOption(flag: string, allowed: readonly OptionName[]): Fatal {
  const near = nearest(
    flag,
    allowed.map((name) => `--${flagOf(name)}`),
  );
  const hint = near === undefined ? 'see --help' : `did you mean ${near}?`;
  return new Fatal(EXIT.usage, `Unknown option ${echo(flag)}; ${hint}`);
}
