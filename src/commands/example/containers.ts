import { relative } from 'node:path';
import { EXIT, Fatal } from '../../base/exit.ts';
import { envName } from '../../settings.ts';
import {
  chosenSettings,
  hostAndPort,
  type Installation,
  plainPath,
  reachable,
  type ServeSettings,
  statusAddress,
} from './installation.ts';
import { fill } from './templates.ts';

/** Returns a Dockerfile for Docker, podman and buildah. */
export function dockerfile(installation: Installation): string {
  const { settings, owner, program, runtime } = installation;
  const { port, status } = settings;
  const [asked, request] =
    status === 'off' ? [port, 'OPTIONS /view'] : [status.port, 'GET /readyz'];
  const send = String.raw`printf '${request} HTTP/1.0\r\n\r\n' >&3`;
  const check = `exec 3<>/dev/tcp/127.0.0.1/${asked} && ${send} && read -r _ code _ <&3 && [[ $code == 20? ]]`;
  const inside = chosenSettings(settingsInside(installation));
  return fill('dockerfile', {
    program: plainPath(program),
    file: runtime === undefined ? 'viewlog' : 'viewlog.mjs',
    base: runtime === undefined ? 'debian:stable-slim' : 'node:24-slim',
    settings: inside.map(([name, text]) => `${envName(name)}=${text}`),
    uid: owner.uid,
    gid: owner.gid,
    ports: portsOf(settings)
      .map((address) => address.port)
      .join(' '),
    healthCheck: JSON.stringify(check),
  });
}

/** Returns a compose.yaml to put beside the Dockerfile. */
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
