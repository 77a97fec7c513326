// Makes the README's pictures: src/manual/status-page.png, the page of a collector that has counted
// the views of made-up sites for 60 hours, and src/manual/report.png, the report of such a site.
// Run it with `npm run picture`.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, onTestFinished } from 'vitest';
import { dayOf, HOUR_MS } from '../src/base/time.ts';
import { Counts } from '../src/status/counts.ts';
import { slicesOf } from '../src/status/saved-counts.ts';
import { newPage } from './support/chromium.ts';
import { BUNDLE, NODE } from './support/runtimes.ts';
import { startWatched } from './support/status.ts';
import { tempDir } from './support/temp-dir.ts';
import { run } from './support/viewlog.ts';

const SITES = [
  { id: '1000001', name: 'Aurora Travel', viewsPerHour: 320 },
  { id: '1000002', name: 'Bergen Books', viewsPerHour: 90 },
  { id: '1000003', name: 'Café Ørnen', viewsPerHour: 24 },
  { id: '1000004', name: 'Fjord Ferries', viewsPerHour: 150, origins: ['https://www.example.com'] },
];
/** A shop that has moved to an unlisted address: viewlog has refused its views since then. */
const MOVED = { id: '1000004', origin: 'https://shop.example.com', agoMs: 1.2 * HOUR_MS };

/** Returns a number from 0 to 1 that looks random, but depends only on `n`. */
const noise = (n: number): number => Math.abs(Math.sin(n) * 43_758.5453) % 1;

/** Returns the views until now, as a collector counts them. */
function countsUntil(endMs: number): Counts {
  let atMs = endMs - 60 * HOUR_MS;
  const counts = new Counts(
    () => atMs,
    () => true,
  );
  for (; atMs < endMs - 5_000; atMs += 10_000) {
    for (const [i, { id, viewsPerHour }] of SITES.entries()) {
      // More views by day than by night, with random variation.
      const share = 0.55 - 0.45 * Math.cos(((atMs / HOUR_MS - 2) / 24) * 2 * Math.PI);
      const wave = 1 + 0.3 * Math.sin(atMs / 700_000 + i);
      if (noise(atMs + i) * 360 >= viewsPerHour * share * wave) continue;
      if (id !== MOVED.id || atMs < endMs - MOVED.agoMs) counts.accepted(id, Buffer.from('{}'));
      else {
        const detail = `Project ${id} takes views only from the origins that its operator listed.`;
        counts.refused({ code: 'origin-not-allowed', project: id, detail }, MOVED.origin);
      }
    }
  }
  return counts;
}

it('takes the picture of the status page', async () => {
  // The names of the directory and of the bundle are in the picture.
  const data = join(tmpdir(), 'viewlog');
  mkdirSync(data);
  copyFileSync(BUNDLE, `${data}.mjs`);
  onTestFinished(() => {
    for (const path of [data, `${data}.mjs`]) rmSync(path, { recursive: true });
  });
  const runtime = { ...NODE, command: (path: string) => NODE.command(path, `${data}.mjs`) };
  const nowMs = Date.now();
  const projects = SITES.map(({ id, name, origins }) => ({ id, name, origins }));
  const files = {
    'projects.json': JSON.stringify({ operator: 'a@example.com', projects }),
    'status.json': [...slicesOf(countsUntil(nowMs))].join(''),
    // The refused views were stored, so the page can offer to send them again.
    [`refused-${dayOf(nowMs)}.ndjson`]: `{"ts":"${new Date(nowMs).toISOString()}"}\n`,
    // The disk lasts as long as files of this size fit on it.
    [`views-${dayOf(nowMs - 24 * HOUR_MS)}.ndjson`]: `${'{}'.padEnd(3_000_000)}\n`,
    [`views-${dayOf(nowMs - 48 * HOUR_MS)}.ndjson`]: `${'{}'.padEnd(3_000_000)}\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(data, name), text);
  const { statusUrl } = await startWatched({ data, runtime });
  const page = await newPage({ viewport: { width: 1000, height: 656 } });
  await page.goto(statusUrl);
  await page.locator('*', { hasText: 'all refused' }).first().waitFor();
  await page.screenshot({ path: join(import.meta.dirname, '../src/manual/status-page.png') });
});

const PAGES = ['Home /', 'Tours /tours', 'Northern lights /tours/aurora', 'Prices /prices'];
const SOURCES = [
  '',
  'https://www.google.com/',
  'https://www.example.org/',
  'https://duckduckgo.com/',
];
const LANGUAGES = ['en-GB', 'nb-NO', 'de-DE'];

/** Returns an entry for `n`; the first entries come most often. */
const pick = (from: readonly string[], n: number): string =>
  from[Math.floor(noise(n) ** 2 * from.length)]!;

function linesOf(dayMs: number): string {
  const count = 900 + Math.round(300 * Math.sin(dayMs / HOUR_MS / 31));
  const lines = Array.from({ length: count }, (_, i) => {
    const hour = 14 + 9 * (noise(i) + noise(i + 0.5) - 1);
    const ts = new Date(dayMs + hour * HOUR_MS).toISOString();
    const [name = '', url = ''] = pick(PAGES, i + dayMs).split(/ (?=\/)/);
    const from = { ref: pick(SOURCES, i * 3), orgreferer: pick(SOURCES, i * 3) };
    const id = `019fa2c4-5b1e-7a3c-9d2f-${String(i).padStart(12, '0')}`;
    const fields = { pn: name, pid: url, p: '1000001', ubl: pick(LANGUAGES, i * 7), ...from };
    return JSON.stringify({ ts, id, ...fields, ld: ts, url });
  });
  return `${lines.join('\n')}\n`;
}

it('takes the picture of a report', async () => {
  const data = tempDir();
  const today = Date.parse(dayOf(Date.now()));
  for (let ago = 1; ago <= 14; ago++) {
    const dayMs = today - ago * 24 * HOUR_MS;
    writeFileSync(join(data, `views-${dayOf(dayMs)}.ndjson`), linesOf(dayMs));
  }
  const projects = [{ id: '1000001', name: 'Aurora Travel', origins: ['https://aurora.example'] }];
  writeFileSync(join(data, 'projects.json'), JSON.stringify({ projects }));
  const html = join(data, 'report.html');
  await run(['report', '--last', '7', '--to', 'yesterday', '--html', html], { data });
  const page = await newPage({ viewport: { width: 1000, height: 830 } });
  await page.goto(`file://${html}`);
  await page.screenshot({ path: join(import.meta.dirname, '../src/manual/report.png') });
});
