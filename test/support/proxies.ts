import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePorts } from './nats-server.ts';
import { tempDir } from './temp-dir.ts';
import { postView, startProgram, until } from './viewlog.ts';

export const CADDY = '/usr/bin/caddy';
export const NGINX = '/usr/sbin/nginx';

async function startProxy(port: number, [program, ...args]: readonly [string, ...string[]]) {
  const env = { PATH: process.env['PATH'], HOME: tempDir() };
  const { ended, says } = startProgram([program, ...args], { env });
  const url = `http://127.0.0.1:${port}`;
  const answers = until(() => fetch(url).catch(() => undefined));
  const up = await Promise.race([answers, ended]);
  if ('stderr' in up) throw new Error(`${program} ended: ${up.stderr}`);
  const post = (view: unknown) => postView(url, view, { origin: 'https://www.example.com' });
  return { port, post, says };
}

/** Starts Caddy with a printed site. */
export async function caddy(printed: string) {
  const [port = 0] = await freePorts(1);
  const dir = tempDir();
  const config = join(dir, 'Caddyfile');
  // Uses a free port of this machine and no admin port, so that several Caddys can run.
  const own = printed.replace('www.example.com {', `http://127.0.0.1:${port} {`);
  expect(own).not.toBe(printed);
  writeFileSync(config, `{\n\tadmin off\n}\n${own.replaceAll('/srv/www', dir)}`);
  const proxy = await startProxy(port, [
    CADDY,
    'run',
    '--adapter',
    'caddyfile',
    '--config',
    config,
  ]);
  return { ...proxy, accessLog: join(dir, 'access.log') };
}

/** Starts nginx with a printed site. */
export async function nginx(printed: string) {
  const [port = 0] = await freePorts(1);
  const dir = tempDir();
  const config = join(dir, 'nginx.conf');
  const own = printed.replace('listen 80;', `listen 127.0.0.1:${port};`);
  expect(own).not.toBe(printed);
  const around = `pid ${dir}/pid; daemon off; master_process off; events {}
    http { access_log ${dir}/access.log; client_body_temp_path ${dir}/temp; ${own} }`;
  writeFileSync(config, around);
  const proxy = await startProxy(port, [NGINX, '-q', '-p', dir, '-e', 'stderr', '-c', config]);
  // Without this directory, a view that nginx writes to a file fails.
  rmSync(join(dir, 'temp'), { recursive: true });
  return { ...proxy, accessLog: join(dir, 'access.log') };
}
