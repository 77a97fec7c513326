import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DayWriter, splitAt } from '../../src/disk/day-writer.ts';
import { systemFiles } from '../../src/disk/ops.ts';
import { memoryLog } from '../support/memory-log.ts';
import { tempDir } from '../support/temp-dir.ts';

// The simulator tests everything else that a day writer does.

test('a day writer begins the next write before it answers the previous lines', async () => {
  let begun = 0;
  const files = { ...systemFiles, write: counted };
  async function counted(...args: Parameters<typeof systemFiles.write>): Promise<number> {
    begun += 1;
    return systemFiles.write(...args);
  }
  const [dir, log] = [tempDir(), memoryLog()];
  const writer = new DayWriter({ dir, kind: 'views', durability: 'none', files, log });
  const [day, line] = ['2026-11-24', Buffer.from('{}\n')];
  await writer.write(day, line);
  const writing = writer.write(day, line);
  expect(begun).toBe(2);
  await writing;
  await writer.close();
});

const line = fc.string({ unit: 'binary', maxLength: 6 }).map((text) => text.replaceAll('\n', ''));

test('splitAt splits lines at any byte into whole lines and the rest of the next line', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), fc.nat(), (lines, n) => {
      const whole = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      const written = n % (whole.length + 1);
      let end = 0;
      let left = lines.map((text) => Buffer.byteLength(text) + 1);
      for (; left[0] !== undefined && end + left[0] <= written; left = left.slice(1))
        end += left[0];
      const { lineBytes, owed } = splitAt(whole, written);
      expect(lineBytes).toBe(end);
      expect(Buffer.from(owed)).toStrictEqual(whole.subarray(written, end + (left[0] ?? 0)));
      expect(owed.buffer).not.toBe(whole.buffer);
    }),
  );
});
