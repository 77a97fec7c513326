import { execSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { doctor, installation, isRoot, namesIn, of, SERVICE } from '../support/doctor.ts';
import { CADDY, caddy, NGINX, nginx } from '../support/proxies.ts';
import { BUNDLE, isHere, NODE } from '../support/runtimes.ts';
import { canMount, smallDisk } from '../support/small-disk.ts';
import { startWatched } from '../support/status.ts';
import { tempDir } from '../support/temp-dir.ts';

// `viewlog doctor` with other users, disks and real proxies.

const MiB = 1024 * 1024;

describe.skipIf(!isRoot)('users', () => {
  /** Runs the doctor as that user, who may not be able to read the checkout. */
  const doctorAs = (user: typeof SERVICE, data: string) => {
    const dir = tempDir();
    fs.chmodSync(dir, 0o755);
    const bundle = join(dir, 'viewlog.mjs');
    fs.copyFileSync(BUNDLE, bundle);
    return doctor(data, [], {
      user,
      runtime: { ...NODE, command: () => NODE.command(dir, bundle) },
    });
  };

  it('are named; who may not write there gets an error', async () => {
    const data = installation();
    fs.chmodSync(data, 0o755);
    const own = await doctorAs(SERVICE, data);
    const line = '0 ok user: #4711 owns the data directory, so viewlog runs as #4711';
    expect(own.outcome('user')).toBe(line);
    expect(own.line('data directory')).toMatch(/^ok /);
    expect(namesIn(data)).toStrictEqual(['projects.json']);
    const other = await doctorAs({ uid: 4713, gid: 4713 }, data);
    expect(other.line('user')).toContain("sudo -u '#4711' viewlog doctor --host");
    expect(other.outcome('data directory')).toMatch(
      /^78 error .*" cannot be written to: EACCES: .*Run viewlog as its owner, #4711$/,
    );
    fs.chmodSync(join(data, '..'), 0o700);
    const shut = await doctorAs(SERVICE, data);
    expect(shut.outcome('data directory')).toMatch(/^78 .*EACCES: .*Correct --data, run this as/);
  });

  it('cannot use what root has left there, until the printed command is run', async () => {
    const data = installation();
    fs.writeFileSync(join(data, 'views-2026-01-31.ndjson'), '', { mode: 0o600 });
    const { outcome, line } = await doctor(data);
    expect(outcome('permissions')).toMatch(/^0 warning .*" belongs to root, with mode 0600; /);
    execSync(
      line('permissions')
        .replace(/^.*?\. /, '')
        .replaceAll('sudo ', ''),
    );
    expect((await doctor(data)).line('permissions')).toBe('');
    const { uid, gid, mode } = fs.statSync(join(data, 'views-2026-01-31.ndjson'));
    expect([uid, gid, mode & 0o777]).toStrictEqual([4711, 4712, 0o640]);
  });
});

describe.skipIf(!canMount())('a disk', () => {
  it('that is memory, or too small for --min-free, is told', async () => {
    const data = installation(undefined, smallDisk(60 * MiB));
    const { line, outcome } = await doctor(data);
    expect(outcome()).toMatch(
      /^78 error free space: .*can never have more than 60 MiB free\. Start viewlog with --min-free 7MiB, /,
    );
    expect(line('file system')).toMatch(/^warning file system: .* on tmpfs; it is memory, /);
    expect(line('write and sync')).toBe('');
    expect((await doctor(data, ['--min-free=7MiB'])).code).toBe(0);
  });
});

const nginxSite = (url: string): string =>
  `server { listen 80; client_max_body_size 1k; location /view { proxy_pass ${url}; } }`;
const caddySite = (url: string): string =>
  `www.example.com {\n\trequest_body {\n\t\tmax_size 100\n\t}\n\treverse_proxy ${url}\n}\n`;

it.each([
  { name: 'nginx', program: NGINX, start: nginx, site: nginxSite, answer: '413 from nginx' },
  { name: 'Caddy', program: CADDY, start: caddy, site: caddySite, answer: '502 from Caddy' },
])('$name that limits bodies is told so', async ({ program, start, site, answer, name }) => {
  if (!isHere(program)) return;
  const viewlog = await startWatched({ data: installation() });
  const { port } = await start(site(viewlog.url));
  const url = `http://127.0.0.1:${port}`;
  const { code, line } = await doctor(viewlog.data, [...of(viewlog), '--url', url]);
  expect([code, line('url')]).toStrictEqual([0, `ok url: ${url}/view reaches viewlog`]);
  expect(line('size')).toContain(`A body of 16 KiB does not reach viewlog: ${answer}`);
  expect(line('size')).toMatch(new RegExp(`\\(.*${name}: (client_max_body_size|request_body)`));
});
