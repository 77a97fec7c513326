import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dayOf, sleep } from '../../src/base/time.ts';
import { refusedLine } from '../../src/store/refused/refused-line.ts';
import { hasAxe, hasChromium, newPage, type Page, violationsOf } from '../support/chromium.ts';
import { BUNDLE } from '../support/runtimes.ts';
import { startWatched, type Watched } from '../support/status.ts';
import { tempDir } from '../support/temp-dir.ts';
import { dataDirectory } from '../support/viewlog.ts';
import { lineOf, MINIMAL_VIEW } from '../support/views.ts';

// What the status page has for many sites, for none, and for all who read it, in a real browser.

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const HOUR_MS = 60 * MINUTE_MS;
const ID = '019aa5d5-0000-7000-8000-000000000000';

const open = async ({ statusUrl }: Watched, options = {}): Promise<Page> => {
  const page = await newPage(options);
  await page.goto(`${statusUrl}/`);
  await page.locator('#figures dd').first().waitFor();
  return page;
};

const NOT_LISTED = 'Not in the projects file';

const names = (page: Page): Promise<string[]> =>
  page.locator('.row:not(.total) summary bdi').allTextContents();

const heightOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(
    (wanted) => document.querySelector(wanted)!.getBoundingClientRect().bottom + scrollY,
    selector,
  );

/** Views that came before, each so long ago. */
function addViews(data: string, id: string, agesMs: readonly number[]): void {
  for (const ageMs of agesMs.toSorted((a, b) => b - a)) {
    const ts = new Date(Date.now() - ageMs).toISOString();
    const line = lineOf(ts, ID, JSON.stringify({ ...MINIMAL_VIEW, p: id }));
    writeFileSync(join(data, `views-${dayOf(Date.parse(ts))}.ndjson`), line, { flag: 'a' });
  }
}

