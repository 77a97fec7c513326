import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { blocksOf, MANUAL, read } from '../../support/documents.ts';
import { exampleOf } from '../../support/examples.ts';
import { CADDY, caddy, NGINX, nginx } from '../../support/proxies.ts';
import { isHere } from '../../support/runtimes.ts';
import { startWatched, type Watched } from '../../support/status.ts';
import { dataDirectory, startProgram, startViewlog, until } from '../../support/viewlog.ts';
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

describe.skipIf(!isHere(CADDY))("the manual's blocks for Caddy", () => {
  /** Returns the manual's block number `i` for this collector's ports. */
  function blockOf(i: number, { port, statusPort }: Watched): string {
    const blocks = blocksOf(read(`${MANUAL}/proxies.md`));
    const { text } = blocks.filter(({ language }) => language === 'caddy')[i]!;
    return text.replace('8080', `${port}`).replace('8081', `${statusPort}`);
  }

  it('pass on views of a site that rewrites paths', async () => {
    const viewlog = await startWatched();
    const rest = 'handle {\n\troot * /srv/www\n\ttry_files {path} /index.html\n\tfile_server\n}';
    const block = `handle /view {\n${blockOf(0, viewlog)}}`;
    const proxy = await caddy(`www.example.com {\n${block}\n${rest}\n}\n`);
    await until(async () => (await proxy.post(MINIMAL_VIEW)).status === 201);
  });

  it('pass on only views to a host of its own, and a monitor that the manual adds', async () => {
    const viewlog = await startWatched();
    const site = blockOf(1, viewlog).replace('views.example.com', 'www.example.com');
    const blocks = blocksOf(read(`${MANUAL}/status-page.md`));
    const { text: monitor } = blocks.find(({ language }) => language === 'caddy')!;
    const block = monitor.replaceAll('8081', `${viewlog.statusPort}`);
    const proxy = await caddy(site.replace(/\}\s*$/, `${block}}\n`));
    await until(async () => (await proxy.post(MINIMAL_VIEW)).status === 201);
    const statusOf = async (path: string): Promise<number> =>
      (await fetch(`http://127.0.0.1:${proxy.port}${path}`)).status;
    expect(await Promise.all(['/views', '/metrics', '/arriving'].map(statusOf))).toStrictEqual([
      404, 404, 200,
    ]);
  });
});

it.skipIf(!isHere('/usr/bin/curl'))(
  "the manual's script sends a test view and fails unless the view was stored",
  async () => {
    const viewlog = await startViewlog();
    const blocks = blocksOf(read(`${MANUAL}/status-page.md`));
    const { text } = blocks.find((block) => block.text.startsWith('status=$(curl'))!;
    const send = (url: string, id: string) => {
      const script = text.replace('https://views.example.com', url).replace('1000099', id);
      return startProgram(['sh', '-c', script]).ended;
    };
    expect(await send(viewlog.url, '1000001')).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(viewlog.lines()).toHaveLength(1);
    const words = (status: string) => ({
      code: 1,
      stdout: `The test view got status ${status} instead of 201\n`,
    });
    expect(await send(viewlog.url, '1000002')).toMatchObject(words('403'));
    // A web server that answers 200 for every path.
    const server = createServer((_, answer) => void answer.end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await send(`http://127.0.0.1:${port}`, '1000001')).toMatchObject(words('200'));
  },
);

it.each(PROXIES)('%s sends no view twice, even if the connection fails', async (name, proxy) => {
  if (!isHere(proxy.program)) return;
  let views = 0;
  // Reads each view, as if it stored it, and then fails.
  const server = createServer((request, response) => {
    const isView = request.method === 'POST';
    if (isView) views += 1;
    request.resume().on('end', () => (isView ? request.socket.destroy() : response.end()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const ports = [`--port=${port}`, `--status=127.0.0.1:${port}`];
  const front = await proxy.start(await exampleOf(name, ports));
  const answer = await until(async () => {
    const { status } = await front.post(MINIMAL_VIEW);
    return views > 0 ? status : undefined;
  });
  expect([answer, views]).toStrictEqual([502, 1]);
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
