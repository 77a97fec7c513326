import { shellQuoted } from '../../base/text.ts';
import type { Address } from '../../http/listener.ts';
import { mountsOf, SECRETS } from './container.ts';
import { type Installation, metricsAddress, reachable } from './installation.ts';
import { hostAndPort } from './serve-flags.ts';
import { quoted } from './yaml.ts';

/** For Docker Compose, beside the Dockerfile. */
export function compose(installation: Installation): string {
  const { settings, dir, owner } = installation;
  const { host, status, store, 'status-token-file': tokenFile } = settings;
  const { port } = reachable(settings, '--port');
  const addresses = status === 'off' ? [] : [{ ...status, port: metricsAddress(settings).port }];
  const user = `${owner.uid}:${owner.gid}`;
  const isTokenNew = status !== 'off' && tokenFile === undefined;
  const secrets = secretsOf(installation);
  return lines(
    '# viewlog by Docker Compose: compose.yaml, beside "viewlog example dockerfile". Before it starts:',
    `#   sudo install -d -o ${owner.uid} -g ${owner.gid} -m 750 ${shellQuoted(dir)}`,
    isTokenNew &&
      `#   (umask 077; openssl rand -hex 16 > status-token); sudo chown ${user} status-token`,
    '#   docker compose run --rm viewlog activate 1000001',
    'services:',
    '  viewlog:',
    '    build: .',
    '    # The owner of the files.',
    `    user: '${user}'`,
    '    restart: unless-stopped',
    '    # Within 10 seconds it answers what is under way.',
    '    stop_grace_period: 15s',
    '    read_only: true',
    '    cap_drop: [ALL]',
    "    security_opt: ['no-new-privileges:true']",
    '    ports:',
    ...[{ host, port }, ...addresses].map(published),
    '    # Directories, for of a file alone the container would go on to see the one that an editor',
    '    # has replaced. One that is missing would be made, as root’s.',
    '    volumes:',
    ...mountsOf(installation).flatMap(volume),
    (secrets.length > 0 || store !== undefined) && '    environment:',
    // Handed on, and not written here: it may hold a password.
    store !== undefined && '      VIEWLOG_STORE:',
    status !== 'off' && `      VIEWLOG_STATUS_TOKEN_FILE: ${SECRETS}/status-token`,
    secrets.length > 0 && `    secrets: [${secrets.map(([name]) => name).join(', ')}]`,
    secrets.length > 0 && 'secrets:',
    // Inside it listens on every address, and so asks for a token.
    ...secrets.flatMap(([name, file]) => [`  ${name}:`, `    file: ${plain(file)}`]),
  );
}

const lines = (...wanted: readonly (string | false)[]): string =>
  wanted.filter((line) => line !== false).join('\n');

const published = (address: Address): string => `      - '${hostAndPort(address)}:${address.port}'`;

const volume = ({ source, target }: { source: string; target: string }): string[] => [
  '      - type: bind',
  `        source: ${plain(source)}`,
  `        target: ${target}`,
  '        bind: { create_host_path: false }',
];

function secretsOf({ settings }: Installation): [name: string, file: string][] {
  const { status, 'status-token-file': token = './status-token', 'nats-creds': creds } = settings;
  const secrets: [string, string][] = [];
  if (status !== 'off') secrets.push(['status-token', token]);
  if (creds !== undefined) secrets.push(['nats-creds', creds]);
  return secrets;
}

/** In this file `$` begins a variable, in quotes too. */
const plain = (path: string): string => quoted(path.replaceAll('$', '$$$$'));
