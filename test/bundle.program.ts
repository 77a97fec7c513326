import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { read, ROOT } from './support/documents.ts';
import { BUNDLE } from './support/runtimes.ts';
import { tempDir } from './support/temp-dir.ts';
import { startWatched } from './support/status.ts';
import { startViewlog } from './support/viewlog.ts';

const KiB = 1024;

it('the bundle is smaller than 640 KiB', () => {
  expect(statSync(BUNDLE).size).toBeLessThan(640 * KiB);
});

it('a collector that writes files runs no code of the NATS client, nor of the status server before its first request', async () => {
  const coverage = tempDir();
  const viewlog = await startWatched({ env: { NODE_V8_COVERAGE: coverage } });
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

/** The NATS client, and the package that answers the status server's requests. */
const CLIENT =
  /^(node_modules\/(@nats-io|@hono\/node-server|tweetnacl)\/|src\/(jetstream\/client|status\/node-listener)\.ts)/;

it('a collector creates no Intl objects at start-up', async () => {
  const poison = `for (const name of ['Collator', 'DateTimeFormat', 'DisplayNames', 'NumberFormat'])
    Intl[name] = class { constructor() { throw new Error(name + ' at a start'); } };`;
  const preload = `--import data:text/javascript,${encodeURIComponent(poison)}`;
  const viewlog = await startViewlog({ env: { NODE_OPTIONS: preload } });
  expect((await viewlog.signal('SIGTERM')).code).toBe(0);
});

it('THIRD_PARTY_LICENSES has the licence of every package in the bundle', () => {
  const handedOut = read('dist/THIRD_PARTY_LICENSES');
  const titles = Array.from(handedOut.matchAll(/^=+\n(.+)\n/gm), ([, title]) => title);
  const expected = [...packagesOf(importedBySource())].toSorted().map((name) => {
    const { version, license } = packageJson(name);
    return `${name} ${version} (${license})`;
  });
  expect(titles).toStrictEqual(expected);
  for (const text of handedOut.split(/^=+\n(?=.)/m).slice(1)) {
    expect(text).toMatch(/Permission is hereby granted|Apache License|Permission to use, copy/);
  }
  const args = [BUNDLE, 'version', '--licenses'];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe(handedOut);
});

/** Packages that the build leaves out. */
const LEFT_OUT = new Set(['@nats-io/nkeys', 'tweetnacl']);

/** The packages that the files of `src` import. */
function importedBySource(): string[] {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => [...read(`src/${file}`).matchAll(/(?:from |import\()'([^.'][^']*)'/g)])
    .map(([, from]) => /^(?:@[^/]+\/)?[^/]+/.exec(from!)![0])
    .filter((name) => !name.startsWith('node:'));
}

/** Returns these packages, and those that they depend on. */
function packagesOf(names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const add = (name: string): void => {
    if (found.has(name) || LEFT_OUT.has(name)) return;
    found.add(name);
    Object.keys(packageJson(name).dependencies ?? {}).forEach(add);
  };
  names.forEach(add);
  return found;
}

interface PackageJson {
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Record<string, string>;
}

const packageJson = (name: string): PackageJson =>
  JSON.parse(read(`node_modules/${name}/package.json`)) as PackageJson;
