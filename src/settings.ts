import {
  type CommandLine,
  DASH,
  type Flag,
  type Flags,
  readCommandLine,
} from './base/arguments.ts';
import { type ReadEnv, readEnv } from './base/env.ts';
import { EXIT, Fatal } from './base/exit.ts';
import { PORT_MAX } from './base/limits.ts';
import * as o from './base/option.ts';
import { formatSizeOption, KiB, TiB } from './base/format.ts';
import { echo, nearest } from './base/text.ts';
import { nearOrList } from './installation/commands.ts';
import { absolute, type Chosen } from './installation/installation.ts';
import { parseClusterAddress } from './jetstream/address.ts';
import { EMAIL } from './projects/projects-schema.ts';
import type { Address } from './http/listener.ts';
import { isLoopback } from './status/guard.ts';
import { TOKEN_ENV } from './status/token.ts';
import { LARGEST_MAX_VIEW_BYTES } from './view/line.ts';
import { PROJECT_ID } from './view/view-schema.ts';

// Every option with its default and its limits. Limits without an option are in `base/limits.ts`.

const clusterAddress = o.parser(
  'the address of one or more NATS servers (nats:// or tls://)',
  'nats://host:4222,host2:4222',
  parseClusterAddress,
);
const projectId = o.matching(PROJECT_ID, '1 to 20 digits', '1000001');
const streamName = o.matching(/^[\w-]{1,200}$/, '1 to 200 letters, digits, _ or -', 'VIEWS');
const email = o.matching(EMAIL, 'an e-mail address', 'views@example.com');

const DAYS_MAX = 36_500;
const SIZE_MAX = 1024 * TiB;
const COUNT_MAX = 1_000_000_000;
const durability = o.choice('disk', 'os');
const count = o.whole(1, COUNT_MAX, 6000);
const days = o.whole(0, DAYS_MAX, 30);
const anySize = o.size(0, SIZE_MAX);
const queueSize = o.size(64 * KiB, SIZE_MAX);
const viewSize = o.size(KiB, LARGEST_MAX_VIEW_BYTES);

/** An option whose setting has the type `V`. */
interface Option<V> {
  /** The placeholder for its value in the help; empty for a switch, which has no value. */
  readonly value: string;
  readonly parser: o.Parser<unknown>;
  readonly help: string;
  /** The value's text if none is given. */
  readonly fallback?: string | undefined;
  /** True: several values form a list. Otherwise the last value counts. */
  readonly isList?: boolean;
  /** Never set; it carries the type. */
  readonly type?: V;
}

function option<V>(value: string, parser: o.Parser<V>, help: string, fallback: string): Option<V>;
function option<V>(value: string, parser: o.Parser<V>, help: string): Option<V | undefined>;
function option(value: string, parser: o.Parser<unknown>, help: string, fallback?: string) {
  return { value, parser, help, fallback };
}

const toggle = (help: string) => option('', o.yesOrNo, help, 'no');

const ORIGINS: Option<readonly string[]> = {
  value: 'ORIGIN',
  parser: o.text('the origin of a page', 'https://www.example.com'),
  help: 'site whose pages may send, such as https://www.example.com; may be repeated',
  isList: true,
};

