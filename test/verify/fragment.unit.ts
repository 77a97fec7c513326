import { expect, it } from 'vitest';
import { isFragment } from '../../src/verify/fragment.ts';
import { storedLines } from '../support/stored-lines.ts';

const [line, next] = storedLines('2026-03-01', 2, {
  pn: 'a "quote", a \\ and a {bracket}',
  cf: [1.5e3, null, [true, { a: ['b'] }], 'c'],
}) as [string, string];

it("any start of a line is a fragment, with or without NULs, but a whole line isn't", () => {
  for (let length = 1; length < line.length; length++) {
    expect([length, isFragment(line.slice(0, length))]).toStrictEqual([length, true]);
    expect(isFragment(`${line.slice(0, length)}\0\0\0`)).toBe(true);
  }
  expect(isFragment('')).toBe(false);
  expect(isFragment(line)).toBe(false);
  // A line that lacks only its newline.
  expect(isFragment(`${line}\0`)).toBe(true);
  expect(isFragment(`${line}}\0`)).toBe(false);
});

it("the start of a line that another line follows without a newline isn't a fragment", () => {
  for (let length = 1; length <= line.length; length++) {
    const glued = line.slice(0, length) + next;
    expect([length, isFragment(glued)]).toStrictEqual([length, false]);
  }
});

it("text that can't become a line isn't a fragment", () => {
  const late = ['}}', ',,', ']', ' "', ',"a":1 2', ',"a":1.}', ',"a":tru}'];
  const texts = late.map((end) => `{"ts":"x"${end}`);
  for (const text of ['hello', '[', '{"id":"', '{"ts":"x" "id":""}', ...texts]) {
    expect([text, isFragment(text)]).toStrictEqual([text, false]);
  }
});
