import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { blocksOf, MANUAL, read } from '../support/documents.ts';
import { exampleOf, fileOf } from '../support/examples.ts';
import { canRunNats, startNats } from '../support/nats-server.ts';
import { isHere } from '../support/runtimes.ts';
import { startWatched } from '../support/status.ts';
import { tempDir } from '../support/temp-dir.ts';
import { until } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// Checks the manual's configurations with the programs that read them.

/** Returns the only code block of a page in that language that contains `part`. */
function block(page: string, wanted: string, part = ''): string {
  const blocks = blocksOf(read(`${MANUAL}/${page}.md`)).filter(
    ({ language, text }) => language === wanted && text.includes(part),
  );
  expect(blocks).toHaveLength(1);
  return blocks[0]!.text;
}

/** Runs a program and returns its stdout; throws with its stderr if it fails. */
const check = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' });

it('the blocks for Caddy in the manual are those that viewlog prints', async () => {
  const dense = (text: string): string => text.replace(/^\s*(#.*\n)?/gm, '');
  const printed = dense(await exampleOf('caddy'));
  expect(printed).toContain(dense(block('proxies', 'caddy', '# Views wait')));
  const [own = ''] = /^\s+reverse_proxy .*?^\t{2}\}\n/ms.exec(
    block('proxies', 'caddy', 'views.example.com'),
  )!;
  expect(printed.replace('reverse_proxy /view', 'reverse_proxy')).toContain(dense(own));
});

it.skipIf(!isHere('/usr/sbin/nginx'))("nginx accepts the manual's blocks", async () => {
  const dir = tempDir();
  const files = `-keyout ${dir}/key.pem -out ${dir}/certificate.pem`;
  const request = `req -x509 -newkey rsa:2048 -nodes -subj /CN=www.example.com ${files}`;
  check('openssl', ...request.split(' '));
  const tlsOf = (host: string): string =>
    block('proxies', 'nginx', `/${host}`)
      .replace(/ssl_certificate_key \S+(?=;)/, `ssl_certificate_key ${dir}/key.pem`)
      .replace(/ssl_certificate \S+(?=;)/, `ssl_certificate ${dir}/certificate.pem`);
  const https = tlsOf('www.example.com');
  const own = tlsOf('views.example.com');
  const upstream = block('cluster', 'nginx', '10.0.0.12');
  const printed = await exampleOf('nginx');
  const site = printed.replace('    listen 80;\n', https).replace(/^upstream.*?^}\n/ms, upstream);
  const ownSite = printed
    .replace(/^ {4}listen .*? root .*?\n/ms, own)
    .replace(/^.*?(?=^server)/ms, '');
  for (const part of [https, upstream, own]) expect(site + ownSite).toContain(part);
  expect(ownSite).not.toContain('root');
  const redirect = block('proxies', 'nginx', 'return 301');
  const around = `pid ${dir}/pid; events {} http { ${site} ${ownSite} ${redirect} }`;
  const config = fileOf('nginx.conf', around);
  check('/usr/sbin/nginx', ...`-t -q -p ${dir} -e stderr -c ${config}`.split(' '));
});

describe.skipIf(!canRunNats())("the manual's configuration of a NATS server", () => {
  // Debian's server is too old for `sync_interval`.
  const config = block('cluster', 'conf', 'sync_interval').replace(/^.*sync_interval.*\n/m, '');

  it('is accepted by nats-server', () => {
    const path = fileOf('nats.conf', config.replace('$VIEWLOG_PASSWORD', 's3cret'));
    expect(() => check('/usr/sbin/nats-server', '-t', '-c', path)).not.toThrow();
  });

  it('gives a collector all the permissions that it needs', async () => {
    const [authorization = ''] = /^authorization \{.*?^\}\n/ms.exec(config) ?? [];
    const nats = await startNats({ config: authorization.replace('$VIEWLOG_PASSWORD', 's3cret') });
    const store = nats.url.replace('//', '//viewlog:s3cret@');
    const viewlog = await startWatched({ env: { VIEWLOG_STORE: store } });
    expect((await viewlog.post(MINIMAL_VIEW)).status).toBe(201);
    expect((await viewlog.post({ ...MINIMAL_VIEW, url: 'x' })).status).toBe(422);
    await until(async () => (await viewlog.metrics())['viewlog_refused_kept_total'] === 1);
    expect((await fetch(`${viewlog.statusUrl}/readyz`)).status).toBe(200);
    expect(viewlog.stderr()).toBe('');
  });
});