/** The bundle under its name, on the path of a shell. */
function shell(command: string): string {
  const bin = tempDir();
  const script = `#!/bin/sh\nexec '${process.execPath}' '${BUNDLE}' "$@"\n`;
  writeFileSync(join(bin, 'viewlog'), script, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  return execFileSync('/bin/sh', ['-c', command], { env, cwd: '/', encoding: 'utf8' });
}

const sixty = Array.from({ length: 60 }, (_, i) => ({
  id: String(1000001 + i),
  name: `Site ${i + 1}`,
  ...(i === 6 && { origins: ['https://www.example.com'] }),
}));

describe.skipIf(!hasChromium())('sixty projects', () => {
  it('stand on two screens, trouble first, then by name, in numbers that align', async () => {
    const data = dataDirectory({ projects: sixty });
    addViews(data, '1000031', [...Array.from({ length: 25 }, () => 25 * HOUR_MS), 3.5 * HOUR_MS]);
    const viewlog = await startWatched({ data });
    const origin = 'https://shop.example.com';
    await viewlog.post({ ...MINIMAL_VIEW, p: '1000007' }, { origin });
    const page = await open(viewlog, { viewport: { width: 1280, height: 900 } });
    const headline = '2 of 60 projects in trouble: 1 origin not allowed, 1 silent';
    await page.locator('h1', { hasText: headline }).waitFor();
    const earliest =
      /^In trouble the longest: Site 31, silent since (\d+ \w{3}, )?\d\d:\d\d\. Last view of any project/;
    await page.locator('#summary', { hasText: earliest }).waitFor();
    await page.locator('.row .state', { hasText: 'fallen silent' }).waitFor();
    const ordered = await names(page);
    expect(ordered).toHaveLength(60);
    expect(ordered.slice(0, 5)).toStrictEqual(['Site 7', 'Site 31', 'Site 1', 'Site 2', 'Site 3']);
    expect(await heightOf(page, '.table + .table > .row:last-child')).toBeLessThan(1800);
    const rights = await page.evaluate(() =>
      [...document.querySelectorAll('.columns, .row > summary')].map((line) =>
        [...line.querySelectorAll('.number')].map((cell) => cell.getBoundingClientRect().right),
      ),
    );
    expect(rights).toHaveLength(62);
    expect(new Set(rights.map(String)).size).toBe(1);
    // The mend stands open to see.
    const command = page.locator('#troubles .command code', { hasText: '--origin' });
    expect(await command.textContent()).toBe(
      `viewlog activate 1000007 --origin ${origin} --projects ${data}/projects.json`,
    );
    await page
      .locator('#troubles li', {
        hasText: /Site 31: silent since .*, for 3 h \d+ min, unlike yesterday/,
      })
      .waitFor();
    shell((await command.textContent())!);
    const again = (): Promise<Response> =>
      viewlog.post({ ...MINIMAL_VIEW, p: '1000007' }, { origin });
    let refused = 1;
    for (; (await again()).status !== 201; refused++) await sleep(200);
    // So many that the refusals are no trouble beside them.
    for (let i = 0; i < 10 * refused; i++) await again();
    await page.locator('h1', { hasText: 'Fallen silent: Site 31' }).waitFor();
  });

  it('are filtered by name or id, and stay so', async () => {
    const viewlog = await startWatched({ data: dataDirectory({ projects: sixty }) });
    const page = await open(viewlog);
    const filter = page.locator('#projects input[type="search"]');
    await filter.fill('sITE 6');
    expect(await names(page)).toStrictEqual(['Site 6', 'Site 60']);
    await filter.fill('1000042');
    expect(await names(page)).toStrictEqual(['Site 42']);
    await viewlog.post({ ...MINIMAL_VIEW, p: '1000042' });
    await page.locator('.row .state', { hasText: 'arriving' }).waitFor();
    expect(await names(page)).toStrictEqual(['Site 42']);
    await filter.fill('nothing');
    await page.locator('#projects p', { hasText: 'No name or id has that in it.' }).waitFor();
  });

  it('of ten there is no filter', async () => {
    const data = dataDirectory({ projects: sixty.slice(0, 10) });
    const page = await open(await startWatched({ data }));
    expect(await names(page)).toHaveLength(10);
    await page.locator('#projects input[type="search"]').waitFor({ state: 'hidden' });
  });

  it('can be read on a phone', async () => {
    const viewlog = await startWatched({ data: dataDirectory({ projects: sixty }) });
    const page = await open(viewlog, { viewport: { width: 390, height: 844 } });
    await page.locator('.row .label', { hasText: 'yesterday' }).first().waitFor();
    expect(await heightOf(page, '.table + .table > .row:last-child')).toBeLessThan(60 * 110);
    await page.locator('.row.total > summary').click();
    await page.locator('.row.total .reading').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
});

describe.skipIf(!hasChromium())('a chart', () => {
  it('tells each quarter of an hour, by keyboard and by pointer', async () => {
    // The quarter that is looked at has to be the one that was sent in.
    const left = QUARTER_MS - (Date.now() % QUARTER_MS);
    if (left < MINUTE_MS / 3) await sleep(left);
    const data = dataDirectory();
    addViews(data, '1000001', [30 * MINUTE_MS, 30 * MINUTE_MS, 12 * HOUR_MS]);
    const viewlog = await startWatched({ data });
    await viewlog.post({ ...MINIMAL_VIEW, url: 'x' });
    const page = await open(viewlog);
    await page.locator('.row:not(.total) > summary').first().focus();
    await page.keyboard.press('Enter');
    const slider = page.locator('.row[open] input[type="range"]');
    await slider.focus();
    await page.keyboard.press('End');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(
      /^\d\d:\d\d to now: 0 views taken, 1 refused$/,
    );
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    const told = /^\d\d:\d\d to \d\d:\d\d: 2 views taken, 0 refused$/;
    expect(await slider.getAttribute('aria-valuetext')).toMatch(told);
    expect(await page.locator('.row[open] .reading').textContent()).toMatch(told);
    const plot = page.locator('.row[open] .plot > svg');
    const width = await page.evaluate(
      () => document.querySelector('.row[open] .plot > svg')!.getBoundingClientRect().width,
    );
    await plot.hover({ position: { x: (47.5 / 96) * width, y: 20 } });
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/: 1 view taken, 0 refused$/);
    expect(await page.locator('.row[open] .scale').textContent()).toBe('630');
    expect(await page.locator('.row[open] figcaption .key').allTextContents()).toStrictEqual([
      'taken',
      'refused',
    ]);
  });
});

describe.skipIf(!hasChromium())('an empty collector', () => {
  const command = (page: Page, text: string): Promise<string | null> =>
    page.locator('#first-steps .command code', { hasText: text }).textContent();

  it('says what to do, and what it says works', async () => {
    const projects = [{ id: '1000001', origins: ['https://*.example.com'] }];
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    const page = await open(viewlog);
    expect(shell((await command(page, 'viewlog snippet'))!)).toMatch(/^<script>.*1000001/);
    expect(await page.locator('#first-steps .command').count()).toBe(2);
    expect(shell((await command(page, 'curl'))!)).toMatch(/^\{"id":"[0-9a-f-]{36}"\}$/);
    await page.locator('h1', { hasText: 'Views are arriving: 1 of 1 project' }).waitFor();
    await page.locator('#first-steps').waitFor({ state: 'hidden' });
  });

  it('without a project begins with one', async () => {
    const data = dataDirectory({ projects: [] });
    const viewlog = await startWatched({ data });
    const page = await open(viewlog);
    await page.locator('h1', { hasText: 'No project is active' }).waitFor();
    shell((await command(page, 'viewlog activate'))!);
    await page.locator('h1', { hasText: 'Waiting for the first view' }).waitFor();
    expect(shell((await command(page, 'curl'))!)).toMatch(/^\{"id":/);
  });

  it('names the command that makes the report', async () => {
    const data = dataDirectory();
    addViews(data, '1000001', [HOUR_MS]);
    const page = await open(await startWatched({ data }));
    const report = page.locator('#report .command code');
    expect(await report.textContent()).toBe(
      `viewlog report --data ${data} --last 7 --html report.html`,
    );
    const made = join(data, 'report.html');
    shell((await report.textContent())!.replace('report.html', made));
    const shown = readFileSync(made, 'utf8').replaceAll(/<[^>]*>/g, ' ');
    expect(shown).toMatch(/\b1\s+view\b/);
  });
});

describe.skipIf(!hasChromium())('the rows', () => {
  const SPANS = ['10 min', 'last hour', 'today', 'yesterday by now', 'yesterday', 'refused, 24 h'];

  /** The numbers of rows, by name, but for those of the last minute. */
  async function columns(page: Page): Promise<Map<string, number[]>> {
    const cells = await page.evaluate(() =>
      [...document.querySelectorAll('.row:not([hidden])')].map((row) => ({
        name: row.querySelector('bdi')!.textContent,
        texts: [...row.querySelectorAll('summary b')].map((cell) => cell.textContent),
      })),
    );
    return new Map(cells.map(({ name, texts }) => [name, texts.map(Number)]));
  }

  it('add up to all projects, with what is of none of them', async () => {
    const data = dataDirectory({ projects: sixty.slice(0, 3) });
    addViews(data, '1000001', [HOUR_MS / 2, 23 * HOUR_MS, 25 * HOUR_MS, 25 * HOUR_MS]);
    addViews(data, '1000002', [HOUR_MS / 2, HOUR_MS / 2]);
    addViews(data, '555', [HOUR_MS / 2]);
    const viewlog = await startWatched({ data });
    await viewlog.post({ ...MINIMAL_VIEW, p: '1000003', url: 'x' });
    await viewlog.post({ ...MINIMAL_VIEW, p: '100001' });
    await viewlog.post({ ...MINIMAL_VIEW, p: '77' });
    await viewlog.post('{');
    const page = await open(viewlog);
    await page.locator('.row.rest .refusals', { hasText: '3' }).waitFor();
    expect(await page.locator('.columns .number').allTextContents()).toStrictEqual(SPANS);
    const { 'All projects': all, ...rows } = Object.fromEntries(await columns(page));
    expect(Object.keys(rows)).toStrictEqual(['Site 3', 'Site 1', 'Site 2', NOT_LISTED]);
    expect(rows[NOT_LISTED]!.at(-1)).toBe(3);
    const sums = SPANS.map((_, i) => Object.values(rows).reduce((sum, row) => sum + row[i]!, 0));
    expect(sums).toStrictEqual(all);
    expect(all!.at(-1)).toBe(4);
    const line = page.locator('#unasked p');
    expect(await line.textContent()).toMatch(
      /^2 unknown ids send: 2 views refused in the last hour; ids 100001 \(looks like 1000001 of Site 1\), 77\.$/,
    );
    expect(await page.locator('#unlisted-ids .facts').allTextContents()).toStrictEqual([
      expect.stringMatching(/^1 view without Origin in 24 hours, last /),
      'If it is another site of yours:',
      expect.stringMatching(/^1 view without Origin in 24 hours, last /),
      'If it is a site of yours:',
    ]);
    await page.locator('#unasked a').click();
    expect(await page.evaluate(() => location.hash)).toBe('#unlisted-ids');
    await page.locator('#unlisted-ids h3', { hasText: '100001' }).waitFor();
  });

  it('and the lists below name the project, and no name turns a line around', async () => {
    const turned = 'חדשות \u202elive\u2066\u0007';
    const data = dataDirectory({ projects: [{ id: '1', name: turned }, { id: '2' }] });
    const viewlog = await startWatched({ data });
    await viewlog.post({ ...MINIMAL_VIEW, p: '1', url: '/a\u202eb' });
    await viewlog.post({ ...MINIMAL_VIEW, p: '2', url: '/two' });
    await viewlog.post({ ...MINIMAL_VIEW, p: '1', url: 'x' });
    const page = await open(viewlog);
    const name = 'חדשות \ufffdlive\ufffd\ufffd';
    expect(await names(page)).toContain(name);
    expect(await page.locator('#latest .who').allTextContents()).toStrictEqual(['', name, name]);
    expect(await page.locator('#latest summary code').allTextContents()).toStrictEqual([
      '2',
      '1',
      '1',
    ]);
    expect(await page.locator('#latest .what').allTextContents()).toContain('/a\ufffdb');
    const isolated = (selector: string): Promise<string> =>
      page.evaluate(
        (wanted) => getComputedStyle(document.querySelector(wanted)!).unicodeBidi,
        selector,
      );
    expect(await isolated('#latest .who')).toBe('isolate');
    expect(await isolated('#latest .what')).toBe('isolate');
    expect(
      await page.evaluate(
        () => getComputedStyle(document.querySelector('#latest .who')!).textAlign,
      ),
    ).toBe('left');
    expect(await page.evaluate(() => document.body.innerHTML)).not.toMatch(/[\u202e\u2066]/);
  });

  it('in trouble say since when views are refused', async () => {
    const data = dataDirectory({ projects: [{ id: '1', name: 'Mine' }] });
    addViews(data, '1', [MINUTE_MS, 2 * MINUTE_MS]);
    const now = Date.now();
    for (const minutes of [300, 100, 70, 20]) {
      const ts = new Date(now - minutes * MINUTE_MS).toISOString();
      const kept = { code: 'invalid-view', text: JSON.stringify({ ...MINIMAL_VIEW, p: '1' }) };
      const line = refusedLine({ ts, id: ID, day: dayOf(Date.parse(ts)) }, kept);
      writeFileSync(join(data, `refused-${dayOf(Date.parse(ts))}.ndjson`), line, { flag: 'a' });
    }
    const page = await open(await startWatched({ data }));
    const from = new Date(Math.floor((now - 100 * MINUTE_MS) / QUARTER_MS) * QUARTER_MS);
    await page
      .locator('#troubles li', { hasText: /, 1 of 3 views of the last hour\. Invalid view\. Mend/ })
      .waitFor();
    expect(await page.locator('#troubles li').textContent()).toMatch(
      new RegExp(`^Mine: partly refused since about (.*, )?${from.toTimeString().slice(0, 5)},`),
    );
  });

  it('refused for two reasons have each with its own number and command', async () => {
    const projects = [
      { id: '1', name: 'Mine', origins: ['https://www.example.com'], maxViewsPerMinute: 1 },
    ];
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    const post = (origin: string) => viewlog.post({ ...MINIMAL_VIEW, p: '1' }, { origin });
    await post('https://www.example.com');
    await post('https://www.example.com');
    for (let i = 0; i < 3; i++) await post('https://shop.example.com');
    const page = await open(viewlog);
    await page.locator('h1', { hasText: 'Some views are refused: Mine, for 2 reasons' }).waitFor();
    const told = '4 of 5 views of the last hour, for 2 reasons.';
    await page.locator('#troubles li', { hasText: told }).waitFor();
    const reasons = page.locator('#troubles .reason');
    expect(await reasons.locator('p').allTextContents()).toStrictEqual([
      '3 × origin not allowed, sent from https://shop.example.com. If that is one of its sites, add it:',
      '1 × over its limit of 1 view a minute. If that was a flood, leave it; this doubles its limit:',
    ]);
    const commands = await reasons.locator('.command code').allTextContents();
    expect(commands.map((command) => command.replace(/ --projects \S+/, ''))).toStrictEqual([
      'viewlog activate 1 --origin https://shop.example.com',
      'viewlog activate 1 --max-views-per-minute 2',
    ]);
    for (const command of commands) shell(command);
    expect(readFileSync(join(viewlog.data, 'projects.json'), 'utf8')).toMatch(
      /https:\/\/shop[^]*"maxViewsPerMinute": ?2\b/,
    );
    writeFileSync(
      join(viewlog.data, 'projects.json'),
      JSON.stringify({ projects: [{ id: '1', name: 'Mine' }] }),
    );
    await page.locator('#troubles .reason', { hasText: 'a minute. It is mended' }).waitFor();
  });

  it('in trouble are all named, each since when and with a link that opens its row', async () => {
    const closed = { origins: ['https://www.example.com'] };
    const projects = Array.from({ length: 15 }, (_, i) => ({
      ...closed,
      id: String(i + 1),
      name: `Site ${i + 1}`,
    }));
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    const headers = { origin: 'https://shop.example.com' };
    for (const { id } of projects) await viewlog.post({ ...MINIMAL_VIEW, p: id }, headers);
    const page = await open(viewlog);
    const headline = '15 of 15 projects in trouble: origin not allowed';
    await page.locator('h1', { hasText: headline }).waitFor();
    const boxes = await page.locator('#troubles li').allTextContents();
    expect(boxes.map((text) => text.slice(0, 13))).toStrictEqual([
      'Site 1: refus',
      'Site 2: refus',
      'Site 3: refus',
      'Site 4: refus',
    ]);
    const more = page.locator('#troubles + p');
    expect(await more.textContent()).toMatch(
      /^11 more projects in trouble: Site 5 refused since [^;]*; Site 6 refused .*; Site 14 refused [^;]*; and 1 more in the table\.$/,
    );
    await more.locator('a', { hasText: 'Site 13' }).click();
    await page.locator('.row[open] summary bdi', { hasText: 'Site 13' }).waitFor();
    // Whatever the filter.
    const filter = page.locator('#projects input[type="search"]');
    await filter.fill('Site 15');
    await more.locator('a', { hasText: 'Site 12' }).click();
    await page.locator('.row[open] summary bdi', { hasText: 'Site 12' }).waitFor();
    expect(await names(page)).toHaveLength(15);
  });

  it('in trouble for the same are told once, each since when and how many', async () => {
    const viewlog = await startWatched({ data: dataDirectory({ projects: sixty.slice(0, 4) }) });
    for (const [i, { id }] of sixty.slice(0, 3).entries()) {
      for (let n = 3; n > i; n--) await viewlog.post({ ...MINIMAL_VIEW, p: id, mb: '12' });
    }
    // More than any of the three, fewer than these together.
    for (let n = 0; n < 4; n++) {
      await viewlog.post({ ...MINIMAL_VIEW, p: sixty[3]!.id, mb: '13' });
    }
    const page = await open(viewlog);
    await page.locator('#troubles li:nth-child(2)').waitFor();
    const from = String.raw`refused since (about )?(\d+ \w{3}, )?\d\d:\d\d`;
    expect(await page.locator('#troubles li').allTextContents()).toStrictEqual([
      expect.stringMatching(
        new RegExp(
          `^3 projects: Invalid view, such as: mb .*"12", a string\\. Mend it in the page that sends it\\. ` +
            `One came from / of Site 1(Copy )?In the last hour: Site 1 ${from}, all 3 views; ` +
            `Site 2 ${from}, all 2 views; Site 3 ${from}, the only view\\.$`,
        ),
      ),
      expect.stringMatching(/^Site 4: refused .*, all 4 views .*"13"/),
    ]);
    expect(await page.locator('#troubles + p').textContent()).toBe('');
  });

  it('while the disk is full are as heavy as in trouble, and none is said to be quiet', async () => {
    const data = dataDirectory({ projects: sixty.slice(0, 2) });
    addViews(data, sixty[1]!.id, [2 * MINUTE_MS]);
    const viewlog = await startWatched({ data, args: ['--min-free=1000TiB'] });
    await viewlog.post({ ...MINIMAL_VIEW, p: sixty[0]!.id });
    const page = await open(viewlog);
    await page.locator('.row .state.bad', { hasText: 'not stored' }).waitFor();
    await page.locator('.row .state', { hasText: 'not taken now' }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const clipped = await page.evaluate(
      () =>
        [...document.querySelectorAll('.state')].filter((s) => s.scrollWidth > s.clientWidth)
          .length,
    );
    expect(clipped).toBe(0);
  });

  it('in trouble stand below the figures on a phone, and these are few', async () => {
    const viewlog = await startWatched();
    await viewlog.post({ ...MINIMAL_VIEW, url: 'x' });
    const page = await open(viewlog, { viewport: { width: 390, height: 844 } });
    await page.locator('#troubles li').waitFor();
    expect(await heightOf(page, '#figures')).toBeLessThan(await heightOf(page, '#troubles'));
    expect(await page.locator('#figures dt').allTextContents()).toStrictEqual([
      'Last hour',
      'Last 10 minutes',
      'Today',
      'Free disk',
    ]);
    const file = page.locator('#details dt', { hasText: /^File$/ });
    await file.waitFor({ state: 'attached' });
  });

  it('below are ten views and ten refusals, in columns that align', async () => {
    const viewlog = await startWatched();
    for (let i = 0; i < 11; i++) {
      await viewlog.post({ ...MINIMAL_VIEW, p: i % 2 ? '1000001' : '1000004', url: `/${i}` });
      await viewlog.post(i % 2 ? '{' : { ...MINIMAL_VIEW, p: '77' });
    }
    const page = await open(viewlog);
    await page.locator('#latest > :first-child li').first().waitFor();
    const lefts = await page.evaluate(() =>
      [...document.querySelectorAll('#latest > div')].map((list) =>
        [...list.querySelectorAll('li > details > summary')].map((line) =>
          String([...line.children].map((cell) => cell.getBoundingClientRect().left)),
        ),
      ),
    );
    expect(lefts[1]).toHaveLength(10);
    expect(lefts.map((lines) => new Set(lines).size)).toStrictEqual([1, 1]);
    const order = await page.evaluate(() =>
      [...document.querySelectorAll('main > *')].map(({ id }) => id),
    );
    expect(order.slice(-4)).toStrictEqual(['latest', 'report', 'details', 'zone']);
  });

  it('of an inactive project that still sends say so, and what ends it', async () => {
    const projects = [{ id: '1', name: 'Old', active: false }, { id: '2' }];
    const viewlog = await startWatched({ data: dataDirectory({ projects }) });
    await viewlog.post({ ...MINIMAL_VIEW, p: '1' });
    const page = await open(viewlog);
    await page.locator('h1', { hasText: 'Inactive, but still sending: Old' }).waitFor();
    await page.locator('.row .state', { hasText: 'inactive, sends' }).waitFor();
    expect(await page.locator('#troubles li').textContent()).toMatch(
      /^Old: inactive, but still sending; refused since .*, the only view of the last hour\. Take the script off its pages, or activate it again:viewlog activate 1 /,
    );
  });

  it.each([
    ['Africa/Lagos', /Times are in UTC\+1, your browser’s; days begin at 01:00, midnight of the/],
    [
      'Asia/Kolkata',
      /Times are in UTC\+5:30, your browser’s; days begin at 05:30, midnight of the/,
    ],
    ['UTC', /Times are in UTC, your browser’s\.$/],
  ])('say once what zone times are in: %s', async (timezoneId, told) => {
    const page = await open(await startWatched({ env: { TZ: 'UTC' } }), { timezoneId });
    await page.locator('#zone', { hasText: told }).waitFor();
    expect(await page.locator('#zone').textContent()).toMatch(told);
  });

  it('are printed whole, and light', async () => {
    const page = await open(await startWatched(), { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate(() => getComputedStyle(document.body).color)).toBe(
      'rgb(22, 32, 44)',
    );
    expect(await page.locator('#report button').isVisible()).toBe(false);
    await page.setViewportSize({ width: 700, height: 500 });
    expect(await page.locator('.columns').isVisible()).toBe(true);
  });

  it('of a collector that only its projects send to have none beside', async () => {
    const page = await open(await startWatched());
    expect(await page.locator('.row.rest').isVisible()).toBe(false);
    expect(await page.locator('#unasked p').textContent()).toMatch(
      /^No unknown id has sent views since (.*, )?\d\d:\d\d\.$/,
    );
    expect(await page.locator('#unasked a').isVisible()).toBe(false);
  });

  it('tell at the start how long the disk lasts', async () => {
    const data = dataDirectory();
    addViews(data, '1000001', [HOUR_MS]);
    const page = await open(await startWatched({ data }));
    await page.locator('#figures dd', { hasText: 'lasts more than 10 years' }).waitFor();
  });
});

describe.skipIf(!hasChromium() || !hasAxe()).each(['light', 'dark'] as const)(
  'to axe, in %s',
  (colorScheme) => {
    it('nothing is wrong with it where the disk is full, or strangers send', async () => {
      const viewlog = await startWatched({ args: ['--min-free=1000TiB'] });
      await viewlog.post({ ...MINIMAL_VIEW, p: '100001' });
      const page = await open(viewlog, { colorScheme });
      await page.locator('#outage .command').waitFor();
      await page.locator('#unasked a').waitFor();
      await page.locator('.row.rest > summary').click();
      await page.locator('.row.rest a').first().waitFor();
      expect(await violationsOf(page)).toStrictEqual([]);
    });

    it('nothing is wrong with it: empty, or in every kind of trouble', async () => {
      const data = dataDirectory({
        projects: [...sixty, { id: '2', name: 'متجر الكتب', active: false }],
      });
      const viewlog = await startWatched({ data });
      const page = await open(viewlog, { colorScheme });
      expect(await violationsOf(page)).toStrictEqual([]);
      const origin = 'https://shop.example.com';
      await viewlog.post({ ...MINIMAL_VIEW, p: '1000007' }, { origin });
      await viewlog.post({ ...MINIMAL_VIEW, p: '1000061' }, { origin });
      await viewlog.post({ ...MINIMAL_VIEW, p: '2' });
      await viewlog.post(MINIMAL_VIEW);
      await viewlog.post({ ...MINIMAL_VIEW, mb: '12' });
      await viewlog.post('{');
      writeFileSync(join(data, 'projects.json'), '{');
      await page.locator('#warnings li').waitFor();
      for (const name of ['All projects', 'Site 7', 'Site 1']) {
        await page.locator('.row > summary', { hasText: name }).first().click();
      }
      await page.locator('#latest summary').first().click();
      await page.locator('#details > summary').click();
      await page.locator('.row[open] .issues li').first().waitFor();
      expect(await page.locator('h1').count()).toBe(1);
      expect(await page.locator('.row bdi', { hasText: 'متجر الكتب' }).count()).toBe(1);
      expect(await violationsOf(page)).toStrictEqual([]);
    });
  },
);
