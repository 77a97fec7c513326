import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BUNDLE } from './support/runtimes.ts';
import { tempDir } from './support/temp-dir.ts';
import { startViewlog } from './support/viewlog.ts';

const KiB = 1024;

it('the bundle is small', () => {
  expect(statSync(BUNDLE).size).toBeLessThan(640 * KiB);
});

it('a collector of files evaluates no NATS client in the bundle, and no Fetch API before a look at its status', async () => {
  const coverage = tempDir();
  const viewlog = await startViewlog({ env: { NODE_V8_COVERAGE: coverage } });
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
  const [file = ''] = readdirSync(coverage);
  // The calls of each function of each script.
  const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as {
    result: { url: string; functions: { functionName: string; ranges: { count: number }[] }[] }[];
  };
  const functions = result.find(({ url }) => url.endsWith('/viewlog.mjs'))!.functions;
  // esbuild makes an inner module a function, named by its path.
  const modules = functions.filter(({ functionName }) => CLIENT.test(functionName));
  expect(modules.length).toBeGreaterThan(30);
  expect(modules.filter(({ ranges }) => ranges[0]!.count > 0)).toStrictEqual([]);
});

const CLIENT =
  /^(node_modules\/(@nats-io|@hono\/node-server|tweetnacl)\/|src\/jetstream\/client\.ts)/;

it('a start pays for no words: nothing of Intl is made', async () => {
  const poison = `for (const name of ['Collator', 'DateTimeFormat', 'DisplayNames', 'NumberFormat'])
    Intl[name] = class { constructor() { throw new Error(name + ' at a start'); } };`;
  const preload = `--import data:text/javascript,${encodeURIComponent(poison)}`;
  const viewlog = await startViewlog({ env: { NODE_OPTIONS: preload } });
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
});
