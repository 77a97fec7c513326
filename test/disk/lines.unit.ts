import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkReadable, READ_LINE_BYTES_MAX, readBlocks } from '../../src/disk/lines.ts';
import { tempDir } from '../support/temp-dir.ts';

async function read(content: string | Buffer) {
  const file = join(tempDir(), 'file');
  writeFileSync(file, content);
  const lines: string[] = [];
  let bytes = 0;
  let isUnended = false;
  for await (const block of readBlocks(file)) {
    lines.push(...block.lines());
    bytes += block.bytes;
    ({ isUnended } = block);
  }
  return { lines, bytes, isUnended };
}

it('readBlocks returns whole lines, wherever a block ends', async () => {
  const lines = Array.from({ length: 4000 }, (_, i) => `${i} æøå🎈${'x'.repeat((i * 7) % 300)}`);
  const content = `${lines.join('\n')}\n`;
  const bytes = Buffer.byteLength(content);
  expect(await read(content)).toStrictEqual({ lines, bytes, isUnended: false });
  expect(await read(`${content}end`)).toStrictEqual({
    // The last line has no newline yet, so its writer may not have finished it.
    lines,
    bytes: bytes + 3,
    isUnended: true,
  });
  expect(await read('')).toStrictEqual({ lines: [], bytes: 0, isUnended: false });
  expect((await read('\n\n')).lines).toStrictEqual(['', '']);
});

it('readBlocks refuses an endless line and never holds it in memory', async () => {
  await expect(read(Buffer.alloc(READ_LINE_BYTES_MAX + 100_000))).rejects.toMatchObject({
    exitCode: 65,
    message: expect.stringContaining('has a line longer than 4 MiB'),
  });
});

it('a directory in place of a file is refused, and the error says what to do', async () => {
  const dir = tempDir();
  const message = `Can't read "${dir}": it is a directory; name a file in it`;
  expect(() => checkReadable(dir)).toThrow(message);
  await expect(readBlocks(dir).next()).rejects.toThrow(message);
});
