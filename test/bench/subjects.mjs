// What is measured: each starts a server on a port of its own, in a directory of its own.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BUNDLE = join(ROOT, 'dist/viewlog.mjs');
const DENO = join(ROOT, '.ci/tools/node_modules/newest-deno/deno');
const BUN = join(ROOT, '.ci/tools/node_modules/.bin/bun');

/**
 * @typedef {{
 *   name: string,
 *   missing?: string,
 *   spelling?: 'plain' | 'spaced',
 *   command(port: number, dir: string): string[],
 *   batches?(port: number): Promise<{ lines: number, batches: number }>,
 *   companions?(port: number, dir: string): string[][],
 *   ready?(port: number): Promise<void>,
 * }} Subject `companions` are started first, and not measured.
 */

/** What it has written so far. */
async function metrics(port) {
  const text = await (await fetch(`http://127.0.0.1:${port + 1}/metrics`)).text();
  const of = (name) =>
    Number(new RegExp(`^viewlog_written_${name}_total (\\d+)`, 'm').exec(text)[1]);
  return { lines: of('lines'), batches: of('batches') };
}

function viewlog(name, program, args, flags, place = (port, dir) => ['--data', dir]) {
  return {
    name,
    batches: metrics,
    ...(existsSync(program) ? {} : { missing: program }),
    command(port, dir) {
      mkdirSync(dir, { recursive: true });
      const projects = { projects: [{ id: '1000001', maxViewsPerMinute: 600_000_000 }] };
      writeFileSync(join(dir, 'projects.json'), JSON.stringify(projects));
      return [
        program,
        ...args(dir),
        BUNDLE,
        '--port',
        String(port),
        ...place(port, dir),
        '--status',
        `127.0.0.1:${port + 1}`,
        ...flags,
      ];
    },
  };
}

const onDeno = (dir) => [
  'run',
  '--no-prompt',
  '--allow-net',
  `--allow-read=${dir}`,
  `--allow-write=${dir}`,
];

const FLOOR = {
  name: 'bare node:http, discards',
  command: (port) => [process.execPath, join(import.meta.dirname, 'floor.mjs'), String(port)],
};

const NGINX = {
  name: 'nginx, logs the body',
  ...(existsSync('/usr/sbin/nginx') ? {} : { missing: 'nginx (Debian: nginx-light)' }),
  command(port, dir) {
    mkdirSync(dir, { recursive: true });
    const config = join(dir, 'nginx.conf');
    writeFileSync(config, nginxConfig(port, dir));
    return ['/usr/sbin/nginx', '-p', dir, '-e', join(dir, 'error.log'), '-c', config];
  },
};

/** nginx reads a body only to pass it on; so it passes it on, to itself. */
function nginxConfig(port, dir) {
  return `
daemon off; worker_processes 1; pid ${dir}/nginx.pid; user root;
events { worker_connections 1024; }
http {
  client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/f; uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
  log_format body escape=none '$request_body';
  keepalive_requests 1000000000;
  upstream self { server 127.0.0.1:${port + 1}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    access_log ${dir}/views.log body;
    location / { proxy_pass http://self; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
  server { listen 127.0.0.1:${port + 1}; access_log off; location / { return 204; } }
}`;
}

const onNode = () => [];

const NATS = '/usr/sbin/nats-server';
/** Ports of a cluster's three servers: for clients, for each other, and to ask how they are. */
const natsPorts = (port, kind) => [0, 1, 2].map((i) => 10_000 + (port % 1_000) * 9 + 3 * kind + i);

/** A collector whose views three servers keep. */
const STREAM = {
  ...viewlog('viewlog, Node, R3 stream', process.execPath, onNode, [], (port, dir) => [
    '--store',
    `nats://${natsPorts(port, 0)
      .map((nats) => `127.0.0.1:${nats}`)
      .join(',')}`,
    '--projects',
    join(dir, 'projects.json'),
  ]),
  batches: undefined, // one message a view
  ...(existsSync(NATS) ? {} : { missing: 'nats-server (Debian: nats-server)' }),
  companions: (port, dir) =>
    natsPorts(port, 0).map((client, i) => {
      const config = join(dir, `nats-${i}.conf`);
      mkdirSync(dir, { recursive: true });
      writeFileSync(
        config,
        `
server_name: n${i}
listen: "127.0.0.1:${client}"
http: "127.0.0.1:${natsPorts(port, 2)[i]}"
jetstream { store_dir: "${join(dir, `nats-${i}`)}" }
cluster { name: bench, listen: "127.0.0.1:${natsPorts(port, 1)[i]}", routes: [
  ${natsPorts(port, 1)
    .map((route) => `"nats-route://127.0.0.1:${route}"`)
    .join()}
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
      const told = await Promise.all(answers);
      const current = told.flatMap(({ meta_cluster: meta }) =>
        (meta?.replicas ?? []).filter((peer) => peer.current),
      );
      if (current.length === 2) return;
    }
  },
};

/** @type {Record<string, Subject>} */
export const SUBJECTS = {
  floor: FLOOR,
  nginx: NGINX,
  nodeDisk: viewlog('viewlog, Node, disk', process.execPath, onNode, []),
  nodeOs: viewlog('viewlog, Node, os', process.execPath, onNode, ['--durability', 'os']),
  // What is not spelt as JSON.stringify does has to be parsed.
  nodeSpaced: {
    ...viewlog('viewlog, Node, os, spaced', process.execPath, onNode, ['--durability', 'os']),
    spelling: 'spaced',
  },
  denoDisk: viewlog('viewlog, Deno, disk', DENO, onDeno, []),
  bunDisk: viewlog('viewlog, Bun, disk', BUN, onNode, []),
  nodeStream: STREAM,
};
