import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/base/time.ts';
import { verbatim } from '../../src/view/pattern.ts';
import { ViewSchema } from '../../src/view/view-schema.ts';
import { listening } from '../support/listening.ts';
import { hasChromium, newPage, openUnwatched, SITE_HOST } from '../support/chromium.ts';
import { run, startViewlog, until } from '../support/viewlog.ts';

// Pages with the script that `viewlog snippet` prints, on another origin than viewlog's, and with
// the policy that it prints. The tests read the views that the collector stored.

const SEARCH = 'https://search.example/find';

interface VisitOptions {
  readonly project?: string;
  /** The host name of the site's address. */
  readonly host?: string;
  readonly args?: readonly string[];
  /** More of the policy. */
  readonly policy?: string;
  /** @returns the page at a path, with the script in it. */
  readonly html?: (path: string, script: string) => string;
  readonly locale?: string;
}

interface Asked {
  readonly path: string;
  /** `prefetch;prerender` */
  readonly purpose: string | string[] | undefined;
  readonly answer: ServerResponse;
}

/** Delays the end of the answer. */
const SLOW = `<!-- slow -->${' '.repeat(4096)}`;

const pageOf = (path: string, script: string): string =>
  `<!doctype html><html lang="nb-NO"><title>Title of ${path}</title>${script}
   <p>A page</p><a href="/second?a=b#c">on</a></html>`;

/** Starts a collector, a site with the script in its pages, and a browser's page for a visitor. */
async function visit(options: VisitOptions = {}) {
  const { project = '1000001', args = [], html = pageOf, locale = 'en-US' } = options;
  const viewlog = await startViewlog();
  const { data } = viewlog;
  const printed = await run(['snippet', project, '--url', viewlog.url, ...args], { data });
  const [, hash, connect] = /(script-src \S+); (connect-src .*)$/m.exec(printed.stderr)!;
  const requests: Asked[] = [];
  const server = createServer(({ url = '', headers }, answer) => {
    const policy = `${hash} 'nonce-test'; ${connect}${options.policy ?? ''}`;
    answer.setHeader('content-security-policy', policy);
    answer.setHeader('content-type', 'text/html');
    const [path = ''] = url.split('?');
    requests.push({ path, purpose: headers['sec-purpose'], answer });
    const text = path === '/bare' ? '<p id="bare">No script</p>' : html(path, printed.stdout);
    answer.write(text);
    if (!text.includes(SLOW)) answer.end();
  });
  const origin = `http://${options.host ?? SITE_HOST}:${await listening(server)}`;
  const page = await newPage({ locale });
  const said: string[] = [];
  page.on('console', (message) => void said.push(message.text()));
  page.on('pageerror', (error) => void said.push(String(error)));
  const views = () => viewlog.lines().map((line) => JSON.parse(line) as Record<string, string>);
  /** Returns the `url` of all views, once the last one is `last`. */
  const urlsTo = async (last: string) => {
    await until(() => views().at(-1)?.['url'] === last);
    return views().map(({ url }) => url);
  };
  const goto = (path: string) => page.goto(origin + path);
  return { origin, views, requests, urlsTo, page, said, goto };
}

