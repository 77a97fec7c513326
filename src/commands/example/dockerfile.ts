import { shellQuoted } from '../../base/text.ts';
import { SERVE_OPTIONS } from '../../serve.ts';
import { DATA, settingsInside } from './container.ts';
import { type Installation, metricsAddress, reachable } from './read-installation.ts';
import { serveFlags } from './serve-flags.ts';
import { fill } from './templates.ts';

/** For Docker, and for podman and buildah. */
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

/** Whether views are taken; without the operator's listener, whether it answers. */
function healthCheck({ settings: { port, status } }: Installation): string {
  const [asked, request] =
    status === 'off' ? [port, 'OPTIONS /view'] : [status.port, 'GET /readyz'];
  const send = String.raw`printf '${request} HTTP/1.0\r\n\r\n' >&3`;
  return `exec 3<>/dev/tcp/127.0.0.1/${asked} && ${send} && read -r _ code _ <&3 && [[ $code == 20? ]]`;
}
