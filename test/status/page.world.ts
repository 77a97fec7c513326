import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  hasChromium,
  type Locator,
  newPage,
  type Page,
  type PageOptions,
} from '../support/chromium.ts';
import { canRunNats, startNats } from '../support/nats-server.ts';
import { BUN, BUNDLE, DENO, isHere, isPresent, NODE } from '../support/runtimes.ts';
import { startWatched, type Watched } from '../support/status.ts';
import { tempDir } from '../support/temp-dir.ts';
import { dataDirectory, PROJECTS } from '../support/viewlog.ts';
import { FULL_VIEW, MINIMAL_VIEW } from '../support/views.ts';

// The status page in a real browser, used as an operator would.

const LIBFAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';

/** The status page, and everything that a browser complains of on it. */
async function open(
  { statusUrl }: Pick<Watched, 'statusUrl'>,
  options?: PageOptions,
): Promise<{ page: Page; complaints: string[]; requests: string[] }> {
  const page = await newPage(options);
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(`${statusUrl}/`);
  return { page, complaints, requests };
}

const row = (page: Page, id: string): Locator =>
  page.locator(`.row:has(summary code[title="${id}"])`);

const state = (page: Page, id: string, text: string | RegExp): Promise<void> =>
  row(page, id).locator('.state', { hasText: text }).waitFor();

const heading = (page: Page, text: string): Promise<void> =>
  page.locator('h1', { hasText: text }).waitFor();

const bars = (page: Page, id: string, kind: 'accepted' | 'refused'): Promise<string | null> =>
  row(page, id).locator(`summary path.${kind}`).getAttribute('d');

/** The numbers of a row: now, last hour, today, yesterday by now, yesterday, refused. */
const numbers = (page: Page, id: string): Promise<string[]> =>
  row(page, id).locator('summary b').allTextContents();

const sinceStart = (page: Page, text: string): Promise<void> =>
  page.locator('#details dd', { hasText: text }).waitFor({ state: 'attached' });

