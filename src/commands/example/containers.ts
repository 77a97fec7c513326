// Containers: an image, and a Docker Compose service of it.
import { basename, dirname, relative } from 'node:path';
import { shellQuoted } from '../../base/text.ts';
import type { Address } from '../../http/listener.ts';
import { SERVE_OPTIONS } from '../../serve.ts';
import {
  type Installation,
  metricsAddress,
  reachable,
  type ServeSettings,
} from './read-installation.ts';
import { hostAndPort, serveFlags } from './serve-flags.ts';
import { fill, quoted } from './templates.ts';

/** Paths inside a container: the data directory, the projects file's directory if it is another, secrets. */
const DATA = '/data';
const PROJECTS = '/projects';
const SECRETS = '/run/secrets';

/** Whether there is a data directory, with the projects file in it. */
const isProjectsInData = ({ settings: { projects, data, store } }: Installation): boolean =>
  store === undefined && !relative(data, projects).startsWith('..');

/** Returns the settings inside a container, where viewlog listens on every address. */
function settingsInside(installation: Installation): ServeSettings {
  const { settings } = installation;
  const { data, projects, status, 'nats-creds': creds } = settings;
  return {
    ...settings,
    data: DATA,
    projects: isProjectsInData(installation)
      ? `${DATA}/${relative(data, projects)}`
      : `${PROJECTS}/${basename(projects)}`,
    host: '0.0.0.0',
    status: status === 'off' ? status : { host: '0.0.0.0', port: status.port },
    'status-token-file': undefined,
    'nats-creds': creds === undefined ? undefined : `${SECRETS}/nats-creds`,
  };
}

interface Mount {
  readonly source: string;
  readonly target: string;
}

/** Returns the directories of this machine that the container needs, and their paths inside. */
function mountsOf(installation: Installation): Mount[] {
  const { settings } = installation;
  const { data, projects, store } = settings;
  return [
    ...(store === undefined ? [{ source: data, target: DATA }] : []),
    ...(isProjectsInData(installation) ? [] : [{ source: dirname(projects), target: PROJECTS }]),
  ];
}

/** Returns a Dockerfile for Docker, podman and buildah. */
export function dockerfile(installation: Installation): string {
  const { settings, owner, program } = installation;
  const isBundle = program.runtime !== undefined;
  const file = isBundle ? 'viewlog.mjs' : 'viewlog';
  const { port } = reachable(settings, '--port');
  const ports = settings.status === 'off' ? [port] : [port, metricsAddress(settings).port];
  const { uid, gid } = owner;
  return fill('dockerfile', {
    program: shellQuoted(program.file),
    file,
    base: isBundle ? 'node:24-slim' : 'debian:stable-slim',
    volume: settings.store === undefined ? fill('dockerfile-volume', { uid, gid, DATA }) : '',
    uid,
    gid,
    ports: ports.join(' '),
    healthCheck: asJson('bash', '-c', healthCheck(installation)),
    command: asJson('serve', ...serveFlags(settingsInside(installation), FLAGS)),
  });
}

const FLAGS = SERVE_OPTIONS.filter((name) => name !== 'data');

const asJson = (...words: string[]): string => JSON.stringify(words).replaceAll('","', '", "');

/** Asks whether viewlog is ready; without a status server, whether it answers. */
function healthCheck({ settings: { port, status } }: Installation): string {
  const [asked, request] =
    status === 'off' ? [port, 'OPTIONS /view'] : [status.port, 'GET /readyz'];
  const send = String.raw`printf '${request} HTTP/1.0\r\n\r\n' >&3`;
  return `exec 3<>/dev/tcp/127.0.0.1/${asked} && ${send} && read -r _ code _ <&3 && [[ $code == 20? ]]`;
}

/** Returns a compose.yaml to put beside the Dockerfile. */
export function compose(installation: Installation): string {
  const { settings, dir, owner } = installation;
  const { host, status, store, 'status-token-file': tokenFile } = settings;
  const { port } = reachable(settings, '--port');
  const addresses = status === 'off' ? [] : [{ ...status, port: metricsAddress(settings).port }];
  const { uid, gid } = owner;
  const isTokenNew = status !== 'off' && tokenFile === undefined;
  const secrets = secretsOf(installation);
  const environment = [
    // Passed on, not printed: it may contain a password.
    ...(store === undefined ? [] : ['VIEWLOG_STORE:']),
    // Inside, the status server listens on every address, so it needs a token.
    ...(status === 'off' ? [] : [`VIEWLOG_STATUS_TOKEN_FILE: ${SECRETS}/status-token`]),
  ];
  return fill('compose', {
    uid,
    gid,
    dir: shellQuoted(dir),
    tokenRecipe: isTokenNew
      ? `#   (umask 077; openssl rand -hex 16 > status-token); sudo chown ${uid}:${gid} status-token`
      : '',
    ports: [{ host, port }, ...addresses].map(published).join('\n'),
    volumes: mountsOf(installation).map(volume).join('\n'),
    environment: block(
      '    environment:',
      environment.map((line) => `      ${line}`),
    ),
    secrets:
      secrets.length === 0
        ? ''
        : `    secrets: [${secrets.map(([name]) => name).join(', ')}]\n` +
          block(
            'secrets:',
            secrets.flatMap(([name, file]) => [`  ${name}:`, `    file: ${plain(file)}`]),
          ),
  });
}

const block = (head: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : [head, ...lines].join('\n');

const published = (address: Address): string => `      - '${hostAndPort(address)}:${address.port}'`;

const volume = ({ source, target }: Mount): string =>
  fill('compose-volume', { source: plain(source), target });

function secretsOf({ settings }: Installation): [name: string, file: string][] {
  const { status, 'status-token-file': token = './status-token', 'nats-creds': creds } = settings;
  const secrets: [string, string][] = [];
  if (status !== 'off') secrets.push(['status-token', token]);
  if (creds !== undefined) secrets.push(['nats-creds', creds]);
  return secrets;
}

/** In compose.yaml, `$` begins a variable, also in quotes. */
const plain = (path: string): string => quoted(path.replaceAll('$', '$$$$'));
