import { createServer, type ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { sleep } from '../../src/base/time.ts';
import { hasChromium, openUnwatched, SITE_HOST } from '../support/chromium.ts';
import { listening } from '../support/listening.ts';
import { run, startViewlog, until } from '../support/viewlog.ts';

// Only Chromium prerenders pages, and only without developer tools.

const RULES = '{"prerender":[{"source":"list","urls":["/next"],"eagerness":"immediate"}]}';

it.skipIf(!hasChromium())('a prerendered page is counted only when it is shown', async () => {
  const viewlog = await startViewlog();
  const { stdout: script } = await run(['snippet', '1000001', '--url', viewlog.url]);
  const asked: (string | string[] | undefined)[] = [];
  let isSeen = false;
  let gate: ServerResponse | undefined;
  const server = createServer(({ url, headers }, answer) => {
    answer.setHeader('content-type', 'text/html');
    if (url === '/gate') {
      gate = answer;
      return;
    }
    if (url === '/seen.png') isSeen = true;
    if (url === '/next') asked.push(headers['sec-purpose']);
    const more =
      url === '/first'
        ? `<script type="speculationrules">${RULES}</script>
           <script>fetch('/gate').then(() => (location = '/next'))</script>`
        : '<script>viewlog({ pid: "by-hand" })</script><img src="/seen.png">';
    answer.end(`<!doctype html><title>Page ${url}</title>${script}${more}`);
  });
  const origin = `http://${SITE_HOST}:${await listening(server)}`;
  const views = () => viewlog.lines().map((line) => JSON.parse(line) as Record<string, string>);
  openUnwatched(`${origin}/first`);
  await until(() => isSeen && views().length > 0);
  // Meanwhile the prerendered page sends nothing.
  await sleep(500);
  expect(views().map(({ url }) => url)).toStrictEqual(['/first']);
  const shownAfter = Date.now();
  gate!.end();
  await until(() => views().length === 3);
  expect(views()[1]).toMatchObject({ url: '/next', ref: `${origin}/first`, orgreferer: '' });
  expect(views()[2]).toMatchObject({ url: '/next', pid: 'by-hand' });
  expect(Date.parse(views()[1]!['ld']!)).toBeGreaterThanOrEqual(shownAfter);
  expect(asked).toStrictEqual(['prefetch;prerender']);
});
