import { expect, test } from 'vitest';
import { fileSystemOf, spaceIn } from '../../src/disk/ops.ts';

const STATFS = {
  type: 1,
  bsize: 1_048_576,
  blocks: 1000,
  bfree: 500,
  bavail: 400,
  files: 0,
  ffree: 0,
};

test.each([
  ['fragments', { frsize: 4096 }, 4096],
  ['blocks, if the file system has no fragments', { frsize: 0 }, 1_048_576],
  ["blocks, if the runtime doesn't report fragments", {}, 1_048_576],
])('free space is counted in %s', (_, fragments, bytes) => {
  const space = { type: 1, freeBytes: 400 * bytes, sizeBytes: 900 * bytes, hasInodes: true };
  expect(spaceIn({ ...STATFS, ...fragments })).toStrictEqual(space);
});

test.each([
  ['without a free inode, hasInodes is false', { files: 10, ffree: 0 }, false],
  ['with one free inode, hasInodes is true', { files: 10, ffree: 1 }, true],
  ['without a limit on inodes, hasInodes is true', { files: 0, ffree: 0 }, true],
])('%s', (_, inodes, hasInodes) => {
  expect(spaceIn({ ...STATFS, ...inodes })).toMatchObject({ hasInodes });
});

test('free space of a missing directory is an error, not a number', async () => {
  await expect(fileSystemOf('/missing')).rejects.toMatchObject({ code: 'ENOENT' });
});
