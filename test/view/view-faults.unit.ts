import { describe, expect, it } from 'vitest';
import { readView } from '../../src/view/read-view.ts';
import { cpuRatio, growth } from '../support/growth.ts';
import { FULL_VIEW } from '../support/views.ts';

const many = (length: number, make: (i: number) => string): string => {
  const parts: string[] = [];
  for (let bytes = 0; bytes < length; bytes += parts.at(-1)!.length + 1) {
    parts.push(make(parts.length));
  }
  return parts.join();
};
const nested = (open: string, close: string, length: number): string => {
  const levels = Math.floor(length / (open.length + close.length));
  return open.repeat(levels) + close.repeat(levels);
};
const LAST = JSON.stringify(FULL_VIEW).slice(0, -1);
const cf = (json: string): string => `${LAST.replace('"cf":[]', `"cf":${json}`)}}`;
const pn = (text: string): string => `${LAST.replace('Home', text)}}`;
const inMp = (items: string): string => `${LAST.replace('"page-41"', items)}}`;
const nearNames = (length: number): string => many(length, (i) => `"hc${i.toString(36)}":1`);
const unknownNames = (length: number): string => many(length, (i) => `"k${i}":1`);

it.each<[string, (length: number) => string]>([
  ['unknown fields', (length) => `${LAST},${unknownNames(length)}}`],
  ['near names', (length) => `${LAST},${nearNames(length)}}`],
  ['wrong items', (length) => inMp(many(length, String))],
  ['one name again and again', (length) => `${LAST},${many(length, () => '"hc":1')}}`],
  ['nested lists', (length) => cf(nested('[', ']', length))],
  ['nested objects', (length) => `${LAST},"zz":${nested('{"a":', '}', length)}}`],
  ['lists never closed', (length) => cf('['.repeat(length))],
  ['objects in a list', (length) => cf(`[${many(length, () => '{}')}]`)],
  ['escapes', (length) => pn('\\n'.repeat(length / 2))],
  ['lone surrogates', (length) => pn('\\ud800'.repeat(length / 6))],
  ['line separators', (length) => pn('\u2028'.repeat(length))],
  ['a string without its end', (length) => LAST.replace('Home', 'x'.repeat(length))],
  ['faults of spelling', (length) => `[${many(length, () => '{"a":1,}')}]`],
  ['lines', (length) => `${'\n'.repeat(length)},`],
])('a body full of %s takes time in proportion to its length', (_, make) => {
  expect(growth(readView, make)).toBeLessThan(6);
});

describe('a body full of faults takes at most ten times what one of its length with one does', () => {
  const length = 16 * 1024;
  const strings = many(length, (i) => `"a${i}"`);
  const names = unknownNames(length);
  const times = (text: string) => (): void => {
    for (let i = 0; i < 30; i++) readView(text);
  };

  it.each([
    ['unknown fields', `${LAST},${names}}`, `${LAST},"zz":{${names}}}`],
    ['near names', `{${nearNames(length)}}`, `{"zz":{${names}}}`],
    ['wrong items', inMp(many(length, String)), inMp(`${strings},1`)],
  ])('%s', (_, full, one) => {
    expect(cpuRatio(times(full), times(one), 10)).toBeLessThan(10);
  });

  it('and less where it is not JSON from its start on', () => {
    for (const full of [`[${many(length, () => '{"a":1,}')}]`, '/**/'.repeat(length / 4)]) {
      expect(cpuRatio(times(full), times(`[${strings}`), 1)).toBeLessThan(1);
    }
  });
});
