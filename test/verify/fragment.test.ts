import { expect, it } from 'vitest';
import { isFragment } from '../../src/verify/fragment.ts';
import { storedLines } from '../support/stored-lines.ts';

const [line, next] = storedLines('2026-03-01', 2, {
  pn: 'a "quote", a \\ and a {bracket}',
  cf: [1.5e3, null, [true, { a: ['b'] }], 'c'],
}) as [string, string];

it('is every start of a line, with NULs or without, and not the line itself', () => {
  for (let length = 1; length < line.length; length++) {
    expect([length, isFragment(line.slice(0, length))]).toStrictEqual([length, true]);
    expect(isFragment(`${line.slice(0, length)}\0\0\0`)).toBe(true);
  }
  expect(isFragment('')).toBe(false);
  expect(isFragment(line)).toBe(false);
});

it('is no start that another line follows without a newline: that one is lost', () => {
  for (let length = 1; length <= line.length; length++) {
    const glued = line.slice(0, length) + next;
    expect([length, isFragment(glued)]).toStrictEqual([length, false]);
  }
});

it('is nothing else', () => {
  for (const text of ['hello', '[', '{"id":"', '{"ts":"x"}}', '{"ts":"x",,', '{"ts":"x"]']) {
    expect([text, isFragment(text)]).toStrictEqual([text, false]);
  }
});
