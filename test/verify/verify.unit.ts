import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { verifyFile } from '../../src/verify/verify-file.ts';
import { storedLines } from '../support/stored-lines.ts';
import { tempDir } from '../support/temp-dir.ts';

const DAY = '2026-03-01';
const LINES = storedLines(DAY, 40);
const FIFTH = LINES[4]!;

/** Returns whether a file of that content is valid, its summary, and its remarks. */
async function verify(content: string | Buffer, name = `views-${DAY}.ndjson`) {
  const file = join(tempDir(), name);
  writeFileSync(file, content);
  const { isValid, lines } = await verifyFile(file);
  const [summary = '', ...said] = lines.map((line) => line.replaceAll(file, 'FILE').trim());
  return { isValid, summary, said };
}

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
const withFifth = (line: string): string => text(LINES.with(4, line));

it.each([
  ['that is empty', '', 'is blank'],
  ["that isn't JSON", 'hello', "doesn't start with ts and id"],
  ['with an unknown field', FIFTH.replace('"pn"', '"pm"'), '"pm" isn\'t a field of a view'],
  ['with a fragment in front of it', FIFTH.slice(0, 99) + FIFTH, 'Line 1, column'],
  [
    'with a control character in a field',
    FIFTH.replace('"pn"', String.raw`"\u001b"`),
    String.raw`"\u001b" is`,
  ],
])('verify names a line %s', async (_, line, why) => {
  const { isValid, said } = await verify(withFifth(line));
  expect([isValid, said]).toStrictEqual([false, [expect.stringContaining(why)]]);
  expect(said[0]).toMatch(/^1 invalid line: 5 \(/);
});

it("verify names a line that isn't UTF-8 but not a line that contains U+FFFD", async () => {
  const lines = LINES.with(2, LINES[2]!.replace('Home', '\ufffd')).with(6, 'PLACE');
  const [before = '', after = ''] = text(lines).split('PLACE');
  const [start = '', end = ''] = LINES[6]!.split('Home');
  const notUtf8 = Buffer.from([0xc3, 0x28]);
  const parts = [Buffer.from(before + start), notUtf8, Buffer.from(end + after)];
  const { isValid, said } = await verify(Buffer.concat(parts));
  expect([isValid, said]).toStrictEqual([false, ["1 invalid line: 7 (isn't UTF-8)"]]);
});

it('verify counts a sealed fragment separately, even one that ends in half a character', async () => {
  const fragment = Buffer.from(FIFTH).subarray(0, Buffer.from(FIFTH).indexOf('–') + 1);
  const sealed = Buffer.concat([fragment, Buffer.from(`\n${text(LINES)}`)]);
  const { isValid, said } = await verify(sealed);
  const expected =
    '1 sealed fragment: line 1; if viewlog crashed or the disk was full, its view was never acknowledged';
  expect([isValid, said]).toStrictEqual([true, [expected]]);
});

it('verify accepts a last line without a newline', async () => {
  const { isValid, summary, said } = await verify(text(LINES) + FIFTH);
  expect(summary).toContain('40 lines');
  const expected =
    'the last line has no newline: viewlog is still writing it, it crashed (the view was never acknowledged), or the file was cut later';
  expect([isValid, said]).toStrictEqual([true, [expected]]);
});

it('verify finds duplicate and misplaced lines and accepts ids in any order', async () => {
  const other = storedLines('2026-03-02', 1)[0]!;
  const lines = [LINES[5]!, ...LINES.slice(0, 5), ...LINES.slice(6)];
  expect((await verify(text(lines))).isValid).toBe(true);
  const { isValid, said } = await verify(text([...lines, LINES[2]!, other, LINES[2]!]));
  const expected = [
    '2 duplicate ids: lines 41, 43',
    '1 line dated differently from the file name: 42 (2026-03-02)',
  ];
  expect([isValid, said]).toStrictEqual([false, expected]);
});

it('verify finds an id that occurs again 100,000 lines later', async () => {
  const many = storedLines(DAY, 100_001);
  const { said } = await verify(text([...many, many[1]!]));
  expect(said).toContain('1 duplicate id: line 100002');
});

it("verify prints the earliest and the latest time of a file's views", async () => {
  const { summary } = await verify(text(LINES.with(39, LINES[0]!)));
  const times = LINES.slice(0, -1).map((line) => /"ts":"([^"]+)"/.exec(line)![1]!);
  expect(summary).toContain(`, ${times[0]} to ${times.at(-1)}`);
});

it("verify says that it can't decompress a file that was cut off", async () => {
  const torn = gzipSync(text(LINES)).subarray(0, 300);
  const { isValid, said } = await verify(torn, `views-${DAY}.ndjson.gz`);
  expect([isValid, said[0]]).toStrictEqual([
    false,
    expect.stringMatching(/^Can't decompress "FILE": .*; restore it from a backup$/),
  ]);
});