/** A collector's options; `archive`, `example` and `doctor` have some of them, too. */
const SERVE = {
  host: option('ADDRESS', o.host, 'address to listen on', '127.0.0.1'),
  port: option(
    'PORT',
    o.whole(0, PORT_MAX, 8080, String),
    'port to listen on, or 0 for any free port',
    '8080',
  ),
  data: option('DIR', o.directory, 'directory of the view files and projects.json', './data'),
  projects: option(
    'FILE',
    o.file('/var/lib/viewlog/projects.json'),
    'projects file (default: projects.json in --data)',
    '',
  ),
  durability: option(
    'WHEN',
    durability,
    'when to acknowledge a view: after the sync (disk) or after the write (os)',
    'disk',
  ),
  'max-view': option('SIZE', viewSize, 'largest view, as sent and as stored', '16KiB'),
  'max-queue': option('SIZE', queueSize, 'memory for requests in flight', '32MiB'),
  'min-free': option(
    'SIZE',
    anySize,
    'refuse views while less than this much disk space is free',
    '64MiB',
  ),
  'max-refused': option('SIZE', anySize, 'disk space for refused views per day', '64MiB'),
  'keep-refused-days': option(
    'DAYS',
    days,
    'days to retain refused views; 0 retains them forever',
    '14',
  ),
  'keep-days': option('DAYS', days, 'days to retain view files; 0 retains them forever', '0'),
  store: option('URL', clusterAddress, 'store views in NATS (nats://HOST[,HOST]…), not in files'),
  'nats-stream': option('NAME', streamName, 'name of the stream; created if missing', 'VIEWS'),
  'nats-replicas': option(
    'COUNT',
    o.whole(1, 5, 3),
    'servers that store each view (default: 3 if possible, else 1)',
  ),
  'nats-creds': option('FILE', o.file('viewlog.creds'), 'NATS credentials file'),
  status: option(
    'ADDRESS',
    o.addressOrOff,
    'address of the status page, health and metrics, or off',
    '127.0.0.1:8081',
  ),
  'status-token-file': option(
    'FILE',
    o.file('status-token'),
    `file with the status token; ${TOKEN_ENV} can hold the token itself`,
  ),
  log: option('FORMAT', o.choice('text', 'json'), 'log lines as text or json', 'text'),
};

/** A project's options. */
const ACTIVATE = {
  name: option(
    'NAME',
    o.text('a name', 'My site'),
    "the project's name, shown in reports and on the status page",
  ),
  origin: ORIGINS,
  'remove-origin': { ...ORIGINS, help: 'site to remove from the list; may be repeated' },
  'max-views-per-minute': option(
    'COUNT',
    count,
    'limit of views per minute (default: 6000 for a new project)',
  ),
  contact: option(
    'TEXT',
    o.text('some text', 'owner@example.com'),
    'whom to contact; only you see it',
  ),
  operator: option('ADDRESS', email, 'your e-mail address, shown in refusals'),
};

/** A report's options. */
const REPORT = {
  'from-day': option('DAY', o.dayOrWord, 'first day, such as 2026-01-01, today or yesterday'),
  'to-day': option('DAY', o.dayOrWord, 'last day, such as 2026-01-31, today or yesterday'),
  last: option('DAYS', o.whole(1, DAYS_MAX, 7), 'the last DAYS days, up to --to or today'),
  project: option('ID', projectId, 'only this project'),
  'time-zone': option('ZONE', o.timeZone, "time zone of days and hours (default: the system's)"),
  top: option('COUNT', o.whole(1, 1000, 20), 'rows per list', '10'),
  query: toggle('count addresses with different queries as different pages'),
  html: option(
    'FILE',
    o.file('report.html'),
    'write an HTML page to FILE (- for stdout) instead of text',
  ),
  json: toggle('print JSON instead of text'),
};

const OTHERS = {
  'archive-from': option('URL', clusterAddress, 'NATS servers of the stream, nats://… or tls://…'),
  receipt: toggle("print each day's number of views and sum of ids"),
  once: toggle('archive what the stream holds at start-up, then exit'),
  restore: option(
    'DAY',
    o.day,
    "archive like --once, then restore views that are missing from DAY's file",
  ),
  'replay-to': option(
    'URL',
    o.httpUrl,
    'collector to send to (default: the one running in --data)',
  ),
  url: option(
    'URL',
    o.viewUrl,
    "address that pages post views to (default: the running collector's)",
  ),
  campaigns: toggle('keep utm_… parameters in the url of a view'),
  licenses: toggle('print licences instead of the version'),
  'probe-project': option('ID', projectId, 'with --url: send one real view, which is stored'),
};

export const OPTIONS = { ...SERVE, ...ACTIVATE, ...REPORT, ...OTHERS };

const namesOf = <T extends object>(group: T) => Object.keys(group) as (keyof T)[];

export const SERVE_OPTIONS = namesOf(SERVE);
export const ACTIVATE_OPTIONS = namesOf(ACTIVATE);
export const REPORT_OPTIONS = namesOf(REPORT);

export type OptionName = keyof typeof OPTIONS;

