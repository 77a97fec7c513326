import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { blocksOf, MANUAL, read } from '../../support/documents.ts';
import { exampleOf } from '../../support/examples.ts';
import { CADDY, caddy, NGINX, nginx } from '../../support/proxies.ts';
import { isHere } from '../../support/runtimes.ts';
import { startWatched, type Watched } from '../../support/status.ts';
import { dataDirectory, startViewlog, until } from '../../support/viewlog.ts';
import { MINIMAL_VIEW, viewOfSize } from '../../support/views.ts';

// Tests real proxies, with printed configurations, in front of real collectors.

const KiB = 1024;

/** Returns the options that print an example for a running collector. */
const optionsOf = ({ port, statusPort }: Watched): string[] => [
  `--port=${port}`,
  `--status=127.0.0.1:${statusPort}`,
];

const PROXIES = [
  {
    name: 'caddy',
    program: CADDY,
    start: caddy,
    beyond: [1, 60 * KiB, 3 * KiB * KiB],
    fix: /Caddy: (max_size \w+) in (request_body)\)/,
    // Caddy logs no requests by default.
    logging: (site: string) => {
      const [skip = ''] = /skip_log \S+(?=\))/.exec(site) ?? [];
      const log = `log {\n\t\toutput file /srv/www/access.log\n\t}`;
      return site.replace(' {\n', ` {\n\t${log}\n\t${skip}\n`);
    },
    // Caddy has no limit of its own.
    limited: (site: string, limit: string, block = '') =>
      site.replace(' {', ` {\n\t${block} {\n\t\t${limit}\n\t}`),
  },
  {
    name: 'nginx',
    program: NGINX,
    start: nginx,
    beyond: [1, 60 * KiB],
    logging: (site: string) => site,
    fix: /nginx: (client_max_body_size \w+);/,
    limited: (site: string, limit: string) => site.replace(/client_max_body_size \w+/, limit),
  },
].map((proxy) => [proxy.name, proxy] as const);

describe.each(PROXIES)('%s, configured by its example', (name, proxy) => {
  const { program, start, beyond, fix, limited, logging } = proxy;
  const isIt = isHere(program);

  it.skipIf(!isIt)('passes on views, and refusals with their reason', async () => {
    const viewlog = await startWatched();
    const proxy = await start(await exampleOf(name, optionsOf(viewlog)));
    const accepted = await until(async () => {
      const answer = await proxy.post(MINIMAL_VIEW);
      return answer.status === 201 ? answer : undefined; // Caddy first checks viewlog's health
    });
    const { id } = (await accepted.json()) as { id: string };
    expect(viewlog.lines().join('\n')).toContain(id);
    const refused = await proxy.post({ ...MINIMAL_VIEW, url: 'home' });
    expect(refused.status).toBe(422);
    expect(refused.headers.get('access-control-allow-origin')).toBe('https://www.example.com');
    expect(await refused.json()).toMatchObject({
      code: 'invalid-view',
      detail: expect.stringContaining('"url" must be a string that starts with "/"'),
    });
    const { headers } = await fetch(`http://127.0.0.1:${proxy.port}/other`);
    expect(headers.get('content-type')).not.toBe('application/problem+json');
  });

  it.skipIf(!isIt)('logs requests for pages, but no views', async () => {
    const viewlog = await startWatched();
    const proxy = await start(logging(await exampleOf(name, optionsOf(viewlog))));
    await until(async () => (await proxy.post(MINIMAL_VIEW)).status === 201);
    await fetch(`http://127.0.0.1:${proxy.port}/other`);
    const log = await until(() => {
      const text = readFileSync(proxy.accessLog, 'utf8');
      return text.includes('/other') ? text : undefined;
    });
    expect(log).not.toContain('/view');
  });

  it.skipIf(!isIt)('passes on only /arriving, with its token, as the manual says', async () => {
    const token = 'a-token-of-its-own';
    const viewlog = await startWatched({ env: { VIEWLOG_STATUS_TOKEN: token } });
    const blocks = blocksOf(read(`${MANUAL}/status-page.md`));
    const { text = '' } = blocks.find(({ language }) => language === name) ?? {};
    const block = text.replaceAll('8081', `${viewlog.statusPort}`);
    const site = await exampleOf(name, optionsOf(viewlog));
    const proxy = await start(site.replace(/\}\s*$/, `${block}}\n`));
    const authorization = `Basic ${btoa(`monitor:${token}`)}`;
    const statusOf = async (path: string, headers = {}): Promise<number> =>
      (await fetch(`http://127.0.0.1:${proxy.port}${path}`, { headers })).status;
    expect(await statusOf('/arriving')).toBe(401);
    expect(await statusOf('/arriving', { authorization })).toBe(200);
    expect(await statusOf('/metrics', { authorization })).toBe(404);
  });

  it.skipIf(!isIt)('accepts the limit exactly as the status page prints it', async () => {
    const viewlog = await startWatched();
    await viewlog.post('{"p":"1');
    const page = await (await fetch(`${viewlog.statusUrl}/status.txt`)).text();
    const [, limit = '', block] = fix.exec(page) ?? [];
    const example = await exampleOf(name, optionsOf(viewlog));
    const proxy = await start(limited(example, limit, block));
    await until(async () => (await proxy.post(viewOfSize(15 * KiB))).status === 201);
    expect(await (await proxy.post(viewOfSize(17 * KiB))).json()).toMatchObject({
      code: 'view-too-large',
    });
  });

  it.skipIf(!isIt).each([16, 1024])(
    'leaves it to viewlog to refuse views larger than --max-view %d KiB',
    async (kib) => {
      const max = `--max-view=${kib}KiB`;
      const viewlog = await startWatched({ args: [max] });
      const proxy = await start(await exampleOf(name, [...optionsOf(viewlog), max]));
      await until(async () => (await proxy.post(viewOfSize(kib * KiB - 100))).status === 201);
      for (const bytes of beyond) {
        // oxlint-disable-next-line no-await-in-loop
        const refused = await proxy.post(viewOfSize(kib * KiB + bytes));
        expect([bytes, refused.status]).toStrictEqual([bytes, 413]);
        // oxlint-disable-next-line no-await-in-loop
        expect(await refused.json()).toMatchObject({ code: 'view-too-large' });
      }
    },
  );
});

describe.skipIf(!isHere(CADDY))('caddy, while viewlog restarts', () => {
  it('holds views back until viewlog is ready again', async () => {
    const data = dataDirectory();
    const first = await startWatched({ data });
    const ports = optionsOf(first);
    const proxy = await caddy(await exampleOf('caddy', ports, { data }));
    await until(async () => (await proxy.post(MINIMAL_VIEW)).status === 201);
    // The systemd unit sends the same signal for a restart.
    first.child.kill('SIGUSR2');
    await until(async () => (await fetch(`${first.statusUrl}/readyz`)).status === 503);
    await proxy.says(/health_checker\.active.*status code/);
    const stopped = first.signal('SIGTERM');
    const held = Array.from({ length: 5 }, () => proxy.post(MINIMAL_VIEW));
    await stopped;
    const before = first.lines().length;
    const again = await startViewlog({ data, args: ports });
    const answers = await Promise.all(held);
    expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 201, 201, 201]);
    expect(again.lines().length).toBe(before + 5);
  });
});
