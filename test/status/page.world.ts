import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  hasAxe,
  hasChromium,
  type Locator,
  newPage,
  SITE_HOST,
  type Page,
  violationsOf,
} from '../support/chromium.ts';
import { BUN, BUNDLE, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { startWatched, type Watched } from '../support/status.ts';
import { tempDir } from '../support/temp-dir.ts';
import { dataDirectory } from '../support/viewlog.ts';
import { MINIMAL_VIEW } from '../support/views.ts';

// Uses the status page in a real browser, as an operator does.

/** Opens the status page and collects the browser's complaints about it. */
async function open(
  { statusUrl }: Pick<Watched, 'statusUrl'>,
  options?: object,
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

const row = (page: Page, id: string): Locator => page.locator(`#project-${id}`);

const state = (page: Page, id: string, text: string): Promise<void> =>
  row(page, id).locator('.state', { hasText: text }).waitFor();

const heading = (page: Page, text: string): Promise<void> =>
  page.locator('h1', { hasText: text }).waitFor();

const evaluated = (page: Page, code: string): Promise<string> => page.evaluate<string>(code);

describe.skipIf(!hasChromium())('the status page', () => {
  it.each([NODE, DENO, BUN].filter(isPresent))(
    'shows a view as it arrives and sends requests only to viewlog, on %s',
    async (runtime) => {
      const viewlog = await startWatched({ runtime });
      const zone = { timezoneId: 'Asia/Kolkata', locale: 'en-GB' };
      const { page, complaints, requests } = await open(viewlog, zone);
      await heading(page, 'Waiting for the first view');
      await state(page, '1000001', 'none accepted yet');
      await viewlog.post({ ...MINIMAL_VIEW, url: '/first-page' });
      await heading(page, 'Views are arriving from 1 of 3 active projects');
      await state(page, '1000001', 'arriving');
      await page.locator('.latest li', { hasText: '/first-page' }).waitFor();
      const time = page.locator('.latest time').first();
      const at = new Date((await time.getAttribute('datetime'))!);
      const clock = { hour: '2-digit', minute: '2-digit', timeZone: zone.timezoneId } as const;
      expect(await time.textContent()).toContain(at.toLocaleTimeString('en-GB', clock));
      expect(await page.title()).toBe('viewlog: Views are arriving from 1 of 3 active projects');
      expect(complaints).toStrictEqual([]);
      expect(new Set(requests.map((url) => new URL(url).origin))).toStrictEqual(
        new Set([viewlog.statusUrl]),
      );
    },
  );

  it('keeps open rows, the filter and the selection during an update', async () => {
    const ids = Array.from({ length: 12 }, (_, i) => String(1_000_001 + i));
    const data = dataDirectory({ projects: ids.map((id) => ({ id, name: `Site ${id}` })) });
    const viewlog = await startWatched({ data });
    const { page, complaints } = await open(viewlog);
    await row(page, '1000001').locator('summary').focus();
    await page.keyboard.press('Enter');
    await row(page, '1000001').locator('.details').waitFor();
    await page.locator('input').fill('site 100000');
    await row(page, '1000012').waitFor({ state: 'hidden' });
    const name = row(page, '1000001').locator('bdi');
    expect(await name.textContent()).toBe('Site 1000001');
    const select = `getSelection().selectAllChildren(document.querySelector('#project-1000001 bdi'))`;
    await page.evaluate(`${select};0`);
    await viewlog.post({ ...MINIMAL_VIEW, url: '/while-it-is-open' });
    await row(page, '1000001').locator('.latest li', { hasText: '/while-it-is-open' }).waitFor();
    expect(await evaluated(page, 'String(getSelection())')).toBe('Site 1000001');
    expect(await evaluated(page, `document.querySelector('input').value`)).toBe('site 100000');
    expect(await page.locator('.row').count()).toBe(9);
    await row(page, '1000001').locator('summary').click();
    await row(page, '1000001').locator('.details').waitFor({ state: 'hidden' });
    expect(complaints).toStrictEqual([]);
  });

  it('says that it has lost contact with viewlog and reloads itself after an update', async () => {
    const viewlog = await startWatched();
    const { page } = await open(viewlog);
    await heading(page, 'Waiting for the first view');
    await page.evaluate('globalThis.isOld = true');
    await viewlog.signal('SIGKILL');
    await page.locator('.lost').waitFor();
    expect(await page.title()).toBe('viewlog: out of date');
    const args = [`--status=127.0.0.1:${viewlog.statusPort}`];
    const again = await startWatched({ data: viewlog.data, args });
    await page.locator('.lost').waitFor({ state: 'hidden' });
    expect(await evaluated(page, 'String(globalThis.isOld)')).toBe('true');
    await again.signal('SIGTERM');
    await page.locator('.lost').waitFor();
    // Starts the same program with another version.
    const updated = join(tempDir(), 'viewlog.mjs');
    cpSync(BUNDLE, updated);
    const text = readFileSync(updated, 'utf8').replace(/version:"0\.1\.0"/, 'version:"0.1.1"');
    writeFileSync(updated, text);
    const command = (): [string, ...string[]] => [process.execPath, updated];
    await startWatched({ data: viewlog.data, args, runtime: { ...NODE, command } });
    await page.locator('footer', { hasText: 'viewlog 0.1.1' }).waitFor();
    expect(await evaluated(page, 'String(globalThis.isOld)')).toBe('undefined');
  });

  // Browsers offer navigator.clipboard only to pages on https and on localhost.
  it.each(['127.0.0.1', SITE_HOST])('copies a command at %s', async (host) => {
    const password = 'a-token-of-32-characters-or-more';
    const args = host === SITE_HOST ? ['--status=0.0.0.0:0'] : [];
    const viewlog = await startWatched({ args, env: { VIEWLOG_STATUS_TOKEN: password } });
    const { page } = await open(
      { statusUrl: `http://${host}:${viewlog.statusPort}` },
      { httpCredentials: { username: 'x', password } },
    );
    await viewlog.post({ ...MINIMAL_VIEW, p: '77' }, { origin: 'https://new.example' });
    const unlisted = page.locator('.notices li', {
      hasText: '1 view was refused in the last 24 hours',
    });
    await unlisted.locator('button').first().focus();
    await page.keyboard.press('Enter');
    await unlisted.locator('button', { hasText: 'Copied' }).waitFor();
    // The test pastes the copied text into another field.
    const field = `document.documentElement.appendChild(document.createElement('textarea'))`;
    await page.evaluate(`${field}.focus()`);
    await page.keyboard.press('Control+V');
    const pasted = await evaluated(page, `document.querySelector('textarea').value`);
    expect(pasted).toBe(await unlisted.locator('code').first().textContent());
  });

  it('requests nothing while it is hidden and is up to date once it is shown again', async () => {
    const viewlog = await startWatched();
    const { page, requests } = await open(viewlog);
    await heading(page, 'Waiting for the first view');
    const turn = (hidden: boolean): Promise<void> =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    await turn(true);
    await viewlog.post(MINIMAL_VIEW);
    const before = requests.length;
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(requests.length).toBe(before);
    await turn(false);
    await heading(page, 'Views are arriving');
  });

  it.each([
    ['two screens, in one line each', 1280, 2 * 844, 28],
    ['a phone, in two lines each', 390, Infinity, 52],
  ])('shows sixty projects on %s', async (_, width, heightMax, rowMax) => {
    const projects = Array.from({ length: 60 }, (_, i) => {
      return {
        id: String(1_000_001 + i),
        name: `Site ${i}, with a name as long as some departments have`,
        // "inactive but sending" is the longest name of a state.
        active: i > 0,
      };
    });
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    for (const { id } of projects) await viewlog.post({ ...MINIMAL_VIEW, p: id });
    const { page } = await open(viewlog, { viewport: { width, height: 844 } });
    await state(page, '1000001', 'inactive but sending');
    const heights = await page.evaluate(() =>
      Array.from(document.querySelectorAll<HTMLElement>('.row'), (one) => one.offsetHeight),
    );
    expect(heights).toHaveLength(60);
    expect(Math.max(...heights)).toBeLessThan(rowMax);
    const table = `document.querySelector('.columns').parentElement.offsetHeight`;
    expect(Number(await evaluated(page, table))).toBeLessThan(heightMax);
  });

  it('keeps a list of unlisted ids open during an update', async () => {
    const viewlog = await startWatched();
    for (let i = 0; i < 5; i++) await viewlog.post({ ...MINIMAL_VIEW, p: `70${i}` });
    const { page } = await open(viewlog);
    const more = page.locator('details', { hasText: '2 more: ' });
    await more.locator('summary').click();
    await more.locator('.notices li').first().waitFor();
    await viewlog.post({ ...MINIMAL_VIEW, url: '/later' });
    await page.locator('.latest li', { hasText: '/later' }).waitFor();
    await more.locator('.notices li').first().waitFor();
    expect(await more.getAttribute('open')).toBe('');
  });

  it.skipIf(!hasAxe()).each([
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const)('fits %i pixels and is accessible in %s mode', async (width, colorScheme) => {
    const name = `${'long '.repeat(20)}${'name'.repeat(20)}`;
    const projects = [{ id: '1000001', name, origins: ['https://a.example'] }, { id: '2' }];
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    const origin = `https://${'a'.repeat(200)}`;
    await viewlog.post(MINIMAL_VIEW, { origin });
    await viewlog.post({ ...MINIMAL_VIEW, p: '2', url: `/${'long'.repeat(100)}` });
    await viewlog.post({ ...MINIMAL_VIEW, p: '9'.repeat(20) }, { origin });
    await viewlog.post('{');
    const { page, complaints } = await open(viewlog, {
      colorScheme,
      viewport: { width, height: 800 },
    });
    const pageWidth = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await pageWidth()).toBe(width);
    await row(page, '1000001').locator('summary').click();
    await row(page, '1000001').locator('.details code').first().waitFor();
    expect(await pageWidth()).toBe(width);
    expect(complaints).toStrictEqual([]);
    expect(await violationsOf(page)).toStrictEqual([]);
  });
});
