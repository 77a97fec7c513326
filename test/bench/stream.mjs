// A collector with its views on three NATS servers, on the same machine.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE, viewlog } from './viewlog.mjs';

const NATS = '/usr/sbin/nats-server';

/** The ports of a cluster's three servers: for clients, for each other, and for monitoring. */
const natsPorts = (port, kind) => [0, 1, 2].map((i) => 10_000 + (port % 1_000) * 9 + 3 * kind + i);
const servers = (port) => natsPorts(port, 0).map((client) => `127.0.0.1:${client}`);

export const STREAM = {
  ...viewlog('Node, R3 stream', NODE, {
    place: (port, dir) => [
      '--store',
      `nats://${servers(port).join()}`,
      '--projects',
      join(dir, 'projects.json'),
    ],
  }),
  batches: undefined, // one message a view
  ...(existsSync(NATS) ? {} : { missing: 'nats-server (Debian: nats-server)' }),
  companions: (port, dir) =>
    natsPorts(port, 0).map((client, i) => {
      const config = join(dir, `nats-${i}.conf`);
      const routes = natsPorts(port, 1);
      writeFileSync(
        config,
        `
server_name: n${i}
listen: "127.0.0.1:${client}"
http: "127.0.0.1:${natsPorts(port, 2)[i]}"
jetstream { store_dir: "${join(dir, `nats-${i}`)}" }
cluster { name: bench, listen: "127.0.0.1:${routes[i]}", routes: [
  ${routes.map((route) => `"nats-route://127.0.0.1:${route}"`).join()}
] }`,
      );
      return [NATS, '-c', config];
    }),
  async ready(port) {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const answers = natsPorts(port, 2).map((http) =>
        fetch(`http://127.0.0.1:${http}/jsz`).then(
          (answer) => answer.json(),
          () => ({}),
        ),
      );
      const replies = await Promise.all(answers);
      const current = replies.flatMap(({ meta_cluster: meta }) =>
        (meta?.replicas ?? []).filter((peer) => peer.current),
      );
      if (current.length === 2) return;
    }
  },
};
