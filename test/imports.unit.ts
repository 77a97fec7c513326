import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, it } from 'vitest';

// The order of the rooms in src/README.md: a room imports only rooms below it.

const SRC = join(import.meta.dirname, '../src');

/** `main.ts`, `commands/`, …: the rows of the README's table, from top to bottom. */
const ROOMS = Array.from(
  readFileSync(join(SRC, 'README.md'), 'utf8').matchAll(/^\| `([\w.-]+)\/?` \|/gm),
  ([, room]) => room!,
);

/** Rooms that import Hono. */
const WITH_HONO = new Set(['status', 'report', 'collector', 'http']);

const roomOf = (path: string): string => path.split('/')[0]!;

/** The source files below `src`, with what each imports: paths below `src`, or package names. */
const FILES = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && path !== 'node-globals.ts')
  .map((path) => {
    const text = readFileSync(join(SRC, path), 'utf8');
    const imports = Array.from(
      text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g),
      ([, name]) => (name!.startsWith('.') ? posix.join(posix.dirname(path), name!) : name!),
    );
    return { path, imports };
  });

it('the README of the source names every room', () => {
  expect(new Set(FILES.map(({ path }) => roomOf(path)))).toStrictEqual(new Set(ROOMS));
});

it('a room imports only rooms below it', () => {
  const upward = FILES.flatMap(({ path, imports }) =>
    imports
      .filter((to) => ROOMS.includes(roomOf(to)))
      .filter((to) => ROOMS.indexOf(roomOf(to)) < ROOMS.indexOf(roomOf(path)))
      .map((to) => `${path} → ${to}`),
  );
  expect(upward).toStrictEqual([]);
});

it('only the rooms that speak HTTP import Hono', () => {
  const others = FILES.filter(({ path }) => !WITH_HONO.has(roomOf(path))).filter(({ imports }) =>
    imports.some((name) => /^@?hono/.test(name)),
  );
  expect(others.map(({ path }) => path)).toStrictEqual([]);
});
