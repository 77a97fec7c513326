import { isIP } from 'node:net';
import { dirname, relative } from 'node:path';
import { readEnv } from '../../base/env.ts';
import { EXIT, Fatal } from '../../base/exit.ts';
import { KiB } from '../../base/format.ts';
import { printable } from '../../base/text.ts';
import { type Address, fromOwnMachine, hostAndPort } from '../../http/listener.ts';
import { ARCHIVE_OPTIONS } from '../../run-archive.ts';
import { envName, SERVE_OPTIONS } from '../../settings.ts';
import { isLoopback } from '../../status/guard.ts';
import { TOKEN_ENV } from '../../status/token.ts';
import { COLUMNS } from './clickhouse.ts';
import { flagsOf, type Installation, plainPath, type Texts } from './installation.ts';
import { asOwner, unreachable } from '../../installation/commands.ts';
import { programWords, realPath } from '../../installation/installation.ts';

/** The text that replaces `<<name>>`; empty if it isn't needed. A list fills one line per item. */
export type Value = string | number | readonly string[];

/** @throws {Fatal} exit 64 if an example with this value makes no sense with these settings. */
type ValueOf = (installation: Installation, example: string) => Value;

/** The options of a collector that an archive takes too. */
const ARCHIVED = SERVE_OPTIONS.filter((name) => ARCHIVE_OPTIONS.some((one) => one === name));

/** The values of `<<name>>` in templates. Only those of the printed template are computed. */
export const VALUES: Readonly<Record<string, ValueOf>> = {
  dir: ({ dir }) => dir,
  directories: (of) => [...new Set([of.dir, ...filesOf(of).map(dirname)])].join(' '),
  newDir: ({ dir, isDirMissing }) => (isDirMissing ? dir : ''),
  user: ({ user }) => user,
  group: ({ group }) => group,
  uid: ({ uid }) => uid,
  gid: ({ gid }) => gid,
  address: ({ settings: { host, port } }) => fixed({ host: fromOwnMachine(host), port }, 'port'),
  site: ({ site }) => site,
  statusAddress,
  // A stream's address may contain a password, so it comes from a variable.
  storeVariable: ({ settings }) => (settings.store === undefined ? '' : envName('store')!),
  minFreeBytes: ({ settings }) => (settings.store === undefined ? settings['min-free'] : ''),

  // systemd 245 or later
  run: runCommand,
  serveFlags: ({ texts }) => flagsOf(texts),
  archiveFlags: ({ texts }) => flagsOf(texts, ARCHIVED),
  checkFlags: ({ texts }) => flagsOf(texts, ['data', 'projects']),
  secrets: (of) => (secretsOf(of).length === 0 ? '' : secretsOf(of)),
  ownTokenFile: ({ settings, status }) => (status && settings['status-token-file']) ?? '',
  login,
  newSecret: (of) => (needsToken(of) ? 'yes' : ''),
  writable: ({ settings, dir }) => (settings.store === undefined ? dir : ''),
  // A directory that contains any of viewlog's files must stay visible.
  protectHome: (of) => (isAnyUnder(/^\/(home|root|run\/user)(\/|$)/, of) ? 'read-only' : 'yes'),
  privateTmp: (of) => (isAnyUnder(/^\/(var\/)?tmp(\/|$)/, of) ? 'no' : 'yes'),
  capability: (of) =>
    addressesOf(of).some(({ port }) => port > 0 && port < 1024) ? 'CAP_NET_BIND_SERVICE' : '',
  socketAddress,
  socketCommand: (of) => (canPassSocket(of) ? of.commandFor('systemd-socket') : ''),

  // Containers
  dockerfileCommand: ({ commandFor }) => commandFor('dockerfile'),
  composeCommand: ({ commandFor }) => commandFor('compose'),
  program: ({ program }) => plainPath(program),
  programName: ({ runtime }) => (runtime === undefined ? 'viewlog' : 'viewlog.mjs'),
  baseImage: ({ runtime }) => (runtime === undefined ? 'debian:stable-slim' : 'node:26-slim'),
  settingsInside: (of) => {
    const inside = { ...of.texts, ...changedInside(of) };
    return SERVE_OPTIONS.flatMap((name) =>
      inside[name] ? `${envName(name)}=${inside[name]}` : [],
    );
  },
  exposedPorts: (of) => addressesOf(of).map((at, i) => fixed(at, FLAGS[i]!).replace(/^.*:/, '')),
  publishedPorts: (of) => addressesOf(of).map((at, i) => `${fixed(at, FLAGS[i]!)}:${at.port}`),
  healthPort: ({ settings, status }) => (status ?? settings).port,
  healthRequest: ({ status }) => (status === undefined ? 'OPTIONS /view' : 'GET /readyz'),
  mountedDir: (of) => {
    changedInside(of); // throws if a file is elsewhere
    return of.dir;
  },
  newToken: ({ settings, status, dir }) =>
    status === undefined || settings['status-token-file'] !== undefined ? '' : newToken(dir),

  // Proxies
  caddyHealthPort,
  bodyKiB: ({ settings }) => Math.ceil(settings['max-view'] / KiB) + REFUSED_KIB,

  // Prometheus
  alertsCommand: ({ commandFor }) => commandFor('alerts'),
  isWildcard: ({ status }) => (status && fromOwnMachine(status.host) !== status.host ? 'yes' : ''),
  tokenFile: (of) => of.settings['status-token-file'] ?? otherTokenFile(of),
  otherTokenFile: (of) => (of.settings['status-token-file'] ? '' : otherTokenFile(of)),

  // Programs that read the view files
  viewsDir: ({ settings: { store, data } }) => {
    if (store === undefined) return data;
    const hint = "leave out --store and give the archive's --data";
    throw new Fatal(EXIT.usage, `A stream has no files to read; ${hint}`);
  },
  // Each package creates a user of its own name, except rsyslog's.
  joinGroup: ({ gid, group }, example) => {
    if (gid === 0) {
      return '(That group is root. Give the directory a group of its own, then print this file again.)';
    }
    return `sudo usermod --append --groups ${group} ${example === 'rsyslog' ? 'syslog' : example}`;
  },
  lineBytesMax: ({ settings }) => settings['max-view'],
  chunkKiB: (of) => Math.min(bufferKiB(of), 512),
  bufferKiB,
  // rsyslog's own default is 8 KiB.
  messageBytesMax: ({ settings }) => Math.max(8 * KiB, settings['max-view']),
  clickhouseClient: ({ owner, hasSudo }) =>
    asOwner({ hasSudo }, owner, 'clickhouse-client --multiquery < viewlog.sql'),
  columns: () => COLUMNS.map(({ name, type }) => `  ${name} ${type}`).join(',\n'),
  columnValues: () => COLUMNS.map(({ name, from }) => `  ${from} AS ${name}`).join(',\n'),
};