/** The flags whose name differs from the option's, because one flag can have several meanings. */
const FLAGS: Partial<Record<OptionName, string>> = {
  'archive-from': 'from',
  'from-day': 'from',
  'to-day': 'to',
  'replay-to': 'to',
  'probe-project': 'project',
};

/** The operator's values of the options `K`: sizes in bytes, ages in days. */
export type Settings<K extends OptionName> = {
  readonly [N in K]: (typeof OPTIONS)[N] extends Option<infer V> ? V : never;
};

export type ServeSettings = Settings<keyof typeof SERVE>;

const NAMES = namesOf(OPTIONS);

/** Returns the option's name on the command line, without `--`. */
export const flagOf = (name: OptionName): string => FLAGS[name] ?? name;

/**
 * Returns an option's environment variable. The doctor's `--project` has none: VIEWLOG_PROJECT, set
 * for reports, must not make the doctor send a view.
 */
export const envName = (name: OptionName): string | undefined =>
  name === 'probe-project' ? undefined : `VIEWLOG_${name.toUpperCase().replaceAll('-', '_')}`;

/** Returns the projects file's path unless `--projects` names another. */
export const projectsIn = (data: string): string =>
  `${data.replace(/(?<=.)\/+$/, '')}/projects.json`;

/**
 * Parses a command line. The command may come after options, because each flag takes
 * a value in every command, or in none.
 * @param optionsOf returns the options of a command; `undefined` if there is no such command.
 * @throws {Fatal} exit 64 at an option that the command doesn't have, or that lacks its value.
 */
export const readArguments = (
  args: readonly string[],
  optionsOf: (command?: string) => readonly OptionName[] | undefined = () => undefined,
): CommandLine =>
  readCommandLine(
    args,
    flagsFor(NAMES),
    (command) => {
      const names = optionsOf(command);
      return names && flagsFor(names);
    },
    (flag, command) => unknownOption(flag, command, optionsOf(command)),
  );

const flagsFor = (names: readonly OptionName[]): Flags =>
  new Map(names.map((name) => [flagOf(name), OPTIONS[name].value && OPTIONS[name].parser]));

/**
 * Returns the error for an unknown option.
 * @param flag as typed.
 * @param names the command's options; `undefined` if there is no such command.
 */
function unknownOption(flag: string, command = 'serve', names?: readonly OptionName[]): Fatal {
  const known = [...(names ?? NAMES).map(flagOf), 'help', 'version'];
  const word = flag.replace(/^-+/, '').replace(DASH, '');
  // An archive reads from the servers that a collector stores in.
  const isStream = word === 'store' && names?.includes('archive-from');
  const name = isStream ? 'from' : nearest(word, known);
  const isOff = word === 'no-status' && known.includes('status');
  const near = isOff ? '--status off' : name && `--${name}`;
  if (names?.length === 0 && near === undefined && !DASH.test(flag)) {
    return new Fatal(EXIT.usage, `${command} takes no options; leave out ${echo(flag)}`);
  }
  const hint = names ? nearOrList(near, 'its options', command) : nearOrList(near, 'all commands');
  const what = DASH.test(flag)
    ? `Options begin with two hyphens (--); found "${echo(flag)}"`
    : `${names ? `${command} has no option` : 'Unknown option'} ${echo(flag)}`;
  return new Fatal(EXIT.usage, `${what}${hint}`);
}

/**
 * Returns the settings of a command that takes the options `names`: from flags, else from
 * `VIEWLOG_*`, else the defaults.
 * @param isArchive an archive reads a stream without `--store`.
 * @throws {Fatal} exit 64 with the wrong value and the expected one.
 */
export function readSettings<K extends OptionName>(
  flags: readonly Flag[],
  names: readonly K[],
  env: ReadEnv = readEnv,
  isArchive = false,
): Settings<K> {
  const given = givenBy(flags, names);
  const settings = new Map<string, unknown>(
    names.map((name) => [name, settingOf(name, given, env)]),
  );
  if (settings.has('store') && !isArchive) {
    rejectIneffectiveFlags(given, settings.get('store') !== undefined);
  }
  rejectShortQueue(settings);
  return Object.fromEntries(settings) as Settings<K>;
}

