import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BUNDLE } from './support/runtimes.ts';
import { startWatched } from './support/status.ts';

const KiB = 1024;

it('the bundle is small, the status page not counted', async () => {
  const { statusUrl } = await startWatched();
  const parts = await Promise.all(
    ['/', '/page.css', '/page.js'].map(async (path) => (await fetch(statusUrl + path)).text()),
  );
  const pageBytes = Buffer.byteLength(parts.join(''));
  expect(statSync(BUNDLE).size - pageBytes).toBeLessThan(400 * KiB);
});

it('the NATS client waits in the bundle as a packed text, which costs no start', () => {
  const bundle = readFileSync(BUNDLE, 'utf8');
  expect(bundle).toMatch(/"[A-Za-z\d+/=\\\n]{50000,}"/);
  // A name that only its code has.
  expect(bundle).not.toContain('nkeys');
});
