// nginx, which logs the body. nginx reads a body only to pass it on, so it passes the body to
// itself.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAM = '/usr/sbin/nginx';

export const NGINX = {
  name: 'nginx, logs the body',
  ...(existsSync(PROGRAM) ? {} : { missing: 'nginx (Debian: nginx-light)' }),
  command(port, dir) {
    const config = join(dir, 'nginx.conf');
    writeFileSync(config, configuration(port, dir));
    return [PROGRAM, '-p', dir, '-e', join(dir, 'error.log'), '-c', config];
  },
};

const configuration = (port, dir) => `
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