type Given = ReadonlyMap<OptionName, readonly string[]>;

function givenBy(flags: readonly Flag[], names: readonly OptionName[]): Given {
  const given = new Map<OptionName, string[]>();
  for (const { name: flag, value } of flags) {
    const name = names.find((known) => flagOf(known) === flag);
    if (name === undefined) throw new Fatal(EXIT.usage, `Unknown option --${flag}`);
    given.set(name, [...(given.get(name) ?? []), value]);
  }
  return given;
}

/** The options of a service, except `data` and `projects`, which an installation has fields for. */
const CHOSEN = new Set<OptionName>([...SERVE_OPTIONS, 'archive-from']);
for (const name of ['data', 'projects'] as const) CHOSEN.delete(name);

/**
 * Returns the options of a service that were chosen, for the command lines that viewlog prints.
 * Leaves out `--data`, `--projects`, and a cluster's address that contains a password.
 */
export function chosenOptions(
  flags: readonly Flag[],
  names: readonly OptionName[],
  env: ReadEnv = readEnv,
): Chosen {
  const given = givenBy(flags, names);
  const chosen = names.flatMap((name) => {
    const { value: kind, parser }: Option<unknown> = OPTIONS[name];
    const text = textsOf(name, given, env).texts.at(-1);
    if (text === undefined || !CHOSEN.has(name)) return [];
    if (parser === clusterAddress && text.includes('@')) return [];
    const from = given.has(name) ? ('flag' as const) : ('variable' as const);
    return [[flagOf(name), { text: kind === 'FILE' ? absolute(text) : text, from }] as const];
  });
  return Object.fromEntries(chosen);
}

/**
 * Returns whether a status server that started with these options had its token from a variable.
 */
export function needsTokenVariable({ status, 'status-token-file': file }: Chosen): boolean {
  const address = o.addressOrOff.read(status?.text ?? 'off');
  return file === undefined && typeof address === 'object' && !isLoopback(address.host);
}

/** Refuses flags that `serve` would ignore. Variables may be set for other commands. */
function rejectIneffectiveFlags(given: Given, isStream: boolean): void {
  const useless: readonly OptionName[] = isStream
    ? ['data', 'durability', 'min-free', 'keep-days']
    : ['nats-stream', 'nats-replicas', 'nats-creds'];
  const flag = useless.find((name) => given.has(name));
  if (flag === undefined) return;
  const store = given.has('store') ? '--store' : envName('store');
  if (flag === 'data') {
    const fix = 'leave it out, and name the projects file with --projects';
    throw new Fatal(EXIT.usage, `--data can't be used with ${store}; ${fix}`);
  }
  const when = isStream
    ? `with ${store}; leave it out`
    : 'without --store; leave it out, or add --store nats://host:4222';
  throw new Fatal(EXIT.usage, `--${flag} has no effect ${when}`);
}

/** Refuses a queue that has no memory for a request with the largest view. */
function rejectShortQueue(settings: ReadonlyMap<string, unknown>): void {
  const view = settings.get('max-view') as number | undefined;
  const queue = settings.get('max-queue') as number | undefined;
  if (view === undefined || queue === undefined || queue >= 2 * view) return;
  const fault = `--max-queue ${formatSizeOption(queue)} is too small for --max-view`;
  const fix = `set --max-queue to ${formatSizeOption(2 * view)} or more`;
  throw new Fatal(EXIT.badConfiguration, `${fault} ${formatSizeOption(view)}; ${fix}`);
}

function settingOf(name: OptionName, given: Given, env: ReadEnv): unknown {
  const { fallback, isList = false }: Option<unknown> = OPTIONS[name];
  const { texts, source } = textsOf(name, given, env);
  if (isList) return texts.map((text) => parsed(name, source, text));
  if (texts.length === 0 && name === 'projects') {
    return projectsIn(settingOf('data', given, env) as string);
  }
  const text = texts.at(-1) ?? fallback;
  return text === undefined ? undefined : parsed(name, source, text);
}

