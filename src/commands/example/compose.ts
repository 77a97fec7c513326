import { shellQuoted } from '../../base/text.ts';
import type { Address } from '../../http/listener.ts';
import { type Mount, mountsOf, SECRETS } from './container.ts';
import { type Installation, metricsAddress, reachable } from './read-installation.ts';
import { hostAndPort } from './serve-flags.ts';
import { fill, quoted } from './templates.ts';

/** For Docker Compose, beside the Dockerfile. */
export function compose(installation: Installation): string {
  const { settings, dir, owner } = installation;
  const { host, status, store, 'status-token-file': tokenFile } = settings;
  const { port } = reachable(settings, '--port');
  const addresses = status === 'off' ? [] : [{ ...status, port: metricsAddress(settings).port }];
  const { uid, gid } = owner;
  const isTokenNew = status !== 'off' && tokenFile === undefined;
  const secrets = secretsOf(installation);
  const environment = [
    // Handed on, and not written here: it may hold a password.
    ...(store === undefined ? [] : ['VIEWLOG_STORE:']),
    // Inside it listens on every address, and so asks for one.
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

/** In this file `$` begins a variable, in quotes too. */
const plain = (path: string): string => quoted(path.replaceAll('$', '$$$$'));
