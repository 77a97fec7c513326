import { type CommandLine, type Flag, readCommandLine, unknownOption } from './base/arguments.ts';
import { type ReadEnv, readEnv } from './base/env.ts';
import { EXIT, Fatal } from './base/exit.ts';
import { PORT_MAX } from './base/limits.ts';
import {
  addressOrOff,
  choice,
  dayOrWord,
  httpUrl,
  type Option,
  type Parse,
  Problem,
  size,
  text,
  timeZone,
  viewUrl,
  whole,
  yesOrNo,
} from './base/option.ts';
import { KiB, MiB } from './base/size.ts';
import { echo, nearest } from './base/text.ts';
import { type ClusterAddress, parseClusterAddress } from './jetstream/address.ts';
import { EMAIL } from './projects/projects-schema.ts';
import { TOKEN_ENV } from './status/token.ts';
import { LARGEST_MAX_VIEW_BYTES } from './view/line.ts';
import { PROJECT_ID } from './view/view-schema.ts';

// Every option with its default and its limits. Limits without an option are in `base/limits.ts`.

const clusterAddress: Parse<ClusterAddress> = (value) =>
  parseClusterAddress(value) ?? new Problem('an address such as nats://host:4222,host2:4222');

const streamName: Parse<string> = (value) =>
  /^[\w-]{1,200}$/.test(value) ? value : new Problem('letters, digits, _ and -');

const projectId: Parse<string> = (value) =>
  PROJECT_ID.test(value) ? value : new Problem('1 to 20 digits');

const email: Parse<string> = (value) =>
  EMAIL.test(value) ? value : new Problem('an e-mail address, such as views@example.com');

const DAYS_MAX = 36_500;
const SIZE_MAX = 1024 * MiB * MiB;