describe.skipIf(!hasChromium())('a page with the script, in Chromium', () => {
  it('sends what the page and the visit know, spelled so that the collector need not parse it', async () => {
    const { page, origin, views, urlsTo, said } = await visit();
    const bodies: string[] = [];
    page.on('request', (request) => void bodies.push(request.postData() ?? ''));
    const before = Date.now();
    await page.goto(`${origin}/home?q=1&utm_source=x#part`, { referer: `${SEARCH}?q=secret` });
    expect(await urlsTo('/home')).toHaveLength(1);
    const [view] = views();
    expect(view).toStrictEqual({
      ts: expect.any(String),
      id: expect.any(String),
      ld: expect.any(String),
      pn: 'Title of /home',
      pid: '/home',
      p: '1000001',
      ubl: 'nb-NO',
      ref: SEARCH,
      url: '/home',
      orgreferer: SEARCH,
    });
    expect(Date.parse(view!['ld']!)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(view!['ld']!)).toBeLessThanOrEqual(Date.now());
    await page.locator('a').click();
    await urlsTo('/second');
    expect(views()[1]).toMatchObject({ ref: `${origin}/home`, orgreferer: SEARCH });
    // Chromium can tell of a request after the collector has stored its view.
    const sent = await until(() => {
      const found = bodies.filter((body) => body !== '');
      return found.length >= 2 ? found : undefined;
    });
    expect(sent.map(verbatim(ViewSchema, 'p'))).toStrictEqual(['1000001', '1000001']);
    expect(said).toStrictEqual([]);
  });

  it('waits for the title, obeys data-pid and data-local, and keeps campaigns only', async () => {
    const { goto, views, urlsTo } = await visit({
      args: ['--campaigns'],
      host: 'localhost',
      html: (_, script) =>
        `${script.replace('<script', '<script data-pid="page-42" data-local')}
         <script src="/x.js"></script><title>Late</title>`,
    });
    await goto('/a?utm_source=x&q=1&utm_medium=y%20z&autm_b=1#utm_c=1');
    await urlsTo('/a?utm_source=x&utm_medium=y%20z');
    await goto('/a?q=1&utm_id=7');
    await urlsTo('/a?utm_id=7');
    expect(views()[0]).toMatchObject({ pn: 'Late', pid: 'page-42' });
  });

  it('sends one view for each path, and again when a page is restored, if it is there twice', async () => {
    const { page, origin, goto, views, urlsTo } = await visit({
      html: (path, script) => pageOf(path, script + script),
    });
    await goto('/a');
    await page.evaluate(() => {
      history.pushState(null, '', '/b?x');
      document.title = 'B';
    });
    await urlsTo('/b');
    expect(views()[1]).toMatchObject({ pn: 'B', pid: '/b', ref: `${origin}/a`, orgreferer: '' });
    await page.evaluate(() => {
      history.replaceState(null, '', '/b?y');
      history.pushState(null, '', '#z');
      history.replaceState(null, '', '/c');
    });
    await urlsTo('/c');
    await page.evaluate(() => history.pushState(null, '', '/d'));
    await urlsTo('/d');
    await page.goBack();
    expect(await urlsTo('/c')).toStrictEqual(['/a', '/b', '/c', '/d', '/c']);
    await page.evaluate(() => void (document.title = 'Kept'));
    await goto('/end');
    await urlsTo('/end');
    await page.goBack({ waitUntil: 'commit' }); // from the back/forward cache
    expect((await urlsTo('/c')).slice(-2)).toStrictEqual(['/end', '/c']);
    expect(views().at(-1)).toMatchObject({ pn: 'Kept', ref: `${origin}/d` });
  });

  it('sends its view early, and once, though the visitor leaves at once', async () => {
    const { origin, goto, page, urlsTo } = await visit({
      html: (path, script) => {
        if (path === '/slow') return script + SLOW; // the title never comes
        const leave = '<meta http-equiv="refresh" content="0; url=/bare">';
        return (path === '/early' ? leave : '') + pageOf(path, script);
      },
    });
    const left = page.locator('#bare');
    await goto('/early');
    await urlsTo('/early');
    await left.waitFor({ state: 'attached' });
    await page.goto(`${origin}/slow`, { waitUntil: 'commit' });
    await page.locator('script').waitFor({ state: 'attached' });
    await goto('/bare');
    await urlsTo('/slow');
    await goto('/a');
    await urlsTo('/a');
    await page.evaluate(() => {
      history.pushState(null, '', '/b');
      location.href = '/bare';
    });
    await urlsTo('/b');
    await left.waitFor({ state: 'attached' });
    await goto('/end');
    expect(await urlsTo('/end')).toStrictEqual(['/early', '/slow', '/a', '/b', '/end']);
  });

  it('sends nothing while it is prerendered, and its view when it is shown', async () => {
    const rules = '{"prerender":[{"source":"list","urls":["/next"],"eagerness":"immediate"}]}';
    const leave = `<script nonce="test">fetch('/gate').then((gate) => gate.text()).then(() => (location = '/next'))</script>`;
    const { origin, views, requests, urlsTo } = await visit({
      policy: " 'self'",
      html: (path, script) => {
        if (path === '/gate') return SLOW;
        const page = pageOf(path, script);
        if (path !== '/first') return `${page}<img src="/seen.png">`;
        return `${page}<script type="speculationrules" nonce="test">${rules}</script>${leave}`;
      },
    });
    openUnwatched(`${origin}/first`);
    await until(() => requests.some(({ path }) => path === '/seen.png'));
    await urlsTo('/first');
    // The other page sends nothing in this time.
    await sleep(500);
    expect(views().map(({ url }) => url)).toStrictEqual(['/first']);
    const shownAfter = Date.now();
    requests.find(({ path }) => path === '/gate')!.answer.end();
    expect(await urlsTo('/next')).toStrictEqual(['/first', '/next']);
    expect(views()[1]).toMatchObject({ ref: `${origin}/first`, orgreferer: '' });
    expect(Date.parse(views()[1]!['ld']!)).toBeGreaterThanOrEqual(shownAfter);
    const next = requests.filter(({ path }) => path === '/next');
    expect(next.map(({ purpose }) => purpose)).toStrictEqual(['prefetch;prerender']);
  });

  it("says in the console why its view was refused, and keeps the page's own errors clean", async () => {
    const { goto, said } = await visit({ project: '1000002' });
    await goto('/home');
    const about = await until(() => said.find((text) => text.startsWith('viewlog1000002 ')));
    expect(about).toContain('views@example.com');
    expect(said.filter((text) => !text.includes('403') && text !== about)).toStrictEqual([]);
  });

  it('does without storage, and without an origin, in a sandbox', async () => {
    const { goto, views, urlsTo, said } = await visit({ policy: '; sandbox allow-scripts' });
    await goto('/home');
    await urlsTo('/home');
    expect(views()[0]).toMatchObject({ ref: '' });
    expect(views()[0]).not.toHaveProperty('orgreferer');
    expect(said).toStrictEqual([]);
  });

  it('sends the language of the page if it is well-formed, else that of the browser, else none', async () => {
    const { page, goto, views } = await visit({ locale: 'de-AT' });
    const accepted = ['en', 'EN-us', 'zh-Hant-TW', 'es-419', 'yue'];
    const others = ['', 'en_US', 'english', 'e', 'en-', 'x-klingon', 'æå', 'en us', 'de\n'];
    await goto('/start');
    await page.evaluate(
      (tags) => {
        for (const [i, tag] of tags.entries()) {
          history.pushState(null, '', `/${i}`);
          document.documentElement.lang = tag;
        }
        history.pushState(null, '', '/sends-the-last');
        Object.defineProperty(navigator, 'language', { value: 'C' });
        history.pushState(null, '', '/end');
      },
      [...accepted, ...others],
    );
    // The views are sent at the same time, and arrive in any order.
    await until(() => views().length === accepted.length + others.length + 3);
    const sent = new Map(views().map((view) => [view['url'], view]));
    const ofPages = [...accepted, ...others].map((_, i) => sent.get(`/${i}`)?.['ubl']);
    expect(ofPages).toStrictEqual([...accepted, ...others.map(() => 'de-AT')]);
    expect(sent.get('/end')).toMatchObject({ url: '/end' });
    expect(sent.get('/end')).not.toHaveProperty('ubl');
  });

  const after = (code: string): VisitOptions => ({
    html: (path, script) => pageOf(path, `<script nonce="test">${code}</script>${script}`),
  });
  it.each<[string, VisitOptions]>([
    ['local page, no data-local', { host: 'localhost' }],
    ['local page, no data-local', { host: '127.0.0.1' }],
    ['local page, no data-local', { host: '127.0.0.1' }],
    ['automated browser', after("Object.defineProperty(navigator, 'webdriver', { value: true })")],
    ['localStorage.viewlog', after("localStorage.viewlog = 'off'")],
  ])('sends nothing, and says why: %s', async (reason, options) => {
    const { goto, said, views } = await visit(options);
    await goto('/home');
    await until(() => said.includes(`viewlog1000001 is off: ${reason}`));
    await goto('/bare');
    expect(views()).toStrictEqual([]);
  });
});