/** Returns the texts that an option was given, and the flag or variable that gave them. */
function textsOf(name: OptionName, given: Given, env: ReadEnv) {
  const flags = given.get(name);
  if (flags !== undefined) return { texts: flags, source: `--${flagOf(name)}` };
  const source = envName(name) ?? '';
  // A token in its variable, for example from a Kubernetes Secret, replaces the file that the
  // printed Dockerfile names.
  const isReplaced = name === 'status-token-file' && Boolean(env(TOKEN_ENV));
  const value = source === '' || isReplaced ? undefined : env(source);
  if (!value || isServiceLink(source, value)) return { texts: [], source };
  return { texts: OPTIONS[name].isList ? value.trim().split(/\s+/) : [value], source };
}

function parsed(name: OptionName, source: string, text: string): unknown {
  const parser: o.Parser<unknown> = OPTIONS[name].parser;
  const { read, expected, verb = 'must be', meant, isChoice } = parser;
  const value = read(text);
  if (value !== undefined) return value;
  if (text === '' && !isChoice) throw new Fatal(EXIT.usage, `${source} must not be empty`);
  // The address of a cluster may contain a password.
  const found = parser === clusterAddress ? '' : `; found "${echo(text)}"`;
  const near = meant?.(text);
  const hint = near === undefined ? o.exampleOf(source, parser) : `. Did you mean ${near}?`;
  throw new Fatal(EXIT.usage, `${source} ${verb} ${expected}${found}${hint}`);
}

/** Variables that Kubernetes and Docker set for a service called `viewlog`, or `viewlog-…`. */
const SERVICE_LINK =
  /^VIEWLOG(_\w+)?_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;

const isServiceLink = (name: string, value = ''): boolean =>
  SERVICE_LINK.test(name) || (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));

/**
 * Returns the flags of a command line again, as words that work in any directory and without the
 * variables. `undefined` if one is a secret.
 * @param usesData whether `--data` is used, given or not.
 */
export function repeatedFlags(
  flags: readonly Flag[],
  names: readonly OptionName[],
  usesData: boolean,
  env: ReadEnv = readEnv,
): readonly string[] | undefined {
  const given = givenBy(flags, names);
  const words: string[] = [];
  for (const name of names) {
    const { value: kind, parser, fallback }: Option<unknown> = OPTIONS[name];
    const { texts } = textsOf(name, given, env);
    const isImplied = name === 'data' && texts.length === 0 && usesData;
    for (const text of isImplied ? [fallback!] : texts) {
      if (parser === clusterAddress && text.includes('@')) return undefined;
      const isPath = kind === 'FILE' || kind === 'DIR';
      words.push(`--${flagOf(name)}`, ...(kind === '' ? [] : [isPath ? absolute(text) : text]));
    }
  }
  return words;
}

/**
 * Returns whether two servers would share an address: the same port, and the same host, two
 * loopback hosts, or a wildcard. Some such pairs could both listen, but viewlog refuses them all.
 */
function areSameAddress(a: Address, b: Address): boolean {
  const isAny = [a, b].some(({ host }) => host === '0.0.0.0' || host === '::');
  const isOwn = [a, b].every(({ host }) => isLoopback(host));
  return a.port > 0 && a.port === b.port && (isAny || isOwn || a.host === b.host);
}

/** Returns the fault if the collector and its status server would listen at the same address. */
export const sharedPort = ({ status, ...own }: ServeSettings): string | undefined =>
  status !== 'off' && areSameAddress(own, status)
    ? `--port and --status have the same port, ${own.port}; choose another for one of them`
    : undefined;

const suffixOf = (name: string): string => name.replace('VIEWLOG_', '');

/** Returns a warning for each variable that looks like a setting but belongs to no command. */
export function strayVariables(variables: readonly string[], env: ReadEnv = readEnv): string[] {
  const known = [...NAMES.flatMap((name) => envName(name) ?? []), TOKEN_ENV];
  return variables
    .filter((name) => name.startsWith('VIEWLOG_') && !known.includes(name))
    .filter((name) => !isServiceLink(name, env(name)))
    .map((name) => {
      const near = nearest(suffixOf(name), known.map(suffixOf));
      const meant = near && `VIEWLOG_${near}`;
      const hint = nearOrList(meant, "a command's options", 'COMMAND');
      return `No command reads the environment variable ${echo(name)}${hint}`;
    });
}