/**
 * @throws {Fatal} exit 64 if the port is 0: another program can't know the port that the system
 *   then chooses.
 */
function fixed(address: Address, flag: string): string {
  if (address.port > 0) return hostAndPort(address);
  const why = 'port 0 means a different free port at each start';
  throw new Fatal(EXIT.usage, `Give --${flag} a fixed port: ${why}`);
}

/** @throws {Fatal} exit 64 with `--status off`. */
function statusAddress({ status }: Installation): string {
  if (status !== undefined)
    return fixed({ ...status, host: fromOwnMachine(status.host) }, 'status');
  const why = "The collector's --status is off, so it has no metrics";
  throw new Fatal(
    EXIT.usage,
    `${why}; start it with an address and give that address here, too: --status 127.0.0.1:8081`,
  );
}

/**
 * nginx accepts this much more than --max-view, so that viewlog can refuse large views with a
 * reason.
 */
const REFUSED_KIB = 64;

/** Fluent Bit's buffer also holds the start of the next line. */
function bufferKiB({ settings }: Installation): number {
  return Math.max(64, Math.ceil((2 * settings['max-view']) / KiB));
}

/**
 * Returns the status server's port if Caddy can check health there: Caddy asks only the host that
 * it sends views to.
 */
function caddyHealthPort({ settings: { host }, status }: Installation): Value {
  const hosts = ['0.0.0.0', '::', host, fromOwnMachine(host)];
  return status !== undefined && hosts.includes(status.host) ? status.port : '';
}

/** Returns the paths of the files that viewlog reads. */
function filesOf({ settings }: Installation): readonly string[] {
  const { projects, 'status-token-file': token, 'nats-creds': creds } = settings;
  return [projects, token, creds].filter((path) => path !== undefined);
}