describe.skipIf(!hasChromium())('the status page', () => {
  it.each([NODE, DENO, BUN].filter(isPresent))(
    'shows a view as it arrives, and asks nobody but viewlog, on $name',
    async (runtime) => {
      const viewlog = await startWatched({ runtime });
      const { page, complaints, requests } = await open(viewlog);
      await heading(page, 'Waiting for the first view');
      await state(page, '1000001', 'no view yet');
      expect(await bars(page, '1000001', 'accepted')).toBe('');
      await viewlog.post({ ...MINIMAL_VIEW, url: '/first-page' });
      await heading(page, 'Views are arriving: 1 of 3 projects');
      await state(page, '1000001', 'arriving');
      expect(await bars(page, '1000001', 'accepted')).toMatch(/^M9[45] /);
      expect((await numbers(page, '1000001')).slice(1)).toStrictEqual(['1', '1', '0', '0', '0']);
      await page.locator('#latest summary', { hasText: '/first-page' }).waitFor();
      await sinceStart(page, '1 taken, 0 refused since');
      expect(complaints).toStrictEqual([]);
      expect(new Set(requests.map((url) => new URL(url).origin))).toStrictEqual(
        new Set([viewlog.statusUrl]),
      );
    },
  );

  it.skipIf(!canRunNats())('shows the stream that views go to, and that it is gone', async () => {
    const nats = await startNats();
    const viewlog = await startWatched({ args: ['--store', nats.url] });
    const { page, complaints } = await open(viewlog);
    await heading(page, 'Waiting for the first view');
    await page.locator('#summary', { hasText: 'when viewlog started' }).waitFor();
    await viewlog.post(MINIMAL_VIEW);
    const fact = (text: string): Promise<void> =>
      page.locator('#figures > div', { hasText: text }).waitFor();
    await fact(`NATS server127.0.0.1:${nats.nodes[0]!.port}`);
    await fact('StreamVIEWS, 1 message');
    await fact('Up to date1 of 1 server');
    expect(await page.locator('#figures dt').allTextContents()).not.toContain('File');
    await nats.nodes[0]!.stop('SIGKILL');
    await heading(page, 'Not taking views: there is no connection to the cluster');
    await fact('NATS servernone for ');
    expect(complaints).toStrictEqual([]);
  });

  it('shows why views are refused, by keyboard alone', async () => {
    const viewlog = await startWatched();
    const { page } = await open(viewlog);
    await viewlog.post({ ...MINIMAL_VIEW, url: 'home', mb: '12' }, { origin: 'https://a.example' });
    await viewlog.post('bare', { 'content-type': 'text/plain', origin: 'https://b.example' });
    await heading(page, 'Views are refused: invalid view for Open');
    await page.locator('#troubles li', { hasText: 'url must be a string' }).waitFor();
    await state(page, '1000001', 'all refused');
    const summary = row(page, '1000001').locator('> summary');
    await summary.focus();
    await page.keyboard.press('Enter');
    const issues = row(page, '1000001').locator('.issues li');
    await issues.first().waitFor();
    expect(await issues.allTextContents()).toStrictEqual([
      'url must be a string that starts with "/"; received "home"',
      'mb must be an integer; received "12", a string',
    ]);
    await row(page, '1000001').locator('p', { hasText: 'from https://a.example (1)' }).waitFor();
    const beforeProject = page.locator('#before-project');
    await beforeProject.locator('code', { hasText: 'unsupported-media-type' }).waitFor();
    await beforeProject.locator('p', { hasText: 'from https://b.example (1)' }).waitFor();
    await beforeProject.locator('p', { hasText: 'as a Blob of that type' }).waitFor();
    // Unfolded it stays, though the page is brought up to date meanwhile.
    await viewlog.post({ ...MINIMAL_VIEW, url: 'home' });
    await row(page, '1000001').locator('p', { hasText: 'without Origin (1)' }).waitFor();
    expect((await numbers(page, '1000001')).at(-1)).toBe('2');
    await issues.first().waitFor({ state: 'visible' });
  });

  it('gives the command that activates an unknown project; run, its views appear', async () => {
    const viewlog = await startWatched();
    const permissions = ['clipboard-read', 'clipboard-write'];
    const { page } = await open(viewlog, { permissions });
    const view = { ...MINIMAL_VIEW, p: '1000009', url: '/knocked' };
    const origin = 'https://new.example';
    expect((await viewlog.post(view, { origin })).status).toBe(403);
    const unlisted = page.locator('#unlisted-ids li', { hasText: '1000009' });
    await unlisted.locator('p', { hasText: `1 view from ${origin}` }).waitFor();
    await unlisted
      .locator('p', {
        hasText: `Perhaps 1000001 (Open) is meant: then change it in the page of ${origin}.`,
      })
      .waitFor();
    expect(await unlisted.locator('p').allTextContents()).toStrictEqual([
      expect.stringMatching(/^1 view from .* in 24 hours, last \d+ s ago$/),
      expect.stringMatching(/^Perhaps /),
      'If it is another site of yours:',
    ]);
    expect(await page.locator('#latest .what').allTextContents()).toContain('unknown id');
    await unlisted.locator('button').focus();
    await page.keyboard.press('Enter');
    await unlisted.locator('button', { hasText: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    const bin = tempDir();
    writeFileSync(
      join(bin, 'viewlog'),
      `#!/bin/sh\nexec '${process.execPath}' '${BUNDLE}' "$@"\n`,
      {
        mode: 0o755,
      },
    );
    const env = { PATH: `${bin}:${process.env['PATH']}` };
    execFileSync('/bin/sh', ['-c', copied], { env, cwd: '/', stdio: 'pipe' });
    await state(page, '1000009', 'no view yet');
    await unlisted.waitFor({ state: 'hidden' });
    expect((await viewlog.post(view, { origin })).status).toBe(201);
    await state(page, '1000009', 'arriving');
    await page.locator('#latest summary', { hasText: '/knocked' }).waitFor();
  });

  it.skipIf(!isHere(LIBFAKETIME))('says that a project has gone quiet', async () => {
    // Ten minutes a second, of the time of day alone: timers go on as they do.
    const fast = { FAKETIME: '+0 x600', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
    const viewlog = await startWatched({ env: { LD_PRELOAD: LIBFAKETIME, ...fast } });
    const { page } = await open(viewlog);
    await viewlog.post(MINIMAL_VIEW);
    await state(page, '1000001', /^quiet for \d h$/);
    await heading(page, 'Quiet: no view in the last hour');
    expect(await bars(page, '1000001', 'accepted')).toMatch(/^M[789]\d /);
    await viewlog.post(MINIMAL_VIEW);
    await state(page, '1000001', 'arriving');
  });

  it('announces a faulty projects file until it is mended', async () => {
    const viewlog = await startWatched();
    const { page } = await open(viewlog);
    await heading(page, 'Waiting for the first view');
    writeFileSync(join(viewlog.data, 'projects.json'), '{"projects": [{"id": 1}]}');
    const warning = page.locator('#warnings li', { hasText: 'projects[0].id' });
    await warning.waitFor();
    await heading(page, 'Waiting for the first view');
    writeFileSync(join(viewlog.data, 'projects.json'), JSON.stringify(PROJECTS));
    await warning.waitFor({ state: 'hidden' });
  });

  it('says that views are not taken, and why; and when it is out of contact', async () => {
    const full = await startWatched({ args: ['--min-free=1000TiB'] });
    const { page, complaints } = await open(full);
    await heading(page, 'Not taking views: too little free disk space');
    expect(await page.title()).toBe('viewlog: Not taking views: too little free disk space');
    await full.signal('SIGKILL');
    await heading(page, 'No contact with viewlog');
    complaints.length = 0;
    const args = [`--status=127.0.0.1:${full.statusPort}`];
    await startWatched({ data: full.data, args });
    await heading(page, 'Waiting for the first view');
  });

  it('says of a full disk since when, where it has to be freed, and nothing beside', async () => {
    const full = await startWatched({ args: ['--min-free=1000TiB'] });
    const { page } = await open(full);
    expect((await full.post(MINIMAL_VIEW)).status).toBe(503);
    await state(page, '1000001', 'not stored');
    expect(await row(page, '1000001').locator('.state.bad').count()).toBe(1);
    expect(await page.locator('#outage p').allTextContents()).toStrictEqual([
      expect.stringMatching(
        /^Every view is refused with 503 since \d\d:\d\d, and is not kept\. What was acknowledged is/,
      ),
      `Make room on the disk of ${full.data} until 1125 TiB are free: of earlier days, ` +
        'views-*.ndjson that are shipped or copied, and refused-*.ndjson, may be deleted. Or ' +
        'start viewlog with a lower --min-free. viewlog then goes on by itself. Look:',
    ]);
    expect(await page.locator('#outage .command code').textContent()).toBe(`df -h ${full.data}`);
    const figure = page.locator('#figures dd.bad', { hasText: 'below --min-free 1000 TiB' });
    await figure.waitFor();
    expect(await page.locator('#troubles li, #warnings li').count()).toBe(0);
  });

  it('of a full disk still tells what a project loses for another reason, without the disk', async () => {
    const full = await startWatched({ args: ['--min-free=1000TiB'] });
    const { page } = await open(full);
    await full.post(MINIMAL_VIEW);
    await full.post({ ...MINIMAL_VIEW, url: 'x' });
    await state(page, '1000001', '50 % refused');
    expect(await page.locator('#troubles li').allTextContents()).toStrictEqual([
      expect.stringMatching(
        /^Open: partly refused since .*, 1 of 2 views of the last hour\. Invalid view, such as: url/,
      ),
    ]);
  });

  it('does nothing while it is hidden, and has caught up when it is seen again', async () => {
    const viewlog = await startWatched();
    const { page } = await open(viewlog);
    await heading(page, 'Waiting for the first view');
    const turn = (hidden: boolean): Promise<void> =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await turn(true);
    await viewlog.post(MINIMAL_VIEW);
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect(await page.locator('#summary').textContent()).toMatch(/^No view yet/);
    await turn(false);
    await heading(page, 'Views are arriving');
  });

  it('shows what strangers send as text, in every place', async () => {
    const evil = (name: string): string =>
      `${name}<script>owned=1</script><img src=x onerror=owned=1>"'><svg onload=owned=1>`;
    const projects = [{ id: '1000001', name: evil('project') }];
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    const { page, complaints } = await open(viewlog);
    const texts = ['pn', 'pid', 'ref', 'orgreferer'].map((field) => [field, evil(field)]);
    const origin = evil('origin');
    await viewlog.post(
      {
        ...FULL_VIEW,
        ...Object.fromEntries(texts),
        url: `/${evil('url')}`,
        cf: [evil('cf')],
        csf: [{ [evil('key')]: evil('csf') }],
        mp: { p: [evil('mp')] },
        content: { templateId: evil('template') },
      },
      { origin },
    );
    await viewlog.post({ ...FULL_VIEW, url: evil('url'), [evil('field')]: evil('x') }, { origin });
    await viewlog.post({ ...FULL_VIEW, p: '9' }, { origin });
    await viewlog.post('{', { 'content-type': evil('type'), origin });
    await viewlog.post(evil('json'), { origin });
    await fetch(`${viewlog.url}/${evil('path')}`, { headers: { origin } });
    await sinceStart(page, '1 taken, 5 refused');
    await row(page, '1000001').locator('> summary').click();
    await row(page, '1000001').locator('.issues li').first().waitFor();
    const text = (await page.locator('main').textContent())!;
    for (const name of [
      'project',
      'pn',
      'url',
      'cf',
      'key',
      'template',
      'origin',
      'field',
      'type',
    ]) {
      expect(text).toContain(`${name}<script>owned=1</script>`);
    }
    expect(await page.locator('script[src=""], body script, img, svg[onload]').count()).toBe(0);
    expect(await page.evaluate(() => 'owned' in globalThis)).toBe(false);
    expect(await page.locator('#unlisted-ids .command code').textContent()).toBe(
      `viewlog activate 9 --projects ${viewlog.data}/projects.json`,
    );
    expect(complaints).toStrictEqual([]);
  });

  it('fits a phone', async () => {
    const projects = [{ id: '1000001', name: `${'long '.repeat(30)}${'name'.repeat(10)}` }];
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    const { page } = await open(viewlog, { viewport: { width: 360, height: 740 } });
    await viewlog.post({ ...MINIMAL_VIEW, url: `/${'long'.repeat(100)}` });
    await viewlog.post(
      { ...MINIMAL_VIEW, p: '9'.repeat(20) },
      { origin: `https://${'a'.repeat(200)}` },
    );
    await sinceStart(page, '1 taken, 1 refused');
    await row(page, '1000001').locator('> summary').click();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBe(360);
  });
});
