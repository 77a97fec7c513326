import { execFileSync } from 'node:child_process';
import { appendFileSync, renameSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FilePart, readBackwards } from '../../src/disk/backwards.ts';
import { tempDir } from '../support/temp-dir.ts';

const MAX = 200_000;

const partOf = (path: string): FilePart => {
  const { dev, ino, size } = statSync(path);
  return { path, dev, ino, size };
};

async function linesOf(part: FilePart, lineBytesMax = MAX): Promise<string[]> {
  const blocks: string[][] = [];
  for await (const { lines } of readBackwards(part, 'utf8', lineBytesMax)) blocks.push([...lines]);
  return blocks.toReversed().flat();
}

describe('a file read backwards', () => {
  it('has the lines that it has forwards, wherever chunks end', async () => {
    const path = join(tempDir(), 'a');
    const length = fc.oneof(fc.nat(300), fc.integer({ min: 65_500, max: 65_600 }), fc.nat(150_000));
    await fc.assert(
      fc.asyncProperty(fc.array(length, { maxLength: 12 }), fc.nat(70_000), async (sizes, torn) => {
        const lines = sizes.map((size, i) => `${i}${'é'.repeat(size / 2)}`);
        writeFileSync(path, [...lines, 'x'.repeat(torn)].join('\n'));
        expect(await linesOf(partOf(path))).toStrictEqual(lines);
      }),
      { numRuns: 60 },
    );
  });

  it('is told of its first part only, whatever is appended', async () => {
    const path = join(tempDir(), 'b');
    writeFileSync(path, 'one\ntwo\n');
    const part = partOf(path);
    appendFileSync(path, 'three\n');
    expect(await linesOf(part)).toStrictEqual(['one', 'two']);
  });

  it('lacks what is too long, and no other line', async () => {
    const path = join(tempDir(), 'c');
    const long = 'x'.repeat(300_000);
    writeFileSync(
      path,
      `one\n${long}\ntwo\n${'y'.repeat(999)}\n${'y'.repeat(1000)}\nthree\n${long}`,
    );
    expect(await linesOf(partOf(path), 1000)).toStrictEqual([
      'one',
      'two',
      'y'.repeat(999),
      'three',
    ]);
  });

  it('has no lines where another has taken its place, or it has been cut short', async () => {
    const path = join(tempDir(), 'd');
    writeFileSync(path, 'one\n');
    const part = partOf(path);
    writeFileSync(`${path}.new`, 'two\n');
    renameSync(`${path}.new`, path);
    expect(await linesOf(part)).toStrictEqual([]);
    const cut = partOf(path);
    truncateSync(path, 0);
    expect(await linesOf(cut)).toStrictEqual([]);
  });

  it('that has become a named pipe is not waited for', async () => {
    const path = join(tempDir(), 'pipe');
    execFileSync('mkfifo', [path]);
    expect(await linesOf({ ...partOf(path), size: 10 })).toStrictEqual([]);
  });
});
