import * as fs from 'node:fs';
import * as http from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkProbe } from '../../src/doctor/probe-check.ts';
import { listening, startProxy } from '../support/bad-proxy.ts';
import { doctor, installation, of } from '../support/doctor.ts';
import { startWatched, sumOf, type Watched } from '../support/status.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// What `viewlog doctor` learns of the way from a page to this collector, and of what was refused.

const REFUSED = 'viewlog_views_refused_total';

/** Refusals by code, those that there were. */
async function refusals(viewlog: Watched): Promise<Record<string, number>> {
  const counted = Object.entries(await viewlog.metrics()).filter(
    ([series, count]) => series.startsWith(REFUSED) && count > 0,
  );
  return Object.fromEntries(counted.map(([series, count]) => [series.split('"')[1], count]));
}

describe('what the doctor sends', () => {
  it('to the collector itself is not counted', async () => {
    const viewlog = await startWatched({ data: installation() });
    const { line } = await doctor(viewlog.data, of(viewlog));
    expect(line('collector')).toMatch(/^well /);
    expect(sumOf(await viewlog.metrics(), 'viewlog_views_received_total')).toBe(0);
  });

  it('through the address of pages is counted once, which it says', async () => {
    const viewlog = await startWatched({ data: installation() });
    const url = await startProxy(viewlog.url, {});
    const { line } = await doctor(viewlog.data, [...of(viewlog), '--url', url]);
    expect(line('probe')).toBe(
      'well probe: One request was sent there that is no view, and came to this collector; it is counted as refused there (400 or 413), and nothing is kept of it',
    );
    expect(await refusals(viewlog)).toStrictEqual({ 'malformed-json': 1 });
    expect(viewlog.stderr()).toBe('');
  });

  it('is counted once too where large bodies do not get through', async () => {
    const viewlog = await startWatched({ data: installation() });
    const url = await startProxy(viewlog.url, { bodyBytesMax: 1000 });
    const { line } = await doctor(viewlog.data, [...of(viewlog), '--url', url]);
    expect([line('url'), line('size')]).toStrictEqual([
      expect.stringMatching(/^well /),
      expect.stringMatching(/^to be mended /),
    ]);
    expect(await refusals(viewlog)).toStrictEqual({ 'malformed-json': 1 });
  });
});

describe('an address that leads to another collector', () => {
  it('is doubtful', async () => {
    const [here, other] = [await startWatched(), await startWatched()];
    const url = await startProxy(other.url, {});
    const { code, line } = await doctor(installation(), [...of(here), '--url', url]);
    expect([code, line('url')]).toStrictEqual([0, `well url: ${url}/view reaches viewlog`]);
    expect(line('probe')).toMatch(
      /^doubtful probe: http\S+ leads to another viewlog than this one: .* did not come here; views of its pages are not in this one's files\. Have the proxy pass on to this/,
    );
  });

  it('is not told from this one where nothing tells', async () => {
    const viewlog = await startWatched();
    const args = [`--port=${viewlog.port}`, '--status=off', '--url', viewlog.url];
    expect((await doctor(installation(), args)).line('probe')).toMatch(
      /^well probe: One request was sent there that is no view; it is counted/,
    );
    const { line } = await doctor(installation(), [
      ...of(viewlog),
      '--max-view=20KiB',
      '--url',
      viewlog.url,
    ]);
    expect(line('probe')).toMatch(/^well probe: One request was sent there that is no view; /);
  });

  it('is not told from this one where others are refused too many meanwhile', () => {
    const shown = (count: number) => ({
      latestRefused: Array.from({ length: count }, () => ({
        atMs: 1000,
        code: 'malformed-json' as const,
        project: undefined,
        origin: undefined,
        name: undefined,
        text: 'x',
      })),
    });
    const stateOf = (count: number, sentMs: number): string =>
      checkProbe('http://x/view', 'sign', sentMs, shown(count)).state;
    expect([stateOf(19, 1000), stateOf(20, 1000), stateOf(20, 1001)]).toStrictEqual([
      'doubtful',
      'well',
      'doubtful',
    ]);
  });
});

