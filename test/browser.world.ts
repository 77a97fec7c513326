import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listening } from './support/listening.ts';
import { hasChromium, newPage, type Page } from './support/chromium.ts';
import { BUN, DENO, isPresent, NODE } from './support/runtimes.ts';
import { MINIMAL_VIEW } from './support/views.ts';
import { startViewlog, until, type Viewlog } from './support/viewlog.ts';

// A page of another origin, in a real browser.

/** Opens a page of an origin other than viewlog's. */
async function openPage(): Promise<Page> {
  const server = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
  });
  const page = await newPage();
  await page.goto(`http://localhost:${await listening(server)}/`);
  return page;
}

const JSON_TYPE = 'application/json';

const post = (page: Page, viewlog: Viewlog, body: string, type = JSON_TYPE, keepalive = false) =>
  page.evaluate(
    async ({ url, ...init }) => {
      const answer = await fetch(url, { method: 'POST', ...init });
      const retryAfter = answer.headers.get('retry-after');
      return { status: answer.status, body: (await answer.json()) as unknown, retryAfter };
    },
    { url: `${viewlog.url}/view`, headers: { 'content-type': type }, body, keepalive },
  );

const beacon = (page: Page, viewlog: Viewlog, body: string): Promise<boolean> =>
  page.evaluate(({ url, data, type }) => navigator.sendBeacon(url, new Blob([data], { type })), {
    url: `${viewlog.url}/view`,
    data: body,
    type: JSON_TYPE,
  });

const runtimes = [NODE, DENO, BUN].filter(isPresent);

describe.skipIf(!hasChromium()).each(runtimes)(
  'a page in Chromium with viewlog on %s',
  (runtime) => {
    const body = JSON.stringify(MINIMAL_VIEW);

    it('sends views with fetch, keepalive fetch and sendBeacon', async () => {
      const viewlog = await startViewlog({ runtime });
      const page = await openPage();
      expect(await post(page, viewlog, body)).toMatchObject({ status: 201 });
      expect(await post(page, viewlog, body, JSON_TYPE, true)).toMatchObject({ status: 201 });
      expect(await beacon(page, viewlog, body)).toBe(true);
      await until(() => viewlog.lines().length === 3);
    });

    it('reads why a view was refused, whatever the reason', async () => {
      const viewlog = await startViewlog({ runtime });
      const page = await openPage();
      const viewOf = (change: object): string => JSON.stringify({ ...MINIMAL_VIEW, ...change });
      const issues = [{ field: 'pid' }, { field: 'ld' }, { field: 'url' }];
      for (const [sent, status, problem] of [
        ['{"p":"1000001"}', 422, { code: 'invalid-view', issues }],
        ['{"p":', 400, { code: 'malformed-json' }],
        [viewOf({ pn: 'x'.repeat(20_000) }), 413, { code: 'view-too-large' }],
        [viewOf({ p: '1000003' }), 403, { code: 'origin-not-allowed' }],
      ] as const) {
        expect(await post(page, viewlog, sent)).toMatchObject({ status, body: problem });
      }
      expect(await post(page, viewlog, body, 'text/plain')).toMatchObject({ status: 415 });
      const limited = viewOf({ p: '1000004' });
      const answers = [];
      for (let i = 0; i < 3; i++) answers.push(await post(page, viewlog, limited));
      expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 429]);
      expect(answers[2]!.retryAfter).toMatch(/^\d+$/);
      expect(viewlog.lines()).toHaveLength(2);
    });
  },
);