export const OPTIONS = {
  host: { value: 'ADDRESS', fallback: '127.0.0.1', help: 'address to listen on', parse: text },
  port: {
    value: 'PORT',
    fallback: '8080',
    help: 'port to listen on; 0: any free one',
    parse: whole(0, PORT_MAX),
  },
  data: { value: 'DIR', fallback: './data', help: 'directory of the view files', parse: text },
  projects: {
    value: 'FILE',
    fallback: (data: string) => `${data.replace(/(?<=.)\/+$/, '')}/projects.json`,
    help: 'projects file (default: projects.json in --data)',
    parse: text,
  },
  durability: {
    value: 'WHEN',
    fallback: 'disk',
    help: 'acknowledge a view after fdatasync (disk) or after write (os)',
    parse: choice('disk', 'os'),
  },
  'max-view': {
    value: 'SIZE',
    fallback: '16KiB',
    help: 'largest view, as sent and as stored',
    parse: size(KiB, LARGEST_MAX_VIEW_BYTES),
  },
  'max-queue': {
    value: 'SIZE',
    fallback: '32MiB',
    help: 'memory for views being processed',
    parse: size(64 * KiB, SIZE_MAX),
  },
  'min-free': {
    value: 'SIZE',
    fallback: '64MiB',
    help: 'refuse views below this much free disk',
    parse: size(0, SIZE_MAX),
  },
  'max-refused': {
    value: 'SIZE',
    fallback: '64MiB',
    help: 'refused views to keep per day',
    parse: size(0, SIZE_MAX),
  },
  'keep-refused-days': {
    value: 'DAYS',
    fallback: '14',
    help: 'keep refused views this long',
    parse: whole(0, DAYS_MAX),
  },
  'keep-days': {
    value: 'DAYS',
    fallback: '0',
    help: 'keep view files this long; 0: forever',
    parse: whole(0, DAYS_MAX),
  },
  store: {
    value: 'URL',
    help: 'keep views in a NATS JetStream stream, nats://HOST[,HOST]… or tls://…, instead of files',
    parse: clusterAddress,
    isSecret: true,
  },
  'nats-stream': {
    value: 'NAME',
    fallback: 'VIEWS',
    help: 'the stream; created if missing',
    parse: streamName,
  },
  'nats-replicas': {
    value: 'COUNT',
    help: 'servers that keep each view (default: 3 if there are as many, else 1)',
    parse: whole(1, 5),
  },
  'nats-creds': { value: 'FILE', help: 'NATS credentials file', parse: text },
  status: {
    value: 'ADDRESS',
    fallback: '127.0.0.1:8081',
    help: 'address of the status page, health and metrics; off: none',
    parse: addressOrOff,
  },
  'status-token-file': {
    value: 'FILE',
    help: `file with the token for --status (or ${TOKEN_ENV})`,
    parse: text,
  },
  log: {
    value: 'FORMAT',
    fallback: 'text',
    help: 'log lines as text or json',
    parse: choice('text', 'json'),
  },
  origin: {
    value: 'ORIGIN',
    help: 'an origin, such as https://www.example.com',
    parse: text,
    isList: true,
  },
  'remove-origin': {
    value: 'ORIGIN',
    help: 'an origin to take off the list',
    parse: text,
    isList: true,
  },
  'max-views-per-minute': {
    value: 'COUNT',
    help: 'refuse more views a minute than this (6000 for a new project)',
    parse: whole(1, Number.MAX_SAFE_INTEGER),
  },
  contact: { value: 'TEXT', help: 'whom to ask about the project; only you see it', parse: text },
  operator: {
    value: 'ADDRESS',
    help: 'your e-mail address, which refusals tell sites to write to',
    parse: email,
  },
  'archive-from': {
    value: 'URL',
    help: 'NATS servers of the stream, such as nats://host:4222,host2:4222',
    parse: clusterAddress,
    flag: 'from',
    isSecret: true,
  },
  once: {
    value: '',
    fallback: 'no',
    help: 'stop after archiving what the stream holds at the start',
    parse: yesOrNo,
  },
  name: { value: 'NAME', help: "the project's name; only you see it", parse: text },
  'replay-to': {
    value: 'URL',
    help: 'the collector to send to (default: the one at --host and --port)',
    parse: httpUrl,
    flag: 'to',
  },
  url: {
    value: 'URL',
    help: 'address that views are posted to, with or without /view (default: --host and --port)',
    parse: viewUrl,
  },
  campaigns: {
    value: '',
    fallback: 'no',
    help: 'keep utm_… parameters in the url of a view',
    parse: yesOrNo,
  },
  project: { value: 'ID', help: 'this project only', parse: projectId },
  // Without a variable: VIEWLOG_PROJECT, set for reports, must not have a view sent.
  'probe-project': {
    value: 'ID',
    help: 'with --url: sends one real view of this project, which is stored and counted',
    parse: projectId,
    flag: 'project',
    isFlagOnly: true,
  },
  'from-day': {
    value: 'DAY',
    help: 'first day, such as 2026-01-01, today or yesterday',
    parse: dayOrWord,
    flag: 'from',
  },
  'to-day': {
    value: 'DAY',
    help: 'last day, such as 2026-01-31, today or yesterday',
    parse: dayOrWord,
    flag: 'to',
  },
  last: {
    value: 'DAYS',
    help: 'this many days, up to --to or today',
    parse: whole(1, DAYS_MAX),
  },
  query: { value: '', fallback: 'no', help: 'keep the query of pages', parse: yesOrNo },
  'time-zone': {
    value: 'ZONE',
    help: "time zone of days and hours (default: the system's)",
    parse: timeZone,
  },
  top: { value: 'COUNT', fallback: '10', help: 'length of the lists', parse: whole(1, 1000) },
  html: {
    value: 'FILE',
    help: 'write a page to FILE, or stdout (-), instead of text',
    parse: text,
  },
  json: { value: '', fallback: 'no', help: 'print JSON instead of text', parse: yesOrNo },
} as const satisfies Record<string, Option>;

type Options = typeof OPTIONS;
export type OptionName = keyof Options;
type Parsed<O extends Option> = Exclude<ReturnType<O['parse']>, Problem>;
type Value<O extends Option> = O extends { readonly isList: true }
  ? readonly Parsed<O>[]
  : O extends { readonly fallback: string | ((data: string) => string) }
    ? Parsed<O>
    : Parsed<O> | undefined;

/** What the operator chose for the options `K`: sizes in bytes, ages in days. */
export type Settings<K extends OptionName> = { readonly [N in K]: Value<Options[N]> };

const NAMES = Object.keys(OPTIONS) as OptionName[];

const optionOf = (name: OptionName): Option => OPTIONS[name];

/** Returns what is typed after `--`. */
export const flagOf = (name: OptionName): string => optionOf(name).flag ?? name;

/** Returns the environment variable of an option, if it has one. */
export const envName = (name: OptionName): string | undefined =>
  optionOf(name).isFlagOnly ? undefined : `VIEWLOG_${name.toUpperCase().replaceAll('-', '_')}`;

