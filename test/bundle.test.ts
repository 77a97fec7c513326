import { readFileSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BUNDLE } from './support/runtimes.ts';

const KiB = 1024;

it('the bundle is small', () => {
  expect(statSync(BUNDLE).size).toBeLessThan(400 * KiB);
});

it('the NATS client waits in the bundle as a packed text, which costs no start', () => {
  const bundle = readFileSync(BUNDLE, 'utf8');
  expect(bundle).toMatch(/"[A-Za-z\d+/=\\\n]{50000,}"/);
  // A name that only its code has.
  expect(bundle).not.toContain('nkeys');
});
