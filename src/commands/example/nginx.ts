import { type Installation, reachable } from './installation.ts';
import { hostAndPort } from './serve-flags.ts';

const KiB = 1024;
/** So much more than a view may have is passed on. */
const REFUSED_KIB = 64;

/** For nginx of any age, among what stands in its `http` block. */
export function nginx({ settings }: Installation): string {
  const bodyKiB = Math.ceil(settings['max-view'] / KiB) + REFUSED_KIB;
  return `# viewlog behind nginx: /etc/nginx/conf.d/viewlog.conf
# Limits per visitor's address belong here: viewlog reads no address.
limit_req_zone $binary_remote_addr zone=views:10m rate=20r/s;
upstream viewlog {
    server ${hostAndPort(reachable(settings, '--port'))};
    keepalive 32;
}
server {
    listen 80;
    # ---- Put your site's name and its pages' directory here. ----
    server_name www.example.com;
    root /srv/www;
    location = /view {
        limit_req zone=views burst=40 nodelay;
        limit_req_status 429;
        # More than --max-view: viewlog refuses what is too large, with a reason that pages can
        # read. nginx refuses what is larger still.
        client_max_body_size ${bodyKiB}k;
        # In memory: by default what is over 16k goes through a file.
        client_body_buffer_size ${bodyKiB}k;
        proxy_pass http://viewlog;
        proxy_set_header Host $host;
        # Connections are kept, and used again.
        proxy_http_version 1.1;
        proxy_set_header Connection "";
    }
}`;
}
