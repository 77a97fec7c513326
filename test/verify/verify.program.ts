import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { plural } from '../../src/base/format.ts';
import { BUN, DENO, isPresent, NODE } from '../support/runtimes.ts';
import { storedLines } from '../support/stored-lines.ts';
import { ACCEPTED, FULL_VIEW } from '../support/views.ts';
import { dataDirectory, run, startViewlog } from '../support/viewlog.ts';

const DAY = '2026-03-01';
const NAME = `views-${DAY}.ndjson`;
const LINES = storedLines(DAY, 40);

async function verify(content: string | Buffer, name = NAME) {
  const data = dataDirectory();
  const file = join(data, name);
  writeFileSync(file, content);
  const { code, stdout, stderr } = await run(['verify', file], { data });
  return { code, said: stdout.replace(file, 'FILE').trimEnd().split('\n'), stderr };
}

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

/** The lines with one of them, counted from 1, put in place of another. */
const withLine = (number: number, line: string): string => text(LINES.with(number - 1, line));

describe('verify', () => {
  it('finds no fault in what the collector writes', async () => {
    const viewlog = await startViewlog();
    for (const [, change] of ACCEPTED) await viewlog.post({ ...FULL_VIEW, ...change });
    const lines = viewlog.lines();
    await viewlog.signal('SIGTERM');
    const file = join(viewlog.data, `views-${lines[0]!.slice(7, 17)}.ndjson`);
    const { code, stdout } = await run(['verify', file], { data: viewlog.data });
    expect(stdout).toMatch(new RegExp(`^${file}: ${lines.length} lines, [\\d,]+ bytes, 20.*Z\n$`));
    expect(code).toBe(0);
  });

  it('tells lines, bytes, first and last ts', async () => {
    const content = text(LINES);
    expect(await verify(content)).toStrictEqual({
      code: 0,
      said: [
        `FILE: 40 lines, ${plural(Buffer.byteLength(content), 'byte')}, ` +
          `${DAY}T00:00:00.000Z to ${DAY}T00:00:39.000Z`,
      ],
      stderr: '',
    });
  });

  it.each([
    ['a blank line', '', 'is blank'],
    ['text', 'hello', 'does not start with ts and id'],
    ['a foreign object', '{"a":1}', 'does not start with ts and id'],
    ['a carriage return', `${LINES[4]!}\r`, 'does not end with its object'],
    ['an unknown field', LINES[4]!.replace('"pn"', '"pm"'), '"pm" is not a field of a view'],
    ['half a line in front', LINES[4]!.slice(0, 99) + LINES[4]!, 'Line 1, column'],
    ['a line without its start', LINES[4]!.slice(9), 'does not start with ts and id'],
    ['NULs in front', `\0\0${LINES[4]!}`, 'does not start with ts and id'],
  ])('names the line of %s', async (_, line, why) => {
    const { code, said } = await verify(withLine(5, line));
    expect(said[1]).toContain('1 invalid line: 5 (');
    expect(said[1]).toContain(why);
    expect(said).toHaveLength(2);
    expect(code).toBe(65);
  });

  it('names a line that is not UTF-8, and not the one that shows the same character', async () => {
    const lines = LINES.with(2, LINES[2]!.replace('Home', '\ufffd')).with(6, 'PLACE');
    const bytes = Buffer.from(text(lines).replace('PLACE', LINES[6]!.replace('Home', 'H\u00ffme')));
    // One byte of a character of two.
    const at = bytes.indexOf(Buffer.from('H\u00ffme')) + 1;
    bytes[at] = 0xc3;
    bytes[at + 1] = 0x28;
    const { code, said } = await verify(bytes);
    expect(said.slice(1)).toStrictEqual(['  1 invalid line: 7 (is not UTF-8)']);
    expect(code).toBe(65);
  });

  it.each([
    ['its first byte', '{'],
    ['half of its id', LINES[4]!.slice(0, 50)],
    ['all but its last byte', LINES[4]!.slice(0, -1)],
    ['a power cut’s NULs', `${LINES[4]!.slice(0, 50)}\0\0\0\0`],
    ['nothing but NULs', '\0\0\0\0'],
  ])('counts a sealed fragment apart, of %s', async (_, fragment) => {
    const { code, said } = await verify(withLine(5, fragment));
    expect(said.slice(1)).toStrictEqual([
      '  1 sealed fragment: 5; not a fault: a crash cut it off, never acknowledged',
    ]);
    expect(code).toBe(0);
  });

  it('counts a fragment that ends inside a character', async () => {
    const line = Buffer.from(LINES[4]!);
    const half = line.subarray(0, line.indexOf(Buffer.from('–')) + 1);
    const { code, said } = await verify(Buffer.concat([half, Buffer.from(`\n${text(LINES)}`)]));
    expect(said.slice(1)).toStrictEqual([
      '  1 sealed fragment: 1; not a fault: a crash cut it off, never acknowledged',
    ]);
    expect(code).toBe(0);
  });

  it('leaves a last line without newline alone', async () => {
    const { code, said } = await verify(text(LINES) + LINES[4]!);
    expect(said[0]).toContain('40 lines');
    expect(said.slice(1)).toStrictEqual([
      '  the last line has no newline: it is being written; not a fault',
    ]);
    expect(code).toBe(0);
  });

  it('finds duplicate ids and lines of another day; the order of ids is not a fault', async () => {
    const other = storedLines('2026-03-02', 1)[0]!;
    const lines = [LINES[5]!, ...LINES.slice(0, 5), ...LINES.slice(6)];
    expect((await verify(text(lines))).code).toBe(0);
    const { code, said } = await verify(text([...lines, LINES[2]!, other, LINES[2]!]));
    expect(said.slice(1)).toStrictEqual([
      '  2 duplicate ids: 41, 43',
      '  1 misplaced line of another day: 42',
    ]);
    expect(code).toBe(65);
  });

  it('checks every view file of a directory, packed ones too, and nothing else in it', async () => {
    const data = dataDirectory();
    expect((await run(['verify', data])).code).toBe(65);
    const next = 'views-2026-03-02.ndjson';
    writeFileSync(join(data, next), text(storedLines('2026-03-02', 2)));
    writeFileSync(join(data, `${NAME}.gz`), gzipSync(text(LINES)));
    writeFileSync(join(data, `refused-${DAY}.ndjson`), 'x\n');
    const { code, stdout } = await run(['verify', data]);
    const checked = stdout.split('\n').map((line) => line.split(',')[0]);
    expect(checked).toStrictEqual([
      `${join(data, `${NAME}.gz`)}: 40 lines`,
      `${join(data, next)}: 2 lines`,
      '',
    ]);
    expect(code).toBe(0);
    writeFileSync(join(data, next), 'x\n');
    expect((await run(['verify', data])).code).toBe(65);
  });

  it('lists the first ten lines of a kind, and counts them all', async () => {
    const { said } = await verify('x\n'.repeat(12));
    expect(said[0]).toBe('FILE: 12 lines, 24 bytes');
    expect(said[1]).toMatch(/^ {2}12 invalid lines: 1 \(.*, 10 \(does not start .*\), …$/);
  });

  it('shows strangers’ text without obeying it', async () => {
    const { said } = await verify(withLine(2, LINES[1]!.replace('"pn"', String.raw`"\u001b[2J"`)));
    expect(said[1]).toContain(String.raw`\u001b[2J`);
  });

  it('says which file it cannot read or unpack, and wants a view file', async () => {
    const torn = gzipSync(text(LINES)).subarray(0, 300);
    const packed = await verify(torn, `${NAME}.gz`);
    expect([packed.code, packed.stderr]).toStrictEqual([
      65,
      expect.stringMatching(/^error: Cannot unpack ".*gz": /),
    ]);
    const missing = await run(['verify', 'not-there.ndjson']);
    expect([missing.code, missing.stderr]).toStrictEqual([
      74,
      expect.stringContaining('Cannot read "not-there.ndjson": '),
    ]);
    expect((await run(['verify'])).code).toBe(64);
    expect((await run(['verify', 'refused-2026-03-01.ndjson'])).code).toBe(64);
  });

  it('has one exit code for many files', async () => {
    const data = dataDirectory();
    writeFileSync(join(data, NAME), text(LINES));
    writeFileSync(join(data, 'views-2026-03-02.ndjson'), text(LINES));
    const both = [NAME, 'views-2026-03-02.ndjson'];
    const { code, stdout } = await run(['verify', ...both], { data });
    expect(code).toBe(65);
    expect(stdout.match(/^views-/gm)).toHaveLength(2);
    expect(stdout).toContain('40 misplaced lines of another day: 1, 2,');
  });
});

describe.each([NODE, DENO, BUN].filter(isPresent))('verify on $name', (runtime) => {
  it('reads stdin, and packed files of more than one part, across blocks', async () => {
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
