import { dirname, relative } from 'node:path';
import { EXIT, Fatal } from '../../base/exit.ts';
import { envName, type ServeSettings } from '../../settings.ts';
import { isLoopback } from '../../status/guard.ts';
import {
  chosenSettings,
  flagsOf,
  hostAndPort,
  type Installation,
  plainPath,
  reachable,
  realPath,
  statusAddress,
} from './installation.ts';
import { fill } from './templates.ts';

// Files for the programs that run viewlog: systemd and containers.

/** Returns a service unit for systemd 245 or later. */
export function systemd(installation: Installation): string {
  const { settings, dir, owner, program, runtime = dir } = installation;
  const { projects, store, status, 'status-token-file': token, 'nats-creds': creds } = settings;
  const isTokenWanted = status !== 'off' && !isLoopback(status.host) && token === undefined;
  const secrets = [store && 'VIEWLOG_STORE=…', isTokenWanted && 'VIEWLOG_STATUS_TOKEN=…'];
  const paths = [dir, projects, token ?? dir, creds ?? dir, program, runtime].flatMap((path) => [
    path,
    realPath(path),
  ]);
  const isUnder = (places: RegExp): boolean => paths.some((path) => places.test(path));
  const ports = [settings.port, status === 'off' ? 0 : status.port];
  return fill('systemd', {
    dir,
    user: owner.user,
    group: owner.group,
    secrets: secrets.filter(Boolean).join(', '),
    run: commandOf(installation),
    flags: flagsOf(settings),
    projects: flagsOf(settings, ['data', 'projects']),
    writable: store === undefined ? dir : '',
    // A place that contains any of these files must stay visible.
    home: isUnder(/^\/(home|root|run\/user)(\/|$)/) ? 'read-only' : 'yes',
    tmp: isUnder(/^\/(var\/)?tmp(\/|$)/) ? 'no' : 'yes',
    capability: ports.some((port) => port > 0 && port < 1024) ? 'CAP_NET_BIND_SERVICE' : '',
  });
}

/**
 * Returns the socket unit that goes with that service.
 * @throws {Fatal} exit 64 if viewlog runs on Deno or Bun, which cannot take over a socket.
 */
export function systemdSocket({ settings, runtime }: Installation): string {
  if (runtime !== undefined && !/(^|\/)node[^/]*$/.test(runtime)) {
    const hint = 'run viewlog on Node, or as a single executable';
    throw new Fatal(EXIT.usage, `Deno and Bun cannot take over a socket of systemd; ${hint}`);
  }
  const { port } = reachable(settings);
  return fill('systemd-socket', { address: hostAndPort({ host: settings.host, port }) });
}

/** Uses real paths, so that neither PATH nor a symlink changes what runs. */
function commandOf({ settings, dir, program, runtime }: Installation): string {
  const file = plainPath(program);
  if (runtime === undefined) return file;
  const isDeno = /(^|\/)deno[^/]*$/.test(runtime);
  return [plainPath(runtime), ...(isDeno ? denoFlags(settings, dir) : []), file].join(' ');
}

function denoFlags(settings: ServeSettings, dir: string): string[] {
  const { projects, 'status-token-file': token, 'nats-creds': creds } = settings;
  const paths = [dir, dirname(projects), token, creds].filter((path) => path !== undefined);
  return [
    'run --no-prompt --allow-net --allow-env --allow-sys=statfs',
    `--allow-read=${[...new Set(paths)].join(',')}`,
    ...(settings.store === undefined ? [`--allow-write=${dir}`] : []),
  ];
}

/** Returns a Dockerfile for Docker, podman and buildah. */
export function dockerfile(installation: Installation): string {
  const { settings, owner, program, runtime } = installation;
  const { port, status } = settings;
  const inside = chosenSettings(settingsInside(installation));
  return fill('dockerfile', {
    program: plainPath(program),
    file: runtime === undefined ? 'viewlog' : 'viewlog.mjs',
    base: runtime === undefined ? 'debian:stable-slim' : 'node:24-slim',
    settings: inside.map(([name, text]) => `${envName(name)}=${text}`),
    uid: owner.uid,
    gid: owner.gid,
    ports: portsOf(settings).map((address) => `${address.port}`),
    asked: status === 'off' ? port : status.port,
    request: status === 'off' ? 'OPTIONS /view' : 'GET /readyz',
  });
}

/** Returns a compose.yaml for the directory of the Dockerfile. */
export function compose(installation: Installation): string {
  const { settings, dir, owner } = installation;
  const { status, store, 'status-token-file': token } = settings;
  settingsInside(installation);
  return fill('compose', {
    dir,
    uid: owner.uid,
    gid: owner.gid,
    newToken: status === 'off' || token !== undefined ? '' : newToken(dir),
    ports: portsOf(settings).map((address) => `${hostAndPort(address)}:${address.port}`),
    store: store === undefined ? '' : 'VIEWLOG_STORE',
  });
}

const newToken = (dir: string): string => `${dir}/status-token`;

/**
 * Returns the settings inside a container: it sees `dir` alone, as /data, and listens on every
 * address. The status server therefore needs a token.
 * @throws {Fatal} exit 64 if a file is elsewhere.
 */
function settingsInside({ settings, dir }: Installation): ServeSettings {
  const { projects, status, 'status-token-file': token, 'nats-creds': creds } = settings;
  const inside = (file: string): string => {
    const below = relative(dir, file);
    if (!below.startsWith('..')) return `/data/${below}`;
    const hint = 'the container sees no other directory; move the file there';
    throw new Fatal(EXIT.usage, `"${file}" is not in "${dir}", and ${hint}`);
  };
  const isOff = status === 'off';
  return {
    ...settings,
    data: '/data',
    projects: inside(projects),
    host: '0.0.0.0',
    status: isOff ? status : { host: '0.0.0.0', port: status.port },
    'status-token-file': isOff ? undefined : inside(token ?? newToken(dir)),
    'nats-creds': creds && inside(creds),
  };
}

/** Returns the addresses on this machine at which the container is published. */
function portsOf(settings: ServeSettings) {
  const { host, status } = settings;
  const views = { host, port: reachable(settings).port };
  if (status === 'off') return [views];
  return [views, { host: status.host, port: statusAddress(settings).port }];
}
