import { expect, it } from 'vitest';
import { describeFiles } from '../../../src/store/files/describe-files.ts';
import type { ViewStoreState } from '../../../src/store/files/view-store.ts';

// What the operator is told of the disk.

const describe = (freeBytes: number, minFreeBytes: number, unavailable?: string) => {
  const path = '/d/views-2026-11-22.ndjson';
  const state = { path, lines: 10, bytes: 1000, fileBytes: 1000, freeBytes, unavailable };
  const place = { dir: '/d', minFreeBytes };
  return describeFiles(state as ViewStoreState, place, 1000);
};

const free = (...given: Parameters<typeof describe>) => describe(...given).facts[0];

it('free space says how long it lasts, and is marked where it is the reason that nothing is stored', () => {
  expect(free(1_000_000, 0)).toStrictEqual(['Free disk', '977 KiB, lasts 10 days at this rate']);
  expect(free(0, 0, 'the disk is full')).toStrictEqual(['Free disk', '0 bytes', 'bad']);
  expect(free(1000, 2048)).toStrictEqual([
    'Free disk',
    '1000 bytes, below --min-free 2 KiB',
    'bad',
  ]);
});

it('a full disk says what may be deleted, and a developer which file is written', () => {
  const { remedy, details } = describe(0, 0, 'the disk is full');
  expect(remedy!.text).toMatch(
    /^Make room .*: of earlier days, views-\*\.ndjson that are shipped or copied, and refused-\*\.ndjson, may be/,
  );
  expect(remedy!.command).toBe('df -h /d');
  expect(details).toStrictEqual([['File', 'views-2026-11-22.ndjson, 1000 bytes']]);
});
