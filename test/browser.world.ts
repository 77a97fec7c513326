import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listening } from './support/listening.ts';
import { hasChromium, newPage, type Page } from './support/chromium.ts';
import { BUN, DENO, isPresent, NODE } from './support/runtimes.ts';
import { MINIMAL_VIEW } from './support/views.ts';
import { startViewlog, until, type Viewlog } from './support/viewlog.ts';

// A page of another origin, in a real browser.

/** Opens a page of an origin that is not viewlog's. */
async function openPage(): Promise<Page> {
  const server = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
  });
  const page = await newPage();
  await page.goto(`http://localhost:${await listening(server)}/`);
  return page;
}

interface Sent {
  url: string;
  body: string;
  type?: string;
  keepalive?: boolean;
}

interface Seen {
  status: number;
  body: { id?: string; code?: string; issues?: unknown };
  retryAfter: string | null;
}

const post = (page: Page, viewlog: Viewlog, sent: Omit<Sent, 'url'>): Promise<Seen> =>
  page.evaluate(
    async ({ url, body, type = 'application/json', keepalive = false }: Sent) => {
      const headers = { 'content-type': type };
      const answer = await fetch(url, { method: 'POST', headers, body, keepalive });
      const retryAfter = answer.headers.get('retry-after');
      return { status: answer.status, body: await answer.json(), retryAfter };
    },
    { url: `${viewlog.url}/view`, ...sent },
  );

const beacon = (page: Page, viewlog: Viewlog, body: string, type?: string): Promise<boolean> =>
  page.evaluate(
    ({ url, body, type }: Sent) =>
      navigator.sendBeacon(url, type === undefined ? body : new Blob([body], { type })),
    { url: `${viewlog.url}/view`, body, ...(type !== undefined && { type }) },
  );

const runtimes = [NODE, DENO, BUN].filter(isPresent);

describe.skipIf(!hasChromium()).each(runtimes)(
  'a page in Chromium, viewlog on $name',
  (runtime) => {
    const body = JSON.stringify(MINIMAL_VIEW);

    it('sends views with fetch, keepalive fetch and sendBeacon', async () => {
      const viewlog = await startViewlog({ runtime });
      const page = await openPage();
      expect(await post(page, viewlog, { body })).toMatchObject({ status: 201 });
      expect(await post(page, viewlog, { body, keepalive: true })).toMatchObject({ status: 201 });
      expect(await beacon(page, viewlog, body, 'application/json')).toBe(true);
      await until(() => viewlog.lines().length === 3);
    });

    it('reads why a view was refused, whatever the reason', async () => {
      const viewlog = await startViewlog({ runtime });
      const page = await openPage();
      const viewOf = (change: object): string => JSON.stringify({ ...MINIMAL_VIEW, ...change });
      const issues = [{ field: 'pid' }, { field: 'ld' }, { field: 'url' }];
      for (const [sent, status, problem] of [
        [{ body: '{"p":"1000001"}' }, 422, { code: 'invalid-view', issues }],
        [{ body: '{"p":' }, 400, { code: 'malformed-json' }],
        [{ body, type: 'text/plain' }, 415, { code: 'unsupported-media-type' }],
        [{ body: viewOf({ pn: 'x'.repeat(20_000) }) }, 413, { code: 'view-too-large' }],
        [{ body: viewOf({ p: '1000003' }) }, 403, { code: 'origin-not-allowed' }],
      ] as const) {
        expect(await post(page, viewlog, sent)).toMatchObject({ status, body: problem });
      }
      const limited = viewOf({ p: '1000004' });
      const answers = [];
      for (let i = 0; i < 3; i++) answers.push(await post(page, viewlog, { body: limited }));
      expect(answers.map(({ status }) => status)).toStrictEqual([201, 201, 429]);
      expect(answers[2]!.retryAfter).toMatch(/^\d+$/);
      // sendBeacon sends a bare string as text/plain, which is refused.
      expect(await beacon(page, viewlog, body)).toBe(true);
      expect(viewlog.lines()).toHaveLength(2);
    });
  },
);
