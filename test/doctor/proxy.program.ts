import { expect, it } from 'vitest';
import { type ProxyFaults, startProxy } from '../support/bad-proxy.ts';
import { doctor, installation, namesIn, NOWHERE, of } from '../support/doctor.ts';
import { startWatched, type Watched } from '../support/status.ts';

// The findings of `viewlog doctor --url` about a proxy between a page and this collector.

/** Runs the doctor for a collector behind a proxy. */
async function behind(faults: ProxyFaults, args: readonly string[] = []) {
  const viewlog = await startWatched({ data: installation() });
  const url = await startProxy(viewlog.url, faults);
  return { ...(await doctor(viewlog.data, [...of(viewlog), '--url', url, ...args])), url, viewlog };
}

/** Refusals by code. */
async function refusals(viewlog: Watched): Promise<Record<string, number>> {
  const counted = Object.entries(await viewlog.metrics()).filter(
    ([series, count]) => series.startsWith('viewlog_views_refused_total') && count > 0,
  );
  return Object.fromEntries(counted.map(([series, count]) => [series.split('"')[1], count]));
}

it('that passes everything on is ok; one request is counted, against no site', async () => {
  const { code, line, url, viewlog } = await behind({});
  expect(code).toBe(0);
  expect(line('url')).toBe(`ok url: ${url}/view reaches viewlog`);
  expect(line('cors')).toBe('ok cors: Preflights are granted, and pages can read answers');
  expect(line('size')).toBe('ok size: A body of 16 KiB reaches viewlog');
  expect([line('view'), viewlog.stderr()]).toStrictEqual(['', '']);
  expect(await refusals(viewlog)).toStrictEqual({ 'method-not-allowed': 1 });
  // The request is no problem on the status page, nor for the next doctor.
  expect(await (await fetch(`${viewlog.statusUrl}/status.txt`)).text()).not.toMatch(
    /requests fail|Unreadable/,
  );
  expect((await doctor(viewlog.data, of(viewlog))).line('refusals')).toMatch(/^ok /);
  await viewlog.signal('SIGTERM');
  expect(namesIn(viewlog.data).filter((name) => /^(views|refused)/.test(name))).toStrictEqual([]);
});

it('is tried with one real view if a project is named', async () => {
  const { viewlog, outcome } = await behind({}, ['--project=1000001']);
  expect(outcome('view')).toMatch(
    /^0 ok view: A view of project 1000001 from https:\/\/www\.example\.com is stored: \{"id":".*"\}; reports count it as a visitor's, of page \/viewlog-doctor$/,
  );
  expect(viewlog.lines().map((text) => JSON.parse(text) as unknown)).toStrictEqual([
    expect.objectContaining({ pid: 'viewlog-doctor', url: '/viewlog-doctor' }),
  ]);
  const refused = await behind({}, ['--project=7']);
  expect(refused.outcome('view')).toMatch(
    /^0 warning view: .* is refused, project-not-activated: Project 7 is not/,
  );
});

const CORS = 'browsers do not let pages send, or read answers. Have the proxy pass OPTIONS';

it.each<[string, ProxyFaults, string, string]>([
  [
    'rejects bodies over 1 KB',
    { bodyBytesMax: 1000 },
    'warning size',
    'A body of 16 KiB does not reach viewlog: 413 from bad-proxy; large views are lost. Have the proxy pass it on (nginx: client_max_body_size; Caddy: request_body, max_size)',
  ],
  [
    'strips the Origin of requests',
    { strips: ['origin'] },
    'warning cors',
    `Answers to pages of https://www.example.com allow no origin to read them; ${CORS}`,
  ],
  [
    'passes another path on',
    { path: '/' },
    'error url',
    'does not reach viewlog as /view: There is nothing at /; send views to /view; views of pages do not arrive. Have the proxy pass the path on unchanged',
  ],
  [
    'redirects',
    { answers: { status: 308, headers: { Location: 'https://views.example.com/view' } } },
    'error url',
    'does not reach viewlog: 308 from bad-proxy, a redirect to https://views.example.com/view; ',
  ],
])('that %s is told so', async (_, faults, check, what) => {
  const { code, line } = await behind(faults);
  const [state, name = ''] = check.split(' ');
  expect(code).toBe(state === 'error' ? 78 : 0);
  expect(line(name)).toMatch(new RegExp(`^${check}: `));
  expect(line(name)).toContain(what);
});

it('that is not there is an error', async () => {
  const data = installation();
  for (const url of [`http://${NOWHERE.host}:${NOWHERE.port}`, 'https://views.invalid']) {
    const { outcome } = await doctor(data, ['--url', url]);
    expect(outcome('url')).toMatch(
      /^78 error url: \S+\/view does not reach viewlog: .*Check its name in the/,
    );
  }
});
