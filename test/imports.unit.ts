import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';

// Tests the order of the modules in src/README.md: a module imports only modules below it.

const SRC = join(import.meta.dirname, '../src');

/** `main.ts`, `commands/`, …: the rows of the README's table, from top to bottom. */
const MODULES = Array.from(
  readFileSync(join(SRC, 'README.md'), 'utf8').matchAll(/^\| `([\w.-]+)\/?` \|/gm),
  ([, module]) => module!,
);

/** Modules that import Hono. */
const WITH_HONO = new Set(['status', 'report', 'collector']);

const moduleOf = (path: string): string => path.split('/')[0]!;

/** The source files below `src`, with what each imports: paths below `src`, or package names. */
const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => {
    const text = readFileSync(join(SRC, path), 'utf8');
    const imports = Array.from(
      text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g),
      ([, name]) => (name!.startsWith('.') ? posix.join(posix.dirname(path), name!) : name!),
    );
    return { path, imports };
  });

it('the README of the source names every module', () => {
  expect(new Set(FILES.map(({ path }) => moduleOf(path)))).toStrictEqual(new Set(MODULES));
});

it('a module imports only modules below it', () => {
  const upward = FILES.flatMap(({ path, imports }) =>
    imports
      .filter((to) => MODULES.includes(moduleOf(to)))
      .filter((to) => MODULES.indexOf(moduleOf(to)) < MODULES.indexOf(moduleOf(path)))
      .map((to) => `${path} → ${to}`),
  );
  expect(upward).toStrictEqual([]);
});

it('only modules with routes or pages import Hono', () => {
  const others = FILES.filter(({ path }) => !WITH_HONO.has(moduleOf(path))).filter(({ imports }) =>
    imports.some((name) => /^@?hono/.test(name)),
  );
  expect(others.map(({ path }) => path)).toStrictEqual([]);
});
