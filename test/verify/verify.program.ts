import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { plural } from '../../src/base/format.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { storedLines } from '../support/stored-lines.ts';
import { storedViews } from '../support/stored-views.ts';
import { tempDir } from '../support/temp-dir.ts';
import { dataDirectory, run } from '../support/viewlog.ts';

const DAY = '2026-03-01';
const NAME = `views-${DAY}.ndjson`;
const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

describe('verify', () => {
  it('finds no error in the files that a collector writes', async () => {
    const { data, lines } = await storedViews();
    const file = join(data, `views-${lines[0]!.slice(7, 17)}.ndjson`);
    const { code, stdout } = await run(['verify', file], { data });
    expect(stdout).toMatch(new RegExp(`^${file}: ${lines.length} lines, [\\d,]+ bytes, 20.*Z\n$`));
    expect(code).toBe(0);
  });

  it('checks every view file in a directory, compressed or not, and no other file', async () => {
    const data = dataDirectory();
    expect((await run(['verify', data])).code).toBe(65);
    const next = 'views-2026-03-02.ndjson';
    writeFileSync(join(data, next), text(storedLines('2026-03-02', 2)));
    writeFileSync(join(data, `${NAME}.gz`), gzipSync(text(storedLines(DAY, 40))));
    writeFileSync(join(data, `refused-${DAY}.ndjson`), 'x\n');
    const doubled = tempDir();
    for (const name of [next, 'views-2026-03-03.ndjson']) {
      writeFileSync(join(doubled, name), '');
      writeFileSync(join(doubled, `${name}.gz`), gzipSync(''));
    }
    expect((await run(['verify', doubled])).stderr).toMatch(
      /^(warning: "\S*" also exists as a \.gz file; .* remove one\. To compare them, run: .* verify --receipt .*ndjson && .* verify --receipt .*\.gz\n){2}$/,
    );
    const unread = join(data, 'views-2026-03-01.ndjson.zst');
    writeFileSync(unread, '');
    writeFileSync(join(data, `refused-${DAY}.ndjson.zst`), '');
    const { code, stdout, stderr } = await run(['verify', data]);
    expect(stderr).toBe(
      `warning: "${unread}" isn't checked, because viewlog can't read zstd; run: zstd -d --rm ${unread}\n`,
    );
    const checked = stdout.split('\n').map((line) => line.split(',')[0]);
    expect(checked).toStrictEqual([
      `${join(data, `${NAME}.gz`)}: 40 lines`,
      `${join(data, next)}: 2 lines`,
      '',
    ]);
    expect(code).toBe(0);
    const named = await run(['verify', unread]);
    expect([named.code, named.stdout]).toStrictEqual([
      65,
      expect.stringMatching(
        /zst: not read\n.*: it is compressed with zstd; run: zstd -d --rm .*zst$/m,
      ),
    ]);
    const none = await run(['verify', tempDir()]);
    expect([none.code, none.stderr]).toStrictEqual([
      65,
      expect.stringMatching(
        /^error: No view files in ".*"\. If it is the data directory, no view /,
      ),
    ]);
    const onlyUnread = tempDir();
    writeFileSync(join(onlyUnread, 'views-2026-03-01.ndjson.zst'), '');
    const unreadable = await run(['verify', onlyUnread]);
    expect([unreadable.code, unreadable.stderr]).toStrictEqual([
      65,
      expect.stringMatching(
        /\nerror: Every view file in ".*" is compressed with zstd, so none was checked\n$/,
      ),
    ]);
    // One fault in one file is enough.
    writeFileSync(join(data, next), 'x\n');
    expect((await run(['verify', data])).code).toBe(65);
  });
});

describe.each([NODE, DENO, BUN].filter(isPresent))('verify on %s', (runtime) => {
  it('reads stdin and compressed files of several parts, even if lines span blocks', async () => {
    const data = dataDirectory();
    const many = storedLines(DAY, 3000);
    const parts = [many.slice(0, 1000), many.slice(1000)].map((part) => gzipSync(text(part)));
    writeFileSync(join(data, `${NAME}.gz`), Buffer.concat(parts));
    writeFileSync(join(data, NAME), text(many));
    const expected = `3,000 lines, ${plural(Buffer.byteLength(text(many)), 'byte')}, ${DAY}T00:00:00.000Z`;
    for (const file of [`${NAME}.gz`, NAME, '-']) {
      const { code, stdout } = await run(['verify', file], { data, runtime, input: text(many) });
      expect(stdout).toContain(`${file}: ${expected}`);
      expect(code).toBe(0);
    }
  });
});
