import { dirname } from 'node:path';
import { EXIT, Fatal } from '../../base/exit.ts';
import { isLoopback } from '../../status/guard.ts';
import { type Installation, reachable, realPath, type ServeSettings } from './read-installation.ts';
import { hostAndPort, serveFlags } from './serve-flags.ts';
import { fill } from './templates.ts';

/** Returns a service unit for systemd 245 or later. */
export function systemd(installation: Installation): string {
  const { settings, dir, owner } = installation;
  const { user, group } = owner;
  const run = programOf(installation);
  const check = serveFlags(settings, ['data', 'projects']);
  return fill('systemd', {
    dir: word(dir),
    user,
    group,
    secrets: secretsOf(settings),
    serve: `${run} serve ${argumentsOf(serveFlags(settings))}`,
    check: `${run} check ${argumentsOf(check)}`,
    ...sandboxOf(installation),
  });
}

/**
 * Returns the socket unit that goes with that service: systemd listens, so a restart refuses nobody.
 * @throws {Fatal} exit 64 if viewlog runs on Deno or Bun, which cannot take over a socket.
 */
export function systemdSocket({ settings, program }: Installation): string {
  if (program.runtime !== undefined && !/(^|\/)node[^/]*$/.test(program.runtime)) {
    const hint = 'run viewlog on Node, or as a single executable';
    throw new Fatal(EXIT.usage, `Deno and Bun cannot take over a socket of systemd; ${hint}`);
  }
  const { port } = reachable(settings, '--port');
  return fill('systemd-socket', { address: hostAndPort({ host: settings.host, port }) });
}

/** Returns what keeps secrets out of the command line, which every user can read. */
function secretsOf({ store, status, 'status-token-file': file }: ServeSettings): string {
  const isTokenWanted = status !== 'off' && !isLoopback(status.host) && file === undefined;
  const names = [store && 'VIEWLOG_STORE', isTokenWanted && 'VIEWLOG_STATUS_TOKEN'].filter(Boolean);
  if (names.length === 0) return '';
  return `# Create this file as root, with mode 0600 and ${names.map((name) => `${name}=…`).join(', ')} in it.
EnvironmentFile=/etc/viewlog.env`;
}

function sandboxOf({ settings, dir, program }: Installation): Record<string, string> {
  const isFiles = settings.store === undefined;
  const { projects, 'status-token-file': token = dir, 'nats-creds': creds = dir } = settings;
  const paths = [dir, projects, token, creds, program.file, program.runtime ?? dir];
  const isUnder = (places: RegExp): boolean =>
    paths.some((path) => places.test(path) || places.test(realPath(path)));
  // systemd creates a state directory if it is missing.
  const [, state] = /^\/var\/lib\/([\w.-]+)$/.exec(dir) ?? [];
  const isState = state !== undefined && realPath(dir) === dir;
  const ports = [settings.port, settings.status === 'off' ? 0 : settings.status.port];
  const isLowPort = ports.some((port) => port > 0 && port < 1024);
  const capabilities = isLowPort ? 'CAP_NET_BIND_SERVICE' : '';
  return {
    writable: isFiles ? writable(dir, isState ? state : undefined) : '',
    // A place that holds any of these files must stay visible.
    home: isUnder(/^\/(home|root|run\/user)(\/|$)/) ? 'read-only' : 'yes',
    tmp: isUnder(/^\/(var\/)?tmp(\/|$)/) ? 'no' : 'yes',
    capabilities,
    ambient: isLowPort ? `AmbientCapabilities=${capabilities}` : '',
  };
}

const writable = (dir: string, state: string | undefined): string =>
  state === undefined
    ? `ReadWritePaths=${word(dir)}`
    : `StateDirectory=${state}\nStateDirectoryMode=0750`;

/** Uses real paths, so that neither PATH nor a symlink changes what runs. */
function programOf({ settings, dir, program: { runtime, file } }: Installation): string {
  if (runtime === undefined) return firstWord(file);
  const flags = /(^|\/)deno[^/]*$/.test(runtime) ? denoFlags(settings, dir) : [];
  return [firstWord(runtime), ...[...flags, file].map(argument)].join(' ');
}

function denoFlags(settings: ServeSettings, dir: string): string[] {
  const { projects, 'status-token-file': token, 'nats-creds': creds } = settings;
  const files = [dir, dirname(projects), token, creds].filter((path) => path !== undefined);
  const paths = [...new Set(files)].map((path) => path.replaceAll(',', ',,'));
  return [
    'run',
    '--no-prompt',
    '--allow-net',
    '--allow-env',
    '--allow-sys=statfs',
    `--allow-read=${paths.join(',')}`,
    ...(settings.store === undefined ? [`--allow-write=${paths[0]!}`] : []),
  ];
}

/** Quotes a path for systemd, to which `%` begins a specifier. */
function word(path: string): string {
  const text = path.replaceAll('%', '%%');
  return /^[\w/.@%+:,=-]+$/.test(text) ? text : `"${text.replace(/[\\"]/g, '\\$&')}"`;
}

/** In a command line, `$` begins a variable. */
const argument = (text: string): string => word(text).replaceAll('$', '$$$$');

const argumentsOf = (texts: readonly string[]): string => texts.map(argument).join(' ');

/** systemd accepts no quotes, backslashes or `$$` in the path of a program. */
const firstWord = (path: string): string =>
  /["'\\$]/.test(path) ? `/usr/bin/env ${argument(path)}` : word(path);
