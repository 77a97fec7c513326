// Makes src/manual/status-page.png, the README's picture: the real page of a collector with a day and
// a half of views of made-up sites. Wants Chromium, and what `npm ci --prefix .ci/tools` installs.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
  writeData(data);
  await take(data);
} finally {
  rmSync(data, { recursive: true });
}

function writeData(dir) {
  const projects = sites.map(({ id, name, origins }) => ({ id, name, origins }));
  writeFileSync(
    join(dir, 'projects.json'),
    JSON.stringify({ operator: 'a@example.com', projects }),
  );
  const lines = new Map();
  const add = (kind, atMs, fields) => {
    const ts = new Date(atMs).toISOString();
    const name = `${kind}-${ts.slice(0, 10)}.ndjson`;
    lines.set(name, [
      ...(lines.get(name) ?? []),
      JSON.stringify({ ts, id: idOf(atMs), ...fields }),
    ]);
  };
  for (let atMs = nowMs - 40 * HOUR_MS; atMs < nowMs - 5_000; atMs += 10_000) {
    for (const [i, { id, viewsPerHour }] of sites.entries()) {
      // More by day than by night, and never quite the same.
      const hour = (atMs / HOUR_MS) % 24;
      const share = 0.55 - 0.45 * Math.cos(((hour - 2) / 24) * 2 * Math.PI);
      const wave = 1 + 0.3 * Math.sin(atMs / 700_000 + i);
      if (noise(atMs + i) * 360 >= viewsPerHour * share * wave) continue;
      const view = { pid: 'home', p: id, ld: new Date(atMs).toISOString(), url: '/' };
      if (id !== moved.id || atMs < moved.sinceMs) add('views', atMs, view);
      else add('refused', atMs, { code: 'origin-not-allowed', origin: moved.origin, view });
    }
  }
  for (const [name, of] of lines) writeFileSync(join(dir, name), `${of.join('\n')}\n`);
}

/** From 0 to 1, the same for the same number. */
function noise(n) {
  return Math.abs(Math.sin(n) * 43_758.5453) % 1;
}

function idOf(atMs) {
  const hex = atMs.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
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
    const page = await browser.newPage({ viewport: { width: 1000, height: 560 } });
    await page.goto(/status page on (\S+)/.exec(said)[1]);
    await page.getByText('all refused').first().waitFor();
    await page.screenshot({ path: picture });
  } finally {
    await browser.close();
    viewlog.kill();
    await once(viewlog, 'close');
  }
}
