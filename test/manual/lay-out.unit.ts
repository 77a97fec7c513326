import { expect, it } from 'vitest';
import { layOut } from '../../src/manual/lay-out.ts';

const shown = (markdown: string, columns = 40): string =>
  layOut(markdown, { columns, isTerminal: false });

it('a table that is too wide has its widest column wrapped', () => {
  const table =
    '| a | b | c |\n|---|---|---|\n| one | 1 two three four five six seven `x y z` | two |';
  expect(shown(table)).toBe(
    [
      '  a    b                               c',
      '  one  1 two three four five six       two',
      '       seven `x y z`',
    ].join('\n'),
  );
  expect(shown(table, 80)).toMatch(/^ {2}one {2}1 two three four five six seven `x y z` {2}two$/m);
});

it('a link to a page becomes the command that prints it', () => {
  expect(shown('See [files](files.md#x).')).toBe('See `viewlog help files`.');
  expect(shown('See [the lines](files.md), [b](#y).')).toBe(
    'See the lines (`viewlog help files`), b.',
  );
});