/**
 * @throws {Fatal} exit 64 if the service's user can't enter a directory above a file of viewlog.
 */
function runCommand(of: Installation): string {
  const { settings, dir, program, runtime, owner } = of;
  const [projects = '', ...secrets] = filesOf(of);
  const why = owner && unreachable(owner, [runtime ?? '', program, dir, projects, ...secrets]);
  if (why !== undefined) throw new Fatal(EXIT.usage, `The service can't run: ${why}`);
  const written = settings.store === undefined ? [dir] : [];
  // The paths in `settings` are already plain.
  const plain = { runtime: runtime && plainPath(runtime), file: plainPath(program) };
  return programWords([dir, dirname(projects), ...secrets], written, plain).join(' ');
}

/** Returns a file for a token that isn't in a file of viewlog's; empty if there is no token. */
const otherTokenFile = (of: Installation): string =>
  needsToken(of) || readEnv(TOKEN_ENV) ? '/etc/prometheus/viewlog-token' : '';

/** Returns whether the status server needs a token, and has no file with one. */
const needsToken = ({ settings, status }: Installation): boolean =>
  status !== undefined && !isLoopback(status.host) && settings['status-token-file'] === undefined;

/** Returns the login in a cluster's address, unless it is in a file of credentials. */
function login({ settings }: Installation): string {
  return settings['nats-creds'] === undefined ? 'USER:PASSWORD@' : '';
}

function secretsOf(of: Installation): string[] {
  const { store } = of.settings;
  return [
    ...(store === undefined ? [] : [`${envName('store')}=nats://${login(of)}HOST:4222`]),
    ...(needsToken(of) ? [`${TOKEN_ENV}=TOKEN`] : []),
  ];
}

function isAnyUnder(places: RegExp, of: Installation): boolean {
  const paths = [of.dir, of.program, of.runtime ?? '', ...filesOf(of)];
  return paths.some((path) => places.test(path) || places.test(realPath(path)));
}

/** Returns whether the runtime can use a socket that systemd opened: Deno and Bun can't. */
const canPassSocket = ({ runtime = 'node' }: Installation): boolean =>
  /(^|\/)node[^/]*$/.test(runtime);

/** @throws {Fatal} exit 64 if viewlog runs on Deno or Bun, or if the host is a name. */
function socketAddress(of: Installation): string {
  const { host, port } = of.settings;
  if (!canPassSocket(of)) {
    const hint = 'run viewlog on Node or as a single executable';
    throw new Fatal(EXIT.usage, `Deno and Bun can't use a socket from systemd; ${hint}`);
  }
  const address = host === 'localhost' ? '127.0.0.1' : host;
  if (isIP(address) > 0) return fixed({ host: address, port }, 'port');
  throw new Fatal(
    EXIT.usage,
    `A socket of systemd needs an IP address; found --host "${printable(host)}"`,
  );
}

const newToken = (dir: string): string => `${dir}/status-token`;

/**
 * Returns the settings that differ inside a container: the container sees only `dir`, as /data, and
 * viewlog listens on every address, so the status server needs a token.
 * @throws {Fatal} exit 64 if a file is elsewhere.
 */
function changedInside({ settings, texts, status, dir }: Installation): Texts {
  const { projects, 'status-token-file': token, 'nats-creds': creds } = settings;
  const inside = (file: string): string => {
    const below = relative(dir, file);
    if (!below.startsWith('..')) return `/data/${below}`;
    const hint = 'the only directory that the container sees; move the file into it';
    throw new Fatal(EXIT.usage, `"${file}" isn't in "${dir}", ${hint}`);
  };
  return {
    data: texts.data && '/data',
    projects: texts.projects && inside(projects),
    host: '0.0.0.0',
    status: status === undefined ? 'off' : `0.0.0.0:${status.port}`,
    'status-token-file': status && inside(token ?? newToken(dir)),
    'nats-creds': creds && inside(creds),
  };
}

const FLAGS = ['port', 'status'];

/** Returns the addresses of the collector and of its status server. */
const addressesOf = ({ settings: { host, port }, status }: Installation): Address[] => [
  { host, port },
  ...(status === undefined ? [] : [status]),
];
