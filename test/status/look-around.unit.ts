import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { userName } from '../../src/installation/accounts.ts';
import { lookAround } from '../../src/status/look-around.ts';
import { NOON } from '../support/status-scene.ts';
import { tempDir } from '../support/temp-dir.ts';

const NO_DAYS = { views: 0, refused: 0 };

/** @param sizes by the file's name. */
function seenWith(sizes: Readonly<Record<string, number>>, keepDays = NO_DAYS) {
  const dir = tempDir();
  for (const [name, size] of Object.entries(sizes))
    writeFileSync(join(dir, name), 'x'.repeat(size));
  return lookAround(dir, keepDays, NOON);
}

it.each([
  ['is unknown before the first complete day', { 'views-2026-11-21.ndjson': 50 }, undefined],
  [
    'is known after one complete day',
    { 'views-2026-11-20.ndjson': 50, 'views-2026-11-21.ndjson': 30 },
    30,
  ],
  [
    'covers the last seven of ten complete days',
    Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`views-2026-11-${13 + i}.ndjson`, i < 2 ? 999 : i]),
    ),
    5,
  ],
])('the average size of a day %s', async (_, sizes, expected) => {
  expect((await seenWith(sizes)).bytesPerDay).toBe(expected);
});

it('lookAround finds the file system, the days of the files and the overdue files', async () => {
  const days = ['views-2026-11-01', 'views-2026-11-22', 'refused-2026-11-02', 'refused-2026-11-21'];
  const sizes = Object.fromEntries(days.map((day) => [`${day}.ndjson`, 1]));
  const seen = await seenWith(sizes, { views: 7, refused: 30 });
  expect(seen.fileSystem!.sizeBytes).toBeGreaterThan(2 ** 20);
  expect(seen.fileSystem!.freeBytes).toBeGreaterThan(2 ** 20);
  expect(seen).toMatchObject({
    viewDays: ['2026-11-01', '2026-11-22'],
    refusedDays: ['2026-11-02', '2026-11-21'],
    overdue: ['views-2026-11-01.ndjson'],
  });
});

it('lookAround finds a directory that no longer belongs to the account', async () => {
  const dir = tempDir();
  const { uid, gid } = statSync(dir);
  const lookAs = (owner: number) => {
    const account = { uid: owner, gid: 4712, name: `#${owner}` };
    return lookAround(dir, NO_DAYS, NOON, account);
  };
  expect((await lookAs(uid)).closedDirectory).toBeUndefined();
  expect(gid).not.toBe(4712);
  expect((await lookAs(4711)).closedDirectory).toStrictEqual({
    account: { uid: 4711, gid: 4712, name: '#4711' },
    owner: userName(uid),
    mode: statSync(dir).mode,
    isGivenAway: true,
  });
});

it.skipIf(process.getuid?.() !== 0)(
  "lookAround finds files that don't belong to the new owner",
  async () => {
    const dir = tempDir();
    writeFileSync(join(dir, 'projects.json'), '');
    const account = { uid: 4711, gid: 4712, name: '#4711' };
    const seen = () => lookAround(dir, NO_DAYS, NOON, account);
    expect((await seen()).closedDirectory).toMatchObject({ isGivenAway: true });
    chownSync(join(dir, 'projects.json'), account.uid, account.gid);
    expect((await seen()).closedDirectory).toMatchObject({ isGivenAway: true });
    writeFileSync(join(dir, 'status.json'), '');
    expect((await seen()).closedDirectory).toMatchObject({ isGivenAway: false });
  },
);

it('lookAround finds no files in a missing directory', async () => {
  const seen = await lookAround(join(tempDir(), 'gone'), NO_DAYS, NOON);
  expect(seen).toMatchObject({ refusedDays: [], overdue: [], bytesPerDay: undefined });
});
