// Makes src/manual/status-page.png, the README's picture: the real page of a collector with 60
// hours of views of made-up sites. Needs Chromium, and what `npm ci --prefix .ci/tools` installs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as esbuild from 'esbuild';

const root = join(import.meta.dirname, '..');
const tools = createRequire(join(root, '.ci/tools/package.json'));
const picture = join(root, 'src/manual/status-page.png');

const HOUR_MS = 3_600_000;
const nowMs = Date.now();

const sites = [
  { id: '1000001', name: 'Aurora Travel', viewsPerHour: 320 },
  { id: '1000002', name: 'Bergen Books', viewsPerHour: 90 },
  { id: '1000003', name: 'Café Ørnen', viewsPerHour: 24 },
  { id: '1000004', name: 'Fjord Ferries', viewsPerHour: 150, origins: ['https://www.example.com'] },
];
/** Its views are refused since then: the shop has moved to an address that is not listed. */
const moved = { id: '1000004', origin: 'https://shop.example.com', sinceMs: nowMs - 1.2 * HOUR_MS };

// It is in the picture.
const data = join(tmpdir(), 'viewlog');
mkdirSync(data);
try {
  await writeData(data);
  await take(data);
} finally {
  rmSync(data, { recursive: true });
}

/** The projects file, the counts of the time before, and view files that say how long the disk lasts. */
async function writeData(dir) {
  const projects = sites.map(({ id, name, origins }) => ({ id, name, origins }));
  const text = JSON.stringify({ operator: 'a@example.com', projects });
  writeFileSync(join(dir, 'projects.json'), text);
  const { Counts, slicesOf } = await countsModule();
  let atMs = nowMs - 60 * HOUR_MS;
  const counts = new Counts(
    () => atMs,
    () => true,
  );
  const refused = [];
  for (; atMs < nowMs - 5_000; atMs += 10_000) {
    for (const [i, { id, viewsPerHour }] of sites.entries()) {
      // More by day than by night, and never quite the same.
      const hour = (atMs / HOUR_MS) % 24;
      const share = 0.55 - 0.45 * Math.cos(((hour - 2) / 24) * 2 * Math.PI);
      const wave = 1 + 0.3 * Math.sin(atMs / 700_000 + i);
      if (noise(atMs + i) * 360 >= viewsPerHour * share * wave) continue;
      if (id !== moved.id || atMs < moved.sinceMs) counts.accepted(id, new Uint8Array());
      else {
        const detail = `Project ${id} takes views only from the origins that its operator listed.`;
        counts.refused({ code: 'origin-not-allowed', project: id, detail }, moved.origin);
        refused.push(atMs);
      }
    }
  }
  writeFileSync(join(dir, 'status.json'), [...slicesOf(counts)].join(''));
  const sample = refused.map((atMs) => JSON.stringify({ ts: new Date(atMs).toISOString() }));
  writeFileSync(join(dir, `refused-${dayOf(nowMs)}.ndjson`), `${sample.join('\n')}\n`);
  for (const agoDays of [1, 2]) {
    const day = dayOf(nowMs - agoDays * 24 * HOUR_MS);
    writeFileSync(join(dir, `views-${day}.ndjson`), `${'{}'.padEnd(3_000_000)}\n`);
  }
}

function dayOf(ms) {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Imports viewlog's own counts, which know how they are saved. */
async function countsModule() {
  const counts = "export * from './counts.ts'; export * from './saved-counts.ts';";
  const stdin = { contents: counts, resolveDir: join(root, 'src/status') };
  const options = { bundle: true, platform: 'node', format: 'esm', write: false };
  const { outputFiles } = await esbuild.build({ ...options, stdin });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

/** From 0 to 1, the same for the same number. */
function noise(n) {
  return Math.abs(Math.sin(n) * 43_758.5453) % 1;
}

async function take(dir) {
  const args = ['serve', '--port=0', '--status=127.0.0.1:0', '--data', '.'];
  const viewlog = spawn(process.execPath, [join(root, 'dist/viewlog.mjs'), ...args], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { chromium } = tools('playwright-core');
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    let said = '';
    for await (const text of viewlog.stdout.setEncoding('utf8')) {
      said += text;
      if (said.includes('status page on ')) break;
    }
    const page = await browser.newPage({ viewport: { width: 1000, height: 656 } });
    await page.goto(/status page on (\S+)/.exec(said)[1]);
    await page.getByText('all refused').first().waitFor();
    await page.screenshot({ path: picture });
  } finally {
    await browser.close();
    viewlog.kill();
    await once(viewlog, 'close');
  }
}
