import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';

// The map of the source: what src/README.md says of the rooms, what the lint holds, what is there.

const ROOT = join(import.meta.dirname, '..');
const SRC = join(ROOT, 'src');

/** `main.ts`, `commands/`, …: the rows of the README's table, each above those that follow. */
const ROOMS = Array.from(
  readFileSync(join(SRC, 'README.md'), 'utf8').matchAll(/^\| `([\w.-]+\/?)` \|/gm),
  ([, room]) => room!,
);

interface Fence {
  readonly files: readonly [string];
  readonly rules: {
    readonly 'no-restricted-imports'?: readonly [
      'error',
      { readonly patterns: readonly [{ readonly regex: string }] },
    ];
  };
}

/** What a room must not import, as a regular expression on import paths. */
const FENCES = new Map(
  (
    JSON.parse(readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8')) as { overrides: Fence[] }
  ).overrides
    .filter(({ rules }) => rules['no-restricted-imports'] !== undefined)
    .map(({ files, rules }) => {
      const [{ regex }] = rules['no-restricted-imports']![1].patterns;
      return [files[0].replace(/^src\//, '').replace('**', ''), regex];
    }),
);

/** Imports of rooms above that are still there; each is out of its fence for as long. */
const STILL_THERE = new Set<string>();

it('the top of src holds the rooms that its README names, in its order, and little else', () => {
  const found = readdirSync(SRC, { withFileTypes: true }).map((entry) =>
    entry.isDirectory() ? `${entry.name}/` : entry.name,
  );
  expect(found.toSorted()).toStrictEqual([...ROOMS, 'README.md', 'node-globals.ts'].toSorted());
});

it('every room has a fence against all rooms above it', () => {
  expect([...FENCES.keys()]).toStrictEqual(ROOMS.slice(1));
  const open: string[] = [];
  for (const [place, room] of ROOMS.entries()) {
    const fence = new RegExp(FENCES.get(room) ?? '$^');
    for (const [other, name] of ROOMS.entries()) {
      if (other === place) continue;
      const isBarred = fence.test(name.endsWith('/') ? `../${name}x.ts` : `../${name}`);
      if (other < place && !isBarred) open.push(`${room} ${name}`);
    }
  }
  expect(open.toSorted()).toStrictEqual([...STILL_THERE].toSorted());
});

it('no fence names a path that is gone', () => {
  const named = Array.from(FENCES.values()).flatMap((regex) => {
    const [, paths = ''] = /^\/\((.*?)\)/.exec(regex) ?? [];
    return paths.replaceAll('\\', '').split('|');
  });
  expect(named.filter((path) => !existsSync(join(SRC, path)))).toStrictEqual([]);
});

it('Hono is for the rooms of the front door', () => {
  const allowed = [...FENCES].filter(([, regex]) => !new RegExp(regex).test('@hono/node-server'));
  expect(allowed.map(([room]) => room)).toStrictEqual(['status/', 'collector/', 'http/']);
});

it('no two files of the source have the same name, but a command and its room', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const others = files.filter(
    (path) => dirname(path) !== 'commands' || !isRoom(basename(path, '.ts')),
  );
  const names = others.map((path) => basename(path));
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toStrictEqual([]);
});

const isRoom = (name: string): boolean =>
  ROOMS.some((room) => room.replace(/\/|\.ts$/, '') === name);
