import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lastIdOf } from '../../src/store/last-id.ts';
import { tempDir } from '../support/temp-dir.ts';

const DAY = '2026-03-01';
const TS = `${DAY}T12:00:00.000Z`;
const idOf = (n: number): string => `01a1f851-a023-7703-a422-${String(n).padStart(12, '0')}`;
const line = (n: number, fields = '"p":"1"'): string =>
  `{"ts":"${TS}","id":"${idOf(n)}",${fields}}\n`;

function lastIdIn(text: string | undefined): string | undefined {
  const dir = tempDir();
  if (text !== undefined) fs.writeFileSync(join(dir, `views-${DAY}.ndjson`), text);
  return lastIdOf(dir, 'views', DAY);
}

test.each([
  ['no file', undefined, undefined],
  ['an empty file', '', undefined],
  ['no line of ours', 'something else\n', undefined],
  ['one line', line(1), 1],
  ['several lines', line(1) + line(2) + line(3), 3],
  ['a sealed fragment without its id', `${line(1)}{"ts":"2026\n`, 1],
  ['a sealed fragment with its id', `${line(1)}${line(2).slice(0, -5)}\n`, 2],
  ['a tail of NULs', `${line(1)}\0\0\0\n`, 1],
  ['an id within a view', line(1) + line(2, `"pn":${JSON.stringify(line(9))}`), 2],
])('%s', (_, text, expected) => {
  expect(lastIdIn(text)).toBe(expected === undefined ? undefined : idOf(expected));
});

test('a FIFO has none, and nobody waits for one to write to it', () => {
  const dir = tempDir();
  execFileSync('mkfifo', [join(dir, `views-${DAY}.ndjson`)]);
  expect(lastIdOf(dir, 'views', DAY)).toBeUndefined();
});

test('a last line longer than what is read at first', () => {
  const long = line(2, `"pn":"${'ü'.repeat(500_000)}"`);
  expect(lastIdIn(line(1) + long)).toBe(idOf(2));
  expect(lastIdIn(line(1) + long + line(3))).toBe(idOf(3));
});

test('a tail that starts within a line does not take its middle for a line', () => {
  // The first 64 KiB from the end begin exactly at what looks like a line.
  const inner = line(9).trimEnd();
  const filler = 'x'.repeat(64 * 1024 - inner.length - 1);
  expect(lastIdIn(`${line(1)}junk${inner}${filler}\n`)).toBe(idOf(1));
});

test('a file that cannot be read is an error', () => {
  const dir = tempDir();
  fs.mkdirSync(join(dir, `views-${DAY}.ndjson`));
  expect(() => lastIdOf(dir, 'views', DAY)).toThrow('EISDIR');
});
