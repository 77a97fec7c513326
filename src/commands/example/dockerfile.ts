import { shellQuoted } from '../../base/text.ts';
import { SERVE_OPTIONS } from '../../serve.ts';
import { DATA, settingsInside } from './container.ts';
import { type Installation, metricsAddress, reachable } from './installation.ts';
import { serveFlags } from './serve-flags.ts';

/** For Docker, and for podman and buildah. */
export function dockerfile(installation: Installation): string {
  const { settings, owner, program } = installation;
  const isBundle = program.runtime !== undefined;
  const file = isBundle ? 'viewlog.mjs' : 'viewlog';
  const { port } = reachable(settings, '--port');
  const ports = settings.status === 'off' ? [port] : [port, metricsAddress(settings).port];
  const user = `${owner.uid}:${owner.gid}`;
  const isFiles = settings.store === undefined;
  return `# viewlog in a container. In a directory with this file in it:
#   cp ${shellQuoted(program.file)} ${file}
#   printf '*\\n!${file}\\n' > .dockerignore
#   docker build --tag viewlog .
# podman and buildah need --format docker, or leave HEALTHCHECK out.
FROM ${isBundle ? 'node:24-slim' : 'debian:stable-slim'}
COPY --chmod=755 ${file} /usr/local/bin/viewlog
${isFiles ? volume(user) : ''}# The owner of what it writes.
USER ${user}
EXPOSE ${ports.join(' ')}
# Bash's own way of asking, for a base has no curl.
HEALTHCHECK --interval=10s --timeout=5s CMD ${asJson('bash', '-c', healthCheck(installation))}
ENTRYPOINT ${asJson('viewlog')}
CMD ${asJson('serve', ...serveFlags(settingsInside(installation), FLAGS))}`;
}

const FLAGS = SERVE_OPTIONS.filter((name) => name !== 'data');

const volume = (user: string): string => {
  const [uid, gid] = user.split(':');
  return `RUN install -d -o ${uid} -g ${gid} -m 750 ${DATA}
VOLUME ${DATA}
# For commands too.
ENV VIEWLOG_DATA=${DATA}
`;
};

const asJson = (...words: string[]): string => JSON.stringify(words).replaceAll('","', '", "');

/** Whether views are taken; without the operator's listener, whether it answers. */
function healthCheck({ settings: { port, status } }: Installation): string {
  const [asked, request] =
    status === 'off' ? [port, 'OPTIONS /view'] : [status.port, 'GET /readyz'];
  const send = String.raw`printf '${request} HTTP/1.0\r\n\r\n' >&3`;
  return `exec 3<>/dev/tcp/127.0.0.1/${asked} && ${send} && read -r _ code _ <&3 && [[ $code == 20? ]]`;
}
