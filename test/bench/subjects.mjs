// The servers to measure. Each has its own port and its own directory.
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ORIGIN } from './request.mjs';

const ROOT = join(import.meta.dirname, '../..');
export const BUNDLE = join(ROOT, 'dist/viewlog.mjs');
/** Another build to compare with this one: the path of its bundle. */
const BASE = process.env.BENCH_BASE && resolve(process.env.BENCH_BASE);
if (BASE && !existsSync(BASE)) throw new Error(`BENCH_BASE: there is no ${BASE}`);

/** Runtimes: the program, and its arguments before the file. */
export const NODE = { program: process.execPath, args: () => [] };
const DENO = {
  program: join(ROOT, 'node_modules/.bin/deno'),
  args: (dir) => [
    ...'run --no-prompt --allow-net'.split(' '),
    `--allow-read=${dir}`,
    `--allow-write=${dir}`,
  ],
};
const BUN = { program: join(ROOT, '.ci/tools/node_modules/.bin/bun'), args: () => [] };

/** A runtime's own server without viewlog. */
const bare = (name, { program, args }) => ({
  name,
  program,
  args: (port, dir) => [...args(dir), join(import.meta.dirname, 'bare.mjs'), String(port)],
});

export const viewlog = (name, { program, args }, flags = [], bundle = BUNDLE) => ({
  name: `viewlog, ${name}`,
  program,
  args(port, dir) {
    const project = { id: '1000001', origins: [ORIGIN], maxViewsPerMinute: 600_000_000 };
    writeFileSync(join(dir, 'projects.json'), JSON.stringify({ projects: [project] }));
    const options = ['--port', String(port), '--data', dir, '--status', `127.0.0.1:${port + 1}`];
    return [...args(dir), bundle, ...options, ...flags];
  },
});

/** This build on a runtime, and the other build, if there is one. */
const disk = (key, name, runtime) => ({
  [key]: viewlog(name, runtime),
  ...(BASE && { [`${key}Base`]: viewlog(`${name}, the other build`, runtime, [], BASE) }),
});

/** nginx reads a body only to pass it on, so it passes the body to itself. */
export const nginx = {
  name: 'nginx, logs the body',
  program: '/usr/sbin/nginx',
  args(port, dir) {
    const config = join(dir, 'nginx.conf');
    writeFileSync(config, nginxConfiguration(port, dir));
    return ['-p', dir, '-e', join(dir, 'error.log'), '-c', config];
  },
};

const nginxConfiguration = (port, dir) => `
daemon off; master_process off; pid ${dir}/nginx.pid;
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

/**
 * @typedef {{
 *   name: string,
 *   program: string,
 *   args(port: number, dir: string): string[],
 * }} Subject
 */

/** @type {Record<string, Subject>} */
export const SUBJECTS = {
  nodeBare: bare('bare node:http', NODE),
  nginx,
  ...disk('nodeDisk', 'Node, disk', NODE),
  nodeOs: viewlog('Node, os', NODE, ['--durability', 'os']),
  denoBare: bare('bare Deno.serve', DENO),
  ...disk('denoDisk', 'Deno, disk', DENO),
  bunBare: bare('bare Bun.serve', BUN),
  ...disk('bunDisk', 'Bun, disk', BUN),
};