describe("the site's own origin", () => {
  /** A web server with pages, which passes /view on. */
  async function site(viewlog: Watched, root: http.RequestListener): Promise<string> {
    const port = await listening(
      http.createServer((request, response) => {
        if (request.url !== '/view') {
          root(request, response);
          return;
        }
        const { method, headers } = request;
        const on = http.request(`${viewlog.url}/view`, { method, headers }, (answer) => {
          response.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(response);
        });
        request.pipe(on);
      }),
    );
    return `http://127.0.0.1:${port}`;
  }

  const page: http.RequestListener = (_, response) =>
    void response.setHeader('Content-Type', 'text/html').end('<title>Shop</title>');

  it('that no active project lists is doubtful, with the command that lists it', async () => {
    const viewlog = await startWatched({ data: installation() });
    const url = await site(viewlog, page);
    const { code, line } = await doctor(viewlog.data, [...of(viewlog), '--url', url]);
    expect(code).toBe(0);
    expect(line('origin')).toContain(
      `doubtful origin: Pages stand at ${url} too, an origin that no active project lists; views of these pages are refused with 403. `,
    );
    expect(line('origin')).toMatch(
      `viewlog activate 1000001 --projects ${viewlog.data}/projects.json --origin ${url}`,
    );
    expect(sumOf(await viewlog.metrics(), 'viewlog_views_received_total')).toBe(1);
  });

  it('that a project lists, or any may send from, is well', async () => {
    const data = installation();
    const viewlog = await startWatched({ data });
    const url = await site(viewlog, (_, response) => {
      response.writeHead(302, { Location: '/en/' }).end();
    });
    const projects = [
      { id: '1', origins: ['https://a.example'] },
      { id: '2', origins: [url] },
    ];
    const said = async (...args: string[]): Promise<string> =>
      (await doctor(data, [...of(viewlog), '--url', url, ...args])).line('origin');
    fs.writeFileSync(join(data, 'projects.json'), JSON.stringify({ projects }));
    expect(await said()).toBe(`well origin: Pages of ${url} may send, as those of project 2`);
    expect(await said('--project=1')).toMatch(
      /^doubtful .*, an origin that project 1 does not list; /,
    );
    fs.writeFileSync(join(data, 'projects.json'), JSON.stringify({ projects: [{ id: '3' }] }));
    expect(await said()).toMatch(/^well .* project 3$/);
  });

  it('is not asked about where no pages stand', async () => {
    const viewlog = await startWatched({ data: installation() });
    const nothing = await site(viewlog, (_, response) => void response.writeHead(404).end());
    const elsewhere = await site(viewlog, (_, response) => {
      response.writeHead(301, { Location: 'https://www.example.com/' }).end();
    });
    for (const url of [nothing, elsewhere, viewlog.url]) {
      const { line } = await doctor(viewlog.data, [...of(viewlog), '--url', url]);
      expect(line('origin')).toBe('');
    }
    expect(await refusals(viewlog)).toStrictEqual({ 'malformed-json': 3 });
  });
});

describe('refusals of listed projects', () => {
  const send = (viewlog: Watched, fields: object, origin = 'https://www.example.com') =>
    fetch(`${viewlog.url}/view`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify({ ...MINIMAL_VIEW, p: '1000001', ...fields }),
    });

  it('are doubtful, with the reason, how many, and what mends them, from the status page', async () => {
    const viewlog = await startWatched({ data: installation() });
    await send(viewlog, {}, 'https://shop.example.net');
    await send(viewlog, {}, 'https://shop.example.net');
    await send(viewlog, { url: 'home' });
    await send(viewlog, { p: '7' });
    const { code, lines } = await doctor(viewlog.data, of(viewlog));
    expect(code).toBe(0);
    const told = lines.filter((line) => line.includes('  refusals: '));
    expect(told).toStrictEqual([
      expect.stringMatching(
        /^doubtful +refusals: 2 views of project 1000001 refused since \S+Z, origin-not-allowed, from https:\/\/shop\.example\.net, the last at \S+Z; they are in no view file; once it is mended, "viewlog replay" sends them again\. .*viewlog activate 1000001 --origin https:\/\/shop\.example\.net --projects \S+projects\.json$/,
      ),
      expect.stringMatching(
        /^doubtful +refusals: 1 view of project 1000001 refused since \S+Z, invalid-view \("url" must be a string that starts with "\/"\), the last at \S+Z; they are in no view file\. Mend it in the page that sends it .*; this is told for 24 hours$/,
      ),
    ]);
  });

  it('are read from the files where no status page tells them, and no more once mended', async () => {
    const data = installation();
    const viewlog = await startWatched({ data });
    await send(viewlog, {}, 'https://shop.example.net');
    await viewlog.signal('SIGTERM');
    expect((await doctor(data)).line('refusals')).toMatch(
      /^doubtful refusals: 1 view of project 1000001 .* --origin https:\/\/shop\.example\.net /,
    );
    const projects = [{ id: '1000001', origins: ['https://shop.example.net'] }];
    fs.writeFileSync(join(data, 'projects.json'), JSON.stringify({ projects }));
    expect((await doctor(data)).line('refusals')).toMatch(
      /^well refusals: No view of a listed project was refused since \S+Z, /,
    );
  });
});
