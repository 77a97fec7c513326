import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasAxe, hasChromium, newPage, violationsOf } from '../support/chromium.ts';
import { dataDirectory, run } from '../support/viewlog.ts';
import { daily, viewAt } from './report-on.ts';

async function pageFile(): Promise<string> {
  const data = dataDirectory();
  const long = 'a-path-without-any-place-to-break'.repeat(6);
  const lines = [
    ...daily('2026-03-01', [90, 100, 0, ...Array.from({ length: 11 }, () => 120)]),
    ...daily('2026-03-01', [20, 30], { p: '2', pn: long, url: `/${long}?utm_source=${long}` }),
    viewAt('2026-03-14', { ref: `https://${long}.example/`, content: { templateId: long } }),
  ];
  writeFileSync(join(data, 'views-2026-03-01.ndjson'), lines.map((line) => `${line}\n`).join(''));
  const file = join(data, 'report.html');
  await run(['report', '--from', '2026-03-01', '--to', '2026-03-14', '--html', file], { data });
  return `file://${file}`;
}

describe.skipIf(!hasChromium())('the page of a report', () => {
  it.each([
    [390, 'light'],
    [1280, 'dark'],
  ] as const)('fits %i pixels and is accessible in %s mode', async (width, colorScheme) => {
    const page = await newPage({ viewport: { width, height: 844 }, colorScheme });
    await page.goto(await pageFile());
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(beyond).toBeLessThanOrEqual(0);
    if (hasAxe()) expect(await violationsOf(page)).toStrictEqual([]);
  });
});