/**
 * Takes a command line apart. The command may stand after options, because a flag takes a value
 * or none in all commands alike.
 * @throws {Fatal} exit 64 at an option that no command has, or that lacks its value.
 */
export const readArguments = (args: readonly string[]): CommandLine =>
  readCommandLine(args, new Map(NAMES.map((name) => [flagOf(name), OPTIONS[name].value])));

/**
 * The settings of a command that takes the options `names`: flags, then `VIEWLOG_*`, then
 * defaults.
 * @throws {Fatal} exit 64 with what is wrong and what was expected.
 */
export function readSettings<K extends OptionName>(
  flags: readonly Flag[],
  names: readonly K[],
  env: ReadEnv = readEnv,
): Settings<K> {
  const given = new Map<OptionName, string[]>();
  for (const { name: flag, value } of flags) {
    const name = names.find((known) => flagOf(known) === flag);
    if (name === undefined) throw unknownOption(`--${flag}`, names.map(flagOf));
    given.set(name, [...(given.get(name) ?? []), value]);
  }
  const settings = new Map<OptionName, unknown>();
  for (const name of names) settings.set(name, valueOf(name, given, env));
  if (settings.has('store')) refuseUseless(given, settings.get('store') !== undefined);
  return Object.fromEntries(settings) as Settings<K>;
}

type Given = ReadonlyMap<OptionName, readonly string[]>;

function valueOf(name: OptionName, given: Given, env: ReadEnv): unknown {
  const { fallback, isList } = optionOf(name);
  const flags = given.get(name);
  const variable = flags === undefined ? fromEnv(name, env) : undefined;
  const source = flags === undefined ? envName(name)! : `--${flagOf(name)}`;
  if (isList) {
    const texts = flags ?? variable?.trim().split(/\s+/) ?? [];
    return texts.map((text) => parsed(name, source, text));
  }
  const chosen = flags?.at(-1) ?? variable;
  if (chosen !== undefined) return parsed(name, source, chosen);
  if (typeof fallback === 'function') return fallback(valueOf('data', given, env) as string);
  return fallback === undefined ? undefined : parsed(name, source, fallback);
}

function fromEnv(name: OptionName, env: ReadEnv): string | undefined {
  const variable = envName(name);
  const value = variable && env(variable);
  return !variable || !value || isServiceLink(variable, value) ? undefined : value;
}

function parsed(name: OptionName, source: string, text: string): unknown {
  const { parse, isSecret } = optionOf(name);
  const result = parse(text);
  if (!(result instanceof Problem)) return result;
  const found = isSecret ? '' : `, not "${echo(text)}"`;
  const hint = result.hint === undefined ? '' : `; ${result.hint}`;
  throw new Fatal(EXIT.usage, `${source} must be ${result.expected}${found}${hint}`);
}

/** What `serve` needs for files only, and for a stream only. */
const FILES_ONLY = ['data', 'durability', 'min-free', 'keep-days'] as const;
const STREAM_ONLY = ['nats-stream', 'nats-replicas', 'nats-creds'] as const;

/** Refuses flags without effect. Variables may be set for other commands. */
function refuseUseless(given: Given, isStream: boolean): void {
  const useless = (isStream ? FILES_ONLY : STREAM_ONLY).find((name) => given.has(name));
  if (useless === undefined) return;
  const hint = useless === 'data' ? '; name the projects file with --projects' : '';
  const why = isStream ? `with --store${hint}` : 'without --store nats://…';
  throw new Fatal(EXIT.usage, `--${useless} has no effect ${why}`);
}

/** What Kubernetes and Docker set for a service called `viewlog`, or `viewlog-…`. */
const SERVICE_LINK =
  /^VIEWLOG(_\w+)?_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$/;

const isServiceLink = (name: string, value = ''): boolean =>
  SERVICE_LINK.test(name) || (name.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value));

/** Returns a warning for each variable that looks like a setting and is none of any command. */
export function strayVariables(variables: readonly string[], env: ReadEnv = readEnv): string[] {
  const known = [...NAMES.flatMap((name) => envName(name) ?? []), TOKEN_ENV];
  return variables
    .filter((name) => name.startsWith('VIEWLOG_') && !known.includes(name))
    .filter((name) => !isServiceLink(name, env(name)))
    .map((name) => {
      const near = nearest(name, known);
      const hint = near === undefined ? 'see viewlog help COMMAND' : `did you mean ${near}?`;
      return `No command reads the environment variable ${echo(name)}; ${hint}`;
    });
}
