import { dirname } from 'node:path';
import { EXIT, Fatal } from '../../base/exit.ts';
import { isLoopback } from '../../status/guard.ts';
import {
  flagsOf,
  hostAndPort,
  type Installation,
  plainPath,
  reachable,
  realPath,
  type ServeSettings,
} from './installation.ts';
import { fill } from './templates.ts';

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
